# SPDX-License-Identifier: Apache-2.0
"""Fixtures: a guest for each of Debian's kernels, booted once, and djtap's module in it. A kernel that complained is an error of its last test."""
import contextlib
import json
import shlex

import pytest

from support import guest as guests
from support import paths


@pytest.fixture(scope="session")
def guests_by_series():
    """The guests that run, by their kernel's series. They stay to the end, as tests of other files need them again."""
    with contextlib.ExitStack() as ends:
        running = {}

        def boot(series):
            if series not in running or not running[series].is_running():
                running[series] = ends.enter_context(guests.Guest(series))
            return running[series]
        yield boot
        assert [complaint for guest in running.values() for complaint in guest.new_complaints()] == []


@pytest.fixture(scope="session", params=guests.SERIES)
def guest(request, guests_by_series):
    """A booted kernel that all tests share."""
    try:
        return guests_by_series(request.param)
    except guests.Unavailable as why:
        pytest.skip(str(why))


@pytest.fixture(scope="session", name="modules")
def modules_by_release():
    """Built modules by their kernel's release."""
    return {}


@pytest.fixture(scope="session")
def built(guest, modules, tmp_path_factory):
    """The module, built for the guest's kernel."""
    if guest.release not in modules:
        modules[guest.release] = guests.djtap_module(guest.tree, tmp_path_factory.mktemp(f"module-{guest.release}"))
    return modules[guest.release]


@pytest.fixture
def loaded(guest, built):
    """The module in the kernel; afterwards it must go, and the kernel be content."""
    assert guest.run(f"busybox insmod {built}") == (0, "")
    yield
    assert guest.run("busybox rmmod djtap") == (0, "")
    assert guest.new_complaints() == []


@pytest.fixture
def run_action(guest, loaded):
    """run_action(PROGRAM, ARGUMENT…) runs a program that prints a line of JSON."""
    del loaded

    def run(*words, timeout=300):
        status, output = guest.run(shlex.join(map(str, words)), timeout)
        assert status == 0, output
        return json.loads(output)
    return run


@pytest.fixture
def heavy(run_action):
    """heavy(ACTION, ARGUMENT…) runs an action of device_actions."""
    program = paths.BUILD / "kernel" / "device_actions"
    assert program.exists(), "kernel/device_actions is not built"
    return lambda *words, timeout=300: run_action(program, *words, timeout=timeout)
