// SPDX-License-Identifier: Apache-2.0
// Stopping and letting go of real programs: threads, sleeping calls, signals, and system calls made
// in them.
#include "runtime/process/stopped.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "runtime/process/process.h"
#include "runtime/process/remote_call.h"
#include "runtime/process/restore_frame.h"
#include "runtime/process/victim.h"

namespace dj {
namespace {

// Nothing but a hang makes the test fail: the machine may have a lot else to do.
void wait_for_state(pid_t pid, char state) {
  while (read_status(pid).value().state != state) usleep(1000);
}

constexpr char kThreads[] = R"(
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile long turns;
static volatile int stop;
void* busy(void* p) { while (!stop) turns++; return p; }
void* brief(void* p) { return p; }
int main(void) {
  pthread_t t[3], b;
  for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, busy, 0);
  puts("ready"); fflush(stdout);
  for (int i = 0; i < 20000 && !stop; i++) { pthread_create(&b, 0, brief, 0); pthread_join(b, 0); }
  stop = 1;
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  puts("done"); return 0;
})";

TEST(Stopped, StopsAllThreadsWhileOthersAreBorn) {
  Victim victim({compile_victim(kThreads)});
  EXPECT_EQ(victim.line(), "ready");
  for (int i = 0; i < 30; i++) {
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    EXPECT_GE(stopped.value().threads().size(), 4u);
    for (pid_t tid : live_threads(victim.pid())) {
      std::ifstream in("/proc/" + std::to_string(tid) + "/stat");
      std::string text((std::istreambuf_iterator<char>(in)), {});
      EXPECT_EQ(text[text.rfind(')') + 2], 't') << text;
    }
  }
  EXPECT_EQ(read_status(victim.pid()).value().tracer, 0);
  EXPECT_EQ(victim.line(), "done");
  EXPECT_EQ(victim.wait(), 0);
}

// Chains of threads, each of which starts its successor and ends, so that whoever is listed may
// have gone when it is to be stopped, and whoever it has started is not listed.
constexpr char kChains[] = R"(
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
static atomic_long turns;
static volatile int stop;
static pthread_attr_t detached;
static void* chain(void* p) {
  pthread_t next;
  turns++;
  while (!stop && pthread_create(&next, &detached, chain, p) != 0) {}
  return p;
}
int main(void) {
  pthread_t first; char c;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&detached, 65536);
  for (int i = 0; i < 6; i++) pthread_create(&first, &detached, chain, 0);
  printf("%lu\n", (unsigned long)&turns); fflush(stdout);
  if (read(0, &c, 1) < 0) return 1;
  stop = 1; puts("done"); return 0;
})";

TEST(Stopped, NobodyRunsWhomAThreadThatEndedHasStarted) {
  Victim victim({compile_victim(kChains)});
  const uint64_t turns = std::stoull(victim.line());
  const auto read_turns = [&](const Stopped& stopped) {
    uint64_t value = 0;
    EXPECT_TRUE(
        stopped.read(turns, std::span(reinterpret_cast<uint8_t*>(&value), sizeof value)).ok());
    return value;
  };
  for (int i = 0; i < 300; i++) {
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    const uint64_t before = read_turns(stopped.value());
    usleep(1000);
    ASSERT_EQ(read_turns(stopped.value()), before) << "in round " << i;
  }
  victim.say("x");
  EXPECT_EQ(victim.line(), "done");
}

TEST(Stopped, SaysWhoTracesAlready) {
  Victim victim({"sleep", "100"});
  Result<Stopped> first = Stopped::stop(victim.pid());
  ASSERT_TRUE(first.ok()) << first.error().message;
  Result<Stopped> second = Stopped::stop(victim.pid());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, Fail::Permission);
  EXPECT_NE(second.error().message.find("traced by process " + std::to_string(getpid())),
            std::string::npos)
      << second.error().message;
}

