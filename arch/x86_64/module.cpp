// SPDX-License-Identifier: Apache-2.0
// Indexes over a module's text.
#include "arch/x86_64/module.h"

#include <algorithm>
#include <cstring>

#include "arch/x86_64/byte_pairs.h"
#include "arch/x86_64/gap_functions.h"
#include "arch/x86_64/registers.h"

namespace dj::arch {

size_t Function::find(uint64_t address) const {
  const auto it = std::lower_bound(insns.begin(), insns.end(), address,
                                   [](const Insn& insn, uint64_t a) { return insn.address < a; });
  return it != insns.end() && it->address == address ? size_t(it - insns.begin()) : kNone;
}

Module::Module(ModuleText text) : text_(std::move(text)) {
  low_ = ~uint64_t(0);
  for (const TextRange& range : text_.text) {
    low_ = std::min(low_, range.address);
    high_ = std::max(high_, range.address + range.bytes.size());
  }
  if (text_.text.empty()) low_ = 0;
  for (const FunctionRange& f : text_.functions) {
    if (f.end <= f.begin) continue;
    begins_.push_back(f.begin);
    if (!outermost_.empty() && f.begin < outermost_.back().end) {
      outermost_.back().end = std::max(outermost_.back().end, f.end);
    } else {
      outermost_.push_back(f);
    }
  }
  find_trampolines();
  add_functions(find_gap_functions(*this));
}

void Module::add_functions(const std::vector<FunctionRange>& more) {
  if (more.empty()) return;
  outermost_.insert(outermost_.end(), more.begin(), more.end());
  for (const FunctionRange& f : more) begins_.push_back(f.begin);
  std::sort(begins_.begin(), begins_.end());
  std::sort(outermost_.begin(), outermost_.end(),
            [](const FunctionRange& a, const FunctionRange& b) { return a.begin < b.begin; });
}

const FunctionRange* Module::function_at(uint64_t address) const {
  auto it = std::upper_bound(outermost_.begin(), outermost_.end(), address,
                             [](uint64_t a, const FunctionRange& f) { return a < f.begin; });
  if (it == outermost_.begin()) return nullptr;
  --it;
  return address < it->end ? &*it : nullptr;
}

bool Module::begins_function(uint64_t address) const {
  return std::binary_search(begins_.begin(), begins_.end(), address);
}

FunctionRange Module::gap_at(uint64_t address) const {
  FunctionRange gap{address, address};
  for (const TextRange& range : text_.text) {
    const uint64_t end = range.address + range.bytes.size();
    if (address >= range.address && address < end) gap = {range.address, end};
  }
  const auto next =
      std::upper_bound(outermost_.begin(), outermost_.end(), address,
                       [](uint64_t a, const FunctionRange& f) { return a < f.begin; });
  if (next != outermost_.end()) gap.end = std::min(gap.end, next->begin);
  if (next != outermost_.begin()) gap.begin = std::max(gap.begin, std::prev(next)->end);
  return gap;
}

namespace {

// Targets of the function's own branches within it, ascending.
std::vector<uint64_t> own_targets(const Function& function) {
  std::vector<uint64_t> targets;
  for (const Insn& insn : function.insns) {
    if (insn.branches() && function.inside(insn.target)) targets.push_back(insn.target);
  }
  std::sort(targets.begin(), targets.end());
  return targets;
}

// How many instructions there are before data, which decoding takes for instructions, and then for
// a part of them what comes behind it. Told by a branch into the middle of one, where nothing
// branches to any since the last one that leaves (past a `lock` prefix one may well branch).
size_t count_before_data(const Function& function) {
  const std::vector<uint64_t> targets = own_targets(function);
  auto target = targets.begin();
  size_t run = 0;  // where the instructions begin that nothing has come to yet
  bool reached = true;
  for (size_t i = 0; i < function.insns.size() && target != targets.end(); i++) {
    const Insn& insn = function.insns[i];
    reached = reached || *target == insn.address;
    while (target != targets.end() && *target == insn.address) ++target;
    const bool into = target != targets.end() && *target < insn.end();
    if (into && !reached) return run;
    while (target != targets.end() && *target < insn.end()) ++target;
    if (!insn.leaves()) continue;
    run = i + 1;
    reached = false;
  }
  return function.insns.size();
}

}  // namespace

Function Module::decode(const FunctionRange& range, uint64_t until) const {
  Function function{range, {}, false};
  const auto text = bytes(range.begin);
  const size_t size = std::min<size_t>(text.size(), range.end - range.begin);
  const size_t wanted = std::min<size_t>(size, until - range.begin);
  constexpr size_t kMostAtOnce = 4096;  // a gap may be megabytes of data, which end decoding early
  function.insns.reserve(std::min(wanted / 4 + 1, kMostAtOnce));
  size_t at = 0;
  Insn insn;
  while (at < wanted && arch::decode(text.subspan(at, size - at), range.begin + at, insn)) {
    function.insns.push_back(insn);
    at += insn.length;
  }
  const size_t sure = count_before_data(function);
  function.whole = at == range.end - range.begin && sure == function.insns.size();
  function.insns.resize(sure);
  return function;
}

namespace {

// jmp *%reg, jmp *d(%rsp) or jmp *d(%rbp): of what begins with the pair.
bool is_own_value(std::span<const uint8_t> bytes) {
  constexpr uint8_t kSib = 4;
  const int mod = bytes[1] >> 6, rm = bytes[1] & 7;
  if (mod == 3) return true;
  if (rm != kSib) return rm == kBp && mod != 0;
  const int base = bytes.size() > 2 ? bytes[2] & 7 : 0;
  return base == kSp || (base == kBp && mod != 0);
}

}  // namespace

bool Module::may_jump_by_register(const FunctionRange& range) const {
  const auto text = bytes(range.begin);
  const size_t size = std::min<size_t>(text.size(), range.end - range.begin);
  const auto code = text.first(size);
  bool found = false;
  each_pair(code, {kJumpIndirect},
            [&](size_t at) { found = found || is_own_value(code.subspan(at)); });
  return found;
}

namespace {

// Zeros fill the room before what comes next, or a table of numbers in the text begins with them.
bool is_zero_until(std::span<const uint8_t> text, uint64_t from, uint64_t limit) {
  const auto until = text.begin() + std::ptrdiff_t(std::min<uint64_t>(limit, text.size()));
  return std::all_of(text.begin() + std::ptrdiff_t(from), until,
                     [](uint8_t byte) { return byte == 0; });
}

}  // namespace

uint32_t Module::padding(const Function& function, uint64_t address, uint32_t wanted) const {
  uint64_t limit = high_;
  const auto next =
      std::lower_bound(outermost_.begin(), outermost_.end(), std::max(address, function.range.end),
                       [](const FunctionRange& f, uint64_t a) { return f.begin < a; });
  if (next != outermost_.end()) limit = next->begin;
  const auto text = bytes(address);
  uint32_t found = 0;
  while (found < wanted && address + found < limit && found < text.size()) {
    Insn insn;
    if (address + found >= function.range.end && text[found] == 0) {
      if (!is_zero_until(text, found, limit - address)) break;
      found++;
    } else if (text[found] == 0xcc) {
      found++;
    } else if (arch::decode(text.subspan(found), address + found, insn) && insn.kind == Kind::Nop &&
               insn.end() <= limit) {
      found += insn.length;
    } else {
      break;
    }
  }
  return std::min(found, wanted);
}

const IncomingEdges& Module::incoming() const {
  std::call_once(*incoming_asked_,
                 [this] { incoming_ = find_incoming_edges(text_, outermost_, begins_); });
  return *incoming_;
}

void Module::find_trampolines() {
  constexpr uint8_t kCode[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};  // mov $15,%rax; syscall
  for (const TextRange& range : text_.text) {
    const uint8_t* begin = range.bytes.data();
    const uint8_t* at = begin;
    const uint8_t* end = begin + range.bytes.size();
    while ((at = static_cast<const uint8_t*>(memmem(at, size_t(end - at), kCode, sizeof kCode)))) {
      const uint64_t address = range.address + uint64_t(at - begin);
      trampolines_.push_back({address, address + sizeof kCode});
      at++;
    }
  }
}

bool Module::read_entry(uint64_t address, int32_t& value) const {
  const auto read = [&](const std::vector<TextRange>& ranges) {
    for (const TextRange& range : ranges) {
      const uint64_t offset = address - range.address;
      if (offset >= range.bytes.size() || range.bytes.size() - offset < 4) continue;
      std::memcpy(&value, range.bytes.data() + offset, 4);
      return true;
    }
    return false;
  };
  return read(text_.rodata) || read(text_.text);
}

uint64_t Module::first_between(const std::vector<uint64_t>& sorted, uint64_t after,
                               uint64_t before) {
  const auto it = std::upper_bound(sorted.begin(), sorted.end(), after);
  return it != sorted.end() && *it < before ? *it : 0;
}

}  // namespace dj::arch
