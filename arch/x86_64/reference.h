// SPDX-License-Identifier: Apache-2.0
// Reference describes bytes in the text that look like an instruction's way to an address.
#pragma once
#include <cstdint>

namespace dj::arch {

struct Reference {
  enum Kind : uint8_t { Branch, Lea, Immediate, Data } kind = Branch;
  // Branch, Lea: address of the opcode byte, which prefixes may precede. Immediate: address of the
  // 4 bytes. Data, an operand displacement(%rip) that the instruction reads or writes: address of
  // the ModRM byte.
  uint64_t at = 0;
  uint64_t target = 0;
};

}  // namespace dj::arch
