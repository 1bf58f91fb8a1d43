# SPDX-License-Identifier: Apache-2.0
"""Probes at random instructions of real programs: thousands at once, results as without djtap.

A round is repeated by its seed:  DJTAP_STRESS_SEED=S pytest tests/stress/test_random_addresses.py
The short form always has the same one, so that a failure is a change's; the long form looks for new ones.
"""
import functools
import os
import random
import re
import subprocess

import pytest

import workloads

pytestmark = [pytest.mark.stress, pytest.mark.timeout(1800)]

SEED = int(os.environ.get("DJTAP_STRESS_SEED") or (random.SystemRandom().randrange(2**32) if workloads.LONG else 1))
ROUNDS = 20 if workloads.LONG else 1
POINTS = 4000  # a quarter of them begin an instruction
# Which files of a program get probes.
FILES = {"python": ["/usr/bin/python3.11", "libc.so.6"], "sqlite": ["libsqlite3.so.0", "libc.so.6"],
         "bash": ["/bin/bash", "libc.so.6"], "redis": ["/usr/bin/redis-server", "libc.so.6"],
         "cc1": ["cc1"], "node": ["/usr/bin/node"]}


def path_of(file, words):
    if file == "cc1":
        return words[0]
    return os.path.realpath(file if "/" in file else f"/usr/lib/x86_64-linux-gnu/{file}")


@functools.cache
def functions_of(path):
    """(address, size, name) of a file's functions, by readelf: frames know those that no symbol names."""
    told = subprocess.run(["readelf", "-W", "--dyn-syms", "--debug-dump=frames", path], capture_output=True, text=True, check=False)
    names = {int(address, 16): name for address, name in re.findall(r": ([0-9a-f]{16}) +\d+ (?:FUNC|IFUNC) +\w+ +\w+ +\d+ (\w+)", told.stdout)}
    spans = [(int(begin, 16), int(end, 16)) for begin, end in re.findall(r" FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)$", told.stdout, re.M)]
    return sorted({(begin, end - begin, names.get(begin)) for begin, end in spans if end - begin > 4})


def points(path, form, generator):
    """Random bytes of functions; where no instruction begins, the question mark drops the point. And returns between them."""
    functions = functions_of(path)
    sizes = [size for _, size, _ in functions]
    for begin, size, name in generator.choices(functions, sizes, k=POINTS):
        if form == "returns" and name and generator.randrange(2):
            yield f'process("{path}").function("{name}").return?'
        else:
            yield f'process("{path}").statement({begin + generator.randrange(size):#x})?'


def script_of(chosen):
    """Each counts; a return also compares a value that was kept at the entry."""
    returns = [point for point in chosen if ".return" in point]
    text = "probe " + ",\n  ".join(point for point in chosen if ".return" not in point) + " { n++ }\n"
    if returns:
        text += "probe " + ",\n  ".join(returns) + " { n++; if (@entry(tid()) != tid()) wrong++ }\n"
    return text


@pytest.mark.parametrize("round_number", range(ROUNDS))
@pytest.mark.parametrize("form", ["jump", "int3", "returns"])
@pytest.mark.parametrize("name", FILES)
def test_results_are_those_of_an_unprobed_run(name, form, round_number, tmp_path):
    if why := workloads.missing(name):
        pytest.skip(why)
    seed = f"{SEED} {name} {round_number}"
    print(f"DJTAP_STRESS_SEED={SEED}, round {round_number}")
    workload = workloads.ALL[name](tmp_path, "small" if form == "int3" else "medium")
    generator = random.Random(seed)
    if not functions_of(path_of(FILES[name][0], workload.words)):
        pytest.skip(f"{FILES[name][0]} names no function")
    chosen = [point for file in FILES[name] for point in points(path_of(file, workload.words), form, generator)]
    script = tmp_path / "script.djt"
    script.write_text(script_of(chosen))
    before = workload.plain()
    output = tmp_path / "numbers"
    after, stderr = workload.probed("--probes", "-o", output, *(["--no-optimize"] if form == "int3" else []), script)
    assert after == before, f"{seed}: {stderr}"
    armed = stderr.count("[INT3" if form == "int3" else "[OPTIMIZED")
    assert armed > POINTS / 20, f"{seed}: {stderr}"
    numbers = output.read_text()
    assert re.search(r"^n=\d+$", numbers, re.M), f"{seed}: {numbers} {stderr}"
    assert re.findall(r"^wrong=(.*)$", numbers, re.M) in ([], ["0"]), f"{seed}: {numbers} {stderr}"
