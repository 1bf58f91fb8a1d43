# SPDX-License-Identifier: Apache-2.0
"""What djtap says, word for word, of files, processes and options that it cannot take."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from support import paths, run
from support.paths import victim

EXIT = "probe begin { exit() }"


def says(*words, **options):
    result = run.run(words, **options)
    return result.returncode, result.stderr


# --- files that are no programs

def elf(**changes):
    """/bin/true with bytes of its ELF header replaced: at=value."""
    data = bytearray(pathlib.Path("/bin/true").read_bytes())
    for at, value in changes.items():
        data[int(at[1:])] = value
    return bytes(data)


def without_names():
    """The same without section headers, and without the segments of dynamic and call frame information."""
    data = bytearray(elf(**{f"_{at}": 0 for at in (*range(40, 48), 60, 61)}))
    first, size, count = (int.from_bytes(data[at:at + width], "little") for at, width in ((32, 8), (54, 2), (56, 2)))
    for at in range(first, first + size * count, size):
        if int.from_bytes(data[at:at + 4], "little") in (2, 0x6474e550):  # PT_DYNAMIC, PT_GNU_EH_FRAME
            data[at:at + 4] = bytes(4)
    return bytes(data)


FILES = {
    "script": (b"#!/bin/sh\n", "--coverage", "is a script, not an ELF file; its first line names its program"),
    "old": (elf(_4=1, _18=3), "-c", "is made for 32-bit x86 (i386); djtap probes programs for x86-64 alone"),
    "other": (elf(_18=0xb7), "--coverage", "is made for 64-bit ARM (AArch64); djtap probes programs for x86-64 alone"),
    "big": (elf(_5=2, _18=0, _19=22), "--coverage", "is made for IBM Z (s390); djtap probes programs for x86-64 alone"),
    "x32": (elf(_4=1), "--coverage", "is made for x86-64 with 32-bit pointers (x32); djtap probes programs for x86-64 alone"),
    "odd": (elf(_18=0xfe, _19=0xca), "-c", "is made for machine number 51966; djtap probes programs for x86-64 alone"),
    "head": (elf()[:30], "-c", ": truncated ELF header"),
    "short": (elf()[:100], "-c", ": truncated program headers"),
    "bad": (elf(_54=1), "-c", ": damaged ELF header"),
    "nameless": (without_names(), "--coverage", "names no functions, neither by symbols nor by .eh_frame"),
    "nothing": (b"", "--coverage", "is empty"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_no_program(tmp_path, name):
    data, option, words = FILES[name]
    path = tmp_path / name
    path.write_bytes(data)
    path.chmod(0o755)
    told = ["--stress", "--coverage", path] if option == "--coverage" else ["-e", 'probe func("main") { n++ }', "-c", path]
    code, text = says(*told)
    number = "DJ3005" if option == "--coverage" else "DJ4004"
    assert code != 0 and text == f"error[{number}]: {path}{'' if words[0] == ':' else ' '}{words}\n"


def test_a_program_that_is_not_executable(tmp_path):
    path = tmp_path / "plain"
    path.write_text("text")
    assert says("-e", EXIT, "-c", path) == (126, f"error[DJ4002]: {path} is not executable: Permission denied\n")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_program_that_does_not_load(tmp_path):
    (tmp_path / "x.c").write_text("int x(void) { return 1; }")
    (tmp_path / "main.c").write_text("int x(void); int main(void) { return x(); }")
    subprocess.run(["gcc", "-shared", "-o", "libx.so", "x.c"], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "-o", "main", "main.c", "-L.", "-lx"], cwd=tmp_path, check=True)
    code, text = says("-e", 'probe func("main") { n++ }', "-c", tmp_path / "main")
    assert code == 4 and text.splitlines()[-1] == "error[DJ4003]: the program ended while it was being loaded (exit status 127)", text


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_call_without_a_stub(tmp_path):
    """Built with -fno-plt, a program calls through words that only the loader writes."""
    (tmp_path / "main.c").write_text("#include <stdlib.h>\nint main(void) { free(malloc(3)); return 0; }\n")
    subprocess.run(["gcc", "-O0", "-fno-plt", "-o", "direct", "main.c"], cwd=tmp_path, check=True)
    code, text = says("-e", 'probe process.plt("malloc") { n++ }', "-c", tmp_path / "direct")
    assert code == 3 and text == ('error[DJ3018]: direct has no PLT entry "malloc"\n'
                                    " --> <command line>:1:19\n"
                                    "  |\n"
                                    '1 | probe process.plt("malloc") { n++ }\n'
                                    "  |                   ^^^^^^^^\n"
                                    "  = malloc is called through its GOT word: built with -fno-plt, or its address is taken\n"
                                    'help: probe the calls: process("direct").function("*").callee("malloc")\n')
    result = run.run(["-e", 'probe process("direct").function("*").callee("malloc") { n++ }', "-c", tmp_path / "direct"])
    assert result.globals == {"n": 1}, "the help helps"


# --- processes

def kernel_thread():
    for entry in filter(str.isdigit, os.listdir("/proc")):
        stat = pathlib.Path(f"/proc/{entry}/stat").read_text(errors="replace").rpartition(")")[2].split()
        if stat[1] == "2" and int(entry) > 10:
            return entry, pathlib.Path(f"/proc/{entry}/comm").read_text().strip()
    return None


def test_a_thread_of_the_kernel():
    found = kernel_thread()
    if found is None:
        pytest.skip("no thread of the kernel is visible here")
    if os.getuid() != 0:
        pytest.skip("it belongs to root")
    pid, _ = found
    code, text = says("-e", 'probe func("f") { n++ }', "-p", pid)
    assert code == 4 and text.startswith(f"error[DJ4004]: process {pid} (") and text.endswith(") is a thread of the kernel: it runs no program\n")


def test_no_process():
    child = subprocess.Popen(["/bin/true"])
    child.wait()
    assert says("-e", 'probe func("f") { n++ }', "-p", child.pid) == (4, f"error[DJ4001]: there is no process {child.pid}\n")


def test_a_zombie():
    child = subprocess.Popen(["/bin/true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    told = says("-e", 'probe func("f") { n++ }', "-p", child.pid)
    child.wait()
    assert told == (4, f"error[DJ4003]: process {child.pid} (true) has already ended and waits for its parent (zombie)\n")


def test_djtap_itself():
    said = subprocess.run(["sh", "-c", f"exec {paths.DJTAP} -p $$ -e 'probe func(\"f\") {{ n++ }}'"], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr) == (4, "error[DJ4002]: djtap cannot trace itself\n")


def test_a_process_that_is_traced(program):
    """By a Python program that seizes it (PTRACE_SEIZE), which stops nobody."""
    target = program(victim("commander"))
    target.wait_for("pid: ")
    tracer = program(sys.executable, "-c", f"""import ctypes, sys
