// SPDX-License-Identifier: Apache-2.0
// From a wish in the arena to a process that has joined.
#include "runtime/run/followed_execs.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "compiler/base/counted.h"
#include "compiler/base/printable.h"
#include "runtime/output/messages.h"
#include "runtime/process/exec_rights.h"
#include "runtime/process/news_wait.h"
#include "runtime/process/os_error.h"
#include "runtime/process/pid_space.h"
#include "runtime/process/process.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/session_processes.h"
#include "runtime/process/waiting_thread.h"
#include "runtime/run/give_up_rights.h"
#include "runtime/run/openers.h"

namespace dj {
namespace {

// What the thread would execute; empty: a descriptor names the file, or the text cannot be read.
std::string read_path(int tid, uint64_t address) {
  constexpr size_t kPiece = 64;  // aligned, it lies in one page
  const RunningMemory memory(tid);
  std::string path;
  char piece[kPiece];
  while (address != 0 && path.size() < PATH_MAX) {
    const size_t bytes = kPiece - address % kPiece;
    if (!memory.read(address, piece, bytes)) return "";
    const size_t length = strnlen(piece, bytes);
    path.append(piece, length);
    if (length < bytes) return path;
    address += bytes;
  }
  return "";
}

// So the same mistake is told once of a program that a thousand processes execute.
std::string without_number(std::string text, int pid) {
  const std::string which = fmt::format("process {}", pid), where = " in " + which;
  if (const size_t at = text.find(where); at != text.npos) return text.erase(at, where.size());
  if (const size_t at = text.find(which); at != text.npos) text.replace(at, which.size(), "it");
  return text;
}

}  // namespace

FollowedExecs::~FollowedExecs() {
  const ToldWords words = session_.words();
  words.follow_no_execs();
  for (uint32_t i = 0; i < abi::kExecWishes; ++i) {
    const uint32_t state = words.exec_wish(i).state;
    if (state == abi::kExecAsks) answer(i, abi::kExecGoes);
    if (state == abi::kExecFailed || state == abi::kExecLeaves) answer(i, abi::kExecFree);
  }
}

void FollowedExecs::answer(uint32_t wish, abi::ExecState state) const {
  const ToldWords words = session_.words();
  words.answer_exec(wish, state);
  syscall(SYS_futex, reinterpret_cast<void*>(words.exec_wish_at(wish)), FUTEX_WAKE, INT_MAX,
          nullptr, nullptr, 0);
}

// The thread's number as djtap sees it, if it is one of a process that has the session's data; 0:
// it is not.
int FollowedExecs::thread_of(uint32_t number, const abi::ExecWish& wish) const {
  const int own = static_cast<int>(wish.tid);
  const uint64_t word = session_.words().exec_wish_at(number);
  int likely = 0;
  std::set<int> seen;
  for (const auto& target : session_.targets()) {
    const int tid = number_seen(own, target->pid());
    if (tid > 0 && seen.insert(tid).second && has_memory_at(tid, data_, word)) {
      likely = tid;
      break;
    }
  }
  return find_waiting_thread(word, own, data_, likely);
}

// The target chooses the names, so their number has a limit.
void FollowedExecs::warn_of_refused(const std::string& program, const std::string& why) {
  constexpr size_t kMostTold = 100;
  if (told_.size() > kMostTold || !told_.insert(program + why).second) return;
  if (told_.size() > kMostTold)
    return report_warning("DJ5915", "more programs are executed without probes, and not named");
  report_warning("DJ5915",
                 fmt::format("{} is executed without probes: {}", printable(program), why));
}

void FollowedExecs::warn_of_missed(uint64_t programs) {
  if (programs == 0) return;
  report_warning(
      "DJ5915",
      fmt::format("{} executed without probes: djtap was too busy to follow in time",
                  programs == 1 ? "1 program is" : counted(programs, "program") + " are"));
}

void FollowedExecs::follow(uint32_t number, const abi::ExecWish& wish) {
  const bool stays = wish.state == abi::kExecAsks;
  const abi::ExecState go = stays ? abi::kExecGoes : abi::kExecFree;
  const int tid = thread_of(number, wish);
  if (tid == 0) {
    warn_of_refused(fmt::format("the program of thread {}", wish.tid),
                    "djtap has not found the thread that executes it");
    return answer(number, go);
  }
  const std::string path = read_path(tid, wish.path);
  const std::string lost = lost_by_tracing(tid, path, static_cast<int>(wish.folder));
  const auto refuse = [&](const std::string& why) {
    warn_of_refused(path.empty() ? fmt::format("the program of process {}", tid) : path, why);
    answer(number, go);
  };
  if (!lost.empty()) return refuse("traced, it would not get " + lost);
  Result<ExecTracee> thread = ExecTracee::seize(tid);
  if (!thread.ok() && thread.error().kind == Fail::TargetGone) return answer(number, go);
  if (!thread.ok()) return refuse(thread.error().message);
  traced_.push_back({thread.take(), stays ? number : kNoWish, now_ns()});
  leaves_();
  answer(number, go);
}

void FollowedExecs::let_go(uint32_t number) {
  const auto found = std::ranges::find(traced_, number, &Traced::wish);
  if (found != traced_.end()) {
    found->thread.let_go();
    traced_.erase(found);
  }
  answer(number, abi::kExecFree);
}

// Follows the threads that wait at the gate.
void FollowedExecs::look_at_gate() {
  ExecGate* const gate = outsiders_.gate;
  if (gate == nullptr) return;
  while (const std::optional<ExecGate::Visitor> visitor = gate->next()) {
    const int tid = visitor->tid;
    const std::string program = visitor->opens_library ? program_path(tid) : visitor->file;
    const Status traced = visitor->opens_library ? take_opener(tid) : trace(tid);
    gate->let_pass(tid);
    if (!traced.ok() && traced.error().kind != Fail::TargetGone)
      warn_of_refused(program.empty() ? fmt::format("the program of process {}", tid) : program,
                      without_number(traced.error().message, tid));
  }
  warn_of_missed(gate->take_missed());
}

Status FollowedExecs::trace(int tid) {
  if (!outsiders_.trusted) DJ_TRY_DO(check_rights(tid));
  DJ_TRY(ExecTracee thread, ExecTracee::seize(tid));
  traced_.push_back({std::move(thread), kNoWish, now_ns()});
  leaves_();
  return ok_status();
}

Status FollowedExecs::take_opener(int tid) {
  DJ_TRY(std::optional<TracedProcess> process,
         lead_opener(*outsiders_.gate, tid, outsiders_.trusted));
  if (!process) return ok_status();
  if (!outsiders_.trusted) DJ_TRY_DO(check_rights(process->pid));
  if (outsiders_.writable_text) trust_writable(process->modules);
  return joined_.join(std::move(*process));
}

void FollowedExecs::look() {
  look_at_gate();
  const ToldWords words = session_.words();
  for (uint32_t i = 0; i < abi::kExecWishes; ++i) {
    const abi::ExecWish wish = words.exec_wish(i);
    if (wish.state == abi::kExecAsks || wish.state == abi::kExecLeaves) follow(i, wish);
    if (wish.state == abi::kExecFailed) let_go(i);
  }
  const uint64_t missed = words.missed_execs();
  if (missed > missed_) warn_of_missed(missed - missed_);
  missed_ = missed;
}

void FollowedExecs::take_in(Traced& traced) {
  const int pid = traced.thread.pid();
  const MachineProcesses* const meant = outsiders_.meant;
  if (meant != nullptr && !meant->may_have(pid)) return static_cast<void>(traced.thread.let_go());
  const std::string program = program_path(pid);
  Result<Launched> launched = lead_to_start(outsiders_.gate, traced.thread);
  if (launched.ok() && meant != nullptr && !meant->has(pid)) return;  // it goes on
  Result<TracedProcess> process =
      launched.ok() ? TracedProcess::executed(launched.take()) : launched.error();
  // A setuid program has other rights than the process had before.
  const bool has_rights = outsiders_.gate == nullptr || outsiders_.trusted;
  Status joined = has_rights ? ok_status() : check_rights(pid);
  if (joined.ok()) joined = process.ok() ? joined_.join(process.take()) : Status(process.error());
  if (joined.ok()) {
    followed_.insert(pid);
  } else if (joined.error().kind != Fail::TargetGone) {
    warn_of_refused(program.empty() ? fmt::format("process {}", pid) : program,
                    without_number(joined.error().message, pid));
  }
}

// Whether djtap traces the thread no more.
bool FollowedExecs::is_done(Traced& traced) {
  constexpr uint64_t kPatienceNs = 1'000'000'000;  // of a call that has failed without a word
  switch (traced.thread.poll()) {
    case ExecTracee::State::Running:
      if (traced.wish != kNoWish || now_ns() - traced.since_ns < kPatienceNs) return false;
      traced.thread.let_go();
      return true;
    case ExecTracee::State::AtExec:
      take_in(traced);
      break;
    default:
      break;
  }
  if (traced.wish != kNoWish) answer(traced.wish, abi::kExecFree);
  return true;
}

// A thread executes its program some 200 microseconds behind the answer. Others may ask meanwhile.
bool FollowedExecs::poll() {
  constexpr uint64_t kLookNs = 1'000'000;
  constexpr int kMostRounds = 3;
  look();
  for (int round = 0; round < kMostRounds; ++round) {
    std::erase_if(traced_, [this](Traced& traced) { return is_done(traced); });
    if (traced_.empty()) break;
    wait_for_news(traced_.front().thread.pid(), kLookNs);
    look();
  }
  return !traced_.empty();
}

}  // namespace dj
