# SPDX-License-Identifier: Apache-2.0
"""Probes of several points at one place: each is hit for itself, in any order, and pp() says its own point; truth: the victims count themselves."""
import itertools
import re
import subprocess

from support.paths import symbol_address, victim

COUNT, MARKS = victim("count"), victim("marks")


def first_mark():
    notes = subprocess.run(["readelf", "-n", MARKS], capture_output=True, text=True, check=True).stdout
    return re.search(r"Name: plain\s+Location: (0x[0-9a-f]+)", notes)[1]


def check(djtap, points, program, hits, names):
    """names: how many points pp() tells apart."""
    for order in itertools.permutations(points):
        script = "".join(f"probe {point} {{ n[{number}, pp()]++ }} " for number, point in enumerate(order))
        result = djtap("-e", script, "-c", program)
        found = result.array("n")
        assert result.returncode == 0 and [int(count) for _, count in found] == [hits(result)] * len(points), result
        assert len({key.partition(",")[2] for key, _ in found}) == names, result


def test_a_mark_and_its_address(djtap):
    check(djtap, [f'process("{MARKS}").mark("plain")', f'process("{MARKS}").statement({first_mark()})'], MARKS, lambda result: result.facts["plain"], 2)


def test_a_function_and_its_address(djtap):
    address = symbol_address(COUNT, "work")
    check(djtap, [f'process("{COUNT}").function("work")', f'process("{COUNT}").statement({address:#x})'], COUNT, lambda result: result.facts["work calls"], 1)


def test_the_end_and_the_exit(djtap):
    check(djtap, ["process.end", 'func("libc.so.6!_exit")'], COUNT, lambda result: 1, 2)
