#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs djtap on object files that were changed at random: it may refuse them, and must not crash, hang or take much memory.

mutate_elf.py [--runs N] [--seed N] [--djtap FILE] [--seconds N] [--keep FOLDER]
Each run changes a few bytes, words, sizes or pieces of one of some small programs and reads it as a file (-l, -L, --coverage);
where only debug information was changed, the program is started, too (-L, --source, -n). Several files are listed by one djtap;
a file that is at fault is found by listing it alone. Prints each fault, and ends with 1 if there was one."""
import argparse
import os
import pathlib
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time

DOCUMENTED = {0, 1, 2, 3, 4, 5, 125, 126, 127}
SECONDS = 5  # of processor time
MEGABYTES = 100  # more than with the file as it was
AT_ONCE = 20
C_SOURCE = """
#include <stdio.h>
struct node { struct node *next; long value; union { int i; float f; } u; int bits : 3; char text[8]; };
typedef struct node node_t;
enum kind { A = 1, B = -2 };
static inline __attribute__((always_inline)) long twice(long n) { return 2 * n; }
__attribute__((noinline)) long sum(node_t *list, enum kind kind) {
  long all = kind;
  for (node_t *at = list; at; at = at->next) all += twice(at->value);
  return all;
}
__attribute__((noinline)) double scaled(double by, int count, ...) { return by * count; }
int main(void) {
  node_t a = {NULL, 1}, b = {&a, 2};
  printf("%ld %f\\n", sum(&b, A), scaled(1.5, 2));
  return 0;
}
"""
CXX_SOURCE = """
#include <string>
#include <vector>
namespace shop { template <typename T> struct item { T price; virtual ~item() {} virtual T total(int n) { return price * n; } };
struct cart { std::vector<item<int>*> items; std::string name;
  int total() { int all = 0; for (auto *i : items) all += i->total(2); return all; } }; }
