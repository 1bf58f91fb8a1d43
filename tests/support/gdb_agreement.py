# SPDX-License-Identifier: Apache-2.0
"""Runs inside gdb: what it says of the variables at sampled instructions of a running program, and what djtap's plan says.

The plan's locations are evaluated here, on the registers and the memory that gdb sees at the stop: no run has to be repeated
exactly. The settings are a JSON file, named by $AGREEMENT; the answer goes to its "out".
"""
import json
import os
import re
import struct
import subprocess
import sys

import gdb  # pylint: disable=import-error

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import wide_numbers  # pylint: disable=import-error,wrong-import-position

MASK = (1 << 64) - 1
CALLERS = " rot rot or rot or swap"  # in a location: it chooses among known callers
with open(os.environ["AGREEMENT"], encoding="utf8") as file:
    SETTINGS = json.load(file)
MODULE = os.path.realpath(SETTINGS["module"])
SCALARS = {gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_FLT}
AGGREGATES = {gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION}
BINARY = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "and": lambda a, b: a & b,
          "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "shl": lambda a, b: a << (b & 63), "shr": lambda a, b: a >> (b & 63),
          "sar": lambda a, b: signed(a) >> (b & 63), "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
          "lt": lambda a, b: signed(a) < signed(b), "le": lambda a, b: signed(a) <= signed(b),
          "gt": lambda a, b: signed(a) > signed(b), "ge": lambda a, b: signed(a) >= signed(b),
          "div": lambda a, b: int(signed(a) / signed(b)), "mod": lambda a, b: signed(a) - int(signed(a) / signed(b)) * signed(b)}
BINARY |= {"unsigned_div": lambda a, b: a // b, "unsigned_mod": lambda a, b: a % b, "unsigned_lt": lambda a, b: a < b,
           "unsigned_le": lambda a, b: a <= b, "unsigned_gt": lambda a, b: a > b, "unsigned_ge": lambda a, b: a >= b}
