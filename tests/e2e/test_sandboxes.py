# SPDX-License-Identifier: Apache-2.0
"""A program that installs a seccomp filter during the session is not ended for what handlers would ask of the kernel."""
import ctypes
import errno
import os
import signal
import struct
import subprocess

import pytest

from support import process, run
from support.paths import victim

SCRIPT = """probe func("work") { n++; if ($tid == tid()) same++; if (pid() == target()) own++; names[probefunc()]++ }
probe func("work").return { r++ }
probe func("work") { try { seen[user_string($what)]++ } catch (why) { denied++ } }
probe func("work") { try { addresses[ubacktrace()]++; walked++ } catch (why) { walked++ } }"""
PER_LINE = {"forks": 1500, "child": 1500, "strict": 500}


@pytest.mark.parametrize("how", ["prctl", "seccomp", "tsync", "forks", "strict", "noreturn", "child"])
def test_it_lives_and_is_counted(attach, program, mode, how):
    target = program(victim("sandboxed"), how)
    target.wait_for("pid: ")
    tracer = attach(target.pid, SCRIPT)
    target.tell("go")
    target.wait_for("denied: 1$")
    for line in range(3):
        target.text[target.process.stdout.fileno()] = b""
        target.tell("")
        target.wait_for("calls: 1$")
    tracer.wait_for(r"warning\[DJ4906\]: the program has installed a seccomp filter")
    target.process.stdin.close()
    ended = target.finish()
    result = tracer.finish()
    assert ended.returncode == 0, ended
    each = 3 * PER_LINE.get(how, 1000)
    if how == "noreturn" and mode == "int3":
        assert result.globals["n"] == 0 and "not probed [SKIPPED: SIGTRAP]" in result.stderr, result
        return
    assert result.globals["n"] == result.globals["r"] == each and dict(result.array("names")) == {'"work"': str(each)}, result
    read = 3000 if how == "child" else 0  # the parent's memory is read as before
    assert result.globals["denied"] == each - read and result.array("seen") == ([('"seen"', str(read))] if read else []), result
    assert result.globals["own"] == (3000 if how in ("forks", "child") else each), result
    # The thread that installs the filter is known by then; another one only if it was asked before.
    assert result.globals["same"] >= 3 * 500, result


def test_a_read_says_why(attach, program):
    target = program(victim("sandboxed"), "prctl")
    target.wait_for("pid: ")
    tracer = attach(target.pid, 'probe func("work") { n++; println(user_string($what)) }', "-D", "MAXERRORS=0")
    target.tell("go")
    target.wait_for("denied: 1$")
    target.tell("")
    target.wait_for("calls: 1$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert "a seccomp filter denies reads" in result.stderr and result.globals["n"] == 1000, result
    target.process.stdin.close()
    assert target.finish().returncode == 0


def test_a_filter_that_looks_at_addresses_ends_the_session_before(attach, program):
    """Calls of the program's own run in detours; the filter would not know them there."""
    target = program(victim("sandboxed"), "address")
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    tracer = attach(target.pid, 'probe func("work") { n++ }')
    target.tell("go")
    target.wait_for("denied: 1$")
    result = tracer.finish()
    assert result.returncode == 0 and "the session ends: the program installs a seccomp filter that looks at the addresses" in result.stderr, result
    target.tell("")
    target.wait_for("calls: 1$")
    assert process.differences(before, process.text_of(target.pid)) == []
    target.process.stdin.close()
    assert target.finish().returncode == 0


@pytest.mark.skipif(os.getuid() != 0, reason="the kernel shows filters to root alone")
def test_one_that_looks_at_addresses_already_is_left_alone(djtap_once, program):
    target = program(victim("sandboxed"), "address")
    target.wait_for("pid: ")
    target.tell("go")
    target.wait_for("denied: 1$")
    result = djtap_once("-e", 'probe func("work") { n++ }', "-p", target.pid)
    assert result.returncode == 4 and "error[DJ4004]" in result.stderr and "looks at the addresses of system calls" in result.stderr, result
    target.tell("")
    target.wait_for("calls: 1$")
    target.process.stdin.close()
    assert target.finish().returncode == 0


def without(call):
    """To be called before an exec: a seccomp filter that denies this one system call (EPERM), as those of containers do."""
    load, jump_if_equal, answer = 0x20, 0x15, 0x06
    denied, allowed = 0x00050000 | errno.EPERM, 0x7FFF0000
    code = struct.pack("HBBIHBBIHBBIHBBI", load, 0, 0, 0, jump_if_equal, 0, 1, call, answer, 0, 0, denied, answer, 0, 0, allowed)
    memory = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxQ", 4, ctypes.addressof(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP


def test_djtap_may_not_take_descriptors(program):
    """In a container whose filter denies pidfd_getfd(). The target may look at djtap's, as it has djtap's rights."""
    pidfd_getfd = 438
    target = program(victim("commander"))
    target.wait_for("pid: ")
    process.wait_until_asleep(target.pid)
    before = os.listdir(f"/proc/{target.pid}/fd")
    words = run.command(["-T", "1", "-e", 'probe func("work") { n++ }', "-p", target.pid])
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: without(pidfd_getfd)) as tracer:
        output = tracer.communicate(timeout=run.PATIENCE)[0]
    assert tracer.returncode == 0 and output == "n=0\n", output
    assert os.listdir(f"/proc/{target.pid}/fd") == before
