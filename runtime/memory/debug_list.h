// SPDX-License-Identifier: Apache-2.0
// DebugList: djtap's code in the list of objects that debuggers read of a process (<link.h>: struct
// r_debug), so that gdb's stacks go through detours and handlers. It stands there as an object in a
// namespace of its own, which the program's loader and dl_iterate_phdr() never look at; its file is
// in djtap's memory (/proc/PID/fd), and is gone with it. Only where glibc's list has namespaces
// (2.35 and later).
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <span>

#include "runtime/shared/abi.h"

namespace dj {

class DebugList {
 public:
  DebugList() = default;
  DebugList(DebugList&& other) noexcept;
  DebugList& operator=(DebugList&&) = delete;
  ~DebugList();
  // object: the file's bytes. From now on, debuggers that attach see this one. The process may run.
  void show(pid_t pid, const abi::Header& header, std::span<const uint8_t> object);

 private:
  int fd_ = -1;
};

// Takes what sessions have put there out of the process's list; before their memory may go.
void leave_debug_list(pid_t pid);

}  // namespace dj
