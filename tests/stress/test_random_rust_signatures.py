# SPDX-License-Identifier: Apache-2.0
"""Functions in Rust whose parameters and results are of random types: what djtap reads at entries, in the first line and at
exits is what the program prints; what cannot be known has no value.

A round is repeated by its seed:  DJTAP_STRESS_SEED=S pytest tests/stress/test_random_rust_signatures.py
"""
import os
import random
import shutil
import subprocess

import pytest

import workloads
from support import run, rust_signatures, signatures

pytestmark = [pytest.mark.stress, pytest.mark.timeout(3600)]

SEED = int(os.environ.get("DJTAP_STRESS_SEED") or (random.SystemRandom().randrange(2**32) if workloads.LONG else 20261130))  # it has all kinds that were wrong
ROUNDS, FUNCTIONS, CROWDED = (5, 60, 40) if workloads.LONG else (1, 40, 25)


# How much rustc optimizes, the share of arguments that it knows and of results that nothing uses, and which share of the values at
# least is read.
LEVELS = [("0", 0.0, 0.4), ("1", 0.0, 0.1), ("2", 0.0, 0.1), ("s", 0.0, 0.1), ("0", 0.5, 0.4), ("2", 0.5, 0.1), ("s", 0.5, 0.1)]
# Debian's rustc has an older LLVM.
COMPILERS = list(dict.fromkeys(path for path in (shutil.which("rustc"), os.environ.get("DJTAP_RUSTC"), "/usr/bin/rustc")
                               if path and os.access(path, os.X_OK)))


def is_built(folder, compiler, level):
    """What the programs take from std::hint was not stable yet in versions before 1.66."""
    words = [compiler, "-g", "-C", f"opt-level={level}", "signatures.rs", "-o", "program"]
    early = ["-Z", "crate-attr=feature(bench_black_box)"]
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1"}
    return any(subprocess.run([*words, *more], cwd=folder, env=environment, capture_output=True, check=False, timeout=300).returncode == 0
               for more in ([], early))


@pytest.mark.parametrize("level,constants,least", LEVELS)
@pytest.mark.parametrize("compiler", COMPILERS or ["rustc"])
def test_values_are_the_programs(tmp_path, compiler, level, constants, least):
    right = unread = 0
    for number in range(ROUNDS):
        seed = SEED + number
        text, script, names = rust_signatures.program(rust_signatures.Writer(random.Random(seed)), FUNCTIONS, CROWDED, "signatures.rs", constants)
        (tmp_path / "signatures.rs").write_text(text)
        (tmp_path / "script.djt").write_text(script)
        if not COMPILERS or not is_built(tmp_path, compiler, level):
            pytest.skip("there is no rustc that works")
        result = run.run([tmp_path / "script.djt", "-c", tmp_path / "program"])
        wrong, good, missing = signatures.compared(result.stdout, names)
        assert not wrong and "error" not in result.stderr, (level, seed, wrong[:5], result.stderr[:1000])
        right, unread = right + good, unread + len(missing)
    assert right >= least * (right + unread), (level, SEED, right, unread)
