# SPDX-License-Identifier: Apache-2.0
"""Several versions of one exported name: the bare name means all of them, f@V1 and f@@V2 one each."""
import re
import subprocess

import pytest

SOURCE = r"""
int f_old(int a) { __asm__ volatile(""); return a + 1; }
int f_new(int a) { __asm__ volatile(""); return a + 2; }
int alone(int a) { __asm__ volatile(""); return a + 3; }
__asm__(".symver f_old,calc@V1");
__asm__(".symver f_new,calc@@V2");
"""
MAP = "V1 { global: calc; local: *; };\nV2 { global: calc; alone; } V1;\n"
CALLER = r"""
#include <stdio.h>
int calc_old(int), calc(int), alone(int);
__asm__(".symver calc_old,calc@V1");
int main(void) {
  int s = 0;
  for (int i = 0; i < 3; i++) s += calc_old(i);
  for (int i = 0; i < 10; i++) s += calc(i);
  for (int i = 0; i < 4; i++) s += alone(i);
  printf("sum: %d\n", s);
}
"""


@pytest.fixture(params=["whole", "stripped", "debug info", "no section headers"])
def program(request, tmp_path):
    for name, text in (("l.c", SOURCE), ("map", MAP), ("p.c", CALLER)):
        (tmp_path / name).write_text(text)
    debug = ["-g"] if request.param == "debug info" else []
    subprocess.run(["gcc", "-O2", *debug, "-shared", "-fPIC", "l.c", "-Wl,--version-script=map", "-o", "libv.so"], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "-O2", "p.c", tmp_path / "libv.so", "-o", "p"], cwd=tmp_path, check=True)
    if request.param == "stripped":
        subprocess.run(["strip", tmp_path / "libv.so"], check=True)
    if request.param == "no section headers":
        subprocess.run(["llvm-objcopy-19", "--strip-sections", tmp_path / "libv.so"], check=True)
    return tmp_path / "p"


def test_all_and_each(djtap, program):
    points = {"all": "calc", "old": "calc@V1", "new": "calc@@V2", "newer": "calc@V2", "one": "alone", "same": "alone@@V2", "wild": "*@V1"}
    script = "".join(f'probe func("libv.so!{name}") {{ {counter}++ }} ' for counter, name in points.items())
    result = djtap("-e", script, "-c", program)
    assert result.returncode == 0, result
    assert {name: result.globals[name] for name in points} == {"all": 13, "old": 3, "new": 10, "newer": 10, "one": 4, "same": 4, "wild": 3}, result


def test_listed_names_can_be_given_back(djtap_once, program):
    listed = djtap_once("-l", 'func("libv.so!calc")', "-c", program).stdout.splitlines()
    assert sorted(re.search(r'function\("(.*)"\)$', line).group(1) for line in listed) == ["calc@@V2", "calc@V1"], listed
    counts = [djtap_once("-e", f"probe {line} {{ n++ }}", "-c", program).globals["n"] for line in sorted(listed)]
    assert counts == [10, 3], listed
    alone = djtap_once("-l", 'func("libv.so!alone")', "-c", program).stdout
    assert "@V2" not in alone and "@@" not in alone, alone


@pytest.mark.parametrize("version", ["@@V1", "@@V9"])
def test_no_such_version(djtap_once, program, version):
    """V1 is no default version."""
    result = djtap_once("-e", f'probe func("libv.so!calc{version}") {{ n++ }}', "-c", program)
    assert result.returncode != 0 and "DJ3004" in result.stderr and "calc@V1" in result.stderr and "calc@@V2" in result.stderr, result


def test_a_library_of_the_system(djtap_once):
    """glibc has two versions of pthread_cond_signal and one of malloc."""
    libc = "func(\"libc.so.6!{}\")"
    both = djtap_once("-l", libc.format("pthread_cond_signal"), "-c", "/bin/true").stdout
    assert both.count("pthread_cond_signal@@GLIBC_2.3.2") == 1 and both.count("pthread_cond_signal@GLIBC_2.2.5") == 1, both
    one = djtap_once("-e", "probe " + libc.format("malloc@@GLIBC_2.2.5") + " { n++ } probe " + libc.format("malloc") + " { m++ }", "-c", "/bin/ls")
    assert one.globals["n"] == one.globals["m"] > 0, one
