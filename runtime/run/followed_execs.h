// SPDX-License-Identifier: Apache-2.0
// FollowedExecs follows processes into the programs that they execute. The agent of a process of
// the session asks before the call (runtime/shared/exec_wish.h), any other process is stopped by an
// ExecGate, also where its loader opens a library. djtap traces the thread until it stands at the
// begin of the new program, and has the process join.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <list>
#include <set>
#include <string>
#include <utility>

#include "runtime/process/exec_gate.h"
#include "runtime/process/exec_tracee.h"
#include "runtime/run/joined_processes.h"
#include "runtime/run/machine_processes.h"
#include "runtime/session/session.h"

namespace dj {

// Outsiders: whom the session takes in beside what its processes start.
struct Outsiders {
  ExecGate* gate = nullptr;  // null: no others
  // Which of the programs are meant that processes of the session execute; null: all.
  const MachineProcesses* meant = nullptr;
  bool trusted = false;  // TargetChoices
  bool writable_text = false;
};

class FollowedExecs {
 public:
  // All that is referred to must outlive this object. data: inode of the session's data, by which
  // djtap knows its processes. leaves: is called while a process is about to execute another
  // program.
  FollowedExecs(Session& session, JoinedProcesses& joined, uint64_t data,
                const Outsiders& outsiders, std::function<void()> leaves)
      : session_(session),
        joined_(joined),
        data_(data),
        outsiders_(outsiders),
        leaves_(std::move(leaves)) {}
  FollowedExecs(const FollowedExecs&) = delete;
  // Lets all threads go on; from here on none asks.
  ~FollowedExecs();

  // Answers the threads that ask, and takes in those that have executed. Returns whether some are
  // on their way: call it again soon. Call it in every round of the session's loop.
  bool poll();
  // Whether djtap traces a thread of this process until it has executed its program.
  bool is_leaving(int pid) const {
    return std::ranges::any_of(traced_,
                               [&](const Traced& each) { return each.thread.pid() == pid; });
  }
  // Whether this process has joined by an exec.
  bool has_followed(int pid) const { return followed_.contains(pid); }

 private:
  struct Traced {
    ExecTracee thread;
    uint32_t wish;  // its number; kNoWish: the thread does not report a failed call
    uint64_t since_ns;
  };
  static constexpr uint32_t kNoWish = ~0u;
  void look();
  void look_at_gate();
  Status trace(int tid);        // who waits at the gate, in execve()
  Status take_opener(int tid);  // who waits there in open()
  void answer(uint32_t wish, abi::ExecState state) const;
  void follow(uint32_t number, const abi::ExecWish& wish);
  void let_go(uint32_t number);
  bool is_done(Traced& traced);
  void take_in(Traced& traced);
  int thread_of(uint32_t number, const abi::ExecWish& wish) const;
  void warn_of_refused(const std::string& program, const std::string& why);
  void warn_of_missed(uint64_t programs);

  Session& session_;
  JoinedProcesses& joined_;
  uint64_t data_;
  Outsiders outsiders_;
  std::function<void()> leaves_;
  std::list<Traced> traced_;
  std::set<int> followed_;
  std::set<std::string> told_;
  uint64_t missed_ = 0;  // programs that were executed without an answer, as told
};

}  // namespace dj
