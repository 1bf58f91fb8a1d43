# SPDX-License-Identifier: Apache-2.0
"""Local functions of which compilers have taken parameters and results away, with a note and without one: what djtap reads is what
the source says, and what is gone has no value."""
import re
import shutil
import subprocess

import pytest

from support import paths

READ = {"kept": ("a b", "="), "constant": ("a b c", "="), "pointed": ("c", "="), "half": ("a", "x y"), "whole": ("a", "x y"), "unused": ("a", "="),
        "handed": ("a", "="), "handing": ("a", "=")}


def script():
    """A line for each value that is known."""
    def told(name, expression, shown):
        return f'if (@defined({expression})) println("seen {name} {shown}", {expression})'
    probes = []
    for name, (parameters, result) in READ.items():
        probes.append(f'probe func("{name}") {{ {" ".join(told(name, f"${p}", f"{p}=") for p in parameters.split())} }}')
        results = [("$return", "=")] if result == "=" else [(f"$return->{member}", f"{member}=") for member in result.split()]
        probes.append(f'probe func("{name}").return {{ {" ".join(told(name, *pair) for pair in results)} }}')
    return " ".join(probes)


COMPILERS = ["clang-14 -O1", "clang-14 -O2", "clang-14 -O2 -gdwarf-3", "clang-14 -O2 -gdwarf-4", "clang-14 -O0", "clang-19 -O2", "clang-19 -O0",
             "gcc -O2", "gcc -O0"]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_is_gone_has_no_value(djtap_once, tmp_path, compiler):
    words = compiler.split()
    if not shutil.which(words[0]):
        pytest.skip(f"there is no {words[0]}")
    program = tmp_path / "local_calls"
    subprocess.run([*words, "-g", "-w", paths.TARGETS / "local_calls.c", "-o", program], check=True)
    result = djtap_once("-e", script(), "-c", program)
    truth = {(name, value) for name, values in re.findall(r"^truth (\w+) (.*)$", result.stdout, re.M) for value in values.split()}
    seen = set(re.findall(r"^seen (\w+) (\S+)$", result.stdout, re.M))
    assert seen <= truth and {("kept", "=3"), ("whole", "x=9"), ("whole", "y=11")} <= seen, (seen - truth, result)
    assert seen == truth or "-O0" not in compiler, truth - seen


def test_the_error_says_why(djtap_once, tmp_path):
    if not shutil.which("clang-14"):
        pytest.skip("there is no clang-14")
    program = tmp_path / "local_calls"
    subprocess.run(["clang-14", "-O2", "-g", "-w", paths.TARGETS / "local_calls.c", "-o", program], check=True)
    result = djtap_once("-e", 'probe func("half").return { println($return->y) }', "-c", program)
    assert "$return cannot be read: no caller uses the result, and the compiler may have taken it away" in result.stderr, result
