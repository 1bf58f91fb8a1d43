# SPDX-License-Identifier: Apache-2.0
"""What pages show as code within sentences: each command runs as it stands, each option is one."""
import os
import re
import shlex
import shutil
import subprocess

import pytest

from support import pages, paths, run
from support.paths import victim

# How a word that stands for the reader's own is filled in; PID: a process that runs.
FILLED = {"FILE": victim("count"), "script.djt": "script.djt", "PROGRAM": f"{victim('count')} 10"}
SCRIPT = "# Says how often.\nprobe begin { println(option(\"rows\", 10, \"rows to show\")) exit() }\n"
PAGES_PYTEST = [paths.PYTHON, "-m", "pytest", "-p", "no:cacheprovider"]


def spans(pattern):
    """Those that match, each once, with the page that has it first."""
    found = {}
    for page, span in pages.code_spans():
        if re.match(pattern, span):
            found.setdefault(span, page)
    return sorted(found)


def test_the_pages_are_found():
    names = {pages.name(page) for page in pages.PAGES}
    assert names >= {"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "tapsets/README.md", "arch/README.md", "compiler/README.md",
                     "tests/README.md", "docs/design.md"}


@pytest.mark.parametrize("command", spans(r"(scripts/)?djtap [^.]"))
def test_djtap_in_a_sentence(command, program, tmp_path):
    """A placeholder is the reader's own; [what may be left out] is left out."""
    (tmp_path / "script.djt").write_text(SCRIPT)
    words = re.sub(r" \[.*\]|^\S+ ", "", command)
    if "PID" in words or words == "clean":
        target = program(victim("commander"))
        target.wait_for("pid: ")
        words = words.replace("clean", "clean PID") if words == "clean" else words
        words = words.replace("PID", str(target.pid))
    for placeholder, meant in FILLED.items():
        words = words.replace(placeholder, meant)
    assert not re.search(r"\b[A-Z]{3,}\b", words), f"{command}: what does the reader fill in?"
    result = run.run(shlex.split(words), cwd=tmp_path)
    if words.startswith("kernel-build") and result.returncode == 4:  # the headers of this kernel are not here, or djtap is not root
        assert "error[DJ4007]" in result.stderr, result
        return
    if "kernel.function" in words and not os.path.exists("/proc/kcore"):  # this kernel cannot be read
        assert (result.returncode, result.stderr.count("error[")) == (4, 1) and "/proc/kcore" in result.stderr, result
        return
    assert result.returncode in ((0, 6) if words.startswith("doctor") else (0,)) and result.stdout and "error[" not in result.stderr, result


def test_djtap_in_a_pipe(tmp_path):
    """`djtap ... | cat -v`: with a script that prints a control character."""
    assert "djtap ... | cat -v" in spans(r"djtap \.\.\.")
    line = "djtap ... | cat -v".replace("...", "-e 'probe begin { print(\"\\001\\n\") exit() }'")
    told = subprocess.run(line, shell=True, cwd=tmp_path, env={**os.environ, "PATH": f"{paths.BUILD}:{os.environ['PATH']}"}, capture_output=True,
                          text=True, check=True, timeout=run.PATIENCE)
    assert told.stdout == "^A\n", told


def listed_options():
    text = run.run(["--help"]).stdout
    unlisted = re.search(r"^\.SH SYSTEMTAP'S OPTIONS\n(.*?)^\.SH", (paths.ROOT / "docs" / "man" / "djtap.1").read_text(), re.M | re.S)[1]
    return {name for names in re.findall(r"^  (-\S+)", text, re.M) for name in names.split(",")} | set(
        re.findall(r"(?<![\w-])--?\w[\w-]*", unlisted.replace("\\-", "-"))) | {"--json"}


# Options of compilers and of cmake (test_a_setting), and of scripts.
OTHERS = re.compile(r"-(O\d|[fmg][a-z]+-.*|nostdlib|DDJTAP_\w+=.*)|--(rows|update|gtest_filter)\b.*")


@pytest.mark.parametrize("span", spans(r"-"))
def test_an_option_in_a_sentence(span):
    """It is one of djtap, of a script or of a compiler."""
    names = [word.split("=")[0] for word in span.split() if re.match(r"-[^\d>-]|--\w", word) and not OTHERS.fullmatch(word)]
    assert set(names) <= listed_options(), span
    assert names or OTHERS.fullmatch(span.split()[0]) or span in ("-", "--", "->"), span


@pytest.mark.parametrize("values", spans(r"--dump="))
def test_stages_in_a_sentence(values):
    result = run.run([values, "-e", "probe func(\"work\") { n++ }", "-c", f"{victim('count')} 10"])
    assert result.returncode == 0, result


