# SPDX-License-Identifier: Apache-2.0
"""Nothing a script does harms the program it traces, and nothing is lost without being told."""
import os
import random
import re
import shutil
import signal
import subprocess
import time

import pytest

from support import process, run
from support.paths import line_of, victim

COUNT = 'probe func("work") { calls++ }'
ENGINE = r"\[(OPTIMIZED|INT3)"


def test_bad_pointers_are_script_errors(djtap):
    script = 'probe func("take") { x <<< $box->value; n++ }'
    result = djtap("-e", script, "-c", victim("badptr"))
    assert result.facts == {"take calls": 9, "value": 42}, result
    errors = re.findall(r"^error\[DJ5001\]: read fault at address 0x([0-9a-f]+) ", result.stderr, re.M)
    assert {"0", "10", "dead000000000000"} <= {error.lstrip("0") or "0" for error in errors}, result
    straddling = int.from_bytes(b"x" * 8, "little")
    assert f"x @count=3 @min=42 @max={straddling} " in result.stdout and result.globals == {"n": 3}, result


def test_bad_strings_are_script_errors(djtap):
    script = """probe func("take") { seen++; names[user_string($what)]++; inner[user_string($box->inner->name)]++ }"""
    result = djtap("-e", script, "-c", victim("badptr"))
    assert result.facts == {"take calls": 9, "value": 42} and result.globals == {"seen": 9}, result
    assert dict(result.array("inner")) == {'"good"': "2"} and len(result.array("names")) == 9, result
    assert re.search(r"^error\[DJ5001\]: read fault at address 0x", result.stderr, re.M), result


def test_memory_that_comes_and_goes_while_it_is_read(djtap):
    """Each read either has it or is an error: a page that another thread unmaps, and one behind the end of a file."""
    script = """probe func("take") { try { v = $box->value; s = user_string($box->name); good++ } catch { bad++ } seen[v, s] = 1 }
                probe func("take_cut") { try { c <<< $box->value } catch { cut++ } }"""
    result = djtap("-e", script, "-c", victim("vanishing"))
    counts = {name: result.globals.get(name, 0) for name in ("good", "bad", "cut")}
    assert result.returncode == 0 and counts["good"] + counts["bad"] == result.facts["take calls"], result
    assert counts["cut"] == result.facts["take_cut calls"] and result.facts["rounds"] > 0, result
    whole = int.from_bytes(b"x" * 8, "little")
    assert {key.split(",")[0] for key, _ in result.array("seen")} <= {"0", str(whole)}, result


def test_restartable_sequences_are_left_whole(djtap):
    """A jump inside would take the thread out of it, and what it counts twice or not at all nobody would know."""
    path = victim("critical")
    result = djtap("-e", 'probe func("count_here") { n++ } probe func("count_here").return { if ($return) r++; else again++ }', "-c", path)
    counts = {name: result.globals.get(name, 0) for name in ("n", "r", "again")}
    assert result.returncode == 0 and counts["n"] == counts["r"] + counts["again"] and counts["r"] == result.facts["counted"], result
    table = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    where = {name: int(address, 16) for address, name in re.findall(r"^(\w+) \w critical_(\w+)$", table, re.M)}
    for place in ("begin", "middle"):
        result = djtap("--probes", "-e", f"probe process.statement({where[place]:#x}) {{ n++ }} probe process.statement({where['end']:#x}) {{ m++ }}",
                       "-c", path)
        assert [site.reason for site in result.sites if site.state == "SKIPPED"] == ["rseq-section"], result
        assert result.returncode == 0 and result.globals["m"] == result.facts["counted"], result


def sequences_ran(result):
    """The fault interrupts all of the first half; of the others, where nothing faults, a few may be preempted on a busy machine."""
    return result.returncode == 0 and result.facts["interrupted"] == 100 and 50 < result.facts["read"] <= 100


def test_counted_functions_do_not_take_sequences_along(djtap):
    for _ in range(2):  # again with what the first session has kept
        result = djtap("-e", 'probe func("try_to_read") { n++ }', "-c", victim("aborting"))
        assert sequences_ran(result) and result.globals == {"n": 200}, result


