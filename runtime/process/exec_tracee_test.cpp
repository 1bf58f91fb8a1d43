// SPDX-License-Identifier: Apache-2.0
// Processes are followed through their execs by the test, and run on as if nothing had been.
#include "runtime/process/exec_tracee.h"

#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <algorithm>

#include "runtime/process/exec_programs.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/running_memory.h"
#include "runtime/process/victim.h"

namespace dj {
namespace {

using State = ExecTracee::State;

std::string executed(const std::string& flags = "-O1") { return compile_victim(kExecuted, flags); }

Victim caller(const std::string& how, const std::string& program, const std::string& more = "") {
  return Victim({compile_victim(kCaller), how, program, more});
}

// Until it is another than Running. Nothing but a hang makes the test fail.
State wait_for_news(ExecTracee& tracee) {
  for (const uint64_t end = now_ns() + 60'000'000'000; now_ns() < end; usleep(20)) {
    if (tracee.poll() != State::Running) break;
  }
  return tracee.state();
}

ExecTracee seized(pid_t tid) {
  Result<ExecTracee> tracee = ExecTracee::seize(tid);
  if (!tracee.ok()) {
    ADD_FAILURE() << tracee.error().message;
    abort();
  }
  return tracee.take();
}

ExecTracee at_exec(const Victim& victim) {
  ExecTracee tracee = seized(std::stoi(victim.line()));
  EXPECT_EQ(tracee.poll(), State::Running);
  victim.say("\n");
  EXPECT_EQ(wait_for_news(tracee), State::AtExec);
  return tracee;
}

pid_t tracer_of(pid_t pid) { return read_status(pid).value().tracer; }

bool has_libc(pid_t pid) {
  const Result<std::vector<MappedModule>> modules = mapped_modules(pid);
  return modules.ok() && std::ranges::any_of(modules.value(), [](const MappedModule& module) {
           return module.path.find("libc.so.6") != std::string::npos;
         });
}

// Whether the code in the memory of a process is that of the files.
bool has_own_code(pid_t pid) {
  const Result<std::vector<Mapping>> maps = read_maps(pid);
  if (!maps.ok()) return false;
  size_t compared = 0;
  for (const Mapping& mapping : maps.value()) {
    if (!mapping.exec || mapping.inode == 0) continue;
    std::vector<uint8_t> memory(mapping.end - mapping.begin), file(memory.size());
    const int fd = open(mapping.path.c_str(), O_RDONLY | O_CLOEXEC);
    const ssize_t got = pread(fd, file.data(), file.size(), static_cast<off_t>(mapping.offset));
    close(fd);
    if (got <= 0 || !RunningMemory(pid).read(mapping.begin, memory.data(), memory.size()))
      return false;
    if (!std::equal(file.begin(), file.begin() + got, memory.begin())) return false;
    compared++;
  }
  return compared > 0;
}

class ExecTraceeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    mark_ = "/tmp/djtap-exec-mark-" + std::to_string(getpid());
    unlink(mark_.c_str());
    setenv("MARK", mark_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("MARK");
    unlink(mark_.c_str());
    EXPECT_TRUE(ExecTracee::let_go_of_late());
  }
  bool has_constructed() const { return access(mark_.c_str(), F_OK) == 0; }
  void expect_start(const std::string& how, const std::string& flags) const;

