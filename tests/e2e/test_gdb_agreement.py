# SPDX-License-Identifier: Apache-2.0
"""Agreement with gdb: the value of each variable at sampled instructions of running programs, or that there is none.

DJTAP_STRESS=long samples tens of thousands of (instruction, variable) pairs.
"""
import collections
import json
import os
import random
import re
import shutil
import subprocess

import pytest

from support import paths, run
from support.paths import victim

LONG = os.environ.get("DJTAP_STRESS") == "long"
LIBC = "/lib/x86_64-linux-gnu/libc.so.6"
# What djtap does not know and gdb finds out from the caller, or shows as a null pointer.
CALLERS = ("entry", "optimized out of this copy", "the pointer was optimized out")
# How the locations choose among the callers that debug info knows; of another one they read address 0.
CHOOSES, OTHER_CALLER = " rot rot or rot or swap", "address 0x0"
# What djtap does not read: vectors' upper halves.
NOT_BUILT = ("upper part is not known",)

pytestmark = pytest.mark.skipif(shutil.which("gdb") is None, reason="no gdb")


def instructions(module):
    """Addresses of all instructions of a file."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", module], capture_output=True, text=True, check=True).stdout
    return [int(address, 16) for address in re.findall(r"^ +([0-9a-f]+):\t", text, re.M)]


def ran(program, module):
    """[begin, end) of the functions of the module that a run of the program calls."""
    script = f'probe process("{module}").function("*") {{ ran[ppfunc()]++ }}'
    result = run.run(["--dump=plan", "-f", "json", "-o", "/dev/stderr", "-e", script, "--", *program])
    called = {row["key"][0] for row in json.loads(result.stderr.splitlines()[-1])["ran"]}
    sites = re.findall(r"^site .* in (0x\w+)\.\.(0x\w+) (\S+)", result.stdout, re.M)
    return [(int(begin, 16), int(end, 16)) for begin, end, name in sites if name in called]


def compare(tmp_path, program, module, addresses, begin="main"):
    """Rows [address, function, variable, gdb's value, djtap's, djtap's location]; a value is null where there is none."""
    module = os.path.realpath(module)
    header = subprocess.run(["readelf", "-h", module], capture_output=True, text=True, check=True).stdout
    settings = {"module": module, "djtap": str(paths.DJTAP), "addresses": sorted(addresses), "begin": begin,
                "relocated": "DYN" in header, "out": str(tmp_path / "rows.json")}
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    gdb = subprocess.run(["gdb", "-q", "-nx", "-batch", "-x", str(paths.ROOT / "tests/support/gdb_agreement.py"), "--args", *program],
                         env={**os.environ, "AGREEMENT": str(tmp_path / "settings.json")}, stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, timeout=600, check=False)
    assert (tmp_path / "rows.json").exists(), gdb.stderr
    return json.loads((tmp_path / "rows.json").read_text())


def verdict(row):
    _, _, name, theirs, ours, where = row
    if isinstance(ours, str) and OTHER_CALLER in ours and CHOOSES in where:
        return "caller's" if isinstance(theirs, int) else "neither"
    if isinstance(theirs, str):
        return "neither" if theirs == ours or (ours is None and "optimized out" in theirs) else "gdb fails"
    if theirs == ours:
        return "same" if theirs is not None else "neither"
    if ours is None and any(reason in where for reason in NOT_BUILT):
        return "not built"
    if ours is None and theirs == 0 and "optimized out" in where and re.search(r"->|\[", name):
        return "neither"  # behind the last piece that the location has, gdb sees zeros
    if ours is None:
        return "caller's" if any(reason in where for reason in CALLERS) else "gdb only"
    return "djtap only" if theirs is None else "different"


def check(rows, least):
    by_verdict = collections.defaultdict(list)
    for row in rows:
        by_verdict[verdict(row)].append(row)
    counts = {name: len(some) for name, some in by_verdict.items()}
    print(counts)  # pytest -rP shows them
    assert counts.get("same", 0) >= least, counts
    for wrong in ("different", "gdb only"):
        assert by_verdict[wrong] == [], counts
    # To gdb a variable of any block of an inlined function hides the caller's of the same name, in that block or not.
    assert len(by_verdict["djtap only"]) <= len(rows) // 200, by_verdict["djtap only"]


@pytest.mark.parametrize("name", ["args", "args_O0", "values", "values_O0", "doubles", "doubles_O0", "inside", "recursion", "packed"])
def test_victims(tmp_path, name):
    addresses = instructions(victim(name))
    random.seed(1)
    if not LONG:
        addresses = random.sample(addresses, min(len(addresses), 400))
    check(compare(tmp_path, [victim(name)], victim(name), addresses), 40)


@pytest.mark.parametrize("program", [["sort", "-n", "-k2", "/etc/services"], ["ls", "-laR", "/usr/share/doc/libc6"],
                                     ["bash", "-c", "printf '%f %s\\n' 1.5 x; echo /usr/*/ *.c; [[ abc =~ ^a.c$ ]]"]],
                         ids=lambda words: words[0])
def test_c_library(tmp_path, program):
    program = [shutil.which(program[0]), *program[1:]]
    random.seed(2)
    functions = ran(program, LIBC)
    inside = [address for address in instructions(os.path.realpath(LIBC)) if any(a < address < b for a, b in functions)]
    listed = subprocess.run([paths.DJTAP, "-L", f'process("{LIBC}").function("malloc")'], capture_output=True, text=True, check=False)
    if "$bytes" not in listed.stdout:
        pytest.skip("libc6-dbg is not installed")
    check(compare(tmp_path, program, LIBC, random.sample(inside, min(len(inside), 30000 if LONG else 2000)), "__libc_start_main"), 200)


@pytest.mark.parametrize("compiler", ["gcc -O2 -gsplit-dwarf", "gcc -O3 -gdwarf-4 -gsplit-dwarf", "gcc -O2 -flto", "gcc -Os", "clang-14 -O2 -gdwarf-4",
                                      "clang-19 -O2", "clang-19 -O2 -gdwarf-4 -gsplit-dwarf", "clang-19 -O2 -flto -fuse-ld=lld-19", "gcc -O2 dwz"])
def test_forms_of_debug_info(tmp_path, compiler):
    words = [word for word in compiler.split() if word != "dwz"]
    if shutil.which(words[0]) is None or ("dwz" in compiler and shutil.which("dwz") is None):
        pytest.skip(f"no {compiler} here")
    for name in ("program", "other"):
        subprocess.run([*words, "-g", f"-DNAME={name}", "-o", name, str(paths.TARGETS / "args.c")], cwd=tmp_path, check=True, capture_output=True)
    if "dwz" in compiler:
        subprocess.run(["dwz", "-m", "common", "-M", str(tmp_path / "common"), "program", "other"], cwd=tmp_path, check=True)
    program = str(tmp_path / "program")
    random.seed(4)
    addresses = instructions(program)
    check(compare(tmp_path, [program], program, random.sample(addresses, min(len(addresses), 500))), 100)


@pytest.mark.parametrize("source", ["values", "passing", "late"])
@pytest.mark.parametrize("compiler", ["g++ -O0", "g++ -O3", "clang++-14 -O2 -gdwarf-4", "clang++-19 -O1", "clang++-19 -O3",
                                      "clang++-19 -O2 -flto -fuse-ld=lld-19"])
def test_scalars_inside_of_structs(tmp_path, compiler, source):
    """Members, bit-fields, members of bases and unions, behind pointers and references, elements: in memory, in registers, in pieces."""
    words = compiler.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {compiler} here")
    program = str(tmp_path / "program")
    subprocess.run([*words, "-g", "-w", "-std=c++20", "-o", program, paths.TARGETS / f"{source}.cpp"], check=True)
    random.seed(5)
    addresses = instructions(program)
    rows = compare(tmp_path, [program], program, addresses if LONG else random.sample(addresses, min(len(addresses), 250)))
    check(rows, 100)
    assert sum("->" in row[2] or "[" in row[2] for row in rows) >= 50


@pytest.mark.parametrize("source, least", [("fractions", 100), ("given_up", 100), ("computed", 60), ("constants", 60)])
def test_values_that_are_computed(tmp_path, source, least):
    """From numbers with a fraction, or of 16 bytes; from what callers know of parameters that a copy of a function does not get."""
    program = str(tmp_path / "program")
    subprocess.run(["gcc", "-O2", "-g", "-w", "-o", program, paths.TARGETS / f"{source}.c"], check=True)
    random.seed(6)
    addresses = instructions(program)
    check(compare(tmp_path, [program], program, random.sample(addresses, min(len(addresses), 250))), least)


RANGES = """__attribute__((noinline)) void sink(long x) { __asm__ volatile("" : : "r"(x) : "memory"); }
__attribute__((noinline)) long f(long n) {
  long local = n * 7;
  sink(local);
  sink(1);
  sink(n + 2);
  sink(3);
  return 5;
}
int main(int argc, char **argv) { return f(argc) != 5; }
"""


@pytest.mark.parametrize("name", ["n", "local"])
@pytest.mark.parametrize("compiler", ["gcc -O2", "clang-19 -O2 -gdwarf-4"])
def test_where_a_variable_lives_is_said_where_it_does_not(djtap_once, tmp_path, compiler, name):
    """The ranges that gdb lists, but those whose value only the caller knows; ranges that touch are one."""
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"no {compiler} here")
    (tmp_path / "ranges.c").write_text(RANGES)
    subprocess.run([*compiler.split(), "-g", "-o", "ranges", "ranges.c"], cwd=tmp_path, check=True)
    scope = subprocess.run(["gdb", "-batch", "-nx", "-ex", "info scope f", "ranges"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    told = re.search(rf"^Symbol {name} is (.*?)^(?:Symbol|\Z)", scope + "Symbol", re.M | re.S).group(1)
    merged = []
    for begin, end, where in re.findall(r"Range 0x([0-9a-f]+)-0x([0-9a-f]+): (.*?)(?=Range|\Z)", told, re.S):
        if "entry_value" in where:
            continue
        if merged and merged[-1][1] == int(begin, 16):
            merged[-1][1] = int(end, 16)
        else:
            merged.append([int(begin, 16), int(end, 16)])
    begin = paths.symbol_address(tmp_path / "ranges", "f")
    wanted = ", ".join(f"+{a - begin:#x}..+{b - begin:#x}" for a, b in merged)
    result = djtap_once("-e", f'probe process.statement("f@ranges.c:8") {{ println(${name}) }}', "-c", tmp_path / "ranges")
    assert "error[DJ3013]" in result.stderr and f"${name} has a location in f() at {wanted}\n" in result.stderr, (scope, result)
