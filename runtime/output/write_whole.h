// SPDX-License-Identifier: Apache-2.0
// Writing to a descriptor that others have, too: the target may have made a pipe non-blocking.
#pragma once
#include <cstddef>
#include <string_view>

namespace dj {

// Waits where there is no room. Returns how many bytes were written: when these are not all, errno
// says why.
size_t write_whole(int fd, std::string_view text);

}  // namespace dj
