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
