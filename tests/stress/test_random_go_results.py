# SPDX-License-Identifier: Apache-2.0
"""Results of random Go functions, in registers and on the stack, are what the program prints.

A round is repeated by its seed:  DJTAP_STRESS_SEED=S pytest tests/stress/test_random_go_results.py
"""
import os
import random
import subprocess

import pytest

import workloads
from support import go_results, golang, run

pytestmark = [pytest.mark.stress, pytest.mark.timeout(3600)]

SEED = int(os.environ.get("DJTAP_STRESS_SEED") or (random.SystemRandom().randrange(2**32) if workloads.LONG else 1))
ROUNDS, FUNCTIONS = (10, 60) if workloads.LONG else (1, 60)


@pytest.mark.parametrize("flags", [[], [golang.PLAIN]], ids=["optimized", "plain"])
def test_random_results(tmp_path, flags):
    source, built, shown = tmp_path / "results.go", tmp_path / "results", tmp_path / "shown"
    for seed in range(SEED, SEED + ROUNDS):
        text, script = go_results.program(random.Random(seed), FUNCTIONS)
        source.write_text(text)
        (tmp_path / "script.djt").write_text(script)
        golang.build(source, built, *flags, cache=tmp_path / "cache")
        result = run.run(["-o", shown, tmp_path / "script.djt", "-c", built])
        bare = subprocess.run([built], capture_output=True, text=True, check=True).stdout
        assert result.stdout == bare and bare.count("\n") == FUNCTIONS, (seed, result)
        assert sorted(shown.read_text().splitlines()) == sorted(bare.splitlines()), (seed, result.stderr[:1000])
