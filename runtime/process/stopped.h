// SPDX-License-Identifier: Apache-2.0
// Stopped holds all threads of a process in a ptrace-stop while it lives. Its destructor lets them
// go on as if nothing had happened: it delivers held signals, and interrupted system calls restart.
#pragma once
#include <signal.h>
#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/process.h"
#include "runtime/process/text_memory.h"

namespace dj {

// RseqArea is the registration of a thread's rseq area as the kernel knows it.
struct RseqArea {
  int64_t offset = 0;  // struct rseq minus fs base
  uint32_t bytes = 0, signature = 0;
};

class Stopped final : public TextMemory {
 public:
  // Seizes and stops every thread of `pid`, until the kernel counts no other. Fails with Permission
  // or TargetGone, or with Other when a thread does not stop within two seconds (a vfork that waits
  // for its child), or within a minute if it waits for a processor. Such a late thread stops as
  // soon as it can.
  static Result<Stopped> stop(pid_t pid);
  // The same with less patience than two seconds.
  static Result<Stopped> stop_within(pid_t pid, uint64_t patience_ns);
  // Stops one thread of `pid`, which is enough to act in the process; the others run on.
  static Result<Stopped> stop_one(pid_t pid);
  // Stops thread `tid` alone, for a short look; memory cannot be read and written.
  static Result<Stopped> stop_thread(pid_t pid, pid_t tid);
  // Lets go of late threads that have stopped by now. True: no thread is late any more. A caller
  // that goes on after one of the functions above has failed calls it again and again, in the
  // thread that called that function. A late thread can be stopped once more.
  static bool let_go_of_late();
  // A thread of `pid` that this thread of djtap has seized, and that is in a ptrace-stop, stays
  // there until the next stop() of the process, which takes it over.
  static void expect(pid_t pid, pid_t tid);
  // Takes over the only thread of a process that this thread of djtap has seized and that is in a
  // ptrace-stop (launch.cpp). The process is_fresh(). at_signal: in the delivery of a signal that
  // the program is not to see, and in no system call.
  static Result<Stopped> adopt(pid_t pid, bool at_signal);
  Stopped(Stopped&& other) noexcept;
  Stopped& operator=(Stopped&&) = delete;
  ~Stopped();  // release()

  pid_t pid() const { return pid_; }
  std::vector<pid_t> threads() const;  // ascending, never empty
  // Whether nothing of the program has run since its execve(): no signal has a handler, and no
  // thread an alternate stack. False: it may have.
  bool is_fresh() const { return is_fresh_; }

  // Returns its mappings (read_maps()). Those of a program that has not run change only where djtap
  // makes a thread run: they are read once until then.
  Result<std::vector<Mapping>> maps() const;

  // Read and write through /proc/PID/mem: a page that write() changes becomes the process's own
  // copy.
  Status read(uint64_t address, std::span<uint8_t> bytes) const override;
  Status write(uint64_t address, std::span<const uint8_t> bytes) const override;
  // Reads by one system call.
  size_t read_ranges(std::span<const AddressRange> ranges, uint8_t* bytes) const override;

  // Read and write the registers of one of the threads.
  Result<user_regs_struct> registers(pid_t tid) const;
  Status set_registers(pid_t tid, const user_regs_struct& regs) const;
  Result<uint64_t> signal_mask(pid_t tid) const;  // bit n-1: signal n is blocked
  Status set_signal_mask(pid_t tid, uint64_t mask) const;
  // Whether the thread runs under seccomp (seccomp_filters.h). No thread can change that while all
  // stand.
  bool is_confined(pid_t tid) const;
  // Whether a signal is pending for this thread alone, or on its way to it: such a signal, a
  // fault's, may concern the very instruction at which the thread stands.
  bool expects_signal(pid_t tid) const;
  Result<std::optional<RseqArea>> rseq(pid_t tid) const;  // rseq_query.h
  // Whether the program catches the thread's system calls itself (PR_SET_SYSCALL_USER_DISPATCH).
  // False also where the kernel (before 6.4) does not say.
  bool catches_syscalls(pid_t tid) const;

  // Takes back the SIGTRAP of threads that trapped on an int3 of djtap and have not yet seen the
  // signal, and sets their rip to the answer of `ours`. ours: takes the address of an int3 and
  // returns where to go on; 0: it is not djtap's.
  template <typename Ours>
  Status take_back_traps(Ours ours);

  // release_others() lets all threads but `keep` go on; stop_others() stops them all again. The
  // time between is no pause, unless `keep` is the only thread. stop_others_within(): with less
  // patience than two seconds.
  void release_others(pid_t keep);
  Status stop_others();
  Status stop_others_within(uint64_t patience_ns);
  // Lets these threads go on, ascending, while the others stand; stop_others() stops them again.
  void release_these(const std::vector<pid_t>& tids);
  // Lets all threads go on; the destructor calls it. Afterwards call only pause_ns().
  void release();
  // Returns the nanoseconds for which all threads stood, until now or until release().
  uint64_t pause_ns() const;

 private:
  friend class RemoteCall;
  struct Thread {
    std::vector<siginfo_t>
        held;  // signals that djtap saw and the program has not; release() delivers them
    bool at_signal_stop = false;  // stopped in the delivery of held.front() (or of one taken back)
    bool stands = false;          // in a stop that djtap has seen
    mutable std::optional<user_regs_struct> registers;  // as read in this stop
    mutable std::optional<bool> is_confined;            // as asked while all threads stood
  };
  Stopped() = default;
  // Seizes all threads that do not stand yet, or `only` alone.
  Status seize_new_threads(const pid_t* only, uint64_t patience_ns);
  void end_pause();
  void release(const std::vector<pid_t>& tids);
  Status seize(pid_t tid, bool* gone);
  Status open_memory();
  // Waits for the thread's next stop, two seconds or as told; *status is its wait status. Forgets a
  // thread that ended (TargetGone).
  Status wait_stop(pid_t tid, int* status);
  Status wait_stop(pid_t tid, int* status, uint64_t patience_ns);
  Status to_event_stop(
      pid_t tid);  // from any stop to one behind which an interrupted call restarts
  Status take_back_trap(pid_t tid, uint64_t new_rip);
  void forget_signal(pid_t tid);  // in whose delivery the thread has stopped just now
  void repair_interrupted(pid_t tid);
  void detach(pid_t tid, Thread& thread);
  void bury(pid_t tid) const;

  pid_t pid_ = 0;
  int mem_ = -1;
  bool is_fresh_ = false;
  mutable std::optional<std::vector<Mapping>> maps_;  // of a fresh program, since it ran last
  std::map<pid_t, Thread> threads_;
  uint64_t begin_ns_ = 0;   // since when all threads stand; 0: they do not
  uint64_t paused_ns_ = 0;  // earlier times
};

template <typename Ours>
Status Stopped::take_back_traps(Ours ours) {
  for (pid_t tid : threads()) {
    DJ_TRY(user_regs_struct regs, registers(tid));
    uint64_t new_rip = ours(regs.rip - 1);
    if (new_rip != 0) {
      DJ_TRY_DO(take_back_trap(tid, new_rip));
    }
  }
  return ok_status();
}

}  // namespace dj
