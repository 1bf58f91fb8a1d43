// Threads of the program's own, on stacks of their own, that a timer's signal exchanges wherever they are: in the
// middle of what work() is probed with, too. How the handler exchanges them: "swap" calls swapcontext(), "copy" takes
// the registers out of the signal frame and puts others in. "alone": nobody is exchanged, main() is interrupted.
//   park    nobody goes on, and all stay where they are; go; quit
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "facts.h"

enum { ROUTINES = 24, STACK = 256 * 1024 };
static ucontext_t contexts[ROUTINES + 1];  // the first is main()'s
static gregset_t registers[ROUTINES + 1];
static volatile int current, parked;
static int copies, alone;
static atomic_long rounds, wrong;

NOINLINE long work(int id, long n) { return n * 2 + id; }

// swapcontext() sets the signal mask before it loads the registers, so a routine begins with the
// signal blocked: one that came in between would save that half switched state as the routine's own.
static void block_exchange(int how) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGALRM);
  sigprocmask(how, &one, NULL);
}

static void routine(int id) {
  block_exchange(SIG_UNBLOCK);
  for (long n = 0;; n++) {
    if (work(id, n) != n * 2 + id) wrong++;
    rounds++;
  }
}

static void exchange(int number, siginfo_t* info, void* frame) {
  const int from = current, to = (current + 1) % (ROUTINES + 1);
  (void)number, (void)info;
  if (parked || alone) return;
  current = to;
  if (copies) {
    gregset_t* now = &((ucontext_t*)frame)->uc_mcontext.gregs;
    memcpy(registers[from], *now, sizeof *now);
    memcpy(*now, registers[to], sizeof *now);
  } else {
    swapcontext(&contexts[from], &contexts[to]);
  }
}

NOINLINE void start(int id, greg_t segments) {
  char* stack = malloc(STACK);
  greg_t* r = registers[id];
  r[REG_RIP] = (greg_t)(long)routine, r[REG_RSP] = ((greg_t)(long)stack + STACK - 64) / 16 * 16 - 8;
  r[REG_RDI] = id, r[REG_EFL] = 0x202, r[REG_CSGSFS] = segments;
  getcontext(&contexts[id]);
  contexts[id].uc_stack = (stack_t){.ss_sp = stack, .ss_size = STACK};
  makecontext(&contexts[id], (void (*)(void))routine, 1, id);
}

static void obey(char* line, size_t bytes) {
  do {
    if (!fgets(line, (int)bytes, stdin) || strncmp(line, "quit", 4) == 0) {
      parked = 1;
      fact("wrong", wrong);
      exit(wrong == 0 ? 0 : 1);
    }
    parked = strncmp(line, "park", 4) == 0;
    fact("parked", parked);
  } while (parked);
}

int main(int argc, char** argv) {
  struct sigaction action = {.sa_sigaction = exchange, .sa_flags = SA_RESTART | SA_SIGINFO};
  const struct itimerval every = {{0, 500}, {0, 500}};
  char line[16];
  const greg_t segments = 0x2b000000000033;
  copies = argc > 1 && strcmp(argv[1], "copy") == 0;
  alone = argc > 1 && strcmp(argv[1], "alone") == 0;
  setvbuf(stdin, NULL, _IONBF, 0);
  block_exchange(SIG_BLOCK);
  for (int id = 1; id <= ROUTINES; id++) start(id, segments);
  block_exchange(SIG_UNBLOCK);
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &every, NULL);
  fact("pid", getpid());
  for (long n = 0;; n++) {
    struct pollfd in = {STDIN_FILENO, POLLIN, 0};
    for (int i = 0; i < 1000; i++) {
      if (work(i, n) != n * 2 + i) wrong++;
    }
    if (poll(&in, 1, 0) == 1) obey(line, sizeof line);
  }
}
// SPDX-License-Identifier: Apache-2.0
