# SPDX-License-Identifier: Apache-2.0
"""Forks, vforks, spawns and new threads of a probed program, with libc's own functions probed as well."""
import os
import re
import signal

import pytest

from support import paths, process
from support.paths import victim

LIBC = ["malloc", "free", "fork", "vfork", "posix_spawn", "system", "pthread_create", "sigprocmask", "write", "read"]


def test_spawning_program_runs_unharmed(djtap):
    result = djtap("-e", 'probe func("work") { n++ }', "-c", victim("spawn"))
    truth = result.facts
    assert result.returncode == 0 and truth["good"] == 10 * truth["rounds"], result
    assert result.globals == {"n": truth["work calls"]}, result


@pytest.mark.parametrize("function", LIBC)
def test_spawning_program_with_libc_probed(djtap, function):
    """A site where a blocked SIGTRAP would kill is refused with that reason, not installed."""
    script = f'probe func("libc.so.6!{function}")? {{ n++ }} probe func("libc.so.6!{function}").return? {{ r++ }} probe func("work") {{ w++ }}'
    result = djtap("-e", script, "-c", victim("spawn"))
    truth = result.facts
    assert result.returncode == 0 and truth["good"] == 10 * truth["rounds"], result
    assert result.globals["w"] == truth["work calls"], result


def test_many_libc_functions_at_once(djtap):
    result = djtap("-e", 'probe func("libc.so.6!*") { n++ }', "-c", f"{victim('spawn')} 5")
    truth = result.facts
    assert result.returncode == 0 and truth["good"] == 50 and result.globals["n"] > 1000, result


def test_forked_children_are_counted(djtap):
    result = djtap("-e", 'probe func("work") { n++; pids[pid()]++ }', "-c", victim("forker"))
    assert result.facts["clean children"] == 4 and result.globals == {"n": result.facts["work calls"]}, result
    assert [value for _, value in result.array("pids")] == ["20000"] * 5, result


def test_forked_children_begin_and_end(djtap):
    """Each in its own process; the target's by djtap. A child that executes another program is not followed further."""
    script = """probe process.begin { b++; begun[pid()]++; if (pid() == target()) first++ }
                probe process.end { e++; ended[pid()]++; if (pid() == target()) last++ }"""
    result = djtap("-e", script, "-c", victim("forker"))
    children = result.facts["clean children"]
    assert result.globals == {"b": children + 1, "e": children + 1, "first": 1, "last": 1}, result
    assert len(result.array("begun")) == children + 1 and result.array("begun") == result.array("ended"), result


def test_children_say_the_same_point_as_the_target(djtap):
    """And no function of the C library, in which they stand."""
    script = """probe process.begin { seen[pp(), probefunc(), ppfunc()]++ } probe process.end { seen[pp(), probefunc(), ppfunc()]++ }"""
    result = djtap("-e", script, "-c", victim("forker"))
    times = str(result.facts["clean children"] + 1)
    assert sorted(result.array("seen")) == [(f'"process.{point}","",""', times) for point in ("begin", "end")], result


ENDS = """import os, signal
def child(act):
    pid = os.fork()
    if pid == 0: act()
    if act != os.abort: tell(pid, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    return pid
def tell(pid, status): os.write(1, f"child {pid} {status}\\n".encode())
child(lambda: os.kill(os.getpid(), signal.SIGKILL))
child(lambda: os._exit(3))
child(lambda: os.execv("/bin/true", ["true"]))
child(lambda: (child(lambda: os.kill(os.getpid(), signal.SIGTERM)), os._exit(4)))
tell(child(os.abort), -6)
"""


def test_children_that_end_without_a_word_have_an_end(djtap_once):
    """Killed, or another program by then that is not followed, also grandchildren, and one that is killed when its parent
    is about to end: djtap tells it, once."""
    script = """probe process.begin { begun[pid()]++ } probe process.end { println("ended ", pid(), " ", pp()); ended[pid()]++ }
                probe process.end { if (pid() == target()) println("last"); seconds[pid()]++ }"""
    result = djtap_once("--no-follow", "-e", script, "--", paths.PYTHON, "-c", ENDS + "os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)")
    truth = re.findall(r"^child (\d+) (-?\d+)$", result.stdout, re.M)
    assert sorted(status for _, status in truth) == ["-15", "-6", "-9", "0", "3", "4"], result
    for name in "begun", "ended", "seconds":
        told = dict(result.array(name))
        assert len(told) == 7 and set(told.values()) == {"1"} and {pid for pid, _ in truth} < set(told), result
    assert set(re.findall(r"^ended \d+ (.*)$", result.stdout, re.M)) == {"process.end"} and "last\n" in result.stdout, result


