# SPDX-License-Identifier: Apache-2.0
"""Objects are found by every path that leads to them: through links, as ldd prints them, and by wildcards behind a link."""
import os
import re
import subprocess

import pytest

from support.paths import victim


def loaded():
    """The paths of the C library and of the loader as ldd says them."""
    said = subprocess.run(["ldd", victim("count")], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(/\S*(?:libc\.so|ld-linux)\S*)", said)


def spellings(tmp_path):
    for path in loaded():
        folder, name = os.path.split(path)
        link = tmp_path / "folder"
        if not link.exists():
            link.symlink_to(folder)
        yield from (path, os.path.realpath(path))
        yield f"{folder}/{name[:6]}*"
    yield f"{link}/*"


POINTS = ['process.library("{}").function("*_*")', 'func("{}!*_*")', 'process("{}").function("*_*")']


@pytest.mark.parametrize("point", POINTS)
def test_paths_through_links(djtap_once, tmp_path, point):
    for path in spellings(tmp_path):
        result = djtap_once("-l", point.format(path), "-c", victim("count"))
        assert result.returncode == 0 and result.stdout.startswith(("func", "process")), (path, result)


def test_variables_of_an_object(djtap):
    """By both paths the same."""
    path = next(path for path in loaded() if "libc.so" in path)
    asked = ", ".join(f'@defined(@var("{name}", "{of}"))' for name in ("stdout", "nothing") for of in (path, os.path.realpath(path)))
    result = djtap("-e", f'probe func("work") {{ println("= ", {asked}); exit() }}', "-c", victim("count"))
    assert re.search("^= (1100|0000)$", result.stdout, re.M), result


# What no process maps, and no probe waits for.
NO_LIBRARIES = {
    "empty": lambda path: path.write_text(""),
    "text": lambda path: path.write_text("/* GNU ld script */\n"),
    "object": lambda path: subprocess.run(["cc", "-c", "-x", "c", "-", "-o", path], input="int f;", text=True, check=True),
    "damaged": lambda path: path.write_bytes(b"\x7fELF\2\1\1"),
    "missing": lambda path: None,
    "folder": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("what", NO_LIBRARIES)
@pytest.mark.parametrize("point", ['process.library("{}").function("f")', 'func("{}!f")'])
def test_a_path_that_leads_elsewhere(djtap_once, tmp_path, what, point):
    path = tmp_path / "libc.so.6"
    NO_LIBRARIES[what](path)
    result = djtap_once("-e", f"probe {point.format(path)} {{ n++ }}", "-c", victim("count"))
    assert result.returncode == 3 and "the traced process has no object" in result.stderr and "warning" not in result.stderr, result
