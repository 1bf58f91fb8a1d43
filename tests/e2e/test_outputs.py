# SPDX-License-Identifier: Apache-2.0
"""What helps to read a session: -t times of probes, -S files that take turns, -T an end in time."""
import os
import re
import subprocess
import time

from support import paths
from support.paths import victim

ROW = re.compile(r"^ *(\d+) +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)  (.+) at (.+:\d+:\d+)$", re.M)


def times(stderr):
    """{probe: (hits, skips, min, avg, max, total)} of the table of -t."""
    assert re.search(r"^ *hits +skips +min +avg +max +total  probe \((ns|cycles)\)$", stderr, re.M), stderr
    ran = re.split(r"^ *entered +returned", stderr, flags=re.M)[0]  # the table of calls follows
    return {row[6]: tuple(map(int, row[:6])) for row in ROW.findall(ran)}


def test_times_of_probes(djtap):
    script = """probe func("vfs_read") { if ($count > 8) next; small++ }
        probe func("vfs_write").return { writes++; for (i = 0; i < 20; i++) t .= "x" }
        probe end { printf("") }"""
    result = djtap("-t", "-e", script, "-c", str(paths.TINYFS))
    found = times(result.stderr)
    assert found['func("vfs_read")'][0] == result.facts["vfs_read calls"], result
    assert found['func("vfs_write").return'][0] == result.globals["writes"] and found["end"][0] == 1, result
    for hits, skips, least, average, most, total in found.values():
        assert skips == 0 and least <= average <= most <= total and 0 <= total - hits * average <= 2 * hits  # whole cycles, whole ns
    # The least of each: a thread that was sent away in a handler makes any average long.
    assert found['func("vfs_write").return'][2] > found['func("vfs_read")'][2], "20 rounds take longer"
    assert "-t" not in result.stdout and result.globals.keys() <= {"small", "writes"}, result


def test_times_change_no_site(djtap_once):
    """What is measured is what would be there without: the same sites in the same form, and the same counts."""
    script = 'probe func("*").return { n++ } probe func("chain") { m++ }'
    bare, timed = (djtap_once(*options, "--probes", "-e", script, "-c", victim("tails")) for options in ([], ["-t"]))
    of = [[(site.symbol, site.kind, site.state, site.reason) for site in result.sites] for result in (bare, timed)]
    assert of[0] == of[1] and len(of[0]) > 50, (bare, timed)
    assert bare.globals == timed.globals and bare.facts == timed.facts, (bare, timed)


def test_skips_of_probes(djtap):
    script = """probe func("vfs_read") { if (seen[tid()]++ % 2) { odd++; error("odd") } } probe func("vfs_write") { m++ }"""
    result = djtap("-t", "-D", "MAXERRORS=1000000", "-e", script, "-c", str(paths.TINYFS))
    found, reads = times(result.stderr), result.facts["vfs_read calls"]
    assert found['func("vfs_read")'][:2] == (reads, result.globals["odd"]) and 0 < result.globals["odd"] < reads, result
    assert found['func("vfs_write")'][:2] == (result.globals["m"], 0), result


def test_output_in_turns(djtap_once, tmp_path):
    script = 'probe begin { for (i = 0; i < 30000; i++) printf("%099d\\n", i); exit() }'
    limits = ["-D", "RINGBYTES=8388608", "-D", "MAXACTION_HOST=10000000"]
    result = djtap_once("-o", str(tmp_path / "all"), "-S", "1", *limits, "-e", script)
    assert result.returncode == 0 and result.stderr == "", result
    files = [tmp_path / f"all.{number}" for number in range(3)]
    assert sorted(tmp_path.iterdir()) == files
    assert all(file.stat().st_size <= 1 << 20 for file in files) and files[0].stat().st_size > (1 << 20) - 100
    assert "".join(file.read_text() for file in files) == "".join(f"{i:099}\n" for i in range(30000))
    djtap_once("-o", str(tmp_path / "last"), "-S", "1,2", *limits, "-e", script)
    assert sorted(file.name for file in tmp_path.glob("last*")) == ["last.1", "last.2"]
    assert [(tmp_path / f"last.{i}").read_text() for i in (1, 2)] == [file.read_text() for file in files[1:]]


def files_of(folder):
    return {file.name: file.read_text() for file in folder.iterdir()}


def test_a_script_switches_the_file(djtap, tmp_path):
    """Every 5000th call that the program counts begins another file."""
    script = 'global reads probe func("vfs_read") { n = ++reads println(n) if (n % 5000 == 0) switch_file() }'
    result = djtap("-D", "RINGBYTES=16777216", "-o", str(tmp_path / "out"), "-e", script, "-c", str(paths.TINYFS))
    reads, files = result.facts["vfs_read calls"], files_of(tmp_path)
    names = ["out"] + [f"out.{n}" for n in range(1, reads // 5000 + 1)]
    assert reads > 10000 and sorted(files) == names, result
    numbers = [list(map(int, files[name].split())) for name in names]
    assert sorted(sum(numbers, [])) == list(range(1, reads + 1)), result
    assert all(5000 * (place + 1) in some for place, some in enumerate(numbers[:-1])), "other threads' lines may come between"


def test_a_switched_file_in_turns(djtap_once, tmp_path):
    script = 'probe begin { for (i = 0; i < 5; i++) { println(i) switch_file() } println("last") exit() }'
    assert djtap_once("-o", str(tmp_path / "out"), "-S", "1", "-e", script).returncode == 0
    assert files_of(tmp_path) == {f"out.{n}": f"{n}\n" for n in range(5)} | {"out.5": "last\n"}
    assert djtap_once("-o", str(tmp_path / "few"), "-S", "1,2", "-e", script).returncode == 0
    assert {name: text for name, text in files_of(tmp_path).items() if "few" in name} == {"few.4": "4\n", "few.5": "last\n"}


def test_what_has_no_next_file(djtap_once, tmp_path):
    script = 'probe begin { println("one") switch_file() println("two") exit() }'
    assert djtap_once("-e", script).stdout == "one\ntwo\n"
    piped = subprocess.run([paths.DJTAP, "-o", "/dev/stdout", "-e", script], capture_output=True, text=True, check=False, timeout=300)
    assert piped.stdout == "one\ntwo\n" and not os.path.exists("/dev/stdout.1"), piped
    (tmp_path / "out.1").mkdir()
    result = djtap_once("-o", str(tmp_path / "out"), "-e", script)
    assert result.returncode == 5 and f"cannot write {tmp_path}/out.1: Is a directory" in result.stderr, result


def test_turns_need_a_file_and_a_size(djtap_once):
    for words, what in ((["-S", "1"], "goes with -o"), (["-o", "x", "-S", "0"], "MEGABYTES"), (["-o", "x", "-S", "1,b"], "MEGABYTES")):
        result = djtap_once(*words, "-e", "probe begin { exit() }")
        assert result.returncode == 1 and what in result.stderr, result


def test_an_end_in_time(djtap_once):
    began = time.monotonic()
    result = djtap_once("-T", "0.5", "-e", 'probe begin { println("begun") } probe end { println("over") }')
    assert 0.5 <= time.monotonic() - began and result.returncode == 0 and result.stdout == "begun\nover\n", result
