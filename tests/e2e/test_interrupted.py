# SPDX-License-Identifier: Apache-2.0
"""A thread that waits in a system call when its jump is written: a signal may then end the call with EINTR, or it is made again."""
import signal
import time

import pytest

from support import process
from support.paths import victim

CALLS = f'probe process("{victim("interrupted")}").syscall {{ n++ }}'


@pytest.mark.parametrize("signals", [[], ["calm"]], ids=["signals", "calm"])
@pytest.mark.parametrize("script, where", [
    (CALLS, "constant"), (CALLS, "nearby"), (CALLS, "first"), ('probe func("returned").return { n++ }', "returned")])
def test_calls_that_are_waited_in_while_a_probe_is_put_there(attach, program, script, where, signals):
    target = program(victim("interrupted"), where, *signals)
    target.wait_for("pid: ")
    text = process.text_of(target.pid)
    for _ in range(8):
        tracer = attach(target.pid, script)
        time.sleep(0.02 if signals == [] else 0.2)
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert result.returncode == 0 and result.globals["n"] > 0, result
        assert not process.differences(text, process.text_of(target.pid))
    target.signal(signal.SIGTERM)
    end = target.finish()
    assert end.returncode == 0 and end.facts["wrong"] == 0 and end.facts["elapsed" if signals else "interrupted"] > 0, end
