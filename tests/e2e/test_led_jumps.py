# SPDX-License-Identifier: Apache-2.0
"""Jumps of one function into another, at which a guard stands: where many arrive, they are led to the detour, and nobody traps."""
import re
import signal

import pytest

from support import process
from support.paths import symbol_address, victim

LEADING = ("by_short", "by_near", "by_condition")  # the bytes of its jump have room for another address


def guard_traps(stderr, function):
    return int(re.search(rf" {function}\+0x0 .*\[OPTIMIZED: guarded, (\d+) guard traps?\]", stderr).group(1))


def test_a_jump_that_arrives_often_is_led(djtap_once):
    """By each form of jump that has the room, at low addresses, where no other form of the probe is within reach."""
    result = djtap_once("-v", "-e", 'probe func("add_one") { n++ }', "-c", f"{victim('jumped_into')} 1000000")
    assert result.returncode == 0 and result.globals == {"n": result.facts["add_one calls"]}, result
    assert 1000 < guard_traps(result.stderr, "add_one") < result.facts["add_one jumps"] / 2, result


def test_a_hot_guard_stays_where_an_int3_would_trap_more(djtap_once):
    """A short jump with code behind it: there are ten calls for each of these jumps."""
    result = djtap_once("-v", "-e", 'probe func("add_ten") { n++ }', "-c", f"{victim('jumped_into')} 100000")
    assert result.returncode == 0 and result.globals == {"n": result.facts["add_ten calls"]}, result
    assert guard_traps(result.stderr, "add_ten") == result.facts["add_ten jumps"], result


by_jumps = pytest.mark.parametrize("mode", ["jump"], indirect=True)


@pytest.fixture
def led(attach, program):
    """A program whose jumps are led: target, its text before, tracer."""
    path = victim("jumped_into")
    target = program(path, "0")
    target.wait_for("pid: ")
    text = process.text_of(target.pid)
    tracer = attach(target.pid, 'probe func("add_one") { n++ }', "-v")

    def changed(function):
        begin = symbol_address(path, function)
        [(key, old)] = [(key, old) for key, old in text.items() if key[0] <= begin < key[0] + len(old)]
        return old[begin - key[0]:][:16] != process.text_of(target.pid)[key][begin - key[0]:][:16]

    process.wait_until(lambda: all(map(changed, LEADING)), "the jumps are not led")
    return target, text, tracer


def check_goes_on(target, text):
    assert process.differences(text, process.text_of(target.pid)) == []
    target.signal(signal.SIGTERM)
    assert target.finish().returncode == 0  # it has counted right


@by_jumps
def test_they_are_put_back(led):
    target, text, tracer = led
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and max(map(int, re.findall(r"(\d+) guard traps", result.stdout + result.stderr))) > 1000, result
    check_goes_on(target, text)


@by_jumps
def test_they_are_put_back_when_djtap_was_killed(led, djtap_once):
    target, text, tracer = led
    tracer.signal(signal.SIGKILL)
    tracer.process.wait()
    result = djtap_once("clean", target.pid)
    assert result.returncode == 0 and "restored" in result.stdout, result
    check_goes_on(target, text)
