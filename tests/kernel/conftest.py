# SPDX-License-Identifier: Apache-2.0
"""Fixtures: a guest for each of Debian's kernels, booted once, and the module built for it; a kernel that complained is an error of its last test."""
import shutil

import pytest

from support import guest as guests
from support import paths

SOURCES = paths.ROOT / "kernel"


@pytest.fixture(scope="session", params=guests.SERIES)
def guest(request):
    """A booted kernel that all tests share."""
    try:
        booted = guests.Guest(request.param)
    except guests.Unavailable as why:
        pytest.skip(str(why))
    with booted:
        yield booted
        assert booted.new_complaints() == []


@pytest.fixture(scope="session")
def built(guest, tmp_path_factory):
    """The module, built for the guest's kernel."""
    folder = tmp_path_factory.mktemp(f"module-{guest.release}")
    for path in SOURCES.iterdir():
        shutil.copy(path, folder)
    status, output = guests.build_module(guest.tree, folder)
    assert status == 0 and "warning" not in output, output
    return folder / "djtap.ko"
