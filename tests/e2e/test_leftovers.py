"""What sessions leave mapped in the target goes when later ones come, unless a thread will come back to it."""
import os
import resource
import signal

import pytest

from support import process
from support.paths import victim

HEAVY = 'probe func("work") { a[tid(), n % 100] <<< n; b[$n & 255] = n++ }'  # threads are in the handler most of the time
KEPT = 8


def ours(pid):
    """The lines of /proc/PID/maps that are memory of sessions."""
    with open(f"/proc/{pid}/maps", encoding="utf8") as maps:
        return [line for line in maps if "/memfd:djtap" in line]


def sessions(pid):
    """How many sessions have a journal there."""
    return len([line for line in ours(pid) if "/memfd:djtap-journal" in line])


def session(attach, pid, script):
    tracer = attach(pid, script)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0, result


def test_old_sessions_go(attach, program):
    target = program(victim("hammer"), "3600")
    target.wait_for("pid: ")
    left = []
    for _ in range(KEPT + 4):
        session(attach, target.pid, HEAVY)
        left.append(sessions(target.pid))
    assert left == [*range(1, KEPT + 2), *[KEPT + 1] * 3], left
    target.signal(signal.SIGTERM)
    assert target.finish().facts["wrong"] == 0


@pytest.mark.parametrize("cleaned", [True, False], ids=["clean", "next"])
def test_killed_sessions_go(attach, djtap_once, program, cleaned):
    """Once they are cleaned, by hand or by the next session."""
    target = program(victim("commander"))
    target.wait_for("pid: ")
    left = []
    for _ in range(KEPT + 4):
        tracer = attach(target.pid, 'probe func("work") { n++ }')
        tracer.signal(signal.SIGKILL)
        tracer.process.wait()
        if cleaned:
            assert djtap_once("clean", target.pid).returncode == 0
        left.append(sessions(target.pid))
    assert left[-1] == left[-2] <= KEPT + 2, left
    target.tell("quit")
    assert target.finish().returncode == 0


def test_the_data_of_a_session_go_with_the_next_one(attach, program):
    target = program(victim("hammer"), "3600")
    target.wait_for("pid: ")
    tracer = attach(target.pid, HEAVY + ' global said probe func("work") { if (said++ == 10000) println("counts") }')
    tracer.wait_for("^counts$")
    tracer.signal(signal.SIGINT)
    assert tracer.finish().returncode == 0
    files = {line.split()[4] for line in ours(target.pid) if "-data" in line or "-constants" in line}

    def kilobytes():
        """Of the pages that the first session's arena has."""
        places = {line.split()[4]: line.split()[0] for line in ours(target.pid) if line.split()[4] in files}
        return sum(os.stat(f"/proc/{target.pid}/map_files/{place}").st_blocks // 2 for place in places.values())

    try:
        before = kilobytes()
    except PermissionError:
        pytest.skip("map_files is for CAP_CHECKPOINT_RESTORE")
    session(attach, target.pid, 'probe func("work") { n++ }')
    assert before > 0 == kilobytes()
    target.signal(signal.SIGTERM)
    assert target.finish().facts["wrong"] == 0


def test_not_under_a_signal_handler_that_interrupted_a_handler(attach, program):
    """Threads held there find code and data again, many sessions later."""
    target = program(victim("parked"))
    target.wait_for("pid: ")
    text = process.text_of(target.pid)
    tracer = attach(target.pid, HEAVY)
    target.order("park", "parked: 24$")
    tracer.signal(signal.SIGINT)
    assert tracer.finish().returncode == 0
    for _ in range(KEPT + 3):
        session(attach, target.pid, 'probe func("on_park") { n++ }')
    target.order("go", "parked: 0$")
    for _ in range(KEPT + 3):
        session(attach, target.pid, 'probe func("work") { n++ }')
    assert sessions(target.pid) == KEPT + 1
    assert process.differences(text, process.text_of(target.pid)) == []
    target.tell("quit")
    end = target.finish()
    assert end.returncode == 0 and end.facts["wrong"] == 0, end


def test_what_finds_no_room_leaves_nothing(djtap_once, program):
    """The target may have so much more memory (RLIMIT_AS), more each time: all of a session's is mapped there, or none."""
    target = program(victim("commander"))
    target.wait_for("pid: ")
    process.wait_until_asleep(target.pid)
    text, before, failed = process.text_of(target.pid), process.mappings(target.pid), 0
    size = int(process.status_field(target.pid, "VmSize").split()[0]) << 10
    for room in range(2 << 20, 1 << 30, 3 << 20):
        limits = resource.prlimit(target.pid, resource.RLIMIT_AS, (size + room, resource.RLIM_INFINITY))
        result = djtap_once("-T", "0.01", "-e", 'probe func("work") { n++ }', "-p", target.pid)
        resource.prlimit(target.pid, resource.RLIMIT_AS, limits)
        assert process.differences(text, process.text_of(target.pid)) == []
        if result.returncode == 0:
            break
        assert process.mappings(target.pid) == before and "Cannot allocate memory" in result.stderr, result
        failed += 1
    assert failed > 3 and ours(target.pid), result
    target.tell("quit")
    assert target.finish().returncode == 0
