// SPDX-License-Identifier: Apache-2.0
// One epoll over the pidfd, a signalfd and a timerfd per timer; its time-out is the drain interval.
#include "runtime/session/loop.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include "runtime/output/ending_signals.h"
#include "runtime/process/news_wait.h"

namespace dj {
namespace {

// Drain interval: short while events come, longer when the target is quiet.
constexpr int kDrainMsBusy = 1, kDrainMsIdle = 20, kDrainMsOften = 2;

// A file descriptor that closes itself.
class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

Error system_error(const char* what) {
  return Error{fmt::format("{}: {}", what, std::strerror(errno))};
}

// Sets the timer going; a randomized one for its next interval only.
void start_timer(int fd, const LoopTimer& timer) {
  static std::minstd_rand random(std::random_device{}());
  uint64_t ns = timer.interval_ns;
  if (timer.random_ns > 0) {
    std::uniform_int_distribution<uint64_t> spread(0, 2 * timer.random_ns);
    ns = std::max<uint64_t>(ns - timer.random_ns + spread(random), 1);
  }
  timespec period{static_cast<time_t>(ns / 1000000000), static_cast<long>(ns % 1000000000)};
  itimerspec spec{timer.random_ns > 0 ? timespec{} : period, period};
  timerfd_settime(fd, 0, &spec, nullptr);
}

Result<int> make_timer(const LoopTimer& timer) {
  int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (fd < 0) return system_error("timerfd_create");
  start_timer(fd, timer);
  return fd;
}

// Unless djtap was told to ignore it.
sigset_t with_stop(sigset_t signals) {
  struct sigaction now = {};
  sigaction(SIGTSTP, nullptr, &now);
  if (now.sa_handler != SIG_IGN) sigaddset(&signals, SIGTSTP);
  return signals;
}

// As if the signal had come now, also for a handler that gives a terminal back.
void stop_here(const LoopActions& actions) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  actions.stopped(true);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, nullptr);  // here, until SIGCONT
  sigprocmask(SIG_BLOCK, &stop, nullptr);
  actions.stopped(false);
}

// Who an epoll event is about: the pidfd, the signalfd, the control socket, bell number n behind
// kBells, or timer number n.
enum : uint64_t { kPid = ~0ull, kSignal = ~1ull, kControl = ~2ull, kBells = 1ull << 32 };

Status watch(int epoll, int fd, uint64_t who) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = who;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0) return system_error("epoll_ctl");
  return ok_status();
}

// Those of the actions that `timers` does not have yet.
Status make_timers(int epoll, const LoopActions& actions, std::vector<Fd>& timers) {
  for (size_t i = timers.size(); i < actions.timers.size(); ++i) {
    DJ_TRY(int fd, make_timer(actions.timers[i]));
    timers.emplace_back(fd);
    DJ_TRY_DO(watch(epoll, fd, i));
  }
  return ok_status();
}

}  // namespace

HeldSignals::HeldSignals() {
  sigset_t signals = with_stop(ending_signals());
  sigaddset(&signals, SIGXFSZ);
  sigaddset(&signals, SIGCHLD);
  hear_of_children();
  sigprocmask(SIG_BLOCK, &signals, &before_);
}

HeldSignals::~HeldSignals() {
  sigset_t too_long;
  sigemptyset(&too_long);
  sigaddset(&too_long, SIGXFSZ);
  const timespec now = {};
  sigtimedwait(&too_long, nullptr, &now);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

Result<Ended> run_loop(LoopActions& actions) {
  const sigset_t ending = ending_signals(), signals = with_stop(ending);
  Fd epoll(epoll_create1(EPOLL_CLOEXEC));
  Fd signal_fd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (epoll.get() < 0 || signal_fd.get() < 0) return system_error("epoll");
  DJ_TRY_DO(watch(epoll.get(), signal_fd.get(), kSignal));
  if (actions.pidfd >= 0) DJ_TRY_DO(watch(epoll.get(), actions.pidfd, kPid));
  if (actions.control_fd >= 0) DJ_TRY_DO(watch(epoll.get(), actions.control_fd, kControl));
  for (size_t i = 0; i < actions.bells.size(); ++i)
    DJ_TRY_DO(watch(epoll.get(), actions.bells[i].fd, kBells + i));
  std::vector<Fd> timers;
  DJ_TRY_DO(make_timers(epoll.get(), actions, timers));

  const int idle_ms = actions.is_often ? kDrainMsOften : kDrainMsIdle;
  int wait_ms = kDrainMsBusy;
  for (;;) {
    epoll_event events[16];
    int count = epoll_wait(epoll.get(), events, 16, wait_ms);
    if (count < 0 && errno != EINTR) return system_error("epoll_wait");
    bool gone = false, interrupted = false;
    for (int i = 0; i < count; ++i) {
      uint64_t who = events[i].data.u64;
      if (who == kPid) {
        gone = true;
      } else if (who == kSignal) {
        signalfd_siginfo info;
        if (read(signal_fd.get(), &info, sizeof info) <= 0) continue;
        const int signal = static_cast<int>(info.ssi_signo);
        interrupted = interrupted || sigismember(&ending, signal) == 1;
        if (signal == SIGTSTP) stop_here(actions);
      } else if (who == kControl) {
        actions.control();
        DJ_TRY_DO(make_timers(epoll.get(), actions, timers));
      } else if (who >= kBells) {
        actions.bells[who - kBells].answer();
      } else {
        uint64_t expirations = 0;
        if (read(timers[who].get(), &expirations, sizeof expirations) > 0) {
          actions.timers[who].fire();
          if (actions.timers[who].random_ns > 0)
            start_timer(timers[who].get(), actions.timers[who]);
        }
      }
    }
    wait_ms = actions.drain() > 0 ? kDrainMsBusy : std::min(wait_ms * 2, idle_ms);
    if (gone || (actions.all_ended && actions.all_ended())) return Ended::TargetExited;
    if (interrupted) return Ended::Interrupted;
    if (actions.exit_requested()) return Ended::ExitCalled;
    if (actions.too_many_errors()) return Ended::TooManyErrors;
    if (actions.output_closed()) return Ended::OutputClosed;
  }
}

}  // namespace dj
