# SPDX-License-Identifier: Apache-2.0
"""What a process may have of memory and files: limits that need not keep djtap out, and those that do, by their names."""
import re
import resource
import signal
import subprocess
import sys

import pytest

from support import process, run

# Sets a limit, or locks what it maps from then on; then makes a thousand calls for each line.
CONFINED = """
import ctypes, os, resource, sys
how, soft, hard = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if how == "lock":
    assert ctypes.CDLL(None).mlockall(soft) == 0
elif how:
    resource.setrlimit(getattr(resource, "RLIMIT_" + how), (soft, hard))
print("pid:", os.getpid(), flush=True)
for line in sys.stdin:
    for i in range(1000): os.getppid()
    print("called:", line, end="", flush=True)
"""
SCRIPT = 'probe func("libc.so.6!getppid") { n++; a[pid()] += 1 } probe func("libc.so.6!getppid").return { r++ }'
FUTURE, ON_FAULT = 2, 4  # MCL_FUTURE, MCL_ONFAULT


@pytest.fixture
def confined(program, as_nobody):
    def start(how, soft=0, hard=0):
        target = program(*as_nobody, sys.executable, "-c", CONFINED, how, str(soft), str(hard), cwd="/tmp")
        target.wait_for("pid: ")
        return target

    return start


@pytest.fixture
def attached(program, public_build, as_nobody, mode_options):
    """attached(target): djtap, of the same user."""
    def start(target):
        words = run.command([*mode_options, "--probes", "-e", SCRIPT, "-p", target.pid], as_nobody, public_build / "djtap")
        return program(*words, cwd="/tmp")

    return start


def limits(pid):
    with open(f"/proc/{pid}/limits", encoding="ascii") as file:
        return file.read()


LIVES = {
    "open files": ("NOFILE", 3, 100),  # three are open
    "files' size": ("FSIZE", 0, 0),
    "locked memory": ("MEMLOCK", 0, 0),
    "all that is mapped is locked": ("lock", FUTURE, 0),
    "all that is mapped is locked once it is used": ("lock", FUTURE | ON_FAULT, 0),
    "address space": ("AS", 200 << 20, 200 << 20),
    "data": ("DATA", 64 << 20, 64 << 20),
}


@pytest.mark.parametrize("what", LIVES)
def test_it_is_probed(confined, attached, what):
    """Limits are afterwards what they were, and no memory of djtap's is locked."""
    target = confined(*LIVES[what])
    before, locked = limits(target.pid), process.status_field(target.pid, "VmLck")
    tracer = attached(target)
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    assert limits(target.pid) == before and process.status_field(target.pid, "VmLck") == locked
    target.tell("once")
    target.wait_for("called: once")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals["n"] == result.globals["r"] == 1000, result
    assert result.array("a") == [(str(target.pid), "1000")], result
    target.tell("again")
    target.wait_for("called: again")
    target.process.stdin.close()
    assert target.finish().returncode == 0


KEEPS_OUT = {
    "open files": (("NOFILE", 3, 3), r"socketpair in process \d+: Too many open files "
                                     r"\(it has as many files open as its limit lets it, 3 \(RLIMIT_NOFILE\)\)"),
    "address space": (("AS", 0, 0), r"mmap in process \d+: Cannot allocate memory "
                                    r"\(its limit of address space \(RLIMIT_AS, ulimit -v\) is 0 kB, of which \d+ kB are used and 4 kB more are wanted\)"),
    "data": (("DATA", 0, 0), r"mmap in process \d+: Cannot allocate memory "
                             r"\(its limit of data \(RLIMIT_DATA, ulimit -d\) is 0 kB, of which \d+ kB are used and 4 kB more are wanted\)"),
}


@pytest.mark.parametrize("what", KEEPS_OUT)
def test_the_limit_is_named(confined, attached, what):
    """Before anything of the program is changed, and it goes on."""
    limit, message = KEEPS_OUT[what]
    target = confined(*limit)
    result = attached(target).finish()
    assert result.returncode == 4 and re.fullmatch(rf"error\[DJ4005\]: {message}\n", result.stderr), result
    with open(f"/proc/{target.pid}/maps", encoding="utf8") as maps:
        assert "djtap" not in maps.read()
    target.process.stdin.close()
    assert target.finish().stderr == ""


def test_djtaps_own_limit_of_files_sizes(public_build, as_nobody):
    """It makes the memory that it shares."""
    words = [*as_nobody, public_build / "djtap", "-e", 'probe func("work") { n++ }', "-c", str(public_build / "targets" / "count")]
    result = subprocess.run(words, capture_output=True, text=True, check=False, cwd="/tmp",
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    assert result.returncode == 4 and "work calls" not in result.stdout, result
    assert re.fullmatch(r"error\[DJ4005\]: cannot make the memory that the target shares: File too large "
                        r"\(djtap itself may not make a file of \d+ kB: RLIMIT_FSIZE, ulimit -f\)\n", result.stderr), result
