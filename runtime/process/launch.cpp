// SPDX-License-Identifier: Apache-2.0
// Starts a program under ptrace and runs it to where probes can be armed.
//
// Nothing on the way may kill the program when djtap dies. So ld.so's _dl_debug_state, an empty
// function that it calls when its list of objects is complete, gets for a while a body that makes a
// harmless system call, and the program runs from system call to system call until it is that one.
#include "runtime/process/launch.h"

#include <asm/prctl.h>
#include <fcntl.h>
#include <link.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <utility>

#include "runtime/process/child_wait.h"
#include "runtime/process/elf_file.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/started_child.h"
#include "runtime/shared/thread_table.h"

namespace dj {
namespace {

Status write_code(pid_t pid, uint64_t address, const std::vector<uint8_t>& bytes) {
  int mem = open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDWR | O_CLOEXEC);
  ssize_t put = mem < 0 ? -1 : pwrite(mem, bytes.data(), bytes.size(), static_cast<off_t>(address));
  Status result = put == static_cast<ssize_t>(bytes.size())
                      ? ok_status()
                      : Status(os_error("cannot write to the program"));
  if (mem >= 0) {
    close(mem);
  }
  return result;
}

bool read_memory(pid_t pid, uint64_t address, void* to, size_t bytes) {
  int mem = open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  bool ok =
      mem >= 0 && pread(mem, to, bytes, static_cast<off_t>(address)) == static_cast<ssize_t>(bytes);
  if (mem >= 0) {
    close(mem);
  }
  return ok;
}

[[noreturn]] void exec_child(const std::vector<std::string>& argv, const LaunchOptions& options,
                             int go, int report) {
  std::vector<char*> words;
  for (const std::string& word : argv) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  if (options.signal_mask.has_value()) {
    sigprocmask(SIG_SETMASK, &*options.signal_mask, nullptr);
  }
  char byte;
  if (read(go, &byte, 1) == 1) {  // end of file: djtap is gone
    execvp(words[0], words.data());
    int number = errno;
    static_cast<void>(!write(report, &number, sizeof number));
  }
  _exit(127);
}

// The file that execvp() will execute; empty: it will find none. With mode F_OK, that it could
// mean.
std::string program_file(const std::string& program, int mode = X_OK) {
  if (program.find('/') != std::string::npos) return program;
  const char* folders = getenv("PATH");
  std::istringstream list(folders != nullptr ? folders : "");
  for (std::string folder; std::getline(list, folder, ':');) {
    const std::filesystem::path path = std::filesystem::path(folder) / program;
    if (access(path.c_str(), mode) == 0) return path;
  }
  return "";
}

Error exec_error(const std::string& program, int number) {
  // A folder of $PATH that may not be entered is no reason: nothing there is known by that name.
  if (number == EACCES && program_file(program, F_OK).empty()) number = ENOENT;
  Error error = os_error(program, number);
  if (error.kind == Fail::NotFound) {
    if (program.find('/') == std::string::npos) error.message += " in any folder of $PATH";
    return error;
  }
  error.kind = Fail::Permission;  // found, and cannot be executed
  std::error_code none;
  if (std::filesystem::is_directory(program, none))
    error.message = program + " is a folder, not a program";
  else if (number == EACCES)
    error.message = program + " is not executable: " + strerror(number);
  return error;
}

// What the kernel does not execute, execvp() gives to the shell as a script. An ELF file is none.
Status refuse_foreign(const std::string& path) {
  const Result<TargetFilePtr> file = open_target_file(path);
  char magic[SELFMAG];
  if (!file.ok() || !file.value()->read(magic, SELFMAG, 0)) return ok_status();  // execvp() tells
  if (memcmp(magic, ELFMAG, SELFMAG) != 0) return ok_status();
  Result<ElfFile> elf = read_elf(path);
  return elf.ok() ? ok_status() : Status(elf.error());
}

// Seizes the child and lets it execute the program: at the exec stop afterwards.
Result<StartedChild> start(ForkedChild forked) {
  const pid_t pid = forked.pid();
  uint64_t flags = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC;
  bool seized = ptrace(PTRACE_SEIZE, pid, 0, flags) == 0 &&
                ptrace(PTRACE_INTERRUPT, pid, 0, 0) == 0 && waitpid(pid, nullptr, __WALL) == pid;
  if (!seized) return os_error("cannot trace the program");
  StartedChild child(forked.release());
  forked.go();
  Result<ChildStop> stop = run_child(child, PTRACE_CONT);
  if (int number = forked.exec_errno(); number != 0) return exec_error(forked.program(), number);
  if (!stop.ok()) return stop.error();
  return child;
}

// Breakpoint in ld.so that needs no breakpoint: see the top of the file.
struct LoaderStop {
  uint64_t address = 0;        // of _dl_debug_state
  uint64_t state_address = 0;  // of r_debug.r_state, 0: the loader has none
  bool tells_begin = false;    // its state is RT_ADD before: what is consistent earlier is the list
                               // of other objects (LD_AUDIT)
  std::vector<uint8_t> original, patched;
};

Result<LoaderStop> find_loader_stop(pid_t pid, const std::string& interpreter) {
  std::string path = "/proc/" + std::to_string(pid) + "/root" + interpreter;
  uint64_t base = auxiliary(pid, AT_BASE);
  Result<ElfSymbol> function = find_symbol(path, "_dl_debug_state");
  if (!function.ok() || base == 0) {
    return Error{"the program loader " + interpreter +
                     " has no _dl_debug_state; start the program first and "
                     "attach to it with -p",
                 Fail::Unsupported};
  }
  LoaderStop stop;
  stop.address = base + function.value().address;
  Result<ElfSymbol> debug = find_symbol(path, "_r_debug");
  if (debug.ok()) {
    stop.state_address = base + debug.value().address + offsetof(r_debug, r_state);
    stop.tells_begin = find_symbol(path, "_rtld_global").ok();  // glibc
  }
  const std::vector<uint8_t> call = {0xb8, SYS_getpid, 0, 0, 0,  // mov $getpid,%eax
                                     0x0f, 0x05,                 // syscall
                                     0xc3};                      // ret
  std::array<uint8_t, 8> now;
  if (!read_memory(pid, stop.address, now.data(), now.size())) {
    return os_error("cannot read the program loader");
  }
  // An aligned function owns the bytes up to the next multiple of 16. If it is not aligned its
  // `ret` becomes an int3: then, for some microseconds, the program would not survive the death of
  // djtap.
  stop.patched = stop.address % 16 == 0 ? call : std::vector<uint8_t>{0xcc};
  stop.original.assign(now.begin(), now.begin() + static_cast<long>(stop.patched.size()));
  return stop;
}

Status run_loader(StartedChild& child, const std::string& interpreter) {
  DJ_TRY(LoaderStop loader, find_loader_stop(child.pid(), interpreter));
  DJ_TRY_DO(write_code(child.pid(), loader.address, loader.patched));
  for (bool begun = !loader.tells_begin;;) {
    DJ_TRY(ChildStop stop, run_child(child, PTRACE_SYSCALL));
    user_regs_struct regs;
    ptrace(PTRACE_GETREGS, child.pid(), 0, &regs);
    bool here = stop.at_trap ? regs.rip == loader.address + 1 : regs.rip == loader.address + 7;
    if (!here) {
      continue;
    }
    int state = r_debug::RT_CONSISTENT;
    if (loader.state_address != 0 &&
        !read_memory(child.pid(), loader.state_address, &state, sizeof state)) {
      return os_error("cannot read the loader's state");
    }
    if (stop.at_syscall) {
      DJ_TRY(ChildStop exit, run_child(child, PTRACE_SYSCALL));
      CHECK(exit.at_syscall);
    }
    begun = begun || state != r_debug::RT_CONSISTENT;
    if (state != r_debug::RT_CONSISTENT || !begun) {
      if (stop.at_trap) {  // the int3 form: do what the `ret` under it does
        uint64_t return_address = 0;
        read_memory(child.pid(), regs.rsp, &return_address, sizeof return_address);
        regs.rip = return_address;
        regs.rsp += 8;
        ptrace(PTRACE_SETREGS, child.pid(), 0, &regs);
      }
      continue;
    }
    DJ_TRY_DO(write_code(child.pid(), loader.address, loader.original));
    regs.rip = loader.address;
    regs.orig_rax = ~uint64_t{0};
    ptrace(PTRACE_SETREGS, child.pid(), 0, &regs);
    return ok_status();
  }
}

// A static program sets fs and registers rseq in its first few system calls. The child is in the
// stop behind its exec's system call.
Status run_to_tls(StartedChild& child) {
  bool fs_set = false;
  for (;;) {
    DJ_TRY_DO(run_child(child, PTRACE_SYSCALL));  // entry
    user_regs_struct regs;
    ptrace(PTRACE_GETREGS, child.pid(), 0, &regs);
    uint64_t number = regs.orig_rax;
    bool thread_setup =
        number == SYS_set_tid_address || number == SYS_set_robust_list || number == SYS_rseq;
    bool too_far = fs_set && !thread_setup;
    if (too_far) {  // skip the call now and make it again later
      regs.orig_rax = ~uint64_t{0};
      ptrace(PTRACE_SETREGS, child.pid(), 0, &regs);
    }
    DJ_TRY_DO(run_child(child, PTRACE_SYSCALL));  // exit
    if (too_far) {
      regs.rip -= 2;
      regs.rax = number;
      ptrace(PTRACE_SETREGS, child.pid(), 0, &regs);
      return ok_status();
    }
    if (fs_set && number == SYS_rseq) {
      return ok_status();
    }
    fs_set = fs_set || (number == SYS_arch_prctl && regs.rdi == ARCH_SET_FS);
  }
}

// A static program with TLS stays at its entry point where a scout tells what comes. Its code must
// be then what it is now, and its thread's rseq area lie where one can be made for the time before.
Result<std::optional<Scout>> run_static(StartedChild& child) {
  DJ_TRY(std::optional<Scout> scout, Scout::send(child));
  const bool fits = scout && (!scout->rseq() || abi::fits_early_block(scout->rseq()->offset));
  if (fits && !has_text_relocations("/proc/" + std::to_string(child.pid()) + "/exe")) return scout;
  DJ_TRY_DO(run_to_tls(child));
  return std::optional<Scout>();
}

}  // namespace

