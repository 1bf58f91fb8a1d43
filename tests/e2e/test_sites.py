# SPDX-License-Identifier: Apache-2.0
"""--probes: every site with its address and state, against readelf; and --dump, --stop-after, -v."""
import collections
import json
import re
import subprocess

import pytest

from support import run
from support.paths import DJTAP, PYTHON, symbol_address, victim


def test_states(djtap, mode):
    result = djtap("--probes", "-e", 'probe func("work") { n++ }', "-c", victim("count"))
    assert [(site.kind, site.state) for site in result.sites] == [("e", "OPTIMIZED" if mode == "jump" else "INT3")], result
    assert result.sites[0].symbol.startswith("work") and result.sites[0].module.endswith("count"), result


def test_address_is_the_functions(djtap):
    """Non-PIE: what readelf says; an endbr64 may stand before."""
    path = victim("count_nopie")
    result = djtap("--probes", "-e", 'probe func("work") { n++ }', "-c", path)
    assert result.sites[0].address - symbol_address(path, "work") in (0, 4), result


def test_every_exit_is_a_site(djtap):
    result = djtap("--probes", "-e", 'probe func("exits").return { n++ }', "-c", victim("tail"))
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", victim("tail")], capture_output=True, text=True, check=True).stdout
    body = re.search(r"<exits>:\n((?:.+\n)+)", code).group(1)
    exits = len(re.findall(r"\tret\s*$", body, re.M))
    assert len(result.sites) == exits and {site.kind for site in result.sites} == {"r"}, result
    assert result.globals == {"n": result.facts["exits calls"]}, result


def test_short_functions_name_their_reason(djtap_once):
    result = djtap_once("--probes", "-e", 'probe func("short_*") { n++ }', "-c", victim("short"))
    states = {site.symbol.split("+")[0]: site for site in result.sites}
    assert states["short_padded"].state == "OPTIMIZED", result
    assert states["short_loop"].state == "OPTIMIZED" and states["short_loop"].reason.startswith("guarded, "), result
    assert states["short_ret"].reason.startswith("punned"), result


def test_int3_everywhere_where_jumps_would_do(djtap_once):
    script = 'probe func("work"), func("main") { n++ } probe func("work").return { r++ }'
    result = djtap_once("--no-optimize", "--probes", "-e", script, "-c", victim("count"))
    assert result.sites and {site.state for site in result.sites} == {"INT3"}, result


def test_guards_nowhere_where_needed_and_everywhere(djtap_once):
    """Counts are the same; more int3 bytes under the jumps, or int3 sites where a plain jump will not do."""
    told = {}
    for which in ["none", "needed", "all"]:
        result = djtap_once(f"--guards={which}", "--probes", "-e", 'probe func("short_*") { n++ } probe func("main") { m++ }',
                            "-c", victim("short"))
        told[which] = [(site.state, (site.reason or "").startswith("guarded")) for site in result.sites]
        assert result.globals["m"] == 1, result
        told[which, "n"] = result.globals["n"]
    assert told["none", "n"] == told["needed", "n"] == told["all", "n"]
    guarded = {which: sum(guards for _, guards in told[which]) for which in ["none", "needed", "all"]}
    assert guarded["none"] == 0 < guarded["needed"] < guarded["all"], told
    int3 = {which: sum(state == "INT3" for state, _ in told[which]) for which in ["none", "needed"]}
    assert int3["none"] > int3["needed"], told


def test_a_guard_byte_counts_who_arrives(djtap_once):
    """Two functions begin inside the jump over the one-byte function before them: their callers trap and go on."""
    result = djtap_once("-v", "-e", 'probe func("short_ret") { n++ }', "-c", victim("short"))
    assert result.returncode == 0 and result.globals == {"n": 1000}, result
    traps = re.findall(r"\[OPTIMIZED: guarded, (\d+) guard traps\]", result.stderr)
    assert int(traps[-1]) == result.facts["short_zero"] + result.facts["short_same"], result


