# SPDX-License-Identifier: Apache-2.0
"""clang-tidy finds nothing (.clang-tidy): in what changed lately, and in a part of the rest, another one each day, for a minute of both.

All of the tree takes minutes, on a busy machine half an hour: scripts/tidy. What it still finds is in the files of naughty.UNTIDY.
"""
import json
import re
import shutil
import subprocess
import sys

import pytest

import naughty
from support import paths

SECONDS, SAMPLE, COMMITS = 60, 60, 5


def git(*words):
    run = subprocess.run(["git", *words], cwd=paths.ROOT, capture_output=True, text=True, check=False)
    return run.stdout.strip() if run.returncode == 0 else ""


def base():
    """Where this branch left main; on main, some commits ago; nothing in a copy that knows no such commit."""
    left = git("merge-base", "HEAD", "main")
    return left if left and left != git("rev-parse", "HEAD") else git("rev-parse", "--verify", "-q", f"HEAD~{COMMITS}")


@pytest.mark.timeout(3600)
@pytest.mark.skipif(shutil.which("clang-tidy-19") is None, reason="clang-tidy-19 is not installed")
def test_tidy_finds_nothing():
    if any("/Unity/" in entry["file"] for entry in json.loads((paths.BUILD / "compile_commands.json").read_text())):
        pytest.skip("the build folder joins files (DJTAP_JOIN): it has no commands of single ones")
    changed = ["--changed", base()] if base() else []
    run = subprocess.run([sys.executable, paths.ROOT / "scripts" / "tidy", *changed, "--sample", str(SAMPLE), "--seconds", str(SECONDS)],
                         capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1) and "sources read" in run.stderr, run
    found = re.findall(r"^(\S+?):\d+:\d+: (?:warning|error): .*", run.stdout, re.M)
    assert bool(found) == (run.returncode == 1), run
    assert [name for name in found if name not in naughty.UNTIDY] == [], run.stdout + run.stderr


def test_untidy_files_are_there():
    assert [name for name in naughty.UNTIDY if not (paths.ROOT / name).is_file()] == []


@pytest.mark.timeout(3600)
@pytest.mark.skipif(shutil.which("clang-tidy-19") is None, reason="clang-tidy-19 is not installed")
def test_tidy_finds_something(tmp_path):
    """The settings are right: a wrong name, a use after a move."""
    source = tmp_path / "wrong.cpp"
    source.write_text("#include <string>\n#include <utility>\nint WrongName = 0;\n"
                      "size_t gone(std::string text) { std::string other = std::move(text); return text.size() + other.size(); }\n")
    run = subprocess.run(["clang-tidy-19", f"--config-file={paths.ROOT / '.clang-tidy'}", "--quiet", source, "--", "-std=c++20"],
                         capture_output=True, text=True, check=False)
    assert "invalid case style for global variable 'WrongName'" in run.stdout.replace("for variable", "for global variable"), run
    assert "[bugprone-use-after-move]" in run.stdout, run
    config = subprocess.run(["clang-tidy-19", f"--config-file={paths.ROOT / '.clang-tidy'}", "--verify-config"], capture_output=True, text=True, check=False)
    assert "No config errors" in config.stdout, config