Result<ForkedChild> ForkedChild::fork(const std::vector<std::string>& argv,
                                      const LaunchOptions& options) {
  CHECK(!argv.empty());
  int go[2] = {-1, -1}, report[2] = {-1, -1};
  const bool piped = pipe2(go, O_CLOEXEC) == 0 && pipe2(report, O_CLOEXEC) == 0;
  const pid_t pid = piped ? ::fork() : -1;
  if (pid == 0) {
    close(go[1]);
    exec_child(argv, options, go[0], report[1]);
  }
  Error error = os_error(piped ? "cannot fork" : "cannot make a pipe");
  close(go[0]);
  close(report[1]);
  if (pid > 0) return ForkedChild(argv[0], pid, go[1], report[0]);
  close(go[1]);
  close(report[0]);
  return error;
}

ForkedChild::ForkedChild(ForkedChild&& other) noexcept
    : program_(std::move(other.program_)),
      pid_(std::exchange(other.pid_, 0)),
      go_(std::exchange(other.go_, -1)),
      report_(std::exchange(other.report_, -1)) {}

ForkedChild::~ForkedChild() {
  close(go_);
  close(report_);
  if (pid_ != 0) kill_child(pid_);
}

void ForkedChild::go() {
  static_cast<void>(!write(go_, "g", 1));
  close(std::exchange(go_, -1));
}

