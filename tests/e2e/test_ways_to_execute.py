# SPDX-License-Identifier: Apache-2.0
"""Probes follow an exec however the call is made, and whatever else the script has at its place; truth: the program that is executed counts itself."""
import re

import pytest

from support import golang, paths
from support.paths import victim

COUNT = victim("count")
COUNTING = f'probe process("{COUNT}").function("work") {{ n++; p[pid()]++ }} '
WAYS = ["execve", "syscall", "execveat", "fexecve", "syscall-instruction", "unknown-number"]
LIBC = "/lib/x86_64-linux-gnu/libc.so.6"


def check(result, programs):
    counted = sum(int(count) for count in re.findall(r"^work calls: (\d+)$", result.stdout, re.M))
    assert result.returncode == 0 and result.globals["n"] == counted > 0 and len(result.array("p")) == programs, result


@pytest.mark.parametrize("program", ["executes", "executes_static"])
@pytest.mark.parametrize("way", WAYS)
def test_of_the_call(djtap, program, way):
    check(djtap("-e", COUNTING, "--", victim(program), way, COUNT, 5), 1)


def test_of_go(djtap, tmp_path):
    program = golang.build(paths.TARGETS / "executes.go", tmp_path / "executes", cache=tmp_path / "cache", CGO_ENABLED="0")
    check(djtap("-e", COUNTING, "--", program, COUNT, 5), 3)


# What a script has at the C library's execve(), and how often it is hit by three execs.
AT_THE_CALL = {
    "the system call": ("probe syscall.execve { x++ }", 3),
    "the function": ('probe func("libc.so.6!execve") { x++ }', 3),
    "both": ('probe func("libc.so.6!execve") { x++ } probe syscall.execve { x++ }', 6),
    "the way back": ('probe syscall.execve.return, func("libc.so.6!execve").return { x++ }', 0),
    "all system calls": ("probe syscall.* { if (name == \"execve\") x++ }", 3),
    "all ways back": ("probe syscall.*.return { if (name == \"execve\") x++ }", 0),
}


@pytest.mark.parametrize("what", AT_THE_CALL)
def test_with_probes_at_the_call(djtap, what):
    script, hits = AT_THE_CALL[what]
    result = djtap("-e", COUNTING + "global x " + script, "--", "sh", "-c", f"{COUNT} 3; {COUNT} 4; {COUNT} 5; exit 0")
    check(result, 3)
    assert result.globals["x"] == hits and "DJ5907" not in result.stderr, result


@pytest.mark.parametrize("offset, hits", [(0, 1), (5, 1), (7, 0)])
def test_with_a_probe_of_an_instruction(djtap, offset, hits):
    """Of the function's first, of the system call, and of what is behind it when it has failed."""
    address = paths.symbol_address(LIBC, "execve@@GLIBC_2.2.5") + offset
    result = djtap("-e", COUNTING + f'global x probe process("{LIBC}").statement({address:#x}) {{ x++ }}', "--", "sh", "-c", f"{COUNT} 3; exit 0")
    check(result, 1)
    assert result.globals["x"] == hits and result.stderr == "", result