  std::string mark_;
};

// Of a child of the test.
void ExecTraceeTest::expect_start(const std::string& how, const std::string& flags) const {
  unlink(mark_.c_str());
  Victim victim = caller(how, executed(flags));
  ExecTracee tracee = at_exec(victim);
  EXPECT_EQ(tracee.pid(), victim.pid());
  {
    Result<Launched> launched = tracee.reach_start();
    ASSERT_TRUE(launched.ok()) << launched.error().message;
    EXPECT_EQ(tracee.state(), State::LetGo);
    EXPECT_EQ(launched.value().pid, victim.pid());
    EXPECT_EQ(launched.value().stopped.threads(), std::vector<pid_t>{victim.pid()});
    EXPECT_EQ(has_libc(victim.pid()), flags.find("-static") == std::string::npos);
    EXPECT_FALSE(has_constructed());
    EXPECT_TRUE(has_own_code(victim.pid()));
    const auto rseq = launched.value().stopped.rseq(victim.pid());
    ASSERT_TRUE(rseq.ok());
    EXPECT_TRUE(rseq.value().has_value());
  }
  EXPECT_EQ(victim.line(), kSum);
  EXPECT_TRUE(has_constructed());
  EXPECT_EQ(WEXITSTATUS(victim.wait()), 7);
}

TEST_F(ExecTraceeTest, Dynamic) { expect_start("leader", "-O1"); }
TEST_F(ExecTraceeTest, NotPie) { expect_start("leader", "-O1 -no-pie"); }
TEST_F(ExecTraceeTest, Static) { expect_start("leader", "-O1 -static"); }
TEST_F(ExecTraceeTest, StaticPie) { expect_start("leader", "-O1 -static-pie"); }

// It has the number of the process afterwards, and its own is gone.
TEST_F(ExecTraceeTest, AThreadThatIsNotTheFirst) {
  expect_start("thread", "-O1");
  expect_start("thread", "-O1 -static");
}

TEST_F(ExecTraceeTest, AnotherLoader) {
  const std::string specs = "/usr/lib/x86_64-linux-musl/musl-gcc.specs";
  if (access(specs.c_str(), R_OK) != 0) GTEST_SKIP() << "no musl";
  Victim victim = caller("leader", executed("-O1 -specs " + specs));
  ExecTracee tracee = at_exec(victim);
  Result<Launched> launched = tracee.reach_start();
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  EXPECT_FALSE(has_constructed());
  launched.value().stopped.release();
  EXPECT_EQ(victim.line(), kSum);
}

TEST_F(ExecTraceeTest, AStaticProgramWithoutTlsStandsAtItsEntry) {
  const std::string program = compile_victim(R"(
void _start(void) { __asm__ volatile("mov $60,%eax; mov $9,%edi; syscall"); })",
                                             "-O1 -static -nostdlib -no-pie");
  Victim victim = caller("leader", program);
  ExecTracee tracee = at_exec(victim);
  Result<Launched> launched = tracee.reach_start();
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  EXPECT_EQ(launched.value().stopped.registers(victim.pid()).value().rip,
            auxiliary(victim.pid(), AT_ENTRY));
  launched.value().stopped.release();
  EXPECT_EQ(WEXITSTATUS(victim.wait()), 9);
}

// The object of the first thread must not take the stop of the other one for its own.
TEST_F(ExecTraceeTest, AnotherThreadExecutesAProgram) {
  Victim victim = caller("both", executed());
  ExecTracee other = seized(std::stoi(victim.line()));
  ExecTracee first = seized(victim.pid());
  EXPECT_EQ(first.poll(), State::Running);
  victim.say("\n");
  EXPECT_EQ(wait_for_news(first), State::Ended);
  EXPECT_EQ(wait_for_news(other), State::AtExec);
  EXPECT_EQ(other.pid(), victim.pid());
  EXPECT_TRUE(other.let_go());
  EXPECT_EQ(victim.line(), kSum);
  EXPECT_EQ(WEXITSTATUS(victim.wait()), 7);
}

// Its parent waits for it, in memory that both have.
TEST_F(ExecTraceeTest, AVforkedChild) {
  for (const char* flags : {"-O1", "-O1 -static"}) {
    Victim victim = caller("vfork", executed(flags));
    ExecTracee tracee = at_exec(victim);
    EXPECT_NE(tracee.pid(), victim.pid());
    Result<Launched> launched = tracee.reach_start();
    ASSERT_TRUE(launched.ok()) << launched.error().message;
    EXPECT_EQ(launched.value().pid, tracee.pid());
    launched.value().stopped.release();
    EXPECT_EQ(victim.line(), kSum);
    EXPECT_EQ(victim.line(), "exit 7 signal 0");
    EXPECT_EQ(victim.wait(), 0);
  }
}

