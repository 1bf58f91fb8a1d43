# SPDX-License-Identifier: Apache-2.0
"""Stripped programs: functions without names come from .eh_frame and are called by their addresses."""
import re
import subprocess

import pytest

from support.paths import victim


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def address_of(program, name):
    return int(re.search(rf"^([0-9a-f]+) \w {name}$", output("nm", program), re.M).group(1), 16)


@pytest.fixture(scope="module", params=["count", "count_nopie"])
def stripped(request, tmp_path_factory):
    """A stripped copy, and the address of work() that the symbols of the original tell."""
    program = tmp_path_factory.mktemp("stripped") / request.param
    subprocess.run(["strip", "-o", program, victim(request.param)], check=True)
    return str(program), address_of(victim(request.param), "work")


def test_a_function_by_its_address(djtap, stripped):
    program, work = stripped
    result = djtap("-e", f'probe func("{work:#x}") {{ n++ }} probe func("{work:#x}").return {{ r++ }} probe process.function({work}) {{ f++ }}', "-c", program)
    assert result.returncode == 0, result
    assert result.globals == dict.fromkeys("nrf", result.facts["work calls"]), result


def test_every_function_has_a_place(djtap, stripped):
    program, work = stripped
    listed = djtap("-l", f'process("{program}").function("*")').stdout
    ranges = {int(begin, 16) for begin in re.findall(r"FDE .*pc=0*([0-9a-f]+)\.\.", output("readelf", "--debug-dump=frames", program))}
    found = {int(place, 16) for place in re.findall(r'function\("(0x[0-9a-f]+)"\)', listed)}
    assert work in found and found <= ranges, listed


def test_stress_counts_nameless_functions(djtap, stripped):
    program, work = stripped
    result = djtap("--stress", "--", program)
    assert result.returncode == 0 and result.facts["work calls"] == 4000, result
    assert re.search(rf'^ +4000 process\("{program}"\)\.function\("{work:#x}"\)$', result.stderr, re.M), result


def test_cold_parts_are_no_functions(djtap):
    """What gcc moved to .text.unlikely begins in the middle of a frame: readelf shows a CFA that is not rsp+8."""
    frames = output("readelf", "--debug-dump=frames-interp", "/usr/bin/bash")
    inside = set()
    for begin, first in re.findall(r"FDE .*pc=0*([0-9a-f]+)\.\.[0-9a-f]+\n +LOC +CFA.*\n[0-9a-f]+ (\S+)", frames):
        if first != "rsp+8":
            inside.add(int(begin, 16))
    listed = djtap("-l", 'process("/usr/bin/bash").function("0x*")').stdout
    found = {int(place, 16) for place in re.findall(r'function\("(0x[0-9a-f]+)"\)', listed)}
    assert inside and not found & inside, sorted(found & inside)[:5]


def test_no_such_address(djtap, stripped):
    result = djtap("-e", 'probe func("0x1") { n++ }', "-c", stripped[0])
    assert "DJ3004" in result.stderr and "called by its address" in result.stderr, result
