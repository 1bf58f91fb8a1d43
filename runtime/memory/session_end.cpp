// SPDX-License-Identifier: Apache-2.0
// Two words of the ThreadTable.
#include "runtime/memory/session_end.h"

#include <cstddef>

#include "runtime/process/running_memory.h"
#include "runtime/shared/thread_table.h"

namespace dj {

Status set_ended(const Stopped& stopped, uint64_t threads) {
  uint64_t one = 1;
  return stopped.write(threads + offsetof(abi::ThreadTable, ended),
                       {reinterpret_cast<uint8_t*>(&one), sizeof one});
}

bool has_not_ended(pid_t pid, uint64_t threads, uint64_t inode) {
  const RunningMemory memory(pid);
  uint64_t session = 0, ended = 1;
  return threads != 0 && memory.is_open() &&
         memory.read(threads + offsetof(abi::ThreadTable, session), &session, sizeof session) &&
         memory.read(threads + offsetof(abi::ThreadTable, ended), &ended, sizeof ended) &&
         session == inode && ended == 0;
}

}  // namespace dj