TEST(Stopped, NoProcessAndZombie) {
  EXPECT_EQ(Stopped::stop(4000000).error().kind, Fail::NotFound);
  pid_t pid = fork();
  if (pid == 0) {
    _exit(0);
  }
  wait_for_state(pid, 'Z');
  Result<Stopped> zombie = Stopped::stop(pid);
  ASSERT_FALSE(zombie.ok());
  EXPECT_NE(zombie.error().message.find("zombie"), std::string::npos);
  waitpid(pid, nullptr, 0);
}

// The program checks every call itself: a call that fails because of us is printed.
constexpr char kCalls[] = R"(
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>
static sem_t never;
static void* in_epoll(void* p) {
  int e = epoll_create1(0); struct epoll_event v;
  int r = epoll_wait(e, &v, 1, 1500);
  if (r != 0) printf("epoll_wait %d %s\n", r, strerror(errno));
  return p;
}
static void* in_poll(void* p) {
  int r = poll(0, 0, 1500);
  if (r != 0) printf("poll %d %s\n", r, strerror(errno));
  return p;
}
static void* in_sleep(void* p) {
  struct timespec t = {1, 500000000};
  if (nanosleep(&t, 0) != 0) printf("nanosleep %s\n", strerror(errno));
  return p;
}
static void* in_futex(void* p) {
  struct timespec t; clock_gettime(CLOCK_REALTIME, &t); t.tv_sec += 2;
  if (sem_timedwait(&never, &t) != -1 || errno != ETIMEDOUT) printf("futex %s\n", strerror(errno));
  return p;
}
int main(void) {
  void* (*all[])(void*) = {in_epoll, in_poll, in_sleep, in_futex};
  pthread_t t[4]; char c;
  sem_init(&never, 0, 0);
  for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, all[i], 0);
  puts("ready"); fflush(stdout);
  int r = read(0, &c, 1);
  if (r != 1) printf("read %d %s\n", r, strerror(errno));
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  puts("done"); return 0;
})";

TEST(RemoteCall, InterruptedCallsGoOn) {
  Victim victim({compile_victim(kCalls)});
  EXPECT_EQ(victim.line(), "ready");
  usleep(100000);
  for (int i = 0; i < 40; i++) {
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    Result<RemoteCall> call = RemoteCall::borrow(stopped.value());
    ASSERT_TRUE(call.ok()) << call.error().message;
    Result<uint64_t> page = call.value().scratch();
    ASSERT_TRUE(page.ok()) << page.error().message;
    EXPECT_EQ(call.value().syscall(SYS_getpid, {}).value(), victim.pid());
    EXPECT_EQ(call.value().syscall(SYS_close, {999}).value(), -EBADF);
    usleep(3000);
  }
  victim.say("x");
  EXPECT_EQ(victim.line(), "done");
  EXPECT_EQ(victim.wait(), 0);
}

// Threads that would notice a changed register, mask, vector or result.
constexpr char kWitness[] = R"(
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile int over; static long wrong, alarms;
static void on(int s) { (void)s; alarms++; }
static double work(double x) { double s = 0; for (int i = 1; i < 2000; i++) s += sqrt(x + i) / i; return s; }
static void* compute(void* p) {
  double want = work(3);
  while (!over) if (work(3) != want) __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
  return p;
}
int main(void) {
  char c; pthread_t t; struct itimerval tick = {{0, 2000}, {0, 2000}};
  struct sigaction a; memset(&a, 0, sizeof a);
  a.sa_handler = on; a.sa_flags = SA_RESTART;
  sigset_t set; sigemptyset(&set); sigaddset(&set, SIGALRM);
  sigaction(SIGALRM, &a, 0); setitimer(ITIMER_REAL, &tick, 0);
  pthread_sigmask(SIG_BLOCK, &set, 0);
  pthread_create(&t, 0, compute, 0);
  pthread_sigmask(SIG_UNBLOCK, &set, 0);
  puts("ready"); fflush(stdout);
  if (read(0, &c, 1) != 1) wrong += 1000;
  over = 1; pthread_join(t, 0);
  sigset_t now; pthread_sigmask(SIG_BLOCK, 0, &now);
  printf("%ld %d %d\n", wrong, sigismember(&now, SIGALRM), alarms > 20);
  return 0;
})";

