# SPDX-License-Identifier: Apache-2.0
"""Counts of entries and returns in code that compilers make with unusual options are those that the program itself keeps."""
import re
import shutil
import subprocess

import pytest

from support import paths

SOURCE = paths.TARGETS / "ways.c"
# Of these the last three end in jumps to code that djtap cannot know.
FUNCTIONS = re.findall(r"X\((\w+)\)", SOURCE.read_text().partition("#define FUNCTIONS(X)")[2].partition("enum")[0])
UNSEEN = re.compile(r"warning\[DJ5907\]: (\d+) returns not seen")

THUNKS = [
    "clang-19 -O2 -mretpoline",
    "clang-19 -O2 -mspeculative-load-hardening",
    "clang-19 -O2 -mlvi-cfi",
    "gcc -O2 -mindirect-branch=thunk -fcf-protection=none",
    "gcc -O2 -mindirect-branch=thunk-inline -fcf-protection=none",
    "gcc -O3 -mindirect-branch=thunk-inline -mfunction-return=thunk-inline -fcf-protection=none -fno-pie -no-pie",
    "gcc -O2 -mindirect-branch=thunk -mfunction-return=thunk -mindirect-branch-cs-prefix -fcf-protection=none",
    "clang-19 -O2 -fuse-ld=lld -Wl,-z,retpolineplt",
    "clang-19 -O2 -fuse-ld=lld -Wl,-z,retpolineplt -Wl,-z,now",
]
PIECES = [
    "clang-19 -O0 -fbasic-block-sections=all",
    "clang-19 -O2 -fbasic-block-sections=all",
    "clang-19 -O2 -fbasic-block-sections=all -fno-pie -no-pie",
    "clang-19 -O2 -fbasic-block-sections=all -fno-asynchronous-unwind-tables",
]


OTHERS = [
    "clang-19 -O2 -flto -fvisibility=hidden -fsanitize=cfi -fuse-ld=lld",
    "clang-19 -O2 -fcf-protection=full -fpatchable-function-entry=16,8",
    "clang-19 -O1 -fxray-instrument -fxray-instruction-threshold=1",
    "gcc -O2 -mcmodel=large",
    "gcc -O0 -fcf-protection=full -finstrument-functions",
]


def build(words, folder, source=SOURCE):
    compiler, *options = words.split()
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    program = folder / source.stem
    subprocess.run([compiler, *options, "-w", "-g", "-o", program, source], check=True)
    return str(program)


def compare(djtap, program, body, names=FUNCTIONS):
    """No return too few or too many, and the same output. Returns the functions that cannot be probed, for a reason that is said."""
    script = "".join(f'probe func("{f}") {{ e_{f}++ }} probe func("{f}").return {{ {body} r_{f}++ }} ' for f in names)
    result = djtap("--probes", "-e", script, "-c", program)
    assert result.stdout.startswith(subprocess.run([program], capture_output=True, text=True, check=True).stdout), result
    skipped = {re.split(r"[.+]", site.symbol)[0]: site.reason for site in result.sites if site.kind == "r" and site.state == "SKIPPED"}
    unseen = 0
    for f in names:
        calls, returns = result.facts[f"{f} calls"], result.facts[f"{f} returns"]
        assert result.globals[f"e_{f}"] == calls, (f, calls, result)
        seen = result.globals.get(f"r_{f}", 0)
        assert seen <= returns, (f, returns, result)
        unseen += 0 if f in skipped else returns - seen
    assert unseen == sum(map(int, UNSEEN.findall(result.stderr))) and "without entry values" not in result.stderr, result
    return skipped


BODIES = pytest.mark.parametrize("body", ["", "if (@entry(tid()) == tid())"], ids=["count", "entry-value"])


@BODIES
@pytest.mark.parametrize("words", THUNKS)
def test_thunks(djtap, tmp_path, words, body):
    """A jump to a thunk, or one in the function's own code, leads where a register says."""
    skipped = compare(djtap, build(words, tmp_path), body)
    assert set(skipped) <= ({"pointer", "method", "program"} if body else set()), skipped


@pytest.mark.parametrize("words", THUNKS[-2:])
def test_linkage_stubs_with_thunks(djtap, tmp_path, words):
    result = djtap("-e", 'probe process.plt("strtol") { n++ } probe process.plt("strtol").return { r++; sum += register("rax") }',
                   "-c", build(words, tmp_path))
    truth = sum(4711 - 4000 + 1000 * (1 + i % 9) for i in range(100))
    assert result.globals == {"n": 100, "r": 100, "sum": truth} and "warning[" not in result.stderr, result


