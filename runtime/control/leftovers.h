// Leftovers: the data arenas of sessions that have ended, still mapped in the target because a
// thread may have been inside a handler when they did. The next session takes them away; else the
// addresses below 2 GB would run out.
#pragma once
#include <vector>

#include "compiler/result.h"
#include "runtime/control/process.h"
#include "runtime/control/remote_call.h"

namespace dj {

struct Leftover {
  AddressRange arena;              // with the thread table behind it
  std::vector<AddressRange> code;  // the session's islands and stubs
};

// Of the sessions that have put everything back in `pid`, which may run; maps: its mappings.
Result<std::vector<Leftover>> find_leftovers(pid_t pid, const std::vector<Mapping>& maps);

// `maps` without what find_leftovers() found: what will be free once they are taken away.
std::vector<Mapping> without_leftovers(const std::vector<Mapping>& maps,
                                       const std::vector<Leftover>& leftovers);

// Those whose code no thread is in. Before a thread is borrowed: its program counter is its own.
Result<std::vector<Leftover>> idle_leftovers(const Stopped& stopped);

// Unmaps the arenas. The code stays: the kernel may yet look at a thread's rseq descriptor there.
Status unmap_leftovers(RemoteCall& call, const std::vector<Leftover>& idle);

}  // namespace dj