def test_who_a_killed_child_was(djtap_once, tmp_path):
    """As its own handlers would have said; of one that somebody has waited for already, what its parent is."""
    script = 'probe process.end { if (pid() != target()) println(pid(), " ", ppid() == target(), " ", execname(), " ", cmdline_arg(3)) }'
    said = tmp_path / "said"  # the parent stays until it is
    program = f"""import os, time
if os.fork() == 0: os.abort()
print('child', os.wait()[0], flush=True)
while os.path.getsize({str(said)!r}) == 0: time.sleep(0.01)"""
    result = djtap_once("-o", said, "-e", script, "--", paths.PYTHON, "-c", program, "word")
    pid = re.search(r"^child (\d+)$", result.stdout, re.M)[1]
    assert said.read_text() == f"{pid} 1 python3 word\n", result


def test_many_children_that_are_killed(djtap):
    """Beside others that say their end themselves; none is told twice."""
    program = """import os, signal
for i in range(300):
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGKILL) if i % 2 else os._exit(0)
    if i % 50 == 49: [os.wait() for _ in range(50)]"""
    result = djtap("-e", "probe process.end { ended[pid()]++; e++ } probe end { foreach (p in ended) if (ended[p] != 1) wrong++ }",
                   "--", paths.PYTHON, "-c", program)
    assert result.globals == {"e": 301, "wrong": 0}, result


def test_exec_in_children_is_harmless(djtap):
    result = djtap("-e", 'probe func("libc.so.6!malloc") { n++ }', "--", "/bin/sh", "-c",
                   "for i in 1 2 3 4 5; do /bin/echo $i; done; (exit 3); echo status $?")
    assert result.stdout.startswith("1\n2\n3\n4\n5\nstatus 3\n") and result.returncode == 0, result


def test_probed_from_the_first_instruction_of_main(djtap):
    result = djtap("-e", 'probe func("main") { n++ } probe func("_start") { s++ }', "-c", victim("count_nopie"))
    assert result.globals["n"] == 1, result


def test_every_thread_and_child_has_its_own_numbers(djtap):
    """tid() and pid() are remembered; control blocks that are used again and children must not be taken for others."""
    script = 'probe func("here") { n++; if ($pid != pid()) wrong_pid++; if ($tid != tid()) wrong_tid++; s[execname()]++ }'
    result = djtap("-e", script, "-c", victim("tids"))
    assert result.globals == {"n": result.facts["here calls"], "wrong_pid": 0, "wrong_tid": 0}, result
    assert result.array("s") == [('"tids"', str(result.facts["here calls"]))], result


def test_int3_is_refused_where_sigtrap_may_be_blocked(djtap, mode):
    """The program blocks all signals by a system call that cannot be hooked: an int3 would kill it."""
    result = djtap("--probes", "-e", 'probe func("work") ? { n++ }', "-c", victim("rawmask"))
    assert result.returncode == 0 and result.facts["work calls"] == 100, result
    [site] = result.sites
    if mode != "jump":
        assert site.state == "SKIPPED" and site.reason.startswith("SIGTRAP"), result
    else:
        assert site.state == "OPTIMIZED" and result.globals == {"n": 100}, result


@pytest.mark.skipif(os.getuid() != 0, reason="only root may suspend a seccomp filter while memory is mapped")
def test_a_program_under_a_seccomp_filter(djtap_once, background, program, mode):
    """Counting asks nothing of the kernel; an int3 would, and is refused. djtap says what handlers must not do."""
    target = program(victim("filtered"))
    target.wait_for("filtered: 1")
    before = process.text_of(target.pid)
    script = 'probe func("work") { n++; seen[probefunc()]++ } probe func("work").return { r++ }'  # the ret is inside the other's jump
    if mode == "jump":
        tracer = background("--probes", "-e", script, "-p", str(target.pid))
        tracer.wait_for(r"\[OPTIMIZED")
        target.tell("")
        target.wait_for("calls: 500$")
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert result.globals["n"] == 500 and result.array("seen") == [('"work"', "500")], result
    else:
        result = djtap_once("--probes", "--no-optimize", "-e", script, "-p", str(target.pid))
        assert result.returncode == 3 and "none of the 2 places that are meant can be probed" in result.stderr, result
        target.tell("")
        target.wait_for("calls: 500$")
    if mode == "jump":
        assert "warning[DJ4903]: process " in result.stderr, result
        assert "runs under a seccomp filter: handlers do without the system calls that it denies; reads of memory are errors" in result.stderr, result
    assert {site.reason for site in result.sites if site.state == "SKIPPED"} == {"SIGTRAP (the program's seccomp filter denies rt_sigreturn)"}, result
    assert process.differences(before, process.text_of(target.pid)) == []
    target.process.stdin.close()
    assert target.finish().returncode == 0


