// SPDX-License-Identifier: Apache-2.0
// ptrace: stopping all threads of a process and letting them go unharmed.
//
// PTRACE_INTERRUPT wakes a sleeping thread up as a signal would. Calls that return -ERESTART*
// restart by themselves when the thread goes on; those few that say EINTR even when no handler runs
// (epoll_wait and others, signal(7)) are turned into restarting ones, so that the program never
// sees an error it would not have seen.
#include "runtime/process/stopped.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "runtime/process/interrupted_call.h"
#include "runtime/process/news_wait.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/rseq_query.h"
#include "runtime/process/seccomp_filters.h"
#include "runtime/process/thread_wait.h"
#include "runtime/process/tracer.h"

namespace dj {
namespace {

constexpr uint64_t kStopTimeoutNs = 2'000'000'000;
constexpr uint64_t kStarvedTimeoutNs = 60'000'000'000;  // of a thread that waits for a processor
constexpr int kEventStop = 128;                         // PTRACE_EVENT_STOP
constexpr int kMostStops = 16;  // of one thread, until it gets to the one that is awaited

const void* as_data(uint64_t value) { return reinterpret_cast<const void*>(value); }

// How many threads of the process do not stand, of which `standing` do. That a look at the list of
// threads finds no new one does not say so: who is listed may have started another one and be gone
// by now, and the kernel cuts the list short where a thread ends that was to be next. But where all
// that it counts stand, nobody is left to start one.
size_t others_of(pid_t pid, bool first_stands, size_t standing) {
  const size_t known = standing + (first_stands ? 0 : 1);  // it stays as a zombie when it has ended
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("Threads:")) continue;
    const size_t all = std::stoull(line.substr(8));
    return all > known ? all - known : 0;
  }
  return 0;  // it is gone
}

// Late threads by their number, with their process: seized by this thread of djtap, and asked to
// stop. The kernel keeps the same list and does not show it.
thread_local std::map<pid_t, pid_t> late_threads;

// Where a thread is late djtap is the tracer, and was allowed to.
Status check_traceable_or_late(pid_t pid) {
  const bool late = std::any_of(late_threads.begin(), late_threads.end(),
                                [pid](const auto& thread) { return thread.second == pid; });
  return late ? ok_status() : check_traceable(pid);
}

// The kernel's own, for an int3: a thread that has hit one cannot block it. Who sends a SIGTRAP has
// another code.
bool is_trap(const siginfo_t& info) { return info.si_signo == SIGTRAP && info.si_code > 0; }

bool has_pending_trap(pid_t tid) {
  siginfo_t info = {};
  __ptrace_peeksiginfo_args next = {0, 0, 1};
  while (trace(PTRACE_PEEKSIGINFO, tid, reinterpret_cast<uint64_t>(&next), &info) == 1) {
    if (is_trap(info)) return true;
    next.off++;
  }
  return false;
}

}  // namespace

Result<Stopped> Stopped::stop(pid_t pid) { return stop_within(pid, kStopTimeoutNs); }

Result<Stopped> Stopped::stop_within(pid_t pid, uint64_t patience_ns) {
  DJ_TRY_DO(check_traceable_or_late(pid));
  Stopped stopped;
  stopped.pid_ = pid;
  DJ_TRY_DO(stopped.stop_others_within(patience_ns));
  DJ_TRY_DO(stopped.open_memory());
  return stopped;
}

Status Stopped::stop_others() { return stop_others_within(kStopTimeoutNs); }

Status Stopped::stop_others_within(uint64_t patience_ns) {
  if (begin_ns_ == 0) {
    begin_ns_ = now_ns();
  }
  DJ_TRY_DO(seize_new_threads(nullptr, patience_ns));
  const uint64_t deadline = now_ns() + kStopTimeoutNs;
  while (!threads_.empty() && others_of(pid_, threads_.count(pid_) != 0, threads_.size()) > 0) {
    if (now_ns() > deadline) {
      return Error{"process " + std::to_string(pid_) +
                   " starts threads faster than they can be stopped"};
    }
    DJ_TRY_DO(seize_new_threads(nullptr, patience_ns));
  }
  return threads_.empty()
             ? Status(Error{"process " + std::to_string(pid_) + " has ended", Fail::TargetGone})
             : ok_status();
}

Result<Stopped> Stopped::stop_one(pid_t pid) {
  DJ_TRY_DO(check_traceable_or_late(pid));
  Stopped stopped;
  stopped.pid_ = pid;
  uint64_t begin = now_ns();
  std::vector<pid_t> threads = live_threads(pid);
  for (pid_t tid : threads) {
    if (stopped.threads_.empty()) {
      DJ_TRY_DO(stopped.seize_new_threads(&tid, kStopTimeoutNs));
    }
  }
  if (stopped.threads_.empty()) {
    return Error{"process " + std::to_string(pid) + " has ended", Fail::TargetGone};
  }
  stopped.begin_ns_ = threads.size() == 1 ? begin : 0;
  DJ_TRY_DO(stopped.open_memory());
  return stopped;
}

