# SPDX-License-Identifier: Apache-2.0
"""A target in a pid namespace of its own, as in a container: it knows itself, its children and djtap by other numbers than djtap does."""
import os
import re
import signal
import subprocess

import pytest

from support import paths
from support.paths import victim

UNSHARE = ["unshare", "-pf", "--kill-child"] if os.getuid() == 0 else ["unshare", "-Urpf", "--kill-child"]
pytestmark = pytest.mark.skipif(subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode != 0,
                                reason=f"{' '.join(UNSHARE)} is not allowed here")


@pytest.fixture
def inside(program):
    """inside(words...): (the program, process 1 of its namespace, in the background; its pid as we see it)."""
    def start(*words):
        outer = program(*UNSHARE, *words)
        outer.wait_for(": 1$")
        with open(f"/proc/{outer.pid}/task/{outer.pid}/children", encoding="ascii") as file:
            return outer, int(file.read())

    return start


def test_who_it_is(attach, inside):
    """In its handlers pid() is target(), as each of them is outside; both are what the program itself says."""
    target, pid = inside(victim("commander"))
    tracer = attach(pid, """global mine, outer
        probe begin { outer = target() } probe func("work") { n++; if (pid() == target()) same++; mine = pid() }
        probe end { printf("%d %d %d\\n", outer, target(), mine) }""")
    target.tell("call 100")
    target.wait_for("called: 100$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.globals["n"] == result.globals["same"] == 100 and f"{pid} {pid} 1\n" in result.stdout, result
    target.tell("quit")
    assert target.finish().facts["interrupted"] == 0


def test_a_small_signal_stack_is_waited_for(attach, inside, mode):
    """Places that trap go before its signal handler runs there."""
    target, pid = inside(victim("altstack"), "waiting", "late")
    tracer = attach(pid, 'probe func("work") { n++ } probe func("short_ret") { s++ }')
    target.tell("")
    ended = target.finish()
    result = tracer.finish()
    assert ended.returncode == 0 and ended.facts["calls"] == 1000, ended
    assert "small-sigaltstack" in result.stderr and result.globals["n"] == (999 if mode == "jump" else 0), result


def test_its_own_action_for_sigtrap(attach, inside):
    """It sets one while the session has SIGTRAP, and it is called."""
    program = """import os, signal
print("pid:", os.getpid(), flush=True)
input()
seen = []
signal.signal(signal.SIGTRAP, lambda *_: seen.append(1))
for _ in range(20): os.kill(os.getpid(), signal.SIGTRAP)
print("seen:", len(seen), flush=True)"""
    target, pid = inside(paths.PYTHON, "-c", program)
    tracer = attach(pid, 'probe func("libc.so.6!kill") { n++ }', "--no-optimize")
    target.tell("")
    target.wait_for("seen: 20$")
    assert target.finish().returncode == 0
    assert tracer.finish().globals["n"] == 20


def test_a_library_waits_for_its_probes(attach, inside):
    """Longer than djtap needs for 3,000 functions, though the loader's thread cannot see whether djtap lives."""
    library = victim("libctor.so")
    target, pid = inside(victim("plugin"), library)
    tracer = attach(pid, 'probe process.library("libctor*").function("lib_work") { n++ } probe func("main") { m++ }')
    os.kill(tracer.pid, signal.SIGSTOP)
    target.tell("open")
    with pytest.raises(AssertionError):
        target.wait_for("opened: 1", 1)
    os.kill(tracer.pid, signal.SIGCONT)
    target.wait_for("opened: 1")
    target.tell("call 100")
    target.wait_for("called: 100$")
    target.tell("quit")
    truth = sum(map(int, re.findall(r"^lib_work calls: (\d+)$", target.finish().stdout, re.M)))
    assert tracer.finish().globals["n"] == truth == 157


CHILDREN = """import os, signal
print("pid:", os.getpid(), flush=True)
input()
def child(act):
    pid = os.fork()
    if pid == 0: act()
    print("child", pid, flush=True)
    os.waitpid(pid, 0)
child(lambda: os.kill(os.getpid(), signal.SIGKILL))
child(lambda: os._exit(3))
child(lambda: os.execv("/bin/true", ["true"]))
"""


def test_its_children_begin_and_end(attach, inside):
    """By the numbers that they have there; of one that is killed djtap tells the end, and one that executes a program begins twice."""
    target, pid = inside(paths.PYTHON, "-c", CHILDREN)
    tracer = attach(pid, "probe process.begin { begun[pid()]++; if (pid() == target()) first++ } probe process.end { ended[pid()]++ }"
                         ' probe func("libc.so.6!getppid") { m++ }')
    target.tell("")
    children = re.findall(r"^child (\d+)$", target.finish().stdout, re.M)
    result = tracer.finish()
    killed, exited, executing = children
    assert dict(result.array("ended")) == {"1": "1", killed: "1", exited: "1", executing: "2"}, result
    assert result.array("begun") == result.array("ended") and result.globals["first"] == 1, result
