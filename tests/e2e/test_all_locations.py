# SPDX-License-Identifier: Apache-2.0
"""Every location that compilers write for the victims becomes a place, or is refused for a reason that debug info gives."""
import os
import re
import shutil
import subprocess

import pytest

from support import paths

SOURCES = ["args.c", "computed.c", "constants.c", "doubles.c", "fractions.c", "given_up.c", "wide.c", "values.cpp", "late.cpp", "passing.cpp"]
OPTIONS = ["-O0", "-O1", "-O2", "-O3", "-Os -gdwarf-4", "-O2 -flto"]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("compiler", ["gcc", "clang-14", "clang-19"])
def test_locations(tmp_path, compiler, options):
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    if "lto" in options and compiler.startswith("clang"):
        options += f" -fuse-ld=lld{compiler.removeprefix('clang')}"
        if shutil.which(f"ld.lld{compiler.removeprefix('clang')}") is None:
            pytest.skip("no linker for it here")
    files = []
    for source in SOURCES:
        words = compiler.replace("gcc", "g++").replace("clang", "clang++") + " -std=c++20" if source.endswith(".cpp") else compiler
        files.append(str(tmp_path / source.replace(".", "_")))
        subprocess.run([*words.split(), *options.split(), "-g", "-w", "-o", files[-1], paths.TARGETS / source, "-lm", "-lpthread"], check=True)
    result = subprocess.run([paths.BUILD / "test_debuginfo", "--gtest_filter=AllLocations.OfFilesThatAreAskedFor"], capture_output=True,
                            text=True, check=False, env={**os.environ, "DJTAP_SCAN": ":".join(files)})
    assert result.returncode == 0, result.stdout
    assert int(re.search(r"(\d+) places", result.stdout).group(1)) > 300, result.stdout
