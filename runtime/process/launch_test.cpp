// SPDX-License-Identifier: Apache-2.0
// Programs started under djtap stand before their constructors and then run as if nothing had been.
#include "runtime/process/launch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "runtime/process/exit_watch.h"
#include "runtime/process/process.h"
#include "runtime/process/victim.h"

namespace dj {
namespace {

constexpr char kConstructor[] = R"(
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void early(void) { FILE* f = fopen(getenv("MARK"), "w"); fclose(f); }
static __thread int x = 3;
int main(void) { return x; })";

void expect_before_constructor(const std::string& flags) {
  std::string mark = "/tmp/djtap-mark-" + std::to_string(getpid());
  unlink(mark.c_str());
  setenv("MARK", mark.c_str(), 1);
  Result<Launched> launched = launch({compile_victim(kConstructor, flags)});
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  EXPECT_NE(access(mark.c_str(), F_OK), 0);
  const bool is_static = flags.find("-static") != std::string::npos;
  ASSERT_EQ(launched.value().scout.has_value(), is_static);
  Result<std::optional<RseqArea>> rseq = launched.value().stopped.rseq(launched.value().pid);
  ASSERT_TRUE(rseq.ok()) << rseq.error().message;
  if (is_static) {
    EXPECT_FALSE(rseq.value().has_value());
    rseq = launched.value().scout->rseq();
  }
  ASSERT_TRUE(rseq.value().has_value());
  EXPECT_EQ(rseq.value()->signature, 0x53053053u);
  Result<std::vector<MappedModule>> modules = mapped_modules(launched.value().pid);
  ASSERT_TRUE(modules.ok());
  bool has_libc = false;
  for (const MappedModule& module : modules.value()) {
    has_libc = has_libc || module.path.find("libc.so.6") != std::string::npos;
  }
  EXPECT_EQ(has_libc, !is_static);
  Result<ExitWatch> watch = ExitWatch::create(launched.value().pid, true);
  launched.value().stopped.release();
  std::optional<int> status = watch.value().wait_status(5000);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(WEXITSTATUS(*status), 3);
  EXPECT_EQ(access(mark.c_str(), F_OK), 0);
  unlink(mark.c_str());
}

TEST(Launch, Dynamic) { expect_before_constructor("-O1"); }
TEST(Launch, NotPie) { expect_before_constructor("-O1 -no-pie"); }
TEST(Launch, Static) { expect_before_constructor("-O1 -static"); }
TEST(Launch, StaticPie) { expect_before_constructor("-O1 -static-pie"); }

TEST(Launch, AForkedChildExecutesNothingUntilItIsAsked) {
  const std::string mark = "/tmp/djtap-mark-" + std::to_string(getpid());
  unlink(mark.c_str());
  pid_t pid = 0;
  {
    Result<ForkedChild> child = ForkedChild::fork({"touch", mark});
    ASSERT_TRUE(child.ok()) << child.error().message;
    pid = child.value().pid();
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_NE(kill(pid, 0), 0);  // ended, and reaped
  EXPECT_NE(access(mark.c_str(), F_OK), 0);
  Result<ForkedChild> asked = ForkedChild::fork({"touch", mark});
  ASSERT_TRUE(asked.ok());
  asked.value().go();
  EXPECT_EQ(asked.value().exec_errno(), 0);
  EXPECT_EQ(waitpid(asked.value().release(), nullptr, 0) > 0, true);
  EXPECT_EQ(access(mark.c_str(), F_OK), 0);
  unlink(mark.c_str());
}

TEST(Launch, StaticWithoutTlsStandsAtItsEntry) {
  std::string program = compile_victim(R"(
void _start(void) { __asm__ volatile("mov $60,%eax; mov $9,%edi; syscall"); })",
                                       "-O1 -static -nostdlib -no-pie");
  Result<Launched> launched = launch({program});
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  EXPECT_FALSE(launched.value().stopped.rseq(launched.value().pid).value().has_value());
  launched.value().stopped.release();
  EXPECT_EQ(WEXITSTATUS(*ExitWatch::create(launched.value().pid, true).value().wait_status(5000)),
            9);
}

// It has a segment for TLS and never sets fs; the scout does not make its calls a second time.
TEST(Launch, StaticThatWritesAtOnceWritesOnce) {
  std::string program = compile_victim(R"(
__thread int own = 1;
void _start(void) {
  __asm__ volatile("mov $1,%eax; mov $2,%edi; lea text(%rip),%rsi; mov $5,%edx; syscall;"
                   "mov $60,%eax; mov $7,%edi; syscall; text: .ascii \"once\\n\"");
})",
                                       "-O1 -static -nostdlib -no-pie");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int own_err = dup(2);
  dup2(ends[1], 2);
  Result<Launched> launched = launch({program});
  dup2(own_err, 2);
  close(own_err);
  close(ends[1]);
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  ASSERT_TRUE(launched.value().scout.has_value());
  EXPECT_FALSE(launched.value().scout->rseq().has_value());
  const pid_t scout = launched.value().scout->pid();
  EXPECT_EQ(kill(scout, 0), 0);
  launched.value().scout.reset();
  EXPECT_NE(kill(scout, 0), 0);  // ended, and reaped
  launched.value().stopped.release();
  EXPECT_EQ(WEXITSTATUS(*ExitWatch::create(launched.value().pid, true).value().wait_status(5000)),
            7);
  char text[64] = {};
  EXPECT_EQ(read(ends[0], text, sizeof text), 5);
  EXPECT_STREQ(text, "once\n");
  close(ends[0]);
}

