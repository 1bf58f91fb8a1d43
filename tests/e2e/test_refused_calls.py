# SPDX-License-Identifier: Apache-2.0
"""The arguments of system calls as text: what the tapsets make of the numbers, by names of the C headers. Each call fails, or changes nothing."""
import re

from support import run

# What ctypes is to call, and what the probe of the return says before the result.
DECODED = {
    "setns(-1, 0x40000000)": "setns(-1, CLONE_NEWNET)",
    "syscall(158, 0x1004, None)": "arch_prctl(ARCH_GET_GS, 0x0)",
    "waitid(1, 1, None, 5)": "waitid(P_PID, 1, 0x0, WNOHANG|WEXITED, 0x0)",
    "syscall(312, -1, -1, 2, 5, 6)": "kcmp(-1, -1, KCMP_FILES, 0x5, 0x6)",
    "syscall(440, -1, None, 0, 20, 0)": "process_madvise(-1, 0x0, 0, MADV_COLD, 0x0)",
    "syscall(424, -1, 10, INFO, 0)":
        "pidfd_send_signal(-1, SIGUSR1, {si_signo=SIGUSR1, si_code=SI_QUEUE, si_pid=7, si_uid=8, si_value=0x5}, 0x0)",
    "getpriority(2, 99999)": "getpriority(PRIO_USER, 99999)",
    "sched_setscheduler(-1, 0x40000001, None)": "sched_setscheduler(-1, SCHED_FIFO|SCHED_RESET_ON_FORK, 0x0)",
    "syscall(314, -1, b'\\x30\\0\\0\\0\\6\\0\\0\\0' + bytes(12) + b'\\2\\0\\0\\0' + bytes(24), 0)":
        "sched_setattr(-1, {size=48, sched_policy=SCHED_DEADLINE, sched_flags=0x0, sched_nice=0, sched_priority=2, sched_runtime=0, "
        "sched_deadline=0, sched_period=0}, 0)",
    "syscall(251, 1, -1, 2 << 13 | 4)": "ioprio_set(IOPRIO_WHO_PROCESS, -1, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 4))",
    "syscall(324, 8, 1)": "membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0x1)",
    "clock_settime(7, (L * 2)(5, 6))": "clock_settime(CLOCK_BOOTTIME, [5.000000006])",
    "syscall(305, 2, (L * 26)(0, 3))":
        "clock_adjtime(CLOCK_PROCESS_CPUTIME_ID, {modes=0x0, offset=3, freq=0, maxerror=0, esterror=0, status=0x0, constant=0})",
    "syscall(164, (L * 2)(5, -7), None)": "settimeofday([5.-00007], NULL)",
    "syscall(223, -1, 1, (L * 4)(0, 0, 1, 5), None)": "timer_settime(-1, TIMER_ABSTIME, [0.000000000,1.000000005], 0x0)",
    "sigaltstack((L * 3)(4096, 2, 8192), None)": "sigaltstack({ss_sp=0x1000, ss_flags=SS_DISABLE, ss_size=8192}, 0x0)",
    "syscall(129, -1, 10, INFO)": "rt_sigqueueinfo(-1, SIGUSR1, {si_signo=SIGUSR1, si_code=SI_QUEUE, si_pid=7, si_uid=8, si_value=0x5})",
    "signalfd(-1, (L * 16)(1 << 9), 0x4000)": "signalfd4(-1, [SIGUSR1], 8, 0x4000)",
    "statx(-100, b'/no/where', 0x1100, 0x202, None)":
        'statx(AT_FDCWD, "/no/where", AT_SYMLINK_NOFOLLOW|AT_EMPTY_PATH, STATX_MODE|STATX_SIZE, 0x0)',
    "syscall(437, -100, b'/no/where', (L * 3)(0x80000, 0, 4), 24)":
        'openat2(AT_FDCWD, "/no/where", {flags=O_RDONLY|O_CLOEXEC, mode=0, resolve=0x4}, 24)',
    "syscall(316, -100, b'/no/where', -100, b'/no/x', 3)": 'renameat2(AT_FDCWD, "/no/where", AT_FDCWD, "/no/x", RENAME_NOREPLACE|RENAME_EXCHANGE)',
    "linkat(-100, b'/no/where', -100, b'/no/x', 0x400)": 'linkat(AT_FDCWD, "/no/where", AT_FDCWD, "/no/x", AT_SYMLINK_FOLLOW)',
    "mknod(b'/no/where', 0o10600, L(0))": 'mknodat(AT_FDCWD, "/no/where", S_IFIFO|0600, 0x0)',
    "syscall(132, b'/no/where', (L * 2)(60, 1))": 'utime("/no/where", [Thu Jan  1 00:01:00 1970, Thu Jan  1 00:00:01 1970])',
    "syscall(235, b'/no/where', (L * 4)(1, 2, 3, 4))": 'utimes("/no/where", [1.000002][3.000004])',
    "setxattr(b'/no/where', b'user.x', b'ab', L(2), 2)": 'setxattr("/no/where", "user.x", "ab", 2, XATTR_REPLACE)',
    "preadv2(-1, None, 0, L(7), 8)": "preadv2(-1, 0x0, 0, 0x7, RWF_NOWAIT)",
    "posix_fadvise(-1, L(0), L(5), 4)": "fadvise64(-1, 0, 5, POSIX_FADV_DONTNEED)",
    "sync_file_range(-1, L(1), L(2), 6)": "sync_file_range(-1, 1, 2, SYNC_FILE_RANGE_WRITE|SYNC_FILE_RANGE_WAIT_AFTER)",
    "tee(-1, -2, L(3), 2)": "tee(-1, -2, 3, SPLICE_F_NONBLOCK)",
    "syscall(436, 5, 4, 4)": "close_range(5, 4, CLOSE_RANGE_CLOEXEC)",
    "syscall(300, 0x4201, 0x80000)": "fanotify_init(FAN_CLOEXEC|FAN_REPORT_FID|0x4000, O_RDONLY|O_CLOEXEC)",
    "syscall(301, -1, 1, 0x22, -100, b'/no/where')": 'fanotify_mark(-1, FAN_MARK_ADD, FAN_MODIFY|FAN_OPEN, AT_FDCWD, "/no/where")',
    "inotify_init1(0x4000)": "inotify_init1(0x4000)",
    "sendmmsg(-1, None, 2, 0x40)": "sendmmsg(-1, 0x0, 2, MSG_DONTWAIT)",
    "mlockall(0x61)": "mlockall(MCL_CURRENT|0x60)",
    "syscall(330, 1, 3)": "pkey_alloc(0x1, PKEY_DISABLE_ACCESS|PKEY_DISABLE_WRITE)",
    "syscall(237, 4096, 0, 0x8002, None, 0, 3)": "mbind(0x1000, 0, MPOL_BIND|MPOL_F_STATIC_NODES, 0x0, 0, MPOL_MF_STRICT|MPOL_MF_MOVE)",
    "msgget(0x7654321, 0o600)": "msgget(124076833, 0600)",
    "msgrcv(-1, None, L(3), L(4), 0o14000)": "msgrcv(-1, 0x0, 3, 4, IPC_NOWAIT|MSG_NOERROR)",
    "semctl(-1, 0, 16, 5)": "semctl(-1, 0, SETVAL, 0x5)",
    "semget(1, -1, 0o3600)": "semget(1, -1, IPC_CREAT|IPC_EXCL|0600)",
    "shmctl(-1, 2, None)": "shmctl(-1, IPC_STAT, 0x0)",
    "syscall(240, b'', 0o102, 0o600, None)": 'mq_open("", O_RDWR|O_CREAT, 0600, 0x0)',
    "syscall(240, b'', 2)": 'mq_open("", O_RDWR)',
    "syscall(449, None, 0, 0, (L * 2)(1, 2), 1)": "futex_waitv(0x0, 0, 0x0, [1.000000002], CLOCK_MONOTONIC)",
    "mount(b'a', b'/no/where', b'ext4', L(3), b'x=1')": 'mount("a", "/no/where", "ext4", MS_RDONLY|MS_NOSUID, "x=1")',
    "umount2(b'/no/where', 2)": 'umount("/no/where", MNT_DETACH)',
    "syscall(431, -1, 1, b'source', b'a', 0)": 'fsconfig(-1, FSCONFIG_SET_STRING, "source", ADDR, 0)',
    "syscall(428, -1, b'x', 0x80001)": 'open_tree(-1, "x", OPEN_TREE_CLONE|OPEN_TREE_CLOEXEC)',
    "syscall(167, b'/no/where', 0x8003)": 'swapon("/no/where", SWAP_FLAG_PREFER|0x3)',
    "syscall(443, -1, 0x80000701, 5, None)": "quotactl_fd(-1, Q_GETQUOTA|GRPQUOTA, 5, 0x0)",
    "syscall(169, 672274793, 672274793, 0x89abcdef, None)": "reboot(LINUX_REBOOT_MAGIC2, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_CAD_ON, 0x0)",
    "syscall(313, -1, b'', 3)": 'finit_module(-1, "", MODULE_INIT_IGNORE_MODVERSIONS|MODULE_INIT_IGNORE_VERMAGIC)',
    "syscall(321, 5, None, 0)": "bpf(BPF_PROG_LOAD, 0x0, 0)",
    "syscall(298, None, -1, -2, -3, 8)": "perf_event_open(0x0, -1, -2, -3, PERF_FLAG_FD_CLOEXEC)",
    "syscall(248, b'user', b'mine', None, 0, 0)": 'add_key("user", "mine", 0x0, 0, 0)',
    "syscall(317, 2, 3, None)": "seccomp(SECCOMP_GET_ACTION_AVAIL, SECCOMP_FILTER_FLAG_TSYNC|SECCOMP_FILTER_FLAG_LOG, 0x0)",
    "syscall(445, -1, 1, None, 0)": "landlock_add_rule(-1, LANDLOCK_RULE_PATH_BENEATH, 0x0, 0x0)",
}

PROGRAM = """import ctypes, struct
L = ctypes.c_long
libc = ctypes.CDLL(None)
INFO = struct.pack("iiiiiiq", 10, 0, -1, 0, 7, 8, 5) + bytes(96)
"""


def test_arguments_are_texts(tmp_path):
    """Before and behind each of the calls a mark is written, so that those which Python makes itself are told apart."""
    calls = "".join(f"libc.write(-1, b'<', 1)\nlibc.{call}\n" for call in DECODED)
    output = tmp_path / "out"
    script = 'probe syscall.*.return { printf("%s(%s)\\n", name, argstr) }'
    options = ["-D", "MAXSTRINGLEN=512", "-o", output, "-e", script]
    result = run.run([*options, "--", "/usr/bin/python3", "-I", "-S", "-c", PROGRAM + calls + "libc.write(-1, b'<', 1)\n"])
    parts = output.read_text().split('write(-1, "<", 1)\n')[1:-1]
    said = [[re.sub(r"0x[0-9a-f]{6,}", "ADDR", line) for line in part.splitlines()] for part in parts]
    assert len(said) == len(DECODED), (result, output.read_text())
    assert {call: lines for (call, line), lines in zip(DECODED.items(), said) if line not in lines} == {}
