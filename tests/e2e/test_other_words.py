# SPDX-License-Identifier: Apache-2.0
"""Words of other languages and tracers: each is answered by what djtap has instead."""
import re

import pytest

from support import paths, run

TEXT = (paths.ROOT / "compiler" / "diag" / "other_words.cpp").read_text()
# [(word, what is said)] of both tables; C++'s texts that stand in several pieces are one.
ROWS = [(word, "".join(re.findall(r'"((?:\\.|[^"\\])*)"', text)).replace('\\"', '"'))
        for word, text in re.findall(r'^    \{"(\w+)",((?:\s*"(?:\\.|[^"\\])*")+)\}', TEXT, re.M)]


def test_there_are_rows():
    assert len(ROWS) == TEXT.count('\n    {"') > 60


@pytest.mark.parametrize("word, said", ROWS)
def test_a_word_is_answered(word, said):
    """None of them is a function of djtap's own, whose row would never be read."""
    name = word + "x" if word.endswith("_") else word  # the beginning of names
    result = run.run(["--stop-after=check", "-e", f'probe process.function("f") {{ {name}("a") }}'])
    assert result.returncode in (2, 3) and re.search(rf"^help: (needs the kernel in SystemTap; )?in djtap: {re.escape(said)}$", result.stderr, re.M), result
