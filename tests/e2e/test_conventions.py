# SPDX-License-Identifier: Apache-2.0
"""By which convention a function is called decides where its parameters and its result are: what the program prints is what djtap reads."""
import re
import shutil
import subprocess

import pytest

from support import paths

SCRIPT = """
probe func("windows") { printf("entry windows <%d %g %d %d %g %d>\\n", $a, $b, $c->b, $d->n, $d->f, $e) }
probe func("windows_small") { printf("entry windows_small <%d %s>\\n", $a->n, user_string($b)) }
probe func("system_v") { printf("entry system_v <%d %d %d %d>\\n", $a->b, $b, $c->a, $d) }
probe func("windows").return { printf("exit <%d>\\n", $return->c) }
probe func("windows_small").return { printf("exit <%d %g>\\n", $return->n, $return->f) }
probe func("system_v").return { printf("exit <%d>\\n", $return) }"""


def compiled(folder, command, source, *options):
    if not shutil.which(command.split()[0]):
        pytest.skip(f"{command.split()[0]} is not there")
    program = folder / "program"
    subprocess.run([*command.split(), "-g", *options, paths.TARGETS / source, "-o", program], check=True, timeout=300)
    return program


@pytest.mark.parametrize("compiler", ["gcc -O0", "gcc -O2", "clang-19 -O0"])
def test_windows_convention_and_padded_structs(djtap_once, tmp_path, compiler):
    result = djtap_once("-e", SCRIPT, "-c", compiled(tmp_path, compiler, "conventions.c", "-Wno-psabi"))
    truth = dict(re.findall(r"(?<!entry )\b(windows|windows_small|system_v) (<[^>]*>)", result.stdout))
    assert dict(re.findall(r"entry (\w+) (<[^>]*>)", result.stdout)) == truth and len(truth) == 3, result
    assert re.findall(r"exit (<[^>]*>)", result.stdout) == re.findall(r"<[^>]*>", result.stdout.partition("returned ")[2].partition("\n")[0]), result


WINDOWS_LEAF = """#include <stdio.h>
struct pair { char c; double d; };
__attribute__((ms_abi, noinline)) struct pair made(int a, double b) { struct pair p = {(char)a, b}; __asm__ volatile("" ::: "memory"); return p; }
__attribute__((ms_abi, noinline)) int summed(int a, double b, int c, int d, int e) { __asm__ volatile(""); return a + (int)b + c + d + e; }
int main(void) { printf("%d %g\\n", summed(1, 2, 3, 4, 5), made(6, 7.5).d); return 0; }
"""


@pytest.mark.parametrize("version", [2, 3, 4, 5])
def test_a_windows_function_that_calls_nothing(djtap_once, tmp_path, version):
    """It keeps no register, so only the places of its parameters tell the convention."""
    (tmp_path / "leaf.c").write_text(WINDOWS_LEAF)
    program = compiled(tmp_path, "gcc -O0", tmp_path / "leaf.c", f"-gdwarf-{version}")
    script = """probe func("made") { printf("<%d %g>", $a, $b) } probe func("made").return { printf("<%d %g>", $return->c, $return->d) }
                probe func("summed") { printf("<%d %g %d %d %d>", $a, $b, $c, $d, $e) }"""
    result = djtap_once("-e", script, "-c", program)
    assert sorted(re.findall("<[^>]*>", result.stdout)) == ["<1 2 3 4 5>", "<6 7.5>", "<6 7.5>"], result


def test_a_convention_that_is_not_known(djtap_once, tmp_path):
    source = tmp_path / "other.c"
    source.write_text("__attribute__((regcall, noinline)) int other(int a) { return a; } int main(void) { return other(0); }")
    result = djtap_once("-e", 'probe func("__regcall3__other") { println($a) }', "-c", compiled(tmp_path, "clang-19 -O0", source))
    assert "error[DJ3013]: $a cannot be read here: the convention of the function's calls is not known" in result.stderr, result


def test_parameters_behind_results_of_rust(djtap_once, tmp_path):
    """A result of more than 16 bytes is written where the caller says, which takes the first register."""
    names = ["option", "result", "text", "small", "triple"]
    points = ", ".join(f'func("returned_enums::{name}")' for name in names)
    program = compiled(tmp_path, "rustc", "returned_enums.rs")
    result = djtap_once("-e", f'probe {points} {{ println("seen ", $a, " ", $b[0]) }}', "-c", program)
    assert result.stdout.count("seen 7 42\n") == len(names), result


