# SPDX-License-Identifier: Apache-2.0
"""Runs djtap doctor, checks the form of what it says, and compares it with what a session says and the kernel's files have."""
import json
import re
import struct

from support import json_diagnostics, paths, run

SCHEMA = json.loads((paths.ROOT / "docs" / "doctor.schema.json").read_text())
COUNT = 'probe func("work") { n++ }'


class Doctor:
    """What a run of the doctor says."""

    def __init__(self, result):
        self.result, self.said = result, json.loads(result.stdout)
        json_diagnostics.check(self.said, SCHEMA)
        assert result.stderr == "", result
        assert self.said["exit_code"] == result.returncode and self.said["well"] == (result.returncode == 0), result
        bad = {each["health"] for each in self.said["findings"]} & {"limited", "fails"}
        assert self.said["well"] == (not bad), result
        assert all(each["way_out"] for each in self.said["findings"] if each["health"] in ("limited", "fails")), result

    def rows(self, name):
        return [each for each in self.said["findings"] if each["row"] == name]

    def row(self, name):
        [one] = self.rows(name)
        return one

    def health(self, name):
        return self.row(name)["health"]


def look(*words, **options):
    return Doctor(run.run(["doctor", "--json", *words], **options))


def refused(result):
    """A session's exit code, and why it was refused."""
    return result.returncode, re.search(r"error\[DJ\d+\]: (.*)", result.stderr)[1]


def session_on(pid, *options, **how):
    return run.run([*options, "-T", "0.05", "-e", COUNT, "-p", str(pid)], **how)


def of_kernel(path):
    try:
        with open(path, encoding="utf8") as file:
            return file.read().strip()
    except FileNotFoundError:
        return None


def hwcap2():
    with open("/proc/self/auxv", "rb") as file:
        return dict(struct.iter_unpack("QQ", file.read()))[26]  # AT_HWCAP2


def fill(program, what):
    """A program that has mapped something else before it waits."""
    started = program(paths.PYTHON, "-uc", f"import ctypes, mmap, sys\n{MAPPER}\n{what}\nprint('pid: ready')\nsys.stdin.read()")
    started.wait_for("pid: ready")
    return started


MAPPER = """
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
def reserve(at, size): return libc.mmap(at, size, 0, 0x104022 if at else 0x4022, -1, 0)
"""
