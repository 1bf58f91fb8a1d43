# SPDX-License-Identifier: Apache-2.0
"""Writes programs of functions whose parameters and results are of random types, and the script that reads these at entries
and exits: the program prints its own values as `TRUTH function where path value`, the script the same lines with SEEN."""
import dataclasses
import random

SCALARS = [("char", 7), ("signed char", 7), ("unsigned char", 8), ("short", 15), ("unsigned short", 16), ("int", 31), ("unsigned", 31), ("long", 40),
           ("unsigned long", 40), ("float", 12), ("double", 20), ("long double", 20), ("__int128", 40), ("_Complex float", 8), ("_Complex double", 8)]
VECTORS = [("float", 8, 4), ("double", 8, 2), ("int", 16, 4), ("short", 8, 4), ("float", 8, 2), ("long", 20, 2)]
FLOATING = {"float", "double"}
# The value is read as a text, as no number of the script holds it.
TEXTS = {"long double", "__int128", "_Complex float", "_Complex double"}


@dataclasses.dataclass
class Type:
    """How a type is written before a name, what defines it, and its leaves: [(path in C, path in a script, scalar, value)]."""

    name: str
    define: str = ""
    members: list = dataclasses.field(default_factory=list)  # [(name, Type, count of elements or 0, bits or 0)]
    scalar: str = ""
    bits: int = 0
    union: bool = False
    vector: int = 0  # elements
    reference: bool = False


class Writer:
    """Takes a random.Random; makes types and their leaves."""

    def __init__(self, source, cxx=False, conventions=("",)):
        self.random, self.cxx, self.conventions = source, cxx, conventions
        self.types, self.count = [], 0

    def scalar(self, choices=None):
        name, bits = self.random.choice(choices or SCALARS)
        return Type(name, scalar=name, bits=bits)

    def vector(self):
        element, bits, count = self.random.choice(VECTORS)
        name = f"vec_{element}_{count}"
        size = {"float": 4, "double": 8, "int": 4, "short": 2, "long": 8}[element] * count
        return Type(name, f"typedef {element} {name} __attribute__((vector_size({size})));\n", scalar=element, bits=bits, vector=count)

    def structure(self, depth=0):
        self.count += 1
        kind = self.random.randrange(12)
        name, number = f"S{self.count}", self.random.choice([1, 1, 2, 2, 2, 3, 4])
        if kind == 0 and self.cxx:
            result = Type(name, f"struct {name} {{}};\n")
            self.types.append(result)
            return result
        members = []
        union = kind == 1
        for i in range(number):
            member = self.structure(depth + 1) if depth < 2 and self.random.random() < 0.15 else self.scalar()
            while union and member.define and self.cxx:
                member = self.scalar()
            count = self.random.choice([0] * 9 + [1, 2, 3])
            wide = member.scalar in ("int", "unsigned", "long") and not count
            bits = self.random.randint(2, 30) if wide and self.random.random() < 0.25 else 0
            members.append((f"m{i}", member, count, bits))
        attribute = self.random.choice([""] * 7 + [" __attribute__((packed))", " __attribute__((aligned(16)))", " __attribute__((aligned(32)))"])
        if any("aligned(" in member.define for _, member, _, _ in members):
            attribute = attribute.replace("packed", "aligned(32)")
        body = " ".join(f"{member.name} {m}{f'[{count}]' if count else ''}{f' : {bits}' if bits else ''};" for m, member, count, bits in members)
        own = ""
        if self.cxx and kind in (2, 3) and not union:
            trivial = f" {name}() = default; {name}(const {name}&) = default; void method() {{}}"
            own = f" {name}(); {name}(const {name}&); ~{name}();" if kind == 2 else trivial
        tag = "union" if union else "struct"
        result = Type(f"{tag} {name}" if not self.cxx else name, f"{tag}{attribute} {name} {{ {body}{own} }};\n", members, union=union)
        if own.endswith("~%s();" % name):
            fields = ", ".join(f"{m}(other.{m})" for m, _, count, _ in members if not count)
            arrays = " ".join(f"__builtin_memcpy((void*){m}, (const void*)other.{m}, sizeof {m});" for m, _, count, _ in members if count)
            copied = f"{name}::{name}(const {name}& other){' : ' + fields if fields else ''} {{ {arrays} }}"
            result.define += f"{name}::{name}() {{}} {copied} {name}::~{name}() {{ touch(this); }}\n"
        self.types.append(result)
        return result

    def type(self):
        if self.random.random() < 0.08:
            return self.vector()
        if self.random.random() < 0.5:
            return self.scalar()
        return self.structure() if self.random.random() < 0.7 or not self.types else self.random.choice(self.types)

    def leaves(self, kind, path, script, value):
        """[(path in C, path in a script, scalar, value)], the values in the order of `value`, a counter of one element."""
        if kind.vector:
            element = Type("", scalar=kind.scalar, bits=kind.bits)
            return [leaf for i in range(kind.vector) for leaf in self.leaves(element, f"{path}[{i}]", f"{script}[{i}]", value)]
        if kind.scalar:
            value[0] += self.random.randint(1, 9)
            number = value[0] % (1 << kind.bits)
            return [(path, script, kind.scalar, number)]
        members = kind.members[-1:] if kind.union else kind.members
        found = []
        for name, member, count, bits in members:
            if bits:
                member = Type(member.name, scalar=member.scalar, bits=bits - 1)
            for i in range(count or 1):
                index = f"[{i}]" if count else ""
                found += self.leaves(member, f"{path}.{name}{index}", f"{script}->{name}{index}", value)
        return found


