// SPDX-License-Identifier: Apache-2.0
// System calls that djtap makes in a program, one by one and in a chain.
#include "runtime/process/remote_call.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "runtime/process/exit_watch.h"
#include "runtime/process/launch.h"
#include "runtime/process/process.h"
#include "runtime/process/victim.h"

namespace dj {
namespace {

constexpr char kReturns[] = "static __thread int x = 3; int main(void) { return x; }";
constexpr char kWaits[] = R"(
#include <stdio.h>
#include <unistd.h>
int main(void) { char c; puts("ready"); fflush(stdout); return read(0, &c, 1) == 1; }
)";
constexpr uint64_t kAt = 0x10000000, kBytes = 4096;

ChainedCall map_at(uint64_t address) {
  constexpr int kHow = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  return {SYS_mmap, {address, kBytes, PROT_READ, kHow, ~uint64_t{0}, 0}};
}

// The mapped pages from kAt on.
std::vector<uint64_t> mapped(pid_t pid) {
  std::vector<uint64_t> pages;
  for (const Mapping& m : read_maps(pid).take()) {
    for (uint64_t at = std::max(m.begin, kAt); at < std::min(m.end, kAt + 8 * kBytes); at += kBytes)
      pages.push_back((at - kAt) / kBytes);
  }
  return pages;
}

std::vector<uint8_t> vector_registers(pid_t tid) {
  std::vector<uint8_t> bytes(1 << 14);
  iovec io = {bytes.data(), bytes.size()};
  EXPECT_EQ(ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &io), 0);
  bytes.resize(io.iov_len);
  return bytes;
}

TEST(RemoteCall, AChainMakesItsCallsWhateverComesOfThem) {
  Launched launched = launch({compile_victim(kReturns)}).take();
  Stopped& stopped = launched.stopped;
  const user_regs_struct before = stopped.registers(launched.pid).value();
  const std::vector<uint8_t> vectors = vector_registers(launched.pid);
  {
    RemoteCall call = RemoteCall::borrow(stopped).take();
    ASSERT_TRUE(call.can_chain());
    ASSERT_TRUE(call.chain({map_at(kAt), map_at(kAt), map_at(kAt + 2 * kBytes)}).ok());
    EXPECT_EQ(mapped(launched.pid), (std::vector<uint64_t>{0, 2}));
    EXPECT_EQ(call.syscall(SYS_munmap, {kAt, kBytes}).value(), 0);
    ASSERT_TRUE(call.chain({map_at(kAt + 4 * kBytes)}).ok());
  }
  EXPECT_EQ(mapped(launched.pid), (std::vector<uint64_t>{2, 4}));
  const user_regs_struct after = stopped.registers(launched.pid).value();
  EXPECT_EQ(memcmp(&before, &after, sizeof before), 0);
  EXPECT_EQ(vector_registers(launched.pid), vectors);
  Result<ExitWatch> watch = ExitWatch::create(launched.pid, true);
  stopped.release();
  const std::optional<int> status = watch.value().wait_status(5000);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(*status, 3 << 8);
}

TEST(RemoteCall, InAProgramThatRunsTheCallsOfAChainAreMadeOneByOne) {
  Victim victim({compile_victim(kWaits)});
  victim.line();
  Stopped stopped = Stopped::stop(victim.pid()).take();
  RemoteCall call = RemoteCall::borrow(stopped).take();
  EXPECT_FALSE(call.can_chain());
  ASSERT_TRUE(call.chain({map_at(kAt), map_at(kAt), map_at(kAt + 2 * kBytes)}).ok());
  EXPECT_EQ(mapped(victim.pid()), (std::vector<uint64_t>{0, 2}));
}

// The first call of the chain sleeps; djtap is killed meanwhile.
TEST(RemoteCall, AProgramGoesOnWhereDjtapDiesInAChain) {
  const std::string program = compile_victim(kReturns);
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  int begun[2] = {};
  ASSERT_EQ(pipe(begun), 0);
  const pid_t tracer = fork();
  if (tracer == 0) {
    Launched launched = launch({program}).take();
    RemoteCall call = RemoteCall::borrow(launched.stopped).take();
    const timespec moment = {0, 300'000'000};
    const uint64_t page = call.scratch().value();
    static_cast<void>(
        launched.stopped.write(page, {reinterpret_cast<const uint8_t*>(&moment), sizeof moment}));
    static_cast<void>(write(begun[1], &launched.pid, sizeof launched.pid));
    static_cast<void>(call.chain({{SYS_nanosleep, {page, 0}}, map_at(kAt)}));
    _exit(0);
  }
  pid_t pid = 0;
  ASSERT_EQ(read(begun[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  usleep(100'000);
  kill(tracer, SIGKILL);
  EXPECT_EQ(waitpid(tracer, nullptr, 0), tracer);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 3 << 8);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  close(begun[0]);
  close(begun[1]);
}

}  // namespace
}  // namespace dj