// The child waits until a pipe with a name is opened for writing.
TEST_F(ExecTraceeTest, ASpawnedChild) {
  const std::string pipe = mark_ + "-pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  Victim victim = caller("spawn", executed(), pipe);
  EXPECT_EQ(victim.line(), "spawns");
  const std::string children = "/proc/" + std::to_string(victim.pid()) + "/task/" +
                               std::to_string(victim.pid()) + "/children";
  pid_t child = 0;
  while (!(std::ifstream(children) >> child)) usleep(100);
  ExecTracee tracee = seized(child);
  EXPECT_EQ(tracee.poll(), State::Running);
  close(open(pipe.c_str(), O_WRONLY));
  EXPECT_EQ(wait_for_news(tracee), State::AtExec);
  Result<Launched> launched = tracee.reach_start();
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  launched.value().stopped.release();
  EXPECT_EQ(victim.line(), kSum);
  EXPECT_EQ(victim.line(), "exit 7 signal 0");
  unlink(pipe.c_str());
}

// What is traced no more sees neither an EINTR nor a tracer.
TEST_F(ExecTraceeTest, AnExecThatFails) {
  Victim victim = caller("leader", "/no/such/program");
  ExecTracee tracee = seized(std::stoi(victim.line()));
  victim.say("\n");
  while (read_status(victim.pid()).value().state != 'S') usleep(1000);
  usleep(100'000);  // in epoll_wait
  EXPECT_EQ(tracee.poll(), State::Running);
  EXPECT_TRUE(tracee.let_go());
  EXPECT_EQ(tracee.state(), State::LetGo);
  EXPECT_EQ(tracer_of(victim.pid()), 0);
  EXPECT_EQ(victim.line(), "errno 2 events 0 signals 0");
  EXPECT_EQ(victim.wait(), 0);
}

TEST_F(ExecTraceeTest, AVforkedChildWhoseExecFails) {
  Victim victim = caller("vfork", "/no/such/program");
  ExecTracee tracee = seized(std::stoi(victim.line()));
  victim.say("\n");
  EXPECT_EQ(wait_for_news(tracee), State::Ended);
  EXPECT_EQ(victim.line(), "exit 127 signal 0");
}

TEST_F(ExecTraceeTest, KilledBefore) {
  Victim victim = caller("leader", executed());
  ExecTracee tracee = seized(std::stoi(victim.line()));
  kill(victim.pid(), SIGKILL);
  EXPECT_EQ(wait_for_news(tracee), State::Ended);
  EXPECT_EQ(WTERMSIG(victim.wait()), SIGKILL);  // the test is its parent
  Victim parent = caller("vfork", executed());
  ExecTracee child = seized(std::stoi(parent.line()));
  kill(child.pid(), SIGKILL);
  EXPECT_EQ(wait_for_news(child), State::Ended);
  EXPECT_EQ(parent.line(), "exit 0 signal 9");
  Victim threads = caller("thread", executed());
  ExecTracee thread = seized(std::stoi(threads.line()));
  kill(threads.pid(), SIGKILL);
  EXPECT_EQ(wait_for_news(thread), State::Ended);
  EXPECT_EQ(WTERMSIG(threads.wait()), SIGKILL);
}

TEST_F(ExecTraceeTest, KilledInTheStop) {
  for (const char* how : {"leader", "thread"}) {
    Victim victim = caller(how, executed());
    ExecTracee tracee = at_exec(victim);
    kill(victim.pid(), SIGKILL);
    EXPECT_EQ(tracee.reach_start().error().kind, Fail::TargetGone);
    EXPECT_EQ(WTERMSIG(victim.wait()), SIGKILL);
  }
  Victim parent = caller("vfork", executed());
  ExecTracee child = at_exec(parent);
  kill(child.pid(), SIGKILL);
  while (child.poll() != State::Ended) usleep(20);
  EXPECT_EQ(parent.line(), "exit 0 signal 9");
  Victim other = caller("vfork", executed());
  {
    ExecTracee tracee = at_exec(other);
    Result<Launched> launched = tracee.reach_start();
    ASSERT_TRUE(launched.ok());
    kill(tracee.pid(), SIGKILL);
  }
  EXPECT_EQ(other.line(), "exit 0 signal 9");
}

TEST_F(ExecTraceeTest, StoppedByJobControlBefore) {
  Victim victim = caller("leader", executed());
  ExecTracee tracee = seized(std::stoi(victim.line()));
  kill(victim.pid(), SIGSTOP);
  for (int i = 0; i < 20; i++, usleep(1000)) EXPECT_EQ(tracee.poll(), State::Running);
  victim.say("\n");
  for (int i = 0; i < 100; i++, usleep(1000)) EXPECT_EQ(tracee.poll(), State::Running);
  kill(victim.pid(), SIGCONT);
  EXPECT_EQ(wait_for_news(tracee), State::AtExec);
  EXPECT_TRUE(tracee.let_go());
  EXPECT_EQ(victim.line(), kSum);
}

// A stop outlasts what djtap does meanwhile.
TEST_F(ExecTraceeTest, LetGoWhileStoppedByJobControl) {
  Victim victim = caller("leader", executed());
  {
    ExecTracee tracee = seized(std::stoi(victim.line()));
    kill(victim.pid(), SIGSTOP);
    for (int i = 0; i < 20; i++, usleep(1000)) EXPECT_EQ(tracee.poll(), State::Running);
  }
  victim.say("\n");
  while (read_status(victim.pid()).value().state != 'T') usleep(1000);
  EXPECT_EQ(tracer_of(victim.pid()), 0);
  kill(victim.pid(), SIGCONT);
  EXPECT_EQ(victim.line(), kSum);
}

TEST_F(ExecTraceeTest, StoppedByJobControlWhileItIsLoaded) {
  Victim victim = caller("leader", executed());
  ExecTracee tracee = at_exec(victim);
  kill(victim.pid(), SIGSTOP);
  Result<Launched> launched = tracee.reach_start();
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  launched.value().stopped.release();
  while (read_status(victim.pid()).value().state != 'T') usleep(1000);
  EXPECT_FALSE(has_constructed());
  kill(victim.pid(), SIGCONT);
  EXPECT_EQ(victim.line(), kSum);
}

TEST_F(ExecTraceeTest, SignalsMeanwhileAreDelivered) {
  Victim victim = caller("leader", "/no/such/program");
  ExecTracee tracee = seized(std::stoi(victim.line()));
  for (int i = 0; i < 5; i++) {
    kill(victim.pid(), SIGUSR1);
    for (int round = 0; round < 20; round++, usleep(500)) tracee.poll();
  }
  kill(victim.pid(), SIGUSR1);  // on its way when the thread is let go of
  EXPECT_TRUE(tracee.let_go());
  victim.say("\n");
  EXPECT_EQ(victim.line(), "errno 2 events 0 signals 6");
}

TEST_F(ExecTraceeTest, PendingSignalsArePendingBehindTheExec) {
  sigset_t set, old;
  sigemptyset(&set);
  for (const int signal : {SIGUSR2, SIGRTMIN + 1}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, &old);
  Victim victim = caller("leader", executed());
  sigprocmask(SIG_SETMASK, &old, nullptr);
  ExecTracee tracee = at_exec(victim);
  kill(victim.pid(), SIGUSR2);
  Result<Launched> launched = tracee.reach_start();
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  kill(victim.pid(), SIGRTMIN + 1);
  launched.value().stopped.release();
  EXPECT_EQ(victim.line(), "sum 562641396 tracer 0 usr2 1 rt 1");
}

// The signals by which a loader stops cannot come.
TEST_F(ExecTraceeTest, ALoaderThatBlocksSignals) {
  sigset_t all, old;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &old);
  Victim victim = caller("leader", executed());
  sigprocmask(SIG_SETMASK, &old, nullptr);
  ExecTracee tracee = at_exec(victim);
  Result<Launched> launched = tracee.reach_start();
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  EXPECT_TRUE(has_libc(victim.pid()));
  EXPECT_FALSE(has_constructed());
  launched.value().stopped.release();
  EXPECT_EQ(victim.line(), kSum);
}

