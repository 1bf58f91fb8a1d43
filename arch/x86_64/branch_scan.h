// A byte scan over a whole module for references into marked bytes: quick, and with false finds,
// because it looks at every offset. The checker confirms each by decoding.
#pragma once
#include <cstdint>
#include <vector>

#include "arch/x86_64/module.h"

namespace dj::arch {

struct Reference {
  enum Kind : uint8_t { Branch, Lea, Immediate } kind = Branch;
  uint64_t at =
      0;  // Branch, Lea: of the opcode byte, prefixes may precede; Immediate: of the 4 bytes
  uint64_t target = 0;  // a marked address
};

// Immediates are looked for in position-dependent modules only: elsewhere none can be an address.
std::vector<Reference> scan_references(const ModuleText& text, const ByteSet& marked);

}  // namespace dj::arch
