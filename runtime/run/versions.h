// SPDX-License-Identifier: Apache-2.0
// --version: what a report of a mistake should name.
#pragma once
#include <string>

namespace dj {

// Lines: djtap's version; LLVM's, which is loaded for that, and libdw's; the build-id of djtap.
std::string versions();

}  // namespace dj
