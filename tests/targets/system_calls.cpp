// SPDX-License-Identifier: Apache-2.0
// Makes system calls of library_calls: those that the kernel refuses, whoever makes them, and those
// that change nothing.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library_calls.h"

namespace {

char bytes[256];

struct Call {
  const char* name;
  long number;
  long arguments[6];
};

#define CALL(name, ...)                           \
  {                                               \
    "syscall." #name, SYS_##name, { __VA_ARGS__ } \
  }

// Identities of -1 stay what they are.
const Call processes[] = {
    CALL(setreuid, -1, -1),
    CALL(setregid, -1, -1),
    CALL(setresuid, -1, -1, -1),
    CALL(setresgid, -1, -1, -1),
    CALL(setfsuid, -1),
    CALL(setfsgid, -1),
    CALL(setgroups, -1),
    CALL(getgroups, -1),
    CALL(getresuid),
    CALL(getresgid),
    CALL(getpgid, -1),
    CALL(getsid, -1),
    CALL(capget),
    CALL(capset),
    CALL(unshare, 1),
    CALL(setns, -1),
    CALL(personality, 0xffffffff),
    CALL(arch_prctl, 99),
    CALL(modify_ldt, 99),
    CALL(iopl, 99),
    CALL(ioperm, 1 << 20, 1, 1),
    CALL(waitid, P_ALL, 0, 0, 0),
    CALL(pidfd_open, -1),
    CALL(pidfd_getfd, -1, -1),
    CALL(pidfd_send_signal, -1),
    CALL(process_vm_readv, -1, 0, 0, 0, 0, 1),
    CALL(process_vm_writev, -1, 0, 0, 0, 0, 1),
    CALL(process_madvise, -1, 0, 0, MADV_COLD),
    CALL(process_mrelease, -1),
    CALL(kcmp, -1, -1, 99),
};

template <int count>
void make(const Call (&calls)[count]) {
  for (const Call& call : calls) {
    const long* at = call.arguments;
    DO(call.name, syscall(call.number, at[0], at[1], at[2], at[3], at[4], at[5]));
  }
}

// By the C library's functions of their own.
void wrapped() {
  DO("syscall.geteuid", geteuid());
  DO("syscall.getegid", getegid());
  DO("syscall.getpgrp", syscall(SYS_getpgrp));
  DO("syscall.set_tid_address", syscall(SYS_set_tid_address, bytes));
}

}  // namespace

void system_calls() {
  wrapped();
  make(processes);
  DO("syscall.getppid", getppid());
}