def printed(scalar, path):
    """What C prints of a leaf: (format, arguments)."""
    if scalar.startswith("_Complex"):
        return "%g + %gi", f"(double)__real__ {path}, (double)__imag__ {path}"
    if scalar == "long double" or scalar in FLOATING:
        return "%g", f"(double){path}"
    return "%ld", f"(long){path}"


def assigned(scalar, number):
    if scalar.startswith("_Complex"):
        return f"{number}.5 + 3.25i"
    return f"{number}.5" if scalar in FLOATING or scalar == "long double" else str(number)


def read(function, where, path, script, scalar):
    """The statement of the script, which prints nothing where the value cannot be known."""
    text = script + "$" if scalar in TEXTS else script
    form = "%s" if scalar in TEXTS else "%g" if scalar in FLOATING else "%d"
    value = f"@entry({text})" if where == "again" else text
    return f'if (@defined({text})) printf("SEEN {function} {where} {path} {form}\\n", {value})'


def called(name, arguments, result, leaf, constants, chance):
    """A call that hands over some arguments as constants [(variable, constant or "")], and may read one leaf of the result, or nothing."""
    given = ", ".join(constant if constant and chance.random() < constants else variable for variable, constant in arguments)
    roll = chance.random()
    if not result or roll < constants / 2:
        return f"{name}({given});"
    used = f"sum += (long){name}_got{leaf};" if leaf and roll < constants else f"touch((void*)&{name}_got);"
    return f"{{ {result.name} {name}_got = {name}({given}); {used} }}"


