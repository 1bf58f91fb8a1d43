# SPDX-License-Identifier: Apache-2.0
"""Copies of functions that gcc makes for some callers: found by the function's name; what a copy has lost is said to be optimized out."""
import re
import subprocess

import pytest

from support.paths import victim


@pytest.fixture(scope="module", autouse=True)
def symbols():
    """The copies' names; this compiler may make none."""
    names = re.findall(r" t ((?:sum|power)\.\S+)$", subprocess.run(["nm", victim("clones")], capture_output=True, text=True, check=True).stdout, re.M)
    if len(names) != 2 or "isra" not in " ".join(names):
        pytest.skip("the compiler made no such copies")
    return {name.split(".")[0]: name for name in names}


def test_the_functions_name_means_its_copies(djtap):
    result = djtap("-e", 'probe func("sum"), func("power") { n[probefunc()]++ } probe func("sum").return { back++ }', "-c", victim("clones"))
    assert sorted(result.array("n")) == [('"power"', "10"), ('"sum"', "10")] and result.globals == {"back": 10}, result


def test_by_the_linkers_name(djtap_once, symbols):
    result = djtap_once("-e", f'probe func("{symbols["sum"]}"), func("*.constprop*") {{ n++ }}', "-c", victim("clones"))
    assert result.globals["n"] in (10, 20), result


def test_what_is_left_of_the_parameters(djtap):
    """In the order of the source; a parameter that is a constant in the copy has its value."""
    result = djtap("-e", 'probe func("sum") { if (n++ == 4) println($$parms$, " scale ", $scale) } '
                         'probe func("power") { if (m++ == 4) println($$parms$) } global n, m', "-c", victim("clones"))
    assert re.search(r"^p=\S+ unused=\S+ scale=4 scale 4$", result.stdout, re.M), result
    assert re.search(r"^base=4 exponent=3$", result.stdout, re.M), result


def test_what_is_gone_is_said_to_be(djtap_once, symbols):
    result = djtap_once("-e", 'probe func("sum") { println($p->x) }', "-c", victim("clones"))
    assert "error[DJ3013]: $p cannot be read here: it was optimized out of this copy of the function" in result.stderr, result
    assert f"{symbols['sum']} is a copy of sum() that the compiler made for some callers" in result.stderr, result
    assert "-fno-ipa-sra" in result.stderr and "has a location" not in result.stderr, result
    assert "no probe" not in djtap_once("-e", 'probe func("sum") { n += @defined($p) ? 1 : 2 }', "-c", victim("clones")).stderr
