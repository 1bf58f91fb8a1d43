// SPDX-License-Identifier: Apache-2.0
// The agent's run of a seccomp filter against the kernel's: random filters are installed in a child
// that makes the system calls, and says which of them were denied.
#include "runtime/agent/seccomp.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <random>

#include "runtime/agent/arena_support.h"
#include "runtime/shared/denied.h"

namespace dj {
namespace {

constexpr long kCalls[] = {SYS_getpid, SYS_gettid, SYS_getppid, SYS_getuid, SYS_getgid};
constexpr uint32_t kMark = 77;  // an errno that none of them has

struct Seen {
  bool refused;
  uint64_t denied, asked;  // as asked_bit()
};

class Seccomp : public TestArena {
 protected:
  // What the kernel does.
  Seen installed(std::vector<sock_filter>& code) {
    auto* seen = reinterpret_cast<Seen*>(take(sizeof(Seen)));
    *seen = {};
    const pid_t child = fork();
    if (child == 0) {
      const rlimit none = {0, 0};
      setrlimit(RLIMIT_CORE, &none);
      const sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      seen->refused = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
      for (const long number : kCalls) {
        const uint64_t bit = abi::asked_bit(number);
        seen->asked |= bit, seen->denied |= bit;  // of a call that ends the process
        errno = 0;
        syscall(number, 0, 0, 0, 0, 0, 0);
        if (errno != static_cast<int>(kMark)) seen->denied &= ~bit;
      }
      raise(SIGKILL);
      __builtin_trap();
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return *seen;
  }

  static uint64_t predicted(std::vector<sock_filter>& code) {
    const sock_fprog program = {static_cast<unsigned short>(code.size()), code.data()};
    return agent::denied_from(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
                              reinterpret_cast<uint64_t>(&program));
  }
};

// All other calls are allowed at once; these have their number in A, and all memory is written.
std::vector<sock_filter> beginning() {
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};
  for (size_t i = std::size(kCalls); i > 0; --i) {
    const auto behind = static_cast<uint8_t>(i);
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(kCalls[i - 1]), behind, 0));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  for (uint32_t i = 0; i < BPF_MEMWORDS; ++i) code.push_back(BPF_STMT(BPF_ST, i));
  return code;
}

sock_filter random_instruction(std::mt19937& dice) {
  constexpr uint16_t kMoves[] = {BPF_LD | BPF_IMM,
                                 BPF_LDX | BPF_IMM,
                                 BPF_ST,
                                 BPF_STX,
                                 BPF_LD | BPF_MEM,
                                 BPF_LDX | BPF_MEM,
                                 BPF_MISC | BPF_TAX,
                                 BPF_MISC | BPF_TXA,
                                 BPF_LD | BPF_W | BPF_LEN,
                                 BPF_LDX | BPF_W | BPF_LEN};
  constexpr uint16_t kAlus[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_OR,
                                BPF_AND, BPF_LSH, BPF_RSH, BPF_NEG, BPF_XOR};
  constexpr uint16_t kJumps[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
  constexpr uint32_t kData[] = {0, 4, 16, 20, 60};  // number, architecture, arguments
  const auto of = [&dice](const auto& row) { return row[dice() % std::size(row)]; };
  const uint16_t source = dice() % 2 != 0 ? BPF_X : BPF_K;
  const uint32_t small = dice() % 24, k = dice() % 3 == 0 ? dice() : small;
  switch (dice() % 4) {
    case 0: {
      const uint16_t move = of(kMoves);
      const bool loads = (move & 0xe0) == BPF_IMM && (move & 7) <= BPF_LDX;
      return BPF_STMT(move, loads ? k : small % BPF_MEMWORDS);
    }
    case 1:
      return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, of(kData));
    case 2: {
      const uint16_t operation = of(kAlus);
      return BPF_STMT(uint16_t(BPF_ALU | operation | (operation == BPF_NEG ? 0 : source)), k);
    }
    default:
      if (dice() % 4 == 0) return BPF_STMT(BPF_JMP | BPF_JA, small / 8);
      return BPF_JUMP(uint16_t(BPF_JMP | of(kJumps) | source), k, uint8_t(small / 8),
                      uint8_t(dice() % 3));
  }
}

bool looks_at_arguments(const std::vector<sock_filter>& code) {
  constexpr uint32_t kArchitecture = 4;
  return std::ranges::any_of(code, [](const sock_filter& insn) {
    return insn.code == (BPF_LD | BPF_W | BPF_ABS) && insn.k > kArchitecture;
  });
}

TEST_F(Seccomp, RandomFiltersDenyWhatTheKernelDenies) {
  std::mt19937 dice(1);
  uint32_t accepted = 0, denying = 0, plain = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<sock_filter> code = beginning();
    for (uint32_t i = 4 + dice() % 20; i > 0; --i) code.push_back(random_instruction(dice));
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1u << dice() % 8, 0, 1));
    for (int i = 0; i < 4; ++i)
      code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | kMark));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    code[code.size() - 6].jf = 4;
    const Seen seen = installed(code);
    const uint64_t denied = predicted(code);
    if (seen.refused) continue;
    accepted++, denying += seen.denied != 0;
    // What depends on arguments is denied, as it may be with others than these.
    EXPECT_EQ(denied & seen.denied, seen.denied) << round;
    if (looks_at_arguments(code)) continue;
    EXPECT_EQ(denied & seen.asked, seen.denied) << round;
    plain++;
  }
  EXPECT_GT(accepted, 200u);
  EXPECT_GT(denying, 30u);
  EXPECT_GT(plain, 40u);
  EXPECT_LT(denying, accepted);
}

TEST_F(Seccomp, AFilterThatTheKernelRefusesHasAnEnd) {
  for (const uint32_t way : {~0u, ~1u, 1u << 31}) {
    std::vector<sock_filter> code = {BPF_STMT(BPF_JMP | BPF_JA, way),
                                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    EXPECT_TRUE(installed(code).refused);
    predicted(code);
  }
}

}  // namespace
}  // namespace dj
