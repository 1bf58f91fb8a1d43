# SPDX-License-Identifier: Apache-2.0
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
unsigned short cs, ds, es, ss, fs, gs;
__asm__(".text\n.globl spot, run, back\n.type spot, @function\n.type run, @function\n"
        "spot: nop; nop; nop; nop; nop; nop; ret\n.size spot, . - spot\n"
        "run: push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
        "pushq $FLAGS; popfq; mov %rsp, stack(%rip)\n"
        LOADS
        "call spot\n"
        "back: pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret\n.size run, . - run\n");
int main(void) {
  run();
  __asm__("mov %%cs, %0; mov %%ds, %1; mov %%es, %2; mov %%ss, %3; mov %%fs, %4; mov %%gs, %5\n"
          : "=m"(cs), "=m"(ds), "=m"(es), "=m"(ss), "=m"(fs), "=m"(gs));
  printf("%lx %lx %lx\n", (unsigned long)spot, (unsigned long)back, stack);
  printf("selectors %04x %04x %04x %04x %04x %04x\n", cs, ds, es, ss, fs, gs);
  return 0;
}
"""
FLAGS = 0xad7  # CF, PF, AF, ZF, SF, OF; and the interrupts' and the one that is always set
VALUES = {name: 0x1111111100000000 + 0x101 * (i + 1) for i, name in enumerate(NAMES)}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    folder = tmp_path_factory.mktemp("registers")
    loads = " ".join(f'"mov ${value:#x}, %{name}\\n"' for name, value in VALUES.items())
    (folder / "filled.c").write_text(PROGRAM.replace("LOADS", loads).replace("FLAGS", str(FLAGS)))
    subprocess.run([compiler, "-O1", "-no-pie", "-o", folder / "filled", folder / "filled.c"], check=True)
    return str(folder / "filled")


def listing(rip, rsp, flags, selectors):
    """As SystemTap's runtime writes it, then all selectors."""
    lines = [["RIP"], ["RSP"], ["RAX", "RBX", "RCX"], ["RDX", "RSI", "RDI"], ["RBP", "R08", "R09"], ["R10", "R11", "R12"], ["R13", "R14", "R15"]]
    values = {"RIP": rip, "RSP": rsp, **{name.upper() if name[1].isalpha() or len(name) == 3 else f"R0{name[1]}": value
                                         for name, value in VALUES.items()}}
    text = "".join(" ".join(f"{name}: {values[name]:016x}" for name in line) + "\n" for line in lines)
    first, second = (" ".join(f"{name}:{more} {selectors[name]}" for name, more in words) + "\n"
                     for words in ([("CS", " "), ("DS", ""), ("ES", "")], [("SS", " "), ("FS", ""), ("GS", "")]))
    return text.replace(f"RSP: {rsp:016x}", f"RSP: {rsp:016x}  EFLAGS: {flags:08x}") + first + second


def told(result):
    """What the program says of itself: spot, back, the stack pointer; its selectors by name; and what djtap said between its lines."""
    places = re.search(r"^(\w+) (\w+) (\w+)\n", result.stdout, re.M)
    line = re.search(r"^selectors (.*)\n", result.stdout, re.M)
    selectors = dict(zip(["CS", "DS", "ES", "SS", "FS", "GS"], line[1].split()))
    return [int(word, 16) for word in places.groups()], selectors, result.stdout.replace(places[0], "").replace(line[0], "")


@pytest.mark.parametrize("point", ["", ".return"])
def test_all_registers_are_printed(djtap, filled, point):
    """By the probe itself and by a function of a function. A probe of djtap's own prints none."""
    script = f"""function deep() {{ again() }} function again() {{ print_regs() }}
      probe func("spot"){point} {{ print_regs() deep() }} probe begin {{ print("begin\\n") print_regs() }}"""
    result = djtap("-e", script, "-c", filled)
    (spot, back, stack), selectors, text = told(result)
    assert text == f"begin\n{listing(back if point else spot, stack - 8, FLAGS, selectors) * 2}", result


def test_flags_of_several_probes(djtap, filled):
    """Inside a function each probe sees the program's; where it begins the first one alone, since nobody keeps them there: 0 says so."""
    inside = paths.symbol_address(filled, "spot") + 2
    scripts = {(FLAGS, 0): 'probe func("spot") { print_regs() } probe func("spot") { n++; print_regs() }',
               (FLAGS, FLAGS): f"probe process.statement({inside:#x}) {{ print_regs() }} probe process.statement({inside:#x}) {{ n++; print_regs() }}"}
    for flags, script in scripts.items():
        result = djtap("-e", script, "-c", filled)
        (spot, _, stack), selectors, text = told(result)
        place = spot if flags[1] == 0 else inside
        assert text == "".join(listing(place, stack - 8, each, selectors) for each in flags) + "n=1\n", result


def test_selectors_are_registers(djtap, filled):
    script = """probe func("spot") { if (register("eflags") == register("flags")) 
      printf("is %04x %04x %04x %04x %04x %04x\\n", register("cs"), register("ds"), register("es"), register("ss"), u_register("fs"), register("gs")) }"""
    result = djtap("-e", script, "-c", filled)
    assert re.search(r"^is (.*)$", result.stdout, re.M)[1] == re.search(r"^selectors (.*)$", result.stdout, re.M)[1], result


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


def test_systemtaps_raw_reads(djtap, filled):
    """@uregister(n) by DWARF's numbers; what the stack holds at the function's entry is where it returns to."""
    order = ["rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", None, *(f"r{n}" for n in range(8, 16))]
    numbers = [n for n, name in enumerate(order) if name]
    script = f"""function raw() {{ return @uregister(3) }}
                 probe func("spot") {{ printf("{' '.join(['%x'] * len(numbers))}\\n", {', '.join(f'@uregister({n})' for n in numbers)})
                   printf("%x %x %x %x %x %x\\n", raw(), @uregister(7), @uderef(8, @uregister(7)), @uderef(4, @uregister(7)),
                          @uderef(2, @uregister(7)), @uderef(1, @uregister(7))) }}"""
    result = djtap("-e", script, "-c", filled)
    lines = result.stdout.splitlines()
    assert result.returncode == 0 and len(lines) == 4, result
    assert [int(word, 16) for word in lines[2].split()] == [VALUES[order[n]] for n in numbers], result
    spot, back, stack = (int(word, 16) for word in lines[0].split())
    assert [int(word, 16) for word in lines[3].split()] == [
        VALUES["rbx"], stack - 8, back, back & 0xFFFFFFFF, back & 0xFFFF, back & 0xFF], result
