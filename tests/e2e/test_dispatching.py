# SPDX-License-Identifier: Apache-2.0
"""A program that has its system calls caught (PR_SET_SYSCALL_USER_DISPATCH): a handler's would be, too, and never come back."""
import errno
import subprocess

import pytest

from support import process
from support.paths import victim

READ = 'probe func("work") { n++; sum += $box->value }'


@pytest.fixture(scope="module", autouse=True)
def kernel():
    if "failed: 0\n" not in subprocess.run([victim("dispatching")], capture_output=True, text=True, check=True).stdout:
        pytest.skip("this kernel has no syscall user dispatch")


def test_the_session_ends_before(djtap):
    result = djtap("-e", READ, "-c", victim("dispatching"))
    assert result.returncode == 0 and result.facts["failed"] == result.facts["caught"] == 0, result
    assert "warning[DJ5902]: the session ends: the program catches system calls" in result.stderr, result
    assert result.facts["work calls"] == 200 and result.globals == {"n": 100, "sum": 4100}, result


def test_a_forked_child_is_refused(djtap):
    """djtap does not watch it; what it counts is right."""
    result = djtap("-e", READ, "-c", f"{victim('dispatching')} child")
    assert result.returncode == 0 and result.facts["failed"] == errno.EPERM and result.facts["caught"] == 0, result
    assert result.globals == {"n": 200, "sum": 8200}, result


def test_one_that_does_already_is_left_alone(djtap_once, program):
    target = program(victim("dispatching"), "wait")
    target.wait_for("failed: 0")
    before = process.text_of(target.pid)
    result = djtap_once("-e", READ, "-p", target.pid)
    assert result.returncode == 4 and f"thread {target.pid} of process {target.pid} catches system calls" in result.stderr, result
    assert process.differences(before, process.text_of(target.pid)) == []
    target.tell("")
    end = target.finish()
    assert end.returncode == 0 and end.facts["caught"] == 0 and end.facts["work calls"] == 100, end
