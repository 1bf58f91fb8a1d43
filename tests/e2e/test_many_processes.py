# SPDX-License-Identifier: Apache-2.0
"""-p with several processes: one session, one set of globals, each process counted exactly; and what goes wrong in one is its alone."""
import pathlib
import re
import signal
import socket
import subprocess
import time

import pytest

from support import run
from support.paths import victim

COUNTING = 'probe process.function("work") { n++; p[pid()]++ }'


def await_armed(tracer, processes):
    """Until the site of each has been listed."""
    end = time.monotonic() + run.PATIENCE
    while len(re.findall(r"\[(?:OPTIMIZED|INT3)", tracer.stderr_so_far())) < processes:
        assert tracer.open and time.monotonic() < end and "is not probed" not in tracer.stderr_so_far(), tracer
        time.sleep(0.01)


def told(tracer):
    """What the session printed when it ended: its Result, and the calls of each process."""
    result = tracer.finish()
    assert result.returncode == 0, result
    return result, {int(pid): int(count) for pid, count in result.array("p")}


def end(tracer):
    tracer.signal(signal.SIGINT)
    return told(tracer)


@pytest.fixture
def attach_all(background):
    """attach_all(script, pids...): returns when all are probed."""
    def start(script, *pids):
        tracer = background("--probes", "-e", script, "-p", ",".join(map(str, pids)))
        await_armed(tracer, len(pids))
        return tracer

    return start


def test_processes_of_one_program(target, attach_all):
    """Their objects lie at addresses of their own, so do their statics."""
    targets = [target() for _ in range(3)]
    tracer = attach_all(COUNTING, *(each.pid for each in targets))
    for i, each in enumerate(targets):
        each.call(100 * (i + 1))
    for each in targets:
        each.tell("quit")
        each.finish()
    result, counts = told(tracer)  # the end of the last one is that of the session
    assert counts == {each.pid: 100 * (i + 1) for i, each in enumerate(targets)} and result.globals["n"] == 600, result


def session_mappings(pid):
    """The inodes of a process's mappings of sessions' files, by the file's name."""
    lines = [line.split() for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()]
    return {(words[5].removeprefix("/memfd:"), words[1]): words[4] for words in lines if len(words) > 5 and words[5].startswith("/memfd:djtap")}


def test_further_processes_share_their_handlers(target, attach_all):
    """Their code is in memory once, and goes with all else, also when djtap was killed."""
    targets = [target() for _ in range(4)]
    tracer = attach_all(COUNTING, *(each.pid for each in targets))
    mapped = [session_mappings(each.pid) for each in targets]
    handlers = [each.get(("djtap-handlers", "r-xs")) for each in mapped]
    assert handlers[0] is None and handlers[1] is not None and len(set(handlers[1:])) == 1, mapped
    assert len({each[("djtap-code", "r-xs")] for each in mapped}) == 4, mapped
    targets[1].call(10)
    tracer.signal(signal.SIGKILL)
    tracer.finish()
    cleaned = run.run(["clean", *(str(each.pid) for each in targets)])
    assert cleaned.returncode == 0, cleaned
    assert [session_mappings(each.pid) for each in targets] == [{}] * 4, cleaned
    for each in targets:
        each.call(10)
        each.tell("quit")
        each.finish()


def test_a_number_means_one_of_them(target, attach_all):
    """In a probe of one point, beside others, and in two that share their body; the other process has the same places."""
    one, two, three = [target() for _ in range(3)]
    tracer = attach_all(f'probe process({two.pid}).function("work") {{ n[pid()]++ }} '
                        f'probe process({one.pid}).function("work"), process({three.pid}).function("work").return {{ m[pid()]++ }} '
                        f'probe process.function("work"), process({one.pid}).function("work") {{ all++ }}', one.pid, two.pid, three.pid)
    for each in (one, two, three):
        tracer.wait_for(f"pid {each.pid}$")
    for i, each in enumerate((one, two, three)):
        each.call(10 * (i + 1))
    for each in (one, two, three):
        each.tell("quit")
        each.finish()
    result = tracer.finish()
    told = {name: int(count) for name, count in re.findall(r"^(\w\[\d+\]|all)=(\d+)$", result.stdout, re.M)}
    assert told == {f"n[{two.pid}]": 20, f"m[{one.pid}]": 10, f"m[{three.pid}]": 30, "all": 70}, result


