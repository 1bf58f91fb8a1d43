# SPDX-License-Identifier: Apache-2.0
"""Programs of musl, whose C library has no .eh_frame: much of its code, system calls too, lies outside of what the file calls a
function. SIGTRAP can be had there all the same."""
import shutil
import subprocess

import pytest

from support import paths

PROBES = 'probe func("work") { n++ } probe func("work").return { r++ }'


def built(folder, name, *words):
    program = folder / name
    sources = paths.ROOT / "tests" / "targets"
    line = ["musl-gcc", "-O1", "-g", f"-I{sources}", "-o", program, *words, sources / "masks.c"]
    if shutil.which("musl-gcc") is None or subprocess.run(line, check=False).returncode != 0:
        pytest.skip("there is no musl-gcc that works")
    return program


@pytest.fixture(scope="module", params=["dynamic", "static", "own loader", "glibc"])
def musl_program(request, tmp_path_factory):
    """By musl's library, within it, by a copy of it that is stripped as Alpine's, and the same program of glibc."""
    if request.param == "glibc":
        return paths.victim("masks")
    folder = tmp_path_factory.mktemp("musl")
    if request.param == "static":
        return built(folder, "static", "-static")
    if request.param == "dynamic":
        return built(folder, "dynamic")
    own = folder / "ld-musl.so"
    made = built(folder, "own", f"-Wl,--dynamic-linker={own}")
    shutil.copy("/lib/ld-musl-x86_64.so.1", own)
    subprocess.run(["strip", "-s", own], check=True)
    return made


def test_counts_where_masks_are_set(djtap, musl_program):
    result = djtap("-e", PROBES, "--", musl_program)
    facts = result.facts
    assert result.returncode == 0 and "DJ4901" not in result.stderr, result
    assert facts == {"calls": facts["calls"], "handled": 1, "cancelled": 1, "child": 3}, result
    assert result.globals == {"n": facts["calls"], "r": facts["calls"]}, result


def test_every_function_of_the_library(djtap, musl_program):
    """Of those that are called at all each is counted, and the program does what it does alone."""
    result = djtap("-e", 'probe func("*!*") { all++ } probe func("work") { n++ }', "--", musl_program)
    assert result.returncode == 0 and result.facts["cancelled"] == 1 and result.facts["child"] == 3, result
    assert result.globals["n"] == result.facts["calls"] and result.globals["all"] > result.facts["calls"], result


def test_prints_with_values(djtap, musl_program):
    result = djtap("-e", 'probe func("work").return { printf("%d %s\\n", tid() != 0, ppfunc()) }', "--", musl_program)
    assert result.stdout.splitlines().count("1 work") == result.facts["calls"], result
