// SPDX-License-Identifier: Apache-2.0
// RemoteCall: scope that borrows one stopped thread to make system calls in the target. All
// registers and the signal mask are as before when it ends; an interrupted system call of the
// thread still restarts.
#pragma once
#include <sys/user.h>

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "compiler/base/result.h"
#include "runtime/process/restore_frame.h"
#include "runtime/process/stopped.h"

namespace dj {

class RemoteCall {
 public:
  // Prefers a thread that no seccomp filter confines, then one that runs its own code, then one in
  // a restartable call. A filter is suspended meanwhile; where the kernel does not let djtap do
  // that, borrow() fails (Permission), since the filter might kill the program.
  static Result<RemoteCall> borrow(Stopped& stopped);
  // This thread: for what the kernel keeps of each.
  static Result<RemoteCall> borrow(Stopped& stopped, pid_t tid);
  static Result<pid_t> best_thread(Stopped& stopped);  // the one that borrow() would take
  // Whether borrow() could take that one: nothing of the thread changes.
  static Status check(Stopped& stopped);
  RemoteCall(RemoteCall&& other) noexcept;
  RemoteCall& operator=(RemoteCall&&) = delete;
  ~RemoteCall();  // give_back()

  Stopped& stopped() { return *stopped_; }
  pid_t tid() const { return tid_; }
  // Result as the kernel returned it: -errno on failure; the Error is for a broken ptrace
  // connection, and for a thread that did something else than this call: its text can be changed
  // by processes that share its memory, while its seccomp filter is suspended.
  Result<int64_t> syscall(long number, std::initializer_list<uint64_t> arguments);
  // As syscall(), but -errno becomes an Error "`what`: ...".
  Result<uint64_t> checked(const char* what, long number,
                           std::initializer_list<uint64_t> arguments);
  // Some of the target's memory is locked (mlock, mlockall). Found out once: there may be hundreds
  // of mappings to make.
  bool locks_memory();
  // A private page of the target for arguments in memory, until the scope ends.
  Result<uint64_t> scratch();

  Status give_back();

 private:
  RemoteCall() = default;
  Status prepare(Stopped& stopped);
  Status run_to_syscall_stop();
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
  std::optional<bool> locks_memory_;
};

}  // namespace dj