DOUBLE = {"add": lambda a, b: bits(a + b), "sub": lambda a, b: bits(a - b), "mul": lambda a, b: bits(a * b), "div": lambda a, b: bits(a / b),
          "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
          "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
UNARY = {"neg": lambda a: -a, "not": lambda a: ~a, "int2double": lambda a: bits(float(signed(a))),
         "unsigned_int2double": lambda a: bits(float(a)), "double2int": lambda a: int(double(a)), "unsigned_double2int": lambda a: int(double(a)),
         "double2float": lambda a: struct.unpack("<I", struct.pack("<f", double(a)))[0],
         "float2double": lambda a: bits(struct.unpack("<f", struct.pack("<I", a & 0xffffffff))[0])}


def signed(word):
    return word - (1 << 64) if word >> 63 else word


def bits(number):
    return struct.unpack("<Q", struct.pack("<d", number))[0]


def double(word):
    return struct.unpack("<d", struct.pack("<Q", word))[0]


def cut(word, size, is_signed):
    word &= (1 << size) - 1
    return (word - (1 << size)) & MASK if is_signed and word >> (size - 1) else word


def read(address, size, is_signed):
    data = bytes(gdb.selected_inferior().read_memory(address & MASK, size))
    return cut(int.from_bytes(data, "little"), size * 8, is_signed)


def register(frame, name):
    name, _, part = name.rstrip("]").partition("[")  # "ymm3[2]": which word
    word = int(part or 0)
    if name.startswith("xmm"):
        whole = frame.read_register(name)["v2_int64"] if word < 2 else frame.read_register(name.replace("x", "y", 1))["v4_int64"]
        return int(whole[word]) & MASK
    if name.startswith("st"):
        raw = int(re.search(r"raw 0x([0-9a-f]+)", gdb.execute(f"info registers {name}", to_string=True)).group(1), 16)
        return raw >> (64 * word) & MASK
    return int(frame.read_register(name)) & MASK


def evaluate(steps, frame, bias):
    """The postfix program of a plan's dump, as compiler/stages/location.h describes it."""
    stack, words, at = [], steps.split(), -1
    while (at := at + 1) < len(words):
        word = words[at]
        jump = re.fullmatch(r"(jump|back)(_if)?(\d+)", word)
        if jump or word.startswith("label"):
            if jump and (not jump.group(2) or stack.pop()):
                labels = [i for i, other in enumerate(words) if other == f"label{jump.group(3)}:"]
                at = min(i for i in labels if i > at) if jump.group(1) == "jump" else max(i for i in labels if i < at)
            continue
        if wide_numbers.step(word, stack):
            continue
        number = re.fullmatch(r"([a-z]+)(\d+)(?::(\d+))?(s?)", word)
        kind = number.group(1) if number else word
        if re.fullmatch(r"\d+|push-\d+", word):
            stack.append(int(word.removeprefix("push")))
        elif re.fullmatch(r"[+-]\d+", word):
            stack.append(stack.pop() + int(word))
        elif kind in ("deref", "stack"):
            stack.append(read(stack.pop(), int(number.group(2)), number.group(4)))
        elif kind == "extend":
            stack.append(cut(stack.pop(), int(number.group(2)) * 8, number.group(4)))
        elif kind == "bits":
            stack.append(cut(stack.pop() >> int(number.group(2)), int(number.group(3)), number.group(4)))
        elif kind == "pick":
            stack.append(stack[-1 - int(number.group(2))])
        elif word == "bias":
            stack.append(bias)
        elif word == "fsbase":
            stack.append(int(frame.read_register("fs_base")) & MASK)
        elif word in ("dup", "over", "drop", "swap", "rot"):
            shuffle(word, stack)
        elif word in UNARY:
            stack.append(UNARY[word](stack.pop()))
        elif word in BINARY:
            right, left = stack.pop(), stack.pop()
            stack.append(int(BINARY[word](left, right)))
        elif word.startswith("double_"):
            right, left = double(stack.pop()), double(stack.pop())
            stack.append(int(DOUBLE[word.removeprefix("double_")](left, right)))
        else:
            stack.append(register(frame, word))
        stack[-1:] = [stack[-1] & MASK] if stack else []
    return stack[-1] & MASK


def shuffle(word, stack):
    if word == "dup":
        stack.append(stack[-1])
    elif word == "over":
        stack.append(stack[-2])
    elif word == "drop":
        stack.pop()
    elif word == "swap":
        stack[-2:] = [stack[-1], stack[-2]]
    else:
        stack[-3:] = [stack[-1], stack[-3], stack[-2]]


def values_of(name, kind, depth=0):
    """{what djtap calls it: steps from the variable's gdb.Value}: the scalar itself, or some of the scalars inside."""
    kind = kind.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        inside = values_of(name, kind.target(), depth)
        return {text: ["behind", *steps] for text, steps in inside.items()}
    if kind.code in SCALARS:
        found = {name: []} if kind.sizeof <= 8 else {}
        target = kind.target().strip_typedefs() if kind.code == gdb.TYPE_CODE_PTR else kind
        if depth == 0 and target.code in AGGREGATES:
            found |= {text: ["behind", *steps] for text, steps in members_of(name, target, 1).items()}
        return found
    if kind.code == gdb.TYPE_CODE_ARRAY and kind.target().strip_typedefs().code in SCALARS and kind.range()[1] >= 0:
        ends = set(kind.range())
        return {f"{name}[{index}]": [index] for index in ends} if depth < 3 else {}
    return members_of(name, kind, depth) if kind.code in AGGREGATES and depth < 3 else {}


def members_of(name, kind, depth):
    found = {}
    for field in kind.fields():
        if field.artificial or not hasattr(field, "bitpos") or len(found) >= 16:
            continue
        inside = name if field.is_base_class or not field.name else f"{name}->{field.name}"
        for text, steps in values_of(inside, field.type, depth + 1).items():
            found.setdefault(text, [field, *steps])
    return found


def variables_at(pc):
    """The scalar variables in scope, and scalars inside of others: {name: steps}; the innermost of one name."""
    kinds = {}
    block = gdb.block_for_pc(pc)
    while block and not block.is_static and not block.is_global:
        for symbol in block:
            if symbol.is_variable or symbol.is_argument:
                kinds.setdefault(symbol.name, symbol.type)
        if block.function:
            break  # an inlined function has a scope of its own
        block = block.superblock
    found = {}
    for name, kind in kinds.items():
        if re.fullmatch(r"[A-Za-z_]\w*", name):
            found |= values_of(name, kind)
    return found


def plans(places, at_once=500):
    """{address: {variable: location, or why there is none}} as djtap resolves them."""
    addresses, found = list(places), {}
    for begin in range(0, len(addresses), at_once):  # a script has at most two million tokens
        found |= plans_of({address: places[address] for address in addresses[begin:begin + at_once]})
    return found


def plans_of(places):
    lines = []
    for address, names in places.items():
        values = "; ".join(f"print(@defined(${name}) ? ${name} : 0)" for name in names)
        lines.append(f'probe process("{MODULE}").statement({address:#x})? {{ {values} }}')
    script = SETTINGS["out"] + ".djt"
    with open(script, "w", encoding="utf8") as file:
        file.write("\n".join(lines) + "\n")
    dump = subprocess.run([SETTINGS["djtap"], "--stop-after=resolve", "--dump=plan", script], capture_output=True, text=True, check=False)
    if dump.returncode != 0:
        raise RuntimeError(dump.stderr[:4000])
    probes = list(places.items())
    found, handlers, handler = {}, {}, None
    for line in dump.stdout.splitlines():
        if match := re.match(r"site \d+ \w module \d+ (0x\w+) in (0x\w+)\.\.0x.* handlers (\d+)", line):
            address, begin, number = int(match.group(1), 16), int(match.group(2), 16), int(match.group(3))
            if address != begin:  # at a function's entry djtap asks the calling convention, which knows more
                handlers.setdefault(number, []).append(address)
        elif match := re.match(r"handler (\d+) probe (\d+) body", line):
            handler, probe = int(match.group(1)), int(match.group(2))
        elif match := re.match(r"  target (\d+): (.*)", line):
            name = list(probes[probe][1])[int(match.group(1))]
            where = match.group(2)
            for address in handlers.get(handler, []):
                found.setdefault(address, {})[name] = where
    return found


def gdb_value(name, steps, frame):
    """The word that gdb sees; None: it was optimized out."""
    block, symbol, base = gdb.block_for_pc(frame.pc()), None, re.match(r"\w+", name).group()
    while block and symbol is None:
        symbol = next((s for s in block if s.name == base and (s.is_variable or s.is_argument)), None)
        block = block.superblock
    try:
        value = symbol.value(frame) if symbol.needs_frame else symbol.value()
        for step in steps:
            value = value.referenced_value() if step == "behind" else value[step]
        if value.is_optimized_out:
            return None
        kind = value.type.strip_typedefs().code
        return bits(float(value)) if kind == gdb.TYPE_CODE_FLT else int(value) & MASK
    except (gdb.error, TypeError) as problem:  # TypeError: an inner block's variable of this name has another type
        return f"error: {problem}"


def djtap_value(steps, frame, bias):
    if steps.startswith("undefined"):
        return None
    try:
        return evaluate(steps, frame, bias)
    except gdb.MemoryError as problem:
        return f"error: {problem}"


def module_bias():
    with open(f"/proc/{gdb.selected_inferior().pid}/maps", encoding="utf8") as maps:
        starts = [int(line.split("-")[0], 16) for line in maps if line.rstrip().endswith(MODULE)]
    return min(starts) if SETTINGS["relocated"] else 0


def places_with_variables(bias):
    names = {address: variables_at(address + bias) for address in SETTINGS["addresses"]}
    return {address: some for address, some in names.items() if some}


def main():
    for command in ("set pagination off", "set confirm off", "set breakpoint pending on", "set startup-with-shell off",
                    "set debuginfod enabled off", "set print thread-events off", "set breakpoint always-inserted on"):
        gdb.execute(command)
    gdb.execute(f"break {SETTINGS['begin']}", to_string=True)
    gdb.execute("run", to_string=True)
    gdb.execute("delete", to_string=True)
    bias = module_bias()
    names = places_with_variables(bias)
    found = plans(names)
    waiting = {address + bias: gdb.Breakpoint(f"*{address + bias:#x}", internal=True) for address in found}
    rows = []
    while waiting:
        gdb.execute("continue", to_string=True)
        if not gdb.selected_inferior().pid:
            break
        frame = gdb.newest_frame()
        pc = frame.pc()
        if pc not in waiting:
            break
        for name, steps in found[pc - bias].items():
            theirs = gdb_value(name, names[pc - bias][name], frame)
            if frame.type() == gdb.INLINE_FRAME and CALLERS in steps:
                theirs = "error: gdb 13 takes what an inlined function's registers hold now for what its caller was entered with"
            rows.append([pc - bias, str(frame.function()), name, theirs, djtap_value(steps, frame, bias), steps])
        waiting.pop(pc).delete()
    with open(SETTINGS["out"], "w", encoding="utf8") as out:
        json.dump(rows, out)


main()