@pytest.mark.parametrize("name, state", [("short", "[OPTIMIZED: punned]"), ("short_fixed", "[INT3: hot-guard]")])
def test_a_hot_guard_goes(djtap_once, name, state):
    """A loop's head inside the jump: 100,300 arrivals are too many, 200 calls are not. The jump gets a form that leaves the
    head as it is; a program at low addresses has none within reach, so an int3 traps once a call."""
    result = djtap_once("-v", "-e", 'probe func("short_loop") { n++ }', "-c", victim(name))
    assert result.returncode == 0 and result.globals == {"n": 200} and result.facts["short_loop"] == 200, result
    assert state in result.stderr, result


def test_an_instruction_that_runs_nowhere_else(djtap_once, tmp_path):
    """A transaction's begin leads to its own addresses: neither a jump nor an int3, whose thread goes on in a copy, and nowhere said to be one."""
    source, built = tmp_path / "moves.c", tmp_path / "moves"
    source.write_text('__asm__(".globl begins\\n.type begins,@function\\nbegins: xbegin 1f\\n1: mov $1,%eax\\nret\\n.size begins,.-begins");\n'
                      "int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-o", built, source], check=True)
    script = 'probe func("begins"), func("main") { n++ }'
    planned = djtap_once("-n", "-e", script, "-c", built)
    armed = djtap_once("--probes", "-e", script, "-c", built)
    for sites in (run.sites_of(planned.stdout), armed.sites):
        assert {site.symbol.split("+")[0]: site.reason for site in sites if site.state == "SKIPPED"} == {"begins": "unmovable"}, armed
    assert "1 of 2 sites would be armed" in planned.stdout and armed.globals == {"n": 1}, planned
    assert re.search(r"^  refused +unmovable +1 ", djtap_once("--stress", "--coverage", built).stdout, re.M)


DUMPS = {"tokens": "parse", "ast": "parse", "program": "check", "plan": "resolve", "ir": "lower", "asm": "lower"}


@pytest.mark.parametrize("dump", DUMPS)
def test_every_stage_can_be_printed(djtap_once, dump):
    result = djtap_once(f"--dump={dump}", f"--stop-after={DUMPS[dump]}", "-e", 'probe func("work") { calls += $n }', "-c", victim("count"))
    assert result.returncode == 0 and "work calls" not in result.stdout, result
    expected = {"ir": "define ", "asm": "dj_handler_0", "tokens": "calls"}.get(dump, "work")
    assert expected in result.stdout + result.stderr, result


def test_dumped_script_parses_to_itself(djtap_once, tmp_path):
    script = """global a, n = 3
        function f(x, y) { if (x > y) return x - y * 2; else return -x }
        probe func("work"), timer.s(1) { a[$n, "x"] <<< f($n, 2) ? 1 : 0; foreach ([i, s] in a- limit 5) { n++; delete a[i, s] } }
        probe func("work") { x = (&$p->y)[1] + (&$p->y) + -($p$) + ($p)->y }
        probe begin < n += 2; while (n < 10) { n++ } >"""
    once = djtap_once("--dump=ast", "--stop-after=parse", "-e", script)
    file = tmp_path / "again.djt"
    file.write_text(once.stdout)
    again = djtap_once("--dump=ast", "--stop-after=parse", file)
    assert once.returncode == again.returncode == 0 and once.stdout == again.stdout and "foreach" in once.stdout, again


def test_verbose_prints_the_time_of_each_stage(djtap_once):
    result = djtap_once("-v", "-e", 'probe func("work") { n++ }', "-c", victim("count"))
    stages = re.findall(r"^.*?\b([\d.]+) ms\b", result.stderr, re.M)
    assert len(stages) >= 5, result
    for word in ("parse", "check", "resolve", "lower"):
        assert re.search(rf"\b{word}\b.*ms", result.stderr), result


