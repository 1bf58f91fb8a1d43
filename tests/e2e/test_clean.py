# SPDX-License-Identifier: Apache-2.0
"""What is left in processes when djtap is killed, and in those that the target forked: put back, byte for byte."""
import os
import random
import signal
import time

import pytest

from support import paths, process, run
from support.paths import victim

COUNT = 'probe func("work") { calls++ }'
WIDE = COUNT + ' probe func("work").return { r++ } probe func("libc.so.6!*printf*") { p++ } probe func("libc.so.6!pthread*") { q++ }'


def start(program, name):
    """A victim that waits for orders, and its text."""
    target = program(victim(name))
    target.wait_for("pid: ")
    return target, process.text_of(target.pid)


def kill(tracer):
    tracer.signal(signal.SIGKILL)
    tracer.process.wait()


def test_clean_after_a_killed_tracer(attach, djtap_once, program):
    target, text = start(program, "commander")
    kill(attach(target.pid, WIDE))
    assert process.differences(text, process.text_of(target.pid))
    result = djtap_once("clean", target.pid)
    assert result.returncode == 0 and "restored" in result.stdout, result
    assert not process.differences(text, process.text_of(target.pid))
    assert "0 places" in djtap_once("clean", target.pid).stdout
    target.call(4000)
    target.tell("quit")
    assert target.finish().returncode == 0


def test_attach_after_a_killed_tracer(attach, program):
    """The next session puts the text back first, and counts as ever."""
    target, text = start(program, "commander")
    kill(attach(target.pid, COUNT))
    tracer = attach(target.pid, COUNT)
    target.call(4000)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.globals == {"calls": 4000} and "was left probed" in result.stderr, result
    assert not process.differences(text, process.text_of(target.pid))


@pytest.mark.timeout(600)  # thirty sessions and as many cleans, beside whatever else the machine does
def test_killed_at_any_moment_all_is_put_back(mode_options, djtap_once, program):
    """While it attaches, patches, runs, and takes the probes out again."""
    seed = random.randrange(10**6)
    moments = random.Random(seed)
    target, text = start(program, "commander")
    dirty = 0
    for round_number in range(30):
        where = f"seed {seed}, round {round_number}"
        with run.Background(run.command([*mode_options, "--probes", "-e", WIDE, "-p", target.pid])) as tracer:
            if round_number % 3 == 0:  # in the middle of detach; the first time before it
                tracer.wait_for(r"\[(OPTIMIZED|INT3|SKIPPED)")
                if round_number > 0:
                    tracer.signal(signal.SIGINT)
                    time.sleep(moments.uniform(0, 0.02))
            else:
                time.sleep(moments.uniform(0.02, 0.2))
            tracer.signal(signal.SIGKILL)
        target.call(1000 + round_number)
        dirty += bool(process.differences(text, process.text_of(target.pid)))
        cleaned = djtap_once("clean", target.pid)
        assert cleaned.returncode == 0, f"{where}: {cleaned}"
        assert not process.differences(text, process.text_of(target.pid)), f"{where}: {cleaned}"
    assert dirty > 0, f"seed {seed}: no kill fell between arm and disarm"
    target.tell("quit")
    assert target.finish().returncode == 0


def test_sigtrap_is_given_back_by_clean(djtap_once, program):
    """An int3 session owns SIGTRAP; after clean the program has its default action again."""
    target, _ = start(program, "commander")
    caught = process.status_field(target.pid, "SigCgt")
    with run.Background(run.command(["--no-optimize", "--probes", "-e", COUNT, "-p", target.pid])) as tracer:
        tracer.wait_for("INT3")
        assert process.status_field(target.pid, "SigCgt") != caught
        kill(tracer)
    djtap_once("clean", target.pid)
    assert process.status_field(target.pid, "SigCgt") == caught


@pytest.mark.parametrize("order", ["fork", "leave"])
def test_forked_children_are_restored_at_detach(background, program, order):
    """They are counted while the session runs, and lose their probes with it; also when the target has ended."""
    target, text = start(program, "relay")
    tracer = background("--probes", "-e", COUNT, "-p", str(target.pid))
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    target.call(100)
    target.tell("fork")
    child = int(target.wait_for(r"^child: (\d+)").group(1))
    target.call(1000)
    assert process.differences(text, process.text_of(child))
    if order == "leave":  # the session ends with its target
        target.tell("leave")
        child = int(target.wait_for(rf"child: {child}\n(?:.*\n)*child: (\d+)").group(1))
    else:
        tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.globals == {"calls": 1100}, result
    assert not process.differences(text, process.text_of(child)), result
    target.call(50)
    target.tell("quit")


TRAPPED_CHILD = """import os, signal, sys
sys.stdin.readline()
if os.fork() == 0:
    signal.signal(signal.SIGTRAP, lambda *_: os.write(1, b"trapped: 1\\n"))
    os.write(1, b"child: %d\\n" % os.getpid())
    while True:
        signal.pause()
os.wait()
"""


