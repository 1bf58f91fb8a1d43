// SPDX-License-Identifier: Apache-2.0
// ExecWatch notices that the traced process has executed another program, and so has lost the
// probes with its old image.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>

#include "runtime/process/running_memory.h"

namespace dj {

class ExecWatch {
 public:
  // Notes the program that the process runs now.
  explicit ExecWatch(pid_t pid);
  // Looks again. Returns the path of the new program when it first sees one, else "". The new
  // program may be the same file.
  std::string poll();

 private:
  pid_t pid_;
  RunningMemory memory_;
  uint64_t device_ = 0, inode_ = 0;
  bool reported_ = false;
};

}  // namespace dj
