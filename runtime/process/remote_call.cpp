// SPDX-License-Identifier: Apache-2.0
// System calls in a borrowed thread. The thread runs a `syscall` instruction of the target between
// a PTRACE_SYSCALL entry stop and its exit stop: no breakpoint, no single step, so no SIGTRAP is
// ever made (a forced SIGTRAP would reset the program's own action if it is blocked or ignored).
// Meanwhile all signals are blocked. Should djtap be killed, the thread goes home by itself
// (restore_frame.h).
#include "runtime/process/remote_call.h"

#include <linux/audit.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "runtime/process/os_error.h"
#include "runtime/process/pid_space.h"
#include "runtime/process/process.h"
#include "runtime/process/remote_map.h"
#include "runtime/process/seccomp_filters.h"
#include "runtime/process/tracer.h"

namespace dj {
namespace {

constexpr uint64_t kScratchBytes = 4096;
constexpr uint64_t kSyscallBytes = 2;          // of the instruction
constexpr unsigned kSuspendSeccomp = 1 << 21;  // PTRACE_O_SUSPEND_SECCOMP

// How well a thread can be borrowed: 0 best.
int disturbance(const user_regs_struct& regs) {
  if (static_cast<int64_t>(regs.orig_rax) < 0) {
    return 0;  // runs its own code
  }
  int64_t result = static_cast<int64_t>(regs.rax);
  return result <= -512 && result >= -516 ? 1 : 2;  // -ERESTART*, or a call that has ended
}

// Is the thread about to make this system call, and with the instruction for 64-bit programs?
// Others have other numbers.
bool enters(pid_t tid, const user_regs_struct& wanted) {
  __ptrace_syscall_info info = {};
  if (trace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info) <= 0) return false;
  const uint64_t arguments[] = {wanted.rdi, wanted.rsi, wanted.rdx,
                                wanted.r10, wanted.r8,  wanted.r9};
  return info.op == PTRACE_SYSCALL_INFO_ENTRY && info.arch == AUDIT_ARCH_X86_64 &&
         info.instruction_pointer == wanted.rip + kSyscallBytes && info.entry.nr == wanted.rax &&
         std::ranges::equal(info.entry.args, arguments);
}

Error no_syscall_in(pid_t pid) {
  return Error{"no system call instruction found in process " + std::to_string(pid),
               Fail::Unsupported};
}

}  // namespace

Result<pid_t> RemoteCall::best_thread(Stopped& stopped) {
  pid_t chosen = 0;
  constexpr int kHeld = 2, kConfined = 3, kNone = 6;
  int best = kNone;
  for (auto& [tid, thread] : stopped.threads_) {
    DJ_TRY(user_regs_struct regs, stopped.registers(tid));
    int cost = thread.held.empty() ? disturbance(regs) : kHeld;
    if (cost < best && stopped.is_confined(tid)) cost += kConfined;
    if (cost < best) {
      best = cost;
      chosen = tid;
    }
  }
  if (chosen == 0) {
    return Error{"process " + std::to_string(stopped.pid()) + " has ended", Fail::TargetGone};
  }
  return chosen;
}

Result<RemoteCall> RemoteCall::borrow(Stopped& stopped) {
  DJ_TRY(pid_t tid, best_thread(stopped));
  return borrow(stopped, tid);
}

Result<RemoteCall> RemoteCall::borrow(Stopped& stopped, pid_t tid) {
  RemoteCall call;
  call.tid_ = tid;
  DJ_TRY(call.saved_, stopped.registers(call.tid_));
  if (stopped.is_confined(tid)) DJ_TRY_DO(call.suspend_filter(stopped.pid()));
  DJ_TRY(call.saved_mask_, stopped.signal_mask(call.tid_));
  DJ_TRY_DO(call.prepare(stopped));
  DJ_TRY_DO(stopped.set_signal_mask(call.tid_, ~uint64_t{0}));
  call.stopped_ = &stopped;
  return call;
}

// A seccomp filter could kill the program for our calls; the kernel lets only root suspend it.
Status RemoteCall::suspend_filter(pid_t pid) {
  const uint64_t options = PTRACE_O_TRACESYSGOOD | kSuspendSeccomp;
  suspended_ = trace(PTRACE_SETOPTIONS, tid_, 0, reinterpret_cast<const void*>(options)) == 0;
  if (suspended_) return ok_status();
  return Error{"process " + std::to_string(pid) +
                   " runs under a seccomp filter, which might kill it for the " +
                   "system calls that djtap needs in it; as root djtap can suspend the filter "
                   "meanwhile",
               Fail::Permission};
}

