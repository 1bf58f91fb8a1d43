"""Writes into the target's text that fail, or find it gone: whichever it is, the program goes on, and its text can be put back."""
import os
import re

import pytest

from support import process
from support.paths import symbol_address, victim

STEP = re.compile(r"^engine .* work (\w+ -> \w+)", re.M)
SCRIPT = 'probe func("work") { n++ }'


def page_of_work(pid, name):
    """An address in it, as the program has it now."""
    return min(begin for begin, _, _, path in process.mappings(pid) if path == victim(name)) + symbol_address(victim(name), "work")


@pytest.fixture
def gated(background):
    """gated(target, name, words of WRITE_GATE, options...): a djtap that traces the target's work()."""
    def start(target, name, gate, *options):
        env = {**os.environ, "LD_PRELOAD": victim("libwrite_gate.so"), "DJTAP_LOG": "engine",
               "WRITE_GATE": f"{page_of_work(target.pid, name):x} {gate}"}
        return background(*options, "-e", SCRIPT, "-p", str(target.pid), env=env)

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
        result = gated(target, "hammer", f"fail {number} {1000 if lasting else number}", "-T", "0.01", *live).finish()
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
    tracer = gated(target, "unmapping", f"wait 1 {tmp_path / 'go'}")
    assert unmap_while_waiting(target, tracer, tmp_path / "go") == ["registered -> gone"]


def test_text_that_goes_while_its_jump_is_written(gated, program, mode, tmp_path):
    """Behind the copy and the int3, before the displacement."""
    if mode == "int3":
        pytest.skip("an int3 is one write")
    target, _ = start(program, "unmapping")
    tracer = gated(target, "unmapping", f"wait 3 {tmp_path / 'go'}", "--live")
    steps = unmap_while_waiting(target, tracer, tmp_path / "go")
    assert steps == ["registered -> int3", "int3 -> optimizing", "optimizing -> gone"]
