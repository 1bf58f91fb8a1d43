// SPDX-License-Identifier: Apache-2.0
// build_id() reads the build-id of an ELF file: the number that the linker has made of the file's
// content (NT_GNU_BUILD_ID).
#pragma once
#include <string>

namespace dj {

// Returns the build-id in hexadecimal digits. Empty: djtap cannot read the file, or the file names
// none.
std::string build_id(const std::string& path);

}  // namespace dj
