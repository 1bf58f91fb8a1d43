// SPDX-License-Identifier: Apache-2.0
// How a module's functions are entered: at their first instruction, and from other functions in
// their middle. Found by bytes at every offset, so some are imagined.
#pragma once
#include <span>
#include <vector>

#include "arch/x86_64/byte_set.h"
#include "arch/x86_64/reference.h"
#include "arch/x86_64/text.h"

namespace dj::arch {

struct IncomingEdges {
  ByteSet entered;  // called, or somebody loads the address
  // Sorted by target: who enters a known function's first byte so; and direct jumps from one
  // function into another.
  std::vector<Reference> entries, jumps;

  // Those of a list with a target in [begin, end).
  static std::span<const Reference> into(const std::vector<Reference>& list, uint64_t begin,
                                         uint64_t end);
};

// `functions`: sorted, not overlapping; `begins`: of all functions, also inside others.
IncomingEdges find_incoming_edges(const ModuleText& text, std::span<const FunctionRange> functions,
                                  const std::vector<uint64_t>& begins);

}  // namespace dj::arch
