# SPDX-License-Identifier: Apache-2.0
"""Functions whose parameters and results are of random types, in C and C++, by several compilers and conventions: what djtap
reads at entries and exits is what the program prints; what cannot be known has no value.

A round is repeated by its seed:  DJTAP_STRESS_SEED=S pytest tests/stress/test_random_signatures.py
"""
import os
import random
import shutil
import subprocess

import pytest

import workloads
from support import run, signatures

pytestmark = [pytest.mark.stress, pytest.mark.timeout(3600)]

SEED = int(os.environ.get("DJTAP_STRESS_SEED") or (random.SystemRandom().randrange(2**32) if workloads.LONG else 1))
ROUNDS, FUNCTIONS = (5, 60) if workloads.LONG else (1, 40)
WINDOWS = ("", "ms_abi")
# The compiler, its functions' conventions, and which share of the values at least is read; behind it, where local functions are called
# with constants, and of their results one part is used.
CHANGED = 0.5
COMPILERS = [("gcc -O0", ("",), 1), ("clang-19 -O0", ("",), 1), ("g++ -O0", ("",), 1), ("clang++-19 -O0", ("",), 1), ("gcc -O0", WINDOWS, 0.4),
             ("clang-19 -O0", WINDOWS, 0.4), ("gcc -O2", WINDOWS, 0.5), ("clang-19 -O2", WINDOWS, 0.4), ("g++ -O1", ("",), 0.6),
             ("clang++-19 -O2", ("",), 0.4), ("clang-14 -O2", ("",), 0.4)]


@pytest.mark.parametrize("compiler,conventions,least,constants", [(*row, 0.0) for row in COMPILERS] + [
    (compiler, ("",), 0.2, CHANGED) for compiler in ("gcc -O2", "clang-14 -O2", "clang-14 -O2 -gdwarf-3", "clang++-14 -Os", "clang-19 -O2")],
    ids=lambda value: str(value).replace(" ", ""))
def test_values_are_the_programs(tmp_path, compiler, conventions, least, constants):
    if not shutil.which(compiler.split()[0]):
        pytest.skip(f"{compiler.split()[0]} is not there")
    right = unread = 0
    for number in range(ROUNDS):
        seed = SEED + number
        writer = signatures.Writer(random.Random(seed), "++" in compiler, conventions)
        text, script, names = signatures.program(writer, FUNCTIONS, constants)
        source = tmp_path / f"signatures.{'cc' if writer.cxx else 'c'}"
        source.write_text(text)
        (tmp_path / "script.djt").write_text(script)
        subprocess.run([*compiler.split(), "-g", "-w", "-Wno-psabi", source, "-o", tmp_path / "program"], check=True, timeout=300)
        result = run.run([tmp_path / "script.djt", "-c", tmp_path / "program"])
        wrong, good, missing = signatures.compared(result.stdout, names)
        assert not wrong and "error" not in result.stderr, (compiler, seed, wrong[:5], result.stderr[:1000])
        right, unread = right + good, unread + len(missing)
    assert right >= least * (right + unread), (compiler, SEED, right, unread)
