// Looks the faulting instruction up, as Java's SafeFetch, Go's nil checks and sanitizers do: the
// SIGSEGV handler knows functions by their address ranges and instructions by a table. Each of
// these functions faults in its first bytes.
//   looked_up N loop: N calls of a function that faults and then loops in its first bytes.
//   looked_up N: N rounds of all others.
//   looked_up N wait: and N more for every line of input until "quit"; "fork" forks a child, which
//   makes N rounds before "join" and N behind it.
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "facts.h"

enum { PAGE = 4096 };
static char* page;
static long faults, unknown, pushed_wrong, si_addr_wrong;
static volatile long repairs;

int fetch(const int* from, int instead);         // its first instruction faults
int fetch_second(const int* from, int instead);  // its second one does
int divide(int n, int by);                       // SIGFPE
int repaired(const char* from);  // the handler opens the page: the instruction is made again
int skipped(const int* from);    // the handler goes on at the next instruction
int looping(const int* from, int count);
void trap_here(void);  // SIGILL
extern const char fetch_at[], fetch_instead[], second_at[], second_instead[], divide_at[],
    divide_instead[], repaired_at[], skipped_at[], skipped_next[], trap_at[], trap_next[],
    looping_at[], looping_next[];

__asm__(
    ".text\n"
    ".macro begins name\n.p2align 4\n.globl \\name\n.type "
    "\\name,@function\n\\name:\n.cfi_startproc\n.endm\n"
    ".macro ends name\n.cfi_endproc\n.size \\name, .-\\name\n.endm\n"
    "begins fetch\nfetch_at: mov (%rdi),%eax\nret\nfetch_instead: mov %esi,%eax\nret\nends fetch\n"
    "begins fetch_second\nmov %esi,%ecx\nsecond_at: mov (%rdi),%eax\nlea (%rax),%eax\nret\n"
    "second_instead: mov %ecx,%eax\nret\nends fetch_second\n"
    "begins divide\nmov %edi,%eax\ncltd\ndivide_at: idiv %esi\nnop\nret\n"
    "divide_instead: mov $-1,%eax\nret\nends divide\n"
    "begins repaired\npush %rbx\n.cfi_adjust_cfa_offset 8\nrepaired_at: movsbl (%rdi),%eax\npop "
    "%rbx\n"
    ".cfi_adjust_cfa_offset -8\nret\nends repaired\n"
    "begins skipped\nxor %eax,%eax\nskipped_at: mov (%rdi),%eax\nskipped_next: inc "
    "%eax\nnop\nret\nends skipped\n"
    "begins looping\nlooping_at: mov (%rdi),%eax\nlooping_next: dec %esi\njne looping_next\n"
    "mov $9,%eax\nret\nends looping\n"
    "begins trap_here\nnop\ntrap_at: ud2\ntrap_next: nop\nnop\nret\nends trap_here\n");

static const struct {
  const char *at, *next;
} kTable[] = {{fetch_at, fetch_instead},  {second_at, second_instead}, {divide_at, divide_instead},
              {skipped_at, skipped_next}, {trap_at, trap_next},        {looping_at, looping_next},
              {repaired_at, repaired_at}};

static void on_fault(int number, siginfo_t* info, void* data) {
  greg_t* registers = ((ucontext_t*)data)->uc_mcontext.gregs;
  const char* at = (const char*)registers[REG_RIP];
  faults++;
  // The instruction's own address, where the kernel says that and not the data's.
  if ((number == SIGFPE || number == SIGILL) && info->si_addr != at) si_addr_wrong++;
  for (size_t i = 0; i < sizeof kTable / sizeof *kTable; i++) {
    if (kTable[i].at != at) continue;
    if (at == repaired_at) {
      pushed_wrong += *(long*)registers[REG_RSP] != registers[REG_RBX];
      mprotect(page, PAGE, PROT_READ);
      repairs++;
    }
    registers[REG_RIP] = (greg_t)kTable[i].next;
    return;
  }
  unknown++;
  static const char kText[] = "a fault at an unknown instruction\n";
  if (write(2, kText, sizeof kText - 1) < 0) _exit(3);
  _exit(2);
}

static void handle(int number) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER}, now;
  sigaction(number, &action, NULL);
  sigaction(number, NULL, &now);
  if (now.sa_sigaction != on_fault) exit(5);
}

static void rounds(long count) {
  const int here = 7;
  for (long i = 0; i < count; i++) {
    if (fetch(i % 2 ? &here : NULL, 3) != (i % 2 ? 7 : 3)) exit(10);
    if (fetch_second(i % 2 ? &here : NULL, 3) != (i % 2 ? 7 : 3)) exit(11);
    if (divide(84, i % 2 ? 2 : 0) != (i % 2 ? 42 : -1)) exit(12);
    mprotect(page, PAGE, i % 2 ? PROT_READ : PROT_NONE);
    if (repaired(page) != 41) exit(13);
    if (skipped(i % 2 ? &here : NULL) != (i % 2 ? 8 : 1)) exit(14);
    if (i % 2) trap_here();
  }
}

static int is_own(void) {
  struct sigaction now;
  sigaction(SIGSEGV, NULL, &now);
  return now.sa_sigaction == on_fault;
}

// Waits for the pipe's end in between.
static void run_child(int from, long count) {
  char byte;
  rounds(count);
  while (read(from, &byte, 1) > 0) continue;
  rounds(count);
  _exit(is_own() && unknown + pushed_wrong + si_addr_wrong == 0 ? 0 : 1);
}

int main(int argc, char** argv) {
  char line[64];
  if (argc < 2) return 2;
  page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  page[0] = 41;
  const int numbers[] = {SIGSEGV, SIGFPE, SIGILL, SIGBUS};
  for (int i = 0; i < 4; i++) handle(numbers[i]);
  if (argc > 2 && strcmp(argv[2], "loop") == 0) {
    for (long i = atol(argv[1]); i > 0; i--) {
      if (looping(NULL, 50) != 9) exit(15);
    }
  } else {
    rounds(atol(argv[1]));
  }
  fact("faults", faults);
  int ends[2], status = -1;
  pid_t child = 0;
  while (argc > 2 && strcmp(argv[2], "wait") == 0 && fgets(line, sizeof line, stdin) != NULL &&
         strcmp(line, "quit\n") != 0) {
    if (strcmp(line, "fork\n") == 0 && pipe(ends) == 0 && (child = fork()) == 0) {
      close(ends[1]);
      run_child(ends[0], atol(argv[1]));
    }
    if (strcmp(line, "join\n") == 0) {
      close(ends[1]);
      waitpid(child, &status, 0);
      fact("child", status);
    }
    rounds(atol(argv[1]));
    fact("own", is_own());
    fact("faults", faults);
  }
  fact("wrong", unknown + pushed_wrong + si_addr_wrong);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
