#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What probes of the kernel cost beside the kernel's own kprobes: ratios of one boot of a guest (QEMU's processor is no real one).
tests/bench/kernel.py [--kernel 6.1|6.12] [--rounds N]"""
import argparse
import pathlib
import random
import re
import shlex
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True

from support import built, guest as guests, paths  # noqa: E402 (the path comes first)

TRACING = "/sys/kernel/tracing"
LOOP = built.program("bench/reads", "reads")
READS = f"{LOOP} 20000 5"
FUNCTIONS = 1000  # armed at once


def said(guest, command, timeout=600):
    """What the command prints; it must succeed."""
    status, output = guest.run(f"cd {paths.ROOT} && {{ {command}; }}", timeout)
    if status:
        sys.exit(f"kernel.py: {command}: {status}\n{output}")
    return output


def djtap(guest, *words):
    return said(guest, f"{paths.DJTAP} {shlex.join(map(str, words))} 2>&1")


def ns(output):
    return float(re.search(r"^ns ([\d.]+)$", output, re.M)[1])


# The kernel makes jumps of kprobes later on, some hundred at a time: until two seconds bring none more.
OPTIMISED = ("jumps=0; last=$b; idle=0; while [ $idle -lt 20 ]; do now=$(grep -c OPTIMIZED /sys/kernel/debug/kprobes/list);"
             " if [ $now -gt $jumps ]; then jumps=$now; last=$(date +%s%N); idle=0; else idle=$((idle + 1)); fi; sleep 0.1; done;"
             " echo jumps $jumps $(((last - a) / 1000))")


def with_kprobes(guest, lines, command):
    """Runs the command with kprobe events on, whose trace is off; ms that it took to set them up, and all that is said."""
    guest.run(f"cat > /run/events <<'EOF'\n{lines}\nEOF")
    output = said(guest, f"echo 0 > {TRACING}/tracing_on; a=$(date +%s%N); cat /run/events > {TRACING}/kprobe_events; echo 1 > {TRACING}/events/kprobes/enable;"
                         f" b=$(date +%s%N); echo took $(((b - a) / 1000)); {OPTIMISED}; {command};"
                         f" echo 0 > {TRACING}/events/kprobes/enable; echo > {TRACING}/kprobe_events")
    return int(re.search(r"^took (\d+)$", output, re.M)[1]) / 1000, output


def hits(guest, rounds):
    """A counter against an optimised kprobe at the same place, and everything armed."""
    rows = []
    for _ in range(rounds):
        bare = ns(said(guest, READS))
        ours = ns(djtap(guest, "-e", 'probe kernel.function("vfs_read") < n++ >', "-c", READS))
        _, output = with_kprobes(guest, "p:bench vfs_read+9" if "6.12" in guest.release else "p:bench vfs_read+5", READS)
        every = ns(djtap(guest, "--stress", "kernel", "-c", READS))
        rows.append((bare, ours - bare, ns(output) - bare, every / bare))
        print(f"  read(2) {bare:.0f} ns; counter +{rows[-1][1]:.0f}, kprobe +{rows[-1][2]:.0f} ({output.split()[3]} optimised); all armed x {rows[-1][3]:.2f}")
    counter, kprobe, every = (statistics.median(row[i] for row in rows) for i in (1, 2, 3))
    print(f"a counter costs {counter / kprobe:.2f} of an optimised kprobe (trace off); read(2) with every function armed takes {every:.2f} of bare")


def registering(guest, module):
    """ms that register_kprobe() takes at the places of /run/places, one after the other, and how many it takes."""
    output = said(guest, f"busybox insmod {module} places=/run/places; dmesg | grep register_kprobes: | tail -n 1; busybox rmmod register_kprobes")
    registered, us = map(int, re.search(r"register_kprobes: (\d+) of \d+ in (\d+) us", output).groups())
    return us / 1000, registered


def arming(guest, rounds):
    """Many functions at once."""
    names = [name for name in said(guest, f"cat {TRACING}/available_filter_functions").split() if re.fullmatch(r"[a-z]\w+", name)]
    names = random.Random(1).sample(names, FUNCTIONS)
    guest.run("cat > /run/many.djt <<'EOF'\nprobe " + ", ".join(f'kernel.function("{name}")?' for name in names) + " { n++ }\nEOF")
    places = re.findall(r"^\w+ e (\S+) kernel \[", djtap(guest, "-n", "/run/many.djt"), re.M)  # behind what ftrace changes, where kprobes optimise
    guest.run("cat > /run/places <<'EOF'\n" + "\n".join(places) + "\nEOF")
    module = guests.built_module(guest.tree, pathlib.Path(__file__).parent / "register_kprobes", guest.folder / "register_kprobes")
    ratios = []
    for _ in range(rounds):
        ours = float(re.search(r"djtap: arm +([\d.]+) ms", djtap(guest, "-v", "-T", 0.01, "/run/many.djt"))[1])
        took, output = with_kprobes(guest, "\n".join(f"p:bench{i} {place}" for i, place in enumerate(places)), "true")
        jumps, later = map(int, re.search(r"^jumps (\d+) (\d+)$", output, re.M).groups())
        one_by_one, registered = registering(guest, module)
        ratios.append((ours / one_by_one, ours / took, ours * 1000 / later))
        print(f"  {len(places)} functions: {ours:.0f} ms; register_kprobe() at {registered} of the same places {one_by_one:.0f} ms;"
              f" as kprobe events {took:.0f} ms, and {later / 1000:.0f} ms until {jumps} are jumps")
    registered, set_up, optimised = (statistics.median(column) for column in zip(*ratios))
    print(f"arming {len(places)} functions takes {registered:.3f} of register_kprobe(), {set_up:.3f} of setting up kprobe events,"
          f" {optimised:.3f} of the time until these are jumps")


def starting(guest, rounds):
    """From the shell to the end of a command that ends at once."""
    ratios = []
    for _ in range(rounds):
        times = []
        for script, command in (('probe func("main") < n++ >', f"{LOOP} 1 1"), ('probe kernel.function("vfs_read") < n++ >', "true")):
            words = shlex.join([str(paths.DJTAP), "-e", script, "-c", command])
            output = said(guest, f"a=$(date +%s%N); {words} >/dev/null 2>&1; b=$(date +%s%N); echo took $(((b - a) / 1000))")
            times.append(int(re.search(r"^took (\d+)$", output, re.M)[1]) / 1000)
        ratios.append(times[1] / times[0])
        print(f"  one-liner on a process {times[0]:.0f} ms, on the kernel {times[1]:.0f} ms")
    print(f"starting on the kernel takes {statistics.median(ratios):.2f} of starting on a process")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernel", choices=guests.SERIES, default=guests.SERIES[-1])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with guests.Guest(options.kernel) as guest:
        said(guest, f"busybox insmod {guests.djtap_module(guest.tree, guest.folder)}")
        print(f"Linux {guest.release} in QEMU")
        for measure in (hits, arming, starting):
            measure(guest, options.rounds)


main()
