# SPDX-License-Identifier: Apache-2.0
"""Arming conditions: probes that djtap takes out of the text while they are off, and those of which every hit decides."""
import re
import signal

import pytest

from support import process
from support.control import FOLLOW, Control
from support.paths import victim

STEPS = re.compile(r"^engine .* work (\w+) -> (\w+)", re.M)


@pytest.fixture
def commanded(background, program, tmp_path):
    """commanded(script, options...) -> (the target, its text before, its tracer)."""
    def start(script, *options):
        target = program(victim("commander"))
        target.wait_for("pid: ")
        before = process.own_text(target.pid, target.words[0])
        tracer = background("--probes", *options, "-e", script, "-p", str(target.pid), env={"DJTAP_LOG": "engine"})
        tracer.wait_for(r"\[(OPTIMIZED|INT3)")
        return target, before, tracer

    return start


def end(tracer):
    tracer.signal(signal.SIGINT)
    return tracer.finish()


def test_off_from_the_beginning(commanded, tmp_path):
    """It leaves the text, and a command does not arm what the condition forbids."""
    target, before, tracer = commanded('global on probe func("work") if (on) { n++ }', "--control", str(tmp_path / "s"))
    process.wait_for_own_text(target.pid, target.words[0], before)
    with Control(tmp_path / "s") as control:
        control.do("enable work")
        assert [line.rpartition("[")[2] for line in control.do("list")] == ["DISABLED: arming condition]"]
        target.call(1000)
    assert process.differences(before, process.own_text(target.pid, target.words[0])) == []
    assert end(tracer).globals == {"n": 0}


def test_on_by_a_setting(commanded):
    target, _, tracer = commanded('global on probe func("work") if (on == "yes") { n++ }', "-G", "on=yes")
    target.call(1000)
    result = end(tracer)
    assert result.globals == {"n": 1000} and ("optimized", "disabled") not in STEPS.findall(result.stderr)[:-1], result


def test_switched_by_a_timer_under_load(background, program):
    """In and out of the text under four threads: no hit twice, none missing while it is on."""
    target = program(victim("hammer"), "3600")
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    script = 'global on, rounds probe timer.ms(450) { on = !on; rounds++; println("round ", rounds) } ' + FOLLOW.replace(
        'func("work")', 'func("work") if (on)')
    tracer = background("-e", script, "-p", str(target.pid), env={"DJTAP_LOG": "engine"})
    tracer.wait_for("round 8\n")
    tracer.wait_for(r"(?s)( work disabled -> (optimizing|int3).*){2}")  # it takes a moment until a site that is off leaves the text
    result = end(tracer)
    assert result.globals["hits"] > 0 and result.globals.get("extra", 0) == 0, result
    assert result.globals.get("gaps", 0) <= result.stdout.count("round ") * 4, result
    steps = STEPS.findall(result.stderr)
    assert steps.count(("disabled", "optimizing")) + steps.count(("disabled", "int3")) >= 2, result
    assert process.differences(before, process.text_of(target.pid)) == []
    target.signal(signal.SIGTERM)
    assert target.finish().facts["wrong"] == 0


def test_the_program_changes_the_condition(commanded):
    """Then the probe stays, and the thread that changes it finds it so at its next call."""
    script = """global calls, on
    probe func("work") { on = ++calls % 3 == 0 }
    probe process.function("work") if (on) { n++ }"""
    target, before, tracer = commanded(script)
    target.call(1)
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    target.call(2)
    result = end(tracer)
    assert result.globals["n"] == 1, result
    assert [to for _, to in STEPS.findall(result.stderr)].count("disabled") == 1, result


def test_an_object_that_comes_while_the_probe_is_off(background, program):
    library = victim("libctor.so")
    target = program(victim("plugin"), library)
    target.wait_for("pid: ")
    tracer = background("--probes", "-e", 'global on probe func("libctor.so!lib_work")? if (on) { n++ } probe func("main") { m++ }', "-p",
                        str(target.pid))
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    target.tell("open")
    target.wait_for("opened: 1")
    target.tell("call 5")
    target.tell("quit")
    assert target.finish().returncode == 0
    assert tracer.finish().globals["n"] == 0
