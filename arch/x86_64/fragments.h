// SPDX-License-Identifier: Apache-2.0
// Which known functions are none: compilers split a function's unlikely code off (.cold), and where
// there are no symbols such a fragment looks like a function of its own.
#pragma once
#include <cstdint>

#include "arch/x86_64/checker.h"

namespace dj::arch {

// Never called, and named as a part or begun in the middle of a frame. Or without a name, and code
// that only makes sense with another function's: it jumps into that one's middle or is jumped to
// there by it, gives back stack that it did not take, only catches exceptions or never returns.
// What is only jumped to, at its begin, and keeps the stack balanced is a function: the goal of
// tail calls.
bool is_fragment(Checker::Impl& impl, const FunctionRange& range);

// A piece of some function that only indirect jumps lead to, and nothing says whose; 0: none.
uint64_t lost_piece(Checker::Impl& impl);

}  // namespace dj::arch