Result<Stopped> Stopped::stop_thread(pid_t pid, pid_t tid) {
  Stopped stopped;
  stopped.pid_ = pid;
  bool gone = false;
  DJ_TRY_DO(stopped.seize(tid, &gone));
  int status = 0;
  if (!gone) DJ_TRY_DO(stopped.wait_stop(tid, &status));
  return gone ? Result<Stopped>(Error{"the thread has ended", Fail::TargetGone})
              : Result<Stopped>(std::move(stopped));
}

bool Stopped::let_go_of_late() {
  const std::map<pid_t, pid_t> late = late_threads;
  for (const auto& [tid, pid] : late) {
    // Stopped once more, which it is, and let go of as every other.
    if (has_news(tid)) static_cast<void>(stop_thread(pid, tid).ok());
  }
  return late_threads.empty();
}

// It goes on into its next stop: behind that one an interrupted call restarts.
void Stopped::expect(pid_t pid, pid_t tid) {
  late_threads[tid] = pid;
  trace(PTRACE_INTERRUPT, tid, 0, nullptr);
  trace(PTRACE_CONT, tid, 0, nullptr);
}

Result<Stopped> Stopped::adopt(pid_t pid, bool at_signal) {
  Stopped stopped;
  stopped.pid_ = pid;
  stopped.begin_ns_ = now_ns();
  stopped.threads_[pid] = {};
  stopped.is_fresh_ = true;
  stopped.threads_[pid].stands = at_signal;
  if (!at_signal) DJ_TRY_DO(stopped.to_event_stop(pid));
  DJ_TRY_DO(stopped.open_memory());
  return stopped;
}

Stopped::Stopped(Stopped&& other) noexcept
    : pid_(other.pid_),
      mem_(std::exchange(other.mem_, -1)),
      is_fresh_(other.is_fresh_),
      maps_(std::move(other.maps_)),
      threads_(std::exchange(other.threads_, {})),
      begin_ns_(other.begin_ns_),
      paused_ns_(other.paused_ns_) {}

Stopped::~Stopped() { release(); }

Status Stopped::seize_new_threads(const pid_t* only, uint64_t patience_ns) {
  std::vector<pid_t> fresh;
  for (pid_t tid : live_threads(pid_)) {
    const auto known = threads_.find(tid);
    const bool stands = known != threads_.end() && known->second.stands;
    if (stands || (only != nullptr && tid != *only)) {
      continue;
    }
    bool gone = false;
    if (known == threads_.end()) DJ_TRY_DO(seize(tid, &gone));
    if (!gone) {
      fresh.push_back(tid);
    }
  }
  for (pid_t tid : fresh) {
    int status = 0;
    Status stopped = wait_stop(tid, &status, patience_ns);
    if (!stopped.ok() && stopped.error().kind != Fail::TargetGone) {
      return stopped.error();
    }
  }
  return ok_status();
}

Status Stopped::seize(pid_t tid, bool* gone) {
  const bool seized = trace(PTRACE_SEIZE, tid, 0, as_data(PTRACE_O_TRACESYSGOOD)) == 0;
  const int number = errno;
  const bool is_ours =
      late_threads.erase(tid) != 0 && number == EPERM;  // it has been seized before
  if (!seized && !is_ours) {
    *gone = is_ending(tid);
    if (*gone) return ok_status();
    return os_error(
        "cannot trace thread " + std::to_string(tid) + " of process " + std::to_string(pid_) +
            " (see ptrace(2): another user's process, capabilities, or kernel.yama.ptrace_scope)",
        number);
  }
  threads_[tid] = {};
  if (seized) trace(PTRACE_INTERRUPT, tid, 0, nullptr);
  return ok_status();
}

Status Stopped::wait_stop(pid_t tid, int* status) { return wait_stop(tid, status, kStopTimeoutNs); }

