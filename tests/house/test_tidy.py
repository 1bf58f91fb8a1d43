# SPDX-License-Identifier: Apache-2.0
"""clang-tidy finds nothing (.clang-tidy): in what changed lately, and in a part of the rest, another one each day, for a minute of both.

All of the tree takes minutes, on a busy machine half an hour: scripts/tidy. Continuous integration, whose build folder joins files
(DJTAP_JOIN), has less time: it reads some of what changed last, and a few others.
"""
import re
import shutil
import subprocess
import sys

import pytest

from support import paths

COMMITS = 5
USUAL = ["--sample", "60", "--seconds", "60"]
JOINED = ["--sample", "3", "--together", "3", "--seconds", "1"]


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
    amount = JOINED if "/Unity/" in (paths.BUILD / "compile_commands.json").read_text() else USUAL
    changed = ["--changed", base()] if base() else []
    run = subprocess.run([sys.executable, paths.ROOT / "scripts" / "tidy", *changed, *amount],
                         capture_output=True, text=True, check=False)
    read = re.search(r"tidy: (\d+) of \d+ sources read, 0 findings", run.stderr)
    assert run.returncode == 0 and read and int(read[1]) > 0, run.stdout + run.stderr


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
