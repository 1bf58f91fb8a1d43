# SPDX-License-Identifier: Apache-2.0
"""djtap doctor of the machine and of what is well: rows say what the kernel's files say, nothing of a target changes."""
import os
import platform
import re
import shutil
import subprocess

import pytest

from support import paths, process, run
from support.doctors import COUNT, Doctor, hwcap2, of_kernel, refused, session_on
from support.paths import victim


# --- the machine


def test_the_machine(doctor):
    """Without a target: as the kernel's own files have it."""
    found = doctor()
    assert found.said["target"] == {"pid": 0, "program": ""} and not found.rows("target")
    assert platform.release() in found.row("kernel")["what"]
    scope = of_kernel("/proc/sys/kernel/yama/ptrace_scope")
    assert found.row("ptrace scope")["what"].startswith("this kernel has no" if scope is None else f"{scope}: ")
    assert of_kernel("/proc/sys/vm/max_map_count") + " mappings" in found.row("max_map_count")["what"]
    assert of_kernel("/proc/sys/vm/overcommit_memory") in found.row("overcommit")["what"]
    assert (found.health("FSGSBASE") == "ok") == (hwcap2() & 2 != 0)
    status = of_kernel("/proc/self/status")
    assert (found.health("seccomp") == "ok") == (re.search(r"^Seccomp:\s+(\d)", status, re.M)[1] == "0")
    capabilities = int(re.search(r"^CapPrm:\s+(\w+)", status, re.M)[1], 16)
    assert (found.health("capabilities") == "ok") == (capabilities >> 19 & 1 == 1)
    assert found.health("code generator") == "ok"
    files = [name for name in os.listdir(paths.ROOT / "tapsets") if name.endswith((".djt", ".djtm", ".lua"))]
    assert f"{len(files)} files" in found.row("tapsets")["what"]


def test_as_text(doctor):
    """The same rows, each with its way out on the next line."""
    found, told = doctor(), run.run(["doctor"])
    lines = [f"{each['health']:<7} {each['row']}: {each['what']}" for each in found.said["findings"]]
    assert [line for line in told.stdout.splitlines() if not line.startswith("        way out: ")][:-1] == lines, told
    assert told.stdout.count("way out: ") == sum(each["way_out"] != "" for each in found.said["findings"]), told
    assert told.returncode == found.result.returncode


@pytest.mark.parametrize("how", ["absent", "open to all"])
def test_a_cache_that_is_none(doctor, tmp_path, monkeypatch, how):
    """A folder that cannot be made, and one that anybody may write: sessions work, and keep nothing."""
    folder = "/proc/none" if how == "absent" else str(tmp_path)
    if how != "absent":
        (tmp_path / "djtap").mkdir()
        (tmp_path / "djtap").chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", folder)
    found = doctor()
    assert found.health("cache") == "limited" and f"{folder}/djtap" in found.row("cache")["what"], found.result
    assert found.result.returncode == 6
    assert run.run(["-e", COUNT, "-c", f"{victim('count')} 10"]).globals == {"n": 40}
    assert not os.path.isdir("/proc/none") and os.listdir(tmp_path) == ([] if how == "absent" else ["djtap"])
    assert how == "absent" or os.listdir(tmp_path / "djtap") == []
    assert doctor("--no-cache").health("cache") == "note"


def test_a_cache_that_is_one(doctor, own_cache):
    found = doctor()
    assert found.health("cache") == "ok" and str(own_cache) in found.row("cache")["what"]


@pytest.mark.parametrize("left", ["tapsets", "libdjtap_lower.so"])
def test_a_copy_without_its_files(tmp_path, left):
    """What stands beside djtap is missing: a session misses it, too."""
    for file in {paths.DJTAP, paths.BUILD / "libdjtap_lower.so"} - {paths.BUILD / left}:
        shutil.copy2(file, tmp_path)
    if left != "tapsets":
        (tmp_path / "tapsets").symlink_to(paths.ROOT / "tapsets")
        shutil.copy(paths.ROOT / "VERSION", tmp_path)
    found = Doctor(run.run(["doctor", "--json"], binary=tmp_path / "djtap"))
    health = {row: found.health(row) for row in ("tapsets", "code generator")}
    assert health == {"tapsets": "limited" if left == "tapsets" else "ok", "code generator": "ok" if left == "tapsets" else "fails"}, found.result
    assert found.result.returncode == 6
    text = 'probe begin { println(thread_indent(1)) exit() }' if left == "tapsets" else "probe begin { exit() }"
    assert run.run(["-e", text], binary=tmp_path / "djtap").returncode != 0


