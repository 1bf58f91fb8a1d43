// SPDX-License-Identifier: Apache-2.0
// Starts a program under ptrace.
#include "runtime/process/launch.h"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <utility>

#include "runtime/process/child_wait.h"
#include "runtime/process/elf_file.h"
#include "runtime/process/news_wait.h"
#include "runtime/process/open_files.h"
#include "runtime/process/os_error.h"
#include "runtime/process/program_start.h"
#include "runtime/process/started_child.h"

namespace dj {
namespace {

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
  lower_open_files();
  inherit_child_signal();
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
  bool seized = ptrace(PTRACE_SEIZE, pid, 0, kStartOptions) == 0 &&
                ptrace(PTRACE_INTERRUPT, pid, 0, 0) == 0 && waitpid(pid, nullptr, __WALL) == pid;
  if (!seized) return os_error("cannot trace the program");
  StartedChild child(forked.release());
  forked.go();
  Result<TraceeStop> stop = run_tracee(child.tracee(), PTRACE_CONT);
  if (int number = forked.exec_errno(); number != 0) return exec_error(forked.program(), number);
  if (!stop.ok()) return stop.error();
  return child;
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
  const Result<ElfFile> program = executed_program(child.pid());
  if (!program.ok() && program.error().kind == Fail::Permission)
    return Error{file + " may be executed, but not read", Fail::Permission};
  if (!program.ok()) return Error{program.error().message};  // the command is there, /proc is not
  DJ_TRY(ProgramStart start, run_to_start(child.tracee(), program.value()));
  ptrace(PTRACE_SETOPTIONS, child.pid(), 0, PTRACE_O_TRACESYSGOOD);
  DJ_TRY(Stopped stopped, Stopped::adopt(child.pid(), start.at_signal));
  return Launched{child.release(), std::move(stopped), std::move(start.scout),
                  start.at_loader_call};
}

Result<Launched> launch(const std::vector<std::string>& argv, const LaunchOptions& options) {
  DJ_TRY(ForkedChild child, ForkedChild::fork(argv, options));
  return launch(std::move(child));
}

}  // namespace dj
