// SPDX-License-Identifier: Apache-2.0
// is_fragment() tells fragments from functions. Compilers split a function's unlikely code off
// (.cold); without symbols such a fragment looks like a function of its own.
#pragma once
#include <cstdint>

#include "arch/x86_64/checker.h"

namespace dj::arch {

// Whether the range is a fragment: no code calls it, and its name says that it is a part or it
// begins in the middle of a frame. Code without a name is also a fragment if it only makes sense
// with another function's code: it jumps into that function's middle, that function jumps into its
// middle, it gives back stack that it did not take, it only catches exceptions, or it never
// returns. Code that other code only jumps to, at its begin, and that keeps the stack balanced is a
// function: the goal of tail calls.
bool is_fragment(Checker::Impl& impl, const FunctionRange& range);

// Returns the begin of a piece of code that only indirect jumps lead to, where it is unknown which
// function it is a piece of; 0: there is none.
uint64_t lost_piece(Checker::Impl& impl);

}  // namespace dj::arch
