// SPDX-License-Identifier: Apache-2.0
// A thread that executes a program ends all other threads and takes the first one's number. Its
// tracer finds its old number gone and the stop under the new one.
#include "runtime/process/exec_tracee.h"

#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/process/interrupted_call.h"
#include "runtime/process/map_query.h"
#include "runtime/process/news_wait.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/program_start.h"
#include "runtime/process/session_processes.h"
#include "runtime/process/thread_wait.h"

namespace dj {
namespace {

constexpr int kExecStop = SIGTRAP | PTRACE_EVENT_EXEC << 8;

// Never destroyed: the end of djtap lets go of all.
std::vector<ExecTracee>& late_tracees() {
  static thread_local auto* late = new std::vector<ExecTracee>;
  return *late;
}

// Whether the thread is in a ptrace-stop and no SIGKILL ends that.
bool stands_alive(pid_t tid) {
  std::ifstream status("/proc/" + std::to_string(tid) + "/status");
  bool stands = false, is_killed = false;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:")) stands = line.find("\tt") != line.npos;
    if (line.starts_with("SigPnd:"))
      is_killed = (std::stoull(line.substr(7), nullptr, 16) >> (SIGKILL - 1) & 1) != 0;
  }
  return stands && !is_killed;
}

Error no_thread(pid_t tid) {
  return Error{"thread " + std::to_string(tid) + " has ended", Fail::TargetGone};
}

Error cannot_trace(pid_t tid, pid_t pid, int number) {
  const std::string what = "process " + std::to_string(pid);
  const Result<ProcessStatus> status = read_status(tid);
  const pid_t tracer = status.ok() ? status.value().tracer : 0;
  if (tracer == 0)
    return os_error("cannot trace thread " + std::to_string(tid) + " of " + what, number);
  const Result<ProcessStatus> its = read_status(tracer);
  return Error{what + " is already traced by process " + std::to_string(tracer) +
                   (its.ok() ? " (" + its.value().name + ")" : ""),
               Fail::Permission};
}

// A signal that the program ignores wakes a traced thread up.
void repair_interrupted_call(pid_t tid) {
  user_regs_struct regs;
  if (ptrace(PTRACE_GETREGS, tid, 0, &regs) == 0 && restart_interrupted(regs))
    ptrace(PTRACE_SETREGS, tid, 0, &regs);
}

}  // namespace

Result<ExecTracee> ExecTracee::seize(pid_t tid) {
  let_go_of_late();
  const pid_t pid = process_of(tid);
  if (pid == 0) return no_thread(tid);
  if (ptrace(PTRACE_SEIZE, tid, 0, kStartOptions) != 0) {
    const int number = errno;
    // The kernel says EPERM of a thread that has ended, too.
    if (number == ESRCH || process_of(tid) == 0) return no_thread(tid);
    return cannot_trace(tid, pid, number);
  }
  return ExecTracee(tid, pid);
}

ExecTracee::ExecTracee(ExecTracee&& other) noexcept
    : tid_(other.tid_),
      first_tid_(other.first_tid_),
      pid_(other.pid_),
      state_(std::exchange(other.state_, State::LetGo)),
      is_leaving_(other.is_leaving_),
      stops_soon_(other.stops_soon_) {}

ExecTracee& ExecTracee::operator=(ExecTracee&& other) noexcept {
  std::swap(tid_, other.tid_);
  std::swap(first_tid_, other.first_tid_);
  std::swap(pid_, other.pid_);
  std::swap(state_, other.state_);
  std::swap(is_leaving_, other.is_leaving_);
  std::swap(stops_soon_, other.stops_soon_);
  return *this;
}

ExecTracee::~ExecTracee() {
  if (!let_go()) late_tracees().push_back(std::move(*this));
}

bool ExecTracee::let_go_of_late() {
  std::vector<ExecTracee>& late = late_tracees();
  std::erase_if(late, [](ExecTracee& each) { return each.poll() != State::Running; });
  return late.empty();
}

// As wait_thread() has it. -1: the thread has ended.
pid_t ExecTracee::next_status(int* status) {
  if (tid_ != pid_) {
    const pid_t got = wait_thread(tid_, pid_, status);
    if (got >= 0 || errno != ECHILD) return got;
    tid_ = pid_;  // it has executed a program, if it is there
  }
  siginfo_t info = {};
  constexpr int kPeek = WEXITED | WSTOPPED | WNOWAIT | WNOHANG | __WALL;
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, kPeek) != 0) return -1;
  if (info.si_pid == 0) return 0;
  const bool is_exec = info.si_code == CLD_TRAPPED && info.si_status == kExecStop;
  if (!is_exec || first_tid_ != pid_) return wait_thread(pid_, pid_, status);
  // The kernel answers when the thread had this number before its exec, too (since 5.13), or else
  // says which one it had.
  unsigned long former = 0;
  const bool is_told = ptrace(PTRACE_GETEVENTMSG, pid_, 0, &former) == 0;
  if (is_told && static_cast<pid_t>(former) == first_tid_) return wait_thread(pid_, pid_, status);
  if (!is_told && !stands_alive(pid_)) return 0;  // it is being killed
  errno = ECHILD;  // the stop of a thread that another object follows
  return -1;
}

