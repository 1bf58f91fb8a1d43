# SPDX-License-Identifier: Apache-2.0
"""Functions less than five bytes apart: both are jumps, which share bytes, whatever becomes of either."""
import re
import signal
import time

import pytest

from support import process
from support.control import Control
from support.paths import victim

NAMES = ["short_ret", "short_zero", "short_same"]
SCRIPT = "probe " + ", ".join(f'func("{name}")' for name in NAMES) + " { n[probefunc()]++ }"


def counted(result):
    return {name.strip('"'): int(count) for name, count in result.array("n")}


def int3(result):
    return [site.state for site in result.sites].count("INT3")


def start(program, *words):
    target = program(*words)
    target.wait_for("pid: ")
    return target, process.text_of(target.pid)


def test_all_by_jump(djtap_once):
    result = djtap_once("--probes", "-e", SCRIPT, "-c", victim("short"))
    assert result.returncode == 0 and int3(result) == 0, result
    assert counted(result) == {name: result.facts[name] for name in NAMES}, result


def test_switched_one_by_one(background, program, tmp_path):
    """Each is switched for itself, though none can leave the text alone."""
    target, text = start(program, victim("relay"))
    tracer = background("--probes", "--control", str(tmp_path / "s"), "-e", SCRIPT, "-p", str(target.pid))
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    expected = dict.fromkeys(NAMES, 0)
    with Control(tmp_path / "s") as control:
        for number, off in enumerate([*NAMES, "short_*"]):
            control.do(f"disable {off}")
            time.sleep(0.5)  # long enough for a site to leave the text if it could
            target.call(1000 + number)
            for name in NAMES:
                expected[name] += 0 if off in (name, "short_*") else 1000 + number
            control.do(f"enable {off}")
    target.call(100)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert counted(result) == {name: count + 100 for name, count in expected.items()}, result
    assert int3(result) == (3 if "--no-optimize" in tracer.words else 0), result
    assert process.differences(text, process.text_of(target.pid)) == []


@pytest.mark.parametrize("options, expected", [([], 0), (["--live"], 2)])
def test_in_a_running_program(background, program, options, expected):
    """Written while it runs they come one after the other: then they are int3."""
    target, text = start(program, victim("relay"))
    tracer = background("--probes", *options, "-e", SCRIPT, "-p", str(target.pid))
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    target.call(3000)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert counted(result) == dict.fromkeys(NAMES, 3000), result
    assert int3(result) == (expected if "--no-optimize" not in tracer.words else 3), result
    assert process.differences(text, process.text_of(target.pid)) == []


def test_put_back_after_a_killed_tracer_also_in_children(attach, djtap_once, program):
    target, text = start(program, victim("relay"))
    process.check_put_back_in_children(djtap_once, attach(target.pid, SCRIPT), target, text)


def test_in_a_library_that_is_closed(attach, program):
    library = victim("libctor.so")
    target, _ = start(program, victim("plugin"), library)
    target.tell("open")
    target.wait_for("opened: 1")
    tracer = attach(target.pid, 'probe func("libctor.so!short_*"), func("libctor.so!lib_work") { n++ }', "-v")
    target.tell("close")
    target.wait_for("closed: 0$")
    target.tell("open")
    target.wait_for("opened: 1\n(?:.*\n)*opened: 1$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    # 7 of the destructor, then 50 of the constructor: opened again, it is probed again
    assert result.returncode == 0 and result.globals == {"n": 57} and "not removed" not in result.stderr, result
    target.tell("call 5")
    target.tell("quit")
    assert target.finish().returncode == 0


@pytest.mark.parametrize("forms", [{"short_step": "punned", "short_rest": "plain"},
                                   {"short_push": "punned", "short_pop": "punned"}], ids=" ".join)
def test_loops_into_the_bytes_of_both_jumps(forms, djtap_once):
    """Those bytes stay what they are: nobody traps."""
    points = ", ".join(f'func("{name}")' for name in forms)
    result = djtap_once("-v", "-e", f'probe {points}, func("short_over") {{ n[probefunc()]++ }}', "-c", victim("short"))
    assert result.returncode == 0, result
    assert counted(result) == {name: result.facts[name] for name in [*forms, "short_over"]}, result
    states = dict(re.findall(r"(short_\w+)\+0x0 \S+ \[([^]]+)", result.stderr))
    assert states == {name: f"OPTIMIZED: {form}" for name, form in forms.items()}, result
