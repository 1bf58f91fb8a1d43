# SPDX-License-Identifier: Apache-2.0
"""--control: `add SCRIPT` gives a running session more probes, in all of its processes, and no hit of those that run is missed."""
import pathlib
import random
import signal
import sys
import time

import pytest

from support import process
from support.control import FOLLOW, Control
from support.paths import victim

# Forks three workers. Each, and the parent, calls getppid() as often as each line of its input says, and answers.
FORKING = """
import os, sys, ctypes
getppid = ctypes.CDLL(None).getppid
pipes = []
for _ in range(3):
    to, back = os.pipe(), os.pipe()
    if os.fork() == 0:
        for each in pipes: os.close(each[0])
        os.close(to[1]); os.close(back[0])
        while count := os.read(to[0], 4):
            for _ in range(int(count)): getppid()
            os.write(back[1], b'!')
        os._exit(0)
    os.close(to[0]); os.close(back[1])
    pipes.append((to[1], back[0]))
print('pid:', os.getpid(), flush=True)
for line in sys.stdin:
    for _ in range(int(line)): getppid()
    for to, back in pipes:
        os.write(to, b'%04d' % int(line)); os.read(back, 1)
    print('done:', int(line), flush=True)
"""


@pytest.fixture
def commander(target):
    return target()


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def call(target, count):
    target.tell(f"call {count}")
    target.wait_for(f"called: {count}$")


def end(tracer):
    tracer.signal(signal.SIGINT)
    return tracer.finish()


def test_what_is_added_counts_from_there_on(controlled, commander):
    before = process.text_of(commander.pid)
    tracer, control = controlled(commander.pid, 'probe func("work") { calls++ }')
    with control:
        call(commander, 1000)
        assert control.do('add probe func("work").return { back++ }') == [f"1 place in process {commander.pid}"]
        call(commander, 200)
        control.do('add function twice(n) { return 2 * n } probe func("work") { calls++; double += twice($n) / $n; by[pid()] <<< 1 }')
        call(commander, 30)
        listed = control.do("list")
    result = end(tracer)
    assert result.globals["calls"] == 1230 + 30 and result.globals["back"] == 230 and result.globals["double"] == 60, result
    assert f"by[{commander.pid}] @count=30" in result.stdout, result
    assert [line.split()[3].split("+")[0] for line in listed] == ["work"] * 3, listed
    assert process.differences(before, process.text_of(commander.pid)) == []
    commander.tell("quit")
    assert commander.finish().returncode == 0


def test_what_is_off_stays_off(controlled, commander):
    tracer, control = controlled(commander.pid, 'global on probe func("work") { calls++ } probe func("work").return if (on) { back++ }')
    with control:
        control.do("disable 0")
        control.do('add probe func("work") { more++ }')
        call(commander, 10)
        assert [line.split()[0] for line in control.do("list work") if "[DISABLED" in line and " e work" in line] == ["4.0"], control.do("list")
        control.do("enable work")
        call(commander, 20)
    result = end(tracer)
    assert (result.globals["calls"], result.globals["more"], result.globals.get("back", 0)) == (20, 30, 0), result


def test_no_hit_is_missed(controlled, program):
    """Four threads call work() all the time, each with the next number."""
    target = program(victim("hammer"), "3600")
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    tracer, control = controlled(target.pid, FOLLOW)
    with control:
        for number in range(12):
            control.do(f'add probe func("work") {{ more{number}++ }}')
            time.sleep(0.05)
    result = end(tracer)
    assert result.globals.get("gaps", 0) == 0 and result.globals.get("extra", 0) == 0 and result.globals["hits"] > 12, result
    counts = [result.globals[f"more{number}"] for number in range(12)]
    assert counts == sorted(counts, reverse=True) and counts[-1] > 0, result
    assert process.differences(before, process.text_of(target.pid)) == []
    target.signal(signal.SIGTERM)
    ended = target.finish()
    assert ended.returncode == 0 and ended.facts["wrong"] == 0, ended


def test_host_probes_run_when_their_time_is(controlled, commander):
    tracer, control = controlled(commander.pid, 'probe func("work") { calls++ } probe end { println("first end") }')
    with control:
        control.do('add probe begin { println("begin of ", pp()) } probe timer.ms(20) { ticks++ } probe process.begin { println("in ", pid()) } '
                   'probe end { println("end: ", ticks > 2, " ", calls) } probe process.end { println("over") }')
        time.sleep(0.5)
        call(commander, 7)
    result = end(tracer)
    assert result.stdout.split("\n")[:2] == ["begin of begin", f"in {commander.pid}"], result
    assert "first end\nend: 1 7\n" in result.stdout and "over" not in result.stdout, result


