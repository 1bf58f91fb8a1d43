# SPDX-License-Identifier: Apache-2.0
"""Which codes djtap has given in this run of the tests: every code of codes.def is to be among them."""
import os
import re
import shutil

from support import paths

FOLDER = paths.BUILD / "produced"
GIVEN = re.compile(r'^(?:error|warning)\[(DJ\d{4})\]|^\{"code":"(DJ\d{4})"', re.M)
noted = set()


def begin():
    shutil.rmtree(FOLDER, ignore_errors=True)


def note(stderr):
    """Each worker writes what it sees into a file of its own."""
    new = {first or second for first, second in GIVEN.findall(stderr)} - noted
    if new:
        noted.update(new)
        FOLDER.mkdir(parents=True, exist_ok=True)
        with open(FOLDER / str(os.getpid()), "a", encoding="utf8") as file:
            file.writelines(f"{code}\n" for code in new)


def never():
    """The codes that no test has made djtap give."""
    listed = re.findall(r"DJ_CODE\((DJ\d{4})", (paths.ROOT / "compiler" / "diag" / "codes.def").read_text())
    given = {code for file in FOLDER.glob("*") for code in file.read_text().split()}
    return [code for code in listed if code not in given]
