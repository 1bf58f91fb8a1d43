# SPDX-License-Identifier: Apache-2.0
"""The kernel module's folder: what it includes, and how much there is of it."""
import re

import cxx
from support import paths

FOLDER = paths.ROOT / "kernel"
FILES = sorted(path for ending in ("c", "h") for path in FOLDER.glob(f"*.{ending}"))
# verify.c is compiled for the tests in user space, too.
OF_USER_SPACE = {("verify.h", "stddef.h"), ("verify.h", "string.h")}


def test_the_module_includes_the_kernel_and_itself_only():
    """djtap's own code cannot run there."""
    wrong = []
    for path in FILES:
        own, others = cxx.includes(path.read_text())
        wrong += [f"{path.name}: {header}" for header in own if not (FOLDER / header).is_file()]
        wrong += [f"{path.name}: {header}" for header in others
                  if not header.startswith(("linux/", "asm/")) and (path.name, header) not in OF_USER_SPACE]
    assert FILES and wrong == []


def test_the_module_stays_small():
    """Lines of code, without comments: what runs with the kernel's rights is to be read by a person."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", "".join(path.read_text() for path in FILES), flags=re.S)
    assert len([line for line in code.splitlines() if line.strip()]) <= 1245
