"""Forks, vforks, spawns and new threads of a probed program, with libc's own functions probed as well."""
import os
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
    result = djtap("-e", 'probe func("libc.so.6!*") { n++ }', "-c", f"{victim('spawn')} 5", timeout=100)
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


def test_a_child_that_executes_has_no_end(djtap_once):
    result = djtap_once("-e", "probe process.begin { b++ } probe process.end { e++ }", "--", paths.PYTHON, "-c",
                        "import os\nif os.fork() == 0: os.execv('/bin/true', ['true'])\nif os.fork() == 0: os._exit(3)\nos.wait(); os.wait()")
    assert result.globals == {"b": 3, "e": 2}, result


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
    assert "runs under a seccomp filter, which may end it for the system calls of handlers" in result.stderr, result
    assert {site.reason for site in result.sites if site.state == "SKIPPED"} == {"SIGTRAP (a seccomp filter may forbid rt_sigreturn)"}, result
    assert process.differences(before, process.text_of(target.pid)) == []
    target.process.stdin.close()
    assert target.finish().returncode == 0
