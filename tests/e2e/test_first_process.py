# SPDX-License-Identifier: Apache-2.0
"""djtap as the command of a container: process 1 of its pid namespace reaps what loses its parent, and is djtap in all else."""
import os
import signal
import subprocess

import pytest

from support import run
from support.paths import victim

SPACE = ["unshare", *(["-pf"] if os.geteuid() == 0 else ["-Urpf"]), "--mount-proc", "--kill-child"]
pytestmark = pytest.mark.skipif(subprocess.run([*SPACE, "true"], capture_output=True, check=False).returncode != 0,
                                reason=f"{' '.join(SPACE)} is not allowed here")
COUNT = victim("count")
SCRIPT = f'probe process("{COUNT}").function("work") {{ n++ }}'
WAITING = "printf 'waiting: %s\\n' $(grep -l '^State:.Z' /proc/[0-9]*/status 2>/dev/null | wc -l)"
ORPHANS = f"for i in 1 2 3; do ( {COUNT} 1 & ) ; done; sleep 1; {WAITING}"


def test_orphans_are_reaped():
    """Those of a program that is probed, too."""
    result = run.run(["-e", SCRIPT, "--", "sh", "-c", ORPHANS], prefix=SPACE)
    assert result.returncode == 0 and result.globals["n"] == 12 and result.facts["waiting"] == 0, result


def test_without_an_init_they_wait():
    """Else the test above would see nothing."""
    told = subprocess.run([*SPACE, "/usr/bin/python3", "-c", f"import subprocess; subprocess.run(['sh', '-c', {ORPHANS!r}])"],
                          capture_output=True, text=True, check=True)
    assert "waiting: 3" in told.stdout, told


@pytest.mark.parametrize("command, code", [("sh -c 'exit 7'", 7), ("sh -c 'kill -9 $$'", 128 + signal.SIGKILL), ("true", 0)])
def test_its_exit_code_is_the_commands(command, code):
    inside, outside = (run.run(["-e", "probe begin { n++ }", "-c", command], prefix=prefix) for prefix in (SPACE, ()))
    assert inside.returncode == outside.returncode == code, (inside, outside)
    assert inside.globals == outside.globals == {"n": 1}, (inside, outside)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_session(program, stop):
    """As `docker stop` sends it: from outside, to process 1."""
    outer = program(*SPACE, *run.command(["-e", 'probe begin { println("begun") } probe timer.s(60) { n++; exit() }']))
    outer.wait_for("begun")
    with open(f"/proc/{outer.pid}/task/{outer.pid}/children", encoding="ascii") as file:
        first = int(file.read())
    with open(f"/proc/{first}/task/{first}/children", encoding="ascii") as file:
        assert len(file.read().split()) == 1  # djtap itself
    os.kill(first, stop)
    result = outer.finish()
    assert "n=0" in result.stdout, result
