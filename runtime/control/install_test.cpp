// The real way of a probe into real programs, with handlers written by hand instead of LLVM's: each counts its hits in
// the arena. The victims count their own calls.
#include "runtime/control/install.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <set>

#include "compiler/debuginfo/text.h"
#include "runtime/control/elf_file.h"
#include "runtime/control/exit_watch.h"
#include "runtime/control/hooks.h"
#include "runtime/control/launch.h"
#include "runtime/control/victim.h"
#include "runtime/shared/trap.h"

namespace dj {
namespace {

constexpr uint64_t kArenaBytes = 1 << 20;
constexpr uint64_t kCountersAt = 2048;  // behind the header
constexpr uint64_t kTrapOffset = 4096, kTrapBytes = 128 << 10;
constexpr uint64_t kCodeBytes = 8192;

// Little programs for the island. The arena lies below 2 GB, so its words have 32-bit addresses.
struct Code {
  std::vector<uint8_t> bytes;
  void put(std::initializer_list<uint8_t> more) { bytes.insert(bytes.end(), more); }
  void put32(uint64_t value) {
    for (int i = 0; i < 4; i++) {
      bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
    }
  }
};

// dj_handler_0: lock incq counter; ret.  The agent's entries: a hook that does nothing, and a SIGTRAP
// action that takes the detour's address from a word of the arena (one int3 site).
Result<Linked> link_by_hand(uint64_t arena, uint64_t base, std::span<uint8_t> working) {
  Code code;
  Linked linked;
  auto symbol = [&](const std::string& name) { linked.symbols[name] = base + code.bytes.size(); };
  for (uint64_t number : {0, 1}) {
    symbol("dj_handler_" + std::to_string(number));
    code.put({0xf0, 0x48, 0xff, 0x04, 0x25});  // lock incq counter
    code.put32(arena + kCountersAt + 8 * number);
    code.put({0xc3});                          // ret
  }
  symbol("dj_syscall_hook");
  code.put({0xf0, 0x48, 0xff, 0x04, 0x25});    // lock incq: hooked system calls
  code.put32(arena + kCountersAt + 64);
  code.put({0xf8, 0xc3});                      // clc; ret
  symbol("dj_trap_handler");
  code.put({0x48, 0x8b, 0x04, 0x25});          // mov word,%rax
  code.put32(arena + kCountersAt + 128);
  code.put({0x48, 0x89, 0x82, 168, 0, 0, 0});  // mov %rax,168(%rdx): rip of the ucontext
  code.put({0xc3});
  symbol("dj_restorer");
  code.put({0xb8, 15, 0, 0, 0, 0x0f, 0x05});   // mov $rt_sigreturn,%eax; syscall
  std::copy(code.bytes.begin(), code.bytes.end(), working.begin());
  linked.bytes_used = code.bytes.size();
  return linked;
}

// Trial: everything that main() would own.
struct Trial {
  Plan plan;
  Layout layout;
  std::vector<HandlerAbi> abis;
  ModuleCodes codes{[](const std::string& path) { return read_text(path); }};
  std::vector<MappedModule> modules;
  std::optional<SessionMemory> memory;
  std::optional<Installation> installation;

