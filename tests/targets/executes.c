// SPDX-License-Identifier: Apache-2.0
// Forks a child that executes a program, and waits for it. The child makes the system call in the
// way that is named.
//   executes WAY PROGRAM ARGUMENT
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static char* const* g_words;

static void call_execve(void) { execve(g_words[0], g_words, environ); }
static void call_syscall(void) { syscall(SYS_execve, g_words[0], g_words, environ); }
static void call_execveat(void) {
  syscall(SYS_execveat, AT_FDCWD, g_words[0], g_words, environ, 0);
}
static void call_fexecve(void) { fexecve(open(g_words[0], O_RDONLY), g_words, environ); }

static void enter_kernel(long number) {
  __asm__ volatile("syscall"
                   : "+a"(number)
                   : "D"(g_words[0]), "S"(g_words), "d"(environ)
                   : "rcx", "r11", "memory");
}
static void call_by_instruction(void) { enter_kernel(SYS_execve); }
static void call_by_unknown_number(void) {
  volatile long number = SYS_execve;  // in a register, where the instruction is
  enter_kernel(number);
}

static const struct {
  const char* name;
  void (*call)(void);
} kWays[] = {
    {"execve", call_execve},
    {"syscall", call_syscall},
    {"execveat", call_execveat},
    {"fexecve", call_fexecve},
    {"syscall-instruction", call_by_instruction},
    {"unknown-number", call_by_unknown_number},
};

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  g_words = argv + 2;
  const pid_t pid = fork();
  if (pid == 0) {
    for (size_t i = 0; i < sizeof kWays / sizeof *kWays; i++) {
      if (strcmp(argv[1], kWays[i].name) == 0) kWays[i].call();
    }
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}
