# SPDX-License-Identifier: Apache-2.0
"""Functions of assembly that have neither .type nor .size; labels in functions and data in the text are none."""
import re
import subprocess

import pytest

from support.paths import victim

NONE = ("untyped_again", "untyped_numbers", "untyped_words", "untyped_end")

PROGRAM = r"""
    .text
    .globl _start, add_up
_start:
    xorl %ebx, %ebx
    movl $1000, %ebp
1:  movl %ebp, %edi
    call add_up
    decl %ebp
    jnz 1b
    leal 0(%rbx), %edi
    cmpl $500500, %edi
    setne %dil
    movl $60, %eax
    syscall
add_up:
    addl %edi, %ebx
    movl %ebx, %eax
    ret
    .p2align 4
"""

LIBRARY = ".text\n.globl far_away\nfar_away:\n  leaq 3(%rdi), %rax\n  addq $4, %rax\n  ret\n.section .note.GNU-stack,\"\",@progbits\n"
CALLER = "#include <stdio.h>\nlong far_away(long);\nint main(void) { long s = 0; for (int i = 0; i < 9; i++) s += far_away(i); printf(\"sum: %ld\\n\", s); }\n"


@pytest.fixture(params=["untyped", "untyped_fixed"])
def program(request):
    return victim(request.param)


def bare_output(path):
    return subprocess.run([path], capture_output=True, text=True, check=True).stdout


def test_entries_and_returns(djtap, program):
    """Each is called as often as the program says, and returns as often."""
    result = djtap("-e", 'probe func("untyped_*") { n[ppfunc()]++ } probe func("untyped_*").return { r[ppfunc()]++ }', "-c", program)
    truth = {f'"{name}"': str(count) for name, count in result.facts.items()}
    assert result.returncode == 0 and result.stdout.startswith(bare_output(program)), result  # data in the text is what it was
    assert len(truth) == 9 and dict(result.array("n")) == truth and dict(result.array("r")) == truth, result


def test_by_name(djtap, program):
    names = ("called", "pointed", "down", "outer", "inner", "framed", "first", "last", "sum")
    script = "".join(f'probe func("untyped_{name}") {{ {name}++ }}' for name in names)
    result = djtap("-e", script, "-c", program)
    assert result.globals == {name: result.facts[f"untyped_{name}"] for name in names}, result


def test_labels_and_data_are_no_functions(djtap_once, program):
    listed = djtap_once("-l", 'process.function("untyped_*")', "-c", program)
    assert listed.stdout.count("(\"untyped_") == 9 and not any(f'"{name}"' in listed.stdout for name in NONE), listed
    for name in NONE:
        result = djtap_once("-e", f'probe process.function("{name}") {{ n++ }}', "-c", program)
        assert result.returncode != 0 and "DJ3004" in result.stderr, result


def test_a_program_without_a_library(djtap, tmp_path):
    (tmp_path / "p.s").write_text(PROGRAM)
    subprocess.run(["gcc", "-nostdlib", "-static", "-o", tmp_path / "p", tmp_path / "p.s"], check=True)
    result = djtap("-e", 'global s probe func("add_up") { n++ } probe func("add_up").return { s = register("rax") }', "-c", tmp_path / "p")
    assert result.returncode == 0 and result.globals == {"n": 1000, "s": 500500}, result


@pytest.mark.parametrize("stripped", [False, True])
def test_an_exported_one(djtap, tmp_path, stripped):
    """Nothing in its own library calls it."""
    (tmp_path / "l.s").write_text(LIBRARY)
    (tmp_path / "p.c").write_text(CALLER)
    subprocess.run(["gcc", "-shared", "-o", "libfar.so", "l.s"], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "-o", "p", "p.c", tmp_path / "libfar.so"], cwd=tmp_path, check=True)
    if stripped:
        subprocess.run(["strip", tmp_path / "libfar.so"], check=True)
    result = djtap("-e", 'probe func("libfar.so!far_away") { n++ } probe func("libfar.so!far_away").return { r += register("rax") }', "-c", tmp_path / "p")
    assert result.globals == {"n": 9, "r": result.facts["sum"]}, result


def test_backtraces_name_them(djtap_once, program):
    result = djtap_once("-e", 'probe func("untyped_inner") { print_ubacktrace() exit() }', "-c", program)
    assert re.search(r" : untyped_inner\+0x0/0x9 .*\n.* : untyped_outer\+0x9/0xe .*\n.* : main\+", result.stdout), result


def test_labels_that_tools_make(djtap_once, tmp_path):
    """Those of local labels, annobin and mapping symbols are in the table and name no function."""
    source = ".globl main\n.type main,@function\nmain:\n  call .annobin_x\n  call $d.1\n  call work\n  xorl %eax,%eax\n  ret\n.size main,.-main\n" + \
             ".annobin_x:\n  ret\n$d.1:\n  ret\nwork:\n  movl $1,%eax\n  nop\n  ret\n.section .note.GNU-stack,\"\",@progbits\n"
    (tmp_path / "p.s").write_text(source.replace("call $d.1", "call \"$d.1\"").replace("\n$d.1:", "\n\"$d.1\":"))
    subprocess.run(["gcc", "-o", tmp_path / "p", tmp_path / "p.s"], check=True)
    listed = djtap_once("-l", 'process.function("*")', "-c", tmp_path / "p").stdout
    assert '"work"' in listed and "annobin" not in listed and "$d" not in listed, listed

