// SPDX-License-Identifier: Apache-2.0
// mark_unmade() writes how much private memory lies behind a session's data, at the begin of these
// data. The mark stands until the journal says where all memory is. So a later djtap knows what a
// killed one had mapped.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <span>

namespace dj {

// Writes the mark. data: djtap's view, of which the target may have a mapping from now on. bytes:
// of private memory.
void mark_unmade(std::span<uint8_t> data, uint64_t bytes);
// Removes the mark when the journal is there: the data are zero again.
void unmark_unmade(std::span<uint8_t> data);
// Returns the bytes that the mark at `data`, an address in `pid`, says; 0: there is no mark, or no
// sane one.
uint64_t marked_private_bytes(pid_t pid, uint64_t data);

}  // namespace dj
