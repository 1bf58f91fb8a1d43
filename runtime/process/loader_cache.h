// SPDX-License-Identifier: Apache-2.0
// Libraries that no process need have mapped: those that the loader finds by name, and files.
#pragma once
#include <string>
#include <vector>

namespace dj {

// Returns the paths in /etc/ld.so.cache, in its order (ldconfig(8)); empty: there is none, or djtap
// does not know its form.
std::vector<std::string> cached_libraries();
// Returns the file of that path, or the first of these libraries that has that name; "": there is
// none, or it is no x86-64 ELF file that a process maps.
std::string find_library(const std::string& name);
// The same of the bytes of such a file.
std::vector<std::string> cached_libraries(const std::string& bytes);

}  // namespace dj
