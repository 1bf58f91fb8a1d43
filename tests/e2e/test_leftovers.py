# SPDX-License-Identifier: Apache-2.0
"""What a session has mapped in the target goes with it, unless somebody will come back to it: then it goes later."""
import os
import random
import resource
import shutil
import signal
import time

import pytest

from support import paths, process, run
from support.paths import victim

HEAVY = 'probe func("work") { a[tid(), n % 100] <<< n; b[$n & 255] = n++ }'  # threads are in the handler most of the time
COUNT = 'probe func("work") { n++ }'
CYCLES = 1000 if os.environ.get("DJTAP_STRESS") == "long" else 12
GROWTH = 4  # mappings, after any number of sessions

TICKING = """import signal, sys, threading, time
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
threading.Thread(target=sys.stdin.readline, daemon=True).start()
print("pid: 0", flush=True)
total = 0
while True:
    total += sum(len(str(n)) for n in range(200))
    time.sleep(0.0005)
"""
BEATING = 'setInterval(() => JSON.stringify(JSON.parse(JSON.stringify(process.versions))), 1); console.log("pid: 0")'


def ours(pid):
    """The lines of /proc/PID/maps that are memory of sessions."""
    with open(f"/proc/{process.living_thread(pid)}/maps", encoding="utf8") as maps:
        return [line for line in maps if "/memfd:djtap" in line]


def session(attach, pid, script):
    with attach(pid, script) as tracer:
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
    assert result.returncode == 0, result
    return result


def size_of(pid):
    """Kilobytes of its addresses."""
    return int(process.status_field(pid, "VmSize").split()[0])


PROGRAMS = {
    "busy": ([victim("hammer"), "7200"], HEAVY),
    "asleep": ([victim("napping")], 'probe func("nap") { n++ } probe process.syscall { s++ }'),
    "signals": ([victim("preempted"), "alone"], HEAVY),
    "python3": ([paths.PYTHON, "-c", TICKING], 'probe func("*") { n++ }'),
    "node": (["node", "-e", BEATING], 'probe func("v8::internal::Heap::*") { n++ } probe func("libc.so.6!*read*").return { r++ }'),
}


@pytest.mark.timeout(4 * 3600 if CYCLES >= 1000 else 900)
@pytest.mark.parametrize("name", PROGRAMS)
def test_sessions_leave_nothing(attach, program, name):
    """However many: neither mappings nor addresses, nor a byte of the text."""
    words, script = PROGRAMS[name]
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not installed")
    target = program(*words)
    target.wait_for("pid: ")
    pid = target.pid
    session(attach, pid, script)
    before, size, text = len(process.mappings(pid)), size_of(pid), process.text_of(pid)
    most = 0
    for cycle in range(CYCLES):
        session(attach, pid, script)
        if name == "asleep":
            target.order("", rf"woken: {6 * (cycle + 1)}$")
        most = max(most, len(ours(pid)))
    print(f"{name}: {before} mappings, then {len(process.mappings(pid))}; of sessions {most} at most; {size} kB, then {size_of(pid)}")
    if name != "node":  # whose heap comes and goes
        assert len(process.mappings(pid)) <= before + GROWTH, ours(pid)
    assert len(ours(pid)) <= GROWTH and size_of(pid) < size + (512 << 10), ours(pid)
    assert process.differences(text, process.text_of(pid)) == []


@pytest.mark.parametrize("way", ["swap", "copy"])
def test_not_under_threads_that_a_signal_exchanged(attach, program, way):
    """They stand in handlers and detours, on stacks that no thread has, and find code and data again, many sessions later."""
    target = program(victim("preempted"), way)
    target.wait_for("pid: ")
    tracer = attach(target.pid, HEAVY)
    time.sleep(0.3)
    target.order("park", "parked: 1$")
    tracer.signal(signal.SIGINT)
    assert tracer.finish().returncode == 0
    held = ours(target.pid)
    assert held
    for _ in range(4):
        session(attach, target.pid, 'probe func("exchange") { n++ }')
    assert ours(target.pid) == held
    target.order("go", "parked: 0$")
    session(attach, target.pid, 'probe func("start") { n++ }')
    target.tell("quit")
    end = target.finish()
    assert end.returncode == 0 and end.facts["wrong"] == 0, end


def test_not_under_a_signal_handler_that_interrupted_a_handler(attach, djtap_once, program):
    """Threads held there find code and data again, many sessions later; when they have gone on, it goes."""
    target = program(victim("parked"))
    target.wait_for("pid: ")
    text = process.text_of(target.pid)
    tracer = attach(target.pid, HEAVY)
    time.sleep(0.5)  # so that each thread has come to its probes, beside load, too
    target.order("park", "parked: 24$")
    tracer.signal(signal.SIGINT)
    assert tracer.finish().returncode == 0
    held = ours(target.pid)
    assert held
    for _ in range(4):
        session(attach, target.pid, 'probe func("on_park") { n++ }')
    assert ours(target.pid) == held
    target.order("go", "parked: 0$")
    assert djtap_once("clean", target.pid).returncode == 0
    assert ours(target.pid) == []
    assert process.differences(text, process.text_of(target.pid)) == []
    target.tell("quit")
    end = target.finish()
    assert end.returncode == 0 and end.facts["wrong"] == 0, end


