# SPDX-License-Identifier: Apache-2.0
"""Every function of real programs probed, in every form of the engine: results as without djtap."""
import re

import pytest

import workloads

pytestmark = [pytest.mark.stress, pytest.mark.timeout(2 * 3600 if workloads.LONG else 1800)]

FORMS = {"jump": ["--stress"], "guarded": ["--stress", "--guards=all"], "int3": ["--stress", "--no-optimize"],
         "returns": ["-e", 'probe func("*").return { n++ } probe end { printf("") }']}
# The start of node alone meets thirty million int3, which takes minutes.
SHORT = {("node", "int3"): ["--stress", "*Parser*", "--no-optimize"]}
SIZES = {"jump": "medium", "guarded": "medium", "int3": "small", "returns": "medium"}


def hits(form, stdout, stderr):
    found = re.search(r"^n=(\d+)$", stdout, re.M) if form == "returns" else re.search(r"^stress: (\d+) hits", stderr, re.M)
    return int(found.group(1)) if found else 0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", workloads.ALL)
def test_results_are_those_of_an_unprobed_run(name, form, tmp_path):
    if why := workloads.missing(name):
        pytest.skip(why)
    size = "large" if workloads.LONG and form != "int3" else "medium" if workloads.LONG else SIZES[form]
    workload = workloads.ALL[name](tmp_path, size)
    before = workload.plain()
    numbers = tmp_path / "numbers"
    options = FORMS[form] if workloads.LONG else SHORT.get((name, form), FORMS[form])
    after, stderr = workload.probed(*options, "-o", str(numbers))
    assert after == before, stderr
    assert hits(form, numbers.read_text() if numbers.exists() else "", stderr) > 1000, stderr
