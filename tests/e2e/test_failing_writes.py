# SPDX-License-Identifier: Apache-2.0
"""Writes into the target's text that fail, or find it gone: whichever it is, the program goes on, and its text can be put back."""
import os
import re
import time

import pytest

from support import process
from support.control import Control
from support.paths import symbol_address, victim

STEP = re.compile(r"^engine .* work (\w+ -> \w+)", re.M)
SCRIPT = 'probe func("work") { n++ }'


def place_of(target, file, function="work"):
    return min(begin for begin, _, _, path in process.mappings(target.pid) if path == file) + symbol_address(file, function)


@pytest.fixture
def gated(background):
    """gated(target, address, words of WRITE_GATE, options..., script): a djtap that traces it; the address's page is the gate's."""
    def start(target, address, gate, *options, script=SCRIPT):
        env = {**os.environ, "LD_PRELOAD": victim("libwrite_gate.so"), "DJTAP_LOG": "engine", "WRITE_GATE": f"{address:x} {gate}"}
        return background(*options, "-e", script, "-p", str(target.pid), env=env)

    return start


def start(program, name):
    target = program(victim(name))
    target.wait_for("pid: ")
    return target, process.text_of(target.pid)


@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize("live", [[], ["--live"]])
def test_each_write_fails(gated, program, djtap_once, mode, live, lasting):
    """One after the other, alone or with all that come later. The text is as before when djtap has not said that it is not."""
    seen, number = set(), 0
    while True:
        number += 1
        target, before = start(program, "hammer")
        result = gated(target, place_of(target, victim("hammer")), f"fail {number} {1000 if lasting else number}", "-T", "0.01", *live).finish()
        seen.update(STEP.findall(result.stderr))
        assert target.process.poll() is None, result
        left = process.differences(before, process.text_of(target.pid))
        assert bool(left) == (f"do it later with: djtap clean {target.pid}" in result.stderr), (left, result)
        assert (result.returncode == 0) == ("error[DJ" not in result.stderr), result
        assert djtap_once("clean", str(target.pid)).returncode == 0
        assert process.differences(before, process.text_of(target.pid)) == []
        target.signal(15)
        assert target.finish().facts["wrong"] == 0
        if "a write fails" not in result.stderr:
            break
    assert number > 3 and result.returncode == 0, result
    if live and mode == "jump" and not lasting:
        assert {"int3 -> disabled", "optimizing -> disabled"} <= seen


def unmap_while_waiting(target, tracer, file):
    """What happens then, as the steps of work()."""
    tracer.wait_for("a write waits")
    target.tell("u")
    target.wait_for("unmapped: 1")
    file.touch()
    tracer.wait_for("work .*-> gone")
    tracer.signal(2)
    result = tracer.finish()
    target.tell("q")
    assert target.finish().returncode == 0, result
    return STEP.findall(result.stderr)


def test_text_that_is_gone_before_it_is_written(gated, program, tmp_path):
    """Its page is copied first, while the program runs."""
    target, _ = start(program, "unmapping")
    tracer = gated(target, place_of(target, victim("unmapping")), f"wait 1 {tmp_path / 'go'}")
    assert unmap_while_waiting(target, tracer, tmp_path / "go") == ["registered -> gone"]


def test_text_that_goes_while_its_jump_is_written(gated, program, mode, tmp_path):
    """Behind the copy and the int3, before the displacement."""
    if mode == "int3":
        pytest.skip("an int3 is one write")
    target, _ = start(program, "unmapping")
    tracer = gated(target, place_of(target, victim("unmapping")), f"wait 3 {tmp_path / 'go'}", "--live")
    steps = unmap_while_waiting(target, tracer, tmp_path / "go")
    assert steps == ["registered -> int3", "int3 -> optimizing", "optimizing -> gone"]


def known(control):
    return sum("lib_work" in line for line in control.do("list"))


def test_an_object_that_could_not_be_probed_when_it_came(gated, program, tmp_path):
    """It is no part of the session, and is probed when it comes again. Pages are copied before they are written to."""
    library = victim("libctor.so")
    target = program(victim("plugin"), library)
    target.wait_for("pid: ")
    target.order("open", "opened: 1")
    place = place_of(target, library, "lib_work")
    tracer = gated(target, place, "fail 4 4", "--probes", "--control", str(tmp_path / "control"),
                   script='probe process.library("libctor*").function("lib_work") { n++ } probe func("main") { m++ }')
    tracer.wait_for(r"lib_work.*\[(OPTIMIZED|INT3)")
    with Control(tmp_path / "control") as control:
        target.order("close", "closed: 0")
        gone = known(control)
        target.order("open", "opened: 1")
        assert place_of(target, library, "lib_work") == place
        tracer.wait_for(r"warning\[DJ5903\]: objects that the target opened are not probed: cannot write memory")
        assert known(control) == gone
        target.order("call 100", "called: 100$")
        time.sleep(0.2)  # djtap tells debuggers of its code
        target.order("close", "closed: 0")
        target.order("open", "opened: 1")
        assert known(control) == gone + 1
    target.order("call 1000", "called: 1000$")
    tracer.signal(2)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals["n"] == 7 + 50 + 1000, result
    target.tell("quit")
    assert target.finish().returncode == 0