def test_no_vector_register_and_no_spill_in_a_counter(djtap_once):
    result = djtap_once("--dump=asm", "--stop-after=lower", "-e", 'probe func("work") { count++ }', "-c", victim("count"))
    text = (result.stdout + result.stderr).split(".Lfunc_end0:")[0]  # behind it comes what waits for the loader
    assert "dj_handler_0" in text and not re.search(r"%[xyz]mm\d", text) and not re.search(r"\tpushq?\s", text), text


def test_diagnostics_as_json(djtap_once):
    result = djtap_once("--diagnostics=json", "-e", 'probe func("wrok") { n++ }', "-c", victim("count"))
    found = [json.loads(line) for line in result.stderr.splitlines() if line.startswith("{")]
    assert len(found) == 1 and found[0]["severity"] == "error" and found[0]["code"].startswith("DJ3"), result


def test_the_engines_log_tells_each_step(djtap_once, monkeypatch):
    """One line a step: a jump, and an int3 with its reason."""
    monkeypatch.setenv("DJTAP_LOG", "engine")
    result = djtap_once("-e", 'probe func("work") { n++ }', "-c", victim("count"))
    steps = re.findall(r"^engine +[\d.]+ ms 0x[0-9a-f]+ work (.*)$", result.stderr, re.M)
    assert [step.partition(":")[0] for step in steps] == ["registered -> optimizing", "optimizing -> optimized"], result
    result = djtap_once("--no-optimize", "-e", 'probe func("work") { n++ }', "-c", victim("count"))
    assert re.search(r"^engine .* work registered -> int3: --no-optimize$", result.stderr, re.M), result


MAPPINGS = """import mmap, os, sys
kept = [mmap.mmap(-1, 4096) for _ in range(int(sys.argv[1]))]
print("pid:", os.getpid(), flush=True)
sys.stdin.readline()
print("mappings:", len(open("/proc/self/maps").readlines()), flush=True)
print("length:", len(str(len(kept))), flush=True)
"""


OBJECTS = """import mmap, os, sys
head = open("/proc/self/exe", "rb").read(4096)
kept = []
for number in range(int(sys.argv[1])):
    file = os.memfd_create(f"object {number}")
    os.write(file, head)
    kept.append(mmap.mmap(file, 4096))
    os.close(file)
print("pid:", os.getpid(), flush=True)
sys.stdin.readline()
print("length:", len(str(len(kept))), flush=True)
"""


def test_more_objects_than_descriptors(program):
    """djtap keeps objects open, yet never so many that it cannot open other files."""
    target = program(PYTHON, "-c", OBJECTS, 1000)
    target.wait_for("pid: ")
    limited = ["prlimit", "--nofile=512:512", DJTAP]
    tracer = subprocess.Popen([*limited, "--probes", "-p", str(target.pid), "-e", 'probe func("libc.so.6!write") { n++ }'],
                              stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    first = tracer.stderr.readline()
    target.tell("go")
    target.finish()
    out, rest = tracer.communicate()
    assert tracer.returncode == 0 and int(re.search("^n=(\\d+)", out, re.M)[1]) >= 1, (out, first, rest)


def test_half_of_the_mappings_are_the_program_s(attach, program, mode):
    """Stubs for jumps take no more than leaves it half of vm.max_map_count; where there is none left, sites are int3 and count as well."""
    with open("/proc/sys/vm/max_map_count", encoding="ascii") as file:
        half = int(file.read()) // 2
    if half > 50_000:
        pytest.skip("this system allows too many mappings")
    for count in (0, half):
        target = program(PYTHON, "-c", MAPPINGS, count)
        target.wait_for("pid: ")
        tracer = attach(target.pid, 'probe func("libc.so.6!*") { n++ }', "--guards=all")
        target.tell("go")
        assert target.finish().facts["mappings"] - count < 2000
        result = tracer.finish()
        reasons = collections.Counter(site.reason for site in result.sites if site.state == "INT3")
        assert "that the target opened" not in result.stderr, result  # it has ended, maybe before djtap looked
        assert (reasons["too-many-mappings"] > 1000) == (count > 0 and mode == "jump") and result.globals["n"] > 10, result
