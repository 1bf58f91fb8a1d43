// SPDX-License-Identifier: Apache-2.0
// RestoreFrame makes a borrowed thread restore itself if djtap is killed meanwhile.
//
// The thread's stack pointer leads to a signal frame with all of its earlier state. A `ret` into
// the program's own rt_sigreturn follows the system call instruction that the thread runs for
// djtap. In front of it there may be more such frames, each of which makes one system call more.
#pragma once
#include <sys/user.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/process/stopped.h"

namespace dj {

// Gadgets holds the addresses of instructions of the target that a borrowed thread runs; 0: there
// is none.
struct Gadgets {
  uint64_t syscall = 0;      // syscall
  uint64_t syscall_ret = 0;  // syscall; ret
  uint64_t sigreturn = 0;    // mov $15,%eax; syscall
};
// Finds them in the code of the program and its libraries, as it is in memory; leaves out what
// djtap has mapped there.
Gadgets find_gadgets(const Stopped& stopped);

// Returns the most bytes that a signal frame of this stopped thread takes of its stack; 0: unknown.
uint64_t signal_frame_bytes(pid_t tid);

struct ChainedCall {
  long number = 0;
  std::array<uint64_t, 6> arguments = {};
};

class RestoreFrame {
 public:
  // Writes the frame below the thread's stack. regs, mask: the thread's state to restore. Empty:
  // djtap cannot make one here.
  static std::optional<RestoreFrame> make(const Stopped& stopped, pid_t tid, const Gadgets& gadgets,
                                          const user_regs_struct& regs, uint64_t mask);
  uint64_t frame() const { return frame_; }  // the stack pointer to make system calls with
  // kScratchBytes below the frame, for arguments in memory.
  static constexpr uint64_t kScratchBytes = 512;
  uint64_t scratch() const { return scratch_; }
  // Writes a frame for each call below all that. A thread with the returned registers makes the
  // calls, one after the other, and then restores itself as behind a call of djtap's. regs: of such
  // a call; last_mask: of blocked signals at the last call, as all are at the others. Empty: not
  // enough stack.
  std::optional<user_regs_struct> add_calls(const Stopped& stopped, const user_regs_struct& regs,
                                            std::span<const ChainedCall> calls, uint64_t last_mask);
  // Restores the bytes that lay there.
  Status clear(const Stopped& stopped) const { return stopped.write(begin_, before_); }

 private:
  uint64_t begin_ = 0, scratch_ = 0, frame_ = 0, area_ = 0;
  uint64_t sigreturn_ = 0;
  std::vector<uint8_t> before_;  // from begin_ on
};

}  // namespace dj
