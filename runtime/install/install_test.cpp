// SPDX-License-Identifier: Apache-2.0
// The real way of a probe into real programs. The victims count their own calls.
#include <sys/wait.h>

#include "runtime/clean/leftovers.h"
#include "runtime/install/trial.h"
#include "runtime/process/process.h"

namespace dj {
namespace {

// All executable bytes of the modules of a process.
std::vector<std::vector<uint8_t>> text_of(pid_t pid) {
  Result<Stopped> stopped = Stopped::stop(pid);
  std::vector<std::vector<uint8_t>> all;
  std::vector<MappedModule> modules = mapped_modules(pid).take();
  for (const MappedModule& module : modules) {
    for (AddressRange range : module.text) {
      all.emplace_back(range.end - range.begin);
      static_cast<void>(stopped.value().read(range.begin, all.back()).ok());
    }
  }
  return all;
}

// Four threads call work(); at the end each prints... the sum of calls is printed.
constexpr char kWorkers[] = R"(
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile int stop; static long calls[4];
__attribute__((noinline)) long work(long a, long b) { __asm__ volatile("" ::: "memory"); return a * 3 + b; }
static void* run(void* p) {
  long* mine = p; long sum = 0;
  while (!stop) { sum += work(*mine, sum); ++*mine; }
  return (void*)sum;
}
int main(void) {
  pthread_t t[4]; char c;
  for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, run, &calls[i]);
  puts("ready"); fflush(stdout);
  while (read(0, &c, 1) == 1) {
    if (c == 'q') break;
  }
  stop = 1;
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
  printf("%ld\n", calls[0] + calls[1] + calls[2] + calls[3]);
  return 0;
})";

// Launches, probes before the first call, and compares with the program's own count.
void count_launched(const std::string& flags, const PatchOptions& options, SiteState expected) {
  int ends[2], input[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(pipe(input), 0);
  int saved_out = dup(1), saved_in = dup(0);
  dup2(ends[1], 1);
  dup2(input[0], 0);
  Result<Launched> launched = launch({compile_victim(kWorkers, flags)});
  dup2(saved_out, 1);
  dup2(saved_in, 0);
  for (int fd : {saved_out, saved_in, ends[1], input[0]}) {
    close(fd);
  }
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  pid_t pid = launched.value().pid;
  Trial session;
  session.modules = mapped_modules(pid).value();
  session.add_handler(Handler::Form::Boundary);
  session.add_site("djtap-victim", "work", SiteKind::Entry, 0);
  session.install(launched.value().stopped, options);
  launched.value().stopped.release();
  EXPECT_EQ(session.installation->sites()[0].state, expected) << session.sites();
  EXPECT_EQ(read_status(pid).value().tracer, 0);
  FILE* out = fdopen(ends[0], "r");
  char line[64] = "";
  ASSERT_NE(fgets(line, sizeof line, out), nullptr);
  usleep(100000);
  EXPECT_EQ(write(input[1], "q", 1), 1);
  ASSERT_NE(fgets(line, sizeof line, out), nullptr);
  EXPECT_EQ(*ExitWatch::create(pid, true).value().wait_status(10000), 0);
  EXPECT_GT(session.count(), 1000u);
  std::printf("prepare %.1f ms, patch %.1f ms\n", session.installation->times().prepare_ns / 1e6,
              session.installation->times().patch_ns / 1e6);
  EXPECT_EQ(session.count(), strtoull(line, nullptr, 10)) << session.sites();
  fclose(out);
  close(input[1]);
}

TEST(Install, CountsEveryCallByJump) { count_launched("-O1 -pthread", {}, SiteState::Optimized); }
TEST(Install, CountsEveryCallOfANonPieProgram) {
  count_launched("-O1 -pthread -no-pie", {}, SiteState::Optimized);
}
TEST(Install, CountsEveryCallOfAStaticProgram) {
  count_launched("-O1 -pthread -static", {}, SiteState::Optimized);
}
TEST(Install, CountsEveryCallByInt3) {
  count_launched("-O1 -pthread", {.optimize = false}, SiteState::Int3);
}

// Armed, hit, disarmed.
void attach_once(pid_t pid, const PatchOptions& options, std::shared_ptr<ModuleCodes> codes) {
  Trial session;
  session.codes = std::move(codes);
  session.modules = mapped_modules(pid).value();
  session.add_handler(Handler::Form::Boundary);
  session.add_site("djtap-victim", "work", SiteKind::Entry, 0);
  {
    Result<Stopped> stopped = Stopped::stop(pid);
    ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    session.install(stopped.value(), options);
  }
  EXPECT_EQ(read_status(pid).value().tracer, 0);
  while (session.count() == 0) usleep(100);
  Result<Stopped> stopped = Stopped::stop(pid);
  ASSERT_TRUE(stopped.ok()) << stopped.error().message;
  Status undone = session.installation->disarm(stopped.value());
  ASSERT_TRUE(undone.ok()) << undone.error().message;
  session.installation->finish(pid);
  stopped.value().release();
  const Result<bool> gone = clear_leftovers(pid);
  ASSERT_TRUE(gone.ok()) << gone.error().message;
}

// A process of its own, as each djtap is one: what sessions leave is told apart by it.
void attach_from_a_child(pid_t pid, const PatchOptions& options,
                         std::shared_ptr<ModuleCodes> codes) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    attach_once(pid, options, std::move(codes));
    _exit(testing::Test::HasFailure());
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
}

