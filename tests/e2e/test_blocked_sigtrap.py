# SPDX-License-Identifier: Apache-2.0
"""A thread that blocks SIGTRAP when djtap comes: the mask is without it while int3 sites stand, and as it was afterwards."""
import os
import re
import signal

import pytest

from support import paths, process, run
from support.paths import victim

BLOCKER = """import os, signal, sys, threading
masks = {"all": range(1, 65), "trap": [signal.SIGTRAP]}
def run(mask, begin, done):
    signal.pthread_sigmask(signal.SIG_BLOCK, masks[mask])
    os.write(1, b"blocked: %d\\n" % threading.get_native_id())  # print's two writes mix with the other thread's
    while begin.acquire() and not ended:
        for _ in range(1000): os.getppid()
        done.release()
ended = []
threads = [(threading.Semaphore(0), threading.Semaphore(0), mask) for mask in masks]
for begin, done, mask in threads: threading.Thread(target=run, args=(mask, begin, done)).start()
for line in sys.stdin:
    for begin, done, _ in threads: begin.release()
    for begin, done, _ in threads: done.acquire()
    print("called:", 2000, flush=True)
ended.append(1)
for begin, _, _ in threads: begin.release()
"""
TRAP = 1 << signal.SIGTRAP - 1


def masks(target):
    threads = [int(tid) for tid in re.findall(r"^blocked: (\d+)$", target.stdout, re.M)]
    return [int(process.status_field(tid, "SigBlk"), 16) for tid in threads]


def start(program):
    target = program(paths.PYTHON, "-c", BLOCKER)
    target.wait_for(r"blocked: \d+\n(.*\n)*blocked: \d+$")
    before = masks(target)
    assert len(before) == 2 and all(mask & TRAP for mask in before)
    return target, before


def call(target):
    target.text[target.process.stdout.fileno()] = b"".join(
        line for line in target.text[target.process.stdout.fileno()].splitlines(True) if line.startswith(b"blocked"))
    target.tell("")
    target.wait_for("called: 2000$")


def test_its_calls_are_counted_and_its_mask_comes_back(attach, program, mode):
    target, before = start(program)
    tracer = attach(target.pid, 'probe func("libc.so.6!getppid") { n++ }')
    assert masks(target) == [mask & ~TRAP if mode == "int3" else mask for mask in before]
    call(target)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals == {"n": 2000}, result
    assert masks(target) == before
    call(target)
    target.process.stdin.close()
    assert target.finish().returncode == 0


def test_djtap_is_killed(attach, program):
    """Another djtap gives it back."""
    target, before = start(program)
    tracer = attach(target.pid, 'probe func("libc.so.6!getppid") { n++ }', "--no-optimize")
    call(target)
    os.kill(tracer.pid, signal.SIGKILL)
    tracer.process.wait(300)
    call(target)
    assert run.run(["clean", str(target.pid)]).returncode == 0
    assert masks(target) == before
    call(target)


@pytest.mark.parametrize("seed", range(3))
def test_a_stack_full_of_what_looks_like_frames_stays_as_it_is(attach, program, seed):
    """What lies where a frame would have its mask is the program's own."""
    target = program(victim("like_frames"), seed)
    target.wait_for("pid: ")
    for _ in range(3):
        with attach(target.pid, 'probe func("work") { n++ }') as tracer:
            tracer.signal(signal.SIGINT)
            assert tracer.finish().returncode == 0
    target.tell("quit")
    end = target.finish()
    assert end.returncode == 0 and end.facts["changed"] == 0 and end.facts["calls"] > 0, end
