# SPDX-License-Identifier: Apache-2.0
"""Wildcards in the paths of process("..."): "**" goes across folders, "*" stays within one, against Python's glob."""
import glob
import os
import re
import shutil

import pytest

from support.paths import victim


@pytest.fixture
def folders(tmp_path):
    """The same program at three depths, and beside it what is no program."""
    for folder in ("", "a", "a/b"):
        (tmp_path / folder).mkdir(exist_ok=True)
        shutil.copy(victim("count"), tmp_path / folder / "count")
        (tmp_path / folder / "count.txt").write_text("no program")
    return tmp_path


@pytest.mark.parametrize("pattern", ["*/count", "a/*/co?nt", "**/count", "a/**/count", "**", "c*"])
def test_files_that_match(djtap_once, folders, pattern):
    result = djtap_once("-l", f'process("{folders}/{pattern}").function("work")')
    found = re.findall(r'process\("(.*?)"\)', result.stdout)
    recursive = pattern if pattern != "**" else "**/*"
    truth = {os.path.realpath(path) for path in glob.glob(f"{folders}/{recursive}", recursive=True) if path.endswith("count")}
    assert sorted(found) == sorted(truth) and found, result


@pytest.mark.parametrize("pattern, hit", [("/**/count", True), ("/*/count", False), ("/a/**/count", True), ("/a/**count", True), ("/*/*/count", True)])
def test_objects_of_a_target_that_match(djtap, folders, pattern, hit):
    result = djtap("-e", f'probe process("{folders}{pattern}").function("work")? {{ n++ }}', "-c", folders / "a/b/count")
    assert result.globals.get("n", 0) == (result.facts["work calls"] if hit else 0), result


def test_the_librarys_path(djtap):
    """malloc and nothing else, wherever the distribution has put it."""
    script = 'probe process("/usr/**/libc.so*").function("malloc") { n++ } probe func("libc.so.6!malloc") { m++ }'
    result = djtap("-e", script, "--", "/bin/ls", "/")
    assert result.globals["n"] == result.globals["m"] > 0, result


def test_nothing_matches(djtap_once, folders):
    result = djtap_once("-l", f'process("{folders}/**/nosuch").function("work")')
    assert result.returncode != 0 and "there is no object file" in result.stderr, result
    script = f'probe process("{folders}/*/count").function("work") {{ n++ }}'
    result = djtap_once("--no-follow", "-e", script, "-c", folders / "count")
    assert result.returncode != 0 and "the traced process has no object" in result.stderr and "its objects: count" in result.stderr, result
    result = djtap_once("-e", script, "-c", folders / "count")  # it may yet execute one
    assert result.globals == {"n": 0} and f"no process of the session has executed {folders}/*/count: " in result.stderr, result


def test_files_that_are_executed_later(djtap, folders):
    """Those that match are known before: by names without a wildcard they would be."""
    script = f'probe process("{folders}/a/**/count").function("work") {{ n++ }}'
    result = djtap("-e", script, "-c", f"sh -c '{folders}/a/count 3; {folders}/a/b/count 2; {folders}/count 5'")
    assert result.globals["n"] == 20 and "DJ5916" not in result.stderr, result
