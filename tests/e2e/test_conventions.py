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


LOST = """int given = 7; void use(int a) { __asm__ volatile("" : : "r"(a)); }
static __attribute__((noinline)) int lost(int* a, int b) { use(*a); use(b); return b + given; }
static __attribute__((noinline)) int kept(int* a, int b) { use(*a); use(b); return b * given; }
static __attribute__((noinline)) double half(int* a, int b) { use(*a); use(b); return b / 2.0 + given; }
int main(int n, char** v) { lost(&n, n); lost(&n, n + 1); given = kept(&n, 1); kept(&n, 2); return v == 0 || half(&n, 3) == 1; }"""


@pytest.mark.parametrize("compiler", ["gcc -O2", "clang-14 -O2", "clang-19 -O2"])
def test_results_that_no_caller_uses(djtap_once, tmp_path, compiler):
    """Compilers take them away from local functions, and the debug information has them yet. One use is enough to keep one."""
    source = tmp_path / "lost.c"
    source.write_text(LOST)
    program = compiled(tmp_path, compiler, source)
    refused = djtap_once("-e", 'probe func("lost").return { println($return) }', "-c", program)
    assert "$return cannot be read: no caller" in refused.stderr, refused
    result = djtap_once("-e", 'probe func("kept").return { println($return) } probe func("half").return { printf("%.1f\\n", $return) }', "-c", program)
    assert result.stdout == "7\n14\n8.5\n", result
