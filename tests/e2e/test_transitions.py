# SPDX-License-Identifier: Apache-2.0
"""The life of a site as DJTAP_LOG=engine tells it: each step of the life cycle by name, and places that collide."""
import os
import re
import signal

import pytest

from support import process
from support.control import Control
from support.paths import symbol_address, victim

STEP = re.compile(r"^engine +[\d.]+ ms 0x[0-9a-f]+ (\S+) (\w+) -> (\w+)", re.M)
ENGINE = {"DJTAP_LOG": "engine"}
ARMED, OFF = r"\[(OPTIMIZED|INT3)", r"-> disabled"


def steps(tracer_or_result, name):
    """[(from, to)] of the places of one function, in order."""
    return [(old, new) for function, old, new in STEP.findall(tracer_or_result.stderr) if function == name]


@pytest.fixture
def traced(program, background, tmp_path):
    """traced(words of a victim, options..., script) -> (target, tracer, its Control); armed, on a control socket."""
    def start(words, *options):
        target = program(*words)
        target.wait_for("pid: ")
        path = tmp_path / "control"
        tracer = background("--probes", "--control", str(path), *options[:-1], "-e", options[-1], "-p", str(target.pid), env=ENGINE)
        tracer.wait_for(ARMED)
        return target, tracer, Control(path)

    return start


def end(tracer):
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0, result
    return result


def test_armed_switched_off_and_on_and_disarmed(traced, mode):
    target, tracer, control = traced([victim("relay")], 'probe func("work") { n++ }')
    own = [] if mode == "int3" else [("optimizing", "optimized")]
    first = "int3" if mode == "int3" else "optimizing"
    up = [("registered", first), *own]
    assert steps(tracer, "work") == up
    armed = "int3" if mode == "int3" else "optimized"
    with control:
        control.do("disable work")
        tracer.wait_for(rf"work {armed} {OFF}")
        target.call(10)
        control.do("enable work")
    target.call(100)
    result = end(tracer)
    assert steps(result, "work") == [*up, (armed, "disabled"), ("disabled", first), *own, (armed, "disabled")]
    assert result.globals == {"n": 100}


def test_switched_off_and_on_at_once_is_no_step(traced):
    _, tracer, control = traced([victim("relay")], 'probe func("work") { n++ }')
    before = steps(tracer, "work")
    with control:
        for _ in range(100):
            control.send("disable work", "enable work")
            assert [control.answer("disable"), control.answer("enable")] == [([], "ok")] * 2
    assert steps(end(tracer), "work")[:-1] == before


def test_live_a_jump_is_an_int3_first(traced, mode):
    _, tracer, _ = traced([victim("hammer"), "3600"], "--live", 'probe func("work") { n++ }')
    result = end(tracer)
    if mode == "int3":
        assert steps(result, "work") == [("registered", "int3"), ("int3", "disabled")]
    else:
        assert steps(result, "work") == [("registered", "int3"), ("int3", "optimizing"), ("optimizing", "optimized"), ("optimized", "int3"),
                                         ("int3", "disabled")]


@pytest.mark.parametrize("off", [False, True])
def test_gone_with_its_object(traced, mode, off):
    library = victim("libctor.so")
    target, tracer, control = traced([victim("plugin"), library], 'probe func("lib_work")? { n++ } probe func("main") { m++ }')
    target.tell("open")
    target.wait_for("opened: 1")
    with control:
        if off:
            control.do("disable lib_work")
            tracer.wait_for(rf"lib_work \w+ {OFF}")
        target.tell("close")
        target.wait_for("closed: 0$")
        target.tell("open")
        tracer.wait_for(r"lib_work \w+ -> gone")
    armed = "int3" if mode == "int3" else "optimized"
    assert ("disabled" if off else armed, "gone") in steps(tracer, "lib_work")
    end(tracer)


def test_refused_places_take_one_step(traced):
    _, tracer, _ = traced([victim("relay")], 'probe func("libc.so.6!_exit").return, func("work") { n++ }')
    assert set(steps(end(tracer), "_exit")) == {("registered", "skipped")}


def test_taken_out_and_refused_where_the_program_asks_for_a_small_stack(djtap_once):
    result = djtap_once("--no-optimize", "-e", 'probe func("work") { n++ }', "-c", victim("altstack"), env={**os.environ, **ENGINE})
    assert steps(result, "work") == [("registered", "int3"), ("int3", "disabled"), ("disabled", "skipped")], result
    assert result.globals == {"n": 1} and result.facts == {"calls": 1000}, result


@pytest.mark.parametrize("inner_first", [False, True])
def test_a_probe_inside_the_bytes_of_another(traced, mode, inner_first):
    """Both work, by jumps that share bytes or as an int3 each; switched one by one, and the other goes on."""
    inner = symbol_address(victim("relay"), "work") + 4  # its ret, behind a lea of four bytes
    probes = ['probe func("work") { outer++ }', f"probe process.statement({inner}) {{ inner++ }}"]
    target, tracer, control = traced([victim("relay")], " ".join(reversed(probes) if inner_first else probes))
    assert [new for _, new in steps(tracer, "work")][-2:] == ["int3" if mode == "int3" else "optimized"] * 2
    with control:
        target.call(1000)
        control.do(f"disable {0 if inner_first else 1}")
        target.call(100)
        if mode == "int3":  # jumps that share bytes stay
            tracer.wait_for(f"work int3 {OFF}")
        target.call(10)
        control.do(f"enable {0 if inner_first else 1}")
        target.call(1)
    result = end(tracer)
    assert result.globals == {"outer": 1111, "inner": 1001}, result


def test_probes_at_one_place_share_a_site(traced, mode):
    """It is in the text as long as one of them is on."""
    target, tracer, control = traced([victim("relay")], 'probe func("work") { a++ } probe process.function("work") { b++ }')
    armed = "int3" if mode == "int3" else "optimized"
    assert [new for _, new in steps(tracer, "work")][-1:] == [armed]
    before = steps(tracer, "work")
    own = process.own_text(target.pid, target.words[0])
    with control:
        control.do("disable 0.0")
        target.call(10)
        assert process.own_text(target.pid, target.words[0]) == own
        control.do("disable 0.1")
        tracer.wait_for(f"work {armed} {OFF}")
        target.call(100)
        control.do("enable 0.0")
        target.call(1000)
    result = end(tracer)
    assert steps(result, "work") == [*before, (armed, "disabled"), *[(old.replace("registered", "disabled"), new) for old, new in before],
                                     (armed, "disabled")]
    assert result.globals == {"a": 1000, "b": 10}, result