int ForkedChild::exec_errno() {
  int number = 0;
  return read(report_, &number, sizeof number) == sizeof number ? number : 0;
}

Status run_untraced(ForkedChild& child) {
  DJ_TRY_DO(refuse_foreign(program_file(child.program())));
  child.go();
  const int number = child.exec_errno();
  if (number != 0) return exec_error(child.program(), number);
  child.release();
  return ok_status();
}

Result<Launched> launch(ForkedChild forked) {
  const std::string file = program_file(forked.program());
  DJ_TRY_DO(refuse_foreign(file));
  DJ_TRY(StartedChild child, start(std::move(forked)));
  Result<ElfFile> read = read_elf("/proc/" + std::to_string(child.pid()) + "/exe");
  if (!read.ok() && read.error().kind == Fail::Permission)
    return Error{file + " may be executed, but not read", Fail::Permission};
  if (!read.ok()) return Error{read.error().message};  // the command is there, /proc is not
  const ElfFile& elf = read.value();
  std::optional<Scout> scout;
  if (!elf.interpreter.empty()) {
    DJ_TRY_DO(run_loader(child, elf.interpreter));
  } else if (elf.has_tls) {
    DJ_TRY(scout, run_static(child));
  }
  ptrace(PTRACE_SETOPTIONS, child.pid(), 0, PTRACE_O_TRACESYSGOOD);
  DJ_TRY(Stopped stopped, Stopped::adopt(child.pid()));
  return Launched{child.release(), std::move(stopped), std::move(scout)};
}

Result<Launched> launch(const std::vector<std::string>& argv, const LaunchOptions& options) {
  DJ_TRY(ForkedChild child, ForkedChild::fork(argv, options));
  return launch(std::move(child));
}

}  // namespace dj