// Under four threads that are in the function all the time. The long form is a torture case of
// other libraries: 20,000 rounds under two threads.
void attach_and_detach(const PatchOptions& options) {
  const int rounds = getenv("DJTAP_STRESS") != nullptr ? 20000 : 20;
  Victim victim({compile_victim(kWorkers)});
  EXPECT_EQ(victim.line(), "ready");
  std::vector<std::vector<uint8_t>> before = text_of(victim.pid());
  const size_t mappings = read_maps(victim.pid()).value().size();
  const Trial first = {};
  attach_once(victim.pid(), options, first.codes);  // analyses for all
  for (int round = 1; round < rounds && !testing::Test::HasFailure(); round++) {
    attach_from_a_child(victim.pid(), options, first.codes);
  }
  EXPECT_TRUE(text_of(victim.pid()) == before);
  // A thread that has not run since the last round may stand in what that round mapped.
  const auto count = [&] { return read_maps(victim.pid()).value().size(); };
  for (int i = 0; i < 6000 && count() > mappings + 4; ++i) {
    usleep(10'000);
    EXPECT_TRUE(clear_leftovers(victim.pid()).ok());
  }
  EXPECT_LE(count(), mappings + 4);
  victim.say("q");
  EXPECT_GT(std::stol(victim.line()), 1000);
  EXPECT_EQ(victim.wait(), 0);
}

TEST(Install, DetachLeavesTheTextAsItWas) { attach_and_detach({}); }
TEST(Install, DetachLeavesTheTextAsItWasWithInt3) { attach_and_detach({.optimize = false}); }

// An exit handler and an entry handler of one function; early returns.
constexpr char kExits[] = R"(
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int classify(int n) {
  if (n % 7 == 0) return 70 + n;
  if (n % 5 == 0) { __asm__ volatile("nop;nop;nop;nop;nop"); return n; }
  for (int i = 0; i < n % 3; i++) __asm__ volatile("nop");
  return -n;
}
int main(void) {
  char c; long sum = 0; long calls = 0;
  puts("ready"); fflush(stdout);
  while (read(0, &c, 1) == 1 && c != 'q') {
    sum = calls = 0;
    for (int i = 0; i < 10000; i++) { sum += classify(i); calls++; }
    printf("%ld\n", sum); fflush(stdout);
  }
  return 0;
})";

