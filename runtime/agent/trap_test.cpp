// SPDX-License-Identifier: Apache-2.0
// The SIGTRAP action with real int3s, and the hook of system calls.
#include <sched.h>
#include <signal.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <sys/wait.h>

#include <cerrno>

#include "runtime/agent/arena_support.h"

extern "C" {
void dj_test_int3();
void dj_test_landed();
extern char dj_test_int3_at[];
// Calls the hook with the six argument registers and the number as given; result in rax. Returns
// CF; bit 1: a register came back changed that may not.
uint64_t dj_test_hook(uint64_t* registers);
}

asm(R"(
.text
.globl dj_test_int3, dj_test_int3_at, dj_test_landed, dj_test_hook
dj_test_int3:
  xor %eax, %eax
dj_test_int3_at:
  int3
  ret
dj_test_landed:
  mov $77, %eax
  ret
dj_test_hook:
  push %rbx; push %rbp; push %r12; push %r13
  mov %rdi, %rbx
  mov 0(%rbx), %rax;  mov 8(%rbx), %rdi;  mov 16(%rbx), %rsi; mov 24(%rbx), %rdx
  mov 32(%rbx), %r10; mov 40(%rbx), %r8;  mov 48(%rbx), %r9
  mov $0x1234, %ebp; mov $0x5678, %r12d; mov %rsp, %r13
  clc
  call dj_syscall_hook
  setc %cl
  movzbl %cl, %ecx
  cmp %rsp, %r13; jne 1f
  cmp %rdi, 8(%rbx); jne 1f; cmp %rsi, 16(%rbx); jne 1f; cmp %rdx, 24(%rbx); jne 1f
  cmp %r10, 32(%rbx); jne 1f; cmp %r8, 40(%rbx); jne 1f; cmp %r9, 48(%rbx); jne 1f
  cmp $0x1234, %rbp; jne 1f; cmp $0x5678, %r12; jne 1f
  jmp 2f
1: or $2, %ecx
2: mov %rax, 0(%rbx)
  mov %rcx, %rax
  mov %r13, %rsp
  pop %r13; pop %r12; pop %rbp; pop %rbx
  ret
)");

