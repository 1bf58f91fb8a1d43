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
