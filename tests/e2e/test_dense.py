# SPDX-License-Identifier: Apache-2.0
"""Every instruction of some functions is probed: nearly all are jumps, which share bytes with each other and with int3."""
import re
import signal
import subprocess
import time

import pytest

from support import process, run
from support.control import Control
from support.paths import symbol_address, victim

# What a name begins with: how often the program says that such instructions have run.
RUNS = {"once": "called", "round": "rounds", "odd": "odd rounds"}
A_CALL = {"once": 1, "round": 5, "odd": 3}
PROGRAMS = ["relay", "relay_fixed"]


def places(name):
    """{name: address} of the instructions of dense.S."""
    table = subprocess.run(["readelf", "-sW", victim(name)], capture_output=True, text=True, check=True).stdout
    found = {symbol: int(address, 16) for address, symbol in
             re.findall(rf": ([0-9a-f]+) .* LOCAL .* ((?:{'|'.join(RUNS)})_\d+)$", table, re.M)}
    assert len(found) > 40, table
    return found


def group(symbol):
    return symbol.split("_")[0]


def script(name):
    return "".join(f'probe process.statement({at:#x}) {{ n["{symbol}"]++ }}\n' for symbol, at in places(name).items())


def start(program, name):
    """At the addresses that it always has: elsewhere its heap may lie where jumps would lead to."""
    target = program("setarch", "-R", victim(name))
    target.wait_for("pid: ")
    return target, process.text_of(target.pid)


def counted(result):
    return {symbol.strip('"'): int(count) for symbol, count in result.array("n")}


def runs(name, truth):
    return {symbol: truth[RUNS[group(symbol)]] for symbol in places(name)}


def int3_share(result):
    states = [site.state for site in result.sites]
    assert set(states) <= {"OPTIMIZED", "INT3"}, result
    return states.count("INT3") / len(states)


def finish(tracer, target, text):
    """The tracer's result, and the target's."""
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0, result
    assert process.differences(text, process.text_of(target.pid)) == [], result
    target.call(7)  # whatever is left would show
    target.tell("quit")
    ended = target.finish()
    assert ended.returncode == 0, ended
    return result


@pytest.mark.parametrize("options", [[], ["--live"], ["--guards=all"]], ids=" ".join)
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_is_counted(attach, program, name, options):
    target, text = start(program, name)
    tracer = attach(target.pid, script(name), *options)
    target.call(2000)
    truth = run.Result(target.words, target.stdout, target.stderr, 0).facts
    result = finish(tracer, target, text)
    assert counted(result) == runs(name, truth), result
    if "--no-optimize" not in tracer.words and "--live" not in options:
        assert int3_share(result) < (0.5 if name == "relay_fixed" else 0.1), result


@pytest.mark.parametrize("name", PROGRAMS)
def test_switched_function_by_function(background, program, name, tmp_path):
    """Each is switched for itself, though none leaves the text alone."""
    target, text = start(program, name)
    tracer = background("--probes", "--control", str(tmp_path / "s"), "-e", script(name), "-p", str(target.pid))
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    with Control(tmp_path / "s") as control:
        for number, off in enumerate(["dense_leaf", "dense_*", "dense_work"]):
            control.do(f"disable {off}")
            time.sleep(0.5)  # long enough for a site to leave the text if it could
            target.call(100 + number)
            control.do(f"enable {off}")
            target.call(50 + number)
    result = finish(tracer, target, text)
    leaf = symbol_address(victim(name), "dense_leaf")
    calls = {symbol: 153 + (102 if at >= leaf else 100) for symbol, at in places(name).items()}
    assert counted(result) == {symbol: count * A_CALL[group(symbol)] for symbol, count in calls.items()}, result


@pytest.mark.parametrize("name", PROGRAMS)
def test_put_back_after_a_killed_tracer_also_in_children(attach, djtap_once, program, name):
    target, text = start(program, name)
    process.check_put_back_in_children(djtap_once, attach(target.pid, script(name)), target, text)


def test_what_leans_on_an_int3_goes_with_it(djtap_once):
    """When the program asks for a signal stack on which nothing may trap, behind the first call. The other jumps stay."""
    name = "altstack_fixed"
    result = djtap_once("-v", "-e", script(name), "-c", victim(name), prefix=["setarch", "-R"])
    assert result.returncode == 0 and result.facts["calls"] == 1000, result
    calls = {symbol: count / A_CALL[group(symbol)] for symbol, count in counted(result).items()}
    assert len(calls) == len(places(name)) and set(calls.values()) <= {1, 1000}, result
    skipped = [site.state for site in result.sites].count("SKIPPED")
    assert 0 < skipped == list(calls.values()).count(1), result