namespace dj {
namespace {

constexpr uint64_t kTrapBit = uint64_t{1} << (SIGTRAP - 1);

struct KernelAction {
  void (*handler)(int, void*, void*);
  uint64_t flags;
  void (*restorer)();
  uint64_t mask;
};

int application_traps;
uint64_t application_rip;
void application_handler(int, void*, void* context) {
  ++application_traps;
  application_rip =
      static_cast<uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
}

class Traps : public TestArena {
 protected:
  void SetUp() override {
    TestArena::SetUp();
    header().trap_table.offset = offset_of(constants_.take(abi::trap_table_bytes(100, kLater)));
    abi::trap_table_init(&table(),
                         take(abi::trap_data_bytes(100, kLater, header().cpus)) - dj_arena_base,
                         100, kLater);
    KernelAction action = {dj_trap_handler, SA_SIGINFO | SA_ONSTACK | 0x04000000, dj_restorer,
                           ~uint64_t{0}};
    ASSERT_EQ(syscall(SYS_rt_sigaction, SIGTRAP, &action, &before_, 8), 0);
    application_traps = 0;
  }
  void TearDown() override {
    syscall(SYS_rt_sigaction, SIGTRAP, &before_, nullptr, 8);
    TestArena::TearDown();
  }
  static constexpr uint64_t kLater = 300;
  abi::TrapTable& table() { return *header().trap_table.get(place()); }
  static uint64_t address(const void* p) { return reinterpret_cast<uint64_t>(p); }
  abi::AppAction& application() { return abi::thread_table_of(&header())->own_trap; }
  static int hit() { return reinterpret_cast<int (*)()>(dj_test_int3)(); }
  void probe() {
    ASSERT_TRUE(abi::trap_table_insert(&table(), &table().begin, address(dj_test_int3_at),
                                       reinterpret_cast<uint64_t>(dj_test_landed)));
  }
  // How a child ends that runs `body`.
  template <typename Body>
  int status_of_child(Body body) {
    pid_t child = fork();
    if (child == 0) {
      body();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
  KernelAction before_;
};

TEST_F(Traps, GoOnAtTheDetour) {
  probe();
  table().cache_on = 1;
  for (uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(abi::trap_table_insert(&table(), &table().begin, address(dj_test_int3_at),
                                       reinterpret_cast<uint64_t>(dj_test_landed)));
    ASSERT_EQ(hit(), 77);
  }
  EXPECT_EQ(words().trap_hits, 1000u);
  EXPECT_GE(words().trap_cache_hits, 900u);
  EXPECT_EQ(words().trap_strays, 0u);
}

TEST_F(Traps, AreFoundWithoutTheCacheToo) {
  probe();
  for (uint64_t i = 1; i < 90; ++i)
    abi::trap_table_insert(&table(), &table().begin, address(dj_test_int3_at) + i,
                           address(dj_test_int3_at));
  EXPECT_EQ(hit(), 77);
  EXPECT_EQ(words().trap_cache_hits, 0u);
}

TEST_F(Traps, OfObjectsThatCameLaterAreFoundBesideTheOthers) {
  const uint64_t first = 0x7f0000001000, at = first + 1000;
  for (uint64_t i = 0; i < 90; ++i)
    ASSERT_TRUE(abi::trap_table_insert(&table(), &table().begin, first + i, first + 2 * i));
  uint64_t dlopened = 0;
  while (abi::trap_table_insert(&table(), &table().dlopened, at + dlopened, first + dlopened))
    ++dlopened;
  EXPECT_GE(dlopened, kLater);
  abi::TrapCache cache = {};
  for (uint64_t i = 0; i < 2 * dlopened; ++i) {
    bool hit = false;
    const uint64_t number = i / 2;  // twice each: then the cache knows it
    ASSERT_NE(abi::trap_table_find(&table(), at + number), nullptr);
    const uint64_t detour = first + number;
    EXPECT_EQ(trap_detour(*abi::trap_table_find(&table(), at + number)), detour);
    EXPECT_EQ(trap_detour(*abi::trap_cached_find(&table(), &cache, at + number, &hit)), detour);
    EXPECT_EQ(hit, i % 2 == 1);
  }
  EXPECT_EQ(abi::trap_detour(*abi::trap_table_find(&table(), first + 5)), first + 10);
  EXPECT_EQ(abi::trap_table_find(&table(), first + 500), nullptr);
}

TEST_F(Traps, OfTheApplicationReachItsHandler) {
  application() = {reinterpret_cast<uint64_t>(application_handler), SA_SIGINFO, 0, 0};
  EXPECT_EQ(hit(), 0);
  EXPECT_EQ(application_traps, 1);
  EXPECT_EQ(application_rip, address(dj_test_int3_at) + 1);
  raise(SIGTRAP);
  EXPECT_EQ(application_traps, 2);
}

TEST_F(Traps, OfTheApplicationDoWhatTheKernelDoes) {
  EXPECT_EQ(WTERMSIG(status_of_child([] { hit(); })), SIGTRAP);
  EXPECT_EQ(WTERMSIG(status_of_child([] { raise(SIGTRAP); })), SIGTRAP);
  application().handler = 1;
  EXPECT_EQ(status_of_child([] { raise(SIGTRAP); }), 0);
  EXPECT_EQ(WTERMSIG(status_of_child([] { hit(); })), SIGTRAP) << "an int3 cannot be ignored";
}

class Hook : public Traps {
 protected:
  // Performs a hooked system call; the kernel is asked when the hook says so.
  int64_t call(uint64_t number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0, uint64_t d = 0,
               uint64_t e = 0, uint64_t f = 0) {
    uint64_t registers[7] = {number, a, b, c, d, e, f};
    uint64_t answer = dj_test_hook(registers);
    EXPECT_EQ(answer & 2, 0u) << "registers changed";
    skipped = answer & 1;
    if (skipped) return static_cast<int64_t>(registers[0]);
    EXPECT_EQ(registers[0], number);
    int64_t result = syscall(static_cast<long>(number), a, b, c, d, e, f);
    return result == -1 ? -errno : result;
  }
  static uint64_t mask_now() {
    uint64_t mask = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &mask, 8);
    return mask;
  }
  bool skipped = false;
};

TEST_F(Hook, KeepsSigtrapOutOfMasks) {
  uint64_t all = ~uint64_t{0}, old = 1, none = 0;
  EXPECT_EQ(call(SYS_rt_sigprocmask, SIG_SETMASK, address(&all), address(&old), 8), 0);
  EXPECT_TRUE(skipped);
  EXPECT_EQ(old, 0u);
  EXPECT_EQ(all, ~uint64_t{0}) << "the program's memory stays";
  uint64_t seen = mask_now();
  EXPECT_EQ(seen & kTrapBit, 0u);
  EXPECT_NE(seen & (uint64_t{1} << (SIGUSR1 - 1)), 0u);
  EXPECT_EQ(call(SYS_rt_sigprocmask, SIG_SETMASK, address(&none), 0, 8), 0);
  EXPECT_FALSE(skipped);
  EXPECT_EQ(mask_now(), 0u);
  EXPECT_EQ(call(SYS_rt_sigprocmask, SIG_BLOCK, 8, 0, 8), -EFAULT);
  EXPECT_EQ(call(SYS_rt_sigprocmask, SIG_BLOCK, address(&all), 0, 4), -EINVAL);
}

TEST_F(Hook, KeepsSigtrapOutOfWaits) {
  probe();
  uint64_t all = ~uint64_t{0};
  timespec soon = {0, 1000};
  EXPECT_EQ(call(SYS_ppoll, 0, 0, address(&soon), address(&all), 8), 0);
  EXPECT_TRUE(skipped);
  struct {
    uint64_t mask, size;
  } pair = {address(&all), 8};
  EXPECT_EQ(call(SYS_pselect6, 0, 0, 0, 0, address(&soon), address(&pair)), 0);
  EXPECT_TRUE(skipped);
  EXPECT_EQ(call(SYS_ppoll, 0, 0, address(&soon), 0, 8), 0);
  EXPECT_FALSE(skipped);
}

TEST_F(Hook, KeepsTheApplicationsAction) {
  KernelAction wanted = {application_handler, SA_SIGINFO | 0x04000000, dj_restorer, 0}, old = {};
  EXPECT_EQ(call(SYS_rt_sigaction, SIGTRAP, address(&wanted), address(&old), 8), 0);
  EXPECT_TRUE(skipped);
  EXPECT_EQ(old.handler, nullptr);
  EXPECT_EQ(call(SYS_rt_sigaction, SIGTRAP, 0, address(&old), 8), 0);
  EXPECT_EQ(old.handler, application_handler);
  hit();
  EXPECT_EQ(application_traps, 1);
  EXPECT_EQ(call(SYS_rt_sigaction, SIGTRAP, 8, 0, 8), -EFAULT);
  status_of_child([&] {
    KernelAction none = {};
    call(SYS_rt_sigaction, SIGTRAP, address(&none), 0, 8);
  });
  EXPECT_EQ(application().handler, reinterpret_cast<uint64_t>(application_handler))
      << "a child is not the program";
}

TEST_F(Hook, KeepsSigtrapOutOfOtherActions) {
  KernelAction wanted = {application_handler, SA_SIGINFO | 0x04000000, dj_restorer, ~uint64_t{0}},
               now = {};
  EXPECT_EQ(call(SYS_rt_sigaction, SIGUSR2, address(&wanted), 0, 8), 0);
  EXPECT_TRUE(skipped);
  syscall(SYS_rt_sigaction, SIGUSR2, nullptr, &now, 8);
  EXPECT_EQ(now.handler, application_handler);
  EXPECT_EQ(now.mask & kTrapBit, 0u);
  EXPECT_NE(now.mask, 0u);
  signal(SIGUSR2, SIG_DFL);
}

TEST_F(Hook, ThreadsLookUnregisteredToTheirChildren) {
  auto* own = reinterpret_cast<struct rseq*>(static_cast<char*>(__builtin_thread_pointer()) +
                                             __rseq_offset);
  ASSERT_LT(own->cpu_id, header().cpus);
  uint64_t registers[7] = {SYS_vfork};
  EXPECT_EQ(dj_test_hook(registers), 0u);
  bool hidden =
      own->cpu_id == ~0u;  // the kernel writes it again when it next moves or interrupts us
  for (int i = 0; i < 100 && !hidden; ++i) {
    dj_test_hook(registers);
    hidden = own->cpu_id == ~0u;
  }
  EXPECT_TRUE(hidden);
  sched_yield();
  std::vector<char> block(8192);
  char* tls = block.data() + 4096;
  for (size_t word : {0, 2}) reinterpret_cast<uint64_t*>(tls)[word] = address(tls);
  auto* area = reinterpret_cast<struct rseq*>(tls + __rseq_offset);
  area->cpu_id = 0;
  uint64_t clone[7] = {SYS_clone, CLONE_VM | CLONE_SETTLS, 0, 0, 0, address(tls), 0};
  EXPECT_EQ(dj_test_hook(clone), 0u);
  EXPECT_EQ(area->cpu_id, ~0u);
  area->cpu_id = 1;
  uint64_t args[11] = {CLONE_VM | CLONE_SETTLS, 0, 0, 0, 0, 0, 0, address(tls)};
  uint64_t clone3[7] = {SYS_clone3, address(args), sizeof args};
  EXPECT_EQ(dj_test_hook(clone3), 0u);
  EXPECT_EQ(area->cpu_id, header().cpus > 1 ? ~0u : 1u);
}

TEST_F(Hook, LeavesEverythingAloneWithoutInt3) {
  header().trap_table = {};
  uint64_t all = ~uint64_t{0}, none = 0;
  EXPECT_EQ(call(SYS_rt_sigprocmask, SIG_SETMASK, address(&all), 0, 8), 0);
  EXPECT_FALSE(skipped);
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, 8);
}

}  // namespace
}  // namespace dj
