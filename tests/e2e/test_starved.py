# SPDX-License-Identifier: Apache-2.0
"""A target that hardly gets a processor: its threads stop as soon as they run, and djtap waits for that."""
import signal

from support import paths, process
from support.paths import victim

# Others of the same priority group leave it what is left over.
STARVED = """import os, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
for _ in range(6):
    if os.fork() == 0:
        while True: pass
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_it_is_probed_and_let_go(program):
    target = program(paths.PYTHON, "-c", STARVED, victim("relay"))
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    tracer = program(paths.DJTAP, "--probes", "-e", 'probe func("work") { n++ }', "-p", str(target.pid))
    tracer.wait_for(r"\[OPTIMIZED")
    target.tell("call 10")
    target.wait_for("called: 10$")
    tracer.signal(signal.SIGINT)
    process.check_taken_out(tracer, {"n": 10}, target.pid, before)
