"""Values that only debug info computes: variables of optimized code that are nowhere, but follow from others."""
import re
import shutil
import subprocess

import pytest

DEAD = """__attribute__((noinline)) void sink(long x) { __asm__ volatile("" : : "r"(x) : "memory"); }
__attribute__((noinline)) long f(long a, long b, unsigned long u) {
  long least = a < b ? a : b;
  long most = a > b ? a : b;
  unsigned long high = u > 7 ? u : 7;
  long size = a < 0 ? -a : a;
  sink(a + b + u);
  return a - b - u;
}
int main(void) {
  for (long a = -2; a < 3; a++)
    for (long b = -3; b < 5; b += 6) f(a, b, a * b);
  return 0;
}
"""


def built(tmp_path, source, compiler):
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"no {compiler} here")
    (tmp_path / "program.c").write_text(source)
    subprocess.run([*compiler.split(), "-g", "-w", "-o", "program", "program.c"], cwd=tmp_path, check=True)
    return tmp_path / "program"


def test_minima_maxima_and_magnitudes(djtap_once, tmp_path):
    """gcc describes them by branches (DW_OP_bra) and DW_OP_abs."""
    program = built(tmp_path, DEAD, "gcc -O2")
    info = subprocess.run(["readelf", "--debug-dump=loc", program], capture_output=True, text=True, check=True).stdout
    if "DW_OP_bra" not in info or "DW_OP_abs" not in info:
        pytest.skip("this compiler describes them otherwise")
    script = 'probe process.statement("f@program.c:7") { println($a, " ", $b, ": ", $least, " ", $most, " ", $high, " ", $size) }'
    result = djtap_once("-e", script, "-c", program)
    pairs = [(a, b) for a in range(-2, 3) for b in (-3, 3)]
    wanted = [f"{a} {b}: {min(a, b)} {max(a, b)} {a * b if a * b < 0 else max(a * b, 7)} {abs(a)}" for a, b in pairs]
    assert result.stdout.splitlines() == wanted, result


LARGE = """__attribute__((noinline)) void sink(unsigned long x) { __asm__ volatile("" : : "r"(x) : "memory"); }
__attribute__((noinline)) unsigned long f(unsigned long x) {
  unsigned long share = -1UL / x, rest = -3UL % x;
  sink(x);
  return x;
}
int main(void) {
  f(3);
  f(-5UL);
  return 0;
}
"""


def test_numbers_without_a_sign_are_divided_so(djtap_once, tmp_path):
    program = built(tmp_path, LARGE, "gcc -O2")
    script = 'probe process.statement("f@program.c:4") { printf("%u: %u %u\\n", $x, $share, $rest) }'
    result = djtap_once("-e", script, "-c", program)
    whole = 1 << 64
    wanted = [f"{x}: {(whole - 1) // x} {(whole - 3) % x}" for x in (3, whole - 5)]
    assert result.stdout.splitlines() == wanted, result


CALLED = """#include <stdio.h>
__attribute__((noinline)) void sink(long x) { __asm__ volatile("" : : "r"(x) : "memory"); }
__attribute__((noinline)) long leaf(long a, long b, long c) {
  sink(a + b);
  sink(c);
  sink(3);
  return 5;
}
__attribute__((noinline)) long again(long n, long left) {
  sink(n);
  sink(left);
  if (left > 0) return again(n + 1, left - 1);
  return 0;
}
long (*volatile by_pointer)(long, long, long) = leaf;
__attribute__((noinline)) long through(long a, long b) {
  long kept = a * 100;
  sink(kept);
  long all = leaf(kept, b, 7) + leaf(kept + 1, 1000, kept);
  sink(kept);
  return all + kept + b;
}
int main(int argc, char **argv) {
  long all = 0;
  for (long i = 1; i < 4; i++) all += through(i, i + 10);
  all += again(1, 2);
  all += by_pointer(1, 2, 3);
  return all == 0;
}
"""
# At the third sink() nothing in leaf() has its arguments any more; main() calls it by a pointer last, and that call says nothing of them.
PASSED = [line for i in (1, 2, 3) for line in (f"{i * 100} {i + 10} 7", f"{i * 100 + 1} 1000 {i * 100}")]


