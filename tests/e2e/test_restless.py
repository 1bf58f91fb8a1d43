# SPDX-License-Identifier: Apache-2.0
"""Attach and detach while the program starts threads, forks, spawns and executes without a pause."""
import signal
import time

import pytest

from support import process
from support.paths import victim

SCRIPT = 'probe func("work") { n++ } probe func("libc.so.6!*") { m++ }'
SAYS = ' global said probe func("work") { if (said++ == 0) println("counts") }'


def started(program, what):
    target = program(victim("restless"), what)
    target.wait_for("pid: ")
    if what == "headless":
        process.wait_until_headless(target.pid)  # on its way out, the first thread maps libgcc_s and files for it
    return target


@pytest.mark.parametrize("what", ["threads", "forks", "spawns", "headless"])
def test_attach_to_a_program_that_never_stays_as_it_is(attach, program, what):
    target = started(program, what)
    text = process.text_of(target.pid)
    for _ in range(3):
        tracer = attach(target.pid, SCRIPT + SAYS)
        tracer.wait_for("^counts$")
        time.sleep(0.1)
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert result.returncode == 0 and result.globals["n"] > 0, result
        assert "not removed" not in result.stderr, result
        assert not process.differences(text, process.text_of(target.pid))
    target.signal(signal.SIGTERM)
    end = target.finish()
    assert end.returncode == 0 and end.facts["wrong"] == 0, end


def test_attach_to_a_program_that_executes_itself(djtap, program):
    """Each session ends with a count or with a reason; the program goes on."""
    target = started(program, "execs")
    for _ in range(10):
        result = djtap("-e", SCRIPT + " probe timer.ms(50) { exit() }", "-p", str(target.pid), may_leave=True)
        assert result.returncode in (0, 3, 4), result  # 3: seen before its libraries were mapped
        assert result.returncode == 0 or "error[DJ" in result.stderr, result
    alive = target.process.poll() is None
    target.signal(signal.SIGKILL)  # its first thread may be gone: the session's reaper overlooks it
    target.process.wait()
    assert alive
