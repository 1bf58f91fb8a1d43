// SPDX-License-Identifier: Apache-2.0
// FollowedExecs follows processes of the session into the programs that they execute. The agent of
// such a process asks before the call (runtime/shared/exec_wish.h); djtap traces the thread until
// it stands at the begin of the new program, and has the process join anew.
#pragma once
#include <cstdint>
#include <list>
#include <set>
#include <string>

#include "runtime/process/exec_tracee.h"
#include "runtime/run/joined_processes.h"
#include "runtime/session/session.h"

namespace dj {

class FollowedExecs {
 public:
  // Both references must outlive this object. data: inode of the session's data, by which djtap
  // knows its processes.
  FollowedExecs(Session& session, JoinedProcesses& joined, uint64_t data)
      : session_(session), joined_(joined), data_(data) {}
  FollowedExecs(const FollowedExecs&) = delete;
  // Lets all threads go on; from here on none asks.
  ~FollowedExecs();

  // Answers the threads that ask, and takes in those that have executed. Returns whether some are
  // on their way: call it again soon. Call it in every round of the session's loop.
  bool poll();
  // Whether this process has joined by an exec.
  bool has_followed(int pid) const { return followed_.contains(pid); }

 private:
  struct Traced {
    ExecTracee thread;
    uint32_t wish;  // its number; kNoWish: the thread says nothing if the call fails
    uint64_t since_ns;
  };
  static constexpr uint32_t kNoWish = ~0u;
  void look();
  void answer(uint32_t wish, abi::ExecState state) const;
  void follow(uint32_t number, const abi::ExecWish& wish);
  void let_go(uint32_t number);
  bool is_done(Traced& traced);
  void take_in(Traced& traced);
  int thread_of(const abi::ExecWish& wish) const;
  void warn_of_refused(const std::string& program, const std::string& why);

  Session& session_;
  JoinedProcesses& joined_;
  uint64_t data_;
  std::list<Traced> traced_;
  std::set<int> followed_;
  std::set<std::string> told_;
};

}  // namespace dj
