"""What djtap prints for people: explanations of codes, results as text, JSON and CSV, dry runs, manual, completion."""
import re
import subprocess

import pytest

from support import paths

CODES = re.findall(r"DJ_CODE\((DJ\d{4})", (paths.ROOT / "compiler" / "codes.def").read_text())
EXAMPLES = re.findall(r"DJ_EXAMPLE\((DJ\d{4})", (paths.ROOT / "compiler" / "examples.def").read_text())


# --- --explain

def explanation(code):
    return subprocess.run([paths.DJTAP, "--explain", code], capture_output=True, text=True, check=False, timeout=20)


def test_every_code_is_explained():
    for code in CODES:
        result = explanation(code)
        assert result.returncode == 0 and result.stderr == "", code
        assert re.match(rf"{code}, an? (error|warning) found while .*\n\n\S.*\.\n", result.stdout), result.stdout


def test_a_code_may_be_written_shorter():
    assert explanation("2001").stdout == explanation("dj2001").stdout == explanation("DJ2001").stdout != ""


@pytest.mark.parametrize("code", EXAMPLES)
def test_examples_are_true(djtap_once, code):
    """The wrong script gives this code; the right one runs and gives no diagnostic at all."""
    wrong, right = re.search(r"^  wrong:  (.*)\n  right:  (.*)\n", explanation(code).stdout, re.M).groups()
    result = djtap_once("-e", wrong, "-c", str(paths.TINYFS))
    assert f"[{code}]" in result.stderr, result
    result = djtap_once("-e", right, "-c", str(paths.TINYFS))
    assert result.returncode == 0 and "[DJ" not in result.stderr, result


def test_twenty_codes_have_examples():
    assert len(set(EXAMPLES)) == len(EXAMPLES) >= 20 and set(EXAMPLES) <= set(CODES)


def test_an_unknown_code_names_the_near_ones():
    result = explanation("DJ2010")
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr == "djtap: there is no code DJ2010; near it are DJ2008, DJ2009, DJ2011\n"
    result = explanation("segfault")
    assert result.returncode == 1 and f"codes go from {CODES[0]} to {CODES[-1]}" in result.stderr