def test_a_forked_childs_own_sigtrap_is_given_back(program):
    """It handles what its parent does not: while the session runs, and when it has ended."""
    target = program(paths.PYTHON, "-c", TRAPPED_CHILD)
    with run.Background(run.command(["--no-optimize", "--probes", "-e", 'probe func("libc.so.6!getpid") { n++ }', "-p", target.pid])) as tracer:
        tracer.wait_for("INT3")
        target.tell("fork")
        child = int(target.wait_for(r"^child: (\d+)\n").group(1))
        for how in ("traced", "left"):
            os.kill(child, signal.SIGTRAP)
            target.wait_for("^trapped: 1$")
            target.text[target.process.stdout.fileno()] = b""
            if how == "traced":
                tracer.signal(signal.SIGINT)
                assert tracer.finish().returncode == 0


def test_clean_reaches_forked_children(attach, djtap_once, program):
    target, text = start(program, "relay")
    process.check_put_back_in_children(djtap_once, attach(target.pid, COUNT), target, text)


@pytest.mark.parametrize("end", ["detach", "clean"])
@pytest.mark.parametrize("name", ["relay", "relay_fixed"])  # the form without guards, and an int3
def test_forked_children_may_have_an_earlier_form(djtap_once, program, name, end):
    """A loop's head inside a jump has become hot, and the site has got another form; but in the target alone, not in the child that loops."""
    target, text = start(program, name)
    with run.Background(run.command(["--probes", "-e", 'probe func("short_loop") { n++ }', "-p", target.pid])) as tracer:
        tracer.wait_for("guarded")
        guarded = process.text_of(target.pid)
        target.tell("fork")
        child = int(target.wait_for(r"^child: (\d+)").group(1))
        target.tell("loop 30000")
        process.wait_until(lambda: process.differences(guarded, process.text_of(target.pid)), "the guard stays")
        assert not process.differences(guarded, process.text_of(child))
        if end == "detach":
            tracer.signal(signal.SIGINT)
            assert tracer.finish().globals == {"n": 1}
        else:
            kill(tracer)
            result = djtap_once("clean", target.pid)
            assert "1 process" in result.stdout, result
    for pid in (target.pid, child):
        assert not process.differences(text, process.text_of(pid)), pid
    target.tell("loop 3000")
    target.wait_for("looped: 3000")
    target.tell("quit")
    assert target.finish().returncode == 0


def test_a_second_session_is_told_who_holds_the_process(attach, djtap_once, program):
    target, _ = start(program, "commander")
    tracer = attach(target.pid, COUNT)
    for words in (["-e", COUNT, "-p", target.pid], ["clean", target.pid]):
        result = djtap_once(*words)
        assert result.returncode == 4 and f"process {tracer.pid}" in result.stderr, result
    target.call(400)
    tracer.signal(signal.SIGINT)
    assert tracer.finish().globals == {"calls": 400}
    again = attach(target.pid, COUNT)
    target.call(40)
    again.signal(signal.SIGINT)
    assert again.finish().globals == {"calls": 40}


def test_a_debugger_in_the_way_of_detach(attach, djtap_once, program):
    """djtap ends all the same, says what is to be done, and `clean` does it when the debugger has gone."""
    target, text = start(program, "commander")
    tracer = attach(target.pid, COUNT)
    gdb = program("gdb", "-q", "-nx", "-p", str(target.pid), "-ex", "echo attached\\n")
    gdb.wait_for("attached")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert f"already traced by process {gdb.pid}" in result.stderr and f"djtap clean {target.pid}" in result.stderr, result
    gdb.tell("detach")
    gdb.tell("quit")
    gdb.finish()
    assert djtap_once("clean", target.pid).returncode == 0
    assert not process.differences(text, process.text_of(target.pid))


def test_clean_needs_a_process_that_is_there(djtap_once):
    result = djtap_once("clean", "999999999")
    assert result.returncode == 4 and "no process 999999999" in result.stderr, result


def semaphore(target):
    target.text[target.process.stdout.fileno()] = b""
    target.tell("value")
    return int(target.wait_for(r"^semaphore: (\d+)\n").group(1))


@pytest.mark.parametrize("held", [0, 1], ids=["alone", "beside another tracer"])
@pytest.mark.parametrize("end", ["detach", "clean", "next"])
def test_semaphores_are_counted_down(attach, djtap_once, program, end, held):
    """Of the target and of what it has forked, each once."""
    target = program(victim("counted_marks"))
    target.wait_for("pid: ")
    for _ in range(held):
        target.tell("hold")
        target.wait_for("held: 1")
    tracer = attach(target.pid, 'probe process.mark("counted") { n++ }')
    assert semaphore(target) == held + 1
    target.tell("fork")
    child = int(target.wait_for(r"^child: (\d+)").group(1))
    assert semaphore(target) == held + 1
    if end == "detach":
        tracer.signal(signal.SIGINT)
        assert tracer.finish().returncode == 0
    else:
        kill(tracer)
        assert semaphore(target) == held + 1
        for pid in (target.pid, child) if end == "next" else (target.pid, target.pid):
            result = djtap_once("-T", "0.01", "-e", 'probe func("marked") { n++ }', "-p", pid) if end == "next" else djtap_once("clean", pid)
            assert result.returncode == 0, result
    assert semaphore(target) == held
    target.tell("quit")
    assert target.finish().facts["semaphore of the parent"] == held
