# SPDX-License-Identifier: Apache-2.0
"""Builds programs in Go; a test skips where there is no go that works."""
import os
import shutil
import subprocess

import pytest

PLAIN = "-gcflags=-N -l"  # not optimized


def build(source, built, *flags, cache, **environment):
    """`built`, from one file. `cache`: the folder for what go compiles, its own and the file's."""
    if shutil.which("go") is None:
        pytest.skip("there is no go")
    settings = {**os.environ, "GO111MODULE": "off", "GOCACHE": str(cache), "GOFLAGS": "", **environment}
    done = subprocess.run(["go", "build", *flags, "-o", built, source], env=settings, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"there is no go that works: {done.stderr}")
    return built
