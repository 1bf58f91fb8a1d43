# SPDX-License-Identifier: Apache-2.0
"""Command lines that cannot be meant: the target is no program, no process, or none that djtap can change."""
import re
import shutil
import signal
import subprocess
import time

import pytest

from support import paths

SCRIPT = 'probe func("main") { n++ }'
LONG_SLEEP_32 = """.globl _start
_start: mov $162, %eax
mov $span, %ebx
xor %ecx, %ecx
int $0x80
jmp _start
.data
span: .long 100, 0
"""


@pytest.fixture
def narrow(tmp_path):
    """A running 32-bit program, made with the assembler alone."""
    if not shutil.which("as") or not shutil.which("ld"):
        pytest.skip("no binutils here")
    (tmp_path / "narrow.s").write_text(LONG_SLEEP_32)
    subprocess.run(["as", "--32", "narrow.s", "-o", "narrow.o"], cwd=tmp_path, check=True)
    subprocess.run(["ld", "-m", "elf_i386", "narrow.o", "-o", "narrow"], cwd=tmp_path, check=True)
    try:
        program = subprocess.Popen([tmp_path / "narrow"])
    except OSError as error:
        pytest.skip(f"the kernel runs no 32-bit programs: {error}")
    yield program
    program.kill()
    program.wait()


def test_a_32_bit_program_is_left_alone(djtap_once, narrow):
    time.sleep(0.2)
    if narrow.poll() is not None:
        pytest.skip("the kernel runs no 32-bit programs")
    result = djtap_once("-e", SCRIPT, "-p", str(narrow.pid))
    assert result.returncode == 4 and "is made for 32-bit x86 (i386); djtap probes programs for x86-64 alone" in result.stderr, result
    assert narrow.poll() is None
    narrow.send_signal(signal.SIGTERM)
    assert narrow.wait(300) == -signal.SIGTERM
    result = djtap_once("-e", SCRIPT, "-c", str(narrow.args[0]))
    assert result.returncode == 126 and "is made for 32-bit x86 (i386)" in result.stderr, result


def test_a_thread_of_the_kernel(djtap_once):
    with open("/proc/2/status", encoding="ascii") as status:
        if "kthreadd" not in status.readline():
            pytest.skip("process 2 is no thread of the kernel here")
    result = djtap_once("-e", SCRIPT, "-p", "2")
    assert result.returncode == 4 and ("is a thread of the kernel" in result.stderr or "belongs to user 0" in result.stderr), result


@pytest.mark.parametrize("command, status, words", [
    ("./nosuch", 127, "No such file or directory"),
    ("nosuch-program", 127, "in any folder of $PATH"),
    ("/etc/passwd", 126, "/etc/passwd is not executable"),
    ("/tmp", 126, "/tmp is a folder, not a program"),
])
def test_what_cannot_be_run(djtap_once, command, status, words):
    result = djtap_once("-e", SCRIPT, "-c", command)
    assert result.returncode == status and words in result.stderr, result


@pytest.mark.parametrize("args, words", [
    (["-p", "0"], "takes processes, by a number above 0 or by name; not 0"),
    (["-p", "999999999"], "999999999"),
    (["-T", "-1"], "takes a number of seconds above 0, not -1"),
    (["--guards=some"], "--guards takes all, needed, none; not some"),
    (["--stop-after=end"], "--stop-after takes check, lower, parse, patch, resolve; not end"),
    (["-e"], "-e"),
    (["-p"], "-p"),
])
def test_missing_and_wrong_operands(djtap_once, args, words):
    result = djtap_once("-e", "probe begin { exit() }", *args) if args[0] != "-e" else djtap_once(*args)
    assert result.returncode in (1, 4) and words in result.stderr and len(result.stderr) < 300, result


def test_kinds_that_are_elsewhere(djtap_once):
    points = {'kernel.trace("sched_switch")': "kernel.function", 'module("ext4").statement("f")': "kernel.function",
              "netfilter.ip.pre_routing": "process.syscall"}
    for point, words in points.items():
        result = djtap_once("-e", f"probe {point} {{ n++ }}", "-c", str(paths.TINYFS))
        assert "error[DJ3003]" in result.stderr and words in result.stderr, result


def test_a_session_of_no_time_ends(djtap_once):
    result = djtap_once("-T", "1e-12", "-e", "probe begin { n++ }")
    assert result.returncode == 0 and result.globals == {"n": 1}, result


def test_an_alias_needs_a_body(djtap_once):
    for script in ("probe one = begin", "probe one = begin probe two { }", "probe one += begin, end"):
        result = djtap_once("-e", script)
        assert "error[DJ1013]: an alias needs a body" in result.stderr and "probe name = points { }" in result.stderr, result


def test_an_error_tells_the_calls_it_is_inside_of(djtap_once, tmp_path):
    (tmp_path / "t.djt").write_text("function inner(x) { return 10 / x }\nfunction outer(x) {\n  return inner(x) + 1 }\n"
                                    "probe end {\n  println(outer(5))\n  println(outer(0)) }\n")
    result = djtap_once("t.djt", "-c", "/bin/true", cwd=tmp_path)
    assert calls_told(result.stderr) == ["in inner(x), called at t.djt:3:10", "in outer(0), called at t.djt:6:11"], result
    (tmp_path / "t.djt").write_text("function down(x) { return down(x + 1) }\nprobe end { println(down(0)) }\n")
    result = djtap_once("t.djt", "-D", "MAXNESTING=30", "-c", "/bin/true", cwd=tmp_path)
    lines = calls_told(result.stderr)
    assert len(lines) == 17 and lines[0] == "in down(x + 1), called at t.djt:1:27" and lines[-1] == ".. 15 more calls", result


def calls_told(text):
    return re.findall(r"^ += (in .*, called at .*|\.\. .*)$", text, re.M)
