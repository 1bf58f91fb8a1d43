# SPDX-License-Identifier: Apache-2.0
"""Values that only debug info computes: variables of optimized code that are nowhere, but follow from others."""
import random
import re
import shutil
import struct
import subprocess

import pytest

from support import paths

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
    """The program of a text, or of a file of tests/targets."""
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"no {compiler} here")
    (tmp_path / "program.c").write_text((paths.TARGETS / source).read_text() if source.endswith(".c") else source)
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
    script = 'probe process.statement("leaf@program.c:6") { try { println($a, " ", $b, " ", $c) } catch { println("unknown") } println($$parms$) }'
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


def locations_of(program):
    return subprocess.run(["readelf", "--debug-dump=loc", program], capture_output=True, text=True, check=True).stdout


def seen_and_true(result):
    """What the script printed, and what the program did, each in its own order."""
    return [re.findall(f"^{word} (.*)", result.stdout, re.M) for word in ("seen", "truth")]


@pytest.mark.parametrize("compiler", ["gcc -O2 -mpopcnt", "gcc -O2 -mpopcnt -mlzcnt -mbmi", "gcc -O3 -mpopcnt -gdwarf-4"])
def test_loops(djtap_once, tmp_path, compiler):
    """gcc describes the zeros in front and behind, the bits that are set and swapped bytes by loops (DW_OP_bra, DW_OP_skip).
    That of the bits set it describes the wrong way round, so that gdb shows 0."""
    program = built(tmp_path, "bits.c", compiler)
    if "DW_OP_skip: -" not in locations_of(program):
        pytest.skip("this compiler describes them otherwise")
    values = ", ".join(f"${name}" for name in "last first set turned far round least".split())
    script = f'probe process.statement("f@program.c:{paths.line_of("bits.c", "bits")}") {{ printf("seen %d %d %d %u %u %u %d\\n", {values}) }}'
    seen, truth = seen_and_true(djtap_once("-e", script, "-c", program))
    assert len(truth) == 5 and seen == truth


FRACTIONS = "sum product quotient difference negative size small third narrow minus of_int of_unsigned of_float half whole cut less same more".split()


@pytest.mark.parametrize("compiler", ["gcc -O2", "gcc -O1 -fPIE -pie", "gcc -O3 -gdwarf-4", "gcc -O2 -mfpmath=387"])
def test_numbers_with_a_fraction(djtap_once, tmp_path, compiler):
    """Doubles, floats and whole numbers made of each other (DW_OP_regval_type, DW_OP_const_type, DW_OP_convert)."""
    program = built(tmp_path, "fractions.c", compiler)
    prints = " ".join(f'if (@defined(${name})) println("seen ", n, " {name} ", ${name});' for name in FRACTIONS)
    script = f'probe process.statement("f@program.c:{paths.line_of("fractions.c", "fractions")}") {{ {prints} n++ }} global n'
    result = djtap_once("-e", script, "-c", program)
    seen, truth = seen_and_true(result)
    assert len(truth) == 5 and len(seen) == 5 * len(FRACTIONS), result
    for line in seen:
        row, name, value = line.split()
        wanted = truth[int(row)].split()[FRACTIONS.index(name)]
        assert float(value) == float(wanted) or f"{float(wanted):g}" == value, (line, wanted)


GIVEN_UP = {"sum": "$unused", "mixed": '$gone, " ", $real, " ", $small', "power": '$exponent, " ", $flag'}


@pytest.mark.parametrize("compiler, inside", [("gcc -O2", False), ("gcc -O2", True), ("gcc -O2 -fPIE -pie", True), ("gcc -O3 -gdwarf-4", False),
                                              ("gcc -O3 -gdwarf-4", True), ("gcc -O2 -flto", False)])