def test_a_number_of_none_of_them(target, djtap_once):
    pids = [target().pid for _ in range(3)]
    wrong = djtap_once("-e", f'probe process({pids[2]}).function("work") {{ n++ }}', "-p", f"{pids[0]},{pids[1]}")
    assert wrong.returncode == 3 and f"error[DJ3005]: process {pids[2]} is none of those that are traced" in wrong.stderr, wrong


def test_numbers_in_the_script_alone(target, background):
    """Without -p the numbers say what is traced; a third process with the same places is left alone."""
    one, two, other = [target() for _ in range(3)]
    tracer = background("-t", "--probes", "-e", f'probe process({one.pid}).function("work") {{ n[pid()]++ }} '
                        f'probe process({two.pid}).function("work"), process({one.pid}).begin {{ m[pid()]++ }}')
    for each in (one, two):
        tracer.wait_for(f"pid {each.pid}$")
    for each, calls in ((one, 10), (two, 20), (other, 30)):
        each.call(calls)
        each.tell("quit")
        each.finish()
    result = tracer.finish()
    told = {name: int(count) for name, count in re.findall(r"^(\w\[\d+\])=(\d+)$", result.stdout, re.M)}
    assert told == {f"n[{one.pid}]": 10, f"m[{one.pid}]": 1, f"m[{two.pid}]": 20}, result


def test_a_number_in_a_list_of_points(target, djtap_once):
    pids = [target().pid for _ in range(2)]
    points = [f'process({pid}).function("work")' for pid in pids]
    listed = djtap_once("-l", points[0])
    assert listed.returncode == 0 and 'function("work' in listed.stdout, listed
    both = djtap_once("-l", ", ".join(points))
    assert both.returncode == 3 and f"trace it: -p {pids[0]}" in both.stderr, both


def test_numbers_beside_what_means_other_processes(target, djtap_once):
    pid = target().pid
    wrong = djtap_once("-e", f'probe process({pid}).function("work"), process.begin {{ n++ }}')
    assert wrong.returncode == 3 and f"no process is traced, so {pid} is none" in wrong.stderr and f"trace it: -p {pid}" in wrong.stderr, wrong
    gone = djtap_once("-e", f'probe process({2**31 - 1}).begin {{ n++ }}')
    assert gone.returncode == 4 and f"there is no process {2**31 - 1}" in gone.stderr, gone
    no_number = djtap_once("-e", f'probe process({2**31}).begin {{ n++ }}')
    assert no_number.returncode == 3 and "no process is traced" in no_number.stderr, no_number


def test_the_others_go_on_where_one_ends(target, attach_all):
    first, second = target(), target()
    tracer = attach_all(COUNTING + " probe end { println(\"TARGET \", target()) }", first.pid, second.pid)
    first.call(10)
    first.signal(signal.SIGKILL)
    first.finish()
    second.call(20)
    result, counts = end(tracer)
    assert counts == {first.pid: 10, second.pid: 20} and f"TARGET {first.pid}\n" in result.stdout, result
    second.call(30)  # unprobed, as before


def test_one_that_cannot_be_traced(target, background):
    """It is said, and costs nothing else."""
    probed, held = target(), target()
    other = background("-e", COUNTING, "--probes", "-p", str(held.pid))
    await_armed(other, 1)
    tracer = background("-e", COUNTING, "--probes", "-p", f"{probed.pid},{held.pid}")
    tracer.wait_for(rf"DJ5914\]: process {held.pid} is not probed")
    probed.call(10)
    held.call(20)
    assert end(tracer)[1] == {probed.pid: 10}
    assert end(other)[1] == {held.pid: 20}


