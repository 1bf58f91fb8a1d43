// SPDX-License-Identifier: Apache-2.0
// rseq.h uses restartable sequences to read this thread's CPU, and to add to a word of this CPU's
// row with no locked instruction. In the agent struct rseq lies at the link-time constant dj_rseq
// from the fs base; in djtap's own copy of these sources glibc says where.
#pragma once
#include <stdint.h>
#if __STDC_HOSTED__
// glibc's. NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const int64_t __rseq_offset;
#endif

namespace dj::agent {

constexpr uint32_t kRseqCpu = 4;  // offset of rseq::cpu_id
constexpr uint32_t kRseqCs = 8;   // offset of rseq::rseq_cs

#if __STDC_HOSTED__
inline int64_t rseq_offset() { return __rseq_offset; }
inline uint32_t rseq_cpu() {
  uint32_t cpu;
  asm volatile("movl %%fs:4(%1), %0" : "=r"(cpu) : "r"(rseq_offset()));
  return cpu;
}
#define DJ_RSEQ_CPU "%%fs:4(%[rseq])"
#define DJ_RSEQ_CS "%%fs:8(%[rseq])"
#define DJ_RSEQ_INPUT [rseq] "r"(rseq_offset()),
#define DJ_RSEQ_SECTION ".pushsection .dj_rseq_cs, \"aw\"\n"
#else
inline int64_t rseq_offset() {
  int64_t offset;
  asm("movq $dj_rseq, %0" : "=r"(offset));
  return offset;
}
inline uint32_t rseq_cpu() {
  uint32_t cpu;
  asm volatile("movl %%fs:dj_rseq+4, %0" : "=r"(cpu));
  return cpu;
}
#define DJ_RSEQ_CPU "%%fs:dj_rseq+4"
#define DJ_RSEQ_CS "%%fs:dj_rseq+8"
#define DJ_RSEQ_INPUT
#define DJ_RSEQ_SECTION ".pushsection .dj_rseq_cs, \"a\"\n"
#endif

// The sequence, from its start (1) to behind its one store (2). The kernel sends a thread that was
// preempted, moved or interrupted by a signal in between to the landing (4), which the signature
// precedes; it does as unregistered threads do: one that is executed step by step (a debugger)
// would never come to the end. The shift sets the sign flag for the ids of those. `commit` is the
// one instruction that stores.
#define DJ_RSEQ_ADD(shift, commit)                                          \
  DJ_RSEQ_SECTION                                                           \
  ".balign 32\n"                                                            \
  "3: .long 0, 0\n"                                                         \
  "   .quad 1f, 2f - 1f, 4f\n"                                              \
  ".popsection\n"                                                           \
  ".pushsection .text.dj_rseq_abort, \"ax\"\n"                              \
  "   .byte 0x0f, 0xb9, 0x3d\n" /* makes the signature an operand of ud1 */ \
  "   .long 0x53053053\n"                                                   \
  "4: jmp %l[aside]\n"                                                      \
  ".popsection\n"                                                           \
  "   leaq 3b(%%rip), %%r11\n"                                              \
  "   movq %%r11, " DJ_RSEQ_CS                                              \
  "\n"                                                                      \
  "1: movl " DJ_RSEQ_CPU                                                    \
  ", %%r11d\n"                                                              \
  "   shll " shift                                                          \
  ", %%r11d\n"                                                              \
  "   js %l[aside]\n" commit "2:\n"

// Adds n to the word at `slot` + (this CPU << shift). False: nothing was done, because this thread
// is not registered or was interrupted; another row must be added to, by a locked instruction.
inline __attribute__((always_inline)) bool rseq_add(uint64_t slot, uint32_t shift, int64_t n) {
#if !__STDC_HOSTED__
  // What the compiler of the handlers knows to be constants become operands of the instructions.
  if (__builtin_constant_p(slot) && __builtin_constant_p(shift)) {
    asm goto(DJ_RSEQ_ADD("%[shift]", "   addq %[n], %c[slot](%%r11)\n")
             : /* none */
             : [slot] "i"(slot), [shift] "i"(shift), [n] "er"(n)
             : "r11", "memory", "cc"
             : aside);
    return true;
  }
  if (__builtin_constant_p(shift)) {
    asm goto(DJ_RSEQ_ADD("%[shift]", "   addq %[n], (%[slot],%%r11)\n")
             : /* none */
             : [slot] "r"(slot), [shift] "i"(shift), [n] "er"(n)
             : "r11", "memory", "cc"
             : aside);
    return true;
  }
#endif
  asm goto(DJ_RSEQ_ADD("%%cl", "   addq %[n], (%[slot],%%r11)\n")
           : /* none */
           : DJ_RSEQ_INPUT[slot] "r"(slot), "c"(shift), [n] "er"(n)
           : "r11", "memory", "cc"
           : aside);
  return true;
aside:
  return false;
}

}  // namespace dj::agent