@pytest.mark.parametrize("script, said", [
    ('probe func("wrok") { n++ }', "no function matches"),
    ("probe func(", "DJ1"),
    ("probe begin { undefined() }", "DJ2001"),
    ("function f() { return 1 }", "the script has no probe"),
    ('probe func("work") { calls = 5 }', "`calls` of the running session would be another variable"),
    ('probe func("work") { if (known == 3) exit() }', "DJ2036"),
    ('probe func("work") { delete seen[1] }', "is only added to"),
    ("probe end { print(@hist_log(spread)) }", "is asked for statistics"),
    ('global calls probe func("work") { calls++ }', "`calls` of the running session would be another variable"),
    ('probe func("work") { armed = 0 }', "an added probe sets a global that arms a probe of the running session (`if (...)`)"),
    ('probe kernel.function("vfs_read") { n++ }', "DJ2037"),
    ("probe timer.profile { n++ }", "probes that sample cannot be added to a running session"),
    ("probe input.char { n++ }", "of djtap's input"),
], ids=range(13))
def test_what_is_refused_changes_nothing(controlled, commander, script, said):
    tracer, control = controlled(commander.pid, 'global armed = 1, known probe func("work") if (armed) { calls++; known++; seen[$n]++; spread <<< $n }')
    with control:
        listed = control.do("list")
        answer, last = control.ask(f"add {script}")
        assert said in "\n".join([*answer, last]) and last.startswith("error: "), (answer, last)
        assert control.do("list") == listed
        call(commander, 50)
        control.do('add probe func("work").return { back++ }')
        call(commander, 5)
    result = end(tracer)
    assert result.globals["calls"] == 55 and result.globals["back"] == 5 and "n" not in result.globals, result


def test_processes_that_were_forked_get_them(controlled, program, tmp_path):
    script = tmp_path / "forking.py"
    script.write_text(FORKING)
    target = program(sys.executable, str(script))
    target.wait_for("pid: ")
    family = [target.pid, *children(target.pid)]
    tracer, control = controlled(target.pid, 'probe func("libc.so.6!getppid") { n[pid()]++ }')

    def ask(count):
        target.tell(str(count))
        target.wait_for(f"done: {count}$")

    for pid in family[1:]:
        tracer.wait_for(rf"\] pid {pid}\b")
    with control:
        ask(11)
        assert len(control.do('add probe func("libc.so.6!getppid").return { back[pid()]++ }')) == 4
        ask(22)
    result = end(tracer)
    for name, count in (("n", 33), ("back", 22)):
        assert sorted(result.stdout.count(f"{name}[{pid}]={count}\n") for pid in family) == [1] * 4, result


def test_processes_that_the_session_forks_get_them(background, tmp_path):
    """Forked while the session ran: they have the probes of their parent."""
    script = tmp_path / "forking.py"
    script.write_text(FORKING)
    path = tmp_path / "control"
    tracer = background("--control", str(path), "-e", 'probe func("libc.so.6!getppid") { n[pid()]++ }', "-c", f"{sys.executable} {script}")
    with Control(path) as control:
        tracer.wait_for("pid: ")
        tracer.tell("11")
        tracer.wait_for("done: 11$")
        assert len(control.do('add probe func("libc.so.6!getppid").return { back[pid()]++ }')) == 4
        tracer.tell("22")
        tracer.wait_for("done: 22$")
    tracer.process.stdin.close()
    result = tracer.finish()
    assert result.stdout.count("]=33\n") == 4 and result.stdout.count("]=22\n") == 4, result


# How a shell comes to execute programs: it waits in vfork, its fork does, or two of them at once.
LOOPS = {
    "shell": "loop",
    "subshell": "( loop )",
    "pipeline": "loop | cat",
    "two at once": "loop & loop; wait",
    "bash": "loop",
}
LOOP = """
loop() {
    while [ ! -e stop ]; do /bin/true; n=$((n+1)); if [ -e added ]; then after=$((after+1)); fi; done
    echo "execs: $((n))"; echo "after: $((after))"
}
"""


