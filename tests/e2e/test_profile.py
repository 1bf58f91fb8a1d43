# SPDX-License-Identifier: Apache-2.0
"""timer.profile: samples of the target's running threads, and that the target is none the worse for them."""
import re
import shutil
import subprocess

import pytest

from support.paths import victim


def samples(djtap, script, *command):
    return djtap("-v", "-e", script, *(command or ("-c", victim("busy"))))


def counted(result, name):
    return {key.strip('"'): int(value) for key, value in result.array(name)}


@pytest.mark.parametrize("command", [victim("busy"), f"sh -c '{victim('busy')}; exit $?'"], ids=["first", "further"])
def test_functions_get_samples_by_the_time_they_take(djtap_once, command):
    """hot() calls spin() for four times as long as warm() does; the others sleep."""
    script = """probe timer.profile {
        n++; at[probefunc()]++; thread[tid()]++; points[pp()]++; caller[usymname(ustack(1))]++
        if (uaddr() != ustack(0)) wrong++; objects[probemod()]++ }"""
    result = samples(djtap_once, script, "-c", command)
    truth, caller, thread = result.facts, counted(result, "caller"), counted(result, "thread")
    assert result.returncode == 7 and truth["interrupted"] == 0, result
    assert thread[str(truth["worker"])] > 20 and thread[str(truth["worker"])] > result.globals["n"] / 2, result
    assert counted(result, "at")["spin"] == max(counted(result, "at").values()), result
    assert caller["hot"] > caller["warm"] > 0 and counted(result, "points") == {"timer.profile": result.globals["n"]}, result
    assert result.globals.get("wrong", 0) == 0 and victim("busy") in counted(result, "objects"), result
    taken = int(re.search(r"djtap: (\d+) samples taken", result.stderr).group(1))
    assert taken == result.globals["n"], result


def test_names_of_samples_are_keys(djtap_once):
    """A name that a sample was counted by finds its element again, and is equal to the same text."""
    script = """global at, spun probe timer.profile { at[probefunc(), ppfunc(), probemod()]++; if (probefunc() == "spin") spun++ }
        probe end { foreach ([a, b, c] in at) printf("%s: %d of %d\\n", a, at[a, b, c], [a, b, c] in at)
                    foreach ([a+, b, c] in at) if (a == "spin") printf("equal: %d %d\\n", at[a, b, c], spun) }"""
    result = samples(djtap_once, script)
    rows = re.findall(r"^(\w*): (\d+) of 1$", result.stdout, re.M)
    assert "spin" in dict(rows) and all(int(count) > 0 for _, count in rows) and " of 0" not in result.stdout, result
    assert re.search(r"^equal: (\d+) \1$", result.stdout, re.M), result


def test_nothing_changes_for_the_program(djtap_once):
    """At 1,000 a second: numbers in vector registers, calls that wait, the exit status."""
    bare = re.search(r"^checksum: .*", subprocess.run([victim("busy")], capture_output=True, text=True).stdout, re.M).group()
    result = samples(djtap_once, "global k probe timer.profile.freq.hz(1000) { n++; k++; s <<< k; if (k % 10 == 0) println(sprint_ubacktrace()) }")
    assert bare in result.stdout and result.facts["interrupted"] == 0 and result.returncode == 7, result
    assert result.globals["n"] > 10 and "spin" in result.stdout, result


def test_red_zone_and_flags(djtap_once):
    result = samples(djtap_once, "probe timer.profile.freq.hz(1000) { n++ }", "-c", victim("leaf_state"))
    assert result.returncode == 0 and [result.facts[f"wrong {what}"] for what in ("red zone", "flags", "vectors")] == [0, 0, 0], result


def test_with_other_probes_and_timers(djtap_once):
    script = """probe timer.profile { n++; at[probefunc()]++ } probe timer.profile.freq.hz(300) { m++ }
                probe func("hot") { hot++ } probe func("warm").return { warm++ } probe timer.ms(10) { ticks++ }"""
    result = samples(djtap_once, script)
    assert result.globals["hot"] == result.globals["warm"] == 25 and result.globals["n"] > 10, result
    assert result.globals["m"] > 10 and result.facts["interrupted"] == 0, result


def test_a_program_that_ends_under_samples_keeps_its_status(djtap_once):
    for _ in range(10):
        result = djtap_once("-e", "probe timer.profile.freq.hz(1000) { n++ }", "--", "/bin/sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; exit 9")
        assert result.returncode == 9, result


def test_a_running_program(djtap_once, program):
    target = program("/usr/bin/python3", "-u", "-c", "print('on')\nx = 0\nwhile True: x += 1")
    target.wait_for("^on")
    script = "global n probe timer.profile { objects[probemod()]++; stacks[ubacktrace()]++; if (++n == 40) exit() }"
    result = djtap_once("-e", script, "-p", str(target.pid))
    assert result.returncode == 0 and "python3" in str(result.array("objects")) and result.array("stacks"), result


@pytest.mark.parametrize("script, words", [
    ("probe timer.profile { println($x) }", "timer.profile is not a place in the program"),
    ("probe timer.profile.freq.hz(0) { n++ }", "1 to 1000 samples a second"),
    ("probe timer.profile.freq.hz(100000) { n++ }", "1 to 1000 samples a second"),
])
def test_wrong_use(djtap_once, script, words):
    result = djtap_once("-e", script, "-c", "/bin/true")
    assert result.returncode != 0 and words in result.stderr, result


def test_needs_a_target(djtap_once):
    result = djtap_once("-e", "probe timer.profile { n++ }")
    assert result.returncode != 0 and "no process is traced" in result.stderr, result


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="sqlite3 is not installed")
def test_a_real_program(djtap_once):
    query = "with recursive c(x) as (select 1 union all select x + 1 from c where x < 1000000) select sum(x) from c;"
    result = djtap_once("-e", "probe timer.profile { n++; at[probefunc()]++ }", "--", shutil.which("sqlite3"), ":memory:", query)
    assert result.stdout.startswith("500000500000\n") and result.globals["n"] > 3, result