def test_signatures_of_sequences_are_not_written_to(djtap):
    """The kernel would end the program when it finds another word in front of an abort address."""
    path = victim("aborting")
    table = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    where = {name: int(address, 16) for address, name in re.findall(r"^(\w+) \w sequence_(\w+)$", table, re.M)}
    for place in ("end", "abort"):
        result = djtap("-e", f"probe process.statement({where[place]:#x}) {{ n++ }}", "-c", path)
        ends = {"end": result.facts["read"], "abort": 200 - result.facts["read"]}
        assert sequences_ran(result) and result.globals == {"n": ends[place]}, result


@pytest.mark.parametrize("guards", ["needed", "all"])
def test_data_between_instructions(djtap, guards):
    """What is behind it cannot be told from it: the function's calls are counted, its returns are not probed."""
    script = 'probe func("step") { n++ } probe func("step").return { r++ }'
    result = djtap(f"--guards={guards}", "-e", script, "-c", victim("interspersed"))
    assert result.facts == {"odd": 500, "even": 500} and result.globals == {"n": 1000, "r": 0}, result
    assert "[SKIPPED: exits unknown]: step+0x0" in result.stderr and result.returncode == 0, result


def test_a_handler_ends_at_its_error_only(djtap):
    """Other probes of the same call run; the exit status is still the child's."""
    script = 'probe func("take") { a++; x = $box->inner->value; b[x]++ } probe func("take") { c++ }'
    result = djtap("-e", script, "-c", victim("badptr"))
    assert result.returncode == 0 and result.globals == {"a": 9, "c": 9}, result
    assert dict(result.array("b")) == {"42": "2"}, result


@pytest.mark.parametrize("body", [
    "while (1) { }", "for (;;) x++", "i = 0; while (i < 1000000) i++", "f(1)", "a[1]++; while (1) a[1]++",
], ids=["while", "for", "long", "recursion", "map"])
def test_endless_handlers_are_stopped(djtap, body):
    script = f'global a function f(n) {{ return f(n + 1) }} probe func("work") {{ entered++; {body}; never++ }}'
    result = djtap("-e", script, "-c", f"{victim('count')} 25")
    assert result.returncode == 0 and result.facts["work calls"] == 100, result
    assert result.globals.get("entered") == 100 and result.globals.get("never", 0) == 0, result
    assert re.search(r"MAXACTION|MAXNESTING", result.stderr), result


def test_division_by_zero(djtap):
    result = djtap("-e", 'probe func("work") { entered++; x = 10 / $n; y <<< x }', "-c", f"{victim('count')} 10")
    assert result.globals == {"entered": 40} and "y @count=36" in result.stdout, result
    assert re.search(r"^error\[DJ5003\]: division by 0$", result.stderr, re.M), result


def test_a_full_map_is_counted(djtap):
    result = djtap("-D", "MAXMAPENTRIES=16", "-e", 'probe func("work") { a[$n]++; calls++ }', "-c", victim("count"))
    assert result.facts["work calls"] == 4000 and result.globals["calls"] == 4000, result
    kept = sum(int(value) for _, value in result.array("a"))
    lost = sum(map(int, re.findall(r"(\d+)[^\n\d]*full", result.stderr)))
    assert len(result.array("a")) == 16 and kept + lost == 4000, result


def test_a_full_array_says_what_to_raise(djtap_once):
    script = ("global own[3], other, both[2], never[9], wrapped%[2] probe begin { for (i = 0; i < 6; i++) {"
              " own[i] = 1; other[i] = 1; both[i] <<< i; never[i] = 1; wrapped[i] = 1 } exit() }")
    result = djtap_once("-D", "MAXMAPENTRIES=4", "-e", script)
    assert ("warning[DJ5905]: 9 new elements dropped: an array is full (raise the size of `own[3]`, `both[2]` and -D MAXMAPENTRIES for `other`)"
            in result.stderr), result


def test_a_full_ring_is_counted(djtap):
    """Events that came plus events told as lost are all there were."""
    script = 'probe func("work") { printf("event %d %d\\n", $id, $n) }'
    result = djtap("-D", "RINGBYTES=4096", "-e", script, "-c", f"{victim('count')} 50000")
    assert result.facts["work calls"] == 200000, result.stderr
    events = len(re.findall(r"^event [0-3] \d+$", result.stdout, re.M))
    lost = re.search(r"(\d+) event", result.stderr)
    assert events + (int(lost.group(1)) if lost else 0) == 200000, f"{events} events came; {result.stderr}"