def program(writer, functions, constants=0.0):
    """(text of the program, script, names of functions by their convention). constants: the share of the arguments that the compiler
    knows, and of the results of which calls use one part, or nothing."""
    chance = random.Random(writer.random.getstate()[1][0])
    text, script, calls, sets, conventions = [], [], [], [], {}
    defined = set()
    bodies = []
    for f in range(functions):
        name, value = f"f{f}", [f]
        convention = writer.random.choice(writer.conventions)
        conventions[name] = convention
        parameters = [writer.type() for _ in range(writer.random.randrange(9))]
        result = writer.type() if writer.random.random() < 0.8 else None
        uses, entry, leave, handed, leaf = [], [], [], [], ""
        for place, kind in [(f"a{i}", kind) for i, kind in enumerate(parameters)] + ([("result", result)] if result else []):
            slot = f"{name}_{place}"
            bodies.append((kind, f"{kind.name} {slot};\n"))
            found = writer.leaves(kind, "", "", value)
            handed.append((slot, assigned(kind.scalar, found[0][3]) if kind.scalar and not kind.vector else ""))
            leaf = "".join(path for path, _, scalar, _ in found[-1:] if not scalar.startswith("_Complex"))
            for path, read_as, scalar, number in found:
                sets.append(f"{slot}{path} = {assigned(scalar, number)};")
                form, arguments = printed(scalar, slot + path)
                again = sum("again" in line for line in leave) < 6
                where = ["exit"] if place == "result" else ["entry", "again"][:1 + again]
                shown = place + path
                sets += [f'printf("TRUTH {name} {w} {shown} {form}\\n", {arguments});' for w in where]
                if place == "result":
                    leave.append(read(name, "exit", shown, "$return" + read_as, scalar))
                else:
                    entry.append(read(name, "entry", shown, f"${place}{read_as}", scalar))
                    leave += [read(name, "again", shown, f"${place}{read_as}", scalar)][:again]
                    if writer.random.random() < 0.7:
                        uses.append(f"sum += (long){'__real__ ' if scalar.startswith('_Complex') else ''}{place}{path};")
        middle = writer.random.randrange(len(uses) + 1)
        uses.insert(middle, "touch(0);")
        listed = ", ".join(f"{kind.name} a{i}" for i, kind in enumerate(parameters)) or ("" if writer.cxx else "void")
        attributes = "__attribute__((noinline)) " + (f"__attribute__(({convention})) " if convention else "")
        storage = "static " if writer.random.random() < 0.3 else ""
        returned = f"return {name}_result;" if result else ""
        bodies.append((None, f"{storage}{attributes}{result.name if result else 'void'} {name}({listed}) {{ {' '.join(uses)} {returned} }}\n"))
        call = f"{name}({', '.join(f'{name}_a{i}' for i in range(len(parameters)))})"
        # Of local functions whose callers do not use the result compilers take it away.
        used = result and writer.random.random() < 0.5
        if constants:
            calls.append(called(name, handed[:len(parameters)], result, leaf, constants, chance))
        else:
            calls.append(f"{{ {result.name} {name}_got = {call}; touch((void*)&{name}_got); }}" if used else f"{call};")
        if entry:
            script.append(f'probe func("{name}") {{ {" ".join(entry)} }}')
        if leave:
            script.append(f'probe func("{name}").return {{ {" ".join(leave)} }}')
    for kind in writer.types + [kind for kind, _ in bodies if kind and kind.vector]:
        if kind.define and kind.name not in defined:
            defined.add(kind.name)
            text.append(kind.define)
    head = "#include <stdio.h>\nlong sum;\n"
    head += "__attribute__((noinline)) void touch(void* p) { __asm__ volatile(\"\" : : \"r\"(p) : \"memory\"); }\n"
    text = head + "".join(text) + "".join(line for _, line in bodies)
    text += "__attribute__((noinline)) void set(void) {\n" + "\n".join(sets) + "\n}\n"
    text += "int main(void) { set(); fflush(stdout);\n" + "\n".join(calls) + "\nreturn 0; }\n"
    return text, "\n".join(script), conventions


def compared(output, conventions):
    """Of the lines of a run: (wrong [(key, truth, seen)], how many are right, keys that no one has read)."""
    lines = {"TRUTH": {}, "SEEN": {}}
    for line in output.split("\n"):
        word, _, rest = line.partition(" ")
        if word in lines:
            function, where, path, value = rest.split(" ", 3)
            if word == "TRUTH" or "?" not in value:  # a part of a number that the debug information does not have
                lines[word][function, where, path] = value
    truth, seen = lines["TRUTH"], lines["SEEN"]
    assert seen.keys() <= truth.keys() and conventions.keys() >= {key[0] for key in truth}
    wrong = [(key, truth[key], value) for key, value in seen.items() if truth[key] != value]
    return wrong, len(seen) - len(wrong), sorted(truth.keys() - seen.keys())