@pytest.mark.parametrize("how", LOOPS)
def test_programs_executed_meanwhile_and_later_are_probed(background, tmp_path, how):
    """By a shell, which waits in vfork for a child that waits for djtap: the old probes miss none of them, the new ones none that come later."""
    (tmp_path / "loop.sh").write_text(LOOP + LOOPS[how])
    path = tmp_path / "control"
    script = "probe process.begin { begun[execname()]++ }"
    shell = "bash" if how == "bash" else "sh"
    tracer = background("--control", str(path), "-e", script, "-c", f"{shell} loop.sh", cwd=tmp_path)
    with Control(path) as control:
        for number in range(4):
            time.sleep(0.2)
            answer = control.do(f'add probe process.begin {{ more{number}[execname()]++ }} probe func("libc.so.6!exit") {{ exits{number}[execname()]++ }}')
            assert "not probed" not in str(answer), answer
        (tmp_path / "added").touch()
        time.sleep(0.5)
        (tmp_path / "stop").touch()
    result = tracer.finish()
    execs, after = (sum(int(line.split()[1]) for line in result.stdout.splitlines() if line.startswith(name)) for name in ("execs:", "after:"))
    assert f'begun["true"]={execs}\n' in result.stdout and after > 0, result
    for name in ("more3", "exits3"):
        assert after <= int(dict(result.array(name))['"true"']) <= execs, result
    assert "DJ5915" not in result.stderr, result


def test_two_programs(background, program, tmp_path):
    """Each place is looked for in each of them."""
    targets = [program(victim(name), *words) for name, words in (("commander", []), ("hammer", ["3600"]))]
    for target in targets:
        target.wait_for("pid: ")
    path = tmp_path / "control"
    tracer = background("--control", str(path), "-e", 'probe func("work") { n[pid()]++ }', "-p", ",".join(str(target.pid) for target in targets))
    with Control(path) as control:
        while len(control.do("list work")) < 2:
            time.sleep(0.01)
        assert sorted(control.do('add probe func("work").return { back[pid()]++ }')) == sorted(f"1 place in process {target.pid}" for target in targets)
        call(targets[0], 9)
    result = end(tracer)
    assert f"back[{targets[0].pid}]=9\n" in result.stdout and f"back[{targets[1].pid}]=" in result.stdout, result
    targets[1].signal(signal.SIGTERM)
    assert targets[1].finish().facts["wrong"] == 0


@pytest.mark.parametrize("seed", range(6))
def test_killed_while_it_adds(controlled, program, djtap_once, seed):
    """djtap clean puts back what is there at any moment."""
    chance = random.Random(seed)
    target = program(victim("hammer"), "3600")
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    tracer, control = controlled(target.pid, FOLLOW)
    with control:
        control.send(*(f'add probe func("work"), func("work").return {{ n{number}++ }}' for number in range(20)))
        time.sleep(chance.uniform(0, 0.3))
        tracer.signal(signal.SIGKILL)
    tracer.finish()
    assert djtap_once("clean", target.pid).returncode == 0
    assert process.differences(before, process.text_of(target.pid)) == []
    target.signal(signal.SIGTERM)
    ended = target.finish()
    assert ended.returncode == 0 and ended.facts["wrong"] == 0, ended


def test_the_program_ends_meanwhile(background, tmp_path):
    path = tmp_path / "control"
    tracer = background("--control", str(path), "-e", 'probe func("work") { n++ }', "-c", f"{victim('hammer')} 1")
    with Control(path) as control:
        control.send(*(f'add probe func("work") {{ n{number}++ }}' for number in range(200)))
        result = tracer.finish()
    assert result.returncode == 0 and result.facts["wrong"] == 0 and result.globals["n"] == result.facts["work calls"], result


def test_threads_that_sleep_in_a_probed_system_call(background, commander, tmp_path):
    """A read() of the program waits in the copy of its instruction: it goes on at the program's own."""
    path = tmp_path / "control"
    tracer = background("--control", str(path), "-e", "probe process.syscall { if ($syscall == 1) writes++ }", "-p", str(commander.pid))
    with Control(path) as control:
        assert len(control.do("list")) > 100
        for number in range(1, 4):
            call(commander, number)
            control.do(f'add probe func("work") {{ n{number}++ }} probe process.syscall.return {{ if ($syscall == 1) done{number}++ }}')
        call(commander, 10)
        call(commander, 20)
    result = end(tracer)
    assert result.globals == {"writes": 5, "n1": 35, "n2": 33, "n3": 30, "done1": 4, "done2": 3, "done3": 2}, result
    commander.tell("quit")
    assert commander.finish().returncode == 0
