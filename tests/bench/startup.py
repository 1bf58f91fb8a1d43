# SPDX-License-Identifier: Apache-2.0
"""Milliseconds from the start of djtap to its first armed probe, of a script that djtap has compiled before ("again") and
of one that it has not ("new"), and those that parse and check of 1,000 lines take; best and median of ten, against the bounds.

    /usr/bin/python3 tests/bench/startup.py
"""
import os
import pathlib
import re
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True

from support import built, run  # noqa: E402

COUNT = built.victim("count")
ROWS = [
    ("one-liner on a small program", ["-e", 'probe func("work") < count++ >', "-c", f"{COUNT} 1 1"], 60),
    ("a probe of a tapset", ["-e", 'probe syscall.unlink { n[pathname]++ }', "-c", f"{COUNT} 1 1"], 60),
    ("malloc with libc6-dbg", ["-e", 'probe func("malloc") < count++ >', "-c", "/bin/ls /"], 300),
    ("malloc's argument from DWARF", ["-e", 'probe func("libc.so.6!malloc") { n += $bytes }', "-c", "/bin/ls /"], 300),
]


LINES, LINES_BOUND = 1000, 50


def write_script(path):
    """Dense lines, as no script has them throughout: a condition, an array with two keys, arithmetic."""
    probe = ['probe func("f{0}*")? {{', *(f"  if (x > {i} && y != 0) a[pid(), {i}]++ else b += {i} * ({{0}} + x) / 2" for i in range(23)), "}}"]
    text = ["global x, y, a, b", *("\n".join(probe).format(number) for number in range(LINES // len(probe)))]
    path.write_text("\n".join(text) + "\n")


def parse_and_check(path):
    """What djtap itself says of its stages."""
    stages = run.run(["-v", "--stop-after=check", path]).stderr
    return sum(float(re.search(rf"{stage} +([\d.]+) ms", stages)[1]) for stage in ("parse", "tapsets", "check"))


def once(args, new):
    """From exec to the list of armed sites on stderr."""
    if new:
        for file in (pathlib.Path(os.environ["XDG_CACHE_HOME"]) / "djtap").glob("handlers-*"):
            file.unlink()
    began = time.monotonic()
    with run.Background(run.command(["--probes", *args])) as tracer:
        tracer.wait_for(r"\[(OPTIMIZED|INT3)", 30)
        armed = time.monotonic() - began
        tracer.finish()
    return armed * 1000


def is_under(name, measure, bound):
    times = sorted(measure() for _ in range(10))
    middle = statistics.median(times)
    print(f"{name:36} best {times[0]:6.1f} ms, median {middle:6.1f} ms, to be under {bound} ms: {'yes' if middle < bound else 'NO'}")
    return middle < bound


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        good = []
        for name, args, bound in ROWS:
            once(args, True)  # the target's analysis is kept from here on
            for new in (False, True):
                good.append(is_under(f"{name}, {'new' if new else 'again'}", lambda args=args, new=new: once(args, new), bound))
        script = pathlib.Path(folder) / "lines.djt"
        write_script(script)
        good.append(is_under(f"parse and check of {LINES} lines", lambda: parse_and_check(script), LINES_BOUND))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
