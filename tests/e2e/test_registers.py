"""Registers and raw arguments as functions of a script see them, print_regs(), and the build-id of an object."""
import re
import shutil
import subprocess

import pytest

from support import paths
from support.paths import victim

NAMES = ["rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", *(f"r{n}" for n in range(8, 16))]
# Fills all registers with numbers that it knows, calls spot(), and says where that was.
PROGRAM = r"""#include <stdio.h>
void spot(void);
void run(void);
extern char back[];
unsigned long stack;
__asm__(".text\n.globl spot, run, back\n.type spot, @function\n.type run, @function\n"
        "spot: nop; nop; nop; nop; nop; nop; ret\n.size spot, . - spot\n"
        "run: push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
        "mov %rsp, stack(%rip)\n"
        LOADS
        "call spot\n"
        "back: pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret\n.size run, . - run\n");
int main(void) {
  run();
  printf("%lx %lx %lx\n", (unsigned long)spot, (unsigned long)back, stack);
  return 0;
}
"""
VALUES = {name: 0x1111111100000000 + 0x101 * (i + 1) for i, name in enumerate(NAMES)}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    folder = tmp_path_factory.mktemp("registers")
    loads = " ".join(f'"mov ${value:#x}, %{name}\\n"' for name, value in VALUES.items())
    (folder / "filled.c").write_text(PROGRAM.replace("LOADS", loads))
    subprocess.run([compiler, "-O1", "-no-pie", "-o", folder / "filled", folder / "filled.c"], check=True)
    return str(folder / "filled")


def listing(rip, rsp):
    """As SystemTap's runtime writes it."""
    lines = [["RIP"], ["RSP"], ["RAX", "RBX", "RCX"], ["RDX", "RSI", "RDI"], ["RBP", "R08", "R09"], ["R10", "R11", "R12"], ["R13", "R14", "R15"]]
    values = {"RIP": rip, "RSP": rsp, **{name.upper() if name[1].isalpha() or len(name) == 3 else f"R0{name[1]}": value
                                         for name, value in VALUES.items()}}
    return "".join(" ".join(f"{name}: {values[name]:016x}" for name in line) + "\n" for line in lines)


def test_all_registers_are_printed(djtap, filled):
    """At the entry and at the exit, by the probe itself and by a function of a function. A probe of djtap's own prints none."""
    script = """function deep() { again() } function again() { print_regs() }
      probe func("spot") { print_regs() deep() } probe func("spot").return { print_regs() again() } probe begin { print("begin\\n") print_regs() }"""
    result = djtap("-e", script, "-c", filled)
    said = re.search(r"^(\w+) (\w+) (\w+)\n", result.stdout, re.M)  # the program's line may come before djtap's
    spot, back, stack = (int(word, 16) for word in said.groups())
    there = listing(spot, stack - 8)
    assert result.stdout.replace(said[0], "") == f"begin\n{there * 2}{listing(back, stack - 8) * 2}", result


def test_a_function_reads_the_registers_of_its_caller(djtap, filled):
    """Each probe passes its own, through functions, overloads with `next`, and recursion."""
    script = """function r12() { return register("r12") }
      function sum(n) { return n == 0 ? 0 : u_register("r8d") + sum(n - 1) }
      function one(n) { if (n) next; return register("al") }
      function one(n) { return r12() + register("rcx") }
      function there() { return @defined(register("rbx")) }
      probe func("spot") { printf("%x %x %x %x %d\\n", r12(), sum(3), one(0), one(1), there()) }
      probe func("main") { if (register("rsp") == stack_here()) println("main too") } function stack_here() { return register("rsp") }"""
    result = djtap("-e", script, "-c", filled)
    r8 = VALUES["r8"] & 0xffffffff
    assert f"{VALUES['r12']:x} {3 * r8:x} {VALUES['rax'] & 0xff:x} {VALUES['r12'] + VALUES['rcx']:x} 1\n" in result.stdout, result
    assert "main too\n" in result.stdout, result


def test_a_function_reads_the_arguments_of_its_caller(djtap):
    """vfs_read(file, buffer, count): debug info says count, too; and what it returns."""
    script = """function size() { return ulong_arg(3) } function result() { return returnval() }
      probe func("vfs_read") { n++; if (size() == $count) same++ }
      probe func("vfs_read").return { if (result() == $return) results++; if (size() == @entry($count)) sizes++
        texts[returnstr(1)]++; if (returnstr(2) == sprintf("0x%x", $return)) hex++ }"""
    result = djtap("-e", script, "-c", str(paths.TINYFS))
    calls = int(re.search(r"^vfs_read calls: (\d+)$", result.stdout, re.M)[1])
    assert {result.globals[name] for name in ("n", "same", "results", "sizes", "hex")} == {calls}, result
    assert sum(int(count) for _, count in result.array("texts")) == calls, result


def test_fractions_of_the_caller(djtap):
    """mix(a, float b, n, c), as in test_doubles.py."""
    script = """function second() { return float_arg(2) }
      probe func("mix") { n++; if (second() == float_arg(2) && second() * 2 == float_arg(2) + float_arg(2)) same++ }"""
    result = djtap("-e", script, "-c", victim("doubles"))
    assert result.globals["n"] > 0 and result.globals["same"] == result.globals["n"], result


def test_djtap_itself_has_no_registers(djtap_once):
    result = djtap_once("-e", 'function f() { return register("rax") } function g() { return f() } probe begin { println(g()) }')
    assert "error[DJ2012]: begin has no target variables" in result.stderr and '= `g` reads register("rax")' in result.stderr, result
    wrong = djtap_once("-e", 'function f() { return register("rxa") } probe func("main") { println(f()) }', "-c", "/bin/true")
    assert wrong.stderr.count("error[") == 1 and 'there is no general register "rxa"' in wrong.stderr, wrong


def test_the_build_id_of_an_object(djtap_once):
    """As readelf says it, of the C library and of the program itself, which is called by address."""
    def of(path):
        return re.search(r"Build ID: (\w+)", subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout)[1]
    program = victim("count")
    libc = re.search(r"\S+/libc\.so\.6", subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout)[0]
    script = """probe func("work"), func("libc.so.6!exit") { if (!told[probefunc()]++) println(probefunc(), " ", umodbuildid(uaddr())) }
      probe func("libc.so.6!exit") { try { umodbuildid(8) } catch (e) { println(e) } }"""
    result = djtap_once("-e", script, "-c", f"{program} 10 1")
    assert f"work {of(program)}\nexit {of(libc)}\nno object of the program is at 0x8\n" in result.stdout, result
