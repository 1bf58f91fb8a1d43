// SPDX-License-Identifier: Apache-2.0
// Measures nanoseconds per call of the functions that hit.py probes. Reads orders from stdin:
//   bare N       N calls of bare(a, b)
//   counted N    N calls of a function with a counter written by hand, for comparison
//   stepped N    the same with an int3 whose instruction is single-stepped out of line, as by the
//                first kprobes, and counted in its SIGTRAP action; stepped-map, stepped-printf:
//                other things are done there
//   left N       the same with the int3 on the return; left-map, left-printf
//   boosted N    stepped, but the copy ends in a jump back
//   threads T N  N calls of bare(a, b) in each of T threads; per call of all of them
//   quit
// Each answer is "ns: X", the best of many short runs, N calls in all: one that nobody disturbed.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone, noipa))

static volatile long counter;

NOINLINE long bare(long a, long b) { return a * 3 + b; }

NOINLINE long counted(long a, long b) {
  counter++;
  return a * 3 + b;
}

// Two start with the int3 in place of `lea (%rdi,%rdi,2),%rax`, one ends with it in place of `ret`;
// the copy stands behind.
long stepped(long a, long b), boosted(long a, long b), left(long a, long b);
extern char stepped_rest[], stepped_copy[], stepped_end[], boosted_copy[], left_exit[], left_copy[];
__asm__(
    ".text\n"
    "stepped: int3; .skip 3, 0x90\n"
    "stepped_rest: add %rsi, %rax; ret\n"
    "stepped_copy: lea (%rdi,%rdi,2), %rax\n"
    "stepped_end: ud2\n"
    "left: lea (%rdi,%rdi,2), %rax; add %rsi, %rax\n"
    "left_exit: int3\n"
    "left_copy: ret\n"
    "boosted: int3; .skip 3, 0x90\n"
    "boosted_rest: add %rsi, %rax; ret\n"
    "boosted_copy: lea (%rdi,%rdi,2), %rax\n"
    "  jmp boosted_rest\n");

// What is done at a hit.
enum Body { COUNTER, MAP, PRINTF };
static enum Body body;

static void map_add(long key, long value) {
  enum { SLOTS = 4096 };
  static struct { long used, key, sum; } slots[SLOTS];
  unsigned long at = (unsigned long)key * 0x9e3779b97f4a7c15 >> 52;
  while (slots[at].used && slots[at].key != key) at = (at + 1) % SLOTS;
  slots[at].used = 1, slots[at].key = key, slots[at].sum += value;
}

static void hit(long a, long b) {
  static char text[64];
  switch (body) {
    case COUNTER:
      counter++;
      break;
    case MAP:
      map_add(a, b);
      break;
    case PRINTF:
      snprintf(text, sizeof text, "%ld %ld\n", a, b);
  }
}

static void on_trap(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  const greg_t trap_flag = 0x100, at = registers[REG_RIP];
  if (at == (greg_t)stepped + 1) {
    hit(registers[REG_RDI], registers[REG_RSI]);
    registers[REG_RIP] = (greg_t)stepped_copy;
    registers[REG_EFL] |= trap_flag;
  } else if (at == (greg_t)left_exit + 1) {
    hit(registers[REG_RDI], registers[REG_RAX]);
    registers[REG_RIP] = (greg_t)left_copy;
    registers[REG_EFL] |= trap_flag;
  } else if (at == (greg_t)boosted + 1) {
    hit(registers[REG_RDI], registers[REG_RSI]);
    registers[REG_RIP] = (greg_t)boosted_copy;
  } else {  // a copy has been stepped
    if (at == (greg_t)stepped_end) registers[REG_RIP] = (greg_t)stepped_rest;
    registers[REG_EFL] &= ~trap_flag;
  }
}

static double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

// Of all threads together: neighbours on the machine do not count.
static double processor_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double measure(long (*function)(long, long), long calls) {
  double best = 1e18;
  const int runs = 100;
  calls = calls / runs + 1;
  for (int run = 0; run < runs; run++) {
    double begin = now_ns();
    long sum = 0;
    for (long i = 0; i < calls; i++) sum += function(i & 1023, i);
    double each = (now_ns() - begin) / (double)calls;
    if (sum == 42) puts("");
    if (each < best) best = each;
  }
  return best;
}

static void* call_bare(void* calls) {
  long sum = 0;
  for (long i = 0; i < *(long*)calls; i++) sum += bare(i & 1023, i);
  return (void*)sum;
}

static double measure_threads(long count, long calls) {
  pthread_t threads[64];
  double best = 1e18;
  for (int run = 0; run < 20; run++) {
    double begin = processor_ns();
    for (long i = 0; i < count && i < 64; i++) pthread_create(&threads[i], NULL, call_bare, &calls);
    for (long i = 0; i < count && i < 64; i++) pthread_join(threads[i], NULL);
    double each = (processor_ns() - begin) / (double)(calls * count);
    if (each < best) best = each;
  }
  return best;
}

static long (*function_named(const char* name))(long, long) {
  if (strcmp(name, "counted") == 0) return counted;
  if (strncmp(name, "stepped", 7) == 0) return stepped;
  if (strncmp(name, "left", 4) == 0) return left;
  return strcmp(name, "boosted") == 0 ? boosted : bare;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  char line[64];
  printf("pid: %d\n", (int)getpid());
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    char what[16] = "";
    long calls = 0;
    if (sscanf(line, "%15s %ld", what, &calls) < 2) break;
    body = strstr(what, "-map") ? MAP : strstr(what, "-printf") ? PRINTF : COUNTER;
    long threads = 0;
    if (sscanf(line, "threads %ld %ld", &threads, &calls) == 2)
      printf("ns: %.3f\n", measure_threads(threads, calls));
    else
      printf("ns: %.3f\n", measure(function_named(what), calls));
    fflush(stdout);
  }
  return 0;
}
