// SPDX-License-Identifier: Apache-2.0
// The build-id of a file: the number that its linker has made of its content.
#pragma once
#include <string>

namespace dj {

// In hexadecimal; empty: the file cannot be read, or names none.
std::string build_id(const std::string& path);

}  // namespace dj
