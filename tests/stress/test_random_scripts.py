# SPDX-License-Identifier: Apache-2.0
"""Random scripts of arithmetic, strings, arrays, aggregates and control flow print what a model in Python says, whichever of
LLVM's passes they go through; in djtap itself, and in a program.

A round is repeated by its seed:  DJTAP_STRESS_SEED=S pytest tests/stress/test_random_scripts.py
"""
import os
import random

import pytest

import workloads
from support import run
from support.paths import victim

pytestmark = [pytest.mark.stress, pytest.mark.timeout(36000)]

SEED = int(os.environ.get("DJTAP_STRESS_SEED") or (random.SystemRandom().randrange(2**32) if workloads.LONG else 1))
SCRIPTS = 20000 if workloads.LONG else 500
INTS, TEXTS = ["i", "j", "k", "n"], ["s", "t"]
NUMBERS = [0, 1, 2, 3, 7, 10, 63, 64, 100, 255, 4096, 2**31 - 1, 2**31, 2**32, 2**63 - 1]
WORDS = ["", "a", "b", "ab", "kernel", "Zoo", "12"]


def wrapped(number):
    return (number + 2**63) % 2**64 - 2**63


def divided(a, b):
    return wrapped(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))


BINARY = {"+": lambda a, b: wrapped(a + b), "-": lambda a, b: wrapped(a - b), "*": lambda a, b: wrapped(a * b), "&": lambda a, b: a & b,
          "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "<": lambda a, b: int(a < b), ">": lambda a, b: int(a > b),
          "<=": lambda a, b: int(a <= b), ">=": lambda a, b: int(a >= b), "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
          "&&": lambda a, b: int(a != 0 and b != 0), "||": lambda a, b: int(a != 0 or b != 0)}
BY_CONSTANT = {"/": divided, "%": lambda a, b: wrapped(a - divided(a, b) * b), "<<": lambda a, b: wrapped(a << b), ">>": lambda a, b: a >> b}


class Broken(Exception):
    """A `break`, a `continue` or a `next` of the model."""


