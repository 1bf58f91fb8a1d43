# SPDX-License-Identifier: Apache-2.0
"""Source lines and inlined functions in stacks, against gdb's backtrace and addr2line."""
import re
import subprocess

import pytest

PROGRAM = """#include <stdio.h>
int sink;
__attribute__((noinline, noipa)) int leaf(int n) { sink += n; return n; }
static inline __attribute__((always_inline)) int inner(int n) {
  int m = leaf(n + 1);
  return m * 2;
}
static inline __attribute__((always_inline)) int middle(int n) {
  if (n > 1)
    n += inner(n);
  return n;
}
__attribute__((noinline, noipa)) int outer(int n) {
  sink++;
  return middle(n) + 1;
}
__attribute__((noinline, noipa)) int first(int n) { return middle(n); }
int main(void) {
  printf("%d\\n", outer(2) + first(3));
  return 0;
}
"""
FRAME = re.compile(r"^ 0x([0-9a-f]+) : ([\w:]+)(?:\+0x[0-9a-f]+/0x[0-9a-f]+)?(?: at (\S+):(\d+))?( \(inlined\))? \[.*\]$")


@pytest.fixture(scope="module", params=["-O2 -gdwarf-4", "-O2 -gdwarf-5", "-O0 -g", "-O1 -g -fno-omit-frame-pointer"])
def program(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lines")
    (folder / "t.c").write_text(PROGRAM)
    subprocess.run(["gcc", *request.param.split(), "-o", folder / "t", folder / "t.c"], check=True)
    return folder / "t"


def frames(text):
    """(name, line or None, inlined) of each frame, up to main."""
    found = [FRAME.match(line) for line in text.splitlines() if line.startswith(" 0x")]
    rows = [(match[2], int(match[4]) if match[4] else None, bool(match[5])) for match in found if match]
    names = [row[0] for row in rows]
    return rows[:names.index("main") + 1]


def gdb_frames(program, function):
    """(name, line) of each frame, inlined ones too, as gdb has them."""
    words = ["gdb", "-nx", "-batch", "-ex", f"break *{function}", "-ex", "run", "-ex", "bt", str(program)]
    text = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False).stdout
    rows = re.findall(r"^#\d+\s+(?:0x[0-9a-f]+ in )?(\w+) \(.*\) at \S*?t\.c:(\d+)$", text, re.M)
    assert rows, text
    return [(name, int(line)) for name, line in rows]


def test_frames_are_those_of_gdb(djtap_once, program):
    for function in ("leaf", "outer"):
        result = djtap_once("-e", f'probe func("{function}") {{ if (!n++) print_ubacktrace_fileline() }} global n', "-c", str(program))
        ours = frames(result.stdout)
        truth = gdb_frames(program, function)
        # Where a function is entered, gdb and we stand on its first line; an entry probe stands behind endbr64, on the same.
        assert [(name, line) for name, line, _ in ours] == truth, (result, truth)
        inlined = {name for name, _, is_inlined in ours if is_inlined}
        assert inlined == ({"inner", "middle"} if function == "leaf" else set()), result


def test_the_plain_listing_names_inlined_frames_too(djtap_once, program):
    script = ('global once probe func("leaf") { if (!once++) print_ubacktrace() stacks[ubacktrace()]++ } '
              'probe end { println("--") foreach (s in stacks) print_usyms(s) }')
    result = djtap_once("-e", script, "-c", str(program))
    now, later = result.stdout.split("--\n")
    rows = frames(now)
    assert [name for name, _, _ in rows] == ["leaf", "inner", "middle", "outer", "main"], result
    assert frames(later) == rows, "named when the target is gone"


def test_lines_of_addresses(djtap_once, program):
    script = ('probe func("leaf") { a = ustack(1) - 1 printf("%x %s %s %s\\n", a, usymfile(a), usymline(a), usymfileline(a)) '
              'printf("%s|%s|%s|%s|%s|%s\\n", usymfileline(16), usymfile(16), usymline(16), symfileline(a), symfile(a), symline(a)) exit() }')
    result = djtap_once("-e", script, "-c", str(program))
    address, file, line, both = re.search(r"^(\w+) (\S+) (\d+) (\S+)$", result.stdout, re.M).groups()
    words = ["addr2line", "-e", str(program), hex(int(address, 16) & 0xfff | 0x1000)]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert (file, line) == tuple(text.strip().split(" ")[0].rsplit(":", 1)) and both == f"{file}:{line}", (text, result)
    assert f"0x10|0x10|0x10|{both}|{file}|{line}\n" in result.stdout, result


def test_without_debug_info_there_are_no_lines(djtap_once, program):
    stripped = program.parent / "stripped"
    subprocess.run(["objcopy", "--strip-debug", program, stripped], check=True)
    script = 'probe func("leaf") { print_ubacktrace_fileline() print_backtrace_fileline() println(sprint_ubacktrace_fileline()) exit() }'
    result = djtap_once("-e", script, "-c", str(stripped))
    rows = frames(result.stdout)
    assert [row[:2] for row in rows] == [("leaf", None), ("outer", None), ("main", None)], result


def test_folded_stacks_have_inlined_functions(djtap_once, program):
    result = djtap_once("-f", "plugin:flame", "-e", 'probe func("leaf") { n[sprint_usyms(ubacktrace())]++ }', "-c", str(program))
    stacks = dict(line.rsplit(" ", 1) for line in result.stdout.splitlines() if ";" in line)
    tails = {";".join(stack.split(";")[stack.split(";").index("main"):]): count for stack, count in stacks.items()}
    assert tails == {"main;outer;middle;inner;leaf": "1", "main;first;middle;inner;leaf": "1"}, result