void ExecTracee::detach(int signal) {
  // Killed in the stop: poll() sees its end.
  if (ptrace(PTRACE_DETACH, tid_, 0, static_cast<uint64_t>(signal)) == 0) state_ = State::LetGo;
}

// A stop means nothing to the program: it gets the signal, or stops as job control has it.
void ExecTracee::carry_on(int status) {
  const int event = status >> 16;
  const int signal = event == 0 ? WSTOPSIG(status) : 0;
  const bool is_group_stop = event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP;
  if (event != PTRACE_EVENT_EXEC) repair_interrupted_call(tid_);
  if (is_leaving_)
    detach(signal);
  else if (event == PTRACE_EVENT_EXEC)
    state_ = State::AtExec;
  else if (stops_soon_ && event == PTRACE_EVENT_STOP && !is_group_stop)
    state_ = State::Stands;
  else if (is_group_stop)
    ptrace(PTRACE_LISTEN, tid_, 0, 0);
  else
    ptrace(PTRACE_CONT, tid_, 0, static_cast<uint64_t>(signal));
}

ExecTracee::State ExecTracee::poll() {
  constexpr int kMost = 16;  // of a thread that gets signals without end
  for (int round = 0; round < kMost && state_ <= State::Stands; ++round) {
    int status = 0;
    const pid_t got = next_status(&status);
    if (got == 0 || (got < 0 && errno == EINTR)) break;
    if (got < 0 || !WIFSTOPPED(status))
      state_ = State::Ended;
    else
      carry_on(status);
  }
  return state_;
}

bool ExecTracee::let_go(uint64_t limit_ns) {
  if (state_ == State::AtExec || state_ == State::Stands) {
    detach(0);
    if (state_ != State::LetGo) state_ = State::Running;  // killed: its end has to be seen
  }
  is_leaving_ = true;
  for (const uint64_t deadline = now_ns() + limit_ns; state_ == State::Running;) {
    const pid_t asked = tid_;
    const bool is_traced = ptrace(PTRACE_INTERRUPT, asked, 0, 0) == 0;
    if (poll() != State::Running) break;
    // A child of djtap that is not traced any more has nothing to tell.
    if (!is_traced && asked == pid_) state_ = State::Ended;
    if (now_ns() > deadline) return state_ != State::Running;
    wait_for_news(tid_);
  }
  return true;
}

// After reach_start() has failed.
void ExecTracee::give_back(const Tracee& tracee) {
  is_leaving_ = true;
  state_ = tracee.has_ended ? State::Ended : State::Running;
  if (tracee.stands) detach(tracee.signal);
  let_go();
}

void ExecTracee::stop_soon() {
  stops_soon_ = true;
  ptrace(PTRACE_INTERRUPT, tid_, 0, 0);
}

// The loader has an open() of its own. glibc's sets the thread's fs when it has mapped what the
// program needs, musl's before that.
ExecTracee::Opening ExecTracee::opening() const {
  user_regs_struct regs = {};
  const uint64_t loader = auxiliary(pid_, AT_BASE);
  MapFinder maps(pid_);
  if (loader == 0 || ptrace(PTRACE_GETREGS, tid_, 0, &regs) != 0) return Opening::Reading;
  const Result<std::optional<Mapping>> own = maps.at(loader), here = maps.at(regs.rip);
  if (!own.ok() || !here.ok() || !own.value() || !here.value()) return Opening::Reading;
  const bool is_loader =
      own.value()->inode == here.value()->inode && own.value()->device == here.value()->device;
  if (!is_loader) return Opening::Reading;
  return regs.fs_base == 0 && tid_ == pid_ ? Opening::Start : Opening::Later;
}

void ExecTracee::hand_over() {
  CHECK(state_ == State::Stands);
  ptrace(PTRACE_SETOPTIONS, tid_, 0, PTRACE_O_TRACESYSGOOD);
  state_ = State::LetGo;
  Stopped::expect(pid_, tid_);
}

Result<Launched> ExecTracee::reach_start(uint64_t limit_ns) {
  const bool is_loading = state_ == State::Stands;
  if (state_ != State::AtExec && !is_loading) return Error{"the thread has not executed a program"};
  Tracee tracee(Tracee::Kind::Followed, pid_, limit_ns);
  tracee.stands = true;
  const Result<ElfFile> program = executed_program(pid_);
  const Result<ProgramStart> start =
      program.ok() ? run_to_start(tracee, program.value(), is_loading) : program.error();
  if (!start.ok()) {
    give_back(tracee);
    return state_ == State::Ended ? no_thread(pid_) : start.error();
  }
  ptrace(PTRACE_SETOPTIONS, pid_, 0, PTRACE_O_TRACESYSGOOD);
  state_ = State::LetGo;
  DJ_TRY(Stopped stopped, Stopped::adopt(pid_, start.value().at_signal));
  return Launched{pid_, std::move(stopped), std::nullopt, start.value().at_loader_call};
}

}  // namespace dj
