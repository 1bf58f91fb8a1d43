# SPDX-License-Identifier: Apache-2.0
"""AVX-512 state is the program's: 64-byte values and masks live across hits of every form of probe."""
import subprocess

import pytest

from support import process
from support.paths import victim

FORMS = {"jump": [], "called": ["--no-thread-rows"], "guarded": ["--guards=all"], "int3": ["--no-optimize"]}
BODIES = {"count": "n++", "double": "half += 0.5; n++", "text": 'text = sprintf("%d %s", n, ppfunc()); n++'}


@pytest.fixture(scope="module")
def unprobed():
    text = subprocess.run([victim("masked")], capture_output=True, text=True, check=True).stdout
    if "no AVX-512" in text:
        pytest.skip("the processor has no AVX-512")
    return text


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("body", BODIES)
def test_it_lives_across_a_probe_at_every_instruction(djtap, unprobed, form, body):
    points = ", ".join(f"process.statement({place})" for place, _ in process.instructions(victim("masked"), "mix"))
    globals_ = 'global n, half = 0.0, text = ""'
    result = djtap(*FORMS[form], "-e", f"{globals_} probe {points} {{ {BODIES[body]} }}", "-c", victim("masked"))
    assert result.stdout.startswith(unprobed), result


@pytest.mark.parametrize("form", FORMS)
def test_hits_are_what_the_program_counts(djtap, unprobed, form):
    """At the entry and at the loop's comparison into a mask register, which is an EVEX instruction."""
    (entry, _), *rest = process.instructions(victim("masked"), "mix")
    compare = next(place for place, name in rest if name.startswith("vpcmp"))
    script = f"global entered, compared probe process.statement({entry}) {{ entered++ }} " \
             f"probe process.statement({compare}) {{ compared++ }}"
    result = djtap(*FORMS[form], "-e", script, "-c", victim("masked"))
    assert result.stdout.startswith(unprobed), result
    assert result.globals == {"entered": result.facts["calls"], "compared": result.facts["turns"]}, result
