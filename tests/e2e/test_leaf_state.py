# SPDX-License-Identifier: Apache-2.0
"""Instructions probed in the middle of functions: red zone, flags, wide vectors and calls that throw are as without probes."""
import subprocess

import pytest

from support import process
from support.paths import victim

LIGHT, HEAVY = "{ n++ }", '{ n++; k++; m[k % 7] <<< k; if (k % 500 == 0) println(sprintf("%d of %s", k, execname())) }'


@pytest.mark.parametrize("body", [LIGHT, HEAVY], ids=["light", "heavy"])
@pytest.mark.parametrize("function", ["red_zone", "flags", "wide"])
def test_all_instructions_at_once(djtap, function, body):
    points = ", ".join(f"process.statement({place})" for place, _ in process.instructions(victim("leaf_state"), function, fillers=False))
    result = djtap("-e", f"probe {points} {body}", "-c", victim("leaf_state"))
    truth = result.facts
    assert result.returncode == 0 and [truth[f"wrong {what}"] for what in ("red zone", "flags", "vectors")] == [0, 0, 0], result
    if function != "wide" or truth["vectors"]:
        assert result.globals["n"] >= 2000 * 4, result


@pytest.mark.parametrize("function", ["flags", "wide"])
def test_each_instruction_alone(djtap, function):
    for place, _ in process.instructions(victim("leaf_state"), function, fillers=False):
        result = djtap("-e", f"probe process.statement({place}) {LIGHT}", "-c", victim("leaf_state"))
        truth = result.facts
        assert result.returncode == 0 and truth["wrong flags"] == truth["wrong vectors"] == 0, result
        assert result.globals["n"] == (2000 if function == "flags" or truth["vectors"] else 0), result


@pytest.mark.parametrize("function", ["leaf", "middle", "outer"])
def test_a_probed_call_whose_callee_throws(djtap, function):
    """The return address that the unwinder looks up is that of the original call."""
    bare = subprocess.run([victim("exceptions")], capture_output=True, text=True, check=True).stdout
    points = ", ".join(f"process.statement({place})" for place, _ in process.instructions(victim("exceptions"), function, fillers=False))
    result = djtap("-e", f"probe {points} {LIGHT}", "-c", victim("exceptions"))
    assert result.returncode == 0 and result.stdout.startswith(bare) and result.globals["n"] > 600, result