void RemoteCall::resume_filter() {
  if (suspended_)
    trace(PTRACE_SETOPTIONS, tid_, 0,
          reinterpret_cast<const void*>(uint64_t{PTRACE_O_TRACESYSGOOD}));
  suspended_ = false;
}

Status RemoteCall::check(Stopped& stopped) {
  RemoteCall call;
  DJ_TRY(call.tid_, best_thread(stopped));
  if (find_gadgets(stopped).syscall == 0) return no_syscall_in(stopped.pid());
  if (stopped.is_confined(call.tid_)) DJ_TRY_DO(call.suspend_filter(stopped.pid()));
  call.resume_filter();
  return ok_status();
}

// From here on the thread must not run anything but system calls for us, or go home.
Status RemoteCall::prepare(Stopped& stopped) {
  Gadgets gadgets = find_gadgets(stopped);
  if (gadgets.syscall == 0) return no_syscall_in(stopped.pid());
  borrowed_ = saved_;
  borrowed_.orig_rax = ~uint64_t{0};  // not in a system call: nothing to restart
  borrowed_.rip = gadgets.syscall;
  home_ = RestoreFrame::make(stopped, tid_, gadgets, saved_, saved_mask_);
  if (!home_.has_value()) {
    return ok_status();  // then only our death in the middle of a call would harm
  }
  borrowed_.rip = gadgets.syscall_ret;
  borrowed_.rsp = home_->frame();
  user_regs_struct leaving = borrowed_;
  leaving.rip = gadgets.sigreturn;
  leaving.rsp += 8;  // as if returned to
  return stopped.set_registers(tid_, leaving);
}

RemoteCall::RemoteCall(RemoteCall&& other) noexcept
    : stopped_(std::exchange(other.stopped_, nullptr)),
      tid_(other.tid_),
      suspended_(std::exchange(other.suspended_, false)),
      saved_(other.saved_),
      saved_mask_(other.saved_mask_),
      borrowed_(other.borrowed_),
      home_(std::move(other.home_)),
      scratch_(other.scratch_),
      maps_scratch_(other.maps_scratch_),
      locks_memory_(other.locks_memory_),
      is_in_chain_(std::exchange(other.is_in_chain_, false)) {}

RemoteCall::~RemoteCall() { static_cast<void>(give_back().ok()); }

Status RemoteCall::run_to_syscall_stop() {
  for (int round = 0; round < 64; round++) {
    if (trace(PTRACE_SYSCALL, tid_, 0, nullptr) != 0) {
      return os_error("cannot run thread " + std::to_string(tid_));
    }
    int status = 0;
    DJ_TRY_DO(stopped_->wait_stop(tid_, &status));
    if ((status >> 8) == (SIGTRAP | 0x80)) {
      return ok_status();
    }
  }
  return Error{"thread " + std::to_string(tid_) + " does not get to its system call"};
}

Result<int64_t> RemoteCall::syscall(long number, std::initializer_list<uint64_t> arguments) {
  CHECK(arguments.size() <= 6 && stopped_ != nullptr);
  std::array<uint64_t, 6> a = {};
  std::copy(arguments.begin(), arguments.end(), a.begin());
  user_regs_struct regs = borrowed_;
  regs.rax = static_cast<uint64_t>(number);
  regs.rdi = a[0], regs.rsi = a[1], regs.rdx = a[2], regs.r10 = a[3], regs.r8 = a[4],
  regs.r9 = a[5];
  DJ_TRY_DO(stopped_->set_registers(tid_, regs));
  DJ_TRY_DO(run_to_syscall_stop());
  if (!enters(tid_, regs)) return refuse_entry();
  DJ_TRY_DO(run_to_syscall_stop());
  // From entry to exit the thread is in the kernel: whatever stands in its text, this is its word.
  DJ_TRY(user_regs_struct after, stopped_->registers(tid_));
  return static_cast<int64_t>(after.rax);
}

bool RemoteCall::can_chain() const {
  return home_.has_value() && stopped_->is_fresh() && !stopped_->is_confined(tid_);
}

namespace {

constexpr int kChainSignal = SIGURG;

}  // namespace

Status RemoteCall::chain(const std::vector<ChainedCall>& calls) {
  DJ_TRY_DO(begin_chain(calls));
  return end_chain();
}

