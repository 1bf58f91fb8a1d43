"""__int128, complex numbers and long double: their texts are what gdb writes; as numbers they are refused with words."""
import re
import shutil
import subprocess

import pytest

from support.paths import victim

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
                          capture_output=True, text=True, timeout=60, check=False).stdout
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


@pytest.mark.parametrize("expression, shown", [("boxed $return->inner->x", None), ("boxed $return$", None), ("plain $return", None),
                                               ("boxed $$return", "return=?"), ("plain $$return", "return=?"), ("boxed $n", "2"), ("plain $n", "2")])
def test_results_on_the_floating_point_stack_are_refused(djtap_once, expression, shown):
    """A struct of one long double comes back in st(0) as that does, not in memory as other large structs."""
    function, value = expression.split()
    result = djtap_once("-e", f'probe func("{function}").return {{ println("<", {value}, ">") }}', "-c", victim("wide"))
    words = "error[DJ3015]: $return cannot be read: it is returned in a floating-point register" if shown is None else f"<{shown}>"
    assert words in result.stdout + result.stderr, result