TEST(RemoteCall, ProgramSurvivesTheDeathOfDjtapInACall) {
  Victim victim({compile_victim(kWitness, "-O2 -pthread -fno-math-errno")});
  EXPECT_EQ(victim.line(), "ready");
  for (int round = 0; round < 40; round++) {
    int begun[2];
    ASSERT_EQ(pipe(begun), 0);
    pid_t tracer = fork();
    if (tracer == 0) {
      for (;;) {
        Result<Stopped> stopped = Stopped::stop(victim.pid());
        Result<RemoteCall> call = RemoteCall::borrow(stopped.value());
        static_cast<void>(!write(begun[1], "b", 1));
        for (int i = 0; i < 20 + round; i++) {
          static_cast<void>(call.value().syscall(SYS_getpid, {}));
        }
      }
    }
    char byte;
    EXPECT_EQ(read(begun[0], &byte, 1), 1);
    usleep(static_cast<useconds_t>(round * 37));
    kill(tracer, SIGKILL);
    waitpid(tracer, nullptr, 0);
    close(begun[0]);
    close(begun[1]);
  }
  usleep(100000);
  victim.say("x");
  EXPECT_EQ(victim.line(), "0 0 1");
  EXPECT_EQ(victim.wait(), 0);
}

constexpr char kSignals[] = R"(
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
static volatile int got, wrong;
static void on(int n, siginfo_t* i, void* c) { got++; if (i->si_value.sival_int != 77) wrong++; }
int main(void) {
  struct sigaction a; memset(&a, 0, sizeof a);
  a.sa_sigaction = on; a.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGRTMIN, &a, 0);
  signal(SIGTRAP, SIG_IGN);
  puts("ready"); fflush(stdout);
  char c;
  while (read(0, &c, 1) == 1) {}
  struct sigaction old; sigaction(SIGTRAP, 0, &old);
  printf("%d %d %d\n", got, wrong, old.sa_handler == SIG_IGN);
  return 0;
})";