// The last call sends the thread a signal that the kernel drops where no handler catches it, and
// none does before the program has run. A tracer sees it all the same.
Status RemoteCall::begin_chain(const std::vector<ChainedCall>& calls) {
  const auto own = static_cast<uint64_t>(own_number(stopped_->pid()));
  std::optional<user_regs_struct> first;
  if (can_chain() && own != 0) {
    std::vector<ChainedCall> with_end = calls;
    with_end.push_back({SYS_tgkill, {own, own, kChainSignal}});
    const uint64_t mask = ~(uint64_t{1} << (kChainSignal - 1));
    first = home_->add_calls(*stopped_, borrowed_, with_end, mask);
  }
  if (first) {
    DJ_TRY_DO(stopped_->set_registers(tid_, *first));
    DJ_TRY_DO(run_on());
    is_in_chain_ = true;
    return ok_status();
  }
  for (const auto& [number, a] : calls)
    DJ_TRY_DO(syscall(number, {a[0], a[1], a[2], a[3], a[4], a[5]}));
  return ok_status();
}

Status RemoteCall::run_on() {
  if (trace(PTRACE_CONT, tid_, 0, nullptr) == 0) return ok_status();
  return os_error("cannot run thread " + std::to_string(tid_));
}

Status RemoteCall::end_chain() {
  constexpr int kMostStops = 64;
  if (!std::exchange(is_in_chain_, false)) return ok_status();
  for (int round = 0; round < kMostStops; round++) {
    if (round > 0) DJ_TRY_DO(run_on());
    int status = 0;
    DJ_TRY_DO(stopped_->wait_stop(tid_, &status));
    DJ_TRY(const user_regs_struct regs, stopped_->registers(tid_));
    const bool is_at_end = regs.rip == borrowed_.rip + kSyscallBytes && regs.rsp == home_->frame();
    if (status >> 8 != kChainSignal || !is_at_end) continue;
    stopped_->forget_signal(tid_);
    return ok_status();
  }
  return Error{"thread " + std::to_string(tid_) + " does not get to the end of its system calls"};
}

// The kernel makes no call then.
Error RemoteCall::refuse_entry() {
  Result<user_regs_struct> now = stopped_->registers(tid_);
  if (!now.ok()) return now.error();
  now.value().orig_rax = ~uint64_t{0};
  const Status skipped = stopped_->set_registers(tid_, now.value());
  const Status exited = skipped.ok() ? run_to_syscall_stop() : skipped;
  if (!exited.ok()) return exited.error();
  return Error{"the code of process " + std::to_string(stopped_->pid()) +
                   " has changed where djtap makes a system call",
               Fail::Permission};
}

Result<uint64_t> RemoteCall::checked(const char* what, long number,
                                     std::initializer_list<uint64_t> arguments) {
  DJ_TRY(int64_t result, syscall(number, arguments));
  if (result < 0 && result > -4096) {
    return os_error(std::string(what) + " in process " + std::to_string(stopped_->pid()),
                    static_cast<int>(-result));
  }
  return static_cast<uint64_t>(result);
}

// A program that runs may have made its stack of memory that it shares. And a page tells
// locks_memory() whether the program locks what it maps.
Result<uint64_t> RemoteCall::scratch() {
  if (scratch_ != 0) return scratch_;
  if (home_ && stopped_->is_fresh()) return scratch_ = home_->scratch();
  DJ_TRY(scratch_, map_in(*this, "mmap",
                          {0, kScratchBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS}));
  maps_scratch_ = true;
  return scratch_;
}

bool RemoteCall::locks_memory() {
  if (!locks_memory_) {
    const Result<ProcessStatus> status = read_status(stopped_->pid());
    locks_memory_ = status.ok() && status.value().locked_kb > 0;
  }
  return *locks_memory_;
}

Status RemoteCall::give_back() {
  if (stopped_ != nullptr) DJ_TRY_DO(end_chain());
  Stopped* stopped = std::exchange(stopped_, nullptr);
  if (stopped == nullptr) {
    return ok_status();
  }
  if (maps_scratch_) {
    stopped_ = stopped;
    Result<int64_t> unmapped = syscall(SYS_munmap, {scratch_, kScratchBytes});
    stopped_ = nullptr;
    if (!unmapped.ok()) {
      return unmapped.error();
    }
  }
  // Restored in the stop in which the thread is, then once round to an event stop: only behind that
  // one does the kernel look whether the interrupted call has to restart. That stop is asked for
  // first, so that it looks even if djtap dies in between; signals come after it. A program that
  // has not run and was in no call needs no round.
  const bool was_in_call = static_cast<int64_t>(saved_.orig_rax) >= 0;
  const bool goes_round = was_in_call || !stopped->is_fresh();
  DJ_TRY_DO(stopped->set_signal_mask(tid_, saved_mask_));
  if (goes_round) trace(PTRACE_INTERRUPT, tid_, 0, nullptr);
  DJ_TRY_DO(stopped->set_registers(tid_, saved_));
  if (goes_round) DJ_TRY_DO(stopped->to_event_stop(tid_));
  resume_filter();
  return home_.has_value() ? home_->clear(*stopped) : ok_status();
}

}  // namespace dj
