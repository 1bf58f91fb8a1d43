# SPDX-License-Identifier: Apache-2.0
"""Writes Go programs of functions with random parameters and results, and the script that reads the results where they return:
the program prints a line `function value ...` for each call, the script the same one."""
import dataclasses

SCALARS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "int", "float32", "float64", "bool"]
# What is printed of a value: (verb of Go, Go's expression, verb of the script, the script's expression) with {} for the value.
LEAVES = {
    "string": ("%q", "{}", "%s", "{}$"), "[]int": ("%d", "len({})", "%d", "{}->len"), "*int": ("%d", "*{}", "%d", "{}[0]"),
    "error": ("%d", "asked({} != nil)", "%d", "({}->data != 0)"), "bool": ("%d", "asked({})", "%d", "{}"),
    "float32": ("%g", "{}", "%g", "{}"), "float64": ("%g", "{}", "%g", "{}"),
}
MOST = 30  # values that one print takes
HEAD = """package main

import "fmt"

var calls int
var numbers [100]int

func asked(x bool) int {
	if x {
		return 1
	}
	return 0
}
"""


@dataclasses.dataclass
class Type:
    name: str
    members: list = dataclasses.field(default_factory=list)  # of a struct
    element: "Type" = None  # of an array
    count: int = 0


class Writer:
    """Takes a random.Random."""

    def __init__(self, source):
        self.random, self.types = source, []

    def type(self, depth=0):
        kind = self.random.random()
        if depth < 3 and kind < 0.22:
            members = [self.type(depth + 1) for _ in range(self.random.randint(0, 4))]
            name = f"S{len(self.types)}"
            self.types.append(f"type {name} struct {{ {'; '.join(f'f{i} {m.name}' for i, m in enumerate(members))} }}")
            return Type(name, members)
        if depth < 3 and kind < 0.3:
            element, count = self.type(depth + 1), self.random.choice([0, 1, 1, 1, 2, 3])
            return Type(f"[{count}]{element.name}", element=element, count=count)
        others = ["string", "string", "[]int", "*int", "complex128", "error"]
        return Type(self.random.choice(others if kind < 0.55 else SCALARS))

    def value(self, of):
        if of.element or of.name.startswith("S"):
            return f"{of.name}{{{', '.join(self.value(part) for part in of.members or [of.element] * of.count)}}}"
        n = self.random.randint(1, 99)
        signed = self.random.choice([n, -n]) if of.name.startswith("int") else n
        return {"string": f'"s{n}"', "[]int": f"make([]int, {n})", "*int": f"&numbers[{n}]", "complex128": f"complex({n}, -{n})",
                "error": 'fmt.Errorf("x")', "float32": f"{n}.5", "float64": f"-{n}.25",
                "bool": self.random.choice(["true", "false"])}.get(of.name, str(signed))

    def function(self, name):
        """Its definition, the block that calls it, and its probe."""
        parameters = [self.type() for _ in range(self.random.randint(0, 4))]
        results = [self.type() for _ in range(self.random.choice([1, 1, 2, 3, 5, 9]))]
        named = self.random.random() < 0.4
        listed = ", ".join(f"r{i} {r.name}" if named else r.name for i, r in enumerate(results))
        define = (f"//go:noinline\nfunc {name}({', '.join(f'p{i} {p.name}' for i, p in enumerate(parameters))}) ({listed}) {{\n"
                  f"\tcalls++\n\treturn {', '.join(map(self.value, results))}\n}}\n")
        shown = []
        for i, result in enumerate(results):
            place = "$return" if i == 0 else f"$r{i}" if named else f'@var("~r{i}")'
            shown += leaves(result, f"v{i}", place)
        shown = shown[:MOST]
        words = [f"v{i}" for i in range(len(results))]
        call = (f"\t{{\n\t\t{', '.join(words)} := {name}({', '.join(map(self.value, parameters))})\n\t\tcalls += len(fmt.Sprint({', '.join(words)}))\n"
                f'\t\tfmt.Printf("{" ".join([name] + [leaf[0] for leaf in shown])}\\n"{"".join(", " + leaf[1] for leaf in shown)})\n\t}}\n')
        probe = (f'probe func("main.{name}").return {{ printf("{" ".join([name] + [leaf[2] for leaf in shown])}\\n"'
                 f'{"".join(", " + leaf[3] for leaf in shown)}) }}\n')
        return define, call, probe


def leaves(of, place, seen):
    """What is printed of a value at `place` in Go and `seen` in the script; complex numbers, which take registers, are not shown."""
    if of.name == "complex128":
        return []
    if of.element:
        parts = [(of.element, f"{place}[{i}]", f"{seen}[{i}]") for i in range(of.count)]
    elif of.name.startswith("S"):
        parts = [(member, f"{place}.f{i}", f"{seen}->f{i}") for i, member in enumerate(of.members)]
    else:
        verb, value, seen_verb, seen_value = LEAVES.get(of.name, ("%d", "{}", "%d", "{}"))
        return [(verb, value.format(place), seen_verb, seen_value.format(seen))]
    return [leaf for part in parts for leaf in leaves(*part)]


def program(source, count):
    """(the program, the script)"""
    writer = Writer(source)
    defines, calls, probes = zip(*(writer.function(f"f{i}") for i in range(count)))
    body = "\tfor i := range numbers {\n\t\tnumbers[i] = 3 * i\n\t}\n"
    return "\n".join([HEAD, *writer.types, *defines, "func main() {\n" + body + "".join(calls) + "}\n"]), "".join(probes)
