// SPDX-License-Identifier: Apache-2.0
// The files by which a kernel shows itself: opening and reading them, and why that fails.
#pragma once
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

// Returns why a file of the kernel cannot be read, by errno.
Error cannot_read(const std::string& path, int number);
// Opens a file of /proc or /sys for reading; the caller closes the descriptor.
Result<int> open_kernel_file(const std::string& path);
// Reads such a file to its end: its size is not known before.
Result<std::vector<char>> read_kernel_file(const std::string& path);

}  // namespace dj
