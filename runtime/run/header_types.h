// SPDX-License-Identifier: Apache-2.0
// The types of C headers as an object file with debug info, made by the C compiler.
#pragma once
#include <signal.h>

#include "compiler/resolve/resolve.h"

namespace dj {

// The function takes "<a.h><b.h>": included in that order, as C, and if that fails as C++; headers
// of the working folder are found behind the system's. Gives the file's path, the same for the same
// headers; it lies in a folder of our own below $TMPDIR (or /tmp), which goes with the function.
// The compiler is $CC, else the first of cc, gcc and clang in $PATH; child_mask: the signals that
// are blocked in it, as in the target. Error: there is none, or a line and what it said.
CompileHeaders header_compiler(const sigset_t& child_mask);

}  // namespace dj