TEST(Install, ReturnsAreCountedAtAllExits) {
  Victim victim({compile_victim(kExits, "-O2")});
  EXPECT_EQ(victim.line(), "ready");
  victim.say("g");
  std::string plain = victim.line();
  Trial session;
  session.modules = mapped_modules(victim.pid()).value();
  session.add_handler(Handler::Form::Boundary);
  session.add_handler(Handler::Form::Boundary, {LocExpr{{{LocStep::PushReg, 0}}}});
  session.add_site("djtap-victim", "classify", SiteKind::Entry, 0);
  session.add_site("djtap-victim", "classify", SiteKind::Return, 1);
  {
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    ASSERT_TRUE(stopped.ok());
    session.install(stopped.value());
  }
  victim.say("g");
  EXPECT_EQ(victim.line(), plain);
  EXPECT_EQ(session.count(0), 10000u) << session.sites();
  EXPECT_EQ(session.count(1), 10000u) << session.sites();
}

// Stops threads again and again in the middle of what becomes a jump: the function is one long run
// of one-byte instructions, so a stopped thread nearly always stands inside.
constexpr char kInside[] = R"(
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>
static volatile int stop; static volatile long calls, signals;
__attribute__((noinline, aligned(64))) long crowd(long n) {
  __asm__ volatile("1: inc %%rax; dec %%rax; nop; nop; dec %0; jnz 1b" : "+r"(n) :: "rax", "cc");
  return n;
}
static void on(int s) { signals++; for (volatile int i = 0; i < 2000; i++) {} (void)s; }
static void* run(void* p) { while (!stop) { if (crowd(1000) != 0) puts("wrong"); calls++; } return p; }
int main(void) {
  pthread_t t[3]; char c;
  struct itimerval every = {{0, 300}, {0, 300}};
  signal(SIGALRM, on);
  for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, run, 0);
  setitimer(ITIMER_REAL, &every, 0);
  puts("ready"); fflush(stdout);
  while (read(0, &c, 1) != 1 || c != 'q') {}
  stop = 1;
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  puts(calls > 100 && signals > 10 ? "fine" : "too few"); return 0;
})";

TEST(Install, ThreadsInsideAreMoved) {
  Victim victim({compile_victim(kInside, "-O1 -pthread")});
  EXPECT_EQ(victim.line(), "ready");
  size_t patched = 0;
  for (int round = 0; round < 60; round++) {
    Trial session;
    session.modules = mapped_modules(victim.pid()).value();
    session.add_handler(Handler::Form::Middle);
    // The loop's second instruction: its region holds the rest of the loop but the back edge's
    // target.
    Result<ElfSymbol> crowd = find_symbol(compile_victim(kInside, "-O1 -pthread"), "crowd");
    ASSERT_TRUE(crowd.ok());
    session.add_site("djtap-victim", "crowd", SiteKind::Statement, 0, 3);
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    session.install(stopped.value());
    patched += session.installation->sites()[0].state == SiteState::Optimized;
    stopped.value().release();
    for (int i = 0; i < 5000 && session.count() == 0; i++) usleep(2000);  // machines can be busy
    EXPECT_GT(session.count(), 0u) << session.sites();
    Result<Stopped> again = Stopped::stop(victim.pid());
    ASSERT_TRUE(again.ok()) << again.error().message;
    ASSERT_TRUE(session.installation->disarm(again.value()).ok());
  }
  EXPECT_EQ(patched, 60u);
  victim.say("q");
  EXPECT_EQ(victim.line(), "fine");
  EXPECT_EQ(victim.wait(), 0);
}

