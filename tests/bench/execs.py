# SPDX-License-Identifier: Apache-2.0
"""What following costs: milliseconds that an exec in a shell's loop takes more than without a tracer, under djtap with ten probes
and under `strace -f -e trace=none`, once their beginnings are over; how fast a `make -j2` is with one function of libc counted,
and under `strace -f -c`; and seconds until djtap has probed one and two processes of a program. In turn; medians.

    /usr/bin/python3 tests/bench/execs.py [EXECS [ROUNDS [COMPILES]]]
"""
import pathlib
import statistics
import subprocess
import sys
import tempfile
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
    """An exec more, not the first ones: djtap's own start and the first plan are left out."""
    count, few = built.victim("count"), 20

    def loop(number):
        return ["sh", "-c", f"for i in $(seq {number}); do {count} 1; done"]

    script = f'probe process("{count}").function("work") {{ n++ }} ' + "".join(f'probe func("libc.so.6!{name}") ? {{ m++ }} ' for name in PROBED)
    ways = {"bare": [], "strace": ["strace", "-f", "-e", "trace=none", "-o", "/dev/null"], "djtap": run.command(["-e", script, "--"])}
    runs = {name: [] for name in ways}
    for _ in range(rounds):
        for name, words in ways.items():
            runs[name].append((seconds([*words, *loop(few + execs)]) - seconds([*words, *loop(few)])) * 1000 / execs)
    median = {name: statistics.median(all_runs) for name, all_runs in runs.items()}
    added = {name: median[name] - median["bare"] for name in ("strace", "djtap")}
    print(f"ms an exec: bare {median['bare']:.2f}, strace + {added['strace']:.2f}, djtap + {added['djtap']:.2f}: "
          f"{added['djtap'] / added['strace']:.2f} of strace's")


def source(number):
    return "#include <stdio.h>\n#include <string.h>\n" + "".join(
        f'int f{number}_{i}(int a, char *b) {{ int s = 0; for (int i = 0; i < a; i++) s += b[i] * {i} + (int)strlen(b); printf("%d", s); return s; }}\n'
        for i in range(30))


def make(compiles, rounds):
    script = 'probe func("libc.so.6!fopen") { n++ }'
    ways = {"bare": [], "strace": ["strace", "-f", "-c", "-o", "/dev/null"], "djtap": run.command(["-e", script, "--"])}
    runs = {name: [] for name in ways}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(compiles):
            pathlib.Path(folder, f"f{number}.c").write_text(source(number))
        pathlib.Path(folder, "Makefile").write_text("all: $(patsubst %.c,%.o,$(wildcard *.c))\n%.o: %.c\n\tgcc -O2 -c $< -o $@\n")
        for _ in range(rounds):
            for name, words in ways.items():
                for made in pathlib.Path(folder).glob("*.o"):
                    made.unlink()
                runs[name].append(seconds([*words, "make", "-s", "-j2"], cwd=folder))
    median = {name: statistics.median(all_runs) for name, all_runs in runs.items()}
    print(f"s of a make of {compiles}: bare {median['bare']:.2f}, strace {median['strace']:.2f}, djtap {median['djtap']:.2f}: "
          f"{median['bare'] / median['djtap']:.2f} of its speed")


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
    make(int(sys.argv[3]) if len(sys.argv) > 3 else 200, int(sys.argv[2]) if len(sys.argv) > 2 else 3)
    attach(3 * (int(sys.argv[2]) if len(sys.argv) > 2 else 3))