@pytest.mark.parametrize("cleaned", [True, False], ids=["clean", "next"])
def test_killed_sessions_go(attach, djtap_once, program, cleaned):
    """Once they are cleaned, by hand or by the next session."""
    target = program(victim("commander"))
    target.wait_for("pid: ")
    before = process.mappings(target.pid)
    for _ in range(6):
        tracer = attach(target.pid, COUNT)
        tracer.signal(signal.SIGKILL)
        tracer.process.wait()
        assert ours(target.pid)
        if cleaned:
            assert djtap_once("clean", target.pid).returncode == 0
            target.call(100)  # threads may have slept in system calls that were hooked
            assert djtap_once("clean", target.pid).returncode == 0
        else:
            session(attach, target.pid, COUNT)
            target.call(100)
            session(attach, target.pid, COUNT)
        assert process.mappings(target.pid) == before
    target.tell("quit")
    assert target.finish().returncode == 0


@pytest.mark.timeout(600)
def test_killed_at_any_moment_nothing_stays(djtap_once, program, mode_options):
    """`clean` takes away what there is by then, in the middle of mapping, too; but for a page that a call was made with."""
    seed = random.randrange(10**6)
    moments = random.Random(seed)
    target = program(victim("hammer"), "600")
    target.wait_for("pid: ")
    before, left = len(process.mappings(target.pid)), 0
    words, longest = run.command([*mode_options, "--probes", "-e", HEAVY, "-p", target.pid]), 0
    for turn in range(41):
        with run.Background(words) as tracer:
            if turn == 0:  # how long it takes to be armed on this machine
                begin = time.monotonic()
                tracer.wait_for(r"\[(OPTIMIZED|INT3)")
                longest = 1.3 * (time.monotonic() - begin)
            else:
                time.sleep(moments.uniform(0.1, 1) * longest)
            tracer.signal(signal.SIGKILL)
        left += bool(ours(target.pid))
        cleaned = djtap_once("clean", target.pid)
        assert cleaned.returncode == 0 and ours(target.pid) == [], f"seed {seed}: {cleaned}"
    assert left > 0 and len(process.mappings(target.pid)) <= before + GROWTH, f"seed {seed}"
    target.signal(signal.SIGTERM)
    assert target.finish().facts["wrong"] == 0


def is_in_session_code(pid):
    """Does a thread of a process that is stopped by a signal stand in code of a session?"""
    code = [line.split("-", 1) for line in ours(pid) if " r-xs " in line]
    ranges = [(int(begin, 16), int(rest.split()[0], 16)) for begin, rest in code]
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/syscall", encoding="utf8") as file:
            where = file.read().split()
        if where[0] == "-1" and any(begin <= int(where[2], 16) < end for begin, end in ranges):
            return True
    return False


def test_clean_waits_for_a_thread_that_does_not_get_to_run(attach, program):
    """As it happens to a thread inside a handler on a machine that has a lot to do; here a signal stops it."""
    target = program(victim("hammer"), "600")
    target.wait_for("pid: ")
    tracer = attach(target.pid, HEAVY)
    tracer.signal(signal.SIGKILL)
    tracer.process.wait()
    process.stop_where(target.pid, is_in_session_code, "no thread is inside a handler")
    cleaner = program(*run.command(["clean", target.pid]))
    time.sleep(0.5)  # it looks for 63 ms where a session ends
    target.signal(signal.SIGCONT)
    cleaned = cleaner.finish()
    assert cleaned.returncode == 0 and "stays" not in cleaned.stdout and ours(target.pid) == [], cleaned
    target.signal(signal.SIGTERM)
    assert target.finish().facts["wrong"] == 0


@pytest.mark.parametrize("script", ['probe begin { error("no") } ' + COUNT, 'probe begin { exit() } ' + COUNT], ids=["error", "exit"])
def test_what_ends_at_its_begin_leaves_nothing(djtap_once, program, script):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    process.wait_until_asleep(target.pid)
    before = process.mappings(target.pid)
    djtap_once("-e", script, "-p", target.pid)
    assert process.mappings(target.pid) == before
    target.tell("quit")
    assert target.finish().returncode == 0


@pytest.mark.parametrize("end", ["detach", "clean"])
def test_nothing_stays_in_forked_children(attach, djtap_once, program, end):
    """Each has mappings of its own."""
    target = program(victim("relay"))
    target.wait_for("pid: ")
    tracer = attach(target.pid, COUNT)
    target.tell("fork")
    child = int(target.wait_for(r"^child: (\d+)").group(1))
    assert ours(target.pid) and ours(child)
    if end == "detach":
        tracer.signal(signal.SIGINT)
        assert tracer.finish().returncode == 0
    else:
        tracer.signal(signal.SIGKILL)
        tracer.process.wait()
        assert djtap_once("clean", target.pid).returncode == 0
    assert ours(target.pid) == [] and ours(child) == []
    target.call(100)
    target.tell("quit")


def test_what_finds_no_room_leaves_nothing(djtap_once, program):
    """The target may have so much more memory (RLIMIT_AS), more each time: all of a session's is mapped there, or none."""
    target = program(victim("commander"))
    target.wait_for("pid: ")
    process.wait_until_asleep(target.pid)
    text, before, failed = process.text_of(target.pid), process.mappings(target.pid), 0
    size = int(process.status_field(target.pid, "VmSize").split()[0]) << 10
    for room in range(2 << 20, 1 << 30, 3 << 20):
        limits = resource.prlimit(target.pid, resource.RLIMIT_AS, (size + room, resource.RLIM_INFINITY))
        result = djtap_once("-T", "0.01", "-e", COUNT, "-p", target.pid)
        resource.prlimit(target.pid, resource.RLIMIT_AS, limits)
        assert process.differences(text, process.text_of(target.pid)) == []
        assert process.mappings(target.pid) == before
        if result.returncode == 0:
            break
        assert "Cannot allocate memory" in result.stderr, result
        failed += 1
    assert failed > 3, result
    target.tell("quit")
    assert target.finish().returncode == 0