TEST(Install, ForeignBytesAreLeftAlone) {
  Victim victim({compile_victim(kWorkers)});
  EXPECT_EQ(victim.line(), "ready");
  Trial session;
  session.modules = mapped_modules(victim.pid()).value();
  session.add_handler(Handler::Form::Boundary);
  session.add_site("djtap-victim", "main", SiteKind::Entry, 0);
  Result<Stopped> stopped = Stopped::stop(victim.pid());
  ASSERT_TRUE(stopped.ok());
  uint64_t main_address = 0;
  for (const MappedModule& module : session.modules) {
    if (module.path.find("djtap-victim") != std::string::npos) {
      main_address = module.bias + session.plan.sites[0].address;
    }
  }
  const uint8_t foreign[1] = {0xcc};
  ASSERT_TRUE(stopped.value().write(main_address, foreign).ok());
  session.install(stopped.value());
  EXPECT_EQ(session.installation->sites()[0].state, SiteState::Skipped);
  EXPECT_EQ(session.installation->sites()[0].reason, "text differs from the file");
  uint8_t now = 0;
  ASSERT_TRUE(stopped.value().read(main_address, std::span(&now, 1)).ok());
  EXPECT_EQ(now, 0xcc);
}

// One of two exits has been changed by somebody: returns would be missed there.
TEST(Install, AFunctionWithAForeignExitHasNoReturnProbe) {
  constexpr char kTwoExits[] = R"(
#include <stdio.h>
__asm__(".globl two_exits\n.type two_exits, @function\ntwo_exits:\n"
        "test %rdi, %rdi\nje 1f\nmov $1, %eax\nret\n.skip 8, 0x90\n"
        "1: mov $2, %eax\nret\n.skip 8, 0x90\n.size two_exits, . - two_exits\n");
int main(void) { puts("ready"); fflush(stdout); getchar(); return 0; })";
  constexpr uint64_t kBehindRet = 11;  // of the first exit
  for (const bool changed : {false, true}) {
    Victim victim({compile_victim(kTwoExits)});
    EXPECT_EQ(victim.line(), "ready");
    Trial session;
    session.modules = mapped_modules(victim.pid()).value();
    session.add_handler(Handler::Form::Boundary);
    session.add_site("djtap-victim", "two_exits", SiteKind::Return, 0);
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    ASSERT_TRUE(stopped.ok());
    for (const MappedModule& module : session.modules) {
      const uint8_t foreign[1] = {0xf4};
      const uint64_t address = session.plan.sites[0].address + module.bias + kBehindRet;
      if (changed && module.is_executable_file) {
        ASSERT_TRUE(stopped.value().write(address, foreign).ok());
      }
    }
    session.install(stopped.value());
    const std::vector<InstalledSite> exits = session.installation->sites();
    ASSERT_EQ(exits.size(), 2u) << session.sites();
    for (const InstalledSite& exit : exits)
      EXPECT_EQ(exit.state, changed ? SiteState::Skipped : SiteState::Optimized) << session.sites();
  }
}

// djtap killed while probes are armed: the program goes on to its end.
TEST(Install, ProgramSurvivesTheDeathOfDjtap) {
  Victim victim({compile_victim(kWorkers)});
  EXPECT_EQ(victim.line(), "ready");
  pid_t tracer = fork();
  if (tracer == 0) {
    for (;;) {
      Trial session;
      session.modules = mapped_modules(victim.pid()).value();
      session.add_handler(Handler::Form::Boundary);
      session.add_site("djtap-victim", "work", SiteKind::Entry, 0);
      Result<Stopped> stopped = Stopped::stop(victim.pid());
      session.install(stopped.value());
      stopped.value().release();
      usleep(10000000);
    }
  }
  usleep(150000);
  kill(tracer, SIGKILL);
  waitpid(tracer, nullptr, 0);
  usleep(20000);
  EXPECT_EQ(read_status(victim.pid()).value().tracer, 0);
  victim.say("q");
  EXPECT_GT(std::stol(victim.line()), 1000);
  EXPECT_EQ(victim.wait(), 0);
}

}  // namespace
}  // namespace dj
