# SPDX-License-Identifier: Apache-2.0
"""Writes programs in Rust whose functions have parameters and results of random types, and the script that reads these: the
lines of both are those of support/signatures.py, and so is how they are compared."""
import dataclasses
import random

INTEGERS = [("i8", 7), ("u8", 8), ("i16", 15), ("u16", 16), ("i32", 31), ("u32", 32), ("i64", 40), ("u64", 40), ("usize", 40), ("isize", 40)]
OTHERS = [("f32", 8), ("f64", 20), ("bool", 1), ("char", 6), ("i128", 40), ("u128", 40)]


@dataclasses.dataclass
class Type:
    """How a type is written, its members [(accessor, Type)], and for an enum whose variants have values: their names."""

    name: str
    members: list = dataclasses.field(default_factory=list)
    kind: str = "scalar"
    bits: int = 0


@dataclasses.dataclass
class Value:
    """An expression of Rust, and what is read of it: [(path in a line, expression in a script, conversion, text)]."""

    text: str
    leaves: list


class Writer:
    """Takes a random.Random."""

    def __init__(self, source):
        self.random, self.definitions, self.types, self.last, self.count = source, [], [], 0, 0

    def scalar(self):
        name, bits = self.random.choice(INTEGERS if self.random.random() < 0.65 else OTHERS)
        return Type(name, bits=bits)

    def structure(self, depth):
        self.count += 1
        number = self.count
        members = [(f"m{i}", self.type(depth + 1, plain=True)) for i in range(self.random.choice([0, 1, 1, 2, 2, 3, 4]))]
        form = self.random.choice(["", "", "", "#[repr(C)] ", "#[repr(C, packed)] ", "#[repr(align(16))] ", "#[repr(align(32))] ", "#[repr(transparent)] "])
        if "packed" in form and any(kind.kind != "scalar" for _, kind in members) or "transparent" in form and len(members) != 1:
            form = ""
        listed = ", ".join(f"{name}: {kind.name}" for name, kind in members)
        self.definitions.append(f"#[derive(Clone, Copy)] {form}struct S{number} {{ {listed} }}")
        self.types.append(Type(f"S{number}", members, "struct"))
        return self.types[-1]

    def unit_enum(self):
        self.count += 1
        number = self.count
        self.definitions.append(f"#[derive(Clone, Copy)] enum S{number} {{ First, Second = {self.random.choice([1, 7, 300])}, Third }}")
        self.types.append(Type(f"S{number}", kind="enum"))
        return self.types[-1]

    def type(self, depth=0, plain=False):
        roll = self.random.random()
        if depth > 2 or roll < 0.45:
            return self.scalar()
        if roll < 0.6:
            return self.structure(depth)
        if roll < 0.7:
            inner = [self.type(depth + 1, plain=True) for _ in range(self.random.choice([1, 2, 2, 3]))]
            return Type(f"({', '.join(kind.name for kind in inner)},)", [(f"__{i}", kind) for i, kind in enumerate(inner)], "tuple")
        if roll < 0.78:
            inner, count = self.scalar(), self.random.choice([1, 2, 3, 5])
            return Type(f"[{inner.name}; {count}]", [(f"[{i}]", inner) for i in range(count)], "array")
        if plain or roll < 0.84:
            return self.random.choice(self.types) if self.types and self.random.random() < 0.5 and not plain else self.unit_enum()
        if roll < 0.9:
            return Type("&'static str", kind="text")
        if roll < 0.94:
            inner = self.scalar()
            return Type(f"&'static {inner.name}", [("[0]", inner)], "reference")
        inner = Type(*self.random.choice(INTEGERS)[:1])
        inner.bits = 7
        return Type(f"Option<{inner.name}>" if self.random.random() < 0.5 else f"Result<{inner.name}, u8>", [("", inner)], "variants")

    def lone(self):
        """A struct of one number: with repr(C) it is an aggregate, else the number."""
        self.count += 1
        inner = Type(*self.random.choice([("u64", 40), ("u64", 40), ("f64", 20), ("u128", 40)])[:1], bits=20)
        self.definitions.append(f"#[derive(Clone, Copy)] {self.random.choice(['#[repr(C)] ', ''])}struct S{self.count} {{ m0: {inner.name} }}")
        return Type(f"S{self.count}", [("m0", inner)], "struct")

    def crowding(self):
        """What takes whole registers, one or two, or passes them by."""
        roll = self.random.random()
        if roll < 0.4:
            return Type(*self.random.choice(INTEGERS)[:1], bits=7)
        if roll < 0.75:
            return self.random.choice([Type("&'static str", kind="text"), Type("u128", bits=40), Type("f64", bits=20)])
        if roll < 0.85:
            return self.lone()
        if roll < 0.95:
            inner = [self.random.choice([Type("u64", bits=40), Type("f64", bits=20), self.lone()]) for _ in range(2)]
            return Type(f"({', '.join(kind.name for kind in inner)},)", [(f"__{i}", kind) for i, kind in enumerate(inner)], "tuple")
        inner, count = self.random.choice([(Type("f64", bits=20), 2), (Type("u64", bits=40), 3)])
        return Type(f"[{inner.name}; {count}]", [(f"[{i}]", inner) for i in range(count)], "array")

    def number(self, bits):
        self.last += self.random.randint(1, 9)
        return self.last % (1 << bits)

    def scalar_value(self, kind, path, script):
        number = self.number(kind.bits)
        if kind.name in ("f32", "f64"):
            return Value(f"{number}.5{kind.name}", [(path, script, "%g", f"{number}.5")])
        if kind.name == "bool":
            return Value("true" if number else "false", [(path, script, "%d", str(number))])
        if kind.name == "char":
            return Value(f"'{chr(48 + number % 9)}'", [(path, script, "%d", str(48 + number % 9))])
        if kind.name in ("i128", "u128"):
            return Value(f"{number}{kind.name}", [(path, script + "$", "%s", str(number))])
        return Value(f"{number}{kind.name}", [(path, script, "%d", str(number))])

    def value(self, kind, path, script):
        if kind.kind == "scalar":
            return self.scalar_value(kind, path, script)
        if kind.kind == "enum":
            name = self.random.choice(["First", "Second", "Third"])
            return Value(f"{kind.name}::{name}", [(path, script + "$", "%s", name)])
        if kind.kind == "text":
            text = "abcdefgh"[:self.random.randrange(1, 8)]
            return Value(f'"{text}"', [(path, script + "$", "%s", f'"{text}"')])
        if kind.kind == "variants":
            number = self.number(7)
            names = ["Some", "None"] if kind.name.startswith("Option") else ["Ok", "Err"]
            name = self.random.choice(names)
            suffix = "u8" if name == "Err" else kind.members[0][1].name
            text = name if name == "None" else f"{name}({number}{suffix})"
            return Value(text, [(path, script + "$", "%s", name if name == "None" else f"{name}{{.__0={number}}}")])
        inner = [(accessor, self.value(member, path + "." + accessor, script + (accessor if accessor[0] == "[" else "->" + accessor)))
                 for accessor, member in kind.members]
        leaves = [leaf for _, value in inner for leaf in value.leaves]
        texts = [value.text for _, value in inner]
        if kind.kind == "struct":
            return Value(f"{kind.name} {{ {', '.join(f'{accessor}: {value.text}' for accessor, value in inner)} }}", leaves)
        if kind.kind == "reference":
            return Value("&" + texts[0], leaves)
        return Value(f"({', '.join(texts)},)" if kind.kind == "tuple" else f"[{', '.join(texts)}]", leaves)


