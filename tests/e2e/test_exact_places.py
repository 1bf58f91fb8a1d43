# SPDX-License-Identifier: Apache-2.0
"""What djtap says, word for word, of places and types that only a program made for it has."""
import re
import shutil
import subprocess

import pytest

from support import run

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")

ODD = """#include <cstdio>
struct Hidden;
struct __attribute__((packed)) Crossing { unsigned char pad : 4; unsigned long wide : 64; };
extern "C" {
__attribute__((noinline)) long hidden(Hidden* h) { asm volatile("" ::"r"(h)); return 1; }
__attribute__((noinline)) long nothing(void* v) { asm volatile("" ::"r"(v)); return 2; }
__attribute__((noinline)) int show(int n) { printf("%d\\n", n); return n; }
int __pick_slow(int n) { return n + 1; }
int __pick_fast(int n) { return n; }
int (*choose())(int) { return __pick_fast; }
int pick(int) __attribute__((ifunc("choose")));
}
int main(int argc, char**) {
  return (show(argc) + hidden((Hidden*)&argc) + nothing(&argc) + pick(argc)) * 0;
}
"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    (folder / "odd.cpp").write_text(ODD)
    subprocess.run(["g++", "-g", "-O2", "-Wl,--no-as-needed", "-o", "odd", "odd.cpp"], cwd=folder, check=True)
    return folder


def section(path, name):
    """Address of a section's second 16 bytes: there is a stub, and no symbol, in .plt."""
    table = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    return int(re.search(rf"\] {re.escape(name)} +\w+ +([0-9a-f]+)", table).group(1), 16)


# Script, what is marked, code and message, the lines behind the mark.
SAID = {
    "declared only": ('probe func("hidden") { println($h->x) }', "->x", 'DJ3012]: struct Hidden has no member "x"',
                      ["  = struct Hidden is only declared here, its members are not known"]),
    "nothing": ('probe func("nothing") { println($v[0]) }', "$v", "DJ3014]: $v[0] is void", []),
    "implementations": ('probe func("pick") { n++ }', '"pick"',
                        'DJ3017]: "pick" is an IFUNC: its code is chosen when the program starts, and this finds none of it',
                        ["  = it may be one of: __pick_fast, __pick_slow", 'help: probe all of them: func("__pick_*")']),
    "no system calls": ('probe process.library("libm.so.6").syscall { n++ }', "syscall",
                        "DJ3018]: no system call instruction is in the objects that are meant",
                        ["help: they are in the C library: probe process.syscall, without a name"]),
}


@pytest.mark.parametrize("name", SAID)
def test_it_is_said(odd, name):
    script, marked, message, more = SAID[name]
    result = run.run(["-e", script, "-c", odd / "odd"])
    at = script.index(marked)
    assert result.stderr == "\n".join([f"error[{message}", f" --> <command line>:1:{at + 1}", "  |", f"1 | {script}", "  | " + " " * at + "^" * len(marked),
                              *more, ""]) and result.returncode == 3, result


LINES = """#include <stdio.h>
__attribute__((noinline)) int show(int n) { printf("%d\\n", n); return n; }
int main(int argc, char** argv) {
  (void)argv;
  show(argc * 3);
  show(7);
  return 0;
}
"""


def test_a_variable_of_some_lines(tmp_path):
    """argc is gone behind the first call. What is suggested probes the other places."""
    (tmp_path / "lines.c").write_text(LINES)
    subprocess.run(["gcc", "-g", "-O2", "-o", "lines", "lines.c"], cwd=tmp_path, check=True)
    script = 'probe func("main@lines.c:*") { println("argc ", $argc) }'
    result = run.run(["-e", script, "-c", tmp_path / "lines"])
    text = re.sub(r"\+0x\S*", "+…", re.sub(r"one of \d+ places", "one of N places", result.stderr))
    at = script.index("$argc")
    assert text == f"""error[DJ3013]: $argc cannot be read here: only its value at the function's entry is known, and that is gone here
 --> <command line>:1:{at + 1}
  |
1 | {script}
  | {" " * at}^^^^^
  = $argc has a location in main() at +…
  = in main() of lines, one of N places of this probe point
help: '?' behind the probe point leaves such places out; @defined(...) tests for a value
""", result
    result = run.run(["-e", script.replace(")", ")?", 1), "-c", tmp_path / "lines"])
    assert "argc 1\n" in result.stdout and result.returncode == 0 and result.stderr == "", result


def test_the_implementation_that_is_chosen(odd):
    assert run.run(["-e", 'probe func("__pick_*") { n++ }', "-c", odd / "odd"]).globals == {"n": 1}


def test_an_address_of_no_function(odd):
    address = section(odd / "odd", ".plt") + 16
    result = run.run(["-e", f"probe process.statement({address:#x}) {{ n++ }}", "-c", odd / "odd"])
    assert result.stderr.startswith(f"error[DJ3019]: {address:#x} is in no known function of odd\n") and result.returncode == 3, result


def test_many_places(odd):
    result = run.run(["--many=1", "-e", 'probe func("__pick_*") { n++ }', "-c", odd / "odd"])
    assert result.stderr == """warning[DJ3901]: this means 2 places
 --> <command line>:1:12
  |
1 | probe func("__pick_*") { n++ }
  |            ^^^^^^^^^^
help: name an object or a part of the name: func("libc.so.6!mem*"); -l lists what is meant, --many=0 is without this warning
""", result


def test_source_that_is_not_here(odd, tmp_path):
    """Its lines are numbers alone."""
    (tmp_path / "gone.cpp").write_text(ODD)
    subprocess.run(["g++", "-g", "-O2", "-o", "gone", "gone.cpp"], cwd=tmp_path, check=True)
    (tmp_path / "gone.cpp").unlink()
    result = run.run(["--source", "show", "-c", tmp_path / "gone"])
    line = ODD[:ODD.index("int show")].count("\n") + 1
    lines = result.stdout.splitlines()
    assert lines[:2] == [f"show@{tmp_path}/gone.cpp:{line}", "  (the source is not here)"] and lines[2].split() == ["*", str(line)], result


def test_more_functions_than_are_shown(tmp_path):
    functions = "".join(f"int many_{n}(int x) {{ return x + {n}; }}\n" for n in range(25))
    (tmp_path / "many.c").write_text(functions + "int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-g", "-o", "many", "many.c"], cwd=tmp_path, check=True)
    result = run.run(["--source", "many_*", "-c", tmp_path / "many"])
    assert result.stdout.endswith("\n\n.. more than 20 functions match\n") and len(re.findall(r"^many_\d+@", result.stdout, re.M)) == 20, result