ODD_RUST = """use std::hint::black_box;
#[derive(Clone, Copy)] #[repr(C, packed)] pub struct Packed { f: f64 }
#[derive(Clone, Copy)] pub struct Big { w: [u64; 5] }
#[inline(never)] fn words(a: u32, b: &u32) -> [i64; 2] { black_box([a as i64, *b as i64]) }
#[inline(never)] fn mixed(a: u32, b: &u32) -> Result<u64, u8> { if a > 5 { Ok(*b as u64) } else { Err(1) } }
#[inline(never)] fn maybe(a: u32, b: &u32) -> Option<u64> { if a > 5 { Some(*b as u64) } else { None } }
#[inline(never)] fn pair(a: u32, b: &u32) -> (u64, u32) { black_box((*b as u64, a)) }
#[inline(never)] fn floats(w: [f32; 2], a: u32, b: &u32) -> f32 { black_box(w[0]) + a as f32 + *b as f32 }
#[inline(never)] fn packed(p: Packed, a: u32, b: &u32) -> f64 { black_box(p.f) + a as f64 + *b as f64 }
#[inline(never)] extern "C" fn foreign(w: Big, a: u32, b: &u32) -> u64 { black_box(w.w[1]) + a as u64 + *b as u64 }
#[inline(never)] fn native(w: Big, a: u32, b: &u32) -> u64 { black_box(w.w[1]) + a as u64 + *b as u64 }
fn main() {
    let b = black_box(42);
    black_box((words(7, &b), mixed(7, &b), maybe(7, &b), pair(7, &b), floats([1.5, 2.5], 7, &b), packed(Packed { f: 2.5 }, 7, &b)));
    black_box((foreign(Big { w: [1, 2, 3, 4, 5] }, 7, &b), native(Big { w: [1, 2, 3, 4, 5] }, 7, &b)));
}"""


@pytest.mark.parametrize("level", [0, 2])
def test_what_rust_may_pass_in_any_way(djtap_once, tmp_path, level):
    """What its versions pass and return in different ways is not read; what stands behind it is not taken from the wrong register."""
    source = tmp_path / "odd.rs"
    source.write_text(ODD_RUST)
    program = compiled(tmp_path, f"rustc -C opt-level={level}", source)
    names = ["words", "mixed", "maybe", "pair", "floats", "packed", "foreign", "native"]
    script = " ".join(f'probe func("odd::{name}") {{ if (@defined($a)) println("{name} ", $a) if (@defined($b)) println("{name} ", $b[0]) }}' for name in names)
    script += ' probe func("odd::words").return { if (@defined($return)) println("words ", $return[0], $return[1]) }'
    script += ' probe func("odd::floats") { if (@defined($w)) println("w ", $w[1]) } probe func("odd::native") { if (@defined($w)) println("w ", $w->w[1]) }'
    result = djtap_once("-e", script, "-c", program)
    seen = set(re.findall(r"^(\w+) (\S+)$", result.stdout, re.M))
    assert seen <= {*((name, value) for name in names for value in ("7", "42")), ("words", "742"), ("w", "2.5"), ("w", "2")}, result
    if level == 0:
        assert {("maybe", "7"), ("pair", "7"), ("native", "7"), ("native", "42")} <= seen, result


CROWDED_RUST = """#![allow(warnings)]
use std::hint::black_box;
#[inline(never)] fn touch<T>(p: &T) { black_box(p); }
#[derive(Clone, Copy)] #[repr(C)] pub struct Lone { m: u64 }
#[derive(Clone, Copy)] #[repr(C)] pub struct Wide { m: u128 }
#[derive(Clone, Copy)] pub struct Big { m: [u64; 4] }
#[inline(never)] fn split(a: u64, b: u64, c: u64, d: u64, e: u64, t: &'static str, z: u64) {
    touch(&a); touch(&t); touch(&z); }
#[inline(never)] extern "C" fn whole(a: u64, b: u64, c: u64, d: u64, e: u64, t: &'static str, z: u64) {
    touch(&a); touch(&t); touch(&z); }
#[inline(never)] fn address(a: u64, b: u64, c: u64, d: u64, e: u64, t: &'static str, f: [f64; 2]) {
    touch(&a); touch(&t); touch(&f); }
#[inline(never)] fn wide(a: u64, b: u64, c: u64, d: u64, e: u64, n: u128, z: u64) {
    touch(&a); touch(&n); touch(&z); }
#[inline(never)] fn words(a: u64, b: u64, c: u64, d: u64, e: u64, g: u64, x: u64, n: u128, z: u64) {
    touch(&x); touch(&n); touch(&z); }
#[inline(never)] fn lone(p: (Lone, u64), w: Wide, z: u64) -> Wide {
    touch(&p); touch(&w); touch(&z); black_box(Wide { m: 5 }) }
#[inline(never)] fn stacked(t: &'static str, a: u64, b: u64, c: u64, d: u64, g: Big, z: u64) {
    touch(&t); touch(&a); touch(&b); touch(&c); touch(&d); touch(&g); touch(&z); }
fn main() {
    let (n, t) = (black_box(1), black_box("abc"));
    split(n, n, n, n, n, t, n + 6); whole(n, n, n, n, n, t, n + 6); address(n, n, n, n, n, t, black_box([2.5, 3.5]));
    wide(n, n, n, n, n, n as u128 + 5, n + 6); words(n, n, n, n, n, n, n, n as u128 + 5, n + 6);
    black_box(lone((Lone { m: n + 7 }, n + 8), Wide { m: n as u128 + 5 }, n + 6)); stacked(t, n, n, n, n, Big { m: black_box([1, 2, 3, 4]) }, n + 6);
}"""
CROWDED_TRUTH = {"t": '"abc"', "z": "7", "f": "[2.5, 3.5]", "n": "6", "p": "{.__0={.m=8}, .__1=9}", "w": "{.m=6}", "g": "{.m=[1, 2, 3, 4]}", "return": "{.m=5}"}


