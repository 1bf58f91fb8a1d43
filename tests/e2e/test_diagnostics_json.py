# SPDX-License-Identifier: Apache-2.0
"""--diagnostics=json: every line follows docs/diagnostics.schema.json; what it offers as a fix fixes."""
import re

import pytest

from support import paths
from support.json_diagnostics import diagnostics
from support.paths import victim

COUNT = ["-c", victim("count")]


def test_every_wrong_example_follows_the_schema(djtap_once):
    texts = re.findall(r'DJ_EXAMPLE\((DJ\d{4}), R"\((.*?)\)",', (paths.ROOT / "compiler" / "diag" / "examples.def").read_text(), re.S)
    seen = set()
    for code, wrong in texts[::4]:
        result = djtap_once("--diagnostics=json", "-e", wrong, "-c", str(paths.TINYFS))
        seen |= {each["code"] for each in diagnostics(result)}
        assert code in seen, result
    assert len(seen) > 15


def test_a_declaration_comes_behind_the_line_that_names_the_program(djtap_once, tmp_path):
    path = tmp_path / "script.djt"
    path.write_text("#!/usr/bin/djtap\nprobe begin { n = 1; exit() }\n")
    [warning] = diagnostics(djtap_once("--diagnostics=json", path))
    [fix] = warning["fixits"]
    assert (fix["line"], fix["column"], fix["end_line"], fix["end_column"], fix["text"]) == (2, 1, 2, 1, "global n\n"), fix


@pytest.mark.parametrize("wrong", [
    'probe func("wrok") { n++ }',
    'probe process("count").function("wrok") { n++ }',
    'probe beginn { n++ }',
    'probe func("work").retrun { n++ }',
    'probe func("work") { n++; prntln(n) }',
    'probe func("work") { s <<< 1 } probe end { println(@cuont(s)) }',
    'probe func("work") { whlie (0) { n++ } }',
    'probe func("work") { a = 1; if (a = 1) println(a) }',
    'probe func("work") { if (n++ == 0) println("first") }',
    'prob func("work") { n++ }',
])
def test_a_fix_fixes(djtap_once, wrong):
    result = djtap_once("--diagnostics=json", "-e", wrong, *COUNT)
    first = diagnostics(result)[0]
    assert first["fixits"], result
    fix = first["fixits"][0]
    assert (fix["line"], fix["end_line"]) == (1, 1)
    right = wrong[:fix["column"] - 1] + fix["text"] + wrong[fix["end_column"] - 1:]
    again = djtap_once("--diagnostics=json", "-e", right, *COUNT)
    assert first["code"] not in {each["code"] for each in diagnostics(again)}, again
    assert again.returncode == 0, (right, again)
