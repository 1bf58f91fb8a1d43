// SPDX-License-Identifier: Apache-2.0
// Reference: bytes in the text that look like somebody's way to an address.
#pragma once
#include <cstdint>

namespace dj::arch {

struct Reference {
  enum Kind : uint8_t { Branch, Lea, Immediate, Data } kind = Branch;
  // Branch, Lea: of the opcode byte, prefixes may precede; Immediate: of the 4 bytes; Data, an
  // operand displacement(%rip) that is read or written: of the ModRM byte.
  uint64_t at = 0;
  uint64_t target = 0;
};

}  // namespace dj::arch
