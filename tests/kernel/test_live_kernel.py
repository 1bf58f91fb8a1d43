# SPDX-License-Identifier: Apache-2.0
"""The running kernel as a file: its bytes by /proc/kcore as Python reads it in the guest (read_kernel.py)."""
import re

import pytest

from support import paths

PROGRAM = paths.BUILD / "kernel" / "live_kernel"
READ = paths.ROOT / "tests" / "kernel" / "read_kernel.py"


@pytest.fixture(scope="module")
def live(guest):
    """A guest with the file."""
    assert PROGRAM.exists(), "kernel/live_kernel is not built"
    assert guest.run(f"{PROGRAM} write /run/kernel.elf", timeout=300) == (0, "")
    yield guest
    guest.run("rm -f /run/kernel.elf")


def test_bytes_are_the_kernels(live):
    """Apart from those of static keys and calls, which the kernel may change meanwhile."""
    status, output = live.run(f"python3 {READ} /run/kernel.elf", timeout=300)
    assert status == 0, output
    sections = dict(re.findall(r"^(\S+) (\d+) bytes, 0 differ$", output, re.M))
    assert {".text", ".rodata", "__ex_table", "__jump_table", ".static_call_sites", "__bug_table"} <= set(sections), output
    assert re.findall(r"^\S+ \d+ bytes, (?!0 )\d+ differ$", output, re.M) == [], output