assert ctypes.CDLL(None, use_errno=True).ptrace(0x4206, {target.pid}, None, None) == 0
print("seized", flush=True)
sys.stdin.read()""")
    tracer.wait_for("seized")
    code, text = says("-e", 'probe func("work") { n++ }', "-p", target.pid)
    assert (code, text) == (4, f"error[DJ4002]: process {target.pid} (commander) is already traced by process {tracer.pid}; "
                               "end that debugger or tracer first\n")


def test_a_process_that_djtap_traces(attach, program):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    tracer = attach(target.pid, 'probe func("work") { n++ }')
    held = f"error[DJ4002]: process {target.pid} is held by another djtap, process {tracer.pid}: end that session first (one session a process)"
    assert says("clean", target.pid) == (4, f"{held}\n")
    assert says("-e", 'probe func("work") { n++ }', "-p", target.pid) == (
        4, f"{held}, or give it more probes: add SCRIPT on its --control socket\n")


def test_the_same_error_again_is_counted(djtap_once):
    """Five times it is told in full."""
    result = djtap_once("-e", "probe end { exit() } probe timer.ms(1) { if (k++ < 8) println(1 / (k - k)) else exit() } global k")
    told = re.findall(r"^error\[DJ5003\]: (.*)$", result.stderr, re.M)
    assert told == 5 * ["division by 0"] + ["3 more of this kind: division by 0"], result


# --- scripts

SCRIPTS = {
    "utf16.djt": (EXIT.encode("utf-16"), "{} is UTF-16 text; make it UTF-8: iconv -f UTF-16 -t UTF-8 {}"),
    "binary.djt": (b"probe begin { \0 }", "{} is no text: its byte number 15 is NUL"),
    "none.djt": (None, "cannot read script {}: No such file or directory"),
    ".": (None, "{} is a folder; a script is a file (-I {} adds a folder of tapsets)"),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_file_that_is_no_script(tmp_path, name):
    data, words = SCRIPTS[name]
    if data is not None:
        (tmp_path / name).write_bytes(data)
    path = tmp_path / name
    code, text = says(path)
    assert code == 1 and text.splitlines()[0] == f"error[DJ0006]: {words.replace('{}', str(path))}", text


STAGES = {"DJ0001": "an error found while the command line is read",
          "DJ1002": "an error found while the script is parsed", "DJ2001": "an error found while names and types are checked",
          "DJ3004": "an error found while the script meets the program to trace", "DJ5101": "an error found while the session runs",
          "DJ2903": "a warning found while names and types are checked"}


@pytest.mark.parametrize("code", STAGES)
def test_when_a_mistake_is_found(djtap_once, code):
    assert djtap_once("--explain", code).stdout.splitlines()[0] == f"{code}, {STAGES[code]}"


def test_a_warning_ends_it(djtap_once):
    result = djtap_once("-W", "-e", "probe begin { x = 1; exit() }")
    assert result.returncode == 3 and result.stderr.endswith("help: to see it at the end declare: global x\nerror[DJ2034]: -W: a warning ends it\n"), result


PLACES = {
    "no source": (["--source", "_start"], 3, """error[DJ3010]: no debug info (DWARF) tells the source of that
 --> <command line>:1:7
  |
