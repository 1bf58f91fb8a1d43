// SPDX-License-Identifier: Apache-2.0
// f3 REX? 0f ae d8..df, wherever its bytes stand.
#include "arch/x86_64/gs_base.h"

#include <algorithm>

#include "arch/x86_64/byte_pairs.h"

namespace dj::arch {

bool has_wrgsbase(std::span<const uint8_t> text) {
  constexpr BytePair kOpcode = {0x0f, 0xae};
  const std::vector<size_t> found = find_pairs(text, kOpcode);  // few: fences, fxsave, ldmxcsr
  return std::any_of(found.begin(), found.end(), [&](size_t at) {
    if (at + 2 >= text.size() || (text[at + 2] & 0xf8) != 0xd8) return false;
    const bool rex = at >= 1 && (text[at - 1] & 0xf0) == 0x40;
    const size_t prefix = at - (rex ? 1 : 0);
    return prefix >= 1 && text[prefix - 1] == 0xf3;
  });
}

}  // namespace dj::arch