class Writer:
    """Makes statements: each is its text, and a function that does to the model's variables what the text does to djtap's."""

    def __init__(self, generator):
        self.random = generator
        self.counters = 0

    def number(self, depth=3):
        """An expression: (text, function of the variables)."""
        kind = self.random.randrange(9 if depth else 2)
        if kind == 0:
            value = self.random.choice(NUMBERS)
            return str(value), lambda v: value
        if kind == 1:
            name = self.random.choice(INTS)
            return name, lambda v: v[name]
        if kind == 2:
            operator, amount = self.random.choice(list(BY_CONSTANT)), self.random.randint(1, 9)
            left, of_left = self.number(depth - 1)
            return f"({left} {operator} {amount})", lambda v: BY_CONSTANT[operator](of_left(v), amount)
        if kind == 3:
            inner, value = self.number(depth - 1)
            sign, act = self.random.choice([("-", lambda x: wrapped(-x)), ("~", lambda x: ~x), ("!", lambda x: int(x == 0))])
            return f"{sign}({inner})", lambda v: act(value(v))
        if kind == 4:
            (c, if_c), (a, of_a), (b, of_b) = (self.number(depth - 1) for _ in range(3))
            return f"({c} ? {a} : {b})", lambda v: of_a(v) if if_c(v) else of_b(v)
        if kind == 5:
            text, value = self.text(depth - 1)
            return f"strlen({text})", lambda v: len(value(v))
        if kind == 6:
            (a, of_a), (b, of_b) = self.text(depth - 1), self.text(depth - 1)
            operator = self.random.choice(["==", "!=", "<", ">="])
            return f"({a} {operator} {b})", lambda v: BINARY[operator](of_a(v), of_b(v))
        if kind == 7:
            key, of_key = self.key(depth - 1)
            return self.random.choice([(f"m[{key}]", lambda v: v["m"].get(of_key(v), 0)), (f"([{key}] in m)", lambda v: int(of_key(v) in v["m"]))])
        operator = self.random.choice(list(BINARY))
        (a, of_a), (b, of_b) = self.number(depth - 1), self.number(depth - 1)
        return f"({a} {operator} {b})", lambda v: BINARY[operator](of_a(v), of_b(v))

    def key(self, depth):
        key, of_key = self.number(depth)
        return f"({key}) & 7", lambda v: of_key(v) & 7

    def text(self, depth=2):
        kind = self.random.randrange(5 if depth else 2)
        if kind == 0:
            value = self.random.choice(WORDS)
            return f'"{value}"', lambda v: value
        if kind == 1:
            name = self.random.choice(TEXTS)
            return name, lambda v: v[name]
        if kind == 2:
            (a, of_a), (b, of_b) = self.text(depth - 1), self.text(depth - 1)
            return f"substr({a} . {b}, 0, 40)", lambda v: (of_a(v) + of_b(v))[:40]
        if kind == 3:
            number, value = self.number(depth - 1)
            return f'sprintf("%d", {number})', lambda v: str(value(v))
        (a, of_a), begin, length = self.text(depth - 1), self.random.randrange(4), self.random.randint(1, 5)
        return f"substr({a}, {begin}, {length})", lambda v: of_a(v)[begin:begin + length]

    def block(self, depth, in_loop):
        parts = [self.statement(depth, in_loop) for _ in range(self.random.randint(1, 3))]

        def run_all(v):
            for _, act in parts:
                act(v)
        return "{ " + "; ".join(text for text, _ in parts) + " }", run_all

    def statement(self, depth=3, in_loop=False):
        kind = self.random.randrange(10 if depth else 6)
        if kind == 0:
            name, (text, value) = self.random.choice(TEXTS), self.text()
            return f"{name} = {text}", lambda v: v.update({name: value(v)})
        if kind == 1:
            (key, of_key), (text, value) = self.key(1), self.number()
            return f"m[{key}] = {text}", lambda v: v["m"].__setitem__(of_key(v), value(v))
        if kind == 2:
            (key, of_key), (text, value) = self.key(1), self.number(2)
            return f"x[{key}] <<< ({text}) & 4095", lambda v: v["x"].setdefault(of_key(v), []).append(value(v) & 4095)
        if kind == 3:
            key, of_key = self.key(1)
            return f"delete m[{key}]", lambda v: v["m"].pop(of_key(v), None)
        if kind == 4:
            name, (step, by) = self.random.choice(INTS), self.random.choice([("++", 1), ("--", -1)])
            return name + step, lambda v: v.update({name: wrapped(v[name] + by)})
        if kind == 5:
            return self.assignment(in_loop)
        if kind in (6, 7):
            (condition, holds), (then, act), (other, otherwise) = self.number(), self.block(depth - 1, in_loop), self.block(depth - 1, in_loop)
            return f"if ({condition}) {then} else {other}", lambda v: act(v) if holds(v) else otherwise(v)
        if kind == 8:
            return self.loop(depth)
        return self.sum_of_array()

    def assignment(self, in_loop):
        name, (text, value) = self.random.choice(INTS), self.number()
        if in_loop and self.random.random() < 0.2:
            word, (condition, holds) = self.random.choice(["break", "continue"]), self.number(1)

            def leave(v):
                if holds(v):
                    raise Broken(word)
            return f"if ({condition}) {word}", leave
        operator = self.random.choice(["", "+", "-", "*", "&", "|", "^"])
        act = BINARY[operator] if operator else lambda a, b: b
        return f"{name} {operator}= {text}", lambda v: v.update({name: act(v[name], value(v))})

    def loop(self, depth):
        self.counters += 1
        name, rounds = f"c{self.counters}", self.random.randint(0, 6)
        body, act = self.block(depth - 1, True)
        form = self.random.randrange(3)
        heads = [f"{name} = {rounds}; while ({name}-- > 0) {body}", f"for ({name} = 0; {name} < {rounds}; {name}++) {body}",
                 f"{name} = 0; while (++{name} <= {rounds}) {body}"]

        def turn(v):
            for _ in range(rounds):
                try:
                    act(v)
                except Broken as left:
                    if left.args[0] == "break":
                        return
        return heads[form], turn

    def sum_of_array(self):
        name = self.random.choice(INTS)

        def add(v):
            for key in sorted(v["m"]):
                v[name] = wrapped(v[name] * 3 + key + v["m"][key])
        return f"foreach (key+ in m) {name} = {name} * 3 + key + m[key]", add

    def script(self, point, end):
        """(text, what it prints)."""
        parts = [self.statement() for _ in range(self.random.randint(3, 9))]
        text = "; ".join(part for part, _ in parts)
        shown = " ".join(f'printf("%d ", {name});' for name in INTS) + " ".join(f'printf("<%s> ", {name});' for name in TEXTS)
        arrays = ('foreach (key+ in m) printf("%d:%d ", key, m[key]); '
                  'foreach (key+ in x) printf("%d:%d,%d,%d,%d ", key, @count(x[key]), @sum(x[key]), @min(x[key]), @max(x[key]))')
        names = ", ".join([*INTS, "m", "x"])
        script = f'global {names}\nglobal s = "", t = ""\nprobe {point} {{ {text}; {shown} {arrays}; println("."){end} }}'
        v = {**dict.fromkeys(INTS, 0), **dict.fromkeys(TEXTS, ""), "m": {}, "x": {}}
        for _, act in parts:
            act(v)
        printed = [*(str(v[name]) for name in INTS), *(f"<{v[name]}>" for name in TEXTS), *(f"{key}:{v['m'][key]}" for key in sorted(v["m"])),
                   *(f"{key}:{len(all_)},{sum(all_)},{min(all_)},{max(all_)}" for key, all_ in sorted(v["x"].items()))]
        return script, " ".join(printed) + " ."


@pytest.mark.parametrize("part", range(10))
def test_random_scripts_print_what_a_model_says(part, tmp_path):
    generator = random.Random(f"{SEED}.{part}")
    for number in range(SCRIPTS // 10):
        in_target = number % 5 == 0
        script, expected = Writer(generator).script("func(\"main\")" if in_target else "begin", "" if in_target else " exit()")
        (tmp_path / "script.djt").write_text(script)
        where = ["-o", tmp_path / "out", "-c", f"{victim('count')} 1 1"] if in_target else ["-o", tmp_path / "out"]
        result = run.run(["--no-global-var-display", "-D", "MAXACTION=100000", "-D", "MAXACTION_HOST=1000000", *where, tmp_path / "script.djt"])
        assert result.returncode == 0, f"seed {SEED}, part {part}, number {number}\n{script}\n{result}"
        assert (tmp_path / "out").read_text().strip() == expected, f"seed {SEED}, part {part}, number {number}\n{script}\n{result}"
