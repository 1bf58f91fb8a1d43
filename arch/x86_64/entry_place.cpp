// SPDX-License-Identifier: Apache-2.0
// Steps over what stands in front of a function's first instruction.
#include "arch/x86_64/entry_place.h"

#include <algorithm>
#include <array>

#include "arch/x86_64/decode.h"
#include "arch/x86_64/text.h"

namespace dj::arch {
namespace {

constexpr std::array<uint8_t, 4> kSealed = {0x66, 0x0f, 0x1f, 0x00};
constexpr std::array<uint8_t, 5> kTracerNop = {0x0f, 0x1f, 0x44, 0x00, 0x00};

bool begins_with(std::span<const uint8_t> code, std::span<const uint8_t> with) {
  return code.size() >= with.size() && std::equal(with.begin(), with.end(), code.begin());
}

}  // namespace

uint64_t entry_place(std::span<const uint8_t> code, uint64_t begin) {
  const bool kernels = is_kernels(begin);
  uint64_t skipped = 0;
  if (begins_with(code, kEndbr64) || (kernels && begins_with(code, kSealed)))
    skipped = kEndbr64.size();
  if (kernels && begins_with(code.subspan(skipped), kTracerNop)) skipped += kTracerNop.size();
  return begin + skipped;
}

}  // namespace dj::arch
