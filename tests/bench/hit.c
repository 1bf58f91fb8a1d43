// Measures nanoseconds per call of the functions that hit.py probes. Reads orders from stdin:
//   bare N       N calls of bare(a, b)
//   counted N    N calls of a function with a counter written by hand, for comparison
//   stepped N    the same with an int3 whose instruction is single-stepped out of line, as the
//   first
//                kprobes did, and counted in its SIGTRAP action
//   boosted N    the same with an int3 whose copy ends in a jump back
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

// Both start with the int3 in place of `lea (%rdi,%rdi,2),%rax`, whose copy stands behind.
long stepped(long a, long b), boosted(long a, long b);
extern char stepped_rest[], stepped_copy[], boosted_copy[];
__asm__(
    ".text\n"
    "stepped: int3; .skip 3, 0x90\n"
    "stepped_rest: add %rsi, %rax; ret\n"
    "stepped_copy: lea (%rdi,%rdi,2), %rax\n"
    "  ud2\n"
    "boosted: int3; .skip 3, 0x90\n"
    "boosted_rest: add %rsi, %rax; ret\n"
    "boosted_copy: lea (%rdi,%rdi,2), %rax\n"
    "  jmp boosted_rest\n");

static void on_trap(int signal, siginfo_t* info, void* context) {
  (void)signal, (void)info;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  const greg_t trap_flag = 0x100;
  if (registers[REG_RIP] == (greg_t)stepped + 1) {
    counter++;
    registers[REG_RIP] = (greg_t)stepped_copy;
    registers[REG_EFL] |= trap_flag;
  } else if (registers[REG_RIP] == (greg_t)boosted + 1) {
    counter++;
    registers[REG_RIP] = (greg_t)boosted_copy;
  } else {  // the copy has been stepped
    registers[REG_RIP] = (greg_t)stepped_rest;
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
  if (strcmp(name, "stepped") == 0) return stepped;
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
    long threads = 0;
    if (sscanf(line, "threads %ld %ld", &threads, &calls) == 2)
      printf("ns: %.3f\n", measure_threads(threads, calls));
    else
      printf("ns: %.3f\n", measure(function_named(what), calls));
    fflush(stdout);
  }
  return 0;
}