Status Stopped::wait_stop(pid_t tid, int* status, uint64_t patience_ns) {
  const uint64_t begin = now_ns();
  uint64_t deadline = begin + patience_ns;
  threads_[tid].stands = false;
  threads_[tid].registers.reset();
  maps_.reset();
  for (;;) {
    pid_t got = wait_thread(tid, pid_, status);
    if (got == tid && WIFSTOPPED(*status)) {
      break;
    }
    if (got == tid || (got < 0 && errno != EINTR)) {
      threads_.erase(tid);
      return Error{"thread " + std::to_string(tid) + " has ended", Fail::TargetGone};
    }
    if (now_ns() > deadline && now_ns() < begin + kStarvedTimeoutNs && is_starved(pid_, tid)) {
      deadline = now_ns() + kStopTimeoutNs / 20;
    }
    if (now_ns() > deadline) {
      return Error{"thread " + std::to_string(tid) + " of process " + std::to_string(pid_) +
                   " does not stop (it may wait in vfork for a child, or in a device)"};
    }
    wait_for_news(tid);
  }
  Thread& thread = threads_[tid];
  thread.stands = true;
  thread.at_signal_stop = false;
  bool is_signal = (*status >> 16) == 0 && WSTOPSIG(*status) != (SIGTRAP | 0x80);
  if (is_signal) {
    siginfo_t info = {};
    trace(PTRACE_GETSIGINFO, tid, 0, &info);
    thread.held.push_back(info);
    thread.at_signal_stop = thread.held.size() == 1;
  }
  const bool in_call = (*status >> 8) == (SIGTRAP | 0x80);  // of one that djtap has made
  if (!in_call) repair_interrupted(tid);
  return ok_status();
}

void Stopped::repair_interrupted(pid_t tid) {
  Result<user_regs_struct> regs = registers(tid);
  if (!regs.ok()) return;
  if (!restart_interrupted(regs.value())) return;
  static_cast<void>(set_registers(tid, regs.value()).ok());
}

Status Stopped::to_event_stop(pid_t tid) {
  for (int round = 0; round < kMostStops; round++) {
    trace(PTRACE_INTERRUPT, tid, 0, nullptr);
    if (trace(PTRACE_CONT, tid, 0, nullptr) != 0) {
      return os_error("cannot go on with thread " + std::to_string(tid));
    }
    int status = 0;
    DJ_TRY_DO(wait_stop(tid, &status));
    if ((status >> 16) == kEventStop) {
      return ok_status();
    }
  }
  return Error{"thread " + std::to_string(tid) + " gets signals faster than it can be stopped"};
}

std::vector<pid_t> Stopped::threads() const {
  std::vector<pid_t> tids;
  for (const auto& [tid, thread] : threads_) {
    tids.push_back(tid);
  }
  return tids;
}

Result<user_regs_struct> Stopped::registers(pid_t tid) const {
  const auto thread = threads_.find(tid);
  const bool is_known = thread != threads_.end();
  if (is_known && thread->second.registers) return *thread->second.registers;
  user_regs_struct regs = {};
  if (trace(PTRACE_GETREGS, tid, 0, &regs) != 0) {
    return os_error("cannot read registers of thread " + std::to_string(tid));
  }
  if (is_known) thread->second.registers = regs;
  return regs;
}

// The kernel may change what it is given.
Status Stopped::set_registers(pid_t tid, const user_regs_struct& regs) const {
  const auto thread = threads_.find(tid);
  if (thread != threads_.end()) thread->second.registers.reset();
  if (trace(PTRACE_SETREGS, tid, 0, &regs) != 0) {
    return os_error("cannot set registers of thread " + std::to_string(tid));
  }
  return ok_status();
}

Result<uint64_t> Stopped::signal_mask(pid_t tid) const {
  uint64_t mask = 0;
  if (trace(PTRACE_GETSIGMASK, tid, sizeof mask, &mask) != 0) {
    return os_error("cannot read the signal mask of thread " + std::to_string(tid));
  }
  return mask;
}

Status Stopped::set_signal_mask(pid_t tid, uint64_t mask) const {
  if (trace(PTRACE_SETSIGMASK, tid, sizeof mask, &mask) != 0) {
    return os_error("cannot set the signal mask of thread " + std::to_string(tid));
  }
  return ok_status();
}

bool Stopped::expects_signal(pid_t tid) const {
  __ptrace_peeksiginfo_args first = {0, 0, 1};
  siginfo_t info = {};
  const auto thread = threads_.find(tid);
  return thread == threads_.end() || !thread->second.held.empty() ||
         trace(PTRACE_PEEKSIGINFO, tid, reinterpret_cast<uint64_t>(&first), &info) != 0;
}

Result<std::optional<RseqArea>> Stopped::rseq(pid_t tid) const {
  DJ_TRY(const user_regs_struct regs, registers(tid));
  return rseq_of(tid, regs.fs_base);
}

bool Stopped::catches_syscalls(pid_t tid) const {
  struct {  // struct ptrace_sud_config of linux/ptrace.h
    uint64_t mode, selector, offset, length;
  } config = {};
  constexpr int kGetDispatchConfig = 0x4211;
  return trace(kGetDispatchConfig, tid, sizeof config, &config) == 0 && config.mode != 0;
}

