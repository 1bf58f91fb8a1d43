// SPDX-License-Identifier: Apache-2.0
// Makes system calls of library_calls: those that the kernel refuses to root, too, and those that
// change nothing.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "library_calls.h"

namespace {

char nowhere[] = "/no/where";
char bytes[256];
const long name = (long)nowhere, room = (long)bytes;
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

const Call files[] = {
    CALL(openat2, AT_FDCWD, name, 0, 1),
    CALL(readlinkat, AT_FDCWD, name, room, 1),
    CALL(mkdirat, AT_FDCWD, name, 0700),
    CALL(mknodat, AT_FDCWD, name, S_IFIFO | 0600),
    CALL(fchmodat, AT_FDCWD, name, 0600),
    CALL(fchownat, AT_FDCWD, name, -1, -1),
    CALL(futimesat, AT_FDCWD, name, second),
    CALL(linkat, AT_FDCWD, name, AT_FDCWD, name),
    CALL(symlinkat, name, AT_FDCWD, name),
    CALL(renameat, AT_FDCWD, name, AT_FDCWD, name),
    CALL(renameat2, AT_FDCWD, name, AT_FDCWD, name, 1),
    CALL(name_to_handle_at, AT_FDCWD, name),
    CALL(open_by_handle_at, -1),
    CALL(lchown, name, -1, -1),
    CALL(mknod, name, S_IFIFO | 0600),
    CALL(utime, name, second),
    CALL(utimes, name, second),
    CALL(lsetxattr, name, name, room, 1),
    CALL(lgetxattr, name, name, room, 1),
    CALL(llistxattr, name, room, 1),
    CALL(lremovexattr, name, name),
    CALL(fsetxattr, -1, name, room, 1),
    CALL(fgetxattr, -1, name, room, 1),
    CALL(flistxattr, -1, room, 1),
    CALL(fremovexattr, -1, name),
    CALL(preadv2, -1),
    CALL(pwritev2, -1),
    CALL(tee, -1, -1, 1),
    CALL(readahead, -1),
    CALL(fadvise64, -1),
    CALL(sync_file_range, -1),
    CALL(syncfs, -1),
    CALL(close_range, 2, 1),
    CALL(epoll_pwait, -1, room, 1),
    CALL(epoll_pwait2, -1, room, 1),
    CALL(inotify_rm_watch, -1),
    CALL(fanotify_init, -1),
    CALL(fanotify_mark, -1, 0, 0, AT_FDCWD, name),
    CALL(sendmmsg, -1),
    CALL(recvmmsg, -1),
};

const Call memory[] = {
    CALL(mincore, 1),
    CALL(mlock2, 0, 0, 99),
    CALL(mlockall, 99),
    CALL(munlockall),
    CALL(remap_file_pages),
    CALL(pkey_mprotect, 1, 1, 0, -1),
    CALL(pkey_alloc, 1),
    CALL(pkey_free, -1),
    CALL(memfd_secret, 1),
    CALL(userfaultfd, 99),
    CALL(mbind, 1, 1, 99),
    CALL(set_mempolicy, 99),
    CALL(get_mempolicy, 0, 0, 0, 0, 99),
    CALL(set_mempolicy_home_node, 1, 1, 0, 1),
    CALL(migrate_pages, -1),
    CALL(move_pages, -1, 0, 0, 0, 0, 99),
    CALL(msgget, 1),
    CALL(msgsnd, -1, room, 1),
    CALL(msgctl, -1, IPC_STAT),
    CALL(semget, 1),
    CALL(semctl, -1, 0, GETVAL),
    CALL(shmctl, -1, IPC_STAT),
    CALL(mq_open, name),
    CALL(mq_unlink, name),
    CALL(mq_timedsend, -1),
    CALL(mq_timedreceive, -1),
    CALL(mq_notify, -1),
    CALL(mq_getsetattr, -1),
    CALL(futex_waitv),
    CALL(set_robust_list, 0, 1),
    CALL(get_robust_list, -1),
    CALL(io_setup),
    CALL(io_destroy),
    CALL(io_getevents),
    CALL(io_pgetevents),
    CALL(io_cancel),
    CALL(io_uring_setup),
    CALL(io_uring_enter, -1),
    CALL(io_uring_register, -1),
};

// Root may make these calls. Each has one wrong value, which the kernel looks at first: a magic
// number, flags, a length, a name.
const Call machine[] = {
    CALL(mount, name, name, name),
    {"syscall.umount", SYS_umount2, {name}},
    CALL(pivot_root, name, name),
    CALL(chroot, name),
    CALL(open_tree, -1, name),
    CALL(move_mount, -1, name, -1, name),
    CALL(fsopen, 0, 99),
    CALL(fsconfig, -1, 99),
    CALL(fsmount, -1),
    CALL(fspick, -1, name),
    CALL(mount_setattr, -1, name),
    CALL(swapon, name),
    CALL(swapoff, name),
    CALL(quotactl, -1, name),
    CALL(quotactl_fd, -1),
    CALL(ustat),
    CALL(sysfs, 99),
    CALL(acct, name),
    CALL(reboot),
    CALL(sethostname, name, -1),
    CALL(setdomainname, name, -1),
    CALL(syslog, 99),
    CALL(init_module, 0, 0, name),
    CALL(finit_module, -1, name, 0x8000),
    CALL(delete_module, name, O_NONBLOCK),
    CALL(kexec_load, 0, 99, 0, 0x8000),
    CALL(kexec_file_load, -1, -1, 0, 0, 0x8000),
    CALL(bpf, -1),
    CALL(perf_event_open),
    CALL(add_key),
    CALL(request_key),
    CALL(keyctl, -1),
    CALL(seccomp, 99),
    CALL(landlock_create_ruleset, 0, 0, 0x8000),
    CALL(landlock_add_rule, -1, 1),
    CALL(landlock_restrict_self, -1),
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
  struct statfs system;
  struct statx status;
  struct sysinfo machine;
  sigset_t set;
  sigemptyset(&set);
  DO("syscall.geteuid", geteuid());
  DO("syscall.getegid", getegid());
  DO("syscall.getpgrp", syscall(SYS_getpgrp));
  DO("syscall.set_tid_address", syscall(SYS_set_tid_address, bytes));
  DO("syscall.sysinfo", sysinfo(&machine));
  DO("syscall.statx", statx(AT_FDCWD, "/", 0, STATX_SIZE, &status));
  DO("syscall.fstatfs", fstatfs(-1, &system));
  DO("syscall.setxattr", setxattr(nowhere, nowhere, bytes, 1, 0));
  DO("syscall.getxattr", getxattr(nowhere, nowhere, bytes, 1));
  DO("syscall.listxattr", listxattr(nowhere, bytes, 1));
  DO("syscall.removexattr", removexattr(nowhere, nowhere));
  DO("syscall.splice", splice(-1, nullptr, -1, nullptr, 1, SPLICE_F_MOVE));
  DO("syscall.msgrcv", msgrcv(-1, bytes, 1, 0, IPC_NOWAIT));
  DO("syscall.sync", syscall(SYS_sync));
  DO("syscall.close", close((int)DO("syscall.inotify_init", syscall(SYS_inotify_init))));
  DO("syscall.close", close((int)DO("syscall.inotify_init", inotify_init1(IN_CLOEXEC))));
  DO("syscall.close", close((int)DO("syscall.signalfd", signalfd(-1, &set, SFD_CLOEXEC))));
}

}  // namespace

void system_calls() {
  wrapped();
  make(processes);
  make(times_and_signals);
  make(files);
  make(memory);
  make(machine);
  pauses();
  DO("syscall.getppid", getppid());
}
