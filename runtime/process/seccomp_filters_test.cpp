// SPDX-License-Identifier: Apache-2.0
// Filters of a process's threads, read from a tracer's side; each call's answer is the kernel's.
#include "runtime/process/seccomp_filters.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "runtime/shared/seccomp_program.h"

namespace dj {
namespace {

using Code = std::vector<sock_filter>;

uint64_t bits(std::initializer_list<long> numbers) {
  uint64_t set = 0;
  for (const long number : numbers) set |= abi::asked_bit(number);
  return set;
}

// Denies these calls; all others are allowed.
Code denying(std::initializer_list<long> numbers, uint32_t how = SECCOMP_RET_KILL_PROCESS) {
  Code code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long number : numbers) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(number), 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, how));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return code;
}

void install(Code code) {
  const sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    _exit(9);
}

uint64_t denied_by(const Code& code) {
  return abi::denied_by({reinterpret_cast<const abi::FilterInstruction*>(code.data()),
                         static_cast<uint32_t>(code.size())});
}

// A child that does something, says so, and waits to be killed.
class Child {
 public:
  explicit Child(const std::function<void()>& act) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      act();
      if (write(ready[1], "1", 1) != 1) _exit(8);
      for (char c;;) static_cast<void>(read(ready[0], &c, 0));
    }
    close(ready[1]);
    char c;
    EXPECT_EQ(read(ready[0], &c, 1), 1);
    close(ready[0]);
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Result<uint64_t> denied() const {
    DJ_TRY(Stopped stopped, Stopped::stop(pid_));
    return denied_by_filters(stopped);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

bool may_read() { return geteuid() == 0 && !is_confined(getpid()); }

TEST(SeccompFilters, AFreeProcessDeniesNothing) {
  const Child child([] {});
  EXPECT_FALSE(has_confined_threads(child.pid()));
  EXPECT_EQ(child.denied().value(), 0u);
}

TEST(SeccompFilters, FiltersAreReadOneByOne) {
  if (!may_read()) GTEST_SKIP() << "only root, under no filter, is shown filters";
  const Child child([] {
    install(denying({SYS_gettid, SYS_process_vm_readv}));
    install(denying({SYS_rt_sigreturn}, SECCOMP_RET_ERRNO | 1));
    install(denying({SYS_getpid}, SECCOMP_RET_TRAP));
    install(denying({SYS_kill}, SECCOMP_RET_LOG));
  });
  EXPECT_TRUE(has_confined_threads(child.pid()));
  EXPECT_EQ(child.denied().value(),
            bits({SYS_gettid, SYS_process_vm_readv, SYS_rt_sigreturn, SYS_getpid}));
}

TEST(SeccompFilters, ThereIsAnEndToWhatIsRead) {
  if (!may_read()) GTEST_SKIP() << "only root, under no filter, is shown filters";
  const Child child([] {
    for (uint32_t i = 0; i < 300; ++i)
      install({BPF_STMT(BPF_LD | BPF_IMM, i), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)});
  });
  const Result<uint64_t> denied = child.denied();
  ASSERT_FALSE(denied.ok());
  EXPECT_EQ(denied.error().kind, Fail::Unsupported);
}

TEST(SeccompFilters, AThreadHasItsOwn) {
  if (!may_read()) GTEST_SKIP() << "only root, under no filter, is shown filters";
  const Child child([] {
    std::atomic<bool> done = false;
    std::thread([&] {
      install(denying({SYS_getcpu}));
      done = true;
      for (;;) pause();
    }).detach();
    while (!done) usleep(1000);
  });
  EXPECT_FALSE(is_confined(child.pid()));
  EXPECT_TRUE(has_confined_threads(child.pid()));
  EXPECT_EQ(child.denied().value(), bits({SYS_getcpu}));
}

TEST(SeccompFilters, OneThatLooksAtAddressesIsRefused) {
  if (!may_read()) GTEST_SKIP() << "only root, under no filter, is shown filters";
  const Child child([] {
    install({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, instruction_pointer) + 4),
             BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)});
  });
  const Result<uint64_t> denied = child.denied();
  ASSERT_FALSE(denied.ok());
  EXPECT_EQ(denied.error().kind, Fail::Unsupported);
}

TEST(SeccompFilters, StrictModeKnowsFourCalls) {
  const Child child([] { prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); });
  EXPECT_TRUE(has_confined_threads(child.pid()));
  const uint64_t denied = child.denied().value();
  EXPECT_EQ(denied & bits({SYS_read, SYS_rt_sigreturn}), 0u);
  EXPECT_EQ(denied & bits({SYS_gettid, SYS_futex, SYS_open}),
            bits({SYS_gettid, SYS_futex, SYS_open}));
}

TEST(FilterProgram, ACallThatDependsOnItsArgumentsIsDenied) {
  // kill is allowed with a first argument of 0 alone, the lower and the upper half.
  const Code code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kill, 0, 5),
                     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2),
                     BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0]) + 4),
                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  EXPECT_EQ(denied_by(code), bits({SYS_kill}));
}

TEST(FilterProgram, BothWaysThatAllowAreAllowed) {
  const Code code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
                     BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 7),
                     BPF_STMT(BPF_ST, 3),
                     BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 3, 0, 1),
                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG)};
  EXPECT_EQ(denied_by(code), 0u);
}

TEST(FilterProgram, WhatDependsOnTheAddressOrIsTooTangledIsDenied) {
  const uint64_t all = (uint64_t{1} << std::size(abi::kAskedCalls)) - 1;
  EXPECT_EQ(denied_by({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 8), BPF_STMT(BPF_RET | BPF_A, 0)}),
            all | abi::kMovedCalls);
  Code tangled;
  for (uint32_t i = 0; i < 40; ++i) {
    tangled.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16 + 4 * (i % 12)));
    tangled.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, i, 1, 0));
    tangled.push_back(BPF_STMT(BPF_ST, i % 16));
  }
  tangled.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  EXPECT_NE(denied_by(tangled), 0u);
}

TEST(FilterProgram, OneThatTheKernelWouldRefuseHasAnEnd) {
  EXPECT_NE(denied_by({}), 0u);
  EXPECT_NE(denied_by({BPF_STMT(BPF_JMP | BPF_JA, ~0u)}), 0u);
  EXPECT_NE(denied_by({BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0),
                       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}),
            0u);
}

}  // namespace
}  // namespace dj
