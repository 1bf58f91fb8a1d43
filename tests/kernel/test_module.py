# SPDX-License-Identifier: Apache-2.0
"""The kernel module, by its device: counts are exact, text comes back whoever dies, and wrong calls are refused (actions.py runs in the guest)."""
import errno
import os
import subprocess

import pytest

from support import kernel_device as kd
from support import paths

# QEMU's emulation takes ten times as long for text that changes: the long form is for an idle machine.
LONG = os.environ.get("DJTAP_STRESS") == "long"
MANY = 100_000 if LONG else 1000  # places; there are some 12,000
CALLS, FUZZED_SECONDS = (1_000_000, 3600) if LONG else (1_000_000, 10)  # of the fuzzer: what comes first
KILLS = 100 if LONG else 3


@pytest.fixture
def act(run_action):
    """act(ACTION, ARGUMENT…) runs an action of actions.py."""
    return lambda *words, timeout=300: run_action("/usr/bin/python3", paths.ROOT / "tests" / "kernel" / "actions.py", *words, timeout=timeout)


def test_counts_each_call(act):
    found = act("counts", "vfs_read")
    assert found["answers"] == [kd.ARMED] and found["changed"]
    assert 100_000 <= found["count"] <= 100_300
    assert found["same"] and found["kept"] == 0 and found["removed"] == [kd.REMOVED]


def test_many_functions_under_load(heavy):
    """Functions whose first instructions mean the same anywhere; closing the device puts them back."""
    found = heavy("many", MANY, 2, timeout=600)
    answers = {int(answer): count for answer, count in found["answers"].items()}
    assert found["sites"] >= min(MANY, 10_000) and answers[kd.ARMED] >= 0.9 * found["sites"]
    assert set(answers) <= {kd.ARMED, kd.FORBIDDEN, kd.FIXED_PLACE, kd.TWO_FUNCTIONS}
    assert found["count"] > 100
    assert found["different"] == []


def test_wrong_sites_are_refused(act):
    found = act("refusals")
    assert found["tried"] > 10 and found["wrong"] == {}
    assert found["twice"] == [kd.ARMED, kd.OVERLAPS] and found["again"] == [kd.OVERLAPS]
    assert found["kept"] == 0 and found["end"] == [kd.ARMED]


def test_calls_at_the_wrong_time(act):
    found = act("sessions")
    assert found.pop("nobody") == errno.EPERM  # although the file's mode let it
    assert found.pop("mode") == "0o600"
    assert found == {"second": "EBUSY", "arm unsealed": "EBUSY", "write nowhere": "EBUSY", "no code": "EINVAL", "too much code": "EINVAL",
                     "second block": "EBUSY", "write behind": "EINVAL", "write far behind": "EINVAL", "write sealed": "EBUSY", "seal again": "EBUSY",
                     "unknown call": "EINVAL", "counters": "EINVAL", "after": "none"}


def test_a_session_that_is_killed_leaves_nothing(heavy):
    found = heavy("killed", KILLS, 20261128, timeout=60 + 10 * KILLS)
    assert found["sites"] == 500 and found["different"] == []


def test_a_kprobe_on_a_jump_keeps_it_until_it_goes(act):
    """Old bytes under a kprobe would be lost, and it would write our jump again when it goes."""
    found = act("kprobe_on_top")
    assert found == {"armed": [kd.ARMED], "count": 1, "kept": 1, "answer": [kd.KEPT], "next": "EBUSY", "same": True, "after": "none"}


def test_any_calls_do_no_harm(run_action):
    program = paths.BUILD / "kernel" / "device_fuzzer"
    assert program.exists(), "kernel/device_fuzzer is not built"
    found = run_action(program, CALLS, FUZZED_SECONDS, 20261128, timeout=FUZZED_SECONDS + 200)
    assert found["same"] and (found["armed"] > 0 or found["calls"] < 10_000)
    assert found["calls"] == CALLS or not LONG
    assert set(found["errors"]) <= {"none", "EINVAL", "EFAULT", "EBUSY", "ENOMEM", "ENOTTY"} and found["errors"]["EINVAL"] > 100


def test_no_function_of_the_kernel_is_called_by_pointer(built):
    """Such a call faults where the kernel has sealed the function against it (IBT), which QEMU's processor does not show."""
    code = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", built], capture_output=True, text=True, check=True).stdout
    callers = {part.split(">:")[0].split("<")[-1] for part in code.split("\n\n") if "__x86_indirect_thunk" in part or "call   *" in part}
    assert callers <= {"in_slices"}  # calls steps of text.c only
