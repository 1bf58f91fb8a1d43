// SPDX-License-Identifier: Apache-2.0
// Looks for the jumps of the function that lead behind the nops.
#include "compiler/resolve/copy_entry.h"

#include <algorithm>

#include "arch/x86_64/decode.h"
#include "arch/x86_64/entry_place.h"

namespace dj {

namespace {

bool holds(const InlineHit& hit, uint64_t address) {
  return std::any_of(hit.ranges.begin(), hit.ranges.end(), [&](const auto& range) {
    return range.first <= address && address < range.second;
  });
}

// The address behind the nops that the copy begins with, or where it begins.
uint64_t behind_nops(const ObjectFile& elf, const InlineHit& hit) {
  const Bytes code = elf.code_at(hit.address);
  for (const auto& [begin, end] : hit.ranges) {
    if (begin <= hit.address && hit.address < end)
      return arch::behind_nops(code.first(std::min<size_t>(code.size(), end - hit.address)),
                               hit.address);
  }
  return hit.address;
}

}  // namespace

uint64_t copy_entry(Module& file, const InlineHit& hit) {
  const uint64_t behind = behind_nops(file.elf(), hit);
  const std::optional<CodeFunction> function =
      behind == hit.address ? std::nullopt : file.function_at(hit.address);
  if (!function) return hit.address;
  bool is_round = false;
  arch::Insn insn;
  for (uint64_t at = function->begin; at < function->end; at = insn.end()) {
    if (!arch::decode(file.elf().code_at(at), at, insn)) break;
    if (!insn.branches() || insn.target != behind) continue;
    if (holds(hit, at)) return hit.address;
    is_round = true;
  }
  return is_round ? behind : hit.address;
}

}  // namespace dj
