// SPDX-License-Identifier: Apache-2.0
// Leftovers are memory of ended sessions that is still mapped in a process, because a thread may
// have been inside a handler when the session ended. djtap unmaps the memory to which no thread can
// come back: else memory, and the addresses below 2 GB, would run out.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/process.h"

namespace dj {

class Stopped;

// Leftover: one piece of session memory. A session has one, and one more for each time that it
// probed dlopened objects.
struct Leftover {
  std::pair<uint64_t, int64_t> session;  // when its djtap was started, and its pid
  uint64_t inode = 0;                    // of its journal; 0: there is none
  std::vector<uint64_t> files;           // inodes of its other files
  AddressRange arena;              // with private memory behind it; empty: unmapped now, or none
  std::vector<AddressRange> code;  // code areas and stubs
  AddressRange journal;
  uint64_t gates = 0;    // address of its FaultGates, in private memory; 0: none
  uint64_t threads = 0;  // address of its ThreadTable; 0: not known
  bool unmade = false;   // djtap was killed before it had a journal: it never had code
};

// Returns the leftovers of sessions that have put everything back in `pid`, which may run, and of
// those whose djtap was killed before they had a journal. maps: the process's mappings. Oldest
// session first.
Result<std::vector<Leftover>> find_leftovers(pid_t pid, const std::vector<Mapping>& maps);

// Returns `maps` without what find_leftovers() found: so the mappings will be once the leftovers
// are unmapped.
std::vector<Mapping> without_leftovers(const std::vector<Mapping>& maps,
                                       const std::vector<Leftover>& leftovers);

// Unmaps what ended sessions have left in `pid`. The memory of a session stays for the next call if
// a thread may come back to its code (ways_back.h); the result is then false. The process runs;
// clear_leftovers() stops it for a moment if there are leftovers. It waits for a thread inside a
// handler: some milliseconds for a session (OfSession), and ten seconds, in which even a busy
// machine lets each thread run, for a command that does nothing else (OfCommand). The latest
// session's memory stays if the process has too much memory to search.
enum class Patience : uint8_t { OfSession, OfCommand };
Result<bool> clear_leftovers(pid_t pid, Patience patience = Patience::OfSession);
// The same once, in a process that stands, and goes on standing.
Result<bool> clear_leftovers(Stopped& stopped);

}  // namespace dj
