# SPDX-License-Identifier: Apache-2.0
"""Fixture: a guest for each of Debian's kernels, booted once; a kernel that complained is an error of its last test."""
import pytest

from support import guest as guests


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
