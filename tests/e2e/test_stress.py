# SPDX-License-Identifier: Apache-2.0
"""--stress: every function counted, the program unharmed, a table that adds up; and --coverage of a file."""
import os
import pathlib
import re
import signal
import subprocess

import pytest

from support import paths

ROW = re.compile(r"^  ([ers]) (OPTIMIZED|INT3|SKIPPED|GONE|PLANNED)\s+(\d+)(?:  (.*))?$", re.M)
BUSY = re.compile(r'^ +(\d+) process\("([^"]*)"\)\.function\("([^"]*)"\)$', re.M)


def busiest(result):
    return {name: int(count) for count, _, name in BUSY.findall(result.stderr)}


def number(pattern, text):
    found = re.search(pattern, text, re.M)
    assert found, text
    return int(found.group(1))


def plain(words):
    return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, "PYTHONHASHSEED": "0"})


def test_hits_of_a_known_function(djtap, mode):
    result = djtap("--stress", "count!*", "--", paths.victim("count"), 5000)
    assert result.returncode == 0 and result.facts["work calls"] == 20000, result
    assert busiest(result)["work"] == 20000, result
    states = {state for _, state, _, _ in ROW.findall(result.stderr)}
    assert (("OPTIMIZED" in states) == (mode == "jump")) and ("INT3" in states or mode == "jump"), result
    assert number(r"^stress: (\d+) hits", result.stderr) >= 20000, result


@pytest.mark.parametrize("words", [["bash", "-c", "true"], [paths.PYTHON, "-c", "import json, ssl, sqlite3"]],
                         ids=["bash", "python3"])
def test_memory_of_a_place(djtap_once, words):
    """Thousands of places; most are a detour, a record of the original bytes, a row of names. Python's stubs lie far apart."""
    result = djtap_once("--stress", "--", *words)
    found = re.search(r"^stress: ([\d.]+) bytes a place: detours ([\d.]+), stubs ([\d.]+), journal ([\d.]+), "
                      r"tables ([\d.]+), trap look-up ([\d.]+)$", result.stderr, re.M)
    assert found, result
    total, detours, stubs, journal, tables, traps = map(float, found.groups())
    assert abs(total - detours - stubs - journal - tables - traps) < 0.5 and total < 128, result
    assert 20 < detours < 60 and stubs < 6 and 23 < journal < 32 and traps > 0, result


def test_hits_of_one_function_alone(djtap):
    result = djtap("--stress", "work", "--", paths.victim("count"), 3000)
    assert number(r"^stress: (\d+) hits", result.stderr) == result.facts["work calls"] == 12000, result
    assert number(r"^stress: (\d+) sites?", result.stderr) == 1, result


def test_the_table_counts_every_site(djtap):
    result = djtap("--stress", "--probes", "--", "/bin/true")
    rows = ROW.findall(result.stderr)
    sites = number(r"^stress: (\d+) sites?", result.stderr)
    assert sites == sum(int(row[2]) for row in rows) == len(result.sites) > 1000, result
    for state in ("OPTIMIZED", "INT3", "SKIPPED"):
        assert sum(int(row[2]) for row in rows if row[1] == state) == \
            sum(site.state == state for site in result.sites), result


@pytest.mark.parametrize("words", [
    [paths.PYTHON, "-c", "import json, re; print(json.dumps(sorted(map(str, range(300)))), re.findall('a+', 'aabaa'))"],
    ["/usr/bin/sqlite3", ":memory:", "with recursive n(i) as (select 1 union all select i+1 from n where i<300) select sum(i), max(i) from n"],
    ["/bin/bash", "-c", "for i in 1 2 3; do (exit $i); echo $?; done; echo a b | tr a-z A-Z; exit 5"],
], ids=["python3", "sqlite3", "bash"])
def test_output_is_that_of_an_unprobed_run(djtap, words):
    before = plain(words)
    result = djtap("--stress", "--", *words, timeout=300, env={**os.environ, "PYTHONHASHSEED": "0"})
    assert before.stdout and (result.stdout, result.returncode) == (before.stdout, before.returncode), result
    assert number(r"^stress: (\d+) hits", result.stderr) > 1000, result


LLVM = pathlib.Path("/usr/lib/llvm-19/lib/libLLVM.so.1")
USE_LLVM = f"""
import ctypes
library = ctypes.CDLL("{LLVM}")
library.LLVMContextCreate.restype = ctypes.c_void_p
library.LLVMContextDispose(ctypes.c_void_p(library.LLVMContextCreate()))
print("done")
"""


