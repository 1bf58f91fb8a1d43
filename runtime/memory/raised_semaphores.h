// SPDX-License-Identifier: Apache-2.0
// What a session has counted up in semaphores of SDT marks. It is noted in the process's own memory
// (ThreadTable), which its forks inherit as they do the counts: so each of them is counted down
// once, by the session or by whoever cleans it.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/stopped.h"

namespace dj {

// threads: address of the ThreadTable. One more user of each of these semaphores, unless it is
// noted already or nothing is mapped there. Returns how many there is no room for to be noted,
// which stay as they are.
Result<size_t> raise_semaphores(const Stopped& stopped, uint64_t threads,
                                const std::vector<uint64_t>& addresses);
// One less of those among these that are noted, but not where another file is mapped now, or the
// same one anew with a count of 0.
Status lower_semaphores(const Stopped& stopped, uint64_t threads,
                        const std::vector<uint64_t>& addresses);
// Of all that are noted, where the table is that of the session whose memory is `inode`.
Status lower_all_semaphores(const Stopped& stopped, uint64_t threads, uint64_t inode);

}  // namespace dj
