# SPDX-License-Identifier: Apache-2.0
"""CMake says which LLVM djtap needs, where an earlier one is chosen, or one that is not here."""
import shutil
import subprocess

import pytest

from support import paths


@pytest.mark.parametrize("version, said", [("14", "djtap needs LLVM 19 or later"), ("99", "LLVM 99 is not in /usr/lib/llvm-99")])
def test_an_llvm_that_does_not_do(tmp_path, version, said):
    if shutil.which("cmake") is None:
        pytest.skip("there is no cmake")
    found = subprocess.run(["cmake", "-S", paths.ROOT, "-B", tmp_path, f"-DDJTAP_LLVM={version}"], capture_output=True, text=True, check=False)
    text = " ".join(found.stderr.split())
    assert found.returncode != 0 and said in text and "apt-get install clang-" in text and "-DDJTAP_LLVM=" in text, found.stderr
