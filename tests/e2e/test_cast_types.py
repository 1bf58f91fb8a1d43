# SPDX-License-Identifier: Apache-2.0
"""@cast to pointers that debug info does not have: to a type that it has, one or more times, against the program's own values."""
import subprocess

import pytest

PROGRAM = """#include <stdio.h>
struct foo { int a; unsigned long b; };
union both { int whole; short half; };
unsigned long words[3] = {11, 22, 33};
struct foo one = {5, 6};
union both both = {70000};
void* table[2];
void** outer = table;
__attribute__((noinline, noipa)) void visit(void* p) { __asm__ volatile("" : : "r"(p) : "memory"); }
int main(void) {
  table[0] = &one;
  table[1] = words;
  visit(table);
  printf("b: %lu\\nword: %lu\\nhalf: %d\\none: %lu\\nsecond: %lu\\n", one.b, words[2], both.half, (unsigned long)&one, (unsigned long)words);
  return 0;
}
"""


@pytest.fixture(scope="module", params=["gcc", "clang"])
def program(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cast")
    (folder / "t.c").write_text(PROGRAM)
    try:
        subprocess.run([request.param, "-g", "-no-pie", "-o", "t", "t.c"], cwd=folder, check=True)
    except FileNotFoundError:
        pytest.skip(f"no {request.param}")
    names = subprocess.run(["readelf", "--debug-dump=info", folder / "t"], capture_output=True, text=True, check=True).stdout
    assert names.count("DW_TAG_pointer_type") <= 3, "few of the pointers that are asked for are there"
    return folder / "t"


@pytest.mark.parametrize("expression, fact", [
    ('@cast($p, "struct foo*")[0]->b', "b"),
    ('@cast($p, "struct foo *")->b', "b"),
    ('@cast($p, "foo*")->b', "b"),
    ('@cast($p, "unsigned long*")[1][2]', "word"),
    ('@cast($p, "const unsigned long *")[1][2]', "word"),
    ('@cast(&@var("outer"), "struct foo**")->b', "b"),
    ('@cast(&@var("outer"), "unsigned long**")[0][1][2]', "word"),
    ('@cast(&@var("outer"), "void**")[0][1]', "second"),
    ('@cast($p, "union both*")[0]', "one"),
    ('@cast($p, "void*")[1]', "second"),
    ('@cast($p, "const struct foo*")[0]', "one"),
    ('@cast(&@var("both"), "const union both")->half', "half"),
    ('n = 2; m = @cast($p, "unsigned long*")[n - 1][n]; m', "word"),
])
def test_values_behind_pointers(djtap_once, program, expression, fact):
    statements, _, value = expression.rpartition("; ")
    result = djtap_once("-e", f'probe func("visit") {{ {statements} println("read ", {value}) }}', "-c", program)
    assert f"read {result.facts[fact]}\n" in result.stdout, result


@pytest.mark.parametrize("script, words", [
    ('println(@cast($p, "struct fou*")[0])', 'no type "struct fou*"'),
    ('println(@cast($p, "unsigned long**")[0]->b)', "which has no members"),
    ('println(@cast($p, "unsigned long**")[0]$)', "is a pointer, which has no text form"),
])
def test_what_cannot_be(djtap_once, program, script, words):
    result = djtap_once("-e", f'probe func("visit") {{ {script} }}', "-c", program)
    assert "error[DJ" in result.stderr and words in result.stderr, result
