# SPDX-License-Identifier: Apache-2.0
"""Lexer and parser under libFuzzer, with every script of the project to begin with."""
import os
import re
import subprocess

import pytest

from support import paths

FUZZER = paths.BUILD / "fuzz" / "parser_fuzzer"
RUNS, SECONDS = os.environ.get("DJTAP_FUZZ_RUNS", "4000"), os.environ.get("DJTAP_FUZZ_SECONDS", "40")


@pytest.mark.skipif(not FUZZER.exists(), reason="clang has no libFuzzer (Debian: libclang-rt-19-dev)")
@pytest.mark.timeout(int(SECONDS) + 300)
def test_inputs_that_libfuzzer_finds(tmp_path):
    """Ends after DJTAP_FUZZ_RUNS or DJTAP_FUZZ_SECONDS. An input that breaks something is left in the folder that the failure names."""
    seeds, found = tmp_path / "seeds", tmp_path / "found"
    seeds.mkdir(), found.mkdir()
    for folder in ("tests/golden", "examples", "tapsets"):
        for script in (paths.ROOT / folder).rglob("*.djt"):
            (seeds / str(script.relative_to(paths.ROOT)).replace("/", "_")).write_bytes(script.read_bytes())
    assert len(list(seeds.iterdir())) > 100
    command = [FUZZER, f"-runs={RUNS}", f"-max_total_time={SECONDS}", f"-seed={os.environ.get('DJTAP_STRESS_SEED', 1)}", "-max_len=2000", "-timeout=100",
               f"-artifact_prefix={tmp_path}/", found, seeds]
    # libantlr is not compiled by ASan: its containers have no marks; and its tables live until the end.
    result = subprocess.run(command, capture_output=True, text=True, errors="replace",
                            env={**os.environ, "ASAN_OPTIONS": "detect_container_overflow=0:detect_leaks=0"})
    assert result.returncode == 0, (tmp_path, result.stderr[-5000:])
    done = int(re.search(r"^Done (\d+) runs", result.stderr, re.M).group(1))
    print(f"{done} inputs, last: {result.stderr.splitlines()[-3:]}")
    assert done > len(list(seeds.iterdir()))
