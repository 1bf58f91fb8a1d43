# SPDX-License-Identifier: Apache-2.0
"""Shows at the end of a run how long the lists of naughty.py are: the way that is left."""
import naughty


def pytest_terminal_summary(terminalreporter):
    words = ", ".join(f"{sum(folders.values())} files that name {word}" for word, folders in naughty.WORDS.items())
    terminalreporter.line(f"naughty: {len(naughty.MANY_MEMBERS)} classes of many members, {words}")
