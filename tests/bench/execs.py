# SPDX-License-Identifier: Apache-2.0
"""What following costs: milliseconds that an exec in a shell's loop takes more than without a tracer, under djtap with ten probes
and under `strace -f -e trace=none`; and seconds until djtap has probed one and two processes of a program. In turn; medians.

    /usr/bin/python3 tests/bench/execs.py [EXECS [ROUNDS]]
"""
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True

from support import built, run  # noqa: E402

PROBED = ["malloc", "free", "calloc", "realloc", "getenv", "strlen", "memcpy", "open", "close"]


def seconds(words, **options):
    begin = time.monotonic()
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, **options)
    return time.monotonic() - begin


def follow(execs, rounds):
    count = built.victim("count")
    loop = ["sh", "-c", f"for i in $(seq {execs}); do {count} 1; done"]
    script = f'probe process("{count}").function("work") {{ n++ }} ' + "".join(f'probe func("libc.so.6!{name}") ? {{ m++ }} ' for name in PROBED)
    ways = {"bare": loop, "strace": ["strace", "-f", "-e", "trace=none", "-o", "/dev/null", *loop], "djtap": run.command(["-e", script, "--", *loop])}
    runs = {name: [] for name in ways}
    for _ in range(rounds):
        for name, words in ways.items():
            runs[name].append(seconds(words) * 1000 / execs)
    median = {name: statistics.median(all_runs) for name, all_runs in runs.items()}
    added = {name: median[name] - median["bare"] for name in ("strace", "djtap")}
    print(f"ms an exec: bare {median['bare']:.2f}, strace + {added['strace']:.2f}, djtap + {added['djtap']:.2f}: "
          f"{added['djtap'] / added['strace']:.2f} of strace's")


def attach(rounds):
    script = " ".join(f'probe func("libc.so.6!{name}") ? {{ m++ }}' for name in PROBED) + " probe timer.ms(1) { exit() }"
    victims = [subprocess.Popen([built.victim("commander")], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    for victim in victims:
        victim.stdout.readline()
    pids = [str(victim.pid) for victim in victims]
    runs = {1: [], 2: []}
    for _ in range(rounds):
        for number, all_runs in runs.items():
            all_runs.append(seconds(run.command(["-e", script, "-p", ",".join(pids[:number])])))
    for victim in victims:
        victim.kill()
        victim.wait()
    one, two = (statistics.median(all_runs) for all_runs in runs.values())
    print(f"ms of a session: one process {one * 1000:.0f}, two {two * 1000:.0f}: the second {(two - one) / one:.2f} of the first")


if __name__ == "__main__":
    follow(int(sys.argv[1]) if len(sys.argv) > 1 else 200, int(sys.argv[2]) if len(sys.argv) > 2 else 3)
    attach(3 * (int(sys.argv[2]) if len(sys.argv) > 2 else 3))
