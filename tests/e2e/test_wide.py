# SPDX-License-Identifier: Apache-2.0
"""__int128, complex numbers and long double: their texts are what gdb writes; as numbers they are refused with words."""
import re
import shutil
import subprocess

import pytest

from support.paths import line_of, victim

MEMBERS = {"low": "-1", "high": str(2**70 + 7), "most": str(2**128 - 1), "both": "1 + -2i", "single": "3.5 + 4i", "extended": "1.25"}


def says(djtap, point, expression):
    result = djtap("-e", f'probe func("{point}") {{ println("<", {expression}, ">") }}', "-c", victim("wide"))
    found = re.search(r"<(.*)>", result.stdout)
    return found.group(1) if found else result.stderr


def test_members(djtap_once):
    text = "{" + ", ".join(f".{name}={value}" for name, value in MEMBERS.items()) + "}"
    assert says(djtap_once, "show", "$p$") == text
    assert says(djtap_once, "show", '@var("global_wide")$') == str(2**100 + 5)
    assert says(djtap_once, "show", "$given$") == "7.5" and says(djtap_once, "show", "$p->extended + $given") == "8.75"


@pytest.mark.skipif(shutil.which("gdb") is None, reason="there is no gdb")
def test_gdb_agrees(djtap_once):
    said = subprocess.run(["gdb", "-q", "-batch", "-nx", "-ex", "break show", "-ex", "run", "-ex", "print *p", victim("wide")],
                          capture_output=True, text=True, timeout=300, check=False).stdout
    ours = says(djtap_once, "show", "$p$").replace("=", " = ").replace(".low", "low").replace(", .", ", ")
    assert f"$1 = {ours}" in said, said


@pytest.mark.parametrize("function, value", [("negative", str(-2**90)), ("pair", "2 + 2i"), ("small_pair", "3 + -2i")])
def test_results(djtap_once, function, value):
    result = djtap_once("-e", f'probe func("{function}").return {{ println($return$, "; ", $$return) }}', "-c", victim("wide"))
    assert f"{value}; return={value}\n" in result.stdout, result


@pytest.mark.parametrize("expression, words", [
    ("$p->high", "$p->high is __int128, and a number in a script has 64 bits"),
    ("$p->most + 1", "is __int128 unsigned, and a number in a script has 64 bits"),
    ("$p->both", "and a number in a script has 64 bits"),
])
def test_as_numbers(djtap_once, expression, words):
    said = says(djtap_once, "show", expression)
    assert "error[DJ3014]" in said and words in said and "$ is its text" in said, said
    assert says(djtap_once, "show", "user_uint64(&$p->high), user_int64(&$p->high + 8)") == "764"


@pytest.mark.parametrize("function, value, shown", [
    ("plain", "$return", "3"), ("plain", "$$return", "return=3"), ("plain", "$n", "2"), ("pending", "$return", "1.5"),
    ("boxed", "$return->inner->x", "5"), ("boxed", "$return$$", "{.inner={.x=5}}"),
    ("extended_pair", "$return$", "3 + -2i"), ("extended_pair", "$$return", "return=3 + -2i"),
])
def test_results_of_the_x87(djtap, function, value, shown):
    """A struct of one long double comes back in st(0) as that does, not in memory as other large structs. Reading it changes
    nothing: not even an exception that is pending is raised."""
    alone = subprocess.run([victim("wide")], capture_output=True, text=True, timeout=300, check=True).stdout.splitlines()
    result = djtap("-e", f'probe func("{function}").return {{ println("<", {value}, ">") }}', "-c", victim("wide"))
    assert f"<{shown}>" in result.stdout and set(alone) <= set(result.stdout.splitlines()), result


@pytest.mark.skipif(" avx " not in open("/proc/cpuinfo", encoding="ascii").read(), reason="the processor has no AVX")
@pytest.mark.parametrize("point, value, shown", [
    ("quarter.return", "$return$", "[0.5, 1.5, 2.5, 3.5]"), ("quarter.return", "$$return", "return=[0.5, 1.5, 2.5, 3.5]"),
    ("quarter.return", "$return[3]", "3.5"), ("given", "$v$", "[0.5, 1.5, 2.5, 3.5]"), ("given", "$v[2]", "2.5"),
    ("given@wide.c:{line}", "$w$", "[1, 3, 5, 7]"), ("by_memory.return", "$return$", "[7, 8, 9, 10]"),
    ("by_memory.return", "$x", "7"), ("by_register.return", "$return$", str([2 * (2**40 + i) for i in range(4)])),
    ("by_register.return", "$return[3]", str(2 * (2**40 + 3))),
])
def test_vectors(djtap, point, value, shown):
    name, dot, suffix = point.replace("{line}", str(line_of("wide.c", "scaled"))).partition(".return")
    result = djtap("-e", f'probe func("{name}"){dot}{suffix} {{ println("<", {value}, ">") }}', "-c", victim("wide"))
    assert f"<{shown}>" in result.stdout, result


def test_a_vector_is_no_number(djtap_once):
    said = says(djtap_once, "given", "$v + 1")
    assert "error[DJ3014]" in said and "$v is float[4], which is not a number" in said, said
