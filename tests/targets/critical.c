// Counts in restartable sequences (rseq), as tcmalloc and jemalloc do: a counter for each
// processor, incremented between two addresses that the kernel knows by a descriptor. All threads
// count.
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/rseq.h>

#include "facts.h"

enum { THREADS = 3, CALLS = 100000, PROCESSORS = 1024 };
static struct {
  long count;
  char rest[56];
} counters[PROCESSORS];

// One more in the counter of the processor where it runs; 0: it was interrupted on the way.
NOINLINE int count_here(void) {
  struct rseq* area = (struct rseq*)((char*)__builtin_thread_pointer() + __rseq_offset);
  __asm__ goto(
      ".pushsection __rseq_cs, \"aw\"\n"
      ".balign 32\n"
      "9: .long 0, 0\n"
      ".quad critical_begin, critical_end - critical_begin, critical_abort\n"
      ".popsection\n"
      "leaq 9b(%%rip), %%rax\n"
      "movq %%rax, %c[descriptor](%[area])\n"
      "critical_begin:\n"
      "movl %c[processor](%[area]), %%eax\n"
      "shlq $6, %%rax\n"
      "critical_middle:\n"
      "addq %[counters], %%rax\n"
      "incq (%%rax)\n"
      "critical_end:\n"
      "jmp %l[done]\n"
      ".byte 0x0f, 0xb9, 0x3d\n"  // ud1: makes the word an instruction
      ".long 0x53053053\n"        // what the kernel wants to find before such an address
      "critical_abort:\n"
      "jmp %l[interrupted]\n"
      :
      :
      [area] "r"(area), [counters] "r"(counters), [descriptor] "i"(offsetof(struct rseq, rseq_cs)),
      [processor] "i"(offsetof(struct rseq, cpu_id))
      : "rax", "memory", "cc"
      : done, interrupted);
done:
  return 1;
interrupted:
  return 0;
}

static void* run(void* argument) {
  for (int i = 0; i < CALLS;) i += count_here();
  return argument;
}

int main(void) {
  pthread_t threads[THREADS];
  long sum = 0;
  if (__rseq_size == 0) return 3;
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < PROCESSORS; i++) sum += counters[i].count;
  fact("counted", sum);
  return sum != (long)THREADS * CALLS;
}
// SPDX-License-Identifier: Apache-2.0