@pytest.mark.skipif(not LLVM.exists(), reason=f"no {LLVM}, a library of more than 100,000 functions")
def test_a_large_library_that_is_opened_later(djtap_once):
    result = djtap_once("--stress", "--", paths.PYTHON, "-c", USE_LLVM)
    assert result.returncode == 0 and result.stdout == "done\n" and "WARNING" not in result.stderr, result
    states = {state: sum(int(count) for _, each, count, _ in ROW.findall(result.stderr) if each == state)
              for state in ("OPTIMIZED", "INT3", "SKIPPED")}
    assert states["OPTIMIZED"] > 100_000 and states["INT3"] < 200, result
    assert states["SKIPPED"] < 1_000, result  # system call hooks, and parts of functions that no symbol names


def test_a_running_process_goes_on_afterwards(background, program, mode):
    target = program(paths.victim("commander"))
    target.tell("call 10")
    target.wait_for("called: 10")
    tracer = background("--stress", "--probes", "-p", str(target.pid))
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    target.tell("call 3000")
    target.wait_for("called: 3000")
    tracer.signal(signal.SIGINT)
    traced = tracer.finish()
    assert busiest(traced)["work"] == 3000 and traced.returncode == 0, traced
    states = {state for _, state, _, _ in ROW.findall(traced.stderr)}
    assert ("OPTIMIZED" if mode == "jump" else "INT3") in states, traced  # as armed, not as removed
    target.tell("call 5")
    target.wait_for("called: 5")
    target.tell("quit")
    assert target.finish().returncode == 0


def functions_of(path):
    """Oracle: distinct addresses of defined functions with a size, by nm."""
    found = set()
    for option in ("-S", "-SD"):
        for line in plain(["nm", option, "--defined-only", path]).stdout.splitlines():
            words = line.split()
            if len(words) == 4 and words[2] in "tTwWi":
                found.add(int(words[0], 16))
    return found


OUTCOME = re.compile(r"^  (\S+)(?: +(\S+))? +(\d+) +([\d.]+) %$", re.M)
TITLES = {"entries": "function entries", "all": "all instructions, each probed alone", "exits": "function exits"}


def tables(text):
    """{title: ({(form, reason): count}, by jump, total)} of a coverage table."""
    found = {}
    for key, title in TITLES.items():
        part = re.search(rf"^{title}\n((?:  .*\n)+?)  by jump +(\d+) .*\n  total +(\d+) ", text, re.M)
        assert part, text
        rows = {(form, reason): int(count) for form, reason, count, _ in OUTCOME.findall(part.group(1))}
        found[key] = (rows, int(part.group(2)), int(part.group(3)))
    return found


def test_coverage_of_a_victim(djtap_once):
    path = paths.victim("count")
    result = djtap_once("--stress", "--coverage", path)
    assert result.returncode == 0, result
    found = tables(result.stdout)
    for rows, jumps, total in found.values():
        assert sum(rows.values()) == total > 0, result
        assert sum(count for (form, _), count in rows.items() if form not in ("int3", "refused")) == jumps, result
    known = len(functions_of(path))
    assert known - 10 <= found["entries"][2] <= known + 10, f"nm: {known}, {result}"  # some are called by nobody
    listing = subprocess.run(["objdump", "-d", "-j", ".text", path], capture_output=True, text=True, check=True).stdout
    instructions = len(re.findall(r"^ +[0-9a-f]+:\t", listing, re.M))  # and lines that continue a long one
    assert 0.8 * instructions < found["all"][2] < 1.1 * instructions, f"objdump: {instructions}, {result}"


def test_coverage_of_libc(djtap_once):
    path = os.path.realpath("/lib/x86_64-linux-gnu/libc.so.6")
    result = djtap_once("--stress", "--coverage", path)
    found = tables(result.stdout)
    rows, jumps, total = found["entries"]
    assert sum(rows.values()) == total >= 0.95 * len(functions_of(path)), result
    assert jumps >= 0.999 * total, result
    assert found["all"][1] >= 0.995 * found["all"][2] > 100_000, result
    assert "assume" in result.stdout, result
    unknown = re.findall(r"^  exits not all known: (\d+) functions: (.+)$", result.stdout, re.M)
    assert sum(int(count) for count, _ in unknown) < 0.005 * total and "0x" not in str(unknown), result


