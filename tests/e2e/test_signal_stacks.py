# SPDX-License-Identifier: Apache-2.0
"""Handlers on an alternate stack with no room for a second signal frame: nothing may trap there."""
import re

import pytest

from support.paths import victim

WORK = 'probe func("work") { n++ } probe func("work").return { r++ }'
GUARDED = 'probe func("short_ret") { n++ }'  # calls of short_zero() arrive inside its jump
REFUSED = r"not probed \[SKIPPED: small-sigaltstack\]"


def test_jumps_count_there(djtap_once):
    result = djtap_once("-e", WORK, "-c", victim("altstack"))
    assert result.returncode == 0 and result.globals == {"n": 1000, "r": 1000} and result.facts["calls"] == 1000, result
    assert "SKIPPED" not in result.stderr, result


@pytest.mark.parametrize("options, script", [(["--no-optimize"], WORK), ([], GUARDED)])
def test_what_traps_goes_when_the_program_asks_for_one(djtap_once, options, script):
    """The first of its calls is on a large stack."""
    result = djtap_once(*options, "-v", "-e", script, "-c", victim("altstack"))
    assert result.returncode == 0 and result.facts["calls"] == 1000 and result.globals["n"] == 1, result
    assert re.search(REFUSED, result.stderr) and re.search(r"\[SKIPPED: small-sigaltstack \(\d+ bytes, a trap", result.stderr), result


@pytest.mark.parametrize("options, script, expected", [
    (["--no-optimize"], WORK, 0), ([], GUARDED, 0), (["--live"], WORK, 999)])
def test_what_traps_is_refused_where_one_is(background, program, options, script, expected):
    target = program(victim("altstack"), "waiting")
    target.wait_for("waiting: ")
    words = [*options, "--probes", "-e", script, "-p", str(target.pid)]
    tracer = background(*words)
    tracer.wait_for(r"\[(OPTIMIZED|SKIPPED)")
    if "--no-optimize" in tracer.words:
        expected = 0
    target.tell("")
    target.wait_for("calls: 1000$")
    result = tracer.finish()
    assert target.finish().returncode == 0
    assert result.globals["n"] == expected and bool(re.search(REFUSED, result.stderr)) == (expected == 0), result




TWO_WAYS = 'probe func("short_two").return { n++; k += @entry(tid()) == tid() } probe func("work") { w++ }'


def test_a_return_that_is_not_seen_at_one_exit_is_seen_at_none(djtap_once, background, program):
    """A guard stands in the jump at one exit of short_two(): it goes, and the other exit with it."""
    result = djtap_once("-v", "-e", TWO_WAYS, "-c", victim("altstack"))  # the first of its calls is on a large stack
    assert result.returncode == 0 and result.globals == {"n": 2, "k": 2, "w": 1000}, result
    target = program(victim("altstack"), "waiting")
    target.wait_for("waiting: ")
    tracer = background("--probes", "-e", TWO_WAYS, "-p", str(target.pid))
    tracer.wait_for(r"\[(OPTIMIZED|INT3|SKIPPED)")
    target.tell("")
    target.wait_for("calls: 1000$")
    result = tracer.finish()
    assert target.finish().returncode == 0
    assert result.globals.get("n", 0) == 0, result
    if "--no-optimize" not in tracer.words:
        assert result.globals["w"] == 999, result
        assert [site.state for site in result.sites if site.kind == "r"] == ["SKIPPED"] * 2, result