def test_long_strings_are_cut_and_counted(djtap):
    script = """probe func("text") { s = user_string($string); for (i = 0; i < 8; i++) s = s . s; printf("length %d\\n", strlen(s)) }"""
    result = djtap("-D", "MAXSTRINGLEN=64", "-e", script, "-c", victim("args"))
    length = int(re.search(r"^length (\d+)$", result.stdout, re.M).group(1))
    assert 60 <= length <= 64 and result.facts["text"] == 12, result
    assert re.search(r"string", result.stderr), result


def test_killed_target_keeps_its_results(attach, program):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    tracer = attach(target.pid, COUNT + ' probe func("work") { if ($id == 5) printf("no\\n"); s <<< $n } '
                                                    'probe func("work") { if (shown++ < 50) printf("event %d\\n", $id) } global shown')
    target.tell("call 12345")
    target.wait_for("called: 12345")
    target.signal(signal.SIGKILL)
    result = tracer.finish()
    assert result.globals["calls"] == 12345 and "s @count=12345" in result.stdout, result
    assert len(re.findall(r"^event [0-3]$", result.stdout, re.M)) == 50, result


def test_killed_while_it_hammers(attach, program):
    target = program(victim("hammer"))
    target.wait_for("pid: ")
    tracer = attach(target.pid, 'global said probe func("work") { calls++; a[$id]++; s <<< $n; if (said++ == 100000) println("counts") }')
    tracer.wait_for("^counts$")
    target.signal(signal.SIGKILL)
    result = tracer.finish()
    calls = result.globals["calls"]
    assert calls > 0 and abs(sum(int(value) for _, value in result.array("a")) - calls) <= 8, result


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03, 0.06, 0.1, 0.3])
def test_killed_tracer_leaves_the_target_running(background, program, delay):
    """kill -9 of djtap at any moment: while it attaches, patches, or traces."""
    target = program(victim("commander"))
    target.wait_for("pid: ")
    tracer = background("-e", COUNT + ' probe func("work").return { r++; printf("x") } probe func("libc.so.6!*printf*") { p++ }',
                        "-p", str(target.pid))
    time.sleep(delay)
    tracer.signal(signal.SIGKILL)
    tracer.process.wait()
    target.tell("call 100000")
    target.wait_for("called: 100000")
    target.tell("quit")
    end = target.finish()
    assert end.returncode == 0 and end.facts["work calls"] == 100000, end


def test_killed_tracer_at_random_moments(mode_options, program):
    """Most of all while it borrows a thread and patches."""
    seed = random.randrange(10**6)
    moments = random.Random(seed)
    script = COUNT + ' probe func("work").return { r++ } probe func("libc.so.6!*printf*") { p++ }'
    for round_number in range(40):
        target = program(victim("commander"))
        target.wait_for("pid: ")
        with run.Background(run.command([*mode_options, "-e", script, "-p", target.pid])) as tracer:
            time.sleep(moments.uniform(0.02, 0.15))
            tracer.signal(signal.SIGKILL)
        target.tell("call 1000")
        target.tell("quit")
        end = target.finish()
        assert end.returncode == 0 and end.facts["work calls"] == 1000, f"seed {seed}, round {round_number}: {end}"


def test_killed_tracer_leaves_a_launched_target_running(background):
    tracer = background("--probes", "-e", 'probe func("work") { n++ }', "-c", f"{victim('hammer')} 2")
    tracer.wait_for(ENGINE)
    tracer.wait_for("pid: ")
    tracer.signal(signal.SIGKILL)
    result = tracer.finish()
    assert result.facts.get("wrong") == 0 and result.facts["work calls"] > 0, result


def test_handlers_in_signals_count(djtap):
    """A signal handler that calls the probed function while the probe's handler may be running."""
    script = 'probe func("work") { n++ } probe func("on_alarm") { alarms++ } probe func("on_alarm").return { back++ }'
    result = djtap("-e", script, "-c", victim("signals"))
    truth = result.facts
    assert result.globals == {"n": truth["work calls"], "alarms": truth["in handler"], "back": truth["in handler"]}, result