@pytest.mark.parametrize("compiler", ["gcc -O2", "gcc -O1", "gcc -O2 -gdwarf-4", "gcc -O2 -fno-omit-frame-pointer", "gcc -O2 -fPIE -pie", "clang-19 -O2"])
def test_what_only_the_caller_knows(djtap, tmp_path, compiler):
    """Entry values (DW_OP_entry_value): the call that the return address belongs to says what was passed."""
    program = built(tmp_path, CALLED, compiler)
    script = 'probe process.statement("leaf@program.c:6") { try { println($a, " ", $b, " ", $c) } catch { println("unknown") } println($$parms) }'
    result = djtap("-e", script, "-c", program)
    lines = result.stdout.splitlines()
    assert lines[0:12:2] == PASSED and len(lines) == 14, result
    assert lines[1:12:2] == ["a={} b={} c={}".format(*line.split()) for line in PASSED], result
    assert lines[12] == "unknown" and re.fullmatch(r"a=\? b=[2?] c=[3?]", lines[13]), result


def test_a_call_that_may_be_a_tail_call_of_itself_says_nothing(djtap_once, tmp_path):
    """What again() was called with first is not what it has now."""
    program = built(tmp_path, CALLED, "gcc -O2 -fno-optimize-sibling-calls")
    script = 'probe process.statement("again@program.c:11") { println(@defined($n) ? $n : -1) }'
    assert djtap_once("-e", script, "-c", program).stdout.split() in (["1", "2", "3"], ["-1"] * 3)
    program = built(tmp_path, CALLED.replace("again(n + 1, left - 1)", "by_other(n + 1, left - 1)").replace(
        "__attribute__((noinline)) long again", "long by_other(long, long);\n__attribute__((noinline)) long again").replace(
        "long (*volatile", "__attribute__((noinline)) long by_other(long n, long left) { sink(4); return again(n, left); }\nlong (*volatile"), "gcc -O2")
    script = 'probe process.statement("again@program.c:12") { println(@defined($n) ? $n : -1) }'
    result = djtap_once("-e", script, "-c", program)
    assert result.returncode == 0 and set(result.stdout.split()) <= {"1", "2", "3", "-1"}, result


QUADS = """#include <stdio.h>
__float128 numbers[] = {0, 1, -2.5Q, 0.1Q, -1e300Q, 1e-310Q, 1e4000Q, -1e-4000Q, 1.0000000000000002220446049250313080847263336181640625Q, 3};
__attribute__((noinline)) __float128 scaled(__float128 x, int k) {
  __float128 local = x * k;
  printf("truth %.17g %.17g\\n", (double)x, (double)local);
  return local;
}
int main(void) {
  for (int i = 0; i < 10; i++) scaled(numbers[i], i + 1);
  return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc -O0", "gcc -O2", "clang-19 -O0"])
def test_numbers_of_128_bits(djtap_once, tmp_path, compiler):
    """A script's doubles are what a cast to double gives: as parameters, results and in memory."""
    program = built(tmp_path, QUADS, compiler)
    script = """probe process.function("scaled") { printf("x %g\\n", $x) }
        probe process.function("scaled").return { printf("r %g\\n", $return); n++ }
        probe process.function("main").return { println("numbers ", @var("numbers")$); printf("%s\\n", @var("numbers")[2]$) }"""
    result = djtap_once("-e", script, "-c", program)
    truth = [[float(word) for word in line.split()[1:]] for line in result.stdout.splitlines() if line.startswith("truth ")]
    seen = {kind: [float(line[2:]) for line in result.stdout.splitlines() if line.startswith(f"{kind} ")] for kind in "xr"}
    assert result.returncode == 0 and len(truth) == 10, result
    assert [f"{n:g}" for n in seen["x"]] == [f"{x:g}" for x, _ in truth] and [f"{n:g}" for n in seen["r"]] == [f"{r:g}" for _, r in truth], result
    assert "numbers [0, 1, -2.5, 0.1, " in result.stdout and "\n-2.5\n" in result.stdout, result


STATICS = """#include <cstdio>
namespace shop { struct Counter { static long made; static int sizes[3]; int own = 1; Counter() { made++; }
  __attribute__((noinline)) int use(int n) { std::printf("%d\\n", n); return own; } };
long Counter::made = 40; int Counter::sizes[3] = {7, 8, 9}; }
int main() { shop::Counter a, b; return a.use(1) - b.use(2); }
"""


def test_static_members_by_their_objects(djtap_once, tmp_path):
    (tmp_path / "statics.cpp").write_text(STATICS)
    subprocess.run(["g++", "-g", "-O0", "-o", "statics", "statics.cpp"], cwd=tmp_path, check=True)
    script = 'probe process.function("use") { if (n++ == 0) println($this->made, " ", $this->sizes[2], " ", $this->own) }'
    assert "42 9 1\n" in djtap_once("-e", script, "-c", tmp_path / "statics").stdout
