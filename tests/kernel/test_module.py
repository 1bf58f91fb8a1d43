# SPDX-License-Identifier: Apache-2.0
"""The kernel module, by its device: counts are exact, text comes back whoever dies, and wrong calls are refused (actions.py runs in the guest)."""
import json
import os
import shlex
import subprocess

import pytest

from support import guest as guests
from support import kernel_device as kd
from support import paths

# QEMU's emulation takes ten times as long for text that changes: the long form is for an idle machine.
LONG = os.environ.get("DJTAP_STRESS") == "long"
MANY = 100_000 if LONG else 1000  # places; there are some 12,000
CALLS = 1_000_000 if LONG else 100  # of the fuzzer
KILLS = 20 if LONG else 1


@pytest.fixture(name="act")
def loaded(guest, built):
    """act(ACTION, ARGUMENT…) runs an action of actions.py with the module loaded; afterwards the module must go, and the kernel be content."""
    assert guest.run(f"busybox insmod {built}") == (0, "")

    def act(*words, timeout=300):
        status, output = guest.run(f"/usr/bin/python3 {paths.ROOT}/tests/kernel/actions.py {shlex.join(map(str, words))}", timeout)
        assert status == 0, output
        return json.loads(output)
    yield act
    assert guest.run("busybox rmmod djtap") == (0, "")
    assert guest.new_complaints() == []


def test_counts_each_call(act):
    found = act("counts", "vfs_read")
    assert found["answers"] == [kd.ARMED] and found["changed"]
    assert 100_000 <= found["count"] <= 100_300
    assert found["same"] and found["kept"] == 0 and found["removed"] == [kd.REMOVED]


def test_many_functions_under_load(act):
    """Functions whose first instructions mean the same anywhere; closing the device puts them back."""
    found = act("many", MANY, 2, timeout=600)
    assert found["sites"] >= min(MANY, 10_000) and found["armed"] >= 0.9 * found["sites"]
    assert set(map(int, found["answers"])) <= {kd.ARMED, kd.FORBIDDEN, kd.FIXED_PLACE, kd.TWO_FUNCTIONS}
    assert found["count"] > 100
    assert found["different"] == []


def test_wrong_sites_are_refused(act):
    found = act("refusals")
    assert found["tried"] > 10 and found["wrong"] == {}
    assert found["twice"] == [kd.ARMED, kd.OVERLAPS] and found["again"] == [kd.OVERLAPS]
    assert found["kept"] == 0 and found["end"] == [kd.ARMED]


def test_calls_at_the_wrong_time(act):
    found = act("sessions")
    assert found.pop("nobody") == 3  # EPERM, although the file's mode let it
    assert found.pop("mode") == "0o600"
    assert found == {"second": "EBUSY", "arm unsealed": "EBUSY", "write nowhere": "EBUSY", "no code": "EINVAL", "too much code": "EINVAL",
                     "second block": "EBUSY", "write behind": "EINVAL", "write far behind": "EINVAL", "write sealed": "EBUSY", "seal again": "EBUSY",
                     "unknown call": "EINVAL", "counters": "EINVAL", "after": "none"}


def test_a_session_that_is_killed_leaves_nothing(act):
    assert act("killed", KILLS, timeout=60 + 60 * KILLS) == {"different": []}


def test_a_kprobe_on_a_jump_keeps_it_until_it_goes(act):
    """Old bytes under a kprobe would be lost, and it would write our jump again when it goes."""
    found = act("kprobe_on_top")
    assert found == {"armed": [kd.ARMED], "count": 1, "kept": 1, "answer": [kd.KEPT], "next": "EBUSY", "same": True, "after": "none"}


def test_any_calls_do_no_harm(act):
    found = act("fuzz", CALLS, 20261128, timeout=200 + CALLS)
    assert found["same"]
    assert set(found["errors"]) <= {"none", "EINVAL", "EFAULT", "EBUSY", "ENOMEM", "ENOTTY"} and found["errors"]["EINVAL"] > 5


def test_no_function_of_the_kernel_is_called_by_pointer(built):
    """Such a call faults where the kernel has sealed the function against it (IBT), which QEMU's processor does not show."""
    code = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", built], capture_output=True, text=True, check=True).stdout
    callers = {part.split(">:")[0].split("<")[-1] for part in code.split("\n\n") if "__x86_indirect_thunk" in part or "call   *" in part}
    assert callers <= {"in_slices"}  # calls steps of text.c only
