// SPDX-License-Identifier: Apache-2.0
// Runs a program under ptrace to where probes can be armed.
//
// Nothing on the way may kill the program when djtap dies. So ld.so's _dl_debug_state, an empty
// function that it calls when its list of objects is complete, gets for a while a body that stops
// only a traced program. Mostly the program sends itself a signal that is ignored by default. The
// tracer alone sees that signal. If the program blocks all such signals, or a seccomp filter may
// deny kill(), the body makes a harmless system call instead. Then the tracer lets the program run
// from system call to system call until it makes that one.
#include "runtime/process/program_start.h"

#include <asm/prctl.h>
#include <link.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "arch/x86_64/decode.h"
#include "compiler/base/found_name.h"
#include "compiler/base/target_file.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/seccomp_filters.h"
#include "runtime/process/seen_file.h"
#include "runtime/process/thread_wait.h"
#include "runtime/shared/thread_table.h"

namespace dj {
namespace {

constexpr size_t kOwnBytes = 16;  // an aligned function has at least as many

// LoaderSymbols: ELF addresses in a program loader.
struct LoaderSymbols {
  uint64_t function = 0;     // _dl_debug_state; 0: the loader has none
  uint64_t state = 0;        // r_debug.r_state; 0: the loader has none
  bool tells_begin = false;  // its state is RT_ADD before: what is consistent earlier is the list
                             // of other objects (LD_AUDIT)
};

LoaderSymbols read_symbols(const TargetFile& file, const std::string& path) {
  LoaderSymbols symbols;
  const Result<ElfSymbol> function = find_symbol(file, path, "_dl_debug_state");
  if (function.ok()) symbols.function = function.value().address;
  const Result<ElfSymbol> debug = find_symbol(file, path, "_r_debug");
  if (!debug.ok()) return symbols;
  symbols.state = debug.value().address + offsetof(r_debug, r_state);
  symbols.tells_begin = find_symbol(file, path, "_rtld_global").ok();  // glibc
  return symbols;
}

// Kept: most programs have the same loader.
LoaderSymbols symbols_of(pid_t pid, const std::string& interpreter) {
  static std::mutex mutex;
  static std::map<FileVersion, LoaderSymbols> known;
  const int fd = reopen_regular(open_seen(pid, interpreter, O_PATH));
  if (fd < 0) return {};
  const TargetFile file(fd);
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace(file.version());
  if (is_new) found->second = read_symbols(file, interpreter);
  return found->second;
}

// LoaderStop: a breakpoint in ld.so that needs no breakpoint (see the top of the file).
struct LoaderStop {
  enum class Kind : uint8_t {
    Signal,  // stops in the delivery of `signal`
    Call,    // stops at a system call
    Trap,    // int3: for some microseconds the program would not survive the death of djtap
  };
  Kind kind = Kind::Trap;
  int signal = SIGTRAP;
  uint64_t address = 0;        // of _dl_debug_state
  uint64_t state_address = 0;  // of r_debug.r_state, 0: the loader has none
  bool tells_begin = false, has_begun = false;
  std::vector<uint8_t> original, patched;

