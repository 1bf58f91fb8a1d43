"""Milliseconds from the start of djtap to its first armed probe, best and median of ten, against the bounds.

    /usr/bin/python3 tests/bench/startup.py
"""
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True

from support import paths, run  # noqa: E402

ROWS = [
    ("one-liner on a small program", ["-e", 'probe func("work") < count++ >', "-c", f"{paths.BUILD}/targets/count 1 1"], 150),
    ("a probe of a tapset", ["-e", 'probe syscall.open { n[filename]++ }', "-c", f"{paths.BUILD}/targets/count 1 1"], 150),
    ("malloc with libc6-dbg", ["-e", 'probe func("malloc") < count++ >', "-c", "/bin/ls /"], 300),
    ("malloc's argument from DWARF", ["-e", 'probe func("libc.so.6!malloc") { n += $bytes }', "-c", "/bin/ls /"], 300),
]


def once(args):
    """From exec to the list of armed sites on stderr."""
    began = time.monotonic()
    with run.Background(run.command(["--probes", *args])) as tracer:
        tracer.wait_for(r"\[(OPTIMIZED|INT3)", 30)
        armed = time.monotonic() - began
        tracer.finish()
    return armed * 1000


def main():
    good = True
    for name, args, bound in ROWS:
        times = sorted(once(args) for _ in range(10))
        middle = statistics.median(times)
        good = good and middle < bound
        print(f"{name:34} best {times[0]:6.1f} ms, median {middle:6.1f} ms, to be under {bound} ms: "
              f"{'yes' if middle < bound else 'NO'}")
    result = run.run(["-v", *ROWS[0][1]])
    print("\n".join(line for line in result.stderr.splitlines() if "ms" in line))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
