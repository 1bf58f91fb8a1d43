# SPDX-License-Identifier: Apache-2.0
"""All tables of what djtap costs, as Markdown, with the figures of the works it follows beside.

    /usr/bin/python3 tests/bench/tables.py > docs/benchmarks.md
    /usr/bin/python3 tests/bench/tables.py hits threads lookups enabling programs      # or only some
"""
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True

import hit  # noqa: E402
import programs  # noqa: E402
from support import built, run  # noqa: E402

LOOKUP = built.program("bench/lookup", "lookup")
NODE, CC1 = "/usr/bin/node", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1"
BODIES = [("counter", "count++", "count++"), ("two arguments into a map", "a[$a] += $b", "a[$a] += $return"),
          ("printf of two numbers", r'printf("%d %d\n", $a, $b)', r'printf("%d %d\n", $a, $return)')]
PEERS = """
Earlier works, ns a hit (function entry / return):

| | int3, single step | int3, boosted | jump |
| --- | --- | --- | --- |
| djprobe paper 2005-07, tables 1 and 2 (i386) | 563-739 / 718-989 | 248-302 / 405-558 | 49-61 / 211-312 |
| jump optimization patches, LKML 2009 (x86-64) | 910 / 1,210 | 400 / 710 | 60 / 350 |
"""


def table(title, head, rows):
    print(f"\n## {title}\n\n| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(str(cell) for cell in row)} |", flush=True)


def best(target, calls, what="bare"):
    return min(target.measure(calls, what) for _ in range(3))


def probed(target, script, calls, *options):
    """ns per call while the script is armed, and the bare call right before."""
    bare = best(target, 5_000_000)
    words = run.command([*options, "--probes", "-o", "/dev/null", "-e", script, "-p", target.program.pid])
    return hit.probed(target, words, r"\[(OPTIMIZED|INT3)", calls) - bare


def gdb_breakpoint(target):
    if not shutil.which("gdb"):
        return "no gdb"
    with tempfile.NamedTemporaryFile("w", suffix=".gdb") as script:
        script.write("break *bare\ncommands\nsilent\ncontinue\nend\necho armed\\n\ncontinue\n")
        script.flush()
        with run.Background(["gdb", "-q", "-batch", "-p", target.program.pid, "-x", script.name]) as tracer:
            tracer.wait_for("armed", 60)
            nanoseconds = target.measure(2000)
            tracer.signal(signal.SIGINT)
            tracer.finish(60)
    return f"{nanoseconds:,.0f}"


def uftrace_rows(bare):
    """uftrace patches when the program starts, and writes each entry and return with its time to a file."""
    if not shutil.which("uftrace"):
        return [("uftrace", "no uftrace")]
    with tempfile.TemporaryDirectory() as folder:
        words = ["uftrace", "record", "--no-libcall", "--no-event", "-d", f"{folder}/data", "-P", "bare", hit.HIT]
        orders = "bare 300000\nquit\n"
        text = subprocess.run(words, input=orders, capture_output=True, text=True).stdout
    return [("uftrace -P, entry and return written to files", f"{float(re.search(r'ns: ([0-9.]+)', text)[1]) - bare:,.0f}")]


DURATIONS = [
    ("by @entry", 'probe func("bare").return { h <<< gettimeofday_ns() - @entry(gettimeofday_ns()) } probe end { print(@hist_log(h)) }'),
    ("by an array", 'probe func("bare") { t[tid()] = gettimeofday_ns() } '
                    'probe func("bare").return { h <<< gettimeofday_ns() - t[tid()] } probe end { print(@hist_log(h)) }'),
]


def hit_costs(target):
    rows = []
    bare = best(target, 5_000_000)
    for (name, entry, back), suffix in zip(BODIES, ("", "-map", "-printf")):
        cells = [name]
        for point, body, stepped in (("bare", entry, "stepped"), ('bare").return', back, "left")):
            cells.append(f"{best(target, 20_000, stepped + suffix) - bare:,.0f}")
            script = f'probe func("{point}") {{ {body} }}'.replace('return")', "return")
            calls = 20_000 if "printf" in body else 3_000_000
            cells += [f"{probed(target, script, calls):.1f}", f"{probed(target, script, 20_000, '--no-optimize'):,.0f}"]
        rows.append(cells)
    for name, duration in DURATIONS:
        rows.append([f"entry + return, duration {name} into a histogram", "", "", "", "", f"{probed(target, duration, 300_000):.1f}", ""])
    table("A hit, ns above the bare call", ["handler", *(f"{where}, {how}" for where in ("entry", "return")
                                                         for how in ("int3 + single step", "jump", "int3 boosted"))], rows)
    print("\nint3 + single step: in-process SIGTRAP actions written in C (`tests/bench/hit.c`); djtap itself steps nothing.")
    stepped, boosted = (best(target, 20_000, what) - bare for what in ("stepped", "boosted"))
    rows = [("increment written by hand", f"{best(target, 5_000_000, 'counted') - bare:.2f}"),
            ("int3 + single step, in-process SIGTRAP actions written in C", f"{stepped:,.0f}"),
            ("int3 boosted, the same", f"{boosted:,.0f} ({stepped / boosted:.1f} times cheaper)"),
            ("gdb breakpoint, `silent`, `continue`", gdb_breakpoint(target))]
    rows += [(name, f"{value:,.0f}") for name, value in hit.bpftrace_row(target, bare)]
    rows += uftrace_rows(bare)
    table("The same counter by other means, ns above the bare call", ["", "ns"], rows)
    print(PEERS, end="")