def test_children_from_before(attach_all, program):
    """What a process has started before the session is probed with it."""
    child = victim("commander")
    parent = program("/usr/bin/python3", "-c", f"import subprocess; subprocess.run([{str(child)!r}])")
    pid = int(parent.wait_for(r"pid: (\d+)").group(1))
    assert pid != parent.pid
    tracer = attach_all(f'probe process("{child}").function("work") {{ n++; p[pid()]++ }}', parent.pid)
    parent.call(50)
    assert end(tracer)[1] == {pid: 50}


def test_two_hundred_at_once(background):
    targets = [subprocess.Popen([victim("commander")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(200)]
    try:
        for each in targets:
            assert "pid" in each.stdout.readline()
        tracer = background("--probes", "-e", COUNTING, "-p", ",".join(str(each.pid) for each in targets))
        await_armed(tracer, len(targets))
        for each in targets:
            each.stdin.write("call 7\nquit\n")
            each.stdin.flush()
        for each in targets:
            assert each.wait(run.PATIENCE) == 0
        assert told(tracer)[1] == {each.pid: 7 for each in targets}
    finally:
        for each in targets:
            each.kill()
            each.wait()
            each.stdin.close()
            each.stdout.close()


def test_the_list_says_whose_a_site_is(target, background, tmp_path):
    first, second = target(), target()
    path = tmp_path / "control"
    tracer = background("--probes", "--control", path, "-e", COUNTING, "-p", f"{first.pid},{second.pid}")
    await_armed(tracer, 2)
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(str(path))
        control.sendall(b"list work\n")
        control.shutdown(socket.SHUT_WR)
        listed = control.makefile().read()
    assert re.findall(r"\] pid (\d+)$", listed, re.M) == [str(first.pid), str(second.pid)], listed
    end(tracer)


PROCESS_ROW = re.compile(r"^ *(\d+) +(\d+) +(\d+) +(\d+)  (\S+)$", re.M)


def process_rows(stderr):
    """{pid: (hits, average, total, program)} of the second table of -t."""
    table = re.split(r"^ *hits +avg +total +pid  process \((?:ns|cycles)\)$", stderr, flags=re.M)
    return {int(row[3]): (int(row[0]), int(row[1]), int(row[2]), row[4]) for row in PROCESS_ROW.findall(table[1])} if len(table) == 2 else {}


def test_times_by_process(target, background):
    """-t tells how often the probes ran in each process: as often as each has called."""
    targets = [target() for _ in range(2)]
    tracer = background("-t", "--probes", "-e", COUNTING, "-p", ",".join(str(each.pid) for each in targets))
    await_armed(tracer, 2)
    for i, each in enumerate(targets):
        each.call(200 * (i + 1))
    result, counts = end(tracer)
    rows = process_rows(result.stderr)
    assert {pid: row[0] for pid, row in rows.items()} == counts == {each.pid: 200 * (i + 1) for i, each in enumerate(targets)}, result
    assert all(row[3] == "commander" and row[1] * row[0] <= row[2] for row in rows.values()), result


def test_times_of_what_is_executed(djtap_once):
    """Programs by their names; the processes of begin and end probes, djtap's own, are none."""
    script = f'probe begin {{ m++ }} probe process("{victim("count")}").function("work") {{ n++ }}'
    result = djtap_once("-t", "-e", script, "--", "sh", "-c", f'{victim("count")} 3; {victim("count")} 5')
    assert sorted(row[0::3] for row in process_rows(result.stderr).values()) == [(4 * 3, "count"), (4 * 5, "count")], result


@pytest.mark.parametrize("options", [["--no-follow"], []])
def test_times_of_one_process(djtap_once, options):
    result = djtap_once("-t", *options, "-e", f'probe process("{victim("count")}").function("work") {{ n++ }}', "--", victim("count"), "4")
    assert result.globals["n"] > 0 and "pid  process" not in result.stderr and "total  probe" in result.stderr, result
