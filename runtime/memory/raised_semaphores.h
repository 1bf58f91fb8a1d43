// SPDX-License-Identifier: Apache-2.0
// raise_semaphores() counts semaphores of SDT marks up for a session, and notes each in the
// process's own memory (ThreadTable). Forks inherit the notes as they inherit the counts. So each
// count is lowered once: by the session, or by the djtap that cleans up after it.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/stopped.h"

namespace dj {

// Adds 1 to each of these semaphores, unless it is noted already or nothing is mapped there.
// threads: address of the ThreadTable. Returns how many it left as they were, because there was no
// room for a note.
Result<size_t> raise_semaphores(const Stopped& stopped, uint64_t threads,
                                const std::vector<uint64_t>& addresses);
// Subtracts 1 from each of these semaphores that is noted. It leaves alone a semaphore where
// another file is mapped now, and one whose file was mapped anew with a count of 0.
Status lower_semaphores(const Stopped& stopped, uint64_t threads,
                        const std::vector<uint64_t>& addresses);
// Does that for all that are noted, if the table is that of the session whose memory is `inode`.
Status lower_all_semaphores(const Stopped& stopped, uint64_t threads, uint64_t inode);

}  // namespace dj