1 | probe func("_start") {}
  |       ^^^^^^^^^^^^^^
help: compile with -g, or install the package with its debug symbols
"""),
    "alias without a place": (["-l", "sqlite.*"], 3, "error[DJ3022]: the tapsets have this probe point, but nothing of this program is one\n"),
    "waits": (["-e", 'probe process.library("lib*").function("nosuch*") { n++ }'], 0,
              """warning[DJ3004]: nothing matches in the objects that are mapped now: the probe waits for others
 --> <command line>:1:40
  |
1 | probe process.library("lib*").function("nosuch*") { n++ }
  |                                        ^^^^^^^^^
"""),
    "header": (["-e", 'probe func("main") { println(@cast(8, "t", "<nosuch.h>")->x) }'], 3, """error[DJ3021]: <nosuch.h> cannot be compiled
 --> <command line>:1:30
  |
1 | probe func("main") { println(@cast(8, "t", "<nosuch.h>")->x) }
  |                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  = headers.c:1:10: fatal error: nosuch.h: No such file or directory
"""),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_point_without_a_place(name):
    words, code, text = PLACES[name]
    if name == "header" and shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    assert says(*words, "-c", victim("args")) == (code, text)


@pytest.mark.skipif(shutil.which("strip") is None, reason="binutils is not installed")
def test_threads_of_a_stripped_c_library(tmp_path):
    """It is linked into the program, so that no package has its symbols."""
    bare = shutil.copy(victim("count_static"), tmp_path / "bare")
    words = ["-n", "-e", "probe process.thread.begin { n++ }", "-c", bare]
    assert says(*words) == (0, "")
    subprocess.run(["strip", bare], check=True)
    assert says(*words) == (3, """error[DJ3020]: the C library's start_thread() is not known: it is stripped
 --> <command line>:1:22
  |
1 | probe process.thread.begin { n++ }
  |                      ^^^^^
