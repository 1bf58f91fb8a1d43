// SPDX-License-Identifier: Apache-2.0
// DebugList puts djtap's code into the list of objects that debuggers read of a process (<link.h>:
// struct r_debug), so that gdb's stacks go through detours and handlers. The entry is an object in
// a namespace of its own, at which the program's loader and dl_iterate_phdr() never look. Its file
// is in djtap's memory (/proc/PID/fd) and vanishes with djtap. It works only where glibc's list has
// namespaces (2.35 and later).
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/process/mapped_module.h"
#include "runtime/shared/abi.h"

namespace dj {

class DebugList {
 public:
  DebugList() = default;
  DebugList(DebugList&& other) noexcept;
  DebugList& operator=(DebugList&&) = delete;
  ~DebugList();
  // Shows `object`, the bytes of the file (debug_object.h), in place of an earlier one: debuggers
  // that attach from now on see it. modules: of the process, with its loader. The process may run.
  void show(pid_t pid, const std::vector<MappedModule>& modules, const abi::Header& header,
            std::span<const uint8_t> object);

 private:
  int fd_ = -1;
};

// Takes what sessions have put there out of the process's list. Call it before their memory is
// unmapped.
void leave_debug_list(pid_t pid);

}  // namespace dj
