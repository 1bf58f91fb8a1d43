# SPDX-License-Identifier: Apache-2.0
"""Parts of functions that have symbols of type FUNC: no entries for wildcards, exits of their function, and probed with everything saved."""
import subprocess

import pytest

from support.paths import victim

FORMS = pytest.mark.parametrize("options", [[], ["--guards=all"], ["--no-optimize"]], ids=["jump", "guarded", "int3"])
PARTS = {"framed": "framed.warm", "frameless": "frameless.rest", "quiet": "quiet_rest"}


@pytest.fixture(scope="module", name="bare")
def _bare():
    return subprocess.run([victim("split")], capture_output=True, text=True, check=True).stdout


@FORMS
def test_wildcards_pass_parts_over(djtap_once, bare, options):
    script = 'probe process.function("*") { n[probefunc()]++ } probe process.function("*").return { r[probefunc()]++ }'
    result = djtap_once(*options, "-e", script, "-c", victim("split"))
    assert result.returncode == 0 and result.stdout.startswith(bare), result
    for name in "nr":
        counts = {key.strip('"'): int(count) for key, count in result.array(name)}
        assert {whole: counts.get(whole) for whole in PARTS} == dict.fromkeys(PARTS, result.facts["calls"]), result
        assert not set(counts) & set(PARTS.values()), result


@FORMS
@pytest.mark.parametrize("whole", PARTS)
def test_returns_of_the_function_are_those_of_its_part(djtap_once, bare, options, whole):
    result = djtap_once(*options, "-e", f'probe func("{whole}").return {{ n++; sum += $$return != "" }}', "-c", victim("split"))
    assert result.returncode == 0 and result.stdout.startswith(bare), result
    assert result.globals["n"] == result.facts["calls"], result


@FORMS
@pytest.mark.parametrize("part", PARTS.values())
def test_a_part_that_is_named_keeps_what_lives_there(djtap_once, bare, options, part):
    script = f'probe func("{part}") {{ n++; values[register("rax")]++; texts[sprintf("%d", register("rcx"))]++ }}'
    result = djtap_once(*options, "-e", script, "-c", victim("split"))
    assert result.returncode == 0 and result.stdout.startswith(bare), result
    assert result.globals["n"] == result.facts["calls"], result


def test_a_part_has_no_returns(djtap_once):
    result = djtap_once("-e", 'probe func("framed.warm").return { n++ }', "-c", victim("split"))
    assert result.returncode == 3 and "framed.warm: a part of another function" in result.stderr, result


@FORMS
def test_parts_without_a_name(djtap_once, bare, tmp_path, options):
    """Stripped, the parts are told by their CFA and by their jumps."""
    program = str(tmp_path / "split")
    subprocess.run(["strip", "-s", "-o", program, victim("split")], check=True)
    result = djtap_once(*options, "-e", 'probe process.function("0x*") { n[probefunc()]++ }', "-c", program)
    assert result.returncode == 0 and result.stdout.startswith(bare), result
    assert [count for _, count in result.array("n")].count(str(result.facts["calls"])) == len(PARTS), result
    assert "SKIPPED: a part of another function" in result.stderr, result
