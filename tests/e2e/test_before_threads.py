# SPDX-License-Identifier: Apache-2.0
"""Code that runs before main(): in a static program also all from its first instruction to where its thread has a control block
and an rseq area. Counts are the program's own, and gdb's."""
import re
import shutil
import signal
import subprocess

import pytest

from support import paths, run

SOURCE = paths.TARGETS / "before_threads.c"
GLIBC = {"static": ["gcc", "-static"], "static-pie": ["gcc", "-static-pie", "-fPIE"], "clang static": ["clang-19", "-static"]}
MUSL = {"musl": ["musl-gcc", "-static", "-DNO_IFUNC", "-DNO_PREINIT"]}
# Each runs once in a program of that C library, where it has one of its own.
STARTS = {"glibc": ["_start", "__libc_start_main", "__libc_init_secure", "__tunables_init", "_dl_relocate_static_pie", "__libc_setup_tls",
                    "_dl_non_dynamic_init", "__libc_init_first", "_dl_discover_osversion", "__libc_start_call_main"],
          "musl": ["_start", "_start_c", "__libc_start_main", "__init_libc", "__init_tls", "libc_start_main_stage2"]}
OWN = ["pick", "resolver", "prepare", "construct"]


def built(folder, words, *more):
    program = folder / "before"
    if shutil.which(words[0]) is None:
        pytest.skip(f"there is no {words[0]}")
    command = [words[0], "-g", "-O1", "-foptimize-sibling-calls", "-o", program, SOURCE, *words[1:], *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 and words[0] != "gcc":
        pytest.skip(f"{words[0]} cannot link it: {done.stderr}")
    assert done.returncode == 0, done
    return program


@pytest.fixture(scope="module", params=[*GLIBC, *MUSL])
def static(request, tmp_path_factory):
    words = (GLIBC | MUSL)[request.param]
    return built(tmp_path_factory.mktemp("static"), words), "glibc" if request.param in GLIBC else "musl"


def functions(program):
    """Names of one function."""
    symbols = re.findall(r"^([0-9a-f]+) [tTW] (\S+)$", subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout, re.M)
    names = [name for _, name in symbols]
    return {name for name in names if names.count(name) == 1}


def hits_by_gdb(program, names):
    """How often gdb stops at the first byte of each, from the second instruction of the program on."""
    orders = ["set pagination off", "starti"]
    for name in names:
        orders += [f"break *{name}", "ignore $bpnum 1000000"]
    words = ["gdb", "-q", "-nx", "-batch", *(word for order in [*orders, "continue", "info breakpoints"] for word in ("-ex", order)), program]
    done = subprocess.run(words, capture_output=True, text=True, timeout=run.PATIENCE, check=False)
    counts = dict.fromkeys(names, 0)
    table = done.stdout[done.stdout.index("Num "):]
    for place in re.split(r"^(?=\d)", table, flags=re.M)[1:]:
        number = int(place.split()[0])
        hits = re.search(r"already hit (\d+) time", place)
        counts[names[number - 1]] = int(hits.group(1)) if hits else 0
    return counts


def test_counts_from_the_first_instruction_on(djtap, static):
    """Every form of counting: in a row of the thread, by a call, in an array, of returns."""
    program, library = static
    names = [name for name in [*STARTS[library], *OWN] if name in functions(program)]
    script = "".join(f'probe func("{name}") {{ n{at}++; by_name[ppfunc()]++; ids[tid()]++ }} ' for at, name in enumerate(names))
    script += "".join(f'probe func("{name}") {{ row{at}++ }} ' for at, name in enumerate(names))
    result = djtap("-e", script, "-c", program)
    truth = result.facts
    expected = {name: truth.get(name, 1) for name in names}
    assert result.returncode == 0 and truth["own"] == 183 and len(names) > 4, result
    by_gdb = hits_by_gdb(program, names)
    assert {name: count for name, count in by_gdb.items() if name != "_start"} == {name: expected[name] for name in names if name != "_start"}
    assert {name: result.globals.get(f"n{at}", 0) for at, name in enumerate(names)} == expected, result
    assert {name: result.globals.get(f"row{at}", 0) for at, name in enumerate(names)} == expected, result
    assert {key.strip('"'): int(value) for key, value in result.array("by_name")} == {name: n for name, n in expected.items() if n > 0}, result
    assert [int(value) for _, value in result.array("ids")] == [sum(expected.values())], result


def test_prints_and_returns(djtap, static):
    program, library = static
    known = functions(program)
    starts = [name for name in STARTS[library] if name in known and name in ("__libc_setup_tls", "__libc_init_secure", "__init_tls")]
    script = 'probe func("pick") { printf("in %d\\n", $kind) } probe func("pick").return { printf("out %d %d\\n", @entry($kind), $return) } '
    script += 'probe func("through").return { chosen += $return } '
    script += 'probe func("construct").return { printf("constructed %d\\n", ppfunc() == "construct") } '
    script += "".join(f'probe func("{name}").return {{ printf("back %s\\n", ppfunc()) }} ' for name in starts)
    script += "".join(f'probe func("{name}").latency {{ took <<< elapsed > 0 }} ' for name in starts)
    result = djtap("--calls", "-e", script, "-c", program)
    lines = result.stdout.splitlines()
    kinds = [int(line[3:]) for line in lines if line.startswith("in ")]
    assert len(kinds) == result.facts["pick"] and kinds[-1] == 90 and (library == "musl" or kinds[:4] == [1, 2, 3, 1]), result
    assert [line for line in lines if line.startswith("out")] == [f"out {kind} {2 * kind}" for kind in kinds], result
    assert sorted(line[5:] for line in lines if line.startswith("back ")) == sorted(starts) and starts, result
    assert "constructed 1" in lines and result.globals["chosen"] == 90 and result.returncode == 0 and "DJ59" not in result.stderr, result


def test_every_function(djtap, static):
    """The program does what it does alone, and no function that gdb saw is missing."""
    program, _ = static
    result = djtap("-e", 'probe func("*") { all[ppfunc()]++ } probe func("*").return { back++ }', "-c", program)
    counts = {key.strip('"'): int(value) for key, value in result.array("all")}
    assert result.returncode == 0 and result.facts["own"] == 183, result
    assert {name: counts.get(name, 0) for name in OWN} == {name: result.facts[name] for name in OWN}, result
    assert counts["_start"] == 1 and result.globals["back"] > 10, result


@pytest.mark.parametrize("words", [["gcc"], ["gcc", "-no-pie"]], ids=["pie", "no-pie"])
def test_dynamic(djtap, tmp_path, words):
    """Here the loader runs the resolver while it relocates, before anything can be probed."""
    program = built(tmp_path, words)
    names = ["_start", "prepare", "construct"]
    result = djtap("-e", "".join(f'probe func("{name}") {{ n{at}++ }} ' for at, name in enumerate(names)), "-c", program)
    assert result.globals == {"n0": 1, "n1": result.facts["prepare"], "n2": result.facts["construct"]} and result.facts["prepare"] == 1, result


@pytest.mark.parametrize("killed", [False, True], ids=["ended", "killed"])
def test_a_session_that_ends_before_there_is_a_thread(background, tmp_path, killed):
    """Neither a session that ends in the resolver, nor clean behind a djtap that was killed there, leaves anything in the registers."""
    with open("/proc/cpuinfo", encoding="utf8") as info:
        if "fsgsbase" not in info.read():
            pytest.skip("no program may read its fs base here")
    before = built(tmp_path, ["gcc", "-static"], "-mfsgsbase", "-DWAITS")
    tracer = background("-e", 'probe func("pick") { n++ } probe timer.ms(50) { printf("n is %d\\n", n) }', "-c", before)
    tracer.wait_for(r"n is [1-9]\d\d")
    child = int(subprocess.run(["pgrep", "-x", "-P", str(tracer.pid), "before"], capture_output=True, text=True, check=True).stdout)
    if killed:
        tracer.process.kill()
        tracer.process.wait()
        cleaned = subprocess.run([paths.DJTAP, "clean", str(child)], capture_output=True, text=True, check=False)
        assert cleaned.returncode == 0 and "restored" in cleaned.stdout, cleaned
    else:
        tracer.process.send_signal(signal.SIGTERM)
    tracer.wait_for(r"^own: 183$")
