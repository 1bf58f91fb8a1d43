# SPDX-License-Identifier: Apache-2.0
"""Random functions around switches, compiled in every way at hand: results as without djtap, entries and returns counted.

A round is repeated by its seed:  DJTAP_STRESS_SEED=S pytest tests/stress/test_random_switches.py
"""
import os
import random
import re
import shutil
import subprocess

import pytest

import workloads

pytestmark = [pytest.mark.stress, pytest.mark.timeout(3600)]

SEED = int(os.environ.get("DJTAP_STRESS_SEED") or (random.SystemRandom().randrange(2**32) if workloads.LONG else 1))
FUNCTIONS = 60  # a program
ROUNDS = 30 if workloads.LONG else 1
COMPILERS = [["gcc"], ["gcc", "-fno-plt", "-fcf-protection=full"], ["clang-14"], ["clang-19"], ["clang-19", "-fsplit-machine-functions"]]
LEVELS = ["-O1", "-O2", "-O3", "-Os"]
BOLT = "llvm-bolt-19"

TYPES = {"unsigned char": (0, 255), "signed char": (-128, 127), "unsigned short": (0, 400), "short": (-200, 200),
         "int": (-40, 300), "unsigned": (0, 300), "long": (-300, 40), "unsigned long": (0, 300)}
BODIES = ["return {a};", "return {a} + x;", "h += {a};", "h ^= {a}; return h;", "h = h * {b} + i; break;", "if (x & 1) return {a}; break;",
          "return other(h + {b});", "h += other({a}); break;", "i += {b}; continue;", "return pair({a}, {b}).first;", "g += {a}; return h;",
          "h -= x; i++; goto out;"]


def a_switch(generator, name):
    """A function of (x, data), and the values of x that it may be called with."""
    kind = generator.choice(list(TYPES))
    low, high = TYPES[kind]
    mask = generator.choice([0, 0, 0, 7, 31])
    values = range(mask + 1) if mask else range(low, high + 1)
    first = generator.choice(values)
    dense = [v for v in values if first <= v < first + generator.randint(5, 120) and generator.random() < generator.choice([0.3, 0.7, 1.0])]
    cases = sorted(set(dense) | {generator.choice(values) for _ in range(4)})
    unreachable = generator.random() < 0.5
    looped = generator.random() < 0.4
    lines = [f"__attribute__((noinline)) long {name}({kind} x, const unsigned char* data) {{", "  long h = 1; int i = 0; (void)data; __asm__ volatile(\"\");"]
    body = []
    index = f"x & {mask}" if mask else "x"
    body.append(f"switch ({index}) {{")
    several = 0
    for case in cases:
        body.append(f"case {case}:")
        several += 1
        if several < 4 and generator.random() < 0.3:
            continue
        several = 0
        text = generator.choice(BODIES).format(a=generator.randint(-3, 9), b=generator.randint(1, 9))
        body.append("  " + (text if looped or "continue" not in text else "break;"))
    body.append("  break;")
    body.append("default: __builtin_unreachable();" if unreachable else f"default: h += {generator.randint(0, 9)};")
    body.append("}")
    if looped:
        body = ["for (; i < 5; i++) {", *body, "}"]
    lines += ["  " + line for line in body] + ["out: return h + i;", "}"]
    allowed = [v for v in (cases if unreachable else values)]
    return "\n".join(lines), allowed


def a_program(seed):
    generator = random.Random(seed)
    functions, calls = [], []
    for number in range(FUNCTIONS):
        text, allowed = a_switch(generator, f"pick{number}")
        functions.append(text)
        calls.append(f"  {{ static const int v[] = {{{', '.join(map(str, allowed))}}}; for (unsigned k = 0; k < sizeof v / sizeof *v; k++) "
                     f"{{ sum = sum * 31 + pick{number}(v[k], data); calls++; }} }}")
    return ("#include <stdio.h>\nstruct two { long first, second; }; static long g;\n"
            "__attribute__((noinline)) struct two pair(long a, long b) { return (struct two){a + g % 2, b}; }\n"
            "__attribute__((noinline)) long other(long a) { return a * 3 + g % 3; }\n" + "\n".join(functions) +
            "\nint main(void) { static unsigned char data[8] = {3, 1, 4, 1, 5}; unsigned long sum = 0; unsigned long calls = 0;\n"
            "for (int round = 0; round < 20; round++) {\n" + "\n".join(calls) +
            '\n}\nprintf("sum: %lu\\ncalls: %lu\\n", sum, calls); return 0; }\n')


def forms(seed):
    """Ways to build one program: (name, compiler with options, whether BOLT splits its functions)."""
    generator = random.Random(seed)
    for words in COMPILERS:
        if not shutil.which(words[0]):
            continue
        options = [*words, generator.choice(LEVELS), *generator.choice([["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]])]
        yield " ".join(options), options, False
        if shutil.which(BOLT):
            yield " ".join(options) + ", split by BOLT", [*options, "-Wl,-q"], True


def build(folder, seed, words, split):
    source, program = folder / "switches.c", folder / "switches"
    source.write_text(a_program(seed))
    subprocess.run([*words, "-w", "-o", program, source], check=True)
    if split:
        cut = folder / "split"
        command = [BOLT, program, "-o", cut, "--split-functions", "--split-strategy=randomN", "--split-eh", "--reorder-functions=none",
                   f"--bolt-seed={seed % 1000}", "--jump-tables=none"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return cut if done.returncode == 0 else None
    return program


@pytest.mark.parametrize("guards", ["", "--guards=all"])
def test_random_switches(djtap_once, tmp_path, guards):
    """Entry and return of each function at once; by the jumps' own choice, and with every instruction guarded."""
    for number in range(ROUNDS):
        seed = SEED + number
        for name, words, split in forms(seed):
            program = build(tmp_path, seed, words, split)
            if program is None:
                continue
            bare = subprocess.run([program], capture_output=True, text=True, check=True).stdout
            calls = int(re.search(r"calls: (\d+)", bare).group(1))
            options = [guards] if guards else []
            result = djtap_once(*options, "-e", 'probe func("pick*") { n++ } probe func("pick*").return { r++ }', "-c", str(program))
            where = f"seed {seed}, {name}: {result}"
            assert result.returncode == 0 and result.stdout.startswith(bare), where
            assert result.globals["n"] == calls and result.globals["r"] == calls, where
            assert "DJ5910" not in result.stderr, where
