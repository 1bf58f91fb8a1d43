// SPDX-License-Identifier: Apache-2.0
// cached_libraries() gives the libraries that the loader finds by name.
#pragma once
#include <string>
#include <vector>

namespace dj {

// Returns the paths in /etc/ld.so.cache, in its order (ldconfig(8)); empty: there is none, or djtap
// does not know its form.
std::vector<std::string> cached_libraries();
// Returns the first of them that has this name, which has no folder; "": there is none.
std::string find_cached_library(const std::string& name);
// The same of the bytes of such a file.
std::vector<std::string> cached_libraries(const std::string& bytes);

}  // namespace dj
