# SPDX-License-Identifier: Apache-2.0
"""What --calls says of calls that are left in every way: each is counted once, under the right word, as the program counts it itself."""
import re
import shutil
import signal
import subprocess

import pytest

from support import paths, process
from support.paths import victim

LEFT = ("thrown", "rethrown", "caught", "jumped", "context", "coroutine", "exited", "cancelled", "ended")


def rows(result):
    """By the function of the probe: entered, returned, abandoned, unseen, inside."""
    found = re.findall(r'^ *(\d+) +(\d+) +(\d+) +(\d+) +(\d+)  func\("([^"]+)"\)\.return\?? at', result.stderr.partition("calls of\n")[2], re.M)
    return {name: tuple(map(int, numbers)) for *numbers, name in found}


@pytest.mark.parametrize("body", ["n++", "n += @entry(tid()) == tid()"], ids=["counted", "with-entry-value"])
def test_each_call_is_counted_once(djtap, body):
    script = "".join(f'probe func("{f}").return {{ {body} }}' for f in LEFT if f != "ended") + 'probe func("ended").return { m++ }'
    result = djtap("--calls", "-e", script, "-c", victim("left_calls"))
    truth = {f: (result.facts[f"{f} entered"], result.facts[f"{f} returned"]) for f in LEFT}
    assert rows(result) == {f: (entered, back, entered - back, 0, 0) for f, (entered, back) in truth.items()}, result
    assert result.globals["n"] == sum(back for _, back in truth.values()) and "DJ5907" not in result.stderr, result


def test_what_raises_never_returns(djtap):
    """The unwinder goes to a frame that did not call it, and so does setcontext(): no returns, seen or unseen."""
    raisers = ("_Unwind_RaiseException", "_Unwind_Resume_or_Rethrow", "setcontext")
    script = "".join(f'probe func("{f}").return {{ n++ }}' for f in raisers)
    result = djtap("--calls", "-e", script, "-c", victim("left_calls"))
    raised, again, contexts = (rows(result)[f] for f in raisers)
    assert raised[0] == result.facts["raised"] and contexts[0] == result.facts["contexts"], result
    for entered, *others in (raised, again, contexts):
        assert entered > 0 and others == [0, entered, 0, 0], result
    assert result.globals == {"n": 0} and "DJ5907" not in result.stderr, result


def test_without_counting_nothing_is_said_of_them(djtap):
    result = djtap("-e", 'probe func("_Unwind_RaiseException").return, func("setcontext").return { n += register("rax") + 1 }', "-c", victim("left_calls"))
    assert result.globals == {"n": 0} and "DJ5907" not in result.stderr, result


def test_calls_for_which_there_is_no_room_return(djtap):
    """Whoever asks for no entry values sees all returns; nothing is missing, and nothing is said."""
    result = djtap("--calls", "-e", 'probe func("deep").return { n++ }', "-c", victim("left_calls"))
    assert rows(result)["deep"] == (40001, 40001, 0, 0, 0) and result.globals == {"n": 40001} and "DJ5907" not in result.stderr, result


@pytest.mark.parametrize("options", [[], ["--calls"]], ids=["", "counted"])
def test_values_for_which_there_is_no_room_are_told_once(djtap, options):
    result = djtap(*options, "-e", 'probe func("deep").return { n += @entry(1) + $n * 0 }', "-c", victim("left_calls"))
    told = re.findall(r"^warning\[DJ5907\]: (\d+) returns without entry values: (.*)$", result.stderr, re.M)
    assert told == [(str(40001 - result.globals["n"]), "no room for them")], result
    assert not options or rows(result)["deep"] == (40001, 40001, 0, 0, 0), result


def test_of_a_program_that_goes_on(attach, program):
    """What exceptions have left is told from what the program is in, when the session ends before it."""
    target = program(victim("left_calls"), "asleep")
    target.wait_for("pid: ")
    tracer = attach(target.pid, 'probe func("rethrown").return, func("thrown").return { n++ } probe func("rest").return { m++ }', "--calls")
    for said in range(1, 4):
        target.tell("")
        target.wait_for(f"said: {said}$")
    process.wait_until_asleep(target.pid)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert re.search(r"^ +12 +0 +12 +0 +0  func", result.stderr, re.M) and rows(result)["rest"] == (3, 2, 0, 0, 1), result
    assert result.globals == {"n": 0, "m": 3}, result


def test_of_objects_that_are_opened_later(djtap):
    """Their functions have rows, and are in the sums of points that mean several."""
    script = 'probe func("libctor.so!lib_work").return? { n += $return * 0 + 1 } probe func("*_work").return? { m++ }'
    result = djtap("--calls", "-e", script, "--", victim("plugin"), victim("libctor.so"), stdin="open\ncall 1000\nclose\nopen\ncall 10\nquit\n")
    truth = sum(int(n) for n in re.findall(r"^lib_work calls: (\d+)$", result.stdout, re.M))
    assert truth > 1010 and rows(result)["libctor.so!lib_work"] == (truth, truth, 0, 0, 0), result
    assert rows(result)["*_work"][:2] == (result.globals["m"], result.globals["m"]) and result.globals["n"] == truth, result


def test_panics(djtap, tmp_path):
    built = tmp_path / "panics"
    words = ["rustc", "-g", "-O", paths.ROOT / "tests" / "targets" / "panics.rs", "-o", built]
    if shutil.which("rustc") is None or subprocess.run(words, capture_output=True, check=False).returncode != 0:
        pytest.skip("there is no rustc that works")
    result = djtap("--calls", "-e", 'probe func("risky").return { n += $return } probe func("guarded").return { m += $return }', "-c", built)
    entered, back = result.facts["entered"], result.facts["returned"]
    assert rows(result) == {"risky": (entered, back, entered - back, 0, 0), "guarded": (300, 300, 0, 0, 0)} and 0 < back < entered, result
    assert result.globals == {"n": result.facts["sum"], "m": result.facts["sum"]}, result
