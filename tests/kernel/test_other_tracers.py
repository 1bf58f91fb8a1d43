# SPDX-License-Identifier: Apache-2.0
"""djtap's probe and the kernel's own tracers on one function: each counts what it should, in any order (device_tracers runs in the guest)."""
import os

from support import paths

ROUNDS = 200 if os.environ.get("DJTAP_STRESS") == "long" else 20


def test_in_any_order(run_action):
    program = paths.BUILD / "kernel" / "device_tracers"
    assert program.exists(), "kernel/device_tracers is not built"
    found = run_action(program, ROUNDS, 20261128, timeout=120 + 10 * ROUNDS)
    assert found["wrong"] == "" and found["same"]
    assert set(found["on"]) == {"djtap", "ftrace", "kprobe", "bpf", "above"} and min(found["on"].values()) > 0, found
