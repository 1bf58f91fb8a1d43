// SPDX-License-Identifier: Apache-2.0
// linkage_stubs() finds a module's linkage stubs; near_branches() and real_branches() find the code
// that calls them. A module's calls of functions that the loader binds lead to stubs of its own,
// each a jump through a word (System V ABI, x86-64 supplement, 5.2 "Procedure Linkage Table").
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "arch/x86_64/module.h"
#include "arch/x86_64/reference.h"

namespace dj::arch {

// The length of a direct call or jump with 32 bits of displacement; the functions below look for
// these forms only.
constexpr uint64_t kNearBranchBytes = 5;

// The most bytes that a stub takes, with what may follow its jump.
constexpr uint64_t kLinkageStubBytes = 16;

// LinkageStub is code that only jumps through a word: jmp *word(%rip), with `bnd` or behind
// endbr64.
struct LinkageStub {
  uint64_t address = 0;
  uint64_t word = 0;
};
// Returns the stubs in `text` that jump through one of `words` (ascending), by address.
std::vector<LinkageStub> linkage_stubs(const std::vector<TextRange>& text,
                                       const std::vector<uint64_t>& words);

// Returns, in order, the places where `bytes`, which stand at `address`, look like a direct call or
// jump (e8, e9) to one of `targets` (ascending). Looks at every offset, so some may be parts of
// other instructions.
std::vector<Reference> near_branches(std::span<const uint8_t> bytes, uint64_t address,
                                     const std::vector<uint64_t>& targets);

// Returns those of `found` that are instructions of the module, decoded from their function's first
// byte, and that lie within one page each. `found`: what near_branches() gave, in order.
std::vector<Reference> real_branches(const Module& module, const std::vector<Reference>& found);

}  // namespace dj::arch
