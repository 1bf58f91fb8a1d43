# SPDX-License-Identifier: Apache-2.0
"""Where things are: the build, the programs in it, a function in one, and a source line by the name in its comment."""
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DJTAP_BUILD", ROOT / "build")).resolve()
# The djtap that is tested: DJTAP=/usr/bin/djtap for one that is installed. The programs that it traces are the build's.
DJTAP = pathlib.Path(os.environ.get("DJTAP", BUILD / "djtap")).resolve()
IS_INSTALLED = DJTAP != BUILD / "djtap"
TINYFS = BUILD / "examples" / "tinyfs"
TARGETS = ROOT / "tests" / "targets"
PYTHON = "/usr/bin/python3"
NODE = "/usr/bin/node"  # not in every installation


def victim(name):
    """Path of a program of tests/targets, as text."""
    return str(BUILD / "targets" / name)


def line_of(source, marker):
    """Number of the line of a victim's source that carries the comment LINE:marker."""
    for number, text in enumerate((TARGETS / source).read_text().splitlines(), 1):
        if text.endswith(f"LINE:{marker}"):
            return number
    raise AssertionError(f"{source} has no line marked LINE:{marker}")


def symbol_address(path, name):
    """Address of a function in a program's file, by readelf."""
    table = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True, check=True).stdout
    return int(re.search(rf"^\s*\d+: ([0-9a-f]+)\s.*FUNC.*\s{name}$", table, re.M).group(1), 16)
