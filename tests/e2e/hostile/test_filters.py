# SPDX-License-Identifier: Apache-2.0
"""A program that has denied itself system calls before djtap attaches is not ended, nor disturbed, by what djtap does in it."""
import os
import re
import signal

import pytest

from support import process, run
from support.paths import victim

CALLS = {"process_vm_readv": 310, "gettid": 186, "getpid": 39, "rt_sigreturn": 15, "mmap": 9, "memfd_create": 319, "munmap": 11, "rt_sigaction": 13,
         "sigaltstack": 131, "futex": 202, "close": 3, "socketpair": 53, "mprotect": 10, "open": 2, "madvise": 28, "mremap": 25, "rseq": 334,
         "getcpu": 309, "rt_sigprocmask": 14}
SCRIPT = """probe func("work") { n++; if (pid() == target()) own++; names[probefunc()]++; if ($tid == tid()) same++ }
probe func("work").return { r++ }
probe func("work") { try { seen[user_string($text)]++ } catch (why) { denied[why]++ } }"""
as_root = pytest.mark.skipif(os.getuid() != 0, reason="the kernel shows filters to root alone")


def confined(program, *words, prefix=(), path=None):
    target = program(*prefix, path or victim("confined"), *words)
    target.wait_for("confined: 1")
    return target, int(re.search(r"pid: (\d+)", target.stdout)[1])


def tell(target, lines=2):
    for _ in range(lines):
        target.text[target.process.stdout.fileno()] = b""
        target.tell("")
        target.wait_for("calls: 1$")


def end(target):
    target.process.stdin.close()
    ended = target.finish()
    assert ended.returncode == 0, ended


@as_root
@pytest.mark.parametrize("who", ["all", "worker"])
@pytest.mark.parametrize("how, calls", [
    ("kill", ["process_vm_readv"]), ("trap", ["process_vm_readv", "gettid", "getpid"]), ("errno", ["gettid", "futex"]), ("kill", ["rt_sigreturn"]),
    ("kill", ["mmap", "memfd_create", "munmap", "mprotect", "madvise", "mremap", "close", "open", "socketpair"]), ("errno", ["mmap", "memfd_create"]),
    ("kill", list(CALLS)), ("strict", [])])
def test_it_lives_and_is_counted(attach, program, mode, who, how, calls):
    target, pid = confined(program, who, how, *(str(CALLS[name]) for name in calls))
    before = process.text_of(pid)
    no_traps = mode == "int3" and "rt_sigreturn" in calls
    if no_traps:
        told = run.run(["--no-optimize", "--probes", "-e", SCRIPT, "-p", str(pid)])
        assert told.returncode == 3 and "the program's seccomp filter denies rt_sigreturn" in told.stderr, told
        tell(target)
    else:
        tracer = attach(pid, SCRIPT)
        tell(target)
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert result.returncode == 0, result
        assert result.globals["n"] == result.globals["r"] == result.globals["own"] == 2000, result
        reads = how != "strict" and "process_vm_readv" not in calls
        assert result.array("seen") == ([('"seen"', "2000")] if reads else []), result
        assert sum(int(count) for _, count in result.array("denied")) == (0 if reads else 2000), result
        handlers_ask = how == "strict" or set(calls) & {"process_vm_readv", "gettid", "getpid", "futex", "rt_sigreturn", "open", "close"}
        assert bool(handlers_ask) == ("warning[DJ4903]: process" in result.stderr), result
        assert how == "strict" or "gettid" in calls or result.globals["same"] == 2000, result
    assert process.differences(before, process.text_of(pid)) == []
    tell(target)
    end(target)


@as_root
def test_a_read_says_why(attach, program):
    target, pid = confined(program, "all", "kill", str(CALLS["process_vm_readv"]))
    tracer = attach(pid, 'probe func("work") { n++; println(user_string($text)) }', "-D", "MAXERRORS=0")
    tell(target, 1)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert "a seccomp filter denies reads" in result.stderr and result.globals["n"] == 1000, result
    end(target)


@as_root
def test_threads_have_numbers_that_they_may_not_ask_for(attach, program):
    target, pid = confined(program, "all", "kill", str(CALLS["getcpu"]), str(CALLS["gettid"]))
    tracer = attach(pid, 'probe func("work") { n++; t[tid()]++ }')
    tell(target)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.globals["n"] == 2000 and [count for _, count in result.array("t")] == ["1000", "1000"], result
    end(target)


@pytest.mark.parametrize("who, how", [("all", "kill"), ("worker", "kill"), ("all", "strict"), ("worker", "strict")])
def test_without_rights_a_filter_is_left_alone(program, public_build, as_nobody, who, how):
    """djtap may not read it, so nothing is done in the program. Strict mode is known without that, where another thread can be borrowed."""
    target, pid = confined(program, who, how, str(CALLS["mmap"]), prefix=as_nobody, path=public_build / "targets" / "confined")
    words = run.command(["--probes", "-e", 'probe func("work") { n++ }', "-p", str(pid)], as_nobody, public_build / "djtap")
    if (who, how) == ("worker", "strict"):
        tracer = program(*words)
        tracer.wait_for("(OPTIMIZED|INT3)")
        tell(target)
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert result.returncode == 0 and result.globals["n"] == 2000, result
    else:
        told = run.run(words[len(as_nobody) + 1:], prefix=as_nobody, binary=public_build / "djtap")
        assert told.returncode == 4 and "error[DJ4002]" in told.stderr and "runs under a seccomp filter" in told.stderr, told
    tell(target)
    end(target)


@pytest.mark.parametrize("how", ["kill", "strict"])
def test_without_rights_clean_leaves_it_alone(program, public_build, as_nobody, how):
    target, pid = confined(program, "all", how, str(CALLS["mmap"]), prefix=as_nobody, path=public_build / "targets" / "confined")
    run.run(["clean", str(pid)], prefix=as_nobody, binary=public_build / "djtap")
    tell(target)
    end(target)


@pytest.mark.parametrize("how", ["prctl", "tsync", "strict"])
def test_without_rights_one_that_comes_later(program, public_build, as_nobody, mode, mode_options, how):
    """The probes are taken out without a call. SIGTRAP is given back by one, of a thread that has no filter; where all have, djtap says so."""
    target = program(*as_nobody, public_build / "targets" / "sandboxed", how)
    target.wait_for("pid: ")
    pid = int(re.search(r"pid: (\d+)", target.stdout)[1])
    tracer = program(*run.command([*mode_options, "--probes", "-e", 'probe func("work") { n++ }', "-p", str(pid)], as_nobody,
                                  public_build / "djtap"))
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    target.tell("go")
    target.wait_for("denied: 1$")
    tell(target, 1)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.globals["n"] == (500 if how == "strict" else 1000), result
    stuck = mode == "int3" and how != "prctl"
    assert result.returncode == (5 if stuck else 0) and stuck == ("error[DJ5014]: probes not removed" in result.stderr), result
    tell(target, 1)
    end(target)
