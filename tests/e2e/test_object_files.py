# SPDX-License-Identifier: Apache-2.0
"""Objects whose file djtap does not find by its name: replaced while the program runs, or in another mount namespace."""
import os
import shutil
import signal
import subprocess

import pytest

from support import process
from support.paths import victim

LIBRARY = victim("libctor.so")
OTHER = victim("count")  # its code is another one


def replace(path):
    """As packages are upgraded: another file gets the name, and who has mapped the old one keeps it."""
    os.unlink(path)
    shutil.copy(OTHER, path)


@pytest.fixture
def upgraded(program, tmp_path):
    """A program that has opened a library; the files of both have been replaced since."""
    own = [shutil.copy(path, tmp_path) for path in (victim("plugin"), LIBRARY)]
    target = program(*own)
    target.wait_for("pid: ")
    target.order("open", "opened: 1")
    for path in own:
        replace(path)
    return target


@pytest.mark.parametrize("gone", [False, True])
def test_a_program_whose_file_was_replaced(attach, program, tmp_path, gone):
    """Its own file the kernel gives to everybody who may trace it."""
    own = shutil.copy(victim("asleep"), tmp_path)
    target = program(own)
    target.wait_for("pid: ")
    replace(own)
    if gone:
        os.unlink(own)
    before = process.text_of(target.pid)
    tracer = attach(target.pid, 'probe process.function("through") { n++ }')
    for woken in (1, 2, 3):
        target.order("", f"woken: {woken}$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert 2 <= result.globals["n"] <= 3, result
    assert process.differences(before, process.text_of(target.pid)) == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root may open what a process has mapped")
def test_a_library_whose_file_was_replaced(attach, upgraded):
    before = process.text_of(upgraded.pid)
    tracer = attach(upgraded.pid, 'probe func("libctor.so!lib_work") { n++; sum += $n } probe process.function("main") { main++ }')
    upgraded.order("call 1000", "called: 1000$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals["n"] == 1000 and result.globals["sum"] == sum(range(1000)), result
    assert process.differences(before, process.text_of(upgraded.pid)) == []
    upgraded.order("close", "closed: 0$")
    upgraded.tell("quit")
    assert upgraded.finish().facts["total"] == 1000


def test_a_program_in_another_mount_namespace(attach, program, tmp_path):
    """There its file and its library stand where djtap sees an empty folder."""
    inside = tmp_path / "inside"
    inside.mkdir()
    if subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", inside], capture_output=True, check=False).returncode:
        pytest.skip("no mount namespaces here")
    target = program("unshare", "-rm", "sh", "-c", 'mount -t tmpfs none "$1" && cp "$2" "$3" "$1" && exec "$1/plugin" "$1/libctor.so"',
                     "sh", inside, victim("plugin"), LIBRARY)
    target.wait_for("pid: ")
    assert list(inside.iterdir()) == []
    tracer = attach(target.pid, 'probe process.function("main") { main++ } probe func("libctor*!lib_work") { n++; sum += $n }')
    target.order("open", "opened: 1")
    target.order("call 100", "called: 100$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals["n"] == 50 + 100, result
    assert result.globals["sum"] == sum(range(50)) + sum(range(100)), result
    target.tell("quit")
    assert target.finish().facts["lib_work calls"] == 50 + 100 + 7
