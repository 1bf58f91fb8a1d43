# SPDX-License-Identifier: Apache-2.0
"""Handlers kept between sessions: the same script is compiled once, and does the same as when it was."""
import re

import pytest

from support import run
from support.paths import victim

pytestmark = pytest.mark.usefixtures("own_cache")
CALLS = 37
SCRIPT = 'global n, of probe func("work") { n++; of[$n % 3] += $n }'


def session(script, *options):
    """Whether its handlers were kept, and what it printed."""
    result = run.run(["-v", *options, "-e", script, "-c", f"{victim('count')} {CALLS} 1"])
    assert result.returncode == 0, result.stderr
    return "kept" in re.search(r"lower .*", result.stderr).group(), result.stdout


def test_the_same_script_is_compiled_once():
    first, said = session(SCRIPT)
    assert not first and f"n={CALLS}" in said.replace(" ", "")
    assert session(SCRIPT) == (True, said)
    assert session("// a comment\n" + SCRIPT) == (True, said)


@pytest.mark.parametrize("change", [("n++", "n += 2"), ("$n % 3", "$n % 5"), ("global n", "global n = 5"), ("n++;", "n++; n++;")])
def test_another_script_is_another(change):
    session(SCRIPT)
    changed = SCRIPT.replace(*change)
    assert session(changed)[1] == session(changed, "--no-cache")[1] != session(SCRIPT)[1]


@pytest.mark.parametrize("options", [["-G", "n=7"], ["-D", "MAXMAPENTRIES=2"], ["--no-optimize"], ["-t"]])
def test_options_are_heard(options):
    session(SCRIPT)
    kept, said = session(SCRIPT, *options), session(SCRIPT, "--no-cache", *options)
    assert re.sub(r"\d+ ns|\d+", "", kept[1]) == re.sub(r"\d+ ns|\d+", "", said[1])


def test_texts_are_compiled_anew():
    session(SCRIPT)
    kept, said = session(SCRIPT, "--dump=asm")
    assert not kept and "dj_handler_0:" in said


def test_what_is_not_whole_counts_for_nothing(own_cache):
    _, said = session(SCRIPT)
    files = list(own_cache.glob("handlers-*"))
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[:-9] + b"nonsense!")
    assert session(SCRIPT) == (False, said)
    assert session(SCRIPT) == (True, said)


def test_handlers_of_later_objects(tmp_path):
    def opened():
        script = 'probe func("libctor*!lib_work") { n++ }'
        result = run.run(["-v", "-e", script, "-c", f"{victim('plugin')} {victim('libctor.so')}"], stdin="open\ncall 100\nquit\n")
        assert result.returncode == 0, result.stderr
        assert result.globals == {"n": 100 + 50 + 7}, result  # its constructor and destructor call it, too
        return re.search(r"opened: .*", result.stderr).group()

    assert "kept" not in opened()
    assert "handlers kept" in opened()