__attribute__((noinline)) int work(shop::cart& cart) { try { if (cart.name.empty()) throw 1; return cart.total(); } catch (int n) { return n; } }
int main() { shop::cart cart; cart.items.push_back(new shop::item<int>()); return work(cart) != 1; }
"""
FORMS = [("c", "gcc -O2 -g -gdwarf-5"), ("c", "gcc -O1 -g -gdwarf-4 -gz=zlib"), ("c", "gcc -O0 -g -no-pie -static-pie"),
         ("cc", "g++ -O1 -g -gdwarf-5"), ("c", "gcc -O2 -g -gsplit-dwarf"), ("c", "gcc -O2")]
# With a program that is started.
STARTED = [["-L", 'process.function("*")'], ["-L", 'process.statement("*@*.c:*")'], ["--source", 'func("sum")'],
           ["-n", "-e", 'probe process.function("*") { print_ubacktrace() println($$vars$) }'],
           ["-e", 'probe process.function("sum") { println($$parms$$) print_ubacktrace() }']]
WORDS = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 40, 2**63 - 1, 2**64 - 1]


def references(program):
    """([(offset of a reference in .debug_info, its unit's)], [offsets of what may be referred to]); none of a compressed section."""
    said = subprocess.run(["readelf", "--debug-dump=info", program], capture_output=True, text=True, check=False).stdout
    unit, found, entries = 0, [], []
    for line in said.splitlines():
        if match := re.match(r"\s*Compilation Unit @ offset (?:0x)?([0-9a-f]+):", line):
            unit = int(match[1], 16)
        elif match := re.match(r"\s*<([0-9a-f]+)>\s+DW_AT_\w+\s*:\s*<0x[0-9a-f]+>", line):
            found.append((int(match[1], 16), unit))
        elif match := re.match(r"\s*<\w+><([0-9a-f]+)>: Abbrev Number: [1-9]", line):
            entries.append(int(match[1], 16))
    return (found, entries) if found and entries and b"ZLIB" not in said.encode() else ([], [])


def originals(folder):
    """[(name, bytes, references)]."""
    made = []
    for number, (ending, words) in enumerate(FORMS):
        source = folder / f"o{number}.{ending}"
        source.write_text(CXX_SOURCE if ending == "cc" else C_SOURCE)
        program = folder / f"o{number}"
        if subprocess.run([*words.split(), "-o", program.name, source.name], cwd=folder, capture_output=True, check=False).returncode == 0:
            is_plain = "-gz" not in words and "-g" in words
            made.append((program.name, program.read_bytes(), references(program) if is_plain else ([], [])))
    return made


def sections(data):
    """[(name, offset of the header, offset, size)] of a whole file."""
    at, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    text = headers[names][4]
    name = lambda begin: data[begin:data.index(b"\0", begin)].decode()
    return [(name(text + h[0]), at + i * size, h[4], 0 if h[1] == 8 else h[5]) for i, h in enumerate(headers)]


def change(data, begin, size, luck):
    """Changes a place of a part."""
    if size == 0:
        return
    at = begin + luck.randrange(size)
    kind = luck.randrange(6)
    if kind == 0:
        data[at] ^= 1 << luck.randrange(8)
    elif kind == 1:
        data[at] = luck.choice([0, 1, 0x7f, 0x80, 0xff, luck.randrange(256)])
    elif kind in (2, 3):
        width = luck.choice([2, 4, 8])
        value = (luck.choice(WORDS) + luck.randrange(-2, 3)) % (1 << 8 * width)
        end = min(at + width, begin + size)
        data[at:end] = value.to_bytes(width, "little")[:end - at]
    elif kind == 4:  # a piece again
        length = min(luck.randrange(1, 64), begin + size - at)
        source = begin + luck.randrange(size - length + 1)
        data[at:at + length] = data[source:source + length]
    else:
        length = min(luck.randrange(1, 32), begin + size - at)
        data[at:at + length] = bytes([luck.choice([0, 0xff, 0x80])]) * length


def lead_elsewhere(data, begin, places, luck):
    """Lets a reference between entries lead to any other entry: types that contain themselves, origins in a circle."""
    found, entries = places
    at, unit = luck.choice(found)
    target = luck.choice(entries[-40:] if luck.random() < 0.3 else entries)
    if luck.random() < 0.5:  # most likely a circle
        near = [entry for entry in entries if entry <= at]
        target = near[-1 - min(luck.randrange(4), len(near) - 1)] if near else target
    struct.pack_into("<I", data, begin + at, max(target - unit, 0))


def mutant(original, luck):
    """(bytes, whether the program may be started)."""
    _, data, places = original
    data = bytearray(data)
    parts = sections(data)
    info = next((p for p in parts if p[0] == ".debug_info"), None)
    if info and places[0] and luck.random() < 0.3:
        for _ in range(luck.choice([1, 2, 4, 32])):
            lead_elsewhere(data, info[2], places, luck)
        return data, True
    unloaded = [p for p in parts if p[0].startswith((".debug", ".symtab", ".strtab", ".gnu_debug"))]
    loaded = [p for p in parts if p not in unloaded]
    runs = bool(unloaded) and luck.random() < 0.6
    if runs:
        for _ in range(luck.choice([1, 1, 2, 4, 16])):
            _, header, begin, size = luck.choice(unloaded)
            change(data, begin, size, luck)
        if luck.random() < 0.1:
            change(data, luck.choice(unloaded)[1], 64, luck)
        return data, True
    where = luck.randrange(5)
    for _ in range(luck.choice([1, 1, 2, 4])):
        if where == 0:
            change(data, 0, 64, luck)
        elif where == 1:
            change(data, 64, 56 * 13, luck)
        elif where == 2:
            change(data, luck.choice(parts)[1], 64, luck)
        elif where == 3:
            _, _, begin, size = luck.choice(loaded)
            change(data, begin, size, luck)
        else:
            del data[luck.randrange(len(data)):]
            break
    return data, False


def run(words, folder):
    """(why it is at fault or None, megabytes)."""
    with tempfile.TemporaryFile() as out:
        started = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (4 * SECONDS, 4 * SECONDS)))
        deadline = time.monotonic() + 60
        pid = 0
        while pid == 0:
            pid, status, used = os.wait4(started.pid, os.WNOHANG)
            if pid == 0 and time.monotonic() > deadline:
                os.killpg(started.pid, 9)
                os.wait4(started.pid, 0)
                started.returncode = -9
                return "hangs", 0
            if pid == 0:
                time.sleep(0.002)
        started.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read().decode(errors="replace")
    megabytes = used.ru_maxrss >> 10
    seconds = used.ru_utime + used.ru_stime
    if started.returncode not in DOCUMENTED or "djtap: bug" in said:
        return f"ends with {started.returncode}: {said[-500:]}", megabytes
    if seconds > SECONDS:
        return f"takes {seconds:.1f} s", megabytes
    return None, megabytes


class Trial:
    def __init__(self, options, folder):
        self.djtap, self.folder, self.keep = options.djtap, folder, options.keep
        self.faults, self.runs, self.usual = 0, 0, {}

    def learn(self, words, usual):
        """What a command takes with a file as it was."""
        why, megabytes = run([self.djtap, *words], self.folder)
        assert why is None, (words, why)
        self.usual[usual] = max(self.usual.get(usual, 0), megabytes)

    def judge(self, words, usual):
        """Why the command is at fault; None: it is not."""
        self.runs += 1
        why, megabytes = run([self.djtap, *words], self.folder)
        if why is None and megabytes > self.usual[usual] + MEGABYTES:
            why = f"takes {megabytes} MB"
        return why

    def report(self, name, words, why):
        self.faults += 1
        print(f"{name}: djtap {' '.join(words)}: {why}", flush=True)
        if self.keep:
            os.makedirs(self.keep, exist_ok=True)
            shutil.copy(self.folder / name, self.keep)

    def one(self, name, words):
        why = self.judge(words, words[0])
        if why:
            self.report(name, words, why)

    def listed(self, names):
        """Lists all of them at once, and each alone if that goes wrong."""
        for how in ("-l", "-L"):
            all_of_them = [how, f'process("{self.folder}/m*").function("*")']
            if self.judge(all_of_them, how) is None:
                self.runs += len(names) - 1
                continue
            for name in names:
                self.one(name, [how, f'process("{self.folder}/{name}").function("*")'])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after as long")
    parser.add_argument("--djtap", default=str(pathlib.Path(__file__).resolve().parents[2] / "build" / "djtap"))
    parser.add_argument("--keep", help="where files that are at fault go")
    options = parser.parse_args()
    luck = random.Random(options.seed)
    end = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory(prefix="djtap-mutants-") as name:
        folder = pathlib.Path(name)
        made = originals(folder)
        trial = Trial(options, folder)
        for name, _, _ in made:  # what is usual
            for how in ("-l", "-L"):
                trial.learn([how, f'process("{folder}/{name}").function("*")'], how)
            trial.learn(["--stress", "--coverage", name], "--stress")
            for words in STARTED:
                trial.learn([*words, "-c", f"./{name}"], words[0])
        number = 0
        while trial.runs < options.runs and time.monotonic() < end:
            names = []
            for _ in range(AT_ONCE):
                number += 1
                data, runs = mutant(luck.choice(made), luck)
                names.append((f"m{number}", runs))
                (folder / names[-1][0]).write_bytes(data)
                (folder / names[-1][0]).chmod(0o755)
            trial.listed([name for name, _ in names])
            for name, runs in names:
                if luck.random() < 0.3:
                    trial.one(name, ["--stress", "--coverage", name])
                if runs and luck.random() < 0.5:
                    trial.one(name, [*luck.choice(STARTED), "-c", f"./{name}"])
                (folder / name).unlink()
        print(f"{trial.runs} runs, seed {options.seed}, {trial.faults} faults")
    return 1 if trial.faults else 0


if __name__ == "__main__":
    sys.exit(main())