@pytest.fixture(scope="module")
def odd_files(tmp_path_factory):
    """Files that cannot be traced, by name: {what it is: path}."""
    folder = tmp_path_factory.mktemp("odd")
    whole = pathlib.Path(paths.victim("count")).read_bytes()
    other = bytearray(whole)
    other[18:20] = (183).to_bytes(2, "little")  # EM_AARCH64
    for name, data in {"text": b"no program", "empty": b"", "script": b"#!/bin/sh\necho hi\n", "arm64": other,
                       "header": whole[:40], "half": whole[:5000]}.items():
        (folder / name).write_bytes(data)
        (folder / name).chmod(0o755)
    os.mkfifo(folder / "pipe")
    (folder / "bare.s").write_text(".globl _start\n_start: mov $60, %eax\nxor %edi, %edi\nsyscall\n")
    subprocess.run("as bare.s -o bare.o && ld bare.o -o bare && strip bare", shell=True, cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("name, words", {
    "text": "is not an ELF file",
    "empty": "is empty",
    "script": "is a script, not an ELF file",
    "arm64": "is made for 64-bit ARM (AArch64)",
    "header": "truncated ELF header",
    "half": "names no functions, neither by symbols nor by .eh_frame; the file is truncated",
    "bare": "names no functions, neither by symbols nor by .eh_frame",
    "pipe": "is a device, pipe or socket",
    "": "is a folder",
    "nosuch": "No such file or directory",
}.items())
def test_coverage_of_no_program(djtap_once, odd_files, name, words):
    result = djtap_once("--stress", "--coverage", odd_files / name)
    assert result.returncode == 3 and result.stdout == "", result
    assert str(odd_files / name) in result.stderr and words in result.stderr, result


@pytest.mark.parametrize("name, status, words", [
    ("arm64", 126, "is made for 64-bit ARM (AArch64)"),
    ("header", 126, "truncated ELF header"),
    ("pipe", 126, "is not executable"),
    ("bare", 3, "bare is stripped, and .eh_frame knows no functions of it either"),
])
def test_a_run_of_no_program(djtap_once, odd_files, name, status, words):
    """A shell would take some of them for a script."""
    result = djtap_once("--stress", "--", odd_files / name)
    assert result.returncode == status and words in result.stderr and result.stdout == "", result
    result = djtap_once("--stress", "--", name, env={**os.environ, "PATH": f"{os.environ['PATH']}:{odd_files}"})
    assert result.returncode in (status, 127) and (words in result.stderr or name == "pipe"), result


def test_what_was_found_instead_of_functions(djtap_once, tmp_path):
    """A stripped program: its functions come from .eh_frame, as readelf counts them; one without that has none."""
    stripped, bare = tmp_path / "stripped", tmp_path / "bare"
    subprocess.run(["strip", "-o", stripped, paths.victim("count")], check=True)
    subprocess.run(["strip", "-R", ".eh_frame", "-R", ".eh_frame_hdr", "-o", bare, paths.victim("count")], check=True)
    result = djtap_once("--stress", "--", stripped, 10)
    known = int(re.search(rf"^stress: {stripped} is stripped: (\d+) of its functions are known by .eh_frame alone$", result.stderr, re.M)[1])
    frames = subprocess.run(["readelf", "--debug-dump=frames", stripped], capture_output=True, text=True, check=True).stdout
    assert 3 < known <= frames.count(" FDE ") <= known + 4, result  # the PLT's are no functions
    assert "known by .eh_frame alone" in djtap_once("--stress", "--coverage", stripped).stdout
    assert "known by .eh_frame alone" not in djtap_once("--stress", "--coverage", paths.victim("count")).stdout
    result = djtap_once("--stress", "--", bare, 10)
    assert result.returncode == 0 and f"stress: {bare}: no function of it is known, by symbols or by .eh_frame" in result.stderr, result
    assert f"{paths.victim('count')}:" not in djtap_once("--stress", "--", paths.victim("count"), 10).stderr


@pytest.mark.parametrize("args, message", [
    (["--stress"], "needs a process"),
    (["--coverage", "/bin/true"], "goes with --stress"),
    (["--stress", "--coverage", "/bin/true", "-p", "1"], "without a process"),
    (["--stress", "*", "-e", "probe begin {}"], "goes with neither a script"),
    (["--stress", 'a"b', "-p", "1"], "takes a pattern"),
])
def test_wrong_use(djtap_once, args, message):
    result = djtap_once(*args)
    assert result.returncode == 1 and message in result.stderr, result
