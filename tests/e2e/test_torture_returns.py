# SPDX-License-Identifier: Apache-2.0
"""Return probes with entry values where control is torn: children that share memory, small stacks, cancellation, signals, libraries that go."""
import signal

import pytest

from support.paths import victim

# A call keeps its own values: those of its thread, also in a child of vfork, which has its parent's stack and thread pointer.
OWN = "n++; own += @entry(tid()) == tid()"


def test_in_a_child_of_vfork(djtap):
    result = djtap("-e", f'probe func("work").return {{ {OWN}; right += $return == $n }}', "-c", victim("spawn"))
    truth = result.facts
    assert result.returncode == 0 and truth["good"] == 10 * truth["rounds"], result
    assert result.globals == dict.fromkeys(("n", "own", "right"), truth["work calls"]), result


@pytest.mark.parametrize("functions", ["*spawn*", "*sig*", "*exec*", "*fork", "popen", "system"])
def test_in_children_of_posix_spawn(djtap, functions):
    """They block all signals and run on their parent's memory until they execute another program."""
    result = djtap("-e", f'probe func("libc.so.6!{functions}").return {{ {OWN} }} probe func("one_round") {{ rounds++ }}', "-c", victim("spawn"))
    truth = result.facts
    assert result.returncode == 0 and truth["good"] == 10 * truth["rounds"], result
    assert result.globals["n"] == result.globals["own"] or "SKIPPED" in result.stderr, result


def test_deep_recursion_on_small_stacks(djtap):
    result = djtap("-e", f'probe func("deep").return {{ {OWN}; right += $return >= $n }}', "-c", victim("deep"))
    truth = result.facts
    assert result.returncode == 0 and truth["wrong"] == 0 and truth["calls"] > 1000, result
    assert result.globals == dict.fromkeys(("n", "own", "right"), truth["calls"]), result


def test_cancelled_anywhere(djtap):
    result = djtap("-e", f'probe func("work").return {{ {OWN} }}', "-c", victim("cancel"))
    truth = result.facts
    assert result.returncode == 0 and truth["cancelled"] == truth["cleanups"] == 400, result
    left = 200  # threads, each in the middle of one call
    assert truth["calls"] - left <= result.globals["own"] <= result.globals["n"] <= truth["calls"] + left, result


def test_in_signal_handlers_that_interrupt_it(djtap):
    result = djtap("-e", f'probe func("work").return {{ {OWN}; right += $return == ($n ^ 1) }}', "-c", victim("signals"))
    assert result.returncode == 0, result
    assert result.globals == dict.fromkeys(("n", "own", "right"), result.facts["work calls"]), result


def test_left_by_siglongjmp_anywhere(djtap):
    """What is left behind by each jump does not stay in the way of later calls."""
    result = djtap("-e", f'probe func("work").return {{ {OWN} }}', "-c", victim("jumps"))
    truth = result.facts
    assert result.returncode == 0 and truth["alarms"] == 1000, result
    left = truth["alarms"]  # each at most one call, and between n and own
    assert truth["entered"] - left <= result.globals["own"] <= result.globals["n"] <= truth["attempts"], result
    assert result.globals["n"] - left <= result.globals["own"], result


def test_libraries_closed_while_probes_come_and_go(attach, program):
    target = program(victim("closing"), victim("libctor.so"))
    target.wait_for("running: 1")
    counted = 0
    for number in range(5):
        tracer = attach(target.pid, f'global said probe func("libctor.so!lib_work").return? {{ {OWN}; if (said++ == 0) println("counts") }} '
                                    'probe func("main") { m++ }')
        if number % 2 == 0:  # else at once
            tracer.wait_for("^counts$")
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert result.returncode == 0 and result.globals.get("n", 0) == result.globals.get("own", 0), result
        counted += result.globals.get("n", 0)
    target.tell("")
    end = target.finish()
    assert end.returncode == 0 and end.facts["rounds"] > 5 and end.facts["wrong"] == 0, end
