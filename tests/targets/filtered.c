// Allows itself nothing but read, write and exit (seccomp), and then calls work() 500 times for
// each line on stdin.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "facts.h"

#define ALLOW(number) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static long calls;

NOINLINE void work(void) { calls++; }

int main(void) {
  static char input[64];
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), ALLOW(SYS_read),
      ALLOW(SYS_write), ALLOW(SYS_exit_group), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  fact("pid", getpid());
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    return 1;
  fact("filtered", 1);
  while (read(STDIN_FILENO, input, sizeof input) > 0) {
    for (int i = 0; i < 500; i++) work();
    fact("calls", calls);
  }
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
