# SPDX-License-Identifier: Apache-2.0
"""What a program ignores and blocks at its start is what it would without djtap, and its exit status is djtap's."""
import re
import signal
import subprocess

import pytest

from support import run

SCRIPT = 'probe process.begin { n++ } probe func("libc.so.6!malloc") { m++ }'
SIGNALS = [signal.SIGCHLD, signal.SIGINT, signal.SIGPIPE, signal.SIGTRAP, signal.SIGURG, signal.SIGUSR1]


def ignoring():
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def blocking():
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def signals(words, before):
    """What the program, and what it executes, say of themselves; both ways end with a status of their own."""
    ask = 'grep -E "^Sig(Ign|Blk)" /proc/self/status'
    result = subprocess.run([*words, "sh", "-c", f"{ask}; sh -c '{ask}; exit 2'; exit 3"], preexec_fn=before,
                            capture_output=True, text=True, restore_signals=False, timeout=120)
    return re.findall(r"^Sig\w+:\s+\w+$", result.stdout, re.M), result.returncode, result.stderr


@pytest.mark.parametrize("before", [None, ignoring, blocking])
def test_signals_and_the_exit_status(before):
    """A djtap that ignores SIGCHLD, as its parent had it, is not told its children's exit status by the kernel."""
    traced = signals([*run.command(["-e", SCRIPT]), "--"], before)
    assert traced == signals([], before) and traced[1] == 3 and len(traced[0]) == 4, traced
