// SPDX-License-Identifier: Apache-2.0
// Runs a program under ptrace to where probes can be armed: a dynamic one to a LoaderStop, a static
// one to where its first thread is set up.
#include "runtime/process/program_start.h"

#include <asm/prctl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <cerrno>

#include "compiler/base/target_file.h"
#include "runtime/process/loader_stop.h"
#include "runtime/process/news_wait.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/thread_wait.h"
#include "runtime/shared/thread_table.h"

namespace dj {
namespace {

Status set_registers(const Tracee& tracee, const user_regs_struct& regs) {
  if (ptrace(PTRACE_SETREGS, tracee.pid, 0, &regs) == 0) return ok_status();
  return os_error("cannot set the program's registers");
}

Result<user_regs_struct> registers(const Tracee& tracee) {
  user_regs_struct regs;
  if (ptrace(PTRACE_GETREGS, tracee.pid, 0, &regs) == 0) return regs;
  return os_error("cannot read the program's registers");
}

// Does what the `ret` under the int3 does.
Status return_from(const Tracee& tracee, const RunningMemory& memory, user_regs_struct regs) {
  uint64_t return_address = 0;
  memory.read(regs.rsp, &return_address, sizeof return_address);
  regs.rip = return_address;
  regs.rsp += sizeof return_address;
  return set_registers(tracee, regs);
}

// Makes the program's code its own again, and the body's rip the function's first instruction: the
// body may be run once more, and the function does nothing.
Status take_out(const Tracee& tracee, const LoaderStop& loader, const RunningMemory& memory,
                user_regs_struct regs) {
  DJ_TRY_DO(restore_loader(loader, memory));
  uint64_t pushed = 0;
  if (!loader.is_inside(regs.rip, &pushed)) return ok_status();
  regs.rsp += pushed;
  regs.rip = loader.function;
  regs.orig_rax = ~uint64_t{0};
  return set_registers(tracee, regs);
}

// Runs the program to where the loader's list of objects is complete. begun: the loader has begun
// with it before.
Status run_to_consistent(Tracee& tracee, const LoaderStop& loader, const RunningMemory& memory,
                         bool begun) {
  for (;;) {
    DJ_TRY(const TraceeStop stop, run_tracee(tracee, loader.request(), loader.signal));
    DJ_TRY(const user_regs_struct regs, registers(tracee));
    if (regs.rip != loader.stop_address()) continue;
    DJ_TRY(const bool is_complete, loader.is_complete(memory, &begun));
    tracee.signal = 0;
    if (stop.at_syscall) {
      DJ_TRY(TraceeStop exit, run_tracee(tracee, PTRACE_SYSCALL));
      CHECK(exit.at_syscall);
    }
    if (is_complete) return take_out(tracee, loader, memory, regs);
    if (loader.kind == LoaderStop::Kind::Trap) DJ_TRY_DO(return_from(tracee, memory, regs));
  }
}

// Asks the tracee to stop, and waits for it.
void stop_late(Tracee& tracee) {
  constexpr uint64_t kLimitNs = 2'000'000'000;
  tracee.deadline_ns = now_ns() + kLimitNs;
  if (ptrace(PTRACE_INTERRUPT, tracee.pid, 0, 0) != 0) return;
  for (int status = 0; now_ns() < tracee.deadline_ns; wait_for_news(tracee.pid)) {
    const pid_t got = wait_thread(tracee.pid, tracee.pid, &status);
    tracee.has_ended = got < 0 ? errno == ECHILD : got > 0 && !WIFSTOPPED(status);
    tracee.stands = got > 0 && WIFSTOPPED(status);
    if (tracee.has_ended) return;
    if (!tracee.stands) continue;
    const bool is_signal = (status >> 16) == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80);
    tracee.signal = is_signal ? WSTOPSIG(status) : 0;
    return;
  }
}

// A program that goes on without djtap goes on with its own code.
void give_up(Tracee& tracee, const LoaderStop& loader, const RunningMemory& memory) {
  if (tracee.kind == Tracee::Kind::Started || tracee.has_ended) return;
  if (!tracee.stands) stop_late(tracee);
  if (!tracee.stands) return;
  Result<user_regs_struct> regs = registers(tracee);
  // The int3 has run, and its signal is on its way.
  if (loader.kind == LoaderStop::Kind::Trap && regs.ok() &&
      regs.value().rip == loader.stop_address() && tracee.signal != SIGTRAP &&
      run_tracee(tracee, PTRACE_CONT, SIGTRAP).ok())
    regs = registers(tracee);
  if (!regs.ok()) return;
  if (loader.signal == tracee.signal && regs.value().rip == loader.stop_address())
    tracee.signal = 0;
  static_cast<void>(take_out(tracee, loader, memory, regs.value()).ok());
}

// Returns by what it has stopped there.
Result<LoaderStop::Kind> run_loader(Tracee& tracee, const std::string& interpreter,
                                    bool has_begun) {
  const RunningMemory memory(tracee.pid, O_RDWR);
  if (!memory.is_open()) return os_error("cannot open the program's memory");
  DJ_TRY(const LoaderStop loader, find_loader_stop(tracee.pid, interpreter, memory));
  Status done = patch_loader(loader, memory);
  if (done.ok()) done = run_to_consistent(tracee, loader, memory, has_begun || !loader.tells_begin);
  if (done.ok()) return loader.kind;
  give_up(tracee, loader, memory);
  return done.error();
}

// A static program sets fs and registers rseq in its first few system calls. The tracee is in the
// stop behind its exec's system call.
Status run_to_tls(Tracee& tracee) {
  bool fs_set = false;
  for (;;) {
    DJ_TRY_DO(run_tracee(tracee, PTRACE_SYSCALL));  // entry
    DJ_TRY(user_regs_struct regs, registers(tracee));
    uint64_t number = regs.orig_rax;
    bool thread_setup =
        number == SYS_set_tid_address || number == SYS_set_robust_list || number == SYS_rseq;
    bool too_far = fs_set && !thread_setup;
    if (too_far) {  // skip the call now and make it again later
      regs.orig_rax = ~uint64_t{0};
      DJ_TRY_DO(set_registers(tracee, regs));
    }
    DJ_TRY_DO(run_tracee(tracee, PTRACE_SYSCALL));  // exit
    if (too_far) {
      regs.rip -= 2;
      regs.rax = number;
      return set_registers(tracee, regs);
    }
    if (fs_set && number == SYS_rseq) {
      return ok_status();
    }
    fs_set = fs_set || (number == SYS_arch_prctl && regs.rdi == ARCH_SET_FS);
  }
}

// A static program with TLS stays at its entry point where a scout tells what comes. Its code must
// be then what it is now, and its thread's rseq area lie where one can be made for the time before.
Result<std::optional<Scout>> run_static(Tracee& tracee) {
  if (tracee.kind == Tracee::Kind::Started) {
    DJ_TRY(std::optional<Scout> scout, Scout::send(tracee));
    const bool fits = scout && (!scout->rseq() || abi::fits_early_block(scout->rseq()->offset));
    if (fits && !has_text_relocations("/proc/" + std::to_string(tracee.pid) + "/exe")) return scout;
  } else {
    DJ_TRY_DO(run_tracee(tracee, PTRACE_SYSCALL));  // the exit of execve
  }
  DJ_TRY_DO(run_to_tls(tracee));
  return std::optional<Scout>();
}

}  // namespace

Result<ElfFile> executed_program(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/exe";
  const int fd = open_regular(path);
  if (fd < 0) return os_error("cannot open " + path);
  return read_elf(TargetFile(fd), path);
}

Result<ProgramStart> run_to_start(Tracee& tracee, const ElfFile& program, bool is_loading) {
  ProgramStart start;
  if (!program.interpreter.empty()) {
    DJ_TRY(const LoaderStop::Kind kind, run_loader(tracee, program.interpreter, is_loading));
    start.at_loader_call = true;
    start.at_signal = kind == LoaderStop::Kind::Signal;
  } else if (program.has_tls) {
    DJ_TRY(start.scout, run_static(tracee));
  }
  return start;
}

}  // namespace dj
