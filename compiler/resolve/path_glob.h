// SPDX-License-Identifier: Apache-2.0
// Paths by wildcards, as process("...") takes them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dj {

// '*' and '?' match within one component of the path, "**" across '/', "/**/" also one '/'.
bool path_glob(std::string_view pattern, std::string_view path);
// The ELF files there are now whose whole path matches (an absolute or relative path with a
// wildcard in it), sorted, each once. Folders that may not be read and symbolic links to folders
// are left out.
std::vector<std::string> object_files(const std::string& pattern);

}  // namespace dj
