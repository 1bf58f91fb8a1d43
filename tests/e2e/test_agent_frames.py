# SPDX-License-Identifier: Apache-2.0
"""The agent's call frame information at every instruction: a signal handler of the program that unwinds may interrupt any."""
import re
import subprocess

import pytest

from support import paths

MOVES = [(r"(push|pushf)q?\b", lambda m: 8), (r"(pop|popf)q?\b", lambda m: -8),
         (r"sub +\$0x([0-9a-f]+),%rsp", lambda m: int(m[1], 16)), (r"add +\$0x([0-9a-f]+),%rsp", lambda m: -int(m[1], 16)),
         (r"lea +(-?)0x([0-9a-f]+)\(%rsp\),%rsp", lambda m: int(m[2], 16) * (1 if m[1] else -1))]


@pytest.fixture(name="agent")
def linked_agent(tmp_path):
    """Its sections in one place, each at addresses of its own."""
    path = tmp_path / "agent"
    object_file = paths.BUILD / "agent" / "agent.o.r"
    missing = subprocess.run(["nm", "-u", object_file], capture_output=True, text=True, check=True).stdout.split()[1::2]
    values = [f"--defsym={name}=0" for name in missing]
    subprocess.run(["ld", "-e", "0", *values, object_file, "-o", path], check=True)
    return path


def instructions(agent):
    """{address: (next address, text)} of the code."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", agent], capture_output=True, text=True, check=True).stdout
    found = [(int(at, 16), words) for at, words in re.findall(r"^ +([0-9a-f]+):\t(.*)$", text, re.M)]
    return {at: (following, words) for (at, words), (following, _) in zip(found, found[1:])}


def frames(agent):
    """[(begin, end, {address: distance of the frame from rsp})]: the rows of each function whose frame is known by rsp."""
    text = subprocess.run(["readelf", "--debug-dump=frames-interp", agent], capture_output=True, text=True, check=True).stdout
    found = []
    for begin, end, body in re.findall(r"FDE .*?pc=([0-9a-f]+)\.\.([0-9a-f]+)\n((?: +LOC.*\n(?:[0-9a-f]{16} .*\n)+)?)", text):
        rows = {int(at, 16): frame for at, frame in re.findall(r"^([0-9a-f]{16}) (\S+)", body, re.M)}
        found.append((int(begin, 16), int(end, 16), rows))
    return found


def test_frames_follow_every_push(agent):
    """What moves the stack pointer by a known number moves the frame by the same, at that instruction."""
    code = instructions(agent)
    looked_at = 0
    for begin, end, rows in frames(agent):
        at, frame = begin, "rsp+8"
        while at < end and at in code:
            frame = rows.get(at, frame)
            following, words = code[at]
            by = next((distance(match) for pattern, distance in MOVES if (match := re.match(pattern, words))), 0)
            known = frame.startswith("rsp") and following < end
            if by != 0 and known:
                told = rows.get(following, frame)
                assert told == f"rsp{int(frame[3:]) + by:+}", f"{at:#x}: {words}: the frame was {frame} and is said to be {told}"
                looked_at += 1
            at = following
    assert looked_at > 1000
