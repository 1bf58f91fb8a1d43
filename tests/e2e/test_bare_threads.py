# SPDX-License-Identifier: Apache-2.0
"""Threads that clone() alone has started: with another one's control block, or with one that is not the C library's."""
import signal

import pytest

from support.paths import victim

# Counted by a called handler, in an array, and by calls that are kept from entry to return.
COUNT = """global n, wrong, m, back, sum
probe func("work") { n++; m[$n & 7]++; if (tid() != $tid || pid() != $pid) wrong++ }
probe func("work").return { back++; sum += @entry($n) }"""


def check(result, calls, each):
    assert result.returncode == 0 and result.facts.get("changed", 0) == 0, result
    assert result.globals == {"n": calls, "wrong": 0, "back": calls, "sum": calls * (each - 1) // 2}, result
    assert sum(int(count) for _, count in result.array("m")) == calls, result


@pytest.mark.parametrize("how", ["shared", "processes"])
def test_of_one_control_block(djtap, how):
    """They would take the area of the one that is registered for theirs (rseq): counts would be lost, and numbers of threads wrong."""
    result = djtap("--no-thread-rows", "-e", COUNT, "--", victim("bare_threads"), how, stdin="start 4000\n" * 5 + "quit\n")
    assert result.facts["work calls"] == 5 * 5 * 4000, result
    check(result, result.facts["work calls"], 4000)


def cpu(target):
    target.text[target.process.stdout.fileno()] = b""
    target.tell("rseq")
    return int(target.wait_for(r"^rseq cpu: (-?\d+)\n").group(1))


@pytest.mark.parametrize("end", ["detach", "kill"])
def test_their_area_is_registered_again(attach, djtap_once, program, end):
    """What the session has changed for them, it changes back; else `clean` does."""
    target = program(victim("bare_threads"), "shared")
    target.wait_for("pid: ")
    assert cpu(target) >= 0
    tracer = attach(target.pid, COUNT)
    target.tell("start 3000")
    target.wait_for("^done: 3000$")
    assert cpu(target) < 0
    tracer.signal(signal.SIGINT if end == "detach" else signal.SIGKILL)
    if end == "detach":
        check(tracer.finish(), 5 * 3000, 3000)
    else:
        tracer.process.wait()
        assert djtap_once("clean", target.pid).returncode == 0
    assert cpu(target) >= 0
    target.tell("quit")
    assert target.finish().facts["work calls"] == 5 * 3000


@pytest.mark.parametrize("how", ["foreign", "edge", "moved"])
def test_of_a_foreign_control_block(djtap, how):
    """Where handlers look for the area there is something else, or nothing: the session ends before."""
    result = djtap("--no-thread-rows", "-e", COUNT, "--", victim("bare_threads"), how, stdin="start 2000\nquit\n")
    assert result.returncode == 0 and result.facts.get("changed", 0) == result.facts.get("moved", 0) == 0, result
    assert result.facts["work calls"] == (1 if how == "moved" else 5) * 2000, result
    assert "warning[DJ5902]: the session ends: the program starts a thread whose control block is not the C library's" in result.stderr, result
    assert result.globals.get("n", 0) == 0, result
