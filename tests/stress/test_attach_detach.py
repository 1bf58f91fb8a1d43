# SPDX-License-Identifier: Apache-2.0
"""Attached and detached again and again: counts exact, the text as before after each; and probes switched off and on."""
import os
import random
import signal

import pytest

import workloads
from support import process
from support.control import FOLLOW, Control
from support.paths import victim

pytestmark = [pytest.mark.stress, pytest.mark.timeout(4 * 3600 if workloads.LONG else 1800)]

ROUNDS = 1000 if workloads.LONG else 50
HAMMERED = 20000 if workloads.LONG else 50
SWITCHES = 20000 if workloads.LONG else 300
SEED = int(os.environ.get("DJTAP_STRESS_SEED") or random.SystemRandom().randrange(2**32))
OTHERS = ["", 'probe func("work").return { back++ }', 'probe process.function("*") { all++ }',
          'probe func("libc.so.6!mem*"), func("libc.so.6!pthread_*") { all++ }',
          'probe func("libc.so.6!*read*").return, func("libc.so.6!*sleep*") { all++ }']


def detach(tracer):
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0, result
    tracer.__exit__()
    return result


def test_counts_are_exact(attach, program):
    """Four threads call the function a known number of times while it is probed; two more sleep in the kernel."""
    generator = random.Random(SEED)
    print(f"DJTAP_STRESS_SEED={SEED}")
    target = program(victim("commander"))
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    total = 0
    for _ in range(ROUNDS):
        tracer = attach(target.pid, 'probe func("work") { calls++ } ' + generator.choice(OTHERS))
        calls = generator.randrange(1000, 9000)
        total += calls
        target.tell(f"call {calls}")
        target.wait_for(f"called: {calls}$")
        target.text[target.process.stdout.fileno()] = b""
        result = detach(tracer)
        assert result.globals["calls"] == calls, result
        assert result.globals.get("back", calls) == calls, result
        assert process.differences(before, process.text_of(target.pid)) == [], result
    target.tell("quit")
    end = target.finish()
    assert end.returncode == 0 and end.facts["work calls"] == total and end.facts["interrupted"] == 0, end


def test_under_load(attach, program):
    """Four threads are in the function while its probe comes and goes."""
    generator = random.Random(SEED)
    print(f"DJTAP_STRESS_SEED={SEED}")
    target = program(victim("hammer"), "14400")
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    for _ in range(HAMMERED):
        result = detach(attach(target.pid, 'probe func("work") { calls++ } ' + generator.choice(OTHERS)))
        if "back" in result.globals:
            assert abs(result.globals.get("calls", 0) - result.globals["back"]) <= 4, result
        assert process.differences(before, process.text_of(target.pid)) == [], result
    target.signal(signal.SIGTERM)
    end = target.finish()
    assert end.returncode == 0 and end.facts["wrong"] == 0, end


@pytest.mark.parametrize("live", [[], ["--live"]], ids=["stopped", "live"])
def test_switched_under_load(attach, program, tmp_path, live):
    """One session takes its probe out and puts it in again while four threads call the function: no hit twice, none missing while on."""
    target = program(victim("hammer"), "1800")
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    tracer = attach(target.pid, FOLLOW, "--control", str(tmp_path / "control"), *live)
    with Control(tmp_path / "control") as control:
        for _ in range(SWITCHES):
            control.do("disable work")
            control.do("enable work")
    result = detach(tracer)
    assert result.globals.get("extra", 0) == 0 and result.globals["hits"] > SWITCHES, result
    assert result.globals.get("gaps", 0) <= SWITCHES * 4, result
    assert process.differences(before, process.text_of(target.pid)) == [], result
    target.signal(signal.SIGTERM)
    end = target.finish()
    assert end.returncode == 0 and end.facts["wrong"] == 0, end