# --- commands of the project itself


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """The scripts in a tree of their own, with two tests, where building is only noted."""
    (tmp_path / "scripts").mkdir()
    for name in ("build", "test"):
        shutil.copy2(paths.ROOT / "scripts" / name, tmp_path / "scripts")
    (tmp_path / "tools").mkdir()
    for tool in ("cmake", "ninja", "ctest", "scripts/setup"):
        path = tmp_path / tool if "/" in tool else tmp_path / "tools" / tool
        path.write_text(f"#!/bin/sh\necho {tool.rpartition('/')[2]} \"$@\" >>{tmp_path}/noted\n")
        path.chmod(0o755)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_two.py").write_text("def test_attach(): pass\ndef test_other(): pass\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/tools:{os.environ['PATH']}")
    return tmp_path


def shown_lines():
    """Indented commands of the project's own scripts."""
    return [line for page in pages.PAGES for line in re.findall(r"^    (scripts/(?:build|test)\b.*)$", page.read_text(), re.M)]


@pytest.mark.parametrize("command", sorted({*spans(r"scripts/(build|test)\b"), *shown_lines()}))
def test_building_and_testing(tree, command):
    """Targets go to ninja, words to pytest."""
    told = subprocess.run(shlex.split(command), cwd=tree, capture_output=True, text=True, check=False, timeout=run.PATIENCE)
    noted = (tree / "noted").read_text()
    assert told.returncode == 0 and noted.startswith("setup build") and f"ninja -C {tree}/build" in noted, (told, noted)
    words = shlex.split(command)[1:]
    if command.startswith("scripts/build"):
        assert noted.splitlines()[-1].split()[3:] == words and "passed" not in told.stderr, (told, noted)
    else:
        assert "ctest --test-dir" in noted and ("1 passed" if "attach" in words else "2 passed") in told.stdout, (told, noted)


@pytest.mark.parametrize("command", spans(r"pytest\b"))
def test_pytest_in_a_sentence(command):
    """Only collected: --update would write."""
    words = shlex.split(command)[1:]
    told = subprocess.run([*PAGES_PYTEST, *words, *([] if any("/" in word for word in words) else ["tests/golden"]), "--collect-only", "-q"],
                          cwd=paths.ROOT, capture_output=True, text=True, check=False, timeout=run.PATIENCE)
    assert told.returncode == 0 and re.search(r"^tests/golden/test_golden.py: [1-9]\d*$", told.stdout, re.M), told


@pytest.mark.parametrize("command", spans(r"[A-Z]\w*=\S* \S*build/"))
def test_a_test_program(command):
    words = shlex.split(command.replace("build/", f"{paths.BUILD}/").replace("FILE", victim("count")))
    program = next(word for word in words if word.startswith(str(paths.BUILD)))
    if not os.path.exists(program):
        pytest.skip(f"{program} is not built")
    told = subprocess.run(["env", *words], capture_output=True, text=True, check=False, timeout=run.PATIENCE)
    assert told.returncode == 0 and re.search(r"\[  PASSED  \] [1-9]", told.stdout), told


@pytest.mark.parametrize("setting", spans(r"[A-Z][A-Z_]+=\S+$|(cmake )?-DDJTAP"))
def test_a_setting(setting):
    """A variable of the environment, or of the build, that the project reads."""
    variable = re.search(r"(?:-D)?([A-Z][A-Z_]+)=", setting)[1]
    places = ["CMakeLists.txt"] if "-D" in setting else ["runtime", "tests", "compiler", "scripts"]
    told = subprocess.run(["grep", "-rlw", variable, "--exclude=*.md", f"--exclude={os.path.basename(__file__)}", *places], cwd=paths.ROOT,
                          capture_output=True, text=True, check=False)
    assert told.stdout, setting


def test_each_command_has_a_test():
    """What looks like a command is of one of the kinds above, or what test_shown_commands.py or test_install.py tries."""
    known = (r"(scripts/)?djtap\b|-|scripts/|tests/|/usr/bin/python3|pytest\b|[A-Z][A-Z_]+=|git clang-format$|\. scripts/|"
             r"cmake (-D|--preset |--install( build)?$)")
    looks = r"(cmake|ninja|git|pytest|ctest|make|sudo|apt|apt-get|dpkg|sh|bash|\.|env|gdb|build/\S+) \S|djtap\b"
    assert [span for _, span in pages.code_spans() if re.match(looks, span) and not re.match(known, span)] == []
