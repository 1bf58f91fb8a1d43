// SPDX-License-Identifier: Apache-2.0
// Gaps are decoded from their begins, and cut where functions begin.
#include "arch/x86_64/gap_functions.h"

#include <algorithm>
#include <cstring>

#include "arch/x86_64/byte_pairs.h"

namespace dj::arch {
namespace {

bool makes_syscall(const Module& module, const FunctionRange& range) {
  const auto text = module.bytes(range.begin);
  const auto bytes = text.first(std::min<size_t>(text.size(), range.end - range.begin));
  const auto& trampolines = module.trampolines();
  bool found = false;
  each_pair(bytes, {kSyscallBytes}, [&](size_t at) {
    const uint64_t address = range.begin + at;
    found = found || std::none_of(trampolines.begin(), trampolines.end(), [&](const auto& t) {
              return address >= t.begin && address < t.end;
            });
  });
  return found;
}

std::vector<FunctionRange> gaps_with_syscalls(const Module& module) {
  std::vector<FunctionRange> gaps;
  const auto add = [&](uint64_t begin, uint64_t end) {
    if (begin < end && makes_syscall(module, {begin, end})) gaps.push_back({begin, end});
  };
  for (const TextRange& range : module.text().text) {
    uint64_t from = range.address;
    const uint64_t end = range.address + range.bytes.size();
    auto next = std::lower_bound(module.outermost().begin(), module.outermost().end(), from,
                                 [](const FunctionRange& f, uint64_t at) { return f.end <= at; });
    for (; next != module.outermost().end() && next->begin < end; ++next) {
      add(from, next->begin);
      from = next->end;
    }
    add(from, end);
  }
  return gaps;
}

// Where calls lead to, addresses that are loaded, and those that stand in data. By bytes: a false
// one is mostly no instruction's begin.
ByteSet find_entries(const Module& module) {
  ByteSet entries(module.low(), module.high());
  for (const uint64_t address : module.text().address_taken) entries.add(address);
  for (const TextRange& range : module.text().text) {
    const auto target = [&](size_t at) {
      int32_t distance;
      std::memcpy(&distance, &range.bytes[at], sizeof distance);
      return range.address + at + sizeof distance + uint64_t(int64_t{distance});
    };
    for (size_t i = 0; i + 6 <= range.bytes.size(); i++) {
      const uint8_t byte = range.bytes[i];
      if (byte == 0xe8) entries.add(target(i + 1));  // call
      if (byte == 0x8d && (range.bytes[i + 1] & 0xc7) == 0x05) entries.add(target(i + 2));  // lea
    }
  }
  return entries;
}

// The next address in [from, end) of the set; `end`: none.
uint64_t next_in(const ByteSet& set, uint64_t from, uint64_t end) {
  while (from < end && !set.has(from)) from++;
  return from;
}

// Where functions may begin in decoded code: its first instruction behind padding, and entries that
// nothing falls into.
std::vector<uint64_t> possible_begins(const Function& code, const ByteSet& entries) {
  std::vector<uint64_t> begins;
  bool leaves = true;
  for (const Insn& insn : code.insns) {
    if (insn.kind == Kind::Nop || (begins.empty() && insn.kind == Kind::Trap)) continue;
    if (begins.empty() || (leaves && entries.has(insn.address))) begins.push_back(insn.address);
    leaves = insn.leaves();
  }
  return begins;
}

// Takes out the begins that a jump crosses. One that leads to a begin is a tail call.
void drop_crossed(const Function& code, std::vector<uint64_t>& begins) {
  for (size_t before = 0; before != begins.size();) {
    before = begins.size();
    for (const Insn& insn : code.insns) {
      if (!insn.branches() || insn.kind == Kind::Call || !code.inside(insn.target)) continue;
      if (std::binary_search(begins.begin(), begins.end(), insn.target)) continue;
      const auto [low, high] = std::minmax(insn.address, insn.target);
      begins.erase(std::upper_bound(begins.begin(), begins.end(), low),
                   std::upper_bound(begins.begin(), begins.end(), high));
    }
  }
}

// Whether control passes from the function that ends at `address` to what is behind it: glibc's
// clone() is such a function, whose unwind information ends before its system call.
bool is_fallen_into(const Module& module, uint64_t address) {
  const FunctionRange* before = module.function_at(address - 1);
  if (before == nullptr || before->end != address) return false;
  const Function code = module.decode(*before);
  return code.whole && !code.insns.back().leaves() && !code.insns.back().calls();
}

}  // namespace

std::vector<FunctionRange> find_gap_functions(const Module& module) {
  constexpr uint64_t kMostBytes = 1 << 14;  // tables between assembler's functions are larger
  std::vector<FunctionRange> functions;
  const std::vector<FunctionRange> gaps = gaps_with_syscalls(module);
  if (gaps.empty()) return functions;
  const ByteSet entries = find_entries(module);
  for (const FunctionRange& gap : gaps) {
    for (uint64_t from = gap.begin; from < gap.end;) {
      const Function code = module.decode({from, gap.end});
      const uint64_t end = code.decoded_end();
      std::vector<uint64_t> begins = possible_begins(code, entries);
      if (from == gap.begin && !begins.empty() && is_fallen_into(module, from))
        begins.erase(begins.begin());
      drop_crossed(code, begins);
      begins.push_back(end);
      for (size_t i = 0; i + 1 < begins.size(); i++) {
        const FunctionRange range{begins[i], begins[i + 1]};
        const bool fits = range.begin < range.end && range.end - range.begin <= kMostBytes;
        if (fits && makes_syscall(module, range)) functions.push_back(range);
      }
      from = next_in(entries, std::max(end, from + 1), gap.end);
    }
  }
  return functions;
}

}  // namespace dj::arch
