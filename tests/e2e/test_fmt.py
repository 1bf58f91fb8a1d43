# SPDX-License-Identifier: Apache-2.0
"""--fmt on scripts that people wrote: what it prints parses to the same tree, keeps every comment, and stays what it is."""
import pathlib
import re
import subprocess

import pytest

from support import paths

OWN = [*sorted((paths.ROOT / "examples").glob("*.djt")), *sorted((paths.ROOT / "tapsets").glob("*.djt*")),
       *sorted(path for path in (paths.ROOT / "tests" / "golden").rglob("*.djt") if "ko" not in path.parts)]
SYSTEMTAP = pathlib.Path("/usr/share/systemtap")
STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|/\*.*?\*/|//[^\n]*|(?<![$@])#[^\n]*', re.S)


def djtap(*words):
    return subprocess.run([paths.DJTAP, *map(str, words)], capture_output=True, check=False, timeout=300)


def comments(text):
    """As a reader of the text finds them; the lines of long ones may be moved."""
    found = [token for token in STRING_OR_COMMENT.findall(text.decode(errors="replace")) if not token.startswith('"')]
    return [[line.strip() for line in token.rstrip().split("\n")] for token in found]


def tidied(path, folder):
    once = djtap("--fmt", path)
    assert once.returncode == 0, (path, once.stderr)
    assert comments(once.stdout) == comments(path.read_bytes()), path
    again = folder / path.name
    again.write_bytes(once.stdout)
    assert djtap("--fmt", again).stdout == once.stdout, path
    return again


def tree(path):
    result = djtap("--dump=ast", "--stop-after=parse", path, "one", "two", "three")
    return result.returncode, result.stdout


def test_scripts_of_the_project(tmp_path):
    assert len(OWN) > 80
    trees = 0
    for path in OWN:
        before = tree(path)
        assert tree(tidied(path, tmp_path)) == before, path
        trees += before[0] == 0
    assert trees > 70


def test_scripts_of_systemtap(tmp_path):
    """Every fourth example and some tapset files; those with embedded C, too, which djtap does not run."""
    scripts = [*sorted(SYSTEMTAP.glob("examples/**/*.stp"))[::4], *sorted(SYSTEMTAP.glob("tapset/**/*.stp*"))[::40]]
    if len(scripts) < 40:
        pytest.skip("Debian's systemtap-doc and systemtap-common are not here")
    trees = 0
    for path in scripts:
        before = tree(path)
        assert tree(tidied(path, tmp_path)) == before, path
        trees += before[0] == 0
    assert trees > 25


def test_what_does_not_parse_is_not_tidied(tmp_path):
    """But what only a run knows, a script's arguments, may stand in it."""
    wrong = tmp_path / "wrong.djt"
    wrong.write_text("probe begin { if (1) <println(1)> }")
    told = djtap("--fmt", wrong)
    assert (told.returncode, told.stdout) == (2, b"") and b"error[DJ1013]: expected a statement, found '<'" in told.stderr, told
    assert djtap("--fmt", "-e", "probe begin{println($1)}").stdout == b"probe begin { println($1) }\n"


def test_a_comment_may_stand_anywhere(tmp_path):
    """Between any two words of a script."""
    words = ["global", "n", ",", "by", "probe", 'process("x")', ".", 'function("f")', "?", ",", "begin", "{", "if", "(", "n", ">", "1", ")",
             "by", "[", "n", ",", "2", "]", "++", "else", "n", "=", "-", "n", "?", "n", "->", "m", ":", 'f', "(", '"s"', ")", ";", "}"]
    words[words.index("->"):words.index(":")] = []
    for form in ("/* why {0} */", "// why {0}\n", "# why {0}\n", "/* two {0}\n lines */"):
        text = "".join(f"{word} {form.format(number)} " for number, word in enumerate(words))
        (tmp_path / "noted.djt").write_text(text)
        (tmp_path / "plain.djt").write_text(" ".join(words))
        (tmp_path / "again").mkdir(exist_ok=True)
        assert tree(tidied(tmp_path / "noted.djt", tmp_path / "again")) == tree(tmp_path / "plain.djt") and tree(tmp_path / "plain.djt")[0] == 0