  __ptrace_request request() const { return kind == Kind::Call ? PTRACE_SYSCALL : PTRACE_CONT; }
  // Where the program stops in it.
  uint64_t stop_address() const {
    return address + (kind == Kind::Trap ? 1 : patched.size() - 1);  // else its `ret`
  }
  // How many bytes the body has on the stack there.
  uint64_t pushed_at(uint64_t rip) const {
    const bool inside = kind == Kind::Signal && (rip - address == 9 || rip - address == 12);
    return inside ? 8 : 0;
  }
};

std::vector<uint8_t> body_of(LoaderStop::Kind kind, int signal) {
  switch (kind) {
    case LoaderStop::Kind::Signal:
      return {0x31, 0xc0,
              0xb0, SYS_getpid,
              0x0f, 0x05,  // eax = getpid()
              0x97,        // xchg %eax,%edi
              0x6a, static_cast<uint8_t>(signal),
              0x5e,  // push $signal; pop %rsi
              0x6a, SYS_kill,
              0x58, 0x0f,
              0x05,   // kill(edi, esi)
              0xc3};  // ret
    case LoaderStop::Kind::Call:
      return {0xb8, SYS_getpid, 0, 0, 0,  // mov $getpid,%eax
              0x0f, 0x05,                 // syscall
              0xc3};                      // ret
    case LoaderStop::Kind::Trap:
      return {0xcc};
  }
  return {};
}

// Whether the function is a `ret` with padding behind it up to its next multiple of 16.
bool owns_bytes(std::span<const uint8_t> code, uint64_t address) {
  bool returned = false;
  for (size_t at = 0; at < kOwnBytes;) {
    arch::Insn insn;
    if (!arch::decode(code.subspan(at), address + at, insn)) return false;
    const bool fits = returned ? insn.kind == arch::Kind::Nop || insn.is(0xcc)
                               : insn.kind == arch::Kind::Return || insn.kind == arch::Kind::Nop ||
                                     std::ranges::equal(code.subspan(at, 4), arch::kEndbr64);
    if (!fits) return false;
    returned = returned || insn.kind == arch::Kind::Return;
    at += insn.length;
  }
  return returned && address % kOwnBytes == 0;
}

// A signal that the kernel drops by default and the program does not block; 0: there is none.
int unblocked_signal(pid_t pid) {
  uint64_t mask = 0;
  if (ptrace(PTRACE_GETSIGMASK, pid, sizeof mask, &mask) != 0) return 0;
  for (const int signal : {SIGURG, SIGWINCH, SIGCHLD}) {
    if ((mask >> (signal - 1) & 1) == 0) return signal;
  }
  return 0;
}

Result<LoaderStop> find_loader_stop(pid_t pid, const std::string& interpreter,
                                    const RunningMemory& memory) {
  const LoaderSymbols symbols = symbols_of(pid, interpreter);
  const uint64_t base = auxiliary(pid, AT_BASE);
  if (symbols.function == 0 || base == 0) {
    return Error{"the program loader " + interpreter +
                     " has no _dl_debug_state; start the program first and "
                     "attach to it with -p",
                 Fail::Unsupported};
  }
  LoaderStop stop;
  stop.address = base + symbols.function;
  if (symbols.state != 0) stop.state_address = base + symbols.state;
  stop.tells_begin = symbols.tells_begin;
  std::array<uint8_t, kOwnBytes + 16> code = {};  // an instruction may reach beyond
  if (!memory.read(stop.address, code.data(), code.size())) {
    return os_error("cannot read the program loader");
  }
  if (owns_bytes(code, stop.address)) {
    const int signal = is_confined(pid) ? 0 : unblocked_signal(pid);
    stop.kind = signal != 0 ? LoaderStop::Kind::Signal : LoaderStop::Kind::Call;
    stop.signal = signal;
  }
  stop.patched = body_of(stop.kind, stop.signal);
  stop.original.assign(code.begin(), code.begin() + static_cast<long>(stop.patched.size()));
  return stop;
}

Status write_code(const RunningMemory& memory, uint64_t address,
                  const std::vector<uint8_t>& bytes) {
  if (memory.write(address, bytes.data(), bytes.size())) return ok_status();
  return os_error("cannot write to the program");
}

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
  DJ_TRY_DO(write_code(memory, loader.address, loader.original));
  if (regs.rip <= loader.address || regs.rip > loader.stop_address()) return ok_status();
  regs.rsp += loader.pushed_at(regs.rip);
  regs.rip = loader.address;
  regs.orig_rax = ~uint64_t{0};
  return set_registers(tracee, regs);
}

// Runs the program to where the loader's list of objects is complete.
Status run_to_consistent(Tracee& tracee, const LoaderStop& loader, const RunningMemory& memory) {
  for (bool begun = !loader.tells_begin || loader.has_begun;;) {
    DJ_TRY(const TraceeStop stop, run_tracee(tracee, loader.request(), loader.signal));
    DJ_TRY(const user_regs_struct regs, registers(tracee));
    if (regs.rip != loader.stop_address()) continue;
    int state = r_debug::RT_CONSISTENT;
    if (loader.state_address != 0 && !memory.read(loader.state_address, &state, sizeof state)) {
      return os_error("cannot read the loader's state");
    }
    tracee.signal = 0;
    if (stop.at_syscall) {
      DJ_TRY(TraceeStop exit, run_tracee(tracee, PTRACE_SYSCALL));
      CHECK(exit.at_syscall);
    }
    begun = begun || state != r_debug::RT_CONSISTENT;
    if (state == r_debug::RT_CONSISTENT && begun) return take_out(tracee, loader, memory, regs);
    if (loader.kind == LoaderStop::Kind::Trap) DJ_TRY_DO(return_from(tracee, memory, regs));
  }
}

// Asks the tracee to stop, and waits for it.
void stop_late(Tracee& tracee) {
  constexpr uint64_t kLimitNs = 2'000'000'000;
  tracee.deadline_ns = now_ns() + kLimitNs;
  if (ptrace(PTRACE_INTERRUPT, tracee.pid, 0, 0) != 0) return;
  for (int status = 0; now_ns() < tracee.deadline_ns; usleep(50)) {
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
  DJ_TRY(LoaderStop loader, find_loader_stop(tracee.pid, interpreter, memory));
  loader.has_begun = has_begun;
  DJ_TRY_DO(write_code(memory, loader.address, loader.patched));
  const Status done = run_to_consistent(tracee, loader, memory);
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
