// SPDX-License-Identifier: Apache-2.0
// Cold parts of functions, the jump tables that may lead into them, and theirs that lead back.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "arch/x86_64/byte_pairs.h"
#include "arch/x86_64/checker.h"
#include "compiler/base/parallel.h"

namespace dj::arch {

constexpr uint8_t kCall = 0xe8;

void ColdParts::add(const Region& region) {
  const FunctionRange* range = impl_.module.function_at(region.address);
  const auto& taken = impl_.module.text().address_taken;
  if (range != nullptr && !std::binary_search(taken.begin(), taken.end(), range->begin))
    parts_[range->begin];
}

void ColdParts::mark(ByteSet& marked) const {
  for (const auto& [begin, parents] : parts_) marked.add(begin);
}

void ColdParts::see(const Reference& reference) {
  const auto part = parts_.find(reference.target);
  if (part == parts_.end()) return;
  const bool jump =
      reference.kind == Reference::Branch && impl_.module.bytes(reference.at)[0] != kCall;
  const FunctionRange* from = impl_.module.function_at(reference.at);
  if (jump && from == nullptr) return;
  if (jump && (from->begin == part->first || part->second.count(from->begin) != 0)) return;
  if (!impl_.confirmed(reference)) return;
  if (jump) {
    part->second.insert(from->begin);
  } else {
    parts_.erase(part);
  }
}

bool ColdParts::has(const Region& region) const {
  const FunctionRange* range = impl_.module.function_at(region.address);
  return range != nullptr && parts_.count(range->begin) != 0;
}

uint64_t ColdParts::unknown_jump(const Region& region) const {
  const auto& unknown = impl_.tables().unknown;
  const FunctionRange* range = impl_.module.function_at(region.address);
  Parents parents = parts_.at(range->begin);
  for (const Insn& insn : impl_.module.decode(*range).insns) {
    if (!insn.branches() || insn.kind == Kind::Call || impl_.module.begins_function(insn.target))
      continue;
    const FunctionRange* to = impl_.module.function_at(insn.target);
    if (to != nullptr && to != range) parents.insert(to->begin);
  }
  if (parents.empty()) return unknown.begin()->second;
  for (const uint64_t parent : parents) {
    if (const auto jump = unknown.find(parent); jump != unknown.end()) return jump->second;
  }
  return 0;
}

namespace {

constexpr BytePair kLongCondJump = {0x0f, 0x80, 0xf0}, kLongJump = {0xe9, 0, 0};

// Calls action(target) where bytes of `code`, at `address`, look like direct jumps out of it. Parts
// lie in sections of their own, so short jumps lead to none.
template <typename Action>
void each_far_jump(std::span<const uint8_t> code, uint64_t address, const Action& action) {
  each_pair(code, {kLongCondJump, kLongJump}, [&](size_t at) {
    const size_t opcode_bytes = code[at] == kLongJump.first ? 1 : 2;
    const size_t end = at + opcode_bytes + sizeof(int32_t);
    if (end > code.size()) return;
    int32_t distance;
    std::memcpy(&distance, &code[end - sizeof distance], sizeof distance);
    const uint64_t target = address + end + uint64_t(int64_t(distance));
    if (target - address >= code.size()) action(target);
  });
}

void sort_unique(std::vector<const FunctionRange*>& functions) {
  std::sort(functions.begin(), functions.end());
  functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
}

}  // namespace

std::vector<const FunctionRange*> Checker::Impl::followed_by(const FunctionRange& range,
                                                             const Facts& facts) const {
  std::vector<const FunctionRange*> found;
  const auto add = [&](uint64_t target) {
    if (target < module.low() || target >= module.high()) return;
    const FunctionRange* other = module.function_at(target);
    if (other != nullptr && other->begin != range.begin) found.push_back(other);
  };
  const auto code = module.bytes(range.begin);
  const size_t size = std::min<size_t>(code.size(), range.end - range.begin);
  each_far_jump(code.first(size), range.begin, add);
  facts.each_table_target([&](uint64_t target) {
    if (target < range.begin || target >= range.end) add(target);
  });
  for (const auto* list : {&module.text().far_pads, &module.text().own_pieces}) {
    auto it = std::lower_bound(list->begin(), list->end(), std::pair{range.begin, uint64_t(0)});
    for (; it != list->end() && it->first == range.begin; ++it) add(it->second);
  }
  sort_unique(found);
  return found;
}

std::vector<uint64_t> Checker::Impl::look_at(std::vector<const FunctionRange*> functions) {
  sort_unique(functions);
  std::vector<uint64_t> targets;
  std::mutex adding;  // guards `targets` and `known_facts`
  parallel(functions.size(), [&](size_t i) {
    const FunctionRange& range = *functions[i];
    if (!may_jump_by_register(range)) return;
    std::unique_lock lock(adding);
    const auto known = known_facts.find(range.begin);
    std::optional<Facts> own;
    if (known != known_facts.end()) own = known->second;
    lock.unlock();
    if (!own) own = facts(module.decode(range));
    lock.lock();
    own->each_table_target([&](uint64_t target) {
      if (target < range.begin || target >= range.end) targets.push_back(target);
    });
    known_facts.try_emplace(range.begin, std::move(*own));
  });
  return targets;
}

const Checker::Impl::Tables& Checker::Impl::tables() {
  if (all_tables) return *all_tables;
  const auto& functions = module.outermost();
  Tables all;
  std::mutex adding;  // guards `all`
  parallel(functions.size(), [&](size_t i) {
    if (!may_jump_by_register(functions[i])) return;
    const auto known = known_facts.find(functions[i].begin);
    const Facts own =
        known != known_facts.end() ? known->second : facts(module.decode(functions[i]));
    std::lock_guard lock(adding);
    if (own.unknown_jump != 0) all.unknown[functions[i].begin] = own.unknown_jump;
    own.each_table_target([&](uint64_t target) {
      if (target < functions[i].begin || target >= functions[i].end) all.targets.push_back(target);
    });
  });
  return *(all_tables = std::move(all));
}

}  // namespace dj::arch
