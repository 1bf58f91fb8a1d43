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


# How much rustc optimizes, and which share of the values at least is read.
@pytest.mark.parametrize("level,least", [("0", 0.5), ("1", 0.1), ("2", 0.1), ("s", 0.1)])
def test_values_are_the_programs(tmp_path, level, least):
    if not shutil.which("rustc"):
        pytest.skip("rustc is not there")
    right = unread = 0
    for number in range(ROUNDS):
        seed = SEED + number
        text, script, names = rust_signatures.program(rust_signatures.Writer(random.Random(seed)), FUNCTIONS, CROWDED, "signatures.rs")
        (tmp_path / "signatures.rs").write_text(text)
        (tmp_path / "script.djt").write_text(script)
        words = ["rustc", "-g", "-C", f"opt-level={level}", "signatures.rs", "-o", "program"]
        if subprocess.run(words, cwd=tmp_path, capture_output=True, check=False, timeout=300).returncode != 0:
            pytest.skip("there is no rustc that works")
        result = run.run([tmp_path / "script.djt", "-c", tmp_path / "program"])
        wrong, good, missing = signatures.compared(result.stdout, names)
        assert not wrong and "error" not in result.stderr, (level, seed, wrong[:5], result.stderr[:1000])
        right, unread = right + good, unread + len(missing)
    assert right >= least * (right + unread), (level, SEED, right, unread)