TEST(Launch, NamesTheFailure) {
  EXPECT_EQ(launch({"/no/such/program"}).error().kind, Fail::NotFound);
  setenv("PATH", "/usr/bin:/bin", 1);  // a folder that may not be searched would be another answer
  EXPECT_EQ(launch({"no-such-program-anywhere"}).error().kind, Fail::NotFound);
  EXPECT_EQ(launch({"/etc"}).error().kind, Fail::Permission);
  EXPECT_EQ(launch({"/etc/passwd"}).error().kind, Fail::Permission);
}

void expect_loader_as_before(const LaunchOptions& options) {
  Result<Launched> launched = launch({"cat", "/dev/null"}, options);
  ASSERT_TRUE(launched.ok()) << launched.error().message;
  Result<std::vector<MappedModule>> modules = mapped_modules(launched.value().pid);
  for (const MappedModule& module : modules.value()) {
    if (module.is_vdso) {
      continue;
    }
    for (AddressRange range : module.text) {
      std::vector<uint8_t> memory(range.end - range.begin), file(memory.size());
      ASSERT_TRUE(launched.value().stopped.read(range.begin, memory).ok());
      Result<std::vector<Mapping>> maps = read_maps(launched.value().pid);
      for (const Mapping& m : maps.value()) {
        if (m.begin == range.begin) {
          int fd = open(module.open_path.c_str(), O_RDONLY);
          ssize_t got = pread(fd, file.data(), file.size(), static_cast<off_t>(m.offset));
          ASSERT_GT(got, 0);
          memory.resize(static_cast<size_t>(got));
          file.resize(static_cast<size_t>(got));
          close(fd);
        }
      }
      EXPECT_TRUE(memory == file) << module.path;
    }
  }
  launched.value().stopped.release();
  EXPECT_EQ(*ExitWatch::create(launched.value().pid, true).value().wait_status(5000), 0);
}

TEST(Launch, TheLoaderIsAsBefore) { expect_loader_as_before({}); }

// None of the signals comes by which the loader stops otherwise.
TEST(Launch, TheLoaderOfAProgramThatBlocksSignalsIsAsBefore) {
  sigset_t all;
  sigfillset(&all);
  expect_loader_as_before({all});
}

}  // namespace
}  // namespace dj
