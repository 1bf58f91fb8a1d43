// SPDX-License-Identifier: Apache-2.0
// find_ways_back() finds what leads back into the code of a session that has ended. Detours never
// call the program's functions with a return address that lies in that code (arch/x86_64/detour.h);
// the exceptions are the program's handlers of faults and of SIGTRAP. So the ways back are the
// registers of threads, and the registers that the kernel has saved for a signal handler. Those lie
// in a frame on a stack, or wherever a handler that exchanges the program's own threads has copied
// them.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/process.h"
#include "runtime/process/stopped.h"

namespace dj {

// SavedContexts: copies of registers that the kernel has saved and that lead into the code.
struct SavedContexts {
  std::vector<uint64_t> at;  // addresses of what is_way_back() looks at, ascending
  // False: djtap has not looked at all memory, as it is too much, or the kernel does not show it.
  bool are_all = true;
};

// Finds the saved contexts in all memory of `pid`, which may run: no thread enters `code` any more.
// maps: the process's mappings. Takes a fifth of a second at most. Finds nothing where the process
// catches no signals.
SavedContexts find_saved_contexts(pid_t pid, const std::vector<Mapping>& maps,
                                  const std::vector<AddressRange>& code);

struct WaysBack {
  std::vector<bool> used;  // by range
  bool runs = false;       // a thread executes what is there, and will be out of it soon
};

// Tells for each range of `code`, which do not overlap, whether a thread may come back to it: by
// its registers, by a signal frame on its stacks, or by one of `saved`, as far as that is still
// there. It makes threads that have left a restartable sequence there forget the sequence: else the
// kernel would look at its descriptor, which is about to be unmapped.
Result<WaysBack> find_ways_back(const Stopped& stopped, const std::vector<AddressRange>& code,
                                const SavedContexts& saved);

}  // namespace dj
