# SPDX-License-Identifier: Apache-2.0
"""Counters that detours change themselves, in rows that belong to one thread each (gs base)."""
import ctypes
import errno
import re
import shutil
import signal
import subprocess

import pytest

from support import process
from support.paths import victim

COUNT = 'probe func("work") { n++ }'
AT_HWCAP2, FSGSBASE = 26, 2
needs_rows = pytest.mark.skipif(not ctypes.CDLL(None).getauxval(AT_HWCAP2) & FSGSBASE, reason="the kernel keeps wrgsbase to itself: no rows")


def gs_bases(pid):
    """What gdb says of all threads', the main thread's last."""
    if not shutil.which("gdb"):
        pytest.skip("no gdb")
    text = subprocess.run(["gdb", "-q", "-batch", "-p", str(pid), "-ex", "thread apply all print $gs_base"], capture_output=True, text=True,
                          check=True).stdout
    return [int(base) for base in re.findall(r"^\$\d+ = (\d+)$", text, re.M)]


def gs_base(pid):
    return gs_bases(pid)[-1]


def with_counters(count):
    """The script with so many other counters: a row has a word for each, and all rows together are 4 MB."""
    others = [f"other{i}++" for i in range(count)]
    return COUNT + "".join(f" probe begin {{ {' '.join(others[i:i + 500])} }}" for i in range(0, count, 500))


def test_more_threads_than_rows_count_exactly(djtap):
    """Rows of threads that have ended are used again."""
    result = djtap("-e", with_counters(100), "-c", f"{victim('rows')} 9000")
    assert result.returncode == 0 and result.globals["n"] == result.facts["work calls"] > 9000 * 3 + 45 * 1000, result


def test_a_program_with_a_gs_base_keeps_it(attach, program):
    """Its threads have no rows, and are counted by calls; threads that it starts inherit the base."""
    target = program(victim("rows"), "400", "1")
    target.wait_for("pid: ")
    tracer = attach(target.pid, COUNT)
    target.tell("go")
    facts = target.finish().facts
    assert facts["word at gs"] == 4711 and tracer.finish().globals == {"n": facts["work calls"]}, facts


@needs_rows
def test_a_program_that_takes_the_gs_base_ends_the_session(djtap):
    """It waits until nobody counts there any more, and goes on with its own."""
    result = djtap("-e", COUNT, "-c", f"{victim('rows')} 400 2")
    assert result.returncode == 0 and result.facts["refused"] == 0 and result.facts["word at gs"] == 4711, result
    assert "warning[DJ5902]: the session ends: the program sets its gs base" in result.stderr and "--no-thread-rows" in result.stderr, result
    assert result.globals["n"] == 5, result


def test_without_rows_it_may_take_the_gs_base(djtap):
    result = djtap("--no-thread-rows", "-e", COUNT, "-c", f"{victim('rows')} 400 2")
    assert result.returncode == 0 and result.facts["refused"] == 0 and result.facts["word at gs"] == 4711, result
    assert result.globals["n"] == result.facts["work calls"], result


def test_a_program_that_can_set_it_by_itself_has_no_rows(djtap):
    """wrgsbase is no system call: where the code has one, counters are called."""
    result = djtap("-e", COUNT, "-c", f"{victim('wrgsbase')}")
    assert result.returncode == 0 and result.facts["word at gs"] == 4711, result
    assert result.globals["n"] == result.facts["work calls"] == 100, result


@needs_rows
@pytest.mark.parametrize("options", [[], ["--no-thread-rows"]], ids=["rows", "no rows"])
@pytest.mark.parametrize("points", ['func("main"), func("lib_work")?', 'process.function("main")'], ids=["its own too", "of the program alone"])
def test_an_object_that_is_opened_and_can_set_it(djtap, options, points):
    """The session ends before any of its code runs, whether the points mean it or not; without rows all is counted."""
    script = f'probe {points} {{ n++ }}'
    result = djtap(*options, "-e", script, "--", victim("plugin"), victim("libgs.so"), stdin="open\ncall 5\nclose\nquit\n")
    assert result.returncode == 0 and result.facts["lib_work calls"] == result.facts["total"] == 5, result
    assert result.globals["n"] == (6 if options and "lib_work" in points else 1), result
    assert ("libgs.so sets its gs base" in result.stderr) == (not options), result


