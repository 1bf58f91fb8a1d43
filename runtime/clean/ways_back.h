// SPDX-License-Identifier: Apache-2.0
// Ways back: what leads into the code of a session that has ended. The program's functions are
// never called with a return address that lies there (arch/x86_64/detour.h), but for its handlers
// of faults and of SIGTRAP. So these are the registers of threads, and those that the kernel has
// saved for a signal handler: in a frame on some stack, or wherever a handler that exchanges the
// program's own threads has copied them.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/process.h"
#include "runtime/process/stopped.h"

namespace dj {

// SavedContexts: copies of registers that the kernel has saved and that lead into some code.
struct SavedContexts {
  std::vector<uint64_t> at;  // addresses of what is_way_back() looks at, ascending
  // False: not all memory could be looked at, as it is too much, or the kernel does not show it.
  bool are_all = true;
};

// Those in all memory of `pid`, which may run: nobody enters `code` any more. maps: its mappings.
// Takes a fifth of a second at most; nothing where the process catches no signals.
SavedContexts find_saved_contexts(pid_t pid, const std::vector<Mapping>& maps,
                                  const std::vector<AddressRange>& code);

struct WaysBack {
  std::vector<bool> used;  // by range
  bool runs = false;       // a thread executes what is there, and will be out of it soon
};

// Of each range of `code`, which do not overlap, whether anybody may come back to it: a thread, by
// its registers or a signal frame on its stacks, or one of `saved`, as far as it is still there.
// Threads that have left a restartable sequence there are made to forget it: else the kernel would
// look at what it was.
Result<WaysBack> find_ways_back(const Stopped& stopped, const std::vector<AddressRange>& code,
                                const SavedContexts& saved);

}  // namespace dj
