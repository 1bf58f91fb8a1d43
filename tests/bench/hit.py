# SPDX-License-Identifier: Apache-2.0
"""Nanoseconds per hit over the unprobed call, by jump and by int3, and of bpftrace's uprobe where it can run.

    /usr/bin/python3 tests/bench/hit.py
"""
import os
import pathlib
import shutil
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True

from support import built, run  # noqa: E402

HIT = built.program("bench/hit", "hit")
ROWS = [
    ("djtap count++", 'probe func("bare") { count++ }', 20_000_000),
    ("djtap two arguments into a map", 'probe func("bare") { a[$a] += $b }', 5_000_000),
    ("djtap one printf event", 'probe func("bare") { printf("%d %d\\n", $a, $b) }', 20_000),
    ("djtap return probe, count++", 'probe func("bare").return { count++ }', 20_000_000),
    ("djtap entry value and result at return", 'probe func("bare").return { s <<< $return - $a }', 2_000_000),
]
INT3_SHARE = 20  # int3 is slow: fewer calls
JUMP_BOUND_NS, INT3_RATIO = 3.0, 100  # what the jump counter is to keep


class Target:
    """The measuring program."""

    def __init__(self):
        self.program = run.Background([HIT])
        self.program.wait_for("pid: ")
        self.answers = 0

    def measure(self, calls, what="bare"):
        self.program.tell(f"{what} {calls}")
        self.answers += 1
        self.program.wait_for(rf"\A(.*\n){{{self.answers + 1}}}", 120)
        return float(self.program.stdout.splitlines()[self.answers].split()[1])


def probed(target, words, armed, calls, what="bare"):
    """ns per call while a tracer is attached."""
    with run.Background(words) as tracer:
        tracer.wait_for(armed, 30)
        nanoseconds = target.measure(calls, what)
        tracer.signal(signal.SIGINT)
        tracer.finish(60)
    return nanoseconds


def djtap_rows(target, bare):
    for name, script, calls in ROWS:
        for form, options in (("jump", []), ("int3", ["--no-optimize"])):
            words = run.command([*options, "--probes", "-o", "/dev/null", "-e", script, "-p", target.program.pid])
            armed = r"\[OPTIMIZED\]" if form == "jump" else r"\[INT3"
            share = 1 if form == "jump" else INT3_SHARE
            yield f"{name}, {form}", probed(target, words, armed, calls // share) - bare


def bpftrace_row(target, bare):
    if os.getuid() != 0 or not shutil.which("bpftrace"):
        return []
    script = f'BEGIN {{ printf("armed\\n"); }} uprobe:{HIT}:bare {{ @ = count(); }}'
    words = ["bpftrace", "-p", target.program.pid, "-e", script]
    try:
        return [("bpftrace uprobe, count()", probed(target, words, "armed", 200_000) - bare)]
    except AssertionError as reason:
        print(f"bpftrace cannot run here: {str(reason).splitlines()[-1]}", file=sys.stderr)
        return []


def main():
    target = Target()
    with target.program:
        bare = min(target.measure(20_000_000) for _ in range(3))
        by_hand = target.measure(20_000_000, "counted") - bare
        rows = [("counter written by hand", by_hand)]
        rows += list(djtap_rows(target, bare))
        rows += bpftrace_row(target, bare)
    unit = dict(rows)["djtap count++, jump"]
    print(f"{'':46}{'ns per hit':>12}{'x count++ by jump':>20}   (bare call {bare:.2f} ns)")
    for name, nanoseconds in rows:
        print(f"{name:46}{nanoseconds:12.2f}{nanoseconds / unit if unit > 0.01 else float('inf'):20.1f}")
    int3 = dict(rows)["djtap count++, int3"]
    good = unit < JUMP_BOUND_NS and int3 > INT3_RATIO * unit
    print(f"jump counter under {JUMP_BOUND_NS} ns and {INT3_RATIO} times cheaper than int3: {'yes' if good else 'NO'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
