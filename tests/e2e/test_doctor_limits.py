# SPDX-License-Identifier: Apache-2.0
"""djtap doctor of what a session would meet late: small signal stacks, limits of control groups, and debug files of servers."""
import os
import pathlib
import re
import subprocess

import pytest

from support import run
from support.debug_servers import Server, build_id, send, stripped
from support.doctors import Doctor
from support.paths import victim


# --- signal stacks


def test_a_signal_stack_that_is_too_small(doctor, program):
    """The row's numbers are those for which a session skips what traps; nothing of the program changes."""
    started = program(victim("altstack"), "waiting")
    started.wait_for("waiting: ")
    mapped = pathlib.Path(f"/proc/{started.pid}/maps").read_text()
    row = doctor("-p", started.pid).row("signal stacks")
    assert pathlib.Path(f"/proc/{started.pid}/maps").read_text() == mapped
    told = run.run(["--no-optimize", "--probes", "-T", "0.05", "-e", 'probe func("work") { n++ }', "-p", started.pid])
    numbers = re.search(r"small-sigaltstack \((\d+) bytes, a trap on it needs (\d+)\)", told.stderr)
    assert row["health"] == "limited" and re.findall(r"\d+", row["what"]) == list(numbers.groups()), (row, told)
    started.tell("")
    started.wait_for("calls: 1000$")
    assert started.finish().returncode == 0


def test_signal_stacks_that_are_large_enough(doctor, program):
    started = program(victim("altstack"), "waiting", "later")
    started.wait_for("waiting: ")
    assert doctor("-p", started.pid).health("signal stacks") == "ok"
    started.tell("")
    started.finish()


# --- control groups


def hierarchy(controller):
    """The folder of the group that this process is in, and whether it is of version 2."""
    mounts = [line.split() for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    groups = dict(line.split(":", 2)[1:] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines())
    for words in mounts:
        kind, options = words[words.index("-") + 1], words[-1].split(",")
        if kind == "cgroup" and controller in options:
            name = next((names for names in groups if controller in names.split(",")), None)
            return pathlib.Path(words[4] + groups[name].rstrip("/")) if name and words[3] == "/" else None, False
    for words in mounts:
        if words[words.index("-") + 1] == "cgroup2" and words[3] == "/":
            return pathlib.Path(words[4] + groups[""].rstrip("/")), True
    return None, False


@pytest.fixture
def group():
    """make(controller, file, limit): a group with that limit; words that start a program in it."""
    made = []

    def make(controller, names, limit):
        parent, is_new = hierarchy(controller)
        if parent is None or not parent.is_dir():
            pytest.skip(f"there are no control groups of {controller} here")
        folder = parent / f"djtap-test-{os.getpid()}"
        try:
            folder.mkdir()
            made.append(folder)
            (folder / names[is_new]).write_text(str(limit))
        except OSError as why:
            pytest.skip(f"no control group can be made here: {why}")
        return folder / names[is_new], ["sh", "-c", f'echo $$ > {folder}/cgroup.procs && exec "$@"', "sh"]

    yield make
    for folder in made:
        for pid in (folder / "cgroup.procs").read_text().split():  # what a failed test has left
            os.kill(int(pid), 9)
        folder.rmdir()


MEMORY = ("memory.limit_in_bytes", "memory.max")


@pytest.mark.parametrize("megabytes, health", [(40, "limited"), (4000, "ok")])
def test_memory_of_a_group(doctor, program, group, megabytes, health):
    file, words = group("memory", MEMORY, megabytes << 20)
    started = program(*words, victim("commander"))
    started.wait_for("pid: ")
    row = doctor("-p", started.pid).row("memory of its group")
    assert row["health"] == health and str(file) in row["what"], row
    assert megabytes - 30 < int(re.search(r"has (\d+) MB left", row["what"])[1]) <= megabytes, row
    started.tell("quit")
    started.finish()


def test_no_limit_of_memory(doctor, program):
    parent, is_new = hierarchy("memory")
    limits = [folder / MEMORY[is_new] for folder in (parent, *parent.parents)] if parent else []
    if any(file.exists() and file.read_text().strip() not in ("max", "9223372036854771712") for file in limits):
        pytest.skip("this process's group has a limit")
    started = program(victim("commander"))
    started.wait_for("pid: ")
    assert doctor("-p", started.pid).row("memory of its group")["what"] == "its control group has no limit"
    started.tell("quit")
    started.finish()


@pytest.mark.parametrize("most, health", [(3, "limited"), (1000, "ok")])
def test_threads_of_a_group(group, most, health):
    file, words = group("pids", ("pids.max", "pids.max"), most)
    found = Doctor(run.run(["doctor", "--json"], prefix=words))
    row = found.row("threads")
    assert row["health"] == health and f"may have {most - 1} threads more ({file})" in row["what"], found.result


# --- debug files of servers


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A stripped program, and the server that has its debug file."""
    program, debug = stripped(tmp_path)
    data, name = debug.read_bytes(), build_id(program)
    debug.unlink()
    one = Server(lambda handler: send(handler, data) if name in handler.path else handler.send_error(404))
    monkeypatch.setenv("DEBUGINFOD_URLS", f"{one.url}/")
    monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(tmp_path / "cache"))
    yield program, one
    one.shutdown()
    one.server_close()


def row_of(found, path):
    [row] = [each for each in found.rows("debug information") if each["object"] == str(path)]
    return row


def test_debug_information_by_debuginfod(doctor, djtap_once, server, tmp_path):
    """The doctor names the place that a session asks, and asks nobody itself; then the file is in the client's cache."""
    path, one = server
    row = row_of(doctor(path), path)
    assert row["health"] == "note" and not one.asked, row
    if "libdebuginfod.so.1" not in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout:
        pytest.skip("libdebuginfod is not here")
    session = djtap_once("-e", 'probe process.function("hidden") { n++ }', "-c", path)
    assert session.globals == {"n": 5} and one.asked, session
    assert {f"{one.url}{asked}" for asked in one.asked} == set(re.findall(r"http://\S+", row["what"])), (row, one.asked)
    row = row_of(doctor(path), path)
    assert row["health"] == "ok" and str(tmp_path / "cache" / build_id(path) / "debuginfo") in row["what"], row
    (tmp_path / "cache" / build_id(path) / "debuginfo").write_bytes(b"something else")
    assert row_of(doctor(path), path)["health"] == "note"


def test_without_servers(doctor, server, monkeypatch):
    path, one = server
    monkeypatch.delenv("DEBUGINFOD_URLS")
    row = row_of(doctor(path), path)
    assert row["health"] == "limited" and "missing" in row["what"] and not one.asked, row
