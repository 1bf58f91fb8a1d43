// SPDX-License-Identifier: Apache-2.0
// RemoteCall borrows one stopped thread to make system calls in the target. When the scope ends it
// restores all registers and the signal mask; an interrupted system call of the thread still
// restarts.
#pragma once
#include <sys/user.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/restore_frame.h"
#include "runtime/process/stopped.h"

namespace dj {

class RemoteCall {
 public:
  // Borrows a thread. It prefers one that no seccomp filter confines, then one that runs its own
  // code, then one in a restartable call. It suspends a filter meanwhile; if the kernel does not
  // let djtap do that, borrow() fails (Permission), since the filter might kill the program.
  static Result<RemoteCall> borrow(Stopped& stopped);
  // Borrows this thread, for calls that concern what the kernel keeps for each thread.
  static Result<RemoteCall> borrow(Stopped& stopped, pid_t tid);
  static Result<pid_t> best_thread(Stopped& stopped);  // the one that borrow() would take
  // Checks that borrow() could take the best thread; changes nothing of the thread.
  static Status check(Stopped& stopped);
  RemoteCall(RemoteCall&& other) noexcept;
  RemoteCall& operator=(RemoteCall&&) = delete;
  ~RemoteCall();  // give_back()

  Stopped& stopped() { return *stopped_; }
  pid_t tid() const { return tid_; }
  // Makes a system call and returns what the kernel returned: -errno on failure. Fails if the
  // ptrace connection breaks, or if the thread did something else than this call: processes that
  // share its memory can change its text while its seccomp filter is suspended.
  Result<int64_t> syscall(long number, std::initializer_list<uint64_t> arguments);
  // Like syscall(), but -errno becomes an Error "`what`: ..".
  Result<uint64_t> checked(const char* what, long number,
                           std::initializer_list<uint64_t> arguments);
  // Makes the calls one after the other, with one stop for all of them. chain() cannot tell what
  // the kernel returned: the caller checks the calls' effects. Where can_chain() is false, because
  // the program has run or a filter could kill it, chain() makes each call as syscall() does.
  Status chain(const std::vector<ChainedCall>& calls);
  bool can_chain() const;
  // The same in two steps: djtap may do something else while the thread makes the calls, that needs
  // neither its registers nor what the calls change.
  Status begin_chain(const std::vector<ChainedCall>& calls);
  Status end_chain();
  // Whether some of the target's memory is locked (mlock, mlockall). The first call finds out:
  // there may be hundreds of mappings to make.
  bool locks_memory();
  // Returns the address of RestoreFrame::kScratchBytes bytes of the target for arguments in memory,
  // which no other process shares; they last until the scope ends.
  Result<uint64_t> scratch();

  // Gives the thread back: unmaps scratch() and restores registers, signal mask and stack. The
  // destructor calls it.
  Status give_back();

 private:
  RemoteCall() = default;
  Status prepare(Stopped& stopped);
  Status run_to_syscall_stop();
  Status run_on();
  Status suspend_filter(pid_t pid);
  void resume_filter();
  Error refuse_entry();
  Stopped* stopped_ = nullptr;
  pid_t tid_ = 0;
  bool suspended_ = false;  // its seccomp filter, until give_back()
  user_regs_struct saved_ = {};
  uint64_t saved_mask_ = 0;
  user_regs_struct borrowed_ = {};  // at a `syscall` instruction
  std::optional<RestoreFrame> home_;
  uint64_t scratch_ = 0;  // 0: none yet
  bool maps_scratch_ = false;
  std::optional<bool> locks_memory_;
  bool is_in_chain_ = false;
};

}  // namespace dj
