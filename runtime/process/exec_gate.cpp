// SPDX-License-Identifier: Apache-2.0
// A thread reads the kernel's questions, and answers those that the session leaves without an
// answer for too long: a process whose question has no answer hangs.
#include "runtime/process/exec_gate.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <list>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "runtime/process/exec_marks.h"
#include "runtime/process/os_error.h"
#include "runtime/process/output_readers.h"
#include "runtime/process/process.h"
#include "runtime/process/session_processes.h"

namespace dj {
namespace {

constexpr int kRoundMs = 100;  // between looks at the clock and at the files

// True also if the thread has no number here: djtap could not trace it.
bool is_djtaps(pid_t tid) {
  const pid_t pid = tid <= 0 ? 0 : process_of(tid);
  return pid == 0 || descends_from_djtap(pid);
}

std::string name_of(int fd) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error).string();
}

}  // namespace

struct ExecGate::Watch {
  // A thread that waits. event: descriptor by which the kernel knows the question, to be closed.
  struct Waiting {
    Visitor who;
    int event;
    uint64_t since_ns;
    bool is_taken = false;  // next() has returned it
  };
  uint64_t patience_ns = 0;
  int bell = -1;
  std::mutex mutex;  // guards all members below, and reading questions
  ExecMarks marks;
  bool is_watching = true;
  std::list<Waiting> waiting;
  uint32_t missed = 0;
  std::function<bool(const Visitor&, pid_t)> passes;
  std::set<pid_t> through;  // let_through()
  std::atomic<bool> is_over = false;
  std::thread reader;

  ~Watch();
  void run();
  void read_events();
  void take(const fanotify_event_metadata& event);
  bool may_pass(const Visitor& who) const;
  bool is_through(pid_t pid) const;
  void answer(const Waiting& one) const;  // and closes its descriptor
  void answer_late();
  void mark_replaced();
  void mark_mounted();
};

ExecGate::Watch::~Watch() {
  is_over = true;
  if (reader.joinable()) reader.join();
  for (const Waiting& one : waiting) answer(one);
  if (bell >= 0) close(bell);
}

void ExecGate::Watch::answer(const Waiting& one) const {
  const fanotify_response response = {one.event, FAN_ALLOW};
  const ssize_t told = write(marks.group(), &response, sizeof response);
  static_cast<void>(told);  // fails where the thread was killed meanwhile
  close(one.event);
}

void ExecGate::Watch::take(const fanotify_event_metadata& event) {
  Waiting one = {{event.pid, (event.mask & FAN_OPEN_PERM) != 0, ""}, event.fd, now_ns()};
  if (!is_watching || may_pass(one.who)) return answer(one);
  one.who.file = name_of(event.fd);
  waiting.push_back(std::move(one));
  eventfd_write(bell, 1);
}

// A process waits for its vfork child, which may wait here.
bool ExecGate::Watch::is_through(pid_t pid) const {
  return through.contains(pid) || (!through.empty() && through.contains(parent_of(pid)));
}

// An exec asks once for each file that the kernel opens: of a script the interpreter, too, and of
// both the loader. From the first of them on, djtap traces the thread.
bool ExecGate::Watch::may_pass(const Visitor& who) const {
  if (is_djtaps(who.tid)) return true;
  const pid_t pid = process_of(who.tid);
  return reads_output(pid) || is_through(pid) ||
         (!who.opens_library && is_traced_by_djtap(who.tid)) || (passes && passes(who, pid));
}

void ExecGate::Watch::read_events() {
  const std::lock_guard lock(mutex);
  alignas(fanotify_event_metadata) char events[4096];
  const ssize_t got = read(marks.group(), events, sizeof events);
  auto left = static_cast<int64_t>(got);
  const auto* event = reinterpret_cast<const fanotify_event_metadata*>(events);
  for (; left > 0 && FAN_EVENT_OK(event, left); event = FAN_EVENT_NEXT(event, left)) {
    if (event->fd >= 0) take(*event);
  }
}

