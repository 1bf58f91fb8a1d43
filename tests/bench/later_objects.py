# SPDX-License-Identifier: Apache-2.0
"""Milliseconds that a dlopen() of a small object takes under djtap, as the objects that are there grow in number: each is a
copy of one library with 2 functions. Bare and probed runs in turn; medians of the runs, of the first and the last 20 objects.

    /usr/bin/python3 tests/bench/later_objects.py [NUMBER]
"""
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True

from support import built, run  # noqa: E402

ROUNDS, ENDS = 3, 20
SCRIPTS = [("bare", None), ("malloc", 'probe func("malloc") { n++ }'), ("every function", 'probe func("*!*") { n++ }')]


def milliseconds(script, words):
    """Of each object."""
    text = (subprocess.run(words, capture_output=True, text=True, check=True).stdout if script is None
            else run.run(["-e", script, "--", *words]).stdout)
    return [int(ns) / 1e6 for ns in re.findall(r"^opened in ns: (\d+)$", text, re.M)]


def main():
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    with tempfile.TemporaryDirectory() as folder:
        library = built.program("targets/libctor.so", "victim_ctor_lib")
        for i in range(number):
            shutil.copy(library, f"{folder}/{i}.so")
        words = [built.victim("many_objects"), folder, str(number)]
        runs = {name: [] for name, _ in SCRIPTS}
        for _ in range(ROUNDS):
            for name, script in SCRIPTS:
                runs[name].append(milliseconds(script, words))
        print(f"{'ms a dlopen':16} {'first ' + str(ENDS):>10} {'last ' + str(ENDS):>10} {'all':>10}")
        for name, all_runs in runs.items():
            figures = [statistics.median(statistics.median(part(one)) for one in all_runs)
                       for part in (lambda one: one[:ENDS], lambda one: one[-ENDS:], lambda one: one)]
            print(f"{name:16} " + " ".join(f"{figure:10.2f}" for figure in figures))


if __name__ == "__main__":
    main()
