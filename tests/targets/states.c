// Calls a function with flags, control words and registers that hardly any program has: alignment
// check, direction flag, rounding modes, unmasked exceptions, a full x87 stack, random vectors.
//   states [rounds]
// "changed": how often one of them was another one afterwards; "status changed": a status flag, which
// no function keeps for its caller. The program's own fault by the alignment check is to look as
// always, and a system call to keep the other flags, too.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "facts.h"

// As fxsave has it.
struct Registers {
  uint16_t control, status;
  uint8_t tags, reserved;
  uint16_t opcode;
  uint64_t instruction, data;
  uint32_t mxcsr, mxcsr_mask;
  uint8_t x87[8][16], vectors[16][16], rest[96];
} __attribute__((aligned(16)));

struct State {
  struct Registers registers;
  uint64_t flags;
};

// with_state: loads all of *before, calls probed(text), stores all in *after, and makes all usual
// again by *usual. kernel_with_flags: makes rt_sigprocmask(SIG_BLOCK, mask, NULL, 8) with flags,
// and returns those that it has then.
__asm__(
    ".text\n"
    ".globl probed, unaligned_load, unaligned_end\n"
    ".type probed,@function\n"
    "probed: nopw 0(%rax,%rax,1); lea 5(%rdi),%rax; nopw 0(%rax,%rax,1); nopl 0(%rax); ret\n"
    ".size probed,.-probed\n"
    ".type with_state,@function\n"
    "with_state: push %rbx; push %rbp; push %r12; mov %rdi,%rbx; mov %rsi,%rbp; mov %rcx,%r12\n"
    " mov %rdx,%rdi; fxrstor (%rbx); push 512(%rbx); popfq; call probed\n"
    " pushfq; pop 512(%rbp); push $0x202; popfq; fxsave (%rbp); fxrstor (%r12)\n"
    " pop %r12; pop %rbp; pop %rbx; ret\n"
    ".size with_state,.-with_state\n"
    ".type kernel_with_flags,@function\n"
    "kernel_with_flags: push %rdi; xor %edi,%edi; xor %edx,%edx; mov $8,%r10d; popfq\n"
    " mov $14,%eax; syscall; pushfq; pop %rax; push $0x202; popfq; ret\n"
    ".size kernel_with_flags,.-kernel_with_flags\n"
    ".type unaligned_load,@function\n"
    "unaligned_load: mov (%rdi),%rax; nopw 0(%rax,%rax,1)\n"
    "unaligned_end: ret\n"
    ".size unaligned_load,.-unaligned_load\n");

void with_state(const struct State* before, struct State* after, const char* text,
                const struct Registers* usual);
uint64_t kernel_with_flags(uint64_t flags, const void* mask);
void unaligned_load(const void* from);
extern const char unaligned_end[];

enum { kAlignmentCheck = 1 << 18, kDirection = 1 << 10, kIdentification = 1 << 21, kStatus = 0x8d5 };

static uint64_t random_bits(void) {
  static uint64_t state = 88172645463325252;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

static uint64_t random_flags(void) {
  return 0x202 | (random_bits() & (kStatus | kAlignmentCheck | kDirection | kIdentification));
}

static void randomize(struct State* state, const struct Registers* usual) {
  struct Registers* registers = &state->registers;
  *registers = *usual;
  for (unsigned i = 0; i < sizeof registers->vectors; i++)
    registers->vectors[i / 16][i % 16] = (uint8_t)random_bits();
  for (int i = 0; i < 8; i++) {
    for (int byte = 0; byte < 10; byte++) registers->x87[i][byte] = (uint8_t)random_bits();
  }
  registers->control = (uint16_t)((random_bits() & 0xf3f) | 0x40);
  registers->status = (uint16_t)(random_bits() & 0x7f00);
  registers->tags = (uint8_t)random_bits();
  registers->mxcsr = (uint32_t)random_bits() & 0xffff & usual->mxcsr_mask;
  state->flags = random_flags();
}

static int is_other(const struct State* a, const struct State* b) {
  const struct Registers *x = &a->registers, *y = &b->registers;
  int other = (a->flags ^ b->flags) & ~(uint64_t)kStatus || x->control != y->control || x->status != y->status ||
              x->tags != y->tags || x->mxcsr != y->mxcsr ||
              memcmp(x->vectors, y->vectors, sizeof x->vectors) != 0;
  for (int i = 0; i < 8; i++) {
    const int is_used = x->tags >> ((i + (x->status >> 11)) & 7) & 1;
    other |= is_used && memcmp(x->x87[i], y->x87[i], 10) != 0;
  }
  return other;
}

static long faults, strange;
static char bytes[32] __attribute__((aligned(16)));

static void on_fault(int number, siginfo_t* info, void* context) {
  (void)number, (void)info;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  faults++;
  strange += registers[REG_RIP] != (greg_t)unaligned_load;
  strange += (registers[REG_EFL] & kAlignmentCheck) == 0;
  registers[REG_EFL] &= ~(greg_t)kAlignmentCheck;
  registers[REG_RIP] = (greg_t)unaligned_end;
}

static void fault(void) {
  __asm__ volatile(
      "lea -128(%%rsp),%%rsp; pushfq; orl $0x40000,(%%rsp); popfq; call unaligned_load;"
      "lea 128(%%rsp),%%rsp"
      :
      : "D"(bytes + 1)
      : "rax", "memory", "cc");
}

// A local whose parts are not aligned, which is read while the alignment check is on.
NOINLINE long framed(long number) {
  volatile struct {
    char byte;
    long number;
  } __attribute__((packed)) local = {1, number};
  __asm__ volatile(
      "lea -128(%%rsp),%%rsp; pushfq; orl $0x40000,(%%rsp); popfq; lea 128(%%rsp),%%rsp\n"
      "nopw 0(%%rax,%%rax,1)\n"
      "lea -128(%%rsp),%%rsp; pushfq; andl $0xfffbffff,(%%rsp); popfq; lea 128(%%rsp),%%rsp" ::
          : "memory", "cc");
  return local.number;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 200;
  static struct State before, after;
  static struct Registers usual;
  __asm__ volatile("fxsave %0" : "=m"(usual));
  long changed = 0, status = 0, calls = 0, kept = 0;
  for (int i = 0; i < rounds; i++) {
    randomize(&before, &usual);
    with_state(&before, &after, &"!a text at an odd address"[1 + i % 2], &usual);
    changed += is_other(&before, &after);
    status += ((before.flags ^ after.flags) & kStatus) != 0;
    calls++;
    const uint64_t flags = random_flags();
    kept += ((kernel_with_flags(flags, bytes + 3) ^ flags) & ~(uint64_t)kStatus) == 0;
  }
  long sum = 0;
  for (int i = 0; i < 10; i++) sum += framed(i);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  sigaction(SIGBUS, &action, NULL);
  for (int i = 0; i < 10; i++) fault();
  fact("calls", calls);
  fact("changed", changed);
  fact("status changed", status);
  fact("flags kept", kept);
  fact("sum", sum);
  fact("faults", faults);
  fact("strange", strange);
  return changed != 0;
}
// SPDX-License-Identifier: Apache-2.0
