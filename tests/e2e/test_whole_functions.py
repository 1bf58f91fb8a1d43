# SPDX-License-Identifier: Apache-2.0
"""Short functions that go into their detours whole: they do what they did, and other probes in them are hit as before."""
import struct
import subprocess

import pytest

from support import process
from support.paths import symbol_address, victim

FUNCTIONS = ("straight", "branching", "looping", "loading")
COUNTS = " ".join(f'probe func("{name}") {{ {name}++ }}' for name in FUNCTIONS)


def unprobed():
    return subprocess.run([victim("brief")], capture_output=True, text=True, check=True).stdout


def test_their_calls_are_counted(djtap):
    for _ in range(2):  # again with what the first session has kept
        result = djtap("-e", COUNTS, "-c", victim("brief"))
        calls = result.facts["calls"]
        assert calls == 1000 and result.globals == dict.fromkeys(FUNCTIONS, calls), result
        assert result.stdout.startswith(unprobed()), result


@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_other_place_in_them_is_hit(djtap, function):
    """One of the places behind the first: how often control comes there does not depend on the probe of the entry."""
    for place, _ in process.instructions(victim("brief"), function, fillers=False)[1:]:
        other = f"probe process.statement({place}) {{ others++ }}"
        alone = djtap("-e", "global others " + other, "-c", victim("brief"))
        both = djtap("-e", f'global others probe func("{function}") {{ calls++ }} {other}', "-c", victim("brief"))
        assert both.globals == {"calls": 1000, **alone.globals} and alone.globals["others"] >= 250, both
        assert both.stdout.startswith(unprobed()), both


def detour_of(pid, function):
    """Bytes of where the jump at its entry leads."""
    base = min(begin for begin, _, _, path in process.mappings(pid) if path == victim("brief"))
    entry = base + symbol_address(victim("brief"), function)
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(entry)
        jump, distance = struct.unpack("<Bi", memory.read(5))
        assert jump == 0xe9
        memory.seek(entry + 5 + distance)
        return memory.read(64)


@pytest.mark.parametrize("mode", ["jump"])
@pytest.mark.parametrize("body, whole", [("n++", True), ("m[pid()]++", False)])
def test_only_those_that_are_counted_go_along(attach, program, mode, body, whole):
    target = program(victim("brief"), str(10**12))
    places = [place for place, _ in process.instructions(victim("brief"), "straight", fillers=False)]
    with open(victim("brief"), "rb") as file:
        file.seek(places[2])  # this program's text lies in the file where it lies in memory
        rest = file.read(places[-1] + 1 - places[2])
    assert rest.endswith(b"\xc3") and len(rest) > 8
    attach(target.pid, f'probe func("straight") {{ {body} }}')
    assert (rest in detour_of(target.pid, "straight")) == whole