void ExecGate::Watch::answer_late() {
  const std::lock_guard lock(mutex);
  std::erase_if(waiting, [this](const Waiting& one) {
    if (now_ns() - one.since_ns < patience_ns) return false;
    answer(one);
    if (!one.is_taken) missed++;
    return true;
  });
}

void ExecGate::Watch::mark_replaced() {
  const std::lock_guard lock(mutex);
  if (is_watching) marks.mark_replaced();
}

void ExecGate::Watch::mark_mounted() {
  const std::lock_guard lock(mutex);
  if (is_watching) marks.mark_mounted();
}

void ExecGate::Watch::run() {
  while (!is_over) {
    pollfd waits[] = {{marks.group(), POLLIN, 0}, {marks.mounts(), POLLPRI, 0}};
    if (poll(waits, std::size(waits), kRoundMs) > 0) read_events();
    if (waits[1].revents != 0) mark_mounted();
    answer_late();
    mark_replaced();
  }
}

ExecGate::ExecGate(std::unique_ptr<Watch> watch) : watch_(std::move(watch)) {}

Result<std::unique_ptr<ExecGate>> ExecGate::open(const std::vector<std::string>& files,
                                                 uint64_t patience_ns) {
  auto watch = std::make_unique<Watch>();
  watch->patience_ns = patience_ns;
  DJ_TRY_DO(watch->marks.open());
  watch->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (watch->bell < 0) return os_error("cannot watch who executes files");
  for (const std::string& file : files) DJ_TRY_DO(watch->marks.add_file(file, FAN_OPEN_EXEC_PERM));
  watch->reader = std::thread(&Watch::run, watch.get());
  return std::unique_ptr<ExecGate>(new ExecGate(std::move(watch)));
}

ExecGate::~ExecGate() = default;

void ExecGate::let_pass_if(std::function<bool(const Visitor&, pid_t)> passes) {
  const std::lock_guard lock(watch_->mutex);
  watch_->passes = std::move(passes);
}

Status ExecGate::watch_libraries(const std::vector<std::string>& files) {
  const std::lock_guard lock(watch_->mutex);
  for (const std::string& file : files) DJ_TRY_DO(watch_->marks.add_file(file, FAN_OPEN_PERM));
  return ok_status();
}

std::vector<std::string> ExecGate::watch_all_programs() {
  const std::lock_guard lock(watch_->mutex);
  return watch_->marks.add_file_systems();
}

void ExecGate::let_through(pid_t pid, bool is_through) {
  const std::lock_guard lock(watch_->mutex);
  if (!is_through) return static_cast<void>(watch_->through.erase(pid));
  watch_->through.insert(pid);
  std::erase_if(watch_->waiting, [&](const Watch::Waiting& one) {
    if (one.is_taken || !watch_->is_through(process_of(one.who.tid))) return false;
    watch_->answer(one);
    return true;
  });
}

int ExecGate::fd() const { return watch_->bell; }

std::optional<ExecGate::Visitor> ExecGate::next() {
  const std::lock_guard lock(watch_->mutex);
  eventfd_t rung = 0;
  eventfd_read(watch_->bell, &rung);
  const auto found = std::ranges::find(watch_->waiting, false, &Watch::Waiting::is_taken);
  if (found == watch_->waiting.end()) return std::nullopt;
  found->is_taken = true;
  return found->who;
}

void ExecGate::let_pass(pid_t tid) {
  const std::lock_guard lock(watch_->mutex);
  std::erase_if(watch_->waiting, [&](const Watch::Waiting& one) {
    if (one.who.tid != tid || !one.is_taken) return false;
    watch_->answer(one);
    return true;
  });
}

void ExecGate::set_watching(bool watches) {
  {
    const std::lock_guard lock(watch_->mutex);
    watch_->is_watching = watches;
    watch_->marks.flush();
    if (watches) return watch_->marks.mark_mounted();
    for (const Watch::Waiting& one : watch_->waiting) watch_->answer(one);
    watch_->waiting.clear();
  }
  watch_->read_events();  // what was asked before the flush
}

uint32_t ExecGate::take_missed() {
  const std::lock_guard lock(watch_->mutex);
  return std::exchange(watch_->missed, 0);
}

}  // namespace dj
