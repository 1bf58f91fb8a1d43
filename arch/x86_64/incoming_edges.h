// SPDX-License-Identifier: Apache-2.0
// IncomingEdges holds the ways into a module's functions: to their first instruction, and from
// other functions into their middle. find_incoming_edges() looks at the bytes of every offset, so
// some ways are false.
#pragma once
#include <span>
#include <vector>

#include "arch/x86_64/byte_set.h"
#include "arch/x86_64/reference.h"
#include "arch/x86_64/text.h"

namespace dj::arch {

struct IncomingEdges {
  ByteSet entered;  // bytes look like a call of it or a load of its address
  // Both sorted by target. entries: the calls and loads that lead to a known function's first byte.
  // jumps: the direct jumps from one function into another.
  std::vector<Reference> entries, jumps;

  // Returns the references of a list with a target in [begin, end).
  static std::span<const Reference> into(const std::vector<Reference>& list, uint64_t begin,
                                         uint64_t end);
};

// `functions`: sorted, without overlap; `begins`: the begins of all functions, also of those inside
// others.
IncomingEdges find_incoming_edges(const ModuleText& text, std::span<const FunctionRange> functions,
                                  const std::vector<uint64_t>& begins);

}  // namespace dj::arch
