// SPDX-License-Identifier: Apache-2.0
// A file that the target writes while djtap reads it.
#pragma once
#include <string>

namespace dj {

// Opened anew at each call, with the rights of open_found_file() (target_file.h); where a link
// stands at the end of its path, not at all (ELOOP). root: where the name begins, if
// read_found_names_as() does not say. -1: errno says why.
int open_written_file(const std::string& root, const std::string& path);

}  // namespace dj
