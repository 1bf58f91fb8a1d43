# SPDX-License-Identifier: Apache-2.0
"""Programs and libraries without section headers (sstrip): what their segments and the dynamic section tell is enough."""
import re
import shutil
import struct
import subprocess

import pytest

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) long work(long a) { __asm__ volatile(""); return a * 3; }
__attribute__((noinline)) static long hidden(long a) { __asm__ volatile(""); return work(a) + 1; }
int main(void) {
  long s = 0;
  for (int i = 0; i < 25; i++) s += hidden(i);
  char* volatile p = malloc(100);
  free(p);
  printf("sum: %ld\n", s);
}
"""
LIBRARY = r"""
#include <stdlib.h>
__attribute__((noinline)) static long inner(long a) { __asm__ volatile(""); return a + 2; }
char* volatile taken;
long outer(long a) { taken = malloc(77); free(taken); return inner(a) * 5; }
"""
CALLER = '#include <stdio.h>\nlong outer(long);\nint main(void) { long s = 0; for (int i = 0; i < 9; i++) s += outer(i); printf("sum: %ld\\n", s); }\n'


def strip_sections(path):
    tool = shutil.which("llvm-objcopy-19") or shutil.which("llvm-objcopy")
    if tool is None:
        pytest.skip("llvm-objcopy is not here")
    subprocess.run([tool, "--strip-sections", path], check=True)
    assert "There are no sections in this file" in subprocess.run(["readelf", "-S", path], capture_output=True, text=True, check=True).stdout


def build(folder, source, *words, output="p"):
    (folder / f"{output}.c").write_text(source)
    subprocess.run(["gcc", "-O1", "-o", folder / output, folder / f"{output}.c", *words], check=True)
    return folder / output


def addresses(path):
    table = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    return {name: int(address, 16) for address, name in re.findall(r"^([0-9a-f]+) [tT] (\w+)$", table, re.M)}


@pytest.fixture(params=["pie", "no-pie", "hash=sysv", "noseparate", "now"])
def program(request, tmp_path):
    """A program without section headers, and what nm tells of it with them."""
    words = {"pie": ["-pie"], "no-pie": ["-no-pie"], "hash=sysv": ["-Wl,--hash-style=sysv"], "noseparate": ["-Wl,-z,noseparate-code"],
             "now": ["-Wl,-z,now", "-fcf-protection=none"]}
    path = build(tmp_path, SOURCE, "-rdynamic", *words[request.param])
    there = addresses(path)
    strip_sections(path)
    return path, there


def test_by_name_and_by_address(djtap, program):
    path, there = program
    hidden = f'func("{there["hidden"]:#x}")'
    script = f'probe func("work") {{ n++ }} probe {hidden} {{ m++ }} probe {hidden}.return {{ r++; s += register("rax") }}'
    result = djtap("-e", script, "-c", path)
    assert result.globals == {"n": 25, "m": 25, "r": 25, "s": result.facts["sum"]}, result


def test_stacks_go_through_it(djtap, program):
    path, _ = program
    result = djtap("-e", 'probe func("libc.so.6!malloc") { if (long_arg(1) == 100) print_ubacktrace() }', "-c", path)
    assert re.search(r": malloc\+.*\n.*: main\+.*\n.*: __libc_start_call_main\+.*\n(.*\n)?.*: _start\+", result.stdout), result


def test_its_stubs(djtap_once, program):
    path, _ = program
    result = djtap_once("-e", 'probe process.plt("malloc") { n++ } probe process.function("*") { all++ }', "-c", path)
    assert result.returncode == 0 and result.globals["n"] == 1 and result.globals["all"] >= 51, result


def test_a_library(djtap, tmp_path):
    library = build(tmp_path, LIBRARY, "-shared", "-fPIC", output="libl.so")
    path = build(tmp_path, CALLER, library)
    inner = addresses(library)["inner"]
    strip_sections(library)
    script = f'global b probe func("libl.so!outer") {{ n++ }} probe func("libl.so!{inner:#x}") {{ m++ }}' \
             'probe func("libl.so!outer").return { r += register("rax") }' \
             'probe func("libc.so.6!malloc") { if (long_arg(1) == 77 && !b++) print_ubacktrace() }'
    result = djtap("-e", script, "-c", path)
    assert result.globals == {"n": 9, "m": 9, "r": result.facts["sum"]}, result
    assert re.search(r": malloc\+.*\n.*: outer\+.*\n.*: main\+", result.stdout), result


def test_overwritten_headers(djtap_once, tmp_path):
    """Their number is there, what they say is not."""
    path = build(tmp_path, SOURCE, "-rdynamic")
    bytes_ = bytearray(path.read_bytes())
    at, size, count = struct.unpack_from("<Q", bytes_, 40)[0], *struct.unpack_from("<HH", bytes_, 58)
    bytes_[at:at + size * count] = bytes(size * count)
    path.write_bytes(bytes_)
    result = djtap_once("-e", 'probe func("work") { n++ }', "-c", path)
    assert result.globals == {"n": 25}, result


def test_its_debug_file_is_found(djtap_once, tmp_path):
    """By the build id that its notes have: stack and list name what only the debug file does."""
    path = build(tmp_path, SOURCE, "-g", "-Wl,--build-id")
    ident = re.search(r"Build ID: ([0-9a-f]+)", subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout).group(1)
    strip_sections(path)
    result = djtap_once("-e", 'probe process.function("*") { n++ }', "-f", "json", "-c", path)
    assert result.returncode == 0, result
    plan = djtap_once("--dump=plan", "--stop-after=resolve", "-e", 'probe process.function("*") { n++ }', "-c", path)
    assert ident in plan.stdout + plan.stderr, plan
