// SPDX-License-Identifier: Apache-2.0
// Asks call frame information first, then the code.
#include "compiler/debuginfo/unsized.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

#include "arch/x86_64/reach.h"
#include "compiler/debuginfo/eh_frame.h"

namespace dj {

void settle_sizes(const ObjectFile& elf, std::vector<Symbol>& functions) {
  const auto is_sized = [](const Symbol& s) { return s.size > 0; };
  std::map<uint64_t, uint64_t> next;  // by address of those without a size: who begins behind it
  for (const Symbol& s : functions)
    if (!is_sized(s)) next.emplace(s.address, ~uint64_t{0});
  if (next.empty()) return;
  for (const Symbol& s : functions) {
    const auto behind = next.lower_bound(s.address);
    if (behind == next.begin()) continue;
    uint64_t& begin = std::prev(behind)->second;
    begin = std::min(begin, s.address);
  }
  const FrameSearch frames(elf, next.size());
  std::unordered_map<uint64_t, uint64_t> sizes;  // by address: several names mean one function
  for (Symbol& s : functions) {
    if (is_sized(s)) continue;
    const auto [known, is_new] = sizes.try_emplace(s.address);
    const std::optional<FrameEntry> frame = is_new ? frames.from(s.address) : std::nullopt;
    if (frame && frame->begins_called) known->second = frame->end - frame->begin;
    s.size = known->second;
    if (!is_new || is_sized(s)) continue;
    Bytes code = elf.code_at(s.address);
    code = code.first(std::min(code.size(), next.at(s.address) - s.address));
    s.size = known->second = arch::reached_bytes(code, s.address);
  }
}

}  // namespace dj