def lookup(*words):
    return float(subprocess.run([LOOKUP, *map(str, words)], capture_output=True, text=True, check=True).stdout.split()[1])


def instructions(*words):
    text = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", LOOKUP, *map(str, words)],
                          capture_output=True, text=True).stderr
    return int(re.search(r"Collected : (\d+)", text)[1])


def lookups():
    rows = []
    lookups, few = 1_000_000, 20_000
    for probes in (0, 1000, 10_000, 37_222, 100_000):
        for share in (1.5, 2, 8):
            for cache in (0, 1):
                cells = [f"{probes:,}", share, "on" if cache else "off"]
                cells += [f"{lookup(probes, share, lookups, hot, cache):.1f}" for hot in (16, 0)]
                if shutil.which("valgrind"):
                    each = [(instructions(probes, share, 2 * few, hot, cache) - instructions(probes, share, few, hot, cache)) / few
                            for hot in (16, 0)]
                    cells += [f"{count:.0f}" for count in each]
                else:
                    cells += ["", ""]
                rows.append(cells)
    table("Finding an int3's site, ns and instructions a look-up (loop included)",
          ["probes", "table entries a probe", "cache", "ns, 16 hot sites", "ns, all sites in turn", "instructions, 16 hot", "instructions, all"], rows)
    print("""
The scalability talk (2014) measured, for a hash table of lists, by number of entries (% overhead of a kernel with so many probes):

| probes | 64 | 128 | 256 | 512 | 1024 | 2048 | 4096 |
| --- | --- | --- | --- | --- | --- | --- | --- |
| 2,000 | 24 | 15 | 14 | 12 | 12 | 12 | 13 |
| 10,000 | 933 | 515 | 428 | 395 | 395 | 397 | 418 |

The table here grows with the probes: at most two of three entries are used.""")


def enabling():
    rows = []
    for name, command in (("node", [NODE, "-e", "1"]), ("cc1", [CC1, "--version"])):
        if not pathlib.Path(command[0]).exists():
            continue
        script = f'probe process("{command[0]}").function("*") {{ n++ }}'
        for cache, options in (("without", ["--no-cache"]), ("with", [])):
            runs = [run.run(["-v", *options, "-e", script, "-c", " ".join(command)]) for _ in range(3)]
            texts = [result.stderr for result in runs[1 if cache == "with" else 0:]]
            stages = [dict((stage, float(ms)) for stage, ms in re.findall(r"djtap: (\w+)\s+([\d.]+) ms", text)) for text in texts]
            least = {stage: min(each[stage] for each in stages) for stage in stages[0]}
            count = re.search(r"of (\d+) sites", texts[0])[1]
            whole = min(sum(ms for stage, ms in each.items() if stage != "run") for each in stages)
            rows.append((name, f"{int(count):,}", cache, f"{least['resolve']:.0f}", f"{least['place']:.0f}", f"{least['arm']:.0f}", f"{whole:.0f}"))
    table("From start to every function armed, ms", ["program", "functions", "kept analyses", "resolve", "place", "arm", "all"], rows)
    print("\nThe scalability talk (2014): 37,222 kernel functions enabled in 2,254 s.")


def threads(target):
    rows = []
    for count in (1, 2, 4):
        words = run.command(["--probes", "-o", "/dev/null", "-e", 'probe func("bare") { count++ }', "-p", target.program.pid])
        calls = 2_000_000
        bare = min(target.measure(calls, f"threads {count}") for _ in range(3))
        armed = hit.probed(target, words, r"\[OPTIMIZED\]", calls, f"threads {count}")
        rows.append((count, f"{bare:.2f}", f"{armed:.2f}"))
    table("Threads that call one function: ns of processor time a call", ["threads", "bare", "counted"], rows)


def real_programs():
    table("Programs with every function counted, named or not (`probe func(\"*\") { n++ }`), processor time",
          ["program", "bare, s", "probed, s", "speed left", "hits", "ns a hit"], programs.rows())
    print("\nUnixBench with every kernel function probed, the scalability talk (2014): 4.9 % of the speed left.")


def processor():
    found = re.search(r"^model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf8"), re.M)
    return found[1] if found else platform.machine()


def main():
    print(f"# What djtap costs\n\nWritten by `tests/bench/tables.py` on Linux {platform.release()} ("
          f"{processor()}, {os.cpu_count()} processors). Best of several runs, and for the "
          "programs medians; compare within a table, not between machines.")
    target = hit.Target()
    tables = {"hits": lambda: hit_costs(target), "threads": lambda: threads(target), "lookups": lookups,
              "enabling": enabling, "programs": real_programs}
    with target.program:
        for name in sys.argv[1:] or tables:
            tables[name]()


if __name__ == "__main__":
    main()