  void add_handler(Handler::Form form, std::vector<TargetPlan> targets = {}) {
    Handler handler;
    handler.form = form;
    handler.targets = std::move(targets);
    plan.handlers.push_back(handler);
    abis.emplace_back();
  }
  // Probes `name` of the module whose path contains `part`.
  void add_site(const std::string& part, const std::string& name, SiteKind kind, HandlerId handler, uint64_t skip = 0) {
    for (const MappedModule& module : modules) {
      if (module.path.find(part) == std::string::npos) {
        continue;
      }
      Result<ElfSymbol> symbol = find_symbol(module.open_path, name);
      ASSERT_TRUE(symbol.ok()) << symbol.error().message;
      ModuleId id = 0;
      while (id < plan.modules.size() && plan.modules[id].path != module.path) {
        id++;
      }
      if (id == plan.modules.size()) {
        plan.modules.push_back({module.path, ""});
      }
      Site site;
      site.module = id;
      site.kind = kind;
      site.address = symbol.value().address + skip;
      site.function_begin = symbol.value().address;
      site.function_end = symbol.value().address + symbol.value().size;
      site.function = site.symbol = name;
      site.handlers = {handler};
      plan.sites.push_back(site);
      return;
    }
    FAIL() << "no module " << part;
  }
  void install(Stopped& stopped, PatchOptions options = {}) {
    std::string why;
    options.use_rseq = can_trust_rseq(true, modules, codes, &why);
    Result<uint64_t> base = choose_arena_base(read_maps(stopped.pid()).value(), read_maps(0).value(),
                                              read_status(stopped.pid()).value().heap_begin, kArenaBytes);
    ASSERT_TRUE(base.ok()) << base.error().message;
    layout.base = base.value();
    layout.bytes = kArenaBytes;
    layout.trap_table = base.value() + kTrapOffset;
    layout.trap_bytes = kTrapBytes;
    Result<Installation> made = Installation::prepare(plan, layout, abis, modules, codes, options);
    ASSERT_TRUE(made.ok()) << made.error().message;
    installation.emplace(made.take());
    Result<SessionMemory> created =
        SessionMemory::create(stopped, layout.base, layout.bytes, installation->island_modules(),
                              kCodeBytes + installation->detour_bytes());
    ASSERT_TRUE(created.ok()) << created.error().message;
    memory.emplace(created.take());
    Status placed = installation->place(*memory, kCodeBytes, [&](uint64_t at, std::span<uint8_t> working) {
      return link_by_hand(layout.base, at, working);
    });
    ASSERT_TRUE(placed.ok()) << placed.error().message;
    const abi::TrapTable& table = *reinterpret_cast<abi::TrapTable*>(layout.trap_table);
    for (uint64_t i = 0; table.count != 0 && i <= table.mask; i++) {
      if (abi::trap_entry(&table, i)->address != 0) {
        reinterpret_cast<uint64_t*>(layout.base + kCountersAt)[16] = abi::trap_entry(&table, i)->detour;
      }
    }
    Status armed = installation->arm(stopped);
    ASSERT_TRUE(armed.ok()) << armed.error().message;
  }
  uint64_t count(size_t index = 0) const { return reinterpret_cast<std::atomic<uint64_t>*>(layout.base + kCountersAt)[index]; }
  std::string sites() const {
    std::string text;
    for (const InstalledSite& site : installation->sites()) {
      text += to_string(site) + "\n";
    }
    return text;
  }
};

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
void count_launched(const std::string& flags, PatchOptions options, SiteState expected) {
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
TEST(Install, CountsEveryCallOfANonPieProgram) { count_launched("-O1 -pthread -no-pie", {}, SiteState::Optimized); }
TEST(Install, CountsEveryCallOfAStaticProgram) { count_launched("-O1 -pthread -static", {}, SiteState::Optimized); }
TEST(Install, CountsEveryCallByInt3) { count_launched("-O1 -pthread", {.optimize = false}, SiteState::Int3); }

void attach_and_detach(PatchOptions options) {
  Victim victim({compile_victim(kWorkers)});
  EXPECT_EQ(victim.line(), "ready");
  std::vector<std::vector<uint8_t>> before = text_of(victim.pid());
  for (int round = 0; round < 10; round++) {
    Trial session;
    session.modules = mapped_modules(victim.pid()).value();
    session.add_handler(Handler::Form::Boundary);
    session.add_site("djtap-victim", "work", SiteKind::Entry, 0);
    {
      Result<Stopped> stopped = Stopped::stop(victim.pid());
      ASSERT_TRUE(stopped.ok()) << stopped.error().message;
      session.install(stopped.value(), options);
    }
    EXPECT_EQ(read_status(victim.pid()).value().tracer, 0);
    usleep(20000);
    EXPECT_GT(session.count(), 0u) << session.sites();
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    Status undone = session.installation->disarm(stopped.value());
    ASSERT_TRUE(undone.ok()) << undone.error().message;
  }
  EXPECT_TRUE(text_of(victim.pid()) == before);
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

// Stops threads again and again in the middle of what becomes a jump: the function is one long run of one-byte
// instructions, so a stopped thread nearly always stands inside.
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
    // The loop's second instruction: its region holds the rest of the loop but the back edge's target.
    Result<ElfSymbol> crowd = find_symbol(compile_victim(kInside, "-O1 -pthread"), "crowd");
    ASSERT_TRUE(crowd.ok());
    session.add_site("djtap-victim", "crowd", SiteKind::Statement, 0, 3);
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    ASSERT_TRUE(stopped.ok()) << stopped.error().message;
    session.install(stopped.value());
    patched += session.installation->sites()[0].state == SiteState::Optimized;
    stopped.value().release();
    usleep(2000);
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

// Every function of libc and ld.so in a program that makes threads, processes and signals; its output is its proof.
constexpr char kEverything[] = R"(
#define _GNU_SOURCE
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
extern char** environ;
static void* thread(void* p) {
  char* t = 0; long n = 0;
  for (int i = 0; i < 300; i++) { free(t); asprintf(&t, "%d %s %f", i, "text", i * 0.5); n += strlen(t); }
  free(t); *(long*)p = n; return p;
}
static int order(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
int main(void) {
  char c;
  puts("ready"); fflush(stdout);
  read(0, &c, 1);
  for (int round = 0; round < 20; round++) {
    pthread_t t[4]; long n[4];
    for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, thread, &n[i]);
    int all[500]; for (int i = 0; i < 500; i++) all[i] = (i * 7919) % 500;
    qsort(all, 500, sizeof *all, order);
    for (int i = 0; i < 500; i++) if (all[i] != i) puts("unsorted");
    if (system("exit 3") != 3 << 8) puts("system");
    pid_t pid; char* argv[] = {"true", 0}; int status;
    if (posix_spawnp(&pid, "true", 0, 0, argv, environ) != 0 || waitpid(pid, &status, 0) != pid || status) puts("spawn");
    pid = vfork(); if (pid == 0) _exit(5);
    waitpid(pid, &status, 0); if (WEXITSTATUS(status) != 5) puts("vfork");
    pid = fork(); if (pid == 0) { thread(n); _exit(6); }
    waitpid(pid, &status, 0); if (WEXITSTATUS(status) != 6) puts("fork");
    regex_t r; regcomp(&r, "a(b*)c", REG_EXTENDED); if (regexec(&r, "xxabbbc", 0, 0, 0)) puts("regex"); regfree(&r);
    for (int i = 0; i < 4; i++) { pthread_join(t[i], 0); if (n[i] != n[0]) puts("thread"); }
  }
  puts("done"); return 0;
})";

void probe_everything(PatchOptions options, bool returns) {
  Victim victim({compile_victim(kEverything)});
  EXPECT_EQ(victim.line(), "ready");
  Trial session;
  session.modules = mapped_modules(victim.pid()).value();
  session.add_handler(Handler::Form::Boundary);
  for (const MappedModule& module : session.modules) {
    bool probed = module.path.find("libc.so.6") != std::string::npos || module.path.find("ld-linux") != std::string::npos;
    if (!probed) {
      continue;
    }
    session.plan.modules.push_back({module.path, ""});
    Result<arch::ModuleText> text = read_text(module.open_path);
    for (const arch::FunctionRange& function : text.value().functions) {
      Site site;
      site.module = static_cast<ModuleId>(session.plan.modules.size() - 1);
      site.kind = returns ? SiteKind::Return : SiteKind::Entry;
      site.address = site.function_begin = function.begin;
      site.function_end = function.end;
      site.handlers = {0};
      session.plan.sites.push_back(site);
    }
  }
  // The agent written by hand knows one int3 only: sites that need one are left out.
  std::vector<Site> jumps;
  {
    Installation all = Installation::prepare(session.plan, session.layout, session.abis, session.modules, session.codes,
                                             options).take();
    std::set<SiteId> unfit;
    for (const InstalledSite& site : all.sites()) {
      if (!site.reason.empty()) {
        unfit.insert(site.site);
      }
    }
    for (SiteId id = 0; id < session.plan.sites.size(); id++) {
      if (unfit.count(id) == 0) {
        jumps.push_back(session.plan.sites[id]);
      }
    }
  }
  session.plan.sites = jumps;
  {
    Result<Stopped> stopped = Stopped::stop(victim.pid());
    session.install(stopped.value(), options);
  }
  std::map<std::string, size_t> states;
  for (const InstalledSite& site : session.installation->sites()) {
    states[std::string(site_state_name(site.state)) + " " + site.reason]++;
  }
  for (const auto& [state, count] : states) {
    std::printf("%6zu %s\n", count, state.c_str());
  }
  const InstallTimes& times = session.installation->times();
  std::printf("prepare %.1f ms, link %.1f, detours %.1f, move %.1f, patch %.1f\n", times.prepare_ns / 1e6,
              times.link_ns / 1e6, times.detours_ns / 1e6, times.move_ns / 1e6, times.patch_ns / 1e6);
  victim.say("g");
  EXPECT_EQ(victim.line(), "done");
  EXPECT_GT(session.count(), 100000u);
  EXPECT_EQ(victim.wait(), 0);
}

TEST(Install, AllFunctionsOfLibc) { probe_everything({}, false); }
TEST(Install, AllReturnsOfLibc) { probe_everything({}, true); }

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