@BODIES
@pytest.mark.parametrize("words", PIECES)
def test_pieces(djtap, tmp_path, words, body):
    """Blocks of functions that are code of their own; indirect jumps lead to some of them, which may be in the red zone's use."""
    skipped = compare(djtap, build(words, tmp_path), body)
    assert set(skipped) <= ({"pointer", "method", "program"} if body else set()), skipped


@BODIES
@pytest.mark.parametrize("linker", ["bfd", "gold"])
def test_split_stacks(djtap, tmp_path, linker, body):
    """Who wants more stack is called by __morestack, which returns for it. Whether a jump there leaves is not found out."""
    skipped = compare(djtap, build(f"gcc -O2 -fsplit-stack -fuse-ld={linker}", tmp_path), body)
    jumping = [skipped.pop(f) for f in ("steps", "hops", "program")]
    assert all("indirect jump" in why or "stack of its own" in why for why in jumping), jumping
    assert set(skipped) <= ({"pointer", "method"} if body else set()), skipped


@BODIES
@pytest.mark.parametrize("words", OTHERS)
def test_others(djtap, tmp_path, words, body):
    """Checked calls through tables of jumps; nothing but no-operations at the entry; tail calls by address."""
    skipped = compare(djtap, build(words, tmp_path), body)
    unknown = {"pointer", "method", "program"} if body else set()
    if "large" in words:
        assert "indirect jump" in skipped.pop("hops", "indirect jump"), skipped  # its table is in the red zone
        unknown |= {"direct", "thrower", "imported"} if body else set()
    assert set(skipped) <= unknown, skipped


@BODIES
@pytest.mark.parametrize("words", ["gcc -O0", "gcc -O2", "gcc -Os", "clang-19 -O0", "clang-19 -O2"])
def test_jumps_to_another_frame(djtap, tmp_path, words, body):
    """They leave a function, and do not return for it."""
    functions = ("leap", "outer") + (() if "clang" in words else ("inner",))
    assert not compare(djtap, build(words, tmp_path, paths.TARGETS / "nonlocal.c"), body, functions)


@BODIES
@pytest.mark.parametrize("words", ["clang++-19 -O0", "clang++-19 -O2 -mretpoline", "clang++-19 -O2 -fbasic-block-sections=all",
                                   "g++ -O2 -mindirect-branch=thunk-inline -fcf-protection=none"])
def test_exceptions(djtap, tmp_path, words, body):
    assert not compare(djtap, build(words, tmp_path, paths.TARGETS / "exceptions.cpp"), body, ("leaf", "middle"))


def test_local_functions_of_one_name(djtap_once, tmp_path):
    """The compiler numbers them when it sees both at once: f means each of them."""
    for name, factor in (("first", 3), ("second", 5)):
        (tmp_path / f"{name}.c").write_text(f"""
            extern volatile long {name}_calls;
            static __attribute__((noinline)) long helper(long n) {{ {name}_calls++; return n * {factor}; }}
            long {name}(long n) {{ return helper(n) + helper(n + 1); }}""")
    (tmp_path / "main.c").write_text("""
        #include <stdio.h>
        volatile long first_calls, second_calls;
        long first(long), second(long);
        int main(void) {
          volatile long sum = 0;
          for (volatile long i = 0; i < 50; i++) sum += first(i) + (i % 2 ? second(i) : 0);
          printf("calls: %ld\\n", first_calls + second_calls);
        }""")
    program = tmp_path / "program"
    sources = [tmp_path / f"{name}.c" for name in ("main", "first", "second")]
    if not shutil.which("clang-19"):
        pytest.skip("there is no clang-19")
    subprocess.run(["clang-19", "-O1", "-flto", "-fuse-ld=lld", "-o", program, *sources], check=True)
    result = djtap_once("-e", 'probe func("helper") { n++ } probe func("helper").return { r++ }', "-c", str(program))
    assert result.globals == {"n": result.facts["calls"], "r": result.facts["calls"]}, result


def test_calls_of_functions_whose_returns_cannot_be_probed(djtap, tmp_path):
    """They are not said to be abandoned."""
    result = djtap("--calls", "-e", 'probe func("pointer").return { n += @entry(tid()) == tid() } probe func("leaf").return { m++ }',
                   "-c", build("gcc -O2", tmp_path))
    lines = re.findall(r'^((?: +\d+){5}) +func\("(\w+)"\)\.return at', result.stderr.partition("calls of\n")[2], re.M)
    counts = {name: list(map(int, numbers.split())) for numbers, name in lines}
    calls = result.facts["leaf calls"]
    assert counts == {"pointer": [0, 0, 0, 0, 0], "leaf": [calls, calls, 0, 0, 0]}, result
