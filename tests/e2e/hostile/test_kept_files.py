# SPDX-License-Identifier: Apache-2.0
"""Another user chooses the folder of root's cache, as XDG_CACHE_HOME does that survives sudo: root neither fills nor trims it, and
believes nothing in it."""
import os
import pathlib
import shutil
import tempfile

import pytest

from support import run

if os.getuid() != 0:
    pytest.skip("attackers run as nobody, djtap as root", allow_module_level=True)

NOBODY = 65534
WORDS = ["-v", "-e", 'probe process("/bin/bash").function("*") { n++ }', "-c", "/bin/bash -c :"]
MANY = 1100  # more than are kept


@pytest.fixture
def nobodys():
    """A folder of nobody's, and one of root's with files."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, tempfile.TemporaryDirectory(dir="/tmp") as roots:
        os.chmod(roots, 0o755)
        for number in range(MANY):
            (pathlib.Path(roots) / f"precious{number}").write_text("root's")
        os.chown(folder, NOBODY, NOBODY)
        yield pathlib.Path(folder), pathlib.Path(roots)


def kept_in(folder):
    result = run.run(WORDS, env={**os.environ, "XDG_CACHE_HOME": str(folder)})
    assert result.returncode == 0, result
    return result


def test_a_link_to_a_folder_of_roots(nobodys):
    folder, roots = nobodys
    (folder / "djtap").symlink_to(roots)
    os.chown(folder / "djtap", NOBODY, NOBODY, follow_symlinks=False)
    result = kept_in(folder)
    assert len(list(roots.iterdir())) == MANY
    assert "cache: nothing is kept in" in result.stderr


@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_folder_that_others_may_write(own_cache, mode):
    own_cache.mkdir()
    own_cache.chmod(mode)
    assert "others may write it" in kept_in(own_cache.parent).stderr
    assert not list(own_cache.iterdir())


def test_entries_of_others(own_cache):
    """Each is ignored and told, and written anew; a link is replaced, and what it leads to stays."""
    kept_in(own_cache.parent)
    entries = sorted(own_cache.iterdir())
    assert entries
    outside = own_cache.parent / "outside"
    for number, entry in enumerate(entries):
        if number % 3 == 0:
            os.chown(entry, NOBODY, NOBODY)
        elif number % 3 == 1:
            entry.chmod(0o666)
        else:
            shutil.copy(entry, outside)
            entry.unlink()
            entry.symlink_to(outside)
    said = kept_in(own_cache.parent).stderr
    assert said.count("is not used") >= 1, said
    assert "is not used" not in kept_in(own_cache.parent).stderr
