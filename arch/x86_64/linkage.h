// SPDX-License-Identifier: Apache-2.0
// Linkage stubs, and who calls them: a module's calls of functions that the loader binds lead to
// stubs of its own, each a jump through a word (System V ABI, x86-64 supplement, 5.2 "Procedure
// Linkage Table").
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "arch/x86_64/module.h"
#include "arch/x86_64/reference.h"

namespace dj::arch {

// Of a direct call or jump with 32 bits of displacement, the only forms looked for here.
constexpr uint64_t kNearBranchBytes = 5;

// A stub and what may follow its jump, at most.
constexpr uint64_t kLinkageStubBytes = 16;

// Code that does nothing but jump through a word: jmp *word(%rip), with `bnd` or behind endbr64.
struct LinkageStub {
  uint64_t address = 0;
  uint64_t word = 0;
};
// Those in `text` that jump through one of `words` (ascending), by address.
std::vector<LinkageStub> linkage_stubs(const std::vector<TextRange>& text,
                                       const std::vector<uint64_t>& words);

// Where the bytes at `address` look like a direct call or jump (e8, e9) to one of `targets`
// (ascending); in order. Looks at every offset, so some may be parts of other instructions.
std::vector<Reference> near_branches(std::span<const uint8_t> bytes, uint64_t address,
                                     const std::vector<uint64_t>& targets);

// Those of a module that are instructions, decoded from their function's first byte, and lie within
// one page each. `found`: of near_branches(), in order.
std::vector<Reference> real_branches(const Module& module, const std::vector<Reference>& found);

}  // namespace dj::arch
