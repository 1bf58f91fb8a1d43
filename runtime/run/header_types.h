// SPDX-License-Identifier: Apache-2.0
// header_compiler() makes the C compiler turn the types of C headers into an object file with debug
// information.
#pragma once
#include <signal.h>

#include "compiler/resolve/resolve.h"

namespace dj {

// Returns a function that takes "<a.h><b.h>" and includes these headers in that order, as C, and if
// that fails as C++. It finds headers of the working folder behind the system's. It gives the
// object file's path, the same for the same headers; the file lies in a folder of djtap's own below
// $TMPDIR (or /tmp), which disappears with the function. The compiler is $CC, else the first of cc,
// gcc and clang in $PATH. child_mask: the signals that are blocked in the compiler, as in the
// target. Error: there is no compiler, or a line and the compiler's message.
CompileHeaders header_compiler(const sigset_t& child_mask);

}  // namespace dj
