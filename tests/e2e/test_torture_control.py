# SPDX-License-Identifier: Apache-2.0
"""Control that leaves probed functions on unusual ways: longjmp, coroutines, cancellation, tiny stacks, SIGTRAP's other users."""
import signal

from support.paths import victim

LIBRARY = victim("libctor.so")


def test_longjmp_over_and_out_of_probes(djtap):
    script = 'probe func("middle") { m++ } probe func("thrower") { t++ } probe func("thrower").return { r++ } probe func("work") { w++ }'
    result = djtap("-e", script, "-c", victim("jumps"))
    truth = result.facts
    assert result.returncode == 0 and truth["alarms"] >= 1000 and truth["thrown"] == 30000, result
    assert result.globals["m"] == result.globals["t"] == 30000 and result.globals["r"] == truth["returned"] == 20000, result
    assert truth["entered"] <= result.globals["w"] <= truth["attempts"], result  # a jump between both counts


def test_a_handler_with_memory_is_left_by_siglongjmp(djtap):
    """The timer's jump also leaves handlers that are in the middle of an event or of an array."""
    result = djtap("-e", 'global k probe func("work") { n++; a[tid()] <<< 1; if (k++ % 1000 == 0) printf("x\\n") }', "-c", victim("jumps"))
    assert result.returncode == 0 and result.facts["alarms"] >= 1000, result
    assert result.facts["entered"] <= result.globals["n"] <= result.facts["attempts"], result


def test_coroutines(djtap):
    script = 'probe func("work") { w++ } probe func("work").return { wr++ } probe func("yield") { y++ } probe func("yield").return { yr++ }'
    result = djtap("-e", script, "-c", victim("coroutines"))
    truth = result.facts
    assert result.returncode == 0 and truth["entered"] == 10000 and truth["wrong"] == 0, result
    assert result.globals == {"w": 10000, "wr": truth["left"], "y": 10000, "yr": truth["left"]}, result


def test_coroutines_with_values_of_their_entries(djtap):
    script = 'probe func("work").return { n++; if ($return != $n * 3 + 1) wrong++ }'
    result = djtap("-e", script, "-c", victim("coroutines"))
    truth = result.facts
    assert result.returncode == 0 and result.globals == {"n": truth["left"], "wrong": 0}, result


def test_cancelled_threads_on_small_stacks(djtap):
    result = djtap("-e", 'probe func("work") { w++ } probe func("nap") { s++ } probe func("nap").return { r++ }', "-c", victim("cancel"))
    truth = result.facts
    assert result.returncode == 0 and truth["cancelled"] == truth["cleanups"] == 400, result
    assert result.globals["s"] == truth["sleeps"] == 200 and result.globals["r"] == 0, result
    # A thread that was cancelled between its probe and its own count: at most one each.
    assert truth["calls"] <= result.globals["w"] <= truth["calls"] + 200, result


def test_programs_that_use_sigtrap(djtap):
    result = djtap("-e", 'probe func("work") { n++ }', "-c", victim("traps"))
    truth = result.facts
    assert result.returncode == 0 and truth["handled"] == 100 and truth["own handler"] == truth["waited"] == 1, result
    # A forked child's 1,000 calls, and those of its handler, which its own child calls once more.
    assert truth["own in child"] == 1 and result.globals == {"n": truth["calls"] + 1002}, result


def test_libraries_closed_while_probes_come_and_go(attach, program):
    target = program(victim("closing"), LIBRARY)
    target.wait_for("running: 1")
    counted = 0
    for number in range(10):
        tracer = attach(target.pid, 'global said probe func("libctor.so!lib_work")? { n++; if (said++ == 0) println("counts") } probe func("main") { m++ }')
        if number % 2 == 0:  # else at once
            tracer.wait_for("^counts$")
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert result.returncode == 0, result
        counted += result.globals.get("n", 0)
    target.tell("")
    end = target.finish()
    assert end.returncode == 0 and end.facts["rounds"] > 10 and end.facts["wrong"] == 0, end
    assert counted > 0, end