@pytest.mark.parametrize("level", ["0", "2", "s"])
def test_where_rust_runs_out_of_registers(djtap_once, tmp_path, level):
    """A pair goes word by word, of an extern "C" function as a whole; versions of LLVM have places of their own for numbers of 16
    bytes; what lies above the frame may be an address. What the debug information does not tell is not read."""
    source = tmp_path / "crowded.rs"
    source.write_text(CROWDED_RUST)
    program = compiled(tmp_path, f"rustc -C opt-level={level}", source)
    lines = CROWDED_RUST.split("\n")
    names = {"split": "tz", "whole": "tz", "address": "tf", "wide": "nz", "words": "nz", "lone": "pwz", "stacked": "tgz"}
    script = ""
    for name, parameters in names.items():
        line = next(i for i, text in enumerate(lines) if f" fn {name}(" in text) + 2
        for where, point in (("entry", f'func("crowded::{name}")?'), ("line", f'process.statement("*@crowded.rs:{line}")?')):
            read = " ".join(f'if (@defined(${p}$)) println("{where} {name} {p} ", ${p}$$)' for p in parameters)
            script += f"probe {point} {{ {read} }}\n"
    script += 'probe func("crowded::lone").return { if (@defined($return$)) println("exit lone return ", $return$$) }'
    result = djtap_once("-e", script, "-c", program)
    seen = re.findall(r"^(\w+) (\w+) (\w+) (.+)$", result.stdout, re.M)
    assert [row for row in seen if CROWDED_TRUTH[row[2]] != row[3]] == [], result
    if level == "0":
        assert {("entry", *row) for row in [("split", "t"), ("split", "z"), ("whole", "t"), ("whole", "z"), ("address", "t"), ("address", "f")]} \
            <= {row[:3] for row in seen}, result


LOST = """int given = 7; void use(int a) { __asm__ volatile("" : : "r"(a)); }
static __attribute__((noinline)) int lost(int* a, int b) { use(*a); use(b); return b + given; }
static __attribute__((noinline)) int kept(int* a, int b) { use(*a); use(b); return b * given; }
static __attribute__((noinline)) double half(int* a, int b) { use(*a); use(b); return b / 2.0 + given; }
static __attribute__((noinline)) double gone(int* a, int b) { use(*a); use(b); return b / 3.0 + given; }
__attribute__((noinline)) int behind(int* a) { gone(a, 4); return 3; }
int main(int n, char** v) { behind(&n); lost(&n, n); lost(&n, n + 1); given = kept(&n, 1); kept(&n, 2); return v == 0 || half(&n, 3) == 1; }"""


@pytest.mark.parametrize("compiler", ["gcc -O2", "clang-14 -O2", "clang-19 -O2"])
def test_results_that_no_caller_uses(djtap_once, tmp_path, compiler):
    """Compilers take them away from local functions, and the debug information has them yet. One use is enough to keep one."""
    source = tmp_path / "lost.c"
    source.write_text(LOST)
    program = compiled(tmp_path, compiler, source)
    for name in ("lost", "gone"):  # what a caller of gone() leaves in xmm0 when it returns its own int is nobody's
        refused = djtap_once("-e", f'probe func("{name}").return {{ println($return) }}', "-c", program)
        assert "$return cannot be read: no caller" in refused.stderr, refused
    result = djtap_once("-e", 'probe func("kept").return { println($return) } probe func("half").return { printf("%.1f\\n", $return) }', "-c", program)
    assert result.stdout == "7\n14\n8.5\n", result
