# SPDX-License-Identifier: Apache-2.0
"""Calls that lead straight to detours, of a module's own functions and of linkage stubs: which, that nothing is missed
meanwhile, and that all are put back. objdump says where they are."""
import contextlib
import os
import re
import signal
import struct
import subprocess

import pytest

from support import paths, process, run
from support.paths import victim

LED = r"engine: (\d+) calls lead straight to detours"
LABS = 'probe func("libc.so.6!labs") { n++ }'
OWN = 'probe func("liblinked.so!calling"), func("liblinked.so!leaving") { n++ }'  # which call labs() once each
LIBRARY = os.path.join(os.path.dirname(victim("linked")), "liblinked.so")
BUSY = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {}) SELECT sum(i * 7 % 11) || '!' FROM c;"


def branches(path, targets):
    """Addresses in the file of its direct calls of, and jumps to, what the pattern finds in objdump's listing."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    wanted = {address.lstrip("0") for address in re.findall(targets, listing, re.M)}
    found = re.findall(r"^\s*([0-9a-f]+):\s+(?:call|jmp) +([0-9a-f]+)", listing, re.M)
    return {int(address, 16) for address, target in found if target in wanted}


STUBS = r"^\s*([0-9a-f]+):\s+(?:bnd )?jmp +\*0x[0-9a-f]+\(%rip\)"
LABS_STUB, FUNCTIONS = r"^([0-9a-f]+) <labs@plt>:$", r"^([0-9a-f]+) <(?:calling|leaving)>:$"
both = pytest.mark.parametrize("script, targets", [(LABS, LABS_STUB), (OWN, FUNCTIONS)], ids=["stubs", "functions"])


def mapped_text(pid, path):
    """(first address of the file's image, {address in the file: byte of executable text})."""
    rows = [row for row in process.mappings(pid) if row[3] == os.path.realpath(path)]
    base, text = rows[0][0], {}
    with open(f"/proc/{pid}/mem", "rb") as memory:
        for begin, end, permissions, _ in rows:
            if "x" in permissions:
                memory.seek(begin)
                text.update(enumerate(memory.read(end - begin), begin - base))
    return base, text


def led_calls(before, after):
    """Where a call or jump has another displacement than before."""
    return {at for at, byte in before.items() if byte in (0xE8, 0xE9) and byte == after[at]
            and any(before.get(at + i) != after.get(at + i) for i in range(1, 5))}


def target_of(text, at):
    return at + 5 + struct.unpack("<i", bytes(text[at + i] for i in range(1, 5)))[0]


@pytest.fixture
def trace(monkeypatch):
    """trace(pid, script, options...): djtap attached, its engine's steps logged."""
    monkeypatch.setenv("DJTAP_LOG", "engine")
    with contextlib.ExitStack() as started:
        def start(pid, script, *options):
            command = run.command(["--probes", *options, "-e", script, "-p", pid])
            tracer = started.enter_context(run.Background(command))
            tracer.wait_for(r"\[(OPTIMIZED|INT3)")
            return tracer

        yield start


@pytest.fixture
def linked(program):
    target = program(victim("linked"))
    target.wait_for("pid: ")
    return target


def ended(target):
    target.signal(signal.SIGTERM)
    result = target.finish()
    assert result.returncode == 0 and result.facts["wrong"] == 0, result
    return result.facts


def calls_of(facts):
    return facts["labs calls"] + 2000 * facts["children"]


@both
def test_no_call_is_missed_or_counted_twice(monkeypatch, djtap_once, script, targets):
    monkeypatch.setenv("DJTAP_LOG", "engine")
    result = djtap_once("-e", script, "-c", victim("linked") + " 1")
    assert result.returncode == 0 and int(re.search(LED, result.stderr).group(1)) == len(branches(LIBRARY, targets)) == 2, result
    assert result.globals["n"] == calls_of(result.facts) and result.facts["wrong"] == 0


def test_a_stub_that_is_probed_itself_is_not_passed_by(djtap_once):
    script = LABS + ' probe process.library("*liblinked*").plt("labs") { p++ }'
    result = djtap_once("-e", script, "-c", victim("linked") + " 1")
    assert result.returncode == 0 and result.globals["p"] == result.globals["n"] == calls_of(result.facts), result


def test_a_call_that_is_probed_itself_is_left_as_it_is(djtap_once):
    script = LABS + ' probe process.library("*liblinked*").function("calling").callee("labs") { c++ }'
    result = djtap_once("-e", script, "-c", victim("linked") + " 1")
    assert result.returncode == 0 and 2 * result.globals["c"] == result.globals["n"] == calls_of(result.facts), result


@both
def test_only_those_calls_change_and_come_back(linked, trace, script, targets):
    base, before = mapped_text(linked.pid, LIBRARY)
    everything = process.text_of(linked.pid)
    tracer = trace(linked.pid, script)
    tracer.wait_for(LED)
    during = mapped_text(linked.pid, LIBRARY)[1]
    led = led_calls(before, during)
    assert led == branches(LIBRARY, targets) and len(led) == 2
    session = [(begin, end) for begin, end, _, path in process.mappings(linked.pid) if "memfd:djtap" in path]
    for at in led:
        assert any(begin <= base + target_of(during, at) < end for begin, end in session)
    changed = {at for at in before if before[at] != during[at]} - {at + i for at in led for i in range(1, 5)}
    entries = {at for at in changed if during[at] == 0xE9}
    assert len(entries) == (2 if targets == FUNCTIONS else 0) and changed <= {at + i for at in entries for i in range(5)}
    tracer.signal(signal.SIGINT)
    assert tracer.finish().returncode == 0
    assert not process.differences(everything, process.text_of(linked.pid))
    ended(linked)


@both
def test_a_killed_tracer_leaves_calls_that_clean_puts_back(linked, trace, djtap_once, script, targets):
    everything = process.text_of(linked.pid)
    before = mapped_text(linked.pid, LIBRARY)[1]
    tracer = trace(linked.pid, script)
    tracer.wait_for(LED)
    tracer.signal(signal.SIGKILL)
    tracer.process.wait()
    assert led_calls(before, mapped_text(linked.pid, LIBRARY)[1]) >= branches(LIBRARY, targets)
    cleaned = djtap_once("clean", linked.pid)
    assert cleaned.returncode == 0, cleaned
    assert not process.differences(everything, process.text_of(linked.pid))
    ended(linked)


@pytest.mark.parametrize("option", [["--no-optimize"], ["--control", "PATH"], ["--live"]])
def test_only_sessions_whose_jumps_stay_lead_calls(linked, trace, tmp_path, option):
    """An int3 has to be hit, and a probe that can be switched off leaves the text."""
    before = mapped_text(linked.pid, LIBRARY)[1]
    tracer = trace(linked.pid, LABS, *[word.replace("PATH", str(tmp_path / "control")) for word in option])
    used = cpu_seconds(linked.pid)
    while cpu_seconds(linked.pid) < used + 1:
        pass
    assert mapped_text(linked.pid, LIBRARY)[1] == before
    tracer.signal(signal.SIGINT)
    assert re.search(r"^n=\d+$", tracer.finish().stdout, re.M)
    ended(linked)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_library_that_goes_and_comes_again(program, trace, tmp_path):
    library = tmp_path / "libopened.so"
    subprocess.run(["gcc", "-O2", "-fPIC", "-shared", "-o", library, paths.TARGETS / "opened.c"], check=True)
    target = program(victim("plugin"), library)

    def order(line, answer):
        target.tell(line)
        target.wait_for(answer)

    order("open", "opened: 1")
    order("call 1000", "called: 1000$")
    everything = process.text_of(target.pid)
    tracer = trace(target.pid, 'probe func("libc.so.6!strtol") { n++ }')
    order("call 20000000", "called: 20000000$")
    tracer.wait_for(LED)
    order("call 5000", "called: 5000$")
    order("close", "closed")
    order("open", "opened: 1")
    order("call 3000", "called: 3000$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    # An order leaves one of its calls out, and reading it is one: atol().
    assert result.returncode == 0 and result.globals["n"] == 20000000 + 5000 + 3000, result
    order("call 2000", "called: 2000$")
    assert not [line for line in process.differences(everything, process.text_of(target.pid)) if "libopened" not in line]
    target.tell("quit")
    assert target.finish().returncode == 0


FORKING = """
import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1])
work = lambda rounds: sum(library.one_round(n) for n in range(rounds))
reader, writer = os.pipe()
for line in sys.stdin:
    if line == "work\\n":
        print("wrong:", work(400000), flush=True)
    elif line == "fork\\n":
        child = os.fork()
        if child == 0:
            os.read(reader, 1)
            os._exit(work(1000))
        print("child:", child, flush=True)
    else:
        os.write(writer, b"x")
        print("ended:", os.waitpid(child, 0)[1], flush=True)
"""


@both
def test_a_child_that_lives_longer_gets_its_calls_back(program, trace, script, targets):
    target = program(paths.PYTHON, "-c", FORKING, LIBRARY)
    target.tell("work")
    target.wait_for("wrong: 0")
    before = mapped_text(target.pid, LIBRARY)[1]
    tracer = trace(target.pid, script)
    for rounds in range(2, 50):  # until it has computed long enough for djtap to look for calls
        target.tell("work")
        target.wait_for(r"\A(wrong: 0\n){%d}" % rounds)
        if re.search(LED, tracer.stderr_so_far()):
            break
    else:
        pytest.fail(f"no calls lead to detours: {tracer}\n{target}")
    target.tell("fork")
    child = int(target.wait_for(r"child: (\d+)")[1])
    assert led_calls(before, mapped_text(child, LIBRARY)[1]) >= branches(LIBRARY, targets)
    tracer.signal(signal.SIGINT)
    assert tracer.finish().returncode == 0
    assert mapped_text(child, LIBRARY)[1] == before == mapped_text(target.pid, LIBRARY)[1]
    target.tell("end")
    target.wait_for("ended: 0$")


@both
def test_a_program_executed_anew_at_the_same_addresses(script, targets):
    """Its text is what it was, but the detours are gone."""
    result = run.run(["--no-follow", "-e", script, "-c", victim("linked") + " 1 again"], prefix=["setarch", "-R"])
    assert result.returncode == 0 and result.facts["wrong"] == 0 and result.facts["labs calls"] > 0, result
    assert result.globals["n"] == 0


@pytest.fixture
def shell(program, trace):
    """An SQLite shell, asleep, whose calls lead to detours; with the tracer, and what its text was."""
    target = program("/usr/bin/sqlite3", ":memory:")
    target.tell("select 'rea' || 'dy';")
    target.wait_for("ready")
    process.wait_until_asleep(target.pid)
    library = next(path for _, _, _, path in process.mappings(target.pid) if "libsqlite3" in path)
    before = mapped_text(target.pid, library)
    tracer = trace(target.pid, 'probe func("libsqlite3.so*!*") { n++ }')
    target.tell(BUSY.format(2000000))
    target.wait_for("!")
    tracer.wait_for(LED)
    process.wait_until_asleep(target.pid)
    return target, tracer, library, before


def test_thousands_of_calls(shell):
    target, tracer, library, (base, before) = shell
    during = mapped_text(target.pid, library)[1]
    led = led_calls(before, during) & branches(library, STUBS)
    assert len(led) > 8000
    target.tell(BUSY.format(1000))
    target.wait_for("^5005!")
    tracer.signal(signal.SIGINT)
    assert tracer.finish().returncode == 0
    assert mapped_text(target.pid, library) == (base, before)


def test_clean_tells_calls_from_the_jumps_of_functions_in_the_same_library(shell, djtap_once):
    target, tracer, library, (base, before) = shell
    tracer.signal(signal.SIGKILL)
    tracer.process.wait()
    cleaned = djtap_once("clean", target.pid)
    assert cleaned.returncode == 0, cleaned
    assert mapped_text(target.pid, library) == (base, before)
    target.tell(BUSY.format(1000))
    target.wait_for("^5005!")


def test_a_call_that_somebody_else_changed_is_left(shell):
    target, tracer, library, (base, before) = shell
    during = mapped_text(target.pid, library)[1]
    at = min(led_calls(before, during) & branches(library, STUBS))
    with open(f"/proc/{target.pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(base + at)
        memory.write(b"\xcc")  # a debugger's breakpoint; the shell waits
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert f"the call at {base + at:#x} was changed by somebody else" in result.stderr, result
        after = mapped_text(target.pid, library)[1]
        assert {a for a in before if before[a] != after[a]} <= set(range(at, at + 5)) and after[at] == 0xCC
        memory.seek(base + at)
        memory.write(bytes([before[at]]))
    target.tell("select 20 + 22;")  # its memory stays: the call leads to a detour still
    target.wait_for("^42")