TEST_F(ExecTraceeTest, IsLetGoInEachState) {
  for (int stage = 0; stage < 4; stage++) {
    for (const char* how : {"leader", "thread"}) {
      Victim victim = caller(how, executed());
      {
        ExecTracee tracee = seized(std::stoi(victim.line()));
        if (stage >= 1) victim.say("\n");
        if (stage >= 2) {
          EXPECT_EQ(wait_for_news(tracee), State::AtExec);
        }
        if (stage >= 3) {
          EXPECT_TRUE(tracee.reach_start().ok());
        }
      }
      if (stage == 0) victim.say("\n");
      EXPECT_EQ(victim.line(), kSum) << stage;
      EXPECT_EQ(WEXITSTATUS(victim.wait()), 7);
    }
  }
}

// Its loader opens a pipe that nothing writes to.
TEST_F(ExecTraceeTest, ALoaderThatHangs) {
  const std::string pipe = mark_ + "-pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string shell = "exec 8</dev/null; echo $$; read x; LD_PRELOAD=" + pipe + " exec " +
                            executed() + " 2>/dev/null";
  Victim victim({"sh", "-c", shell});
  ExecTracee tracee = at_exec(victim);
  const Result<Launched> launched = tracee.reach_start(300'000'000);
  ASSERT_FALSE(launched.ok());
  EXPECT_EQ(tracee.state(), State::LetGo);
  EXPECT_EQ(tracer_of(victim.pid()), 0);
  EXPECT_TRUE(has_own_code(victim.pid()));
  close(open(pipe.c_str(), O_WRONLY));
  EXPECT_EQ(victim.line(), kSum);
  EXPECT_EQ(WEXITSTATUS(victim.wait()), 7);
  unlink(pipe.c_str());
}

