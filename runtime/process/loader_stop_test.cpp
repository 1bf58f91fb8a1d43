// SPDX-License-Identifier: Apache-2.0
// A loader with a body in it stops once, where all objects are mapped, and is as before afterwards.
#include "runtime/process/loader_stop.h"

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "runtime/process/process.h"
#include "runtime/process/program_start.h"
#include "runtime/process/seccomp_filters.h"

namespace dj {
namespace {

// A child that stands behind its exec.
struct Executed {
  explicit Executed(const char* program) : pid(fork()) {
    if (pid == 0) {
      ptrace(PTRACE_TRACEME, 0, 0, 0);
      execl(program, program, "/dev/null", nullptr);
      _exit(1);
    }
    EXPECT_TRUE(stops_with(SIGTRAP));
  }
  ~Executed() {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }
  bool stops_with(int signal) const {
    int status = 0;
    return waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) && WSTOPSIG(status) == signal;
  }
  user_regs_struct registers() const {
    user_regs_struct regs = {};
    ptrace(PTRACE_GETREGS, pid, 0, &regs);
    return regs;
  }
  bool has_libc() const {
    const Result<std::vector<MappedModule>> modules = mapped_modules(pid);
    return modules.ok() && std::ranges::any_of(modules.value(), [](const MappedModule& module) {
             return module.path.find("libc.so.6") != std::string::npos;
           });
  }
  pid_t pid;
};

TEST(LoaderStop, TheFirstStopIsTheOneThatIsWanted) {
  const Executed cat("/bin/cat");
  const RunningMemory memory(cat.pid, O_RDWR);
  const std::string loader = executed_program(cat.pid).value().interpreter;
  const Result<LoaderStop> found = find_loader_stop(cat.pid, loader, memory);
  ASSERT_TRUE(found.ok()) << found.error().message;
  const LoaderStop& stop = found.value();
  if (is_confined(cat.pid)) GTEST_SKIP() << "a seccomp filter may deny kill(): it is not called";
  ASSERT_EQ(stop.kind, LoaderStop::Kind::Signal);
  EXPECT_NE(stop.begin_word, 0u);
  EXPECT_NE(stop.body, stop.function);
  bool begun = false;
  EXPECT_FALSE(stop.is_complete(memory, &begun).value());
  ASSERT_TRUE(patch_loader(stop, memory).ok());
  EXPECT_FALSE(cat.has_libc());
  ptrace(PTRACE_CONT, cat.pid, 0, 0);
  ASSERT_TRUE(cat.stops_with(stop.signal));
  EXPECT_EQ(cat.registers().rip, stop.stop_address());
  EXPECT_TRUE(cat.has_libc());
  EXPECT_TRUE(stop.is_complete(memory, &begun).value());
  ASSERT_TRUE(restore_loader(stop, memory).ok());
  for (const LoaderStop::Piece& piece : stop.pieces) {
    std::vector<uint8_t> now(piece.original.size());
    EXPECT_TRUE(memory.read(piece.address, now.data(), now.size()));
    EXPECT_EQ(now, piece.original);
  }
}

TEST(LoaderStop, KnowsWhereAThreadIsInsideTheBody) {
  const Executed cat("/bin/cat");
  const RunningMemory memory(cat.pid, O_RDWR);
  const std::string loader = executed_program(cat.pid).value().interpreter;
  const LoaderStop stop = find_loader_stop(cat.pid, loader, memory).value();
  if (stop.kind != LoaderStop::Kind::Signal) GTEST_SKIP() << "the body does not send a signal";
  uint64_t bytes = 1;
  EXPECT_FALSE(stop.is_inside(stop.function, &bytes));
  EXPECT_EQ(bytes, 0u);
  EXPECT_FALSE(stop.is_inside(stop.stop_address() + 1, &bytes));
  // Behind each of the two pushes.
  const std::vector<uint8_t>& code = stop.pieces.back().patched;
  size_t pushes = 0;
  for (size_t at = 0; at < code.size(); ++at) {
    EXPECT_TRUE(stop.is_inside(stop.body + at, &bytes));
    const bool is_behind_push = at >= 2 && code[at - 2] == 0x6a;
    EXPECT_EQ(bytes, is_behind_push ? 8u : 0u) << at;
    pushes += is_behind_push;
  }
  EXPECT_EQ(pushes, 2u);
}

}  // namespace
}  // namespace dj
