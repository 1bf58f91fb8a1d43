# SPDX-License-Identifier: Apache-2.0
"""Programs in Fortran: procedures of modules, arguments by address, bounds, strings; compared with what the source says."""
import shutil
import subprocess

import pytest

from support import paths
from support.paths import line_of

SOURCE = paths.ROOT / "tests" / "targets" / "shapes.f90"


@pytest.fixture(scope="module", params=["0", "2"])
def program(request, tmp_path_factory):
    """At both levels of optimization."""
    folder = tmp_path_factory.mktemp("fortran")
    words = ["gfortran", "-g", f"-O{request.param}", "-fno-inline", "-fno-ipa-cp", "-fno-ipa-sra", SOURCE, "-o", folder / f"shapes{request.param}"]
    if shutil.which("gfortran") is None or subprocess.run(words, capture_output=True, check=False, cwd=folder).returncode != 0:
        pytest.skip("there is no gfortran that works")
    return folder / f"shapes{request.param}"


def lines(djtap_once, program, point, expressions):
    """What the expressions print at the second hit."""
    body = " ".join(f'println("<", {each}, ">")' for each in expressions)
    result = djtap_once("-e", f"global hits probe {point} {{ if (hits++ == 1) {{ {body} }} }}", "-c", program)
    assert result.returncode == 0 and "ERROR" not in result.stderr, result
    return dict(zip(expressions, [line[1:-1] for line in result.stdout.splitlines() if line.startswith("<")]))


@pytest.mark.parametrize("name", ["shapes::move", "move", "mo?e", "__shapes_MOD_move"])
def test_procedures_by_their_names(djtap_once, program, name):
    script = f'probe process.function("{name}") {{ n[probefunc()]++ }} probe process.function("twice").return {{ println($return) }}'
    result = djtap_once("-e", script, "-c", program)
    assert result.array("n") == [('"shapes::move"', "3")] and "42\n" in result.stdout, result


# At the second call: i = 2. p%x = 1 + the first call's sum (100 + 1) + 1 + 5.
ARGUMENTS = {"$n": "5", "$p->x": "108", "$p->y": "2.5", "$p->name$": '"fives"', "$a[1]": "10", "$a[3]": "30", "$m[2][-1]": "1", "$m[3][0]": "4",
             "$m[2][1]": "5", "$b[1]": "0.5", "$b[3]": "2.5", "$b[$n-3]": "1.5", "$a[$n]": "50", "$word$": '"hello"', "$flag": "1", '@var("counter")': "8"}


def test_arguments_elements_and_strings(djtap_once, program):
    """What gfortran -O2 says of n and b is wrong; gdb believes it, too."""
    sound = program.name == "shapes0"
    truth = {each: value for each, value in ARGUMENTS.items() if sound or not ("$n" in each or "$b" in each)}
    assert lines(djtap_once, program, 'process.function("move")', truth) == truth


def test_components_that_a_type_inherits(djtap_once, program):
    """At the second call; as the language has them, and by the parent's name."""
    truth = {"$from->x": "6", "$from->y": "1.5", "$from->name$": '"tower"', "$from->floor": "13", "$from->point->x": "6"}
    assert lines(djtap_once, program, 'process.function("climb")', truth) == truth


def test_bounds_in_texts(djtap_once, program):
    said = lines(djtap_once, program, 'process.function("move")', ["$m$", "$m$$"])
    assert said["$m$$"] == "[[1, 3, 5], [2, 4, 6]]", said


# At the second call: 11 + 6 + 2 + 10. v is (1, 2), (3, 4), (5, 6) by columns; w is every second element of a.
RUN_TIME_BOUNDS = {"$v[2][3]": "6", "$v[1][2]": "3", "$w$": "[10, 30, 50]", "$w[2]": "30", '@var("grid")$$': "[[1, 3, 5], [2, 4, 6]]",
                   '@var("grid")[2][3]': "6", '@var("none")$': "[]"}
OF_THE_PROGRAM = {"$load": "29", "$parts[2]": "2", "$parts$": "[1, 2, 3]", "$label$": '"common"', '@var("answer")': "42",
                  '@var("shapes::counter")': "10"}


def test_common_blocks_constants_and_bounds_of_the_run(djtap_once, program):
    """Arrays whose bounds and strides are arguments' or a descriptor's; what gfortran -O2 says of v and w is wrong, as above."""
    sound = program.name == "shapes0"
    truth = OF_THE_PROGRAM | {each: value for each, value in RUN_TIME_BOUNDS.items() if sound or "@" in each}
    assert lines(djtap_once, program, f'process.function("weigh@shapes.f90:{line_of("shapes.f90", "weigh")}")', truth) == truth
