# SPDX-License-Identifier: Apache-2.0
"""A session ends while a signal has stopped the program and a thread, which has hit an int3, has its SIGTRAP still to come: it must
not get that, as the program would die of it. Only where another thread has taken the signal does a thread stop so."""
import os
import signal

import pytest

from support import process, run
from support.paths import victim

HEAVY = 'probe func("work") { a[tid(), n % 100] <<< n; b[$n & 255] = n++ }'
WAYS = ["detach", "clean"]


def has_trap_to_come(pid):
    pending = [int(process.status_field(int(tid), "SigPnd"), 16) for tid in os.listdir(f"/proc/{pid}/task")]
    return any(signals >> (signal.SIGTRAP - 1) & 1 for signals in pending)


@pytest.fixture
def armed(program):
    """armed(pid): a session whose sites are all int3."""
    def start(pid):
        tracer = program(*run.command(["--no-optimize", "--probes", "-e", HEAVY, "-p", pid]))
        tracer.wait_for(r"\[INT3")
        return tracer

    return start


@pytest.fixture
def end(program):
    """end(way, tracer, target, pid, text): of the session with `target`, while its process `pid`, whose text was `text`, stands so."""
    def end_there(way, tracer, target, pid, text):
        if way == "clean":
            tracer.signal(signal.SIGKILL)
            tracer.process.wait()
        process.stop_where(pid, has_trap_to_come, "no thread has a SIGTRAP to come")
        if way == "detach":
            tracer.signal(signal.SIGINT)
        ender = tracer if way == "detach" else program(*run.command(["clean", target.pid]))
        process.wait_until(lambda: not process.differences(text, process.text_of(pid)), "its text stays patched")
        os.kill(pid, signal.SIGCONT)  # `clean` waits for threads that are inside handlers
        result = ender.finish()
        assert result.returncode == 0, result

    return end_there


@pytest.mark.parametrize("way", WAYS)
def test_its_threads_live_on(program, armed, end, way):
    target = program(victim("hammer"), "600")
    target.wait_for("pid: ")
    text = process.text_of(target.pid)
    end(way, armed(target.pid), target, target.pid, text)
    target.signal(signal.SIGTERM)
    result = target.finish()
    assert result.returncode == 0 and result.facts["wrong"] == 0, result


@pytest.mark.parametrize("way", WAYS)
def test_a_forked_child_lives_on(target, armed, end, way):
    parent = target(victim("relay"))
    text = process.text_of(parent.pid)
    tracer = armed(parent.pid)
    parent.tell("fork")
    child = int(parent.wait_for(r"^child: (\d+)").group(1))
    parent.tell("crowd 20000000")
    end(way, tracer, parent, child, text)
    parent.wait_for("^crowd: 20000000$")
    parent.tell("quit")
    assert parent.finish().returncode == 0
