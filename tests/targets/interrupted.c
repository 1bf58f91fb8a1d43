// Waits in a system call that a signal ends ten thousand times a second: its handler wants no
// restart.
//   interrupted NAME         by the system call of this name below, until SIGTERM
//   interrupted NAME calm    without these signals
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "facts.h"

typedef long Waits(void* files, long count, long milliseconds, long number);

// poll(). constant: the call lies behind the jump. nearby: within it, and is its last instruction.
// first: the jump can only begin at the call, as a branch comes there. returned: the jump of a
// return probe begins before it, as no room is behind the return. masks: rt_sigprocmask(), for
// whose sake djtap hooks the calls here whose number it does not know.
Waits constant, nearby, first, returned, masks;
__asm__(
    ".pushsection .text\n"
    ".globl constant, nearby, first, returned, masks\n"
    ".type constant, @function\n"
    ".type nearby, @function\n"
    ".type first, @function\n"
    ".type returned, @function\n"
    ".type masks, @function\n"
    ".balign 16\n"
    "constant: push %rbx; mov $7, %eax; syscall; pop %rbx; ret\n"
    ".size constant, . - constant\n"
    ".balign 16\n"
    "nearby: mov %rcx, %rax; syscall; cmp $7, %rax; ret\n"
    ".size nearby, . - nearby\n"
    ".balign 16\n"
    "first: push %rbx; mov $7, %eax\n"
    "1: syscall; cmp $7, %rax; je 1b; pop %rbx; ret\n"
    ".size first, . - first\n"
    ".balign 16\n"
    "returned: push %rbx; mov $7, %eax; syscall; pop %rbx; ret\n"
    ".size returned, . - returned\n"
    "masks: mov %rcx, %r10; mov $14, %eax; syscall; ret\n"
    ".size masks, . - masks\n"
    ".popsection\n");

static volatile sig_atomic_t stop;
static long interrupted, elapsed, wrong;

static void on_alarm(int number) { (void)number; }

static void on_term(int number) {
  (void)number;
  stop = 1;
}

static Waits* named(const char* name) {
  if (strcmp(name, "constant") == 0) return constant;
  if (strcmp(name, "nearby") == 0) return nearby;
  return strcmp(name, "first") == 0 ? first : returned;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  Waits* waits = named(argv[1]);
  const struct sigaction alarm = {.sa_handler = on_alarm};
  const struct itimerval often = {{0, 100}, {0, 100}};
  signal(SIGTERM, on_term);
  sigaction(SIGALRM, &alarm, NULL);
  if (argc == 2) setitimer(ITIMER_REAL, &often, NULL);
  wrong += masks(NULL, 0, 0, 8) != 0;
  fact("pid", getpid());
  while (!stop) {
    const long result = waits(NULL, 0, 100, 7);
    if (result == -EINTR) interrupted++;
    if (result == 0) elapsed++;
    if (result != -EINTR && result != 0) wrong++;
  }
  fact("interrupted", interrupted);
  fact("elapsed", elapsed);
  fact("wrong", wrong);
  return wrong != 0;
}
// SPDX-License-Identifier: Apache-2.0
