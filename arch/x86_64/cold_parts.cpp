// Cold parts of functions, and the jump tables that may lead into them.
#include <algorithm>
#include <mutex>

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

const Checker::Impl::Tables& Checker::Impl::tables() {
  if (all_tables) return *all_tables;
  const auto& functions = module.outermost();
  Tables all;
  std::mutex adding;  // guards `all`
  parallel(functions.size(), [&](size_t i) {
    if (!module.may_jump_by_register(functions[i])) return;
    const auto known = known_facts.find(functions[i].begin);
    const Facts own =
        known != known_facts.end() ? known->second : facts(module.decode(functions[i]));
    std::lock_guard lock(adding);
    if (own.unknown_jump != 0) all.unknown[functions[i].begin] = own.unknown_jump;
    for (const uint64_t target : own.table_targets) {
      if (target < functions[i].begin || target >= functions[i].end) all.targets.push_back(target);
    }
  });
  return *(all_tables = std::move(all));
}

}  // namespace dj::arch
