# SPDX-License-Identifier: Apache-2.0
"""`djtap --stress kernel` in a guest: what became of the functions, and whether the text is what it was before."""
import re
import shlex

from support import paths

READ = paths.ROOT / "tests" / "kernel" / "read_kernel.py"
LIVE = paths.BUILD / "kernel" / "live_kernel"
LOAD = "for i in $(seq 30); do /bin/true; done"  # forks and executes
REFUSED = ("the kernel forbids probes there", "fixed-place")  # by kprobes, too


def jumps_of(output):
    """(by jump, that may be probed) of a stress report."""
    rows = [(state, int(count), reason) for kind, state, count, reason in re.findall(r"^  (\S) (\S+) +(\d+) *(.*)$", output, re.M) if kind == "e"]
    may = sum(count for _, count, reason in rows if reason not in REFUSED)
    return sum(count for state, count, _ in rows if state == "OPTIMIZED"), may


def keep_text(guest):
    """Keeps the text as it is now, for check_text()."""
    assert guest.run(f"{LIVE} write /run/before.elf", timeout=300) == (0, "")


def check_text(guest):
    status, output = guest.run(f"python3 {READ} /run/before.elf", timeout=900)
    assert status == 0 and re.search(r"^\.text \d+ bytes, 0 differ$", output, re.M), output


def check_stress(guest):
    """Probes every function at once while processes begin and end. Call keep_text() before, once."""
    words = shlex.join([str(paths.DJTAP), "--stress", "kernel", "-c", f"bash -c '{LOAD}'"])
    status, output = guest.run(f"cd {paths.ROOT} && {words}", timeout=900)
    assert status == 0, output
    jumps, may = jumps_of(output)
    assert may > 30_000 and jumps >= 0.992 * may, output
    assert int(re.search(r"^stress: (\d+) hits", output, re.M)[1]) > 100_000, output
    check_text(guest)