// Whether this kernel has system calls of 32-bit programs.
bool has_32_bit_calls() {
  const pid_t child = fork();
  if (child == 0) {
    long number = 20;  // getpid
    __asm__ volatile("int $0x80" : "+a"(number) : : "memory");
    _exit(number > 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// As a process would that shares the memory, but is no thread that djtap stops.
TEST(RemoteCall, WhoeverChangesItsCodeHasNoOtherCallMade) {
  Victim victim({compile_victim(R"(
#include <stdio.h>
#include <unistd.h>
int main(void) { char c; puts("ready"); fflush(stdout); return read(0, &c, 1) == 1; }
)")});
  EXPECT_EQ(victim.line(), "ready");
  {
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    ASSERT_TRUE(stopped.ok());
    const uint64_t code = find_gadgets(stopped.value()).syscall_ret;
    ASSERT_NE(code, 0u);
    std::vector<std::vector<uint8_t>> others = {
        {0xb8, SYS_dup, 0, 0, 0, 0x0f, 0x05, 0xc3},   // mov $dup,%eax; syscall; ret
        {0x31, 0xff, 0x90, 0x90, 0x0f, 0x05, 0xc3}};  // xor %edi,%edi; ...: another argument
    if (has_32_bit_calls()) others.push_back({0xcd, 0x80, 0xc3});  // int $0x80; ret
    const auto descriptors = [&] {
      return std::distance(
          std::filesystem::directory_iterator("/proc/" + std::to_string(victim.pid()) + "/fd"), {});
    };
    const auto before = descriptors();
    for (const std::vector<uint8_t>& other : others) {
      Result<RemoteCall> call = RemoteCall::borrow(stopped.value());
      ASSERT_TRUE(call.ok()) << call.error().message;
      std::vector<uint8_t> own(other.size());
      ASSERT_TRUE(stopped.value().read(code, own).ok() && stopped.value().write(code, other).ok());
      EXPECT_FALSE(call.value().syscall(SYS_close, {1}).ok());
      EXPECT_EQ(descriptors(), before);
      ASSERT_TRUE(stopped.value().write(code, own).ok());
      EXPECT_EQ(call.value().syscall(SYS_getpid, {}).value(), victim.pid());
    }
  }
  victim.say("x");
  EXPECT_EQ(WEXITSTATUS(victim.wait()), 1);
}

TEST(RemoteCall, HeldSignalsArriveWithTheirInfo) {
  Victim victim({compile_victim(kSignals)});
  EXPECT_EQ(victim.line(), "ready");
  constexpr int kRounds = 200;
  for (int i = 0; i < kRounds; i++) {
    sigval value;
    value.sival_int = 77;
    ASSERT_EQ(sigqueue(victim.pid(), SIGRTMIN, value), 0);
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    if (i % 2 == 0) {
      Result<RemoteCall> call = RemoteCall::borrow(stopped.value());
      ASSERT_TRUE(call.ok()) << call.error().message;
      EXPECT_EQ(call.value().syscall(SYS_getpid, {}).value(), victim.pid());
    }
  }
  usleep(20000);
  victim.close_input();
  EXPECT_EQ(victim.line(), std::to_string(kRounds) + " 0 1");
}

TEST(Stopped, KeepsAJobControlStop) {
  Victim victim({"sleep", "100"});
  wait_for_state(victim.pid(), 'S');
  kill(victim.pid(), SIGSTOP);
  int status = 0;
  waitpid(victim.pid(), &status, WUNTRACED);
  {
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    Result<RemoteCall> call = RemoteCall::borrow(stopped.value());
    ASSERT_TRUE(call.ok()) << call.error().message;
    EXPECT_EQ(call.value().syscall(SYS_getpid, {}).value(), victim.pid());
  }
  wait_for_state(victim.pid(), 'T');
  kill(victim.pid(), SIGCONT);
  wait_for_state(victim.pid(), 'S');
}

constexpr char kTraps[] = R"(
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
static void on_trap(int number) { (void)number; }
extern char trap[];
static __attribute__((noinline, noclone)) void hit(void) { __asm__ volatile("trap: int3"); }
static void* busy(void* p) { for (;;) hit(); return p; }
int main(void) {
  pthread_t t[4];
  signal(SIGTRAP, on_trap);
  for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, busy, 0);
  printf("%lu\n", (unsigned long)trap); fflush(stdout);
  pthread_join(t[0], 0);
})";

// Threads that have their SIGTRAP to come.
std::vector<pid_t> trapped_threads(pid_t pid) {
  std::vector<pid_t> found;
  for (const pid_t tid : live_threads(pid)) {
    std::ifstream in("/proc/" + std::to_string(tid) + "/status");
    std::string word;
    while (in >> word && word != "SigPnd:") {
    }
    in >> word;
    if ((std::stoull(word, nullptr, 16) >> (SIGTRAP - 1) & 1) != 0) found.push_back(tid);
  }
  return found;
}

// A thread stops so where another one has taken the signal.
TEST(Stopped, TakesTheTrapsBackOfWhomASignalHasStopped) {
  Victim victim({compile_victim(kTraps)});
  const uint64_t trap = std::stoull(victim.line());
  std::vector<pid_t> trapped;
  while (trapped.empty()) {
    kill(victim.pid(), SIGSTOP);
    for (const pid_t tid : live_threads(victim.pid())) wait_for_state(tid, 'T');
    trapped = trapped_threads(victim.pid());
    if (trapped.empty()) kill(victim.pid(), SIGCONT);
  }
  {
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    const auto to_itself = [trap](uint64_t address) { return address == trap ? trap : 0; };
    const Status taken = stopped.value().take_back_traps(to_itself);
    ASSERT_TRUE(taken.ok()) << taken.error().message;
    EXPECT_TRUE(trapped_threads(victim.pid()).empty());
    for (const pid_t tid : trapped) EXPECT_EQ(stopped.value().registers(tid).value().rip, trap);
  }
  for (const pid_t tid : live_threads(victim.pid())) wait_for_state(tid, 'T');
  kill(victim.pid(), SIGCONT);
}

}  // namespace
}  // namespace dj
