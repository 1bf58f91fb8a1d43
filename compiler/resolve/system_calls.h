// SPDX-License-Identifier: Apache-2.0
// SystemCalls keeps where files have system call instructions, from one plan to the next: the C
// library is in each program that a shell executes.
#pragma once
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "arch/x86_64/calls.h"

namespace dj {

// CallInstruction is a `syscall` instruction of an object.
struct CallInstruction {
  uint64_t address = 0;
  arch::SystemCall call;
};

class SystemCalls {
 public:
  using Found = std::optional<std::vector<CallInstruction>>;

  // Returns what is known of the file at `path`, as it is now; the caller fills in what is not. Of
  // a path that leads to no file any more nothing is known. The reference lives as long as this
  // object.
  Found& of(const std::string& path);

 private:
  // Device, inode, size, and the times of the last change of its bytes and of its inode: a target
  // cannot give a file of its own those of a library.
  using File = std::tuple<uint64_t, uint64_t, int64_t, int64_t, int64_t>;
  std::map<File, Found> files_;
  std::list<Found> gone_;  // of files that stat(2) does not find
};

}  // namespace dj
