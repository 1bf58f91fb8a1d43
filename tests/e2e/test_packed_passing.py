# SPDX-License-Identifier: Apache-2.0
"""Structs within packed structs: gcc and clang pass and return them by rules of their own, of which the debug information shows
the members' places alone. What djtap reads is what the program prints; what cannot be known is refused."""
import itertools
import re
import shutil
import subprocess

import pytest

from support import run, signatures

PACKED = "__attribute__((packed)) "
INNER = {"padded_bits": "int a : 13; int b : 5;", "whole_bits": "int a : 20; int b : 12;", "numbers": "int a : 16; int b : 16;", "word": "int a : 32;",
         "short_bits": "short a : 5; short b : 4;", "long_bits": "long a : 33; char b;", "char_bits": "char a : 4; char b : 4;", "floating": "float a;",
         "mixed": "short a; char b;", "bits_and_short": "int a : 9; short b;"}
OUTER = ("char p;", "short p;", "float p;", "char p[3];", "")
HEAD = """#include <stdio.h>
__attribute__((noinline)) void touch(const void* p) { __asm__ volatile("" : : "r"(p) : "memory"); }
"""
COMPILERS = [f"{name} -O{level}" for name in ("gcc", "g++", "clang-14", "clang-19", "clang++-19") for level in (0, 2)]
NOT_TOLD = "depends on what is packed, of which the debug information does not tell"


def shapes(compiler):
    """(name, definition, [(path, number)]) of all of them. clang-14 does not say that a bit-field of its type's size is one."""
    inners = [text for name, text in INNER.items() if name != "word" or compiler != "clang-14"]
    places = itertools.product(inners, ("", PACKED), (0, 2, 3), OUTER, ("", PACKED))
    for number, (inner, own, count, before, whole) in enumerate(places):
        of_inner = f"struct {own}I{number} {{ {inner} }};\n"
        member = f"struct I{number} m{f'[{count}]' if count else ''};"
        define = of_inner + f"struct {whole}O{number} {{ {before} {member} }};\n"
        paths = [f"{'.m' + (f'[{i}]' if count else '')}.{part}" for i in range(count or 1) for part in re.findall(r"\b([ab])\b", inner)]
        paths += [".p[2]" if "[" in before else ".p"] * bool(before)
        yield f"O{number}", define, [(path, (number + 3 * i) % 7 + 1) for i, path in enumerate(paths)]


def program(compiler):
    """(text, script, names of functions)."""
    text, script, sets, calls, names = [HEAD], [], [], [], {}
    for name, define, leaves in shapes(compiler):
        give, take = f"give_{name}", f"take_{name}"
        names |= {give: "", take: ""}
        text.append(f"{define}struct {name} x_{name};\n"
                    f"__attribute__((noinline)) struct {name} {give}(void) {{ touch(0); return x_{name}; }}\n"
                    f"__attribute__((noinline)) int {take}(struct {name} a, int b) {{ touch(&a); return b; }}\n")
        seen = {"exit": "", "entry": ""}
        for path, value in leaves:
            sets.append(f"x_{name}{path} = {value};")
            sets += [f'printf("TRUTH {function} {where} {path} {value}\\n");' for function, where in ((give, "exit"), (take, "entry"))]
            for where, root, function in (("exit", "$return", give), ("entry", "$a", take)):
                read = f"{root}->{path[1:].replace('.', '->')}"
                kind = "%g" if f"float {path[-1]};" in define else "%d"
                seen[where] += f'if (@defined({read})) printf("SEEN {function} {where} {path} {kind}\\n", {read}) '
        sets.append(f'printf("TRUTH {take} entry b 42\\n");')
        calls.append(f"{{ struct {name} got = {give}(); touch(&got); touch((void*)(long){take}(got, 42)); }}")
        seen["entry"] += f'if (@defined($b)) printf("SEEN {take} entry b %d\\n", $b) '
        script += [f'probe func("{give}").return {{ {seen["exit"]}}}', f'probe func("{take}") {{ {seen["entry"]}}}']
    text += [f"__attribute__((noinline)) void set{i}(void) {{ {' '.join(sets[i:i + 60])} }}\n" for i in range(0, len(sets), 60)]
    main = [*(f"set{i}();" for i in range(0, len(sets), 60)), "fflush(stdout);", *calls]
    return "".join(text) + f"int main(void) {{ {' '.join(main)} return 0; }}\n", "\n".join(script), names


@pytest.mark.parametrize("compiler", COMPILERS)
def test_values_are_the_programs(tmp_path, compiler):
    if not shutil.which(compiler.split()[0]):
        pytest.skip(f"{compiler.split()[0]} is not there")
    text, script, names = program(compiler.split()[0])
    source = tmp_path / ("packed.cc" if "++" in compiler else "packed.c")
    source.write_text(text)
    (tmp_path / "script.djt").write_text(script)
    subprocess.run([*compiler.split(), "-g", "-w", source, "-o", tmp_path / "program"], check=True, timeout=300)
    result = run.run([tmp_path / "script.djt", "-c", tmp_path / "program"])
    wrong, good, missing = signatures.compared(result.stdout, names)
    assert not wrong and "error" not in result.stderr, (compiler, wrong[:9], len(wrong), result.stderr[:1000])
    assert good >= 0.8 * (good + len(missing)), (compiler, good, len(missing), missing[:9])


def test_what_depends_on_attributes_is_refused(tmp_path):
    """Packed or not, I has the same layout; with it clang returns O in registers or in memory."""
    (tmp_path / "unknown.c").write_text("struct I { int a : 20; int b : 12; }; struct __attribute__((packed)) O { char p; struct I m; } x;\n"
                                        "__attribute__((noinline)) struct O give(void) { return x; }\nint main(void) { return give().p; }\n")
    if not shutil.which("clang-19"):
        pytest.skip("clang-19 is not there")
    subprocess.run(["clang-19", "-g", "-O2", tmp_path / "unknown.c", "-o", tmp_path / "unknown"], check=True, timeout=300)
    result = run.run(["-e", 'probe func("give").return { println($return->p) }', "-c", tmp_path / "unknown"])
    assert NOT_TOLD in result.stderr and result.returncode == 3, result
