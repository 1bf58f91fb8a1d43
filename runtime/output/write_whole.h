// SPDX-License-Identifier: Apache-2.0
// write_whole() writes a whole text to a descriptor that other processes share: the target may have
// made a pipe non-blocking.
#pragma once
#include <cstddef>
#include <string_view>

namespace dj {

// Waits while the descriptor has no room. Returns how many bytes it has written; if that is less
// than all, errno says why.
size_t write_whole(int fd, std::string_view text);

}  // namespace dj