def test_what_a_copy_of_a_function_does_not_get(djtap_once, tmp_path, compiler, inside):
    """Its callers say what it would have been (DW_OP_GNU_parameter_ref): at its entry, and at a line of it."""
    program = built(tmp_path, "given_up.c", compiler)
    if "DW_OP_GNU_parameter_ref" not in subprocess.run(["readelf", "--debug-dump=info,loc", program], capture_output=True, text=True, check=True).stdout:
        pytest.skip("this compiler made no such copies")
    points = {name: f'process.statement("{name}@program.c:{paths.line_of("given_up.c", name)}")' if inside else f'func("{name}")' for name in GIVEN_UP}
    script = " ".join(f'probe {points[name]} {{ println("seen {name} ", {values}) }}' for name, values in GIVEN_UP.items())
    result = djtap_once("-e", script, "-c", program)
    seen, truth = seen_and_true(result)
    assert len(truth) == 12 and seen == truth, result


UNWRITTEN = """#include <stdio.h>
union ieee {
  double d;
  struct { unsigned low : 32, high : 20, exponent : 11, negative : 1; } parts;
};
__attribute__((noinline)) void split(long *out, int *exponent, double value) {
  union ieee u;
  u.d = value;
  *exponent = u.parts.exponent;
  out[0] = (long)u.parts.high << 32 | u.parts.low;
  out[1] = u.parts.negative;
}
int main(void) {
  for (int i = 1; i < 4; i++) {
    long out[2];
    int exponent;
    split(out, &exponent, i * -1.1);
    printf("truth %ld %d %ld\\n", out[0], exponent, out[1]);
  }
  return 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc -O2", "gcc -O2 -gdwarf-4", "gcc -O2 -gsplit-dwarf", "gcc -O2 -gdwarf-4 -gsplit-dwarf", "gcc -O2 -gz"])
def test_what_may_not_have_been_written_yet(djtap_once, tmp_path, compiler):
    """Of a union in a register that is written by one member and read by others gcc says so (DW_OP_GNU_uninit): its value is there."""
    whole = built(tmp_path, UNWRITTEN, compiler.replace(" -gsplit-dwarf", ""))  # readelf never ends with some split lists
    info = subprocess.run(["readelf", "--debug-dump=loc", whole], capture_output=True, text=True, check=True).stdout
    if "DW_OP_GNU_uninit" not in info:
        pytest.skip("this compiler describes it otherwise")
    program = built(tmp_path, UNWRITTEN, compiler)
    parts = '$u->parts->high << 32 | $u->parts->low, " ", $u->parts->exponent, " ", $u->parts->negative'
    script = f'probe process.statement("split@program.c:10") {{ println("truth ", {parts}); println($u->d) }}'
    lines = djtap_once("-e", script, "-c", program).stdout.splitlines()
    truths = [line for line in lines if line.startswith("truth")]
    assert len(truths) == 6 and sorted(truths[:3]) == sorted(truths[3:]) and set(lines) >= {"-1.1", "-2.2", "-3.3"}, lines


FIELDS = """#include <stdio.h>
struct fields { unsigned low : 3, mid : 7; int high : 22; unsigned long wide : 40; };
__attribute__((noinline)) void sink(long x) { __asm__ volatile("" : : "r"(x) : "memory"); }
__attribute__((noinline)) long f(struct fields given, long a, long b) {
  struct fields made = {a, b, a - b, a * b}, changed = given;
  changed.mid = b;
  sink(a);
  sink(b);
  return made.low + made.wide + changed.high;
}
int main(void) {
  long all = 0;
  for (long i = 1; i < 4; i++) {
    struct fields given = {i, i, i, i};
    all += f(given, i * 5, i * 31);
    printf("truth %ld %ld %ld %ld\\n", i * 5 & 7, i * 31 & 127, i * 5 - i * 31, i * 5 * i * 31);
  }
  return all == 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc -O1", "gcc -O2", "gcc -O3 -gdwarf-4"])
def test_bit_fields_of_a_struct_in_parts(djtap_once, tmp_path, compiler):
    """Each has a place of its own (DW_OP_bit_piece); of changed but one is known."""
    program = built(tmp_path, FIELDS, compiler)
    info = subprocess.run(["readelf", "--debug-dump=loc", program], capture_output=True, text=True, check=True).stdout
    if "DW_OP_bit_piece" not in info:
        pytest.skip("this compiler describes them otherwise")
    values = '$made->low, " ", $made->mid, " ", $made->high, " ", $made->wide'
    script = f'probe process.statement("f@program.c:7") {{ println("truth ", {values}); println("mid ", $changed->mid, @defined($changed->low)) }}'
    lines = djtap_once("-e", script, "-c", program).stdout.splitlines()
    truths = [line for line in lines if line.startswith("truth")]
    assert len(truths) == 6 and sorted(truths[:3]) == sorted(truths[3:]), lines
    assert [line for line in lines if line.startswith("mid")] == [f"mid {i * 31}0" for i in (1, 2, 3)], lines


VECTOR = """#include <stdio.h>
__attribute__((noinline)) void f(double x, double *out) {
  union { double d; long l; } u;
  u.d = x;
  long magnitude = u.l & 0x7fffffffffffffffL, exponent = magnitude >> 52;
  __asm__ volatile("nop" : : : "memory");
  out[0] = x;
  __asm__ volatile("nop" : : : "memory");
}
int main(void) {
  double all[1];
  for (int i = 1; i < 4; i++) f(-1.5 * i, all);
  return all[0] == 0;
}
"""


@pytest.mark.parametrize("compiler", ["gcc -O1", "gcc -O2"])
def test_whole_numbers_computed_from_vector_registers(djtap_once, tmp_path, compiler):
    """DW_OP_breg17 and its kin: the lowest 8 bytes."""
    program = built(tmp_path, VECTOR, compiler)
    info = subprocess.run(["readelf", "--debug-dump=loc", program], capture_output=True, text=True, check=True).stdout
    if "DW_OP_breg17" not in info:
        pytest.skip("this compiler describes them otherwise")
    result = djtap_once("-e", 'probe process.statement("f@program.c:6") { println($magnitude, " ", $exponent) }', "-c", program)
    magnitudes = [int.from_bytes(struct.pack("<d", 1.5 * i), "little") for i in (1, 2, 3)]
    assert result.stdout.splitlines() == [f"{m} {m >> 52}" for m in magnitudes], result


MASK = """#include <immintrin.h>
#include <stdio.h>
__attribute__((noinline)) unsigned long below(const unsigned char *p, int limit) {
  __m512i all = _mm512_loadu_si512(p);
  __mmask64 mask = _mm512_cmplt_epu8_mask(all, _mm512_set1_epi8(limit));
  __asm__ volatile("" : "+k"(mask));
  return mask + 1;
}
int main(void) {
  unsigned char bytes[64];
  for (int i = 0; i < 64; i++) bytes[i] = i * 37;
  return !below(bytes, 100);
}
"""


@pytest.mark.skipif(" avx512bw " not in open("/proc/cpuinfo", encoding="ascii").read(), reason="the processor has no AVX-512")
def test_mask_registers(djtap, tmp_path):
    program = built(tmp_path, MASK, "gcc -O2 -mavx512bw")
    result = djtap("-e", 'probe process.statement("below@program.c:6") { printf("%x", $mask) }', "-c", program)
    assert result.stdout == f"{sum(1 << i for i in range(64) if i * 37 % 256 < 100):x}", result


ENDLESS = """int f(int n) {
  static long lost;
  lost += n;
  return lost + 1;
}
int main(void) { return f(1) & 0; }
"""


@pytest.fixture
def lost(tmp_path):
    """lost(bytes...) builds the program in which these nine bytes, filled up by DW_OP_nop in front, describe the variable `lost`."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc here")
    (tmp_path / "lost.c").write_text(ENDLESS)
    subprocess.run(["gcc", "-g", "-S", "-O0", "-gdwarf-4", "-o", "lost.s", "lost.c"], cwd=tmp_path, check=True)
    text = (tmp_path / "lost.s").read_text()
    place = re.compile(r"(?<=\t)\.uleb128 0x9\n\t\.byte\t0x3\n\t\.quad\tlost\.\d+\n")
    assert len(place.findall(text)) == 1, text

    def build(*operations):
        listed = ", ".join(map(hex, [0x96] * (9 - len(operations)) + [*operations]))
        (tmp_path / "changed.s").write_text(place.sub(f".uleb128 0x9\n\t.byte\t{listed}\n", text))
        subprocess.run(["gcc", "-o", "lost", "changed.s"], cwd=tmp_path, check=True)
        return tmp_path / "lost"
    return build


def test_a_value_whose_computation_has_no_end(djtap, lost):
    """lit1; again: dup; bra again; stack_value: a jump backwards for ever."""
    script = 'probe func("f@lost.c:4") { try { println($lost) } catch (why) { println(why) } n++; println($lost) }'
    result = djtap("-e", script, "-c", lost(0x31, 0x12, 0x28, 0xfc, 0xff, 0x9f))
    message = "debug info's expression for the value goes round more than 4096 times"
    assert f"error[DJ5011]: {message}\n" in result.stderr and result.globals == {"n": 1} and result.returncode == 0, result
    assert message in result.stdout.splitlines(), "catch sees the same"


# What wrong or rare debug info is answered with, behind "$lost cannot be read here: ".
ODD = {
    "skip to itself": ([0x2f, 0xfd, 0xff], "its DWARF expression has no end"),
    "skip before the first": ([0x2f, 0x00, 0x80], "its DWARF expression jumps out of itself"),
    "skip behind the end": ([0x2f, 0x50, 0], "its DWARF expression takes words that are not on its stack"),
    "branch to the end with nothing": ([0x31, 0x28, 1, 0, 0x9f], "its DWARF expression takes words that are not on its stack"),
    "two ways, two stacks": ([0x31, 0x28, 1, 0, 0x32, 0x9f], "what is on its DWARF expression's stack depends on the way to a jump's target"),
    "part behind a jump": ([0x31, 0x2f, 1, 0, 0x9f, 0x2f, 0xfc, 0xff], "its DWARF expression has a part that only later ones jump to"),
    "a register that is none": ([0x90, 0xc8, 1], "it is in register number 200, which cannot be read"),
    "an object": ([0x97], "its DWARF expression asks for an object that is not known"),
    "an unknown operation": ([0x01], "elfutils cannot read its location: invalid DWARF"),
    "another address space": ([0x31, 0x31, 0x18], "its DWARF expression uses DW_OP_xderef, which cannot be read"),
    "a part that is nowhere": ([0x93, 4], "this part of it was optimized out"),
    "a sum of nothing": ([0x22], "its DWARF expression takes words that are not on its stack"),
    "drop all": ([0x31, 0x13], "its DWARF expression takes words that are not on its stack"),
    "an address of no table": ([0xa1, 0], "its DWARF expression cannot be read"),
    "an entry value": ([0xa3, 1, 0x55, 0x9f], "only its value at the function's entry is known, and that is gone here"),
    "thread-local of none": ([0x30, 0x9b], "its object has no thread-local block"),
    "nothing": ([], "it was optimized out"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_debug_info(djtap_once, lost, name):
    operations, why = ODD[name]
    result = djtap_once("-e", 'probe func("f@lost.c:4") { println($lost) }', "-c", lost(*operations))
    assert result.returncode == 3 and re.match(rf"error\[DJ30(13|15)\]: \$lost cannot be read here: {re.escape(why)}\n", result.stderr), result


def test_random_debug_info_is_answered(djtap_once, lost):
    """Whatever bytes describe a variable, djtap makes code of them or says why not."""
    mark = [0x96, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x96]
    program = lost(*mark)
    data = program.read_bytes()
    assert data.count(bytes(mark)) == 1
    common = [*range(0x12, 0x18), *range(0x19, 0x2b), 0x2f, 0x30, 0x31, 0x55, 0x70, 0x91, 0x93, 0x94, 0x96, 0x9f, 0x9d, 0x06, 0x08, 0x10, 0xa3, 0x9e, 0xa8]
    dice = random.Random(2)
    for _ in range(60):
        words = bytes(dice.choice(common) if dice.random() < 0.7 else dice.randrange(8) for _ in mark)
        program.write_bytes(data.replace(bytes(mark), words))
        result = djtap_once("--no-cache", "--stop-after=lower", "-e", 'probe func("f@lost.c:4") { println($lost, $lost$) }', "-c", program)
        assert result.returncode in (0, 3), (words.hex(" "), result)
