# SPDX-License-Identifier: Apache-2.0
"""A thread in vfork cannot be stopped until its child is gone: nobody may stand for ever because djtap has tried."""
import os
import signal
import time

import pytest

from support import process
from support.control import Control
from support.paths import victim

PATIENCE = 60


def other_thread(pid):
    (tid,) = {int(name) for name in os.listdir(f"/proc/{pid}/task")} - {pid}
    return tid


def wait_for_vain_attempt(pid):
    """Until djtap has stopped the other thread, waited for the first one, and let the other one go."""
    deadline = time.monotonic() + PATIENCE
    for traced in (True, False):
        while (process.status_field(other_thread(pid), "TracerPid") != "0") != traced:
            assert time.monotonic() < deadline, "djtap does not try to stop the program"
            time.sleep(0.01)


def wait_for_other_text(pid, text):
    """Until the probe that is off has left the text."""
    deadline = time.monotonic() + PATIENCE
    while not process.differences(text, process.own_text(pid, victim("lingering"))):
        assert time.monotonic() < deadline, "the text is still patched"
        time.sleep(0.02)


def target_of(tracer):
    return int(tracer.wait_for(r"^pid: (\d+)").group(1))


def test_a_probe_switched_off_meanwhile(background, tmp_path):
    path = tmp_path / "control"
    tracer = background("--control", str(path), "-e", 'probe func("work") { n++ }', "--", victim("lingering"))
    pid = target_of(tracer)
    own = process.own_text(pid, victim("lingering"))
    tracer.tell("vfork")
    tracer.wait_for("^child: 1")
    with Control(path) as control:
        control.do("disable work")
        wait_for_vain_attempt(pid)
        tracer.tell("end of the child")
        tracer.wait_for("^back: 1", PATIENCE)
        wait_for_other_text(pid, own)
        control.do("enable work")
    tracer.tell("quit")
    result = tracer.finish(PATIENCE)
    assert result.returncode == 0 and 0 < result.globals["n"] < result.facts["calls"], result


@pytest.mark.parametrize("tried", [False, True])
def test_a_session_that_ends_meanwhile(background, tmp_path, tried):
    """Its probes stay where they are, which is said, and the program goes on to its end."""
    path = tmp_path / "control"
    tracer = background("--control", str(path), "-e", 'probe func("work") { n++ }', "--", victim("lingering"))
    pid = target_of(tracer)
    tracer.tell("vfork")
    tracer.wait_for("^child: 1")
    if tried:
        with Control(path) as control:
            control.do("disable work")
            wait_for_vain_attempt(pid)
    tracer.signal(signal.SIGINT)
    tracer.wait_for("probes not removed")
    tracer.tell("end of the child")
    tracer.wait_for("^back: 1", PATIENCE)
    tracer.tell("quit")
    result = tracer.finish(PATIENCE)
    assert result.returncode == 0 and result.facts["calls"] > 0 and "does not stop" in result.stderr, result
