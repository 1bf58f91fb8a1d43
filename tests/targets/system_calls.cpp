// SPDX-License-Identifier: Apache-2.0
// Makes system calls of library_calls: those that the kernel refuses, whoever makes them, and those
// that change nothing.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library_calls.h"

namespace {

char bytes[256];
const long bad_time[2] = {1, -1}, one_second[4] = {1, 0, 1, 0};
const long wrong = (long)bad_time, second = (long)one_second;

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

const Call times_and_signals[] = {
    CALL(getpriority, 99),
    CALL(setpriority, 99),
    CALL(sched_setparam, -1),
    CALL(sched_getparam, -1),
    CALL(sched_setscheduler, -1, SCHED_BATCH),
    CALL(sched_getscheduler, -1),
    CALL(sched_get_priority_max, 99),
    CALL(sched_get_priority_min, 99),
    CALL(sched_rr_get_interval, -1),
    CALL(sched_setaffinity, -1),
    CALL(sched_getaffinity, -1),
    CALL(sched_setattr, -1),
    CALL(sched_getattr, -1),
    CALL(ioprio_set, 99),
    CALL(ioprio_get, 99),
    CALL(getcpu),
    CALL(membarrier, -1),
    CALL(rseq, 0, 0, 99),
    CALL(gettimeofday),
    CALL(settimeofday, wrong),
    CALL(time),
    CALL(times),
    CALL(adjtimex),
    CALL(clock_gettime, 99),
    CALL(clock_settime, 99, wrong),
    CALL(clock_getres, 99),
    CALL(clock_adjtime, 99),
    CALL(getitimer, 99),
    CALL(timer_create, 99),
    CALL(timer_settime, -1, 0, wrong),
    CALL(timer_gettime, -1),
    CALL(timer_getoverrun, -1),
    CALL(timer_delete, -1),
    CALL(timerfd_gettime, -1),
    CALL(tkill, -1),
    CALL(rt_sigqueueinfo, -1, SIGUSR1),
    CALL(rt_tgsigqueueinfo, -1, -1, SIGUSR1),
    CALL(rt_sigsuspend, 0, 3),
    CALL(sigaltstack),
    CALL(signalfd, -1, 0, 3),
};

template <int count>
void make(const Call (&calls)[count]) {
  for (const Call& call : calls) {
    const long* at = call.arguments;
    DO(call.name, syscall(call.number, at[0], at[1], at[2], at[3], at[4], at[5]));
  }
}

void ticks(int) {}

// A signal each millisecond, one of which ends pause().
void pauses() {
  const itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  signal(SIGALRM, ticks);
  DO("syscall.setitimer", setitimer(ITIMER_REAL, &often, nullptr));
  DO("syscall.pause", pause());
  DO("syscall.setitimer", setitimer(ITIMER_REAL, &never, nullptr));
}

// By the C library's functions of their own.
void wrapped() {
  sigset_t set;
  sigemptyset(&set);
  DO("syscall.geteuid", geteuid());
  DO("syscall.getegid", getegid());
  DO("syscall.getpgrp", syscall(SYS_getpgrp));
  DO("syscall.set_tid_address", syscall(SYS_set_tid_address, bytes));
  DO("syscall.close", close((int)DO("syscall.signalfd", signalfd(-1, &set, SFD_CLOEXEC))));
}

}  // namespace

void system_calls() {
  wrapped();
  make(processes);
  make(times_and_signals);
  pauses();
  DO("syscall.getppid", getppid());
}
