// SPDX-License-Identifier: Apache-2.0
// RestoreFrame: makes a borrowed thread find back alone if djtap is killed meanwhile.
//
// Its stack pointer leads to a signal frame with all that was, and the system call instruction that
// it runs for djtap is followed by a `ret` into the program's own rt_sigreturn.
#pragma once
#include <sys/user.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/process/stopped.h"

namespace dj {

// Instructions of the target to run; 0: there is none.
struct Gadgets {
  uint64_t syscall = 0;      // syscall
  uint64_t syscall_ret = 0;  // syscall; ret
  uint64_t sigreturn = 0;    // mov $15,%eax; syscall
};
// In the code of the program and its libraries, as it is in memory; not what djtap has mapped
// there.
Gadgets find_gadgets(const Stopped& stopped);

// Bytes that a signal frame of this stopped thread takes of its stack, at most; 0: not known.
uint64_t signal_frame_bytes(pid_t tid);

class RestoreFrame {
 public:
  // Writes the frame below the thread's stack. Nothing: it cannot be made here.
  static std::optional<RestoreFrame> make(const Stopped& stopped, pid_t tid, const Gadgets& gadgets,
                                          const user_regs_struct& regs, uint64_t mask);
  uint64_t frame() const { return frame_; }  // the stack pointer to make system calls with
  // Puts back what lay there.
  Status clear(const Stopped& stopped) const { return stopped.write(frame_, before_); }

 private:
  uint64_t frame_ = 0;
  std::vector<uint8_t> before_;
};

}  // namespace dj
