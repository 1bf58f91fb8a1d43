"""A terminal that is closed ends the session as Ctrl-C does: nobody's text stays probed. With nohup it goes on."""
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
    result = tracer.finish()
    assert result.returncode == 0 and result.globals == {"n": 110 if goes_on else 10}, result
    assert process.differences(before, process.text_of(target.pid)) == []