// At any moment.
TEST_F(ExecTraceeTest, TheProgramOutlivesItsTracer) {
  for (int round = 0; round < 40; round++) {
    Victim victim = caller(round % 2 == 0 ? "leader" : "thread",
                           executed(round % 4 < 2 ? "-O1" : "-O1 -static"));
    const pid_t tid = std::stoi(victim.line());
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t tracer = fork();
    if (tracer == 0) {
      Result<ExecTracee> tracee = ExecTracee::seize(tid);
      if (!tracee.ok() || write(ready[1], "r", 1) != 1) _exit(1);
      if (wait_for_news(tracee.value()) != State::AtExec) _exit(1);
      Result<Launched> launched = tracee.value().reach_start();
      usleep(1'000'000);
    }
    char byte;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    victim.say("\n");
    usleep(static_cast<useconds_t>(round * 60));
    kill(tracer, SIGKILL);
    waitpid(tracer, nullptr, 0);
    EXPECT_EQ(victim.line(), kSum) << round;
    EXPECT_EQ(WEXITSTATUS(victim.wait()), 7);
    close(ready[0]);
    close(ready[1]);
  }
}

TEST_F(ExecTraceeTest, NamesTheFailure) {
  EXPECT_EQ(ExecTracee::seize(0x3fffffff).error().kind, Fail::TargetGone);
  const pid_t zombie = fork();
  if (zombie == 0) _exit(0);
  while (read_status(zombie).value().state != 'Z') usleep(1000);
  EXPECT_EQ(ExecTracee::seize(zombie).error().kind, Fail::TargetGone);
  waitpid(zombie, nullptr, 0);
  Victim victim = caller("leader", executed());
  ExecTracee tracee = seized(std::stoi(victim.line()));
  EXPECT_EQ(ExecTracee::seize(victim.pid()).error().kind, Fail::Permission);
  EXPECT_FALSE(tracee.reach_start().ok());  // too early
  EXPECT_EQ(tracee.state(), State::Running);
}

}  // namespace
}  // namespace dj
