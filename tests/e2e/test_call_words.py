# SPDX-License-Identifier: Apache-2.0
"""Words of GOTs that lead to detours while probes stand: which, and that they are put back."""
import contextlib
import re
import signal
import struct
import subprocess
import time

import pytest

from support import process, run
from support.paths import victim

SCRIPT = 'probe func("sqlite3*") { n++ }'


def stub_words(path):
    """Addresses in the file of the words that linkage stubs jump through, as readelf lists them."""
    listing = subprocess.run(["readelf", "-rW", path], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0], 16) for line in listing.splitlines() if "R_X86_64_JUMP_SLO" in line]


def words_of(pid):
    """{address: value} of those words in a process, of all its files."""
    found = {}
    bases = {}
    for begin, _, _, path in process.mappings(pid):
        if path.startswith("/usr/") or path == victim("commander"):
            bases.setdefault(path, begin)
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for path, base in bases.items():
            for offset in [] if "locale" in path or "cache" in path else stub_words(path):
                memory.seek(base + offset)
                found[base + offset] = struct.unpack("<Q", memory.read(8))[0]
    return found


def session_ranges(pid):
    return [(begin, end) for begin, end, _, path in process.mappings(pid) if "memfd:djtap" in path]


def changed(before, after):
    return {address for address in before if before[address] != after[address]}


@pytest.fixture
def shell(program):
    """An SQLite shell that has bound its functions and waits."""
    target = program("/usr/bin/sqlite3", ":memory:")
    target.tell("select 'rea' || 'dy';")
    target.wait_for("ready")
    process.wait_until_asleep(target.pid)
    return target


def test_words_that_the_loader_fills_late(program):
    """Some are filled before the session, and some while it runs: these lead to functions, those come back."""
    target = program(victim("commander"))
    target.wait_for("pid: ")
    before = words_of(target.pid)
    with run.Background(run.command(["--probes", "-e", 'probe func("libc.so.6!*") { n++ }', "-p", target.pid])) as tracer:
        tracer.wait_for(r"\[(OPTIMIZED|INT3)")
        assert changed(before, words_of(target.pid))
        target.tell("call 1000")
        target.wait_for("called: 1000$")
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert result.returncode == 0 and result.globals["n"] > 0, result
    after = words_of(target.pid)
    own = [begin for begin, _, _, path in process.mappings(target.pid) if path == victim("commander")]
    for address in changed(before, after):
        assert own[0] <= before[address] < own[-1] + 0x10000, hex(address)
    target.tell("call 1000")
    target.wait_for("called: 1000$")
    target.tell("quit")
    assert target.finish().returncode == 0


@pytest.fixture
def trace(shell):
    """trace(options...) probes the shell; returns when its probes are armed."""
    with contextlib.ExitStack() as started:
        def start(*options):
            command = run.command([*options, "--probes", "-e", SCRIPT, "-p", shell.pid])
            tracer = started.enter_context(run.Background(command))
            tracer.wait_for(r"\[(OPTIMIZED|INT3)")
            return tracer

        yield start


def test_they_lead_to_detours_and_back(shell, trace):
    before = words_of(shell.pid)
    tracer = trace()
    during = words_of(shell.pid)
    redirected = changed(before, during)
    assert len(redirected) > 500
    ranges = session_ranges(shell.pid)
    for address in redirected:
        assert any(begin <= during[address] < end for begin, end in ranges), hex(address)
    shell.tell("select 20 + 22;")
    shell.wait_for("42")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals["n"] > 100, result
    assert words_of(shell.pid) == before
    shell.tell("select 30 + 33;")
    shell.wait_for("63")


def test_a_killed_tracer_leaves_words_that_clean_puts_back(shell, trace, djtap_once):
    before = words_of(shell.pid)
    tracer = trace()
    tracer.signal(signal.SIGKILL)
    tracer.process.wait()
    assert changed(before, words_of(shell.pid))
    shell.tell("select 20 + 22;")
    shell.wait_for("42")
    cleaned = djtap_once("clean", shell.pid)
    assert cleaned.returncode == 0, cleaned
    assert words_of(shell.pid) == before


def test_a_word_that_somebody_else_changed_is_left(shell, trace):
    before = words_of(shell.pid)
    tracer = trace()
    address = sorted(changed(before, words_of(shell.pid)))[0]
    other = before[address] + 1  # never called: the shell waits, and then ends
    with open(f"/proc/{shell.pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(address)
        memory.write(struct.pack("<Q", other))
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert f"{address:#x} was changed by somebody else" in result.stderr, result
    after = words_of(shell.pid)
    assert after[address] == other and changed(before, after) == {address}


@pytest.mark.parametrize("option", [["--no-optimize"], ["--control", "PATH"]])
def test_only_sessions_whose_jumps_stay_use_them(shell, trace, tmp_path, option):
    """An int3 has to be hit, and a probe that can be switched off leaves the text."""
    before = words_of(shell.pid)
    option = [word.replace("PATH", str(tmp_path / "control")) for word in option]
    tracer = trace(*option)
    time.sleep(0.2)
    assert words_of(shell.pid) == before
    tracer.signal(signal.SIGINT)
    assert re.search(r"^n=\d+$", tracer.finish().stdout, re.M)