def test_its_own_filter(doctor):
    """djtap in a sandbox: what it starts is in there with it, and refused, as by a session."""
    sandbox = [paths.PYTHON, "-c", FILTER]
    found = Doctor(run.run(["doctor", "--json", victim("count"), "10"], prefix=sandbox))
    assert found.health("seccomp") == "limited" and found.health("seccomp filter") == "fails", found.result
    told = run.run(["-e", COUNT, "-c", f"{victim('count')} 10"], prefix=sandbox)
    assert (found.result.returncode, found.row("seccomp filter")["what"].replace(str(found.said["target"]["pid"]), "PID")) == (
        refused(told)[0], re.sub(r"process \d+", "process PID", refused(told)[1])), told


# A filter that denies swapon(), as a program before its exec.
FILTER = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
code = struct.pack("HBBI" * 4, 0x20, 0, 0, 0, 0x15, 0, 1, 167, 0x06, 0, 0, 0x00050001, 0x06, 0, 0, 0x7fff0000)
text = ctypes.create_string_buffer(code)
program = struct.pack("HxxxxxxQ", 4, ctypes.addressof(text))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


# --- all is well


def test_a_healthy_one(doctor, target):
    """Its text and its mappings are what they were, it goes on, and a session finds it as the doctor says."""
    started = target()
    process.wait_until_asleep(started.pid)
    text, mappings = process.text_of(started.pid), process.mappings(started.pid)
    found = doctor("-p", started.pid)
    assert process.differences(text, process.text_of(started.pid)) == [] and process.mappings(started.pid) == mappings
    assert found.said["target"] == {"pid": started.pid, "program": ""}
    assert {each["row"] for each in found.said["findings"] if each["health"] == "fails"} == set(), found.result
    assert session_on(started.pid).returncode == 0
    started.tell("quit")
    assert started.finish().returncode == 0


def test_a_program_is_not_run(doctor, tmp_path):
    """It is killed before its first instruction in main()."""
    found = doctor("touch", str(tmp_path / "made"))
    assert found.health("target") == "ok" and not (tmp_path / "made").exists(), found.result
    assert found.said["target"]["program"] == "touch" and found.said["target"]["pid"] > 0
    assert found.said == {**doctor("-c", f"touch {tmp_path / 'made'}").said, "target": found.said["target"], "findings": found.said["findings"]}
    found = Doctor(run.run(["doctor", "--json", "--", "ls", "-l"]))
    assert found.said["target"]["program"] == "ls"


@pytest.mark.parametrize("name", ["count", "count_static"])
def test_a_program_adds_nothing(doctor, name):
    """Whose objects all have debug information (libc6-dbg is here): the exit code is that of the machine alone, 0 where that is well."""
    machine, found = doctor(), doctor(victim(name), "10")
    if name == "count":
        assert found.result.returncode == machine.result.returncode, found.result
    if machine.result.returncode == 0:
        assert run.run(["doctor"]).stdout.endswith("\nall is well\n")
    assert ("static" in found.row("C library")["what"]) == (name == "count_static")


# --- the command line


def test_programs_and_scripts_of_that_name(doctor, tmp_path):
    """A script's argument, a script, a program called doctor (or clean) are meant where they are named."""
    for name in ("doctor", "clean"):
        text = 'probe begin { println("it is ", @1) exit() }'
        (tmp_path / name).write_text(text)
        assert run.run([f"./{name}", name], cwd=tmp_path).stdout == f"it is {name}\n"
        assert run.run(["-e", text, name], cwd=tmp_path).stdout == f"it is {name}\n"
        shutil.copy2(victim("count"), tmp_path / name)
        for words in (["-c", f"./{name} 10"], ["--", f"./{name}", "10"]):
            assert run.run(["-e", COUNT, *words], cwd=tmp_path).globals == {"n": 40}
        assert Doctor(run.run(["doctor", "--json", f"./{name}"], cwd=tmp_path)).health("target") == "ok"
    assert doctor("doctor").result.returncode == 127  # no folder of $PATH has one


def test_options_before_it(doctor):
    found = Doctor(run.run(["--no-cache", "doctor", "--json"]))
    assert found.health("cache") == "note"
