# SPDX-License-Identifier: Apache-2.0
"""A program that runs as nobody and forges records in djtap's rings, where djtap runs as root: it gains nothing by them."""
import contextlib
import os
import re
import subprocess

import pytest

from support import paths
from support.paths import victim

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights that the target does not have")

AS_NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}
HIST, WARN, SYSTEM, SWITCH_FILE, CHILD_BEGINS = 3, 4, 5, 6, 7  # runtime/shared/event.h
TOLD = "warning[DJ5909]: the program has written into djtap's memory itself"


@contextlib.contextmanager
def attacker(kind, number, text, count):
    target = subprocess.Popen([victim("record_attacker"), str(kind), str(number), text, str(count)], stdout=subprocess.PIPE, **AS_NOBODY)
    try:
        target.stdout.readline()
        yield target.pid
    finally:
        target.kill()
        target.wait()


def trace(pid, script, *options, seconds=1):
    """djtap's end: its exit status, what it said, and the most kilobytes that it had."""
    command = [paths.DJTAP, "-p", str(pid), "-T", str(seconds), *options, "-e", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as tracer:
        said = tracer.stdout.read()
        _, status, usage = os.wait4(tracer.pid, 0)
        tracer.returncode = os.waitstatus_to_exitcode(status)
    assert tracer.returncode in range(7), said
    return tracer.returncode, said, usage.ru_maxrss


def test_a_command_that_no_handler_has_sent_is_not_run(tmp_path):
    prize = tmp_path / "prize"
    command = f"touch {prize}"
    with attacker(SYSTEM, len(command), command, 3) as pid:
        status, said, _ = trace(pid, 'probe func("work") { n++ }')
    assert status == 0 and TOLD in said and said.count(TOLD) == 1, said
    assert not prize.exists()


def test_files_that_no_handler_has_asked_for_are_not_made(tmp_path):
    with attacker(SWITCH_FILE, 0, "", 5000) as pid:
        status, said, _ = trace(pid, 'probe func("work") { println(n++) }', "-o", str(tmp_path / "out"))
    assert status == 0 and TOLD in said, said
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_files_have_a_limit_where_the_script_asks_for_some(tmp_path):
    with attacker(SWITCH_FILE, 0, "", 5000) as pid:
        status, said, _ = trace(pid, 'probe func("work") { if (n++ == 10) switch_file() println(n) }', "-o", str(tmp_path / "out"))
    made = len(list(tmp_path.iterdir()))
    assert status == 0 and 100 <= made < 200, (made, said)
    left_out = int(re.search(r"warning\[DJ5905\]: (\d+) new files by switch_file\(\) left out: more than 100 at once, and 10 a second", said).group(1))
    assert 4990 < left_out + made <= 5002  # 4999 once, on a busy machine


def test_warnings_have_a_limit():
    with attacker(WARN, 7, "careful", 20000) as pid:
        status, said, _ = trace(pid, 'probe func("work") { if (n++ == 10) warn("once") }')
    assert status == 0 and 1000 <= said.count("WARNING: careful") < 5000, said[-2000:]
    assert re.search(r"warning\[DJ5905\]: \d+ warnings by warn\(\) dropped: more than 1000 a second", said)


def test_records_of_a_time_to_come_are_not_held():
    """They were, and djtap grew by 240 MB a second."""
    script = 'probe func("work") { println("one") }'
    with attacker(HIST, 0, "", 1) as pid:
        usual = trace(pid, script)[2]
    with attacker("future", 0, "x" * 4000, 1_000_000) as pid:
        status, said, most = trace(pid, script, seconds=2)
    assert status == 0 and TOLD in said and "one\n" in said, said[-2000:]
    assert most < usual + (50 << 10), (most, usual)


def test_a_process_that_is_no_child_is_not_watched():
    """Its end is no end of a child's."""
    with subprocess.Popen(["sleep", "1"]) as stranger, attacker(CHILD_BEGINS, stranger.pid, "", 5) as pid:
        status, said, _ = trace(pid, 'probe process.end { println("the end of ", pid()) }', seconds=2)
    assert status == 0 and "the end of" not in said, said
