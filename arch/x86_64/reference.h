// Reference: bytes in the text that look like somebody's way to an address.
#pragma once
#include <cstdint>

namespace dj::arch {

struct Reference {
  enum Kind : uint8_t { Branch, Lea, Immediate } kind = Branch;
  uint64_t at =
      0;  // Branch, Lea: of the opcode byte, prefixes may precede; Immediate: of the 4 bytes
  uint64_t target = 0;
};

}  // namespace dj::arch
