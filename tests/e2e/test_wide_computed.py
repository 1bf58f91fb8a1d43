# SPDX-License-Identifier: Apache-2.0
"""Values of 16 bytes that only debug info computes: __int128, long double and __float128, from and to other numbers."""
import re
import shutil
import subprocess

import pytest

from support import paths
from support.paths import line_of

FUNCTIONS = ["product", "whole", "x87", "ieee", "converted", "given"]


def truths(tmp_path):
    """What the locals are: [(function, {name: text})]."""
    subprocess.run(["gcc", "-O1", "-w", "-DTRUTH", "-o", "truth", paths.TARGETS / "computed.c"], cwd=tmp_path, check=True)
    lines = subprocess.run([tmp_path / "truth"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [(line.split()[0], dict(re.findall(r"(\w+)=(\S+)", line))) for line in lines]


def shown(truth):
    """As a script prints it."""
    high, colon, low = truth.partition(":")
    return str(int(high) * 2**64 + int(low)) if colon else truth.removeprefix("~")


def read(name, truth):
    """The script's expression for it."""
    text = f"${name}$" if ":" in truth else f'sprintf("{"%.17g" if truth.startswith("~") else "%d"}", ${name})'
    return f'@defined(${name}{"$" if ":" in truth else ""}) ? {text} : "gone"'


@pytest.mark.parametrize("compiler, least", [("gcc -O1", 247), ("gcc -O2", 247), ("gcc -O3", 247), ("gcc -O2 -gdwarf-4", 247), ("gcc -O0", 247),
                                             ("clang-14 -O2", 15), ("clang-19 -O2", 15), ("clang-19 -O0", 240)])
def test_every_value_is_the_programs(djtap_once, tmp_path, compiler, least):
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"no {compiler} here")
    subprocess.run([*compiler.split(), "-g", "-w", "-o", "computed", paths.TARGETS / "computed.c"], cwd=tmp_path, check=True)
    told = truths(tmp_path)
    script = ""
    for function in FUNCTIONS:
        names = next(values for name, values in told if name == function)
        values = ", ".join(f'" {name}=", {read(name, text)}' for name, text in names.items())
        script += f'probe process.statement("{function}@computed.c:{line_of("computed.c", function)}") {{ println("{function}", {values}) }}\n'
    result = djtap_once("-e", script, "-c", tmp_path / "computed")
    lines = [line for line in result.stdout.splitlines() if line]
    assert len(lines) == len(told), result
    same = 0
    for line, (function, values) in zip(lines, told):
        assert line.split()[0] == function
        for name, ours in re.findall(r"(\w+)=(\S+)", line):
            assert ours in (shown(values[name]), "gone"), (line, values)
            same += ours != "gone"
    assert same >= least, (same, lines)
