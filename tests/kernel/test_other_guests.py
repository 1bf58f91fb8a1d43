# SPDX-License-Identifier: Apache-2.0
"""The module in guests of other kinds: a kernel that preempts itself, and a processor for which it makes jumps of its returns."""
import json
import os
import re
import shlex
import shutil

import pytest

from support import guest as guests
from support import kernel_device as kd
from support import kernel_stress as stress
from support import paths

LONG = os.environ.get("DJTAP_STRESS") == "long"
MANY, KILLS, ROUNDS = (100_000, 20, 200) if LONG else (1000, 1, 10)
PREEMPT, RETURNS = ("preempt=full", "max"), ("", "EPYC-Rome")
KINDS = [(series, *kind) for series in guests.SERIES for kind in (PREEMPT, RETURNS)] if LONG else [("6.1", *RETURNS), ("6.12", *PREEMPT)]
PROGRAMS = paths.BUILD / "kernel"


def run(guest, *words, timeout=300):
    """What a program prints."""
    status, output = guest.run(shlex.join(map(str, words)), timeout)
    assert status == 0, output
    return output


def act(guest, program, *words, timeout=300):
    return json.loads(run(guest, PROGRAMS / program, *words, timeout=timeout))


def check_kind(guest, append, cpu):
    if append == "preempt=full":
        assert "(full)" in run(guest, "cat", "/sys/kernel/debug/sched/preempt")
    if cpu == "EPYC-Rome":
        assert "untrained return thunk" in run(guest, "cat", "/sys/devices/system/cpu/vulnerabilities/retbleed")


def check_module(guest):
    """What test_module.py does, in short."""
    found = act(guest, "device_actions", "many", MANY, 2, timeout=600)
    assert found["answers"][str(kd.ARMED)] >= 0.9 * found["sites"] and found["count"] > 100 and found["different"] == []
    found = act(guest, "device_actions", "module", "9p", f"ls {paths.ROOT}/arch {paths.ROOT}/runtime >/dev/null")
    assert found["answers"][str(kd.ARMED)] > 10 and found["count"] > 10 and found["different"] == []
    assert act(guest, "device_actions", "killed", KILLS, 20261128, timeout=60 + 10 * KILLS)["different"] == []
    found = act(guest, "device_tracers", ROUNDS, 7, timeout=120 + 10 * ROUNDS)
    assert found["wrong"] == "" and found["same"]


def check_stress(guest):
    """Every function of the kernel at once, as test_session.py has it. It takes minutes."""
    if not LONG:
        return
    stress.keep_text(guest)
    for _ in range(2):
        stress.check_stress(guest)


def check_returns(guest):
    """A jump to a return thunk is a return: none of the exits by tail call, as binutils and kallsyms know where they lead."""
    run(guest, PROGRAMS / "live_kernel", "module", "9p", "/run/9p.elf")
    thunks = {int(line.split()[0], 16) for line in run(guest, "grep", "_return_thunk$", "/proc/kallsyms").splitlines()}
    jumps = dict(re.findall(r"^ *([0-9a-f]+):\s+jmp +(?:0x)?([0-9a-f]+)", run(guest, "objdump", "-d", "--no-show-raw-insn", "/run/9p.elf"), re.M))
    returns = {int(at, 16) for at, to in jumps.items() if int(to, 16) in thunks}
    assert len(returns) > 50
    exits = [line.split() for line in run(guest, PROGRAMS / "live_kernel", "places", "/run/9p.elf").splitlines() if line.startswith("exit")]
    ways = {int(words[2], 16): words[-1] for words in exits}
    assert {ways[at] for at in returns & set(ways)} == {"return"} and len(returns & set(ways)) > 50


@pytest.mark.parametrize("series, append, cpu", KINDS)
def test_module_works_there(series, append, cpu, tmp_path):
    try:
        booted = guests.Guest(series, append, cpu)
    except guests.Unavailable as why:
        pytest.skip(str(why))
    for path in (paths.ROOT / "kernel").iterdir():
        shutil.copy(path, tmp_path)
    with booted as guest:
        status, output = guests.build_module(guest.tree, tmp_path)
        assert status == 0, output
        check_kind(guest, append, cpu)
        run(guest, "busybox", "insmod", tmp_path / "djtap.ko")
        check_module(guest)
        check_stress(guest)
        run(guest, "busybox", "rmmod", "djtap")
        if cpu == "EPYC-Rome":
            check_returns(guest)
        assert guest.new_complaints() == []
