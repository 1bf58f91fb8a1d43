# SPDX-License-Identifier: Apache-2.0
"""Programs that stand, sleep or vanish where their text is being changed."""
import re
import signal

from support import process
from support.control import Control
from support.paths import victim

LIBRARY = victim("libctor.so")
COUNT = 'probe func("libctor.so!lib_work") { n++ }'


def plugin(program):
    target = program(victim("plugin"), LIBRARY)
    target.wait_for("pid: ")
    target.order("open", "opened: 1")
    return target


def test_a_library_closed_while_it_is_probed(attach, program):
    """Its own destructor is counted; what is mapped there later is left alone."""
    target = plugin(program)
    tracer = attach(target.pid, COUNT, "-v")
    target.order("call 1000", "called: 1000$")
    target.order("close", "closed: 0$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals == {"n": 1007}, result
    assert re.search(r"lib_work\+0x0 \S+ \[GONE", result.stderr) and "not removed" not in result.stderr, result
    target.tell("quit")
    assert target.finish().returncode == 0


def test_a_library_closed_and_opened_again(attach, program):
    target = plugin(program)
    before = process.text_of(target.pid)
    tracer = attach(target.pid, COUNT, "-v")
    target.order("call 10", "called: 10$")
    target.order("close", "closed: 0$")
    target.order("open", "opened: 1$")
    target.order("call 100", "called: 100$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals == {"n": 10 + 7 + 50 + 100}, result  # with destructor and constructor
    after = process.text_of(target.pid)
    library = {key: text for key, text in before.items() if key[1] == LIBRARY}
    assert list(library.values()) == [text for key, text in after.items() if key[1] == LIBRARY]
    target.order("call 5", "called: 5$")
    target.tell("quit")
    assert target.finish().facts["total"] == 115


def test_code_that_is_mapped_twice(attach, program, mode):
    """A page of the program stands in a second mapping without the rest: the function there is probed too, nothing else."""
    target = program(victim("remap"))
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    tracer = attach(target.pid, 'probe func("work") { n++ } probe func("work").return { r++ } probe func("other") { o++ }')
    target.order("", "calls: 500$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.globals == {"n": 500, "r": 500, "o": 300} and "SKIPPED" not in result.stderr, result
    states = [site.state for site in result.sites]
    assert states == ["OPTIMIZED" if mode == "jump" else "INT3"] * 5, result
    assert process.differences(before, process.text_of(target.pid)) == []
    target.order("", "")
    assert target.finish().returncode == 0


def test_code_that_is_mapped_shared(attach, program, mode):
    """What would be written there the kernel would write into the file: it is left out with its reason, and the rest is probed."""
    target = program(victim("remap"), "shared")
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    tracer = attach(target.pid, 'probe func("work") { n++ } probe func("other") { o++ }')
    target.order("", "calls: 500$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals == {"n": 300, "o": 300}, result
    left = [site.reason for site in result.sites if site.state == "SKIPPED"]
    assert left == ["mapped shared"] and len(result.sites) == 3, result
    assert process.differences(before, process.text_of(target.pid)) == []
    target.order("", "")
    assert target.finish().returncode == 0


def test_a_gone_site_stays_off(attach, program, tmp_path):
    target = plugin(program)
    tracer = attach(target.pid, COUNT, "--control", str(tmp_path / "control"))
    with Control(tmp_path / "control") as control:
        target.order("close", "closed: 0$")
        control.do("disable lib_work")
        control.do("enable lib_work")
        assert [line.count("[GONE") for line in control.do("list")] == [1]
    tracer.signal(signal.SIGINT)
    assert tracer.finish().globals == {"n": 7}
    target.tell("quit")
    assert target.finish().returncode == 0


def test_asleep_in_a_callee_that_returns_into_the_jump(attach, program, tmp_path):
    """Armed, disarmed and armed again while the return address lies in the middle of the patched bytes."""
    target = program(victim("asleep"))
    target.wait_for("pid: ")
    process_text = process.text_of(target.pid)
    tracer = attach(target.pid, 'probe func("through") { n++ }', "--control", str(tmp_path / "control"))
    with Control(tmp_path / "control") as control:
        target.order("", "woken: 1$")
        control.do("disable through")
        target.order("", "woken: 2$")
        control.do("enable through")
        for woken in range(3, 9):
            target.order("", f"woken: {woken}$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert 5 <= result.globals["n"] <= 8, result
    assert process.differences(process_text, process.text_of(target.pid)) == []
    target.order("", "woken: 9$")


def test_threads_that_start_others_and_end(djtap_once):
    """Many arrive at the guard in work()'s jump, so it is written anew while nobody may run: also whom the kernel's list leaves out."""
    for _ in range(12):
        result = djtap_once("-e", 'probe func("work") { n++ } probe func("work").return { r++ }', "-c", victim("successors"))
        assert result.returncode == 0 and result.globals == dict.fromkeys(("n", "r"), result.facts["work calls"]), result
