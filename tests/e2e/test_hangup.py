# SPDX-License-Identifier: Apache-2.0
"""Whatever a terminal, a supervisor or a limit of processor time sends ends the session as Ctrl-C does: nobody's text stays probed.
With nohup, closing the terminal does not."""
import signal

import pytest

from support import paths, process
from support.paths import victim


@pytest.mark.parametrize("disposition, goes_on", [("default", False), ("ignore", True)])
def test_a_terminal_that_is_closed(program, disposition, goes_on):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    tracer = program("env", f"--{disposition}-signal=HUP", paths.DJTAP, "--probes", "-e", 'probe func("work") { n++ }', "-p", str(target.pid))
    tracer.wait_for(r"\[OPTIMIZED")
    target.tell("call 10")
    target.wait_for("called: 10$")
    tracer.signal(signal.SIGHUP)
    if goes_on:
        target.tell("call 100")
        target.wait_for("called: 100$")
        tracer.signal(signal.SIGTERM)
    process.check_taken_out(tracer, {"n": 110 if goes_on else 10}, target.pid, before)


@pytest.mark.parametrize("name", ["QUIT", "ALRM", "USR1", "USR2", "XCPU", "VTALRM", "IO", "PWR", "RTMIN", "RTMAX"])
def test_what_would_end_djtap_ends_the_session(program, name):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    # Who runs the tests in the background may ignore SIGQUIT, and then djtap does, too.
    tracer = program("env", "--default-signal", paths.DJTAP, "--probes", "-e", 'probe func("work") { n++ }', "-p", str(target.pid))
    tracer.wait_for(r"\[OPTIMIZED")
    target.order("call 10", "called: 10$")
    tracer.signal(getattr(signal, f"SIG{name}"))
    process.check_taken_out(tracer, {"n": 10}, target.pid, before)


def test_what_is_ignored_does_not(program):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    names = ["QUIT", "ALRM", "USR1", "USR2", "XCPU"]
    tracer = program("env", *[f"--ignore-signal={name}" for name in names], paths.DJTAP, "--probes", "-e", 'probe func("work") { n++ }',
                     "-p", str(target.pid))
    tracer.wait_for(r"\[OPTIMIZED")
    for name in names:
        tracer.signal(getattr(signal, f"SIG{name}"))
    target.tell("call 10")
    target.wait_for("called: 10$")
    tracer.signal(signal.SIGTERM)
    assert tracer.finish().globals == {"n": 10}
