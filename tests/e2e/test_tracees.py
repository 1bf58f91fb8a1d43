# SPDX-License-Identifier: Apache-2.0
"""Programs that are traced by another, or ask for it: no int3 stops them for a tracer that does not know of it."""
import shutil

import pytest

from support import run
from support.paths import victim

LIMIT = 60  # seconds: what goes wrong here hangs
EXEC = {"stops": 1, "child": 0, "handled": 0}


def trace(djtap, how, script='probe func("work") { n++ }'):
    result = djtap("-e", script, "--", victim("tracees"), how, timeout=LIMIT)
    assert result.returncode == 0, result
    return result


@pytest.mark.parametrize("how", ["vfork", "searches"])
def test_vfork_child(djtap, how):
    """It has its parent's text. That it is traced is put off until it executes a program that is there."""
    result = trace(djtap, how)
    assert result.facts == EXEC | {"calls": 7} and result.globals == {"n": 7}, result


def test_forked_child(djtap):
    """Its own text is without traps from then on."""
    result = trace(djtap, "fork")
    assert result.facts == EXEC | {"calls": 5} and result.globals["n"] in (5, 7), result


def test_forked_child_that_works(djtap):
    result = trace(djtap, "works")
    assert result.facts == {"stops": 1, "child": 3, "calls": 5, "handled": 0} and result.globals["n"] in (5, 12), result


def test_target_itself(djtap):
    """djtap would be its tracer, and lets it go."""
    result = trace(djtap, "self")
    assert result.facts == {"asked": 0, "calls": 14, "handled": 1} and result.globals == {"n": 14}, result


@pytest.mark.parametrize("how", ["vfork", "fork", "works", "self"])
def test_all_functions(djtap, how):
    result = trace(djtap, how, 'probe func("*!*") { n++ }')
    assert result.facts["handled"] == (how == "self") and result.globals["n"] > 5, result


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_strace(djtap):
    result = djtap("-e", 'probe func("*!*") { n++ }', "--", "strace", "-o", "/dev/null", "true", timeout=LIMIT)
    assert result.returncode == 0 and result.globals["n"] > 100, result


def test_gdb(djtap):
    words = ["gdb", "-q", "-nx", "-batch", "-ex", "run", victim("count")]
    result = djtap("-e", 'probe func("libc.so.6!*") { n++ }', "--", *words, timeout=run.PATIENCE)
    assert result.returncode == 0 and "exited normally" in result.stdout and result.globals["n"] > 100, result