def test_heavy_handlers_in_signals_count(djtap):
    script = 'global a probe func("work") { a[$n & 7] <<< $n; s = sprintf("%d", $n); if (strlen(s) > 0) n++ }'
    result = djtap("-e", script, "-c", victim("signals"))
    skipped = sum(map(int, re.findall(r"(\d+) (?:hits? )?skipped", result.stderr)))
    assert result.globals["n"] + skipped == result.facts["work calls"], result


def test_memory_of_the_tracer_is_not_writable_and_executable(attach, program):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    tracer = attach(target.pid, COUNT)
    assert [row for row in process.mappings(tracer.pid) if "w" in row[2] and "x" in row[2]] == []


def test_a_case_in_a_cold_part_is_an_arrival(djtap):
    """The jump table is in pick, which is not probed; it leads into the bytes of the jump in pick.cold."""
    path, line = victim("cold"), line_of("cold.c", "before_case")
    bare = subprocess.run([path], capture_output=True, text=True, check=True).stdout
    result = djtap("--probes", "-e", f'probe func("pick.cold@cold.c:{line}") {{ n++ }}', "-c", path)
    assert result.returncode == 0 and bare in result.stdout, result
    assert result.globals == {"n": result.facts["fourth"]} == {"n": 100}, result


def test_a_probe_inside_a_system_call_hook_leaves_the_others(djtap_once):
    """abort() calls rt_sigprocmask itself; the probe on that instruction goes, int3 elsewhere stays."""
    libc = "/usr/lib/x86_64-linux-gnu/libc.so.6"
    code = subprocess.run(["objdump", "-d", "--disassemble=abort", libc], capture_output=True, text=True, check=True).stdout
    inside = int(re.search(r"^ +([0-9a-f]+):.*\tsyscall", code, re.M).group(1), 16)
    result = djtap_once("--no-optimize", "--probes", "-e",
                        f'probe process("{libc}").statement({inside:#x}) {{ m++ }} probe func("work") {{ n++ }}', "-c", victim("count"))
    assert result.returncode == 0 and "[SKIPPED: inside a system call hook]" in result.stderr, result
    assert result.globals["n"] == result.facts["work calls"], result


@pytest.mark.parametrize("options", [[], ["--guards=all"], ["--no-optimize"]], ids=["jump", "guarded", "int3"])
def test_go_routines_end_behind_the_first_byte_of_goexit(djtap_once, options):
    """The address is made by an addition at run time, so that nothing but the function's name tells."""
    result = djtap_once(*options, "-e", 'probe process.function("*") { n[probefunc()]++ }', "-c", f"{victim('goexit')} 1000")
    assert result.returncode == 0 and result.facts["ended"] == 1000, result
    assert ('"count_end"', "1000") in result.array("n"), result


def test_every_function_of_a_go_program(djtap_once, tmp_path):
    if shutil.which("go") is None:
        pytest.skip("no Go compiler here")
    (tmp_path / "main.go").write_text(GO_PROGRAM)
    env = {**os.environ, "GOCACHE": str(tmp_path / "cache"), "GO111MODULE": "off"}
    subprocess.run(["go", "build", "-o", "program", "main.go"], cwd=tmp_path, env=env, check=True)
    bare = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=True).stdout
    result = djtap_once("-e", 'probe func("*") { n++ } probe func("main.work") { calls++ }', "-c", str(tmp_path / "program"))
    assert result.returncode == 0 and bare in result.stdout, result
    assert result.globals["calls"] == 8 * 2000, result


GO_PROGRAM = """package main

import (
	"fmt"
	"sync"
)

//go:noinline
func work(n int) int { return n*3 + 1 }

//go:noinline
func deep(n int) int { // moves its stack
	if n == 0 {
		return 0
	}
	var room [64]int
	room[n%64] = n
	return deep(n-1) + room[n%64]%2
}

func main() {
	var all sync.WaitGroup
	sums := make([]int, 8)
	for g := range sums {
		all.Add(1)
		go func(g int) {
			defer all.Done()
			for i := 0; i < 2000; i++ {
				sums[g] += work(i)
			}
			sums[g] += deep(3000)
		}(g)
	}
	all.Wait()
	func() {
		defer func() { fmt.Println("recovered:", recover()) }()
		var p *int
		fmt.Println(*p)
	}()
	fmt.Println(sums)
}
"""
