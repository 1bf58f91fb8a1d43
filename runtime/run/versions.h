// SPDX-License-Identifier: Apache-2.0
// versions() makes the text of --version: what a bug report should name.
#pragma once
#include <string>

namespace dj {

// Returns lines: djtap's version; the versions of LLVM, which it loads for that, and of libdw; the
// build-id of djtap.
std::string versions();

}  // namespace dj