help: install its debug symbols (Debian: libc6-dbg)
""")


COPIES = """#include <stdio.h>
#include <stdlib.h>
struct p { int a, b; };
static __attribute__((noinline)) int f(struct p* p, int k) { return p->a * k + 1; }
static __attribute__((noinline)) int g(int n) { int twice = n * 2; printf("%d\\n", n); n = rand(); printf("%d\\n", n); return n; }
int main(int argc, char** argv) { (void)argv; struct p p = {argc, 2}; printf("%d\\n", f(&p, 3)); return g(argc) & 0; }
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_variables_of_copies_of_functions(tmp_path):
    """A parameter that a copy does not get is its callers' matter; a local variable that is there later is not."""
    (tmp_path / "o.c").write_text(COPIES)
    subprocess.run(["gcc", "-O2", "-g", "-o", "o", "o.c"], cwd=tmp_path, check=True)
    symbols = subprocess.run(["nm", "o"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    [f], [g] = re.findall(r" t (f\..*)", symbols) or [None], re.findall(r" t (g\..*)", symbols) or [None]
    if f is None or g is None:
        pytest.skip("this compiler makes no copies of the functions")
    code, text = says("-e", 'probe process.function("f") { println($p) }', "-c", tmp_path / "o")
    assert code == 3 and text.splitlines()[5:] == [
        f"  = {f} is a copy of f() that the compiler made for some callers",
        "help: its callers have the value; gcc's -fno-ipa-sra -fno-ipa-cp keep the parameters"], text
    code, text = says("-e", 'probe process.function("g") { println($twice) }', "-c", tmp_path / "o")
    assert code == 3 and re.search(r"\n  = \$twice has a location in g\(\) at \+0x", text) and "callers" not in text, text


# --- what a session could not do, told at its end

LOSSES = [
    (["-D", "MAXACTION=10", "-e", 'probe func("main") { for (;;) { } }'], "warning[DJ5906]: 1 handler ended by MAXACTION"),
    (["-D", "MAXNESTING=3", "-e", 'function f(n) { return f(n + 1) } probe func("main") { println(f(1)) }'], "warning[DJ5906]: 1 handler ended by MAXNESTING"),
    (["-D", "MAXSTRINGLEN=16", "-e", 'probe func("main") { s = "aaaaaaaaaaaaaaaa"; println(s . s) }'], "warning[DJ5905]: 1 string cut (raise -D MAXSTRINGLEN)"),
]


def test_one_thing_is_no_plural(djtap_once):
    """What -n, -v and --stress count, where it is one."""
    dry = djtap_once("-n", "-e", 'probe func("main") { n++ } probe end { exit() }', "-c", victim("args")).stdout
    assert "dry run: 1 of 1 site would be armed, 1 by jump, 0 by int3; 1 probe runs in djtap itself; " in dry, dry
    loud = djtap_once("-v", "--no-optimize", "-e", 'probe func("main") { n++ }', "-c", victim("args")).stderr
    assert re.search(r" 1 of 1 site; \d+ pages? of text", loud), loud
    stress = djtap_once("--stress", "main", "-c", victim("args")).stderr
    assert "stress: 1 site\n" in stress and "stress: 1 hit, " in stress and stress.count(", 1 function hit\n") == 1, stress
    none = djtap_once("-e", 'probe func("ma1n") { n++ }', "-c", victim("args")).stderr
    assert "= searched: args (" in none and " functions)" in none, none


@pytest.mark.parametrize("words, last", LOSSES, ids=[row[1][18:] for row in LOSSES])
def test_what_was_lost(djtap, words, last):
    result = djtap(*words, "-c", victim("count"))
    assert result.stderr.splitlines()[-1] == last and result.returncode == 0, result


def test_lost_lines_are_counted(djtap, tmp_path):
    """Lines that came and lines that were lost are all."""
    result = djtap("-D", "RINGBYTES=4096", "-o", tmp_path / "out", "-e", 'probe func("vfs_read") { println("hello hello hello hello") }',
                   "-c", str(paths.TINYFS))
    came = (tmp_path / "out").read_text().count("hello hello hello hello\n")
    last = result.stderr.splitlines()[-1] if result.stderr else ""
    lost = result.facts["vfs_read calls"] - came
    assert last == (f"warning[DJ5905]: {lost} events lost: a ring is full (raise -D RINGBYTES)" if lost else ""), result