// A thread that stood already, stopped by a signal of the program's, stops twice: when it is
// seized, and again, ahead of its signals, because it was asked to.
Status Stopped::take_back_trap(pid_t tid, uint64_t new_rip) {
  Thread& thread = threads_[tid];
  for (int round = 0; thread.held.empty() && has_pending_trap(tid); round++) {
    if (round == kMostStops)
      return Error{"thread " + std::to_string(tid) + " does not get the SIGTRAP of its int3"};
    if (trace(PTRACE_CONT, tid, 0, nullptr) != 0) {
      return os_error("cannot go on with thread " + std::to_string(tid));
    }
    int status = 0;
    DJ_TRY_DO(wait_stop(tid, &status));
  }
  if (thread.held.empty() || !is_trap(thread.held.front())) {
    return ok_status();  // rip stands behind the int3 for another reason
  }
  thread.held.erase(thread.held.begin());
  DJ_TRY(user_regs_struct regs, registers(tid));
  regs.rip = new_rip;
  return set_registers(tid, regs);
}

void Stopped::forget_signal(pid_t tid) {
  Thread& thread = threads_[tid];
  thread.held.pop_back();
  thread.at_signal_stop = false;
}

// A held signal is delivered by detaching from its delivery stop. If the thread has left that stop,
// the signal is sent once more, to get back into one; what arrives there is given the siginfo of
// the first. Who does not stand cannot be let go of yet.
void Stopped::detach(pid_t tid, Thread& thread) {
  int status = 0;
  if (!thread.stands && has_news(tid) && !wait_stop(tid, &status).ok()) {
    return;  // it has ended
  }
  if (!thread.held.empty() && !thread.at_signal_stop) {
    int signal = thread.held.front().si_signo;
    if (signal_thread(pid_, tid, signal) == 0 && trace(PTRACE_CONT, tid, 0, nullptr) == 0) {
      const bool stopped = wait_stop(tid, &status).ok();
      if (!stopped && threads_.count(tid) == 0) {
        return;
      }
      if (!stopped) {
        thread.held.erase(thread.held.begin());  // it will come by itself
      } else if (thread.held.size() > 1 && thread.held.back().si_signo == signal) {
        thread.held.pop_back();  // our own
        thread.at_signal_stop = true;
      }
    }
  }
  int signal = 0;
  if (thread.stands && !thread.held.empty() && thread.at_signal_stop) {
    signal = thread.held.front().si_signo;
    trace(PTRACE_SETSIGINFO, tid, 0, &thread.held.front());
    thread.held.erase(thread.held.begin());
  }
  if (!thread.stands) {
    late_threads[tid] = pid_;
  } else if (trace(PTRACE_DETACH, tid, 0, as_data(static_cast<uint64_t>(signal))) != 0) {
    bury(tid);
  }
  for (const siginfo_t& more : thread.held) {
    signal_thread(pid_, tid, more.si_signo);
  }
}

// Killed while it stood: until its tracer has seen that it ended, the process has no end.
void Stopped::bury(pid_t tid) const {
  const uint64_t deadline = now_ns() + kStopTimeoutNs;
  int status = 0;
  for (pid_t got = 0; now_ns() < deadline; got = wait_thread(tid, pid_, &status)) {
    if ((got == tid && !WIFSTOPPED(status)) || (got < 0 && errno != EINTR)) return;
    wait_for_news(tid);
  }
}

bool Stopped::is_confined(pid_t tid) const {
  const auto thread = threads_.find(tid);
  if (thread == threads_.end()) return dj::is_confined(tid);
  std::optional<bool>& known = thread->second.is_confined;
  if (!known) known = dj::is_confined(tid);
  return *known;
}

void Stopped::release_others(pid_t keep) {
  std::vector<pid_t> tids = threads();
  const bool alone = tids.size() == 1;
  std::erase(tids, keep);
  release(tids);
  if (!alone) end_pause();
}

void Stopped::release_these(const std::vector<pid_t>& tids) {
  release(tids);
  end_pause();
}

// Ascending.
void Stopped::release(const std::vector<pid_t>& tids) {
  for (auto& [tid, thread] : threads_) thread.is_confined.reset();
  for (auto tid = tids.rbegin(); tid != tids.rend(); ++tid) {  // the first ends behind all others
    const auto thread = threads_.find(*tid);
    if (thread == threads_.end()) continue;
    detach(*tid, thread->second);
    threads_.erase(*tid);
  }
}

void Stopped::end_pause() {
  paused_ns_ = pause_ns();
  begin_ns_ = 0;
}

void Stopped::release() {
  if (!threads_.empty()) {
    release_others(0);
    end_pause();
  }
  if (mem_ >= 0) {
    close(mem_);
    mem_ = -1;
  }
}

uint64_t Stopped::pause_ns() const {
  return paused_ns_ + (begin_ns_ != 0 ? now_ns() - begin_ns_ : 0);
}

}  // namespace dj
