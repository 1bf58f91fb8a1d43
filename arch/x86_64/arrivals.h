// How a module's functions are entered: at their first instruction, and from other functions in
// their middle. Found by bytes at every offset, so some are imagined.
#pragma once
#include <span>
#include <vector>

#include "arch/x86_64/byte_set.h"
#include "arch/x86_64/text.h"

namespace dj::arch {

// A direct jump out of the function around `at` to `target`, not at the start of another one.
struct InwardJump {
  uint64_t target = 0, at = 0;  // of the opcode byte, prefixes may precede
};

struct Arrivals {
  ByteSet entered;                // called, or somebody loads the address
  std::vector<InwardJump> jumps;  // sorted by target

  // Those with a target in [begin, end).
  std::span<const InwardJump> into(uint64_t begin, uint64_t end) const;
};

// `functions`: sorted, not overlapping.
Arrivals find_arrivals(const ModuleText& text, std::span<const FunctionRange> functions);

}  // namespace dj::arch