@needs_rows
def test_a_forked_child_cannot_take_it(djtap):
    """djtap does not watch it: the call is refused, and what it counts is right."""
    result = djtap("-e", COUNT, "-c", f"{victim('rows')} 400 3")
    assert result.facts["refused"] == errno.EPERM and result.globals["n"] == result.facts["work calls"], result


TALKATIVE = """
import os, sys, threading
go = threading.Event()
def ask():
    go.wait()
    for i in range(500): os.getppid()
threads = [threading.Thread(target=ask) for i in range(70)]
for thread in threads: thread.start()
print("pid:", os.getpid(), flush=True)
sys.stdin.readline()
go.set()
for thread in threads: thread.join()
"""


@needs_rows
@pytest.mark.parametrize("others, rows", [(0, True), (1500, False)], ids=["many rows", "few rows"])
def test_a_crowd_of_threads(attach, program, others, rows):
    """Where there are not many more rows than threads, counters are called."""
    target = program("/usr/bin/python3", "-c", TALKATIVE)
    target.wait_for("pid: ")
    tracer = attach(target.pid, with_counters(others).replace('func("work")', 'func("libc.so.6!getppid")'))
    assert (gs_base(target.pid) != 0) == rows
    target.tell("go")
    target.finish()
    assert tracer.finish().globals["n"] == 70 * 500


CROWD = """
import os, threading
go = threading.Event()
def ask():
    go.wait()
    for i in range(50): os.getppid()
threads = [threading.Thread(target=ask) for i in range(700)]
for thread in threads: thread.start()
go.set()
for thread in threads: thread.join()
"""


@needs_rows
def test_threads_without_rows_are_told_of(djtap_once):
    """A thousand counters leave rows for 511 threads at a time; more come after the session has begun."""
    result = djtap_once("--no-global-var-display", "-e", with_counters(1000).replace('func("work")', 'func("libc.so.6!getppid")'),
                        "--", "/usr/bin/python3", "-c", CROWD)
    told = re.search(r"^warning\[DJ5908\]: (\d+) threads found no row to count in", result.stderr, re.M)
    assert result.returncode == 0 and told and 700 - 511 <= int(told[1]) <= 700, result


@needs_rows
def test_rows_are_taken_back(attach, program):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    tracer = attach(target.pid, COUNT)
    target.tell("call 100")
    target.wait_for("called: 100$")
    assert gs_base(target.pid) != 0
    tracer.signal(signal.SIGINT)
    assert tracer.finish().globals == {"n": 100}
    assert gs_base(target.pid) == 0
    target.tell("quit")
    target.finish()


@needs_rows
def test_rows_are_taken_back_after_a_kill(attach, djtap_once, program):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    tracer = attach(target.pid, COUNT)
    assert gs_base(target.pid) != 0
    tracer.signal(signal.SIGKILL)
    tracer.process.wait()
    assert djtap_once("clean", target.pid).returncode == 0
    assert gs_base(target.pid) == 0
    target.tell("quit")
    target.finish()


@needs_rows
def test_threads_that_slept_meanwhile_get_no_rows_afterwards(attach, program):
    """They wake up in the detour of a hooked system call, as if it had started them."""
    target = program(victim("commander"))
    target.wait_for("pid: ")
    process.wait_until_asleep(target.pid)
    tracer = attach(target.pid, COUNT + ' probe func("libc.so.6!mem*"), func("libc.so.6!pthread*") { m++ }')
    tracer.signal(signal.SIGINT)
    assert tracer.finish().returncode == 0
    target.tell("call 100")
    target.wait_for("called: 100$")
    assert set(gs_bases(target.pid)) == {0}
    target.tell("quit")
    assert target.finish().returncode == 0
