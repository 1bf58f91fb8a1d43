# SPDX-License-Identifier: Apache-2.0
"""Lines of inlined functions, and lines that share an address: hits against the program's own counters."""
import re
import subprocess

import pytest

PROGRAM = """#include <stdio.h>
static volatile int steps, turns, passes;
int sink;
__attribute__((noinline, noipa)) void leaf(int v) { sink += v; }
static inline __attribute__((always_inline)) void step(int v) {
  steps++;
  leaf(v);
}
__attribute__((noinline, noipa)) void turn(int v) {
  turns++;
  step(v); step(v + 1);
  step(sink);
}
__attribute__((noinline, noipa)) int same(int a) {
  int b = 7;
  int c = 8;
  return a + b + c;
}
int main(void) {
  for (int i = 0; i < 10; i++) turn(i);
  for (int i = 0; i < 5; i++, passes++) sink += same(i);
  printf("steps: %d\\nturns: %d\\npasses: %d\\n", steps, turns, passes);
  return 0;
}
"""
LINES = PROGRAM.splitlines()


def line_of(text):
    return LINES.index(text) + 1


STEP, LEAF, TURN = line_of("  steps++;"), line_of("  leaf(v);"), line_of("  turns++;")
FIRST, SECOND, LAST = line_of("  int b = 7;"), line_of("  int c = 8;"), line_of("  return a + b + c;")


def rows(program):
    """{line: {addresses}}, as readelf has them."""
    words = ["readelf", "--debug-dump=decodedline", program]
    table = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found = {}
    for row in (line.split() for line in table.splitlines() if line.startswith("t.c ") and line.split()[1] != "-"):
        found.setdefault(int(row[1]), set()).add(row[2])
    return found


@pytest.fixture(scope="module", params=["gcc -O2 -gdwarf-4", "gcc -O2 -gdwarf-5", "gcc -O1 -g", "clang -O2 -g"])
def program(request, tmp_path_factory):
    words = request.param.split()
    folder = tmp_path_factory.mktemp("copies")
    (folder / "t.c").write_text(PROGRAM)
    try:
        subprocess.run([*words, "-o", "t", "t.c"], cwd=folder, check=True)
    except FileNotFoundError:
        pytest.skip(f"no {words[0]}")
    return folder / "t"


@pytest.mark.parametrize("name", ["step", "st*", "*"])
@pytest.mark.parametrize("line", [STEP, LEAF])
def test_every_copy_is_hit(djtap, program, name, line):
    """Three copies in one function; who holds them is not asked by a wildcard."""
    result = djtap("-e", f'probe func("{name}@t.c:{line}") {{ n++ }}', "-c", str(program))
    assert result.globals["n"] == result.facts["steps"] == 30, result


def test_whose_text_a_line_is(djtap_once, program):
    """The copies' lines are named by the function that was copied, the lines between them by who holds them."""
    script = f'probe func("*@t.c:{STEP}") {{ a[probefunc()]++ }} probe func("*@t.c:{TURN}") {{ b[probefunc()]++ }}'
    result = djtap_once("-e", script, "-c", str(program))
    assert result.array("a") == [('"step"', str(result.facts["steps"]))], result
    assert result.array("b") == [('"turn"', str(result.facts["turns"]))], result


@pytest.mark.parametrize("name", ["step", "s*", "*"])
def test_lines_below_the_declarations(djtap_once, program, name):
    """The first line of each function's text: of those with code of their own, and of each inlined copy."""
    result = djtap_once("-e", f'probe func("{name}@t.c+1") {{ n[probefunc()]++ }}', "-c", str(program))
    wanted = {"step": result.facts["steps"]}
    if name != "step" and FIRST in rows(program):
        wanted["same"] = result.facts["passes"]
    if name == "*":
        wanted.update(turn=result.facts["turns"])
    found = {key.strip('"'): int(count) for key, count in result.array("n")}
    assert {key: found.get(key) for key in wanted} == wanted and set(found) <= set(wanted) | {"main"}, result


def test_lines_of_several_points_are_hit_each(djtap, program):
    """Their code may be at one address: each point and each probe says its own line."""
    lines = [line for line in (FIRST, SECOND, LAST) if line in rows(program)]
    points = ", ".join(f'func("same@t.c:{line}")' for line in lines)
    script = f'probe {points} {{ n[pp()]++ }} probe func("same@t.c:{LAST}") {{ m[pp()]++ }}'
    result = djtap("-e", script, "-c", str(program))
    passes = str(result.facts["passes"])
    seen = {name: {int(re.match(r"\d+", key.rpartition(":")[2])[0]): count for key, count in result.array(name)} for name in "nm"}
    assert seen == {"n": dict.fromkeys(lines, passes), "m": {LAST: passes}}, result


def test_lines_of_one_point_at_one_address_are_one_hit(djtap_once, tmp_path):
    """As in SystemTap, which takes an address once for each point; readelf says that it is one address."""
    (tmp_path / "t.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-O2", "-g", "-o", "t", "t.c"], cwd=tmp_path, check=True)
    table = rows(tmp_path / "t")
    assert table[FIRST] == table[SECOND] and len(table[FIRST]) == 1, table
    result = djtap_once("-e", f'probe func("same@t.c:{FIRST}-{SECOND}") {{ n++ }}', "-c", tmp_path / "t")
    assert result.globals["n"] == result.facts["passes"] == 5, result
