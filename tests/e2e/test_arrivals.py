# SPDX-License-Identifier: Apache-2.0
"""Control that arrives inside the patched bytes, by each way that a program has: results and counts as without probes."""
import subprocess

import pytest

from support import process
from support.paths import victim

SHORT = ["short_ret", "short_zero", "short_same", "short_loop", "short_padded", "short_step", "short_push", "short_over"]
FORMS = pytest.mark.parametrize("options", [[], ["--guards=all"], ["--guards=none"]], ids=["", "all", "none"])


@FORMS
def test_loops_and_neighbours(djtap, options):
    """Branches back into the probed function's first bytes; functions of one byte with their callers' next one behind."""
    points = ", ".join(f'func("{name}")' for name in SHORT)
    result = djtap(*options, "-e", f"probe {points} {{ n[probefunc()]++ }}", "-c", victim("short"))
    counts = {name.strip('"'): int(count) for name, count in result.array("n")}
    assert result.returncode == 0 and counts == {name: result.facts[name] for name in SHORT}, result


@FORMS
@pytest.mark.parametrize("name", ["switches", "switches_fixed"])
def test_jump_tables(djtap, name, options):
    """All instructions at once, so that each case's label lies in some jump's bytes, and the first of them alone."""
    bare = subprocess.run([victim(name)], capture_output=True, text=True, check=True).stdout
    points = ", ".join(f"process.statement({place})" for place, _ in process.instructions(victim(name), "pick", fillers=False))
    result = djtap(*options, "-e", f'probe {points} {{ n++ }} probe func("pick").return {{ r++ }}', "-c", victim(name))
    assert result.returncode == 0 and result.stdout.startswith(bare) and result.globals["r"] == result.facts["calls"], result
    assert result.globals["n"] > result.facts["calls"] * 256 * 3, result


def test_jump_tables_each_instruction_alone(djtap_once):
    bare = subprocess.run([victim("switches")], capture_output=True, text=True, check=True).stdout
    for place, _ in process.instructions(victim("switches"), "pick", fillers=False):
        result = djtap_once("-e", f"probe process.statement({place}) {{ n++ }}", "-c", victim("switches"))
        assert result.returncode == 0 and result.stdout.startswith(bare) and "n" in result.globals, result
