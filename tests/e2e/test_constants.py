# SPDX-License-Identifier: Apache-2.0
"""Numbers that debug info itself has: constants of optimized code, names of enumerations; and parameters that are constants."""
import re
import shutil
import subprocess

import pytest

from support import paths
from support.paths import line_of

COMPILERS = ["gcc -O2", "gcc -O2 -gdwarf-4", "gcc -O3 -flto", "clang-14 -O2 -gdwarf-4", "clang-19 -O2"]


@pytest.fixture(params=COMPILERS)
def program(request, tmp_path):
    words = request.param.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {request.param} here")
    built = tmp_path / "constants"
    subprocess.run([*words, "-g", "-o", built, paths.TARGETS / "constants.c"], check=True)
    return built


def said(result):
    """By the probes."""
    return [line for line in result.stdout.splitlines() if not line.startswith("sum: ")]


def test_constants_have_no_sign_but_their_own(djtap_once, program):
    """Of gcc 200 stands in one byte, which is no -56."""
    line = line_of("constants.c", "constants")
    script = f'probe process.statement("show@constants.c:{line}") {{ println($byte, " ", $two, " ", $half, " ", $word, " ", $negative, " ", $$locals$) }}'
    wanted = "200 130 40000 2147483648 -3 byte=200 two=130 half=40000 word=2147483648 negative=-3"
    result = djtap_once("-e", script, "-c", program)
    assert said(result) == [wanted] * 3, result


def test_enumerations_by_names_of_any_size(djtap_once, program):
    result = djtap_once("-e", 'probe process.function("show") { println($mixed$, " ", $high$) }', "-c", program)
    assert said(result) == ["BYTE HIGH_BYTE", "SHORT HIGH_SHORT", "MINUS HIGH_WORD"], result


def test_a_parameter_that_the_compiler_has_taken_out(djtap_once, program):
    """At the entry it is where debug info says, or nowhere: never the register that it would have without the change."""
    result = djtap_once("-e", 'probe process.function("given") { println($always, " ", $other) }', "-c", program)
    if result.returncode == 0:
        assert said(result) == ["42 1", "42 2", "42 3"], result
    else:
        assert re.search(r"^error\[DJ3013\]: \$always cannot be read here: ", result.stderr, re.M), result
    line = line_of("constants.c", "given")
    inside = djtap_once("-e", f'probe process.statement("given@constants.c:{line}") ? {{ println($other) }}', "-c", program)
    assert inside.returncode != 0 or sorted(set(said(inside)) & {"1", "2", "3"}) == ["1", "2", "3"], inside