def called(name, values, result, constants, chance):
    """A call whose arguments the compiler knows, and whose result nothing uses, in this share of the cases."""
    arguments = ", ".join(value.text if chance.random() < constants else f"black_box({value.text})" for value in values)
    return f"    black_box({name}({arguments}));" if result and chance.random() >= constants else f"    {name}({arguments});"


def program(writer, functions, crowded, source, constants=0.0):
    """(text of the program, script, names of the functions). crowded: how many further functions have parameters at which the
    registers end. constants: the share of the arguments that the compiler knows, and of the results that nothing uses."""
    chance = random.Random(writer.random.getstate()[1][0])
    bodies, calls, script, names = [], [], [], {}
    for f in range(functions + crowded):
        name = f"sig{f}"
        names[name] = ""
        if f < functions:
            kinds = [writer.type() for _ in range(writer.random.randrange(8))]
        else:
            kinds = [writer.crowding() for _ in range(writer.random.randrange(4, 11))]
        result = (writer.type if f < functions or f % 2 else writer.crowding)() if writer.random.random() < 0.8 else None
        values = [writer.value(kind, f"a{i}", f"$a{i}") for i, kind in enumerate(kinds)]
        given = writer.value(result, "result", "$return") if result else None
        convention = 'extern "C" ' if writer.random.random() < 0.25 else ""
        used = [f"touch(&a{i});" for i, _ in enumerate(kinds) if writer.random.random() < 0.7]
        listed = ", ".join(f"a{i}: {kind.name}" for i, kind in enumerate(kinds))
        bodies.append((f"#[inline(never)] {convention}fn {name}({listed}){f' -> {result.name}' if result else ''} {{",
                       f"    touch(&{f}); {' '.join(used)} {f'black_box({given.text})' if given else ''}", "}"))
        leaves = [leaf for value in values for leaf in value.leaves]
        calls += [f'    println!("TRUTH {name} {where} {path} {{}}", {quoted(text)});' for path, _, _, text in leaves for where in ("entry", "inside")]
        calls += [f'    println!("TRUTH {name} exit {path} {{}}", {quoted(text)});' for path, _, _, text in given.leaves] if given else []
        calls.append(called(name, values, result, constants, chance))
        script.append((name, leaves, given.leaves if given else []))
    head = ["#![allow(warnings)]", "use std::hint::black_box;", "#[inline(never)] fn touch<T>(p: &T) { black_box(p); }", *writer.definitions]
    lines, inside = list(head), {}
    for (name, _, _), body in zip(script, bodies):
        inside[name] = len(lines) + 2
        lines += body
    lines += ["fn main() {", *calls, "}"]
    probes = []
    for name, leaves, given in script:
        for where, point, read in (("entry", f'func("{name}")', leaves), ("inside", f'process.statement("*@{source}:{inside[name]}")?', leaves),
                                   ("exit", f'func("{name}").return', given)):
            told = " ".join(f'if (@defined({value})) printf("SEEN {name} {where} {path} {form}\\n", {value})' for path, value, form, _ in read)
            probes.append(f"probe {point} {{ {told} }}" if read else "")
    return "\n".join(lines) + "\n", "\n".join(probes), names


def quoted(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
