// SPDX-License-Identifier: Apache-2.0
// UnmadeMark: how much private memory lies behind a session's data, written where these begin until
// the journal says where all is. So what djtap has mapped by the time it is killed is known.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <span>

namespace dj {

// data: djtap's view, of which the target may have a mapping from now on. bytes: of private memory.
void mark_unmade(std::span<uint8_t> data, uint64_t bytes);
// The journal is there, and the data are zero again.
void unmark_unmade(std::span<uint8_t> data);
// What the mark at `data`, an address in `pid`, says; 0: there is none, or no sane one.
uint64_t marked_private_bytes(pid_t pid, uint64_t data);

}  // namespace dj
