// SPDX-License-Identifier: Apache-2.0
// The copy is a fork that the target makes with a system call instruction of the vdso. It is
// djtap's child (CLONE_PARENT), not the program's, and traced from its birth (CLONE_PTRACE).
#include "runtime/process/scout.h"

#include <asm/prctl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/rseq_query.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/seccomp_filters.h"

namespace dj {
namespace {

// Of a `syscall` in the vdso; 0: there is none.
uint64_t syscall_address(pid_t pid) {
  constexpr std::array<uint8_t, 2> kSyscall = {0x0f, 0x05};
  const uint64_t begin = auxiliary(pid, AT_SYSINFO_EHDR);
  const Result<std::vector<Mapping>> maps = read_maps(pid);
  if (begin == 0 || !maps.ok()) return 0;
  for (const Mapping& m : maps.value()) {
    if (m.begin != begin) continue;
    std::vector<uint8_t> code(m.end - m.begin);
    if (!RunningMemory(pid).read(begin, code.data(), code.size())) return 0;
    const auto found = std::ranges::search(code, kSyscall);
    return found.empty() ? 0 : begin + static_cast<uint64_t>(found.begin() - code.begin());
  }
  return 0;
}

Result<user_regs_struct> registers(pid_t pid) {
  user_regs_struct regs;
  if (ptrace(PTRACE_GETREGS, pid, 0, &regs) == 0) return regs;
  return os_error("cannot read the program's registers");
}

Status set_registers(pid_t pid, const user_regs_struct& regs) {
  if (ptrace(PTRACE_SETREGS, pid, 0, &regs) == 0) return ok_status();
  return os_error("cannot set the program's registers");
}

Status set_options(pid_t pid, uint64_t options) {
  if (ptrace(PTRACE_SETOPTIONS, pid, 0, options) == 0) return ok_status();
  return os_error("cannot trace the program");
}

// Makes the system call in the child, which is in the stop behind another one, and has its
// registers changed for it. The result is -errno on failure.
Result<int64_t> make_call(Tracee& child, const user_regs_struct& regs) {
  DJ_TRY_DO(set_registers(child.pid, regs));
  for (int stops = 0; stops < 2;) {  // entry, exit
    DJ_TRY(const TraceeStop stop, run_tracee(child, PTRACE_SYSCALL));
    stops += stop.at_syscall ? 1 : 0;
  }
  DJ_TRY(const user_regs_struct after, registers(child.pid));
  return static_cast<int64_t>(after.rax);
}

// The fork, at the entry point. Empty: the kernel has refused.
Result<std::optional<StartedChild>> copy(Tracee& target, uint64_t syscall_at) {
  constexpr uint64_t kOptions = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC;
  DJ_TRY(const user_regs_struct entry, registers(target.pid));
  user_regs_struct regs = entry;
  regs.rip = syscall_at;
  regs.rax = SYS_clone;
  regs.rdi = CLONE_PARENT | CLONE_PTRACE;
  regs.rsi = regs.rdx = regs.r10 = regs.r8 = 0;
  regs.orig_rax = ~uint64_t{0};
  DJ_TRY_DO(set_options(target.pid, kOptions | PTRACE_O_EXITKILL));  // the copy's, too
  DJ_TRY(const int64_t pid, make_call(target, regs));
  std::optional<StartedChild> scout;
  if (pid > 0) scout.emplace(static_cast<pid_t>(pid));
  DJ_TRY_DO(set_registers(target.pid, entry));
  DJ_TRY_DO(set_options(target.pid, kOptions));
  if (!scout) return std::optional<StartedChild>();
  DJ_TRY_DO(next_status(scout->tracee()));
  regs = entry;
  regs.orig_rax = ~uint64_t{0};
  DJ_TRY_DO(set_registers(scout->pid(), regs));
  return scout;
}

// Does the call change nothing but the process that makes it?
bool is_own(const user_regs_struct& regs) {
  switch (regs.orig_rax) {
    case SYS_mmap:
      return (regs.r10 & MAP_ANONYMOUS) != 0 && (regs.r10 & MAP_SHARED) == 0;
    case SYS_brk:
    case SYS_mprotect:
    case SYS_munmap:
    case SYS_arch_prctl:
    case SYS_set_tid_address:
    case SYS_set_robust_list:
    case SYS_rseq:
    case SYS_uname:
    case SYS_getrandom:
      return true;
    default:
      return false;
  }
}

// Until the thread's rseq area is registered, or a call comes that the scout may not make.
// TargetGone: it has ended.
Status run_ahead(Tracee& scout) {
  for (bool fs_set = false;;) {
    DJ_TRY_DO(run_tracee(scout, PTRACE_SYSCALL));  // entry
    DJ_TRY(const user_regs_struct regs, registers(scout.pid));
    if (!is_own(regs)) return ok_status();
    DJ_TRY_DO(run_tracee(scout, PTRACE_SYSCALL));  // exit
    if (fs_set && regs.orig_rax == SYS_rseq) return ok_status();
    fs_set = fs_set || (regs.orig_rax == SYS_arch_prctl && regs.rdi == ARCH_SET_FS);
  }
}

}  // namespace

Result<std::optional<Scout>> Scout::send(Tracee& target) {
  DJ_TRY_DO(run_tracee(target, PTRACE_SYSCALL));  // the exit of execve
  const uint64_t syscall_at = syscall_address(target.pid);
  // A seccomp filter could kill the program for the call.
  if (syscall_at == 0 || is_confined(target.pid)) return std::optional<Scout>();
  DJ_TRY(std::optional<StartedChild> copied, copy(target, syscall_at));
  if (!copied) return std::optional<Scout>();
  const Status ahead = run_ahead(copied->tracee());
  if (!ahead.ok() && ahead.error().kind != Fail::TargetGone) return ahead.error();
  if (!ahead.ok()) return std::optional<Scout>(Scout(std::move(*copied), std::nullopt));
  DJ_TRY(const user_regs_struct regs, registers(copied->pid()));
  DJ_TRY(std::optional<RseqArea> area, rseq_of(copied->pid(), regs.fs_base));
  return std::optional<Scout>(Scout(std::move(*copied), area));
}

}  // namespace dj
