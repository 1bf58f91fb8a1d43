"""Where things are: the build, the programs in it, and a source line by the name in its comment."""
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("DJTAP_BUILD", ROOT / "build")).resolve()
DJTAP = BUILD / "djtap"
TINYFS = BUILD / "examples" / "tinyfs"
TARGETS = ROOT / "tests" / "targets"
PYTHON = "/usr/bin/python3"


def victim(name):
    """Path of a program of tests/targets, as text."""
    return str(BUILD / "targets" / name)


def line_of(source, marker):
    """Number of the line of a victim's source that carries the comment LINE:marker."""
    for number, text in enumerate((TARGETS / source).read_text().splitlines(), 1):
        if text.endswith(f"LINE:{marker}"):
            return number
    raise AssertionError(f"{source} has no line marked LINE:{marker}")