OUTLIVED = """import os, sys
end, held = os.pipe()
pid = os.fork()
if pid == 0:
    sys.stdin.readline()
    if os.fork() == 0: os.close(held), os.read(end, 1)
    os._exit(0)
print("pid:", pid, flush=True)
os.waitpid(pid, 0)
print("reaped: 1", flush=True)
sys.stdin.readline()
"""


def test_a_child_that_lives_longer_has_no_end(attach, program):
    """djtap hears of it when its parent is gone without a trace."""
    parent = program(paths.PYTHON, "-c", OUTLIVED)
    parent.wait_for(r"pid: \d+$")
    pid = int(re.search(r"^pid: (\d+)$", parent.stdout, re.M)[1])
    tracer = attach(pid, 'probe process.begin { begun[pid()]++ } probe process.end { ended[pid()]++ } probe func("libc.so.6!getppid") { n++ }')
    os.kill(tracer.pid, signal.SIGSTOP)
    parent.tell("go")
    parent.wait_for("reaped: 1$")
    os.kill(tracer.pid, signal.SIGCONT)
    result = tracer.finish()
    assert result.array("ended") == [(str(pid), "1")] and len(result.array("begun")) == 2, result
    parent.tell("")
    assert parent.finish().returncode == 0


# Runs for a while, executes itself, and runs again.
EXECUTES = """import os, sys, time
def run(seconds):
    end = time.time() + seconds
    while time.time() < end: len([1, 2, 3][:])
run(0.2)
if len(sys.argv) == 2: os.execv("/proc/self/exe", ["python3", "-c", sys.argv[1], sys.argv[1], "again"])
run(1)
print("whole", flush=True)
"""
NAMESPACE = """import ctypes
libc = ctypes.CDLL(None)
libc.dlmopen.argtypes, libc.dlmopen.restype = [ctypes.c_long, ctypes.c_char_p, ctypes.c_int], ctypes.c_void_p
print("opened", libc.dlmopen(-1, b"libm.so.6", 2) is not None)"""


LIST = 'probe func("PyList_*")'
EXECUTED = {"counted": LIST + " { n++ }", "switched": f"global on = 0 probe timer.ms(300) {{ on = !on }} {LIST} if (on) {{ n++ }}",
            "sampled": "probe timer.profile { n++ }", "ended": LIST + " { n++ } probe timer.ms(600) { exit() }"}


@pytest.mark.parametrize("how", EXECUTED)
def test_a_target_that_executes_itself(djtap, how):
    """What was there has the same addresses where the program has fixed ones, as Debian's python3: nothing is written there."""
    result = djtap("--no-follow", "-e", EXECUTED[how], "--", paths.PYTHON, "-c", EXECUTES, EXECUTES)
    assert result.returncode == 0 and "whole\n" in result.stdout, result
    program = os.path.realpath(paths.PYTHON)
    assert result.stderr.count(f"warning[DJ5901]: the target executed {program}: probes do not follow") == 1, result


@pytest.mark.parametrize("shell", ["exec ", ""])
def test_a_namespace_that_a_program_makes(djtap_once, shell):
    """The loader writes to the last entry of its list, which is djtap's."""
    late = "import time; time.sleep(0.5)\n" + NAMESPACE
    words = ["/bin/sh", "-c", f'exec {paths.PYTHON} -c "$0"', late] if shell else [paths.PYTHON, "-c", late]
    result = djtap_once("-e", 'probe func("getppid") ? { n++ } probe process.begin { b++ }', "--", *words)
    assert result.returncode == 0 and "opened True\n" in result.stdout, result


def test_what_the_target_executes_is_left_alone(djtap_once):
    """The loader goes through its list of namespaces when a program makes one: the list of the program that is there now has nothing of djtap's."""
    shell = f'exec {paths.PYTHON} -c "$0"'
    late = "import time; time.sleep(0.5)\n" + NAMESPACE
    result = djtap_once("--no-follow", "-e", 'probe process.begin { n++ }', "--", "/bin/sh", "-c", shell, late)
    assert result.returncode == 0 and "opened True\n" in result.stdout and result.globals == {"n": 1}, result
