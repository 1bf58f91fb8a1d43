# SPDX-License-Identifier: Apache-2.0
"""Sentences of chapter 4 (probe points) and of the parts on target variables of SystemTap's Language Reference, a small script
each, on targets/reference.c. The first word of a row is the section. What djtap refuses stands in docs/compatibility.md."""
import os
import re
import shutil
import subprocess

import pytest

from support import paths
from support.paths import victim

REFERENCE = victim("reference")
SOURCE = "reference.c"
# The lines of the function take().
FIRST = next(number for number, text in enumerate((paths.TARGETS / SOURCE).read_text().splitlines(), 1) if " take(struct" in text)

# A point on the program that calls outer_call(0) to outer_call(3), and how often it is hit; $P is the program.
POINTS = [
    ("4.1", 'process("$P").function("take"), process("$P").function("part")', 8), ("4.1.2", 'process("$P").function("take").return', 4),
    ("4.1.3", 'process("$P").function("p*rt")', 4), ("4.1.3", 'process("$P").fun*("take")', 4),
    ("4.1.4", 'process("$P").function("no_such_function") ?, process("$P").function("take")', 4),
    ("4.1.5", 'process("$P").{function("take"),function("part").{call,return}}', 12), ("4.1.5", 'process("$P").{function("no_such"),function("take")}?', 4),
    ("4.1.5", '{process("$P"),process}.function("take")!', 4),
    # 4.2 Functions, entered, left and inlined; what is exported; labels; statements.
    ("4.2", 'process("$P").function("take").call', 4), ("4.2", 'process("$P").function("squared")', 4), ("4.2", 'process("$P").function("squared").inline', 4),
    ("4.2", 'process("$P").function("squared").call?', 0), ("4.2", 'process("$P").function("take").exported', 4),
    ("4.2", 'process("$P").function("run").exported?', 0), ("4.2", 'process("$P").function("take").label("large")', 4),
    ("4.2", 'process("$P").function("take").label("l*")', 4), ("4.2", 'process("$P").function("t*").label("[a-l]arg?")', 4),
    ("4.2", 'process("$P").function("t[a-c]ke")', 4), ("4.2", 'process("$P").function("ta?e")', 4),
    ("4.2", f'process("$P").statement("take@{SOURCE}:{FIRST + 3}")', 4), ("4.2", f'process("$P").statement("*@*/{SOURCE}:{FIRST + 3}")', 4),
    ("4.2", f'process("$P").statement("take@{SOURCE}+7")', 4), ("4.2", f'process("$P").statement("take@{SOURCE}:{FIRST + 6}-{FIRST + 7}")', 8),
    ("4.2", f'process("$P").function("take@{SOURCE}")', 4), ("4.2", f'process("$P").function("*@targets/{SOURCE}")', 10),
    ("4.2", 'process("$P").function("*@reference_p*.c")', 4), ("4.2.1", f'process("$P").function("*@{SOURCE}:{FIRST + 2}")', 4),
    ("4.2.1", 'process("$P").function("*ar*"), process("$P").function("*call*")', 9), ("4.3", 'process("$P").{function("take"),function("part")}.return', 8),
    # 4.5.1 Processes and threads; each with a path, and with a process's number.
    ("4.5.1", "process.begin", 1), ("4.5.1", 'process("$P").begin', 1), ("4.5.1", "process.thread.begin", 1), ("4.5.1", 'process("$P").thread.begin', 1),
    ("4.5.1", "process.end", 1), ("4.5.1", 'process("$P").end', 1), ("4.5.1", "process.thread.end", 1), ("4.5.1", 'process("$P").thread.end', 1),
    # 4.5.3 Functions and statements of programs.
    ("4.5.3", 'process("$P").function("take")', 4), ("4.5.3", f'process("$P").statement("*@{SOURCE}:{FIRST + 6}")', 4),
    ("4.5.3", 'process("$P").function("t*").return', 4), ("4.5.5", "process.function(\"take\")", 4),
    ("4.5.6", 'process("$P").library("libc.so.6").function("close")', 1), ("4.5.6", 'process("$P").library("libc*").function("gettimeofday")?', 0),
    ("4.5.6", 'process("$P").plt("close")', 1), ("4.5.6", 'process("$P").plt("pthread_*")', 2), ("4.5.8", 'process("$P").mark("taken")', 4),
    ("4.5.8", 'process("$P").mark("t*")', 4), ("4.5.8", 'process("$P").provider("reference").mark("taken")', 4),
]


@pytest.mark.parametrize("section, point, hits", POINTS, ids=[f"{section}-{point[-40:]}" for section, point, _ in POINTS])
def test_points(djtap_once, section, point, hits):
    result = djtap_once("-e", f"global hits probe {point.replace('$P', REFERENCE)} {{ hits++ }} probe end {{ println(\"hits \", hits) }}", "-c", REFERENCE)
    assert result.returncode == 0 and f"hits {hits}\n" in result.stdout and result.facts["sum"] == 278, (section, result)


TAKE, TAKEN = f'process("{REFERENCE}").function("take")', f'process("{REFERENCE}").function("take").return'
LATE = f'process("{REFERENCE}").statement("take@{SOURCE}:{FIRST + 7}")'
# A point, a value, and what it is in the first two hits.
VALUES = [
    # 4.2 Parameters are there at entries, and at returns; so is the result.
    ("4.2", TAKE, "$count", "0 1"), ("4.2", TAKEN, "$return", "45 47"), ("4.2", TAKEN, "$count", "0 1"),
    ("4.2", TAKEN, "$return == $node->id + 41 + $count * $count + 3", "1 1"), ("4.2", LATE, "$total", "42 44"), ("4.2", LATE, "$count", "3 3"),
    # Integers are 64 bit; char pointers become strings by functions.
    ("4.2", TAKE, "user_string($text)", "text text"), ("4.2", TAKE, "user_string($node->name)", "first second"),
    ("4.2", TAKE, "user_string_n($text, 2)", "te te"),
    # @var, with a file, and with a path.
    ("4.2", TAKE, '@var("count")', "0 1"), ("4.2", TAKE, '@var("shared")', "12 12"), ("4.2", TAKE, '$limit', "41 41"),
    ("4.2", TAKE, f'@var("limit@{SOURCE}")', "41 41"), ("4.2", TAKE, '@var("limit@reference_part.c")', "7 7"),
    ("4.2", TAKE, f'@var("limit@targets/{SOURCE}")', "41 41"), ("4.2", TAKE, f'@var("shared", "{REFERENCE}")', "12 12"),
    ("4.2", TAKE, f'@var("limit@reference_part.c", "{REFERENCE}")', "7 7"), ("4.2", f'process("{REFERENCE}").function("part")', "$limit", "7 7"),
    ("4.2", TAKE, f'@var("nodes@{SOURCE}")[1]->id', "2 2"), ("4.2", TAKE, f'@var("outer@{SOURCE}")->depth', "9 9"),
    # Members, through pointers and in structs, and elements.
    ("4.2", TAKE, "$node->id", "1 2"), ("4.2", TAKE, "$node->in->depth", "5 6"), ("4.2", TAKE, "$node->list[2]", "12 22"),
    ("4.2", TAKE, "$node->list[$count]", "10 21"), ("4.2", TAKE, "user_string($node->in->word)", "inner other"),
    ("4.2", TAKE, "$node->next ? $node->next->list[0] : -1", "20 -1"), ("4.2", TAKE, "$text[1]", "101 101"),
    # Addresses.
    ("4.2", TAKE, "&$node->id == $node", "1 1"), ("4.2", TAKE, "&$node->list[1] - &$node->list", "4 4"), ("4.2", TAKE, "&$node->list[1] - $node", "20 20"),
    ("4.2", TAKE, f'&@var("limit@{SOURCE}") != &@var("limit@reference_part.c")', "1 1"), ("4.2", TAKE, f'user_int(&@var("limit@{SOURCE}"))', "41 41"),
    ("4.2", TAKE, f'&@var("nodes@{SOURCE}")[0] == $node', "1 0"), ("4.2", LATE, "user_long(&$total)", "42 44"),
    # Text forms: shallow and deep.
    ("4.2", TAKE, "$node->in$", '{.depth=5, .word="inner"} {.depth=6, .word="other"}'), ("4.2", TAKE, 'isinstr($node$, ".in={...}")', "1 1"),
    ("4.2", TAKE, 'isinstr($node$, ".list=[...]")', "1 1"), ("4.2", TAKE, 'isinstr($node$$, ".in={.depth=")', "1 1"),
    ("4.2", TAKE, 'isinstr($node$$, ".list=[10, 11, 12, 13]")', "1 0"),
    ("4.2", TAKE, f'@var("outer@{SOURCE}")$$', '{.depth=9, .word="outer"} {.depth=9, .word="outer"}'),
    # $$vars and its kin.
    ("4.2", TAKE, '$$parms == sprintf("node=%#x text=%#x count=%#x", $node, $text, $count)', "1 1"),
    ("4.2", LATE, '$$locals == sprintf("total=%#x", $total)', "1 1"), ("4.2", LATE, '$$vars == $$parms . " " . $$locals', "1 1"),
    ("4.2", TAKEN, '$$return', "return=0x2d return=0x2f"),
    # 4.4 Without debug information: parameters by number, the result, registers.
    ("4.4", TAKE, "uint_arg(3)", "0 1"), ("4.4", TAKE, "pointer_arg(1) == $node", "1 1"), ("4.4", TAKE, "ulong_arg(2) == $text", "1 1"),
    ("4.4", TAKE, "user_string(pointer_arg(2))", "text text"), ("4.4", TAKEN, "returnval()", "45 47"), ("4.4", TAKEN, "returnstr(1)", "45 47"),
    ("4.4", TAKEN, "returnstr(2)", "0x2d 0x2f"), ("4.4", TAKE, 'register("rdx")', "0 1"), ("4.4", TAKE, 'u_register("edx")', "0 1"),
    # 4.5.8 A mark's arguments.
    ("4.5.8", f'process("{REFERENCE}").mark("taken")', "$arg1", "42 44"), ("4.5.8", f'process("{REFERENCE}").mark("taken")', "user_string($arg2)", "text text"),
    # 5.6.10, 5.6.11 Members by @cast, of a type in the program, in another object, of a header; what a void pointer leads to.
    ("5.6.11", TAKE, '@cast($node, "node")->list[1]', "11 21"), ("5.6.11", TAKE, '@cast($node, "struct node")->in->depth', "5 6"),
    ("5.6.11", TAKE, f'@cast($node, "node", "{REFERENCE}")->id', "1 2"), ("5.6.11", TAKE, f'@cast($node, "node", "no_such_file:{REFERENCE}")->id', "1 2"),
    ("5.6.11", TAKE, '$node->id == 1 ? @cast($node->data, "inner")->depth : -1', "9 -1"),
    ("5.6.11", TAKE, '@cast($node, "timeval", "<sys/time.h>")->tv_sec', "1 2"), ("5.6.11", TAKE, '@cast($node->in->word, "char")[0]', "105 111"),
    ("5.6.11", TAKE, '@cast(@cast($node, "node")->out ? $node->out : &$node->in, "inner")->depth', "9 6"),
    ("5.6.11", TAKE, '@cast($node, "node")->in$', '{.depth=5, .word="inner"} {.depth=6, .word="other"}'),
    # 5.8.2 @defined.
    ("5.8.2", TAKE, '@defined($count) + @defined($bar) * 2 + @defined($node->id) * 4 + @defined($node->no) * 8', "5 5"),
    ("5.8.2", TAKE, "@defined($bar) ? $bar : 3", "3 3"), ("5.8.2", TAKE, f'@defined(@var("limit@{SOURCE}")) * 2 + @defined(@var("no"))', "2 2"),
]


@pytest.mark.parametrize("section, point, value, printed", VALUES, ids=[f"{section}-{value[:50]}" for section, _, value, _ in VALUES])
def test_values(djtap_once, section, point, value, printed):
    result = djtap_once("-e", f'probe {point} {{ println("= ", {value}) }}', "-c", f"{REFERENCE} 2")
    told = " ".join(line[2:] for line in result.stdout.splitlines() if line.startswith("= "))
    assert (result.returncode, told) == (0, printed), (section, result)


# 4.5.1 to 4.5.6, 4.10 to 4.12: what else is printed when the program runs, a pattern in all of the output; and what is not.
SESSIONS = [
    ("4.5.1", r'probe process("$P").begin { printf("began %s\n", execname()) } probe process.end { println("ended") }', r"^began reference\n(.*\n)*ended\n",
     "error"),
    ("4.5.1", "probe process.thread.begin, process.thread.end { println(pp(), tid() == pid()) }", r"^process.thread.begin0\n(.*\n)*process.thread.end0$",
     "libc"),
    ("4.5.2", r'probe process.syscall { if ($syscall == 3 && ($arg1 < 0 || $arg1 == 0xfffffffd)) printf("close %d\n", $arg1) }', "^close (-3|4294967293)$",
     "close 3"),
    ("4.5.2", 'probe process("$P").syscall.return { if ($syscall == 3 && $return == -9) println("failed ", $return) }', "^failed -9$", "failed 0"),
    ("4.5.2", 'probe process("$P").syscall { if (!n++) println($syscall >= 0, $arg1 == $arg1, $arg2 + $arg3 + $arg4 + $arg5 + $arg6 != -1) } global n',
     "^111$", "0"),
    ("4.5.3", 'probe process("$P").function("part").call { log (probefunc()." ".$$parms) }', r"^part n=0x0\npart n=0x1\npart n=0x2\npart n=0x3$", "0x4"),
    ("4.5.6", r'probe process.syscall, process.end { printf("%s %d %s\n", execname(), pid(), pp()) }',
     r"^reference \d+ process\.syscall\n(.*\n)*reference \d+ process\.end$", "libc"),
    ("4.10", r'probe syscall.close.return { if (retval < 0) printf("%s %s %s\n", name, argstr, retstr) }', r"^close .*-9 \(EBADF\)$", "open"),
    ("4.10", r'probe syscall.close { if (fd == -3 || fd == 4294967293) printf("%s(%s)\n", name, argstr) }', r"^close\((-3|4294967293)\)$", "close(3)"),
    ("4.10", r'probe syscall.exit_group { printf("%s %s\n", name, argstr) }', "^exit_group 0$", "exit "),
    ("4.12.2", 'probe process("$P").function("part") { exit() } probe end { println("over") } probe error { println("error") }', "^over$", "error"),
    # (An error in the program ends the session only where -D MAXERRORS says so.)
    ("4.12.3",
     'probe process("$P").function("part") { println(1 / zero) } probe end { println("end") } probe error { println("Oops") foreach (c in mint) println(c) }'
     ' global mint probe begin { mint["penny"] = 1 }', r"^Oops\npenny$", "end"),
    ("4.12.3", 'probe process("$P").function("part") { error("x") } probe error(2) { println("b") } probe error(1) { println("a") }', r"^a\nb$", "end"),
]


@pytest.mark.parametrize("section, script, printed, absent", SESSIONS, ids=[f"{section}-{script[:50]}" for section, script, _, _ in SESSIONS])
def test_sessions(djtap_once, section, script, printed, absent):
    result = djtap_once("-D", "MAXERRORS=1", "-e", script.replace("$P", REFERENCE), "-c", REFERENCE)
    text = "".join(line + "\n" for line in result.stdout.splitlines() if not re.match("(sum|shared): ", line))
    assert re.search(printed, text, re.M) and absent not in text, (section, result)


# 4.11 Timers: a point, and whether djtap takes it.
TIMERS = [
    ("timer.jiffies(1000)", True), ("timer.jiffies(10).randomize(2)", True), ("timer.jiffies(1000).randomize(200)", True), ("timer.sec(5)", True),
    *((f"timer.{unit}(900000)", True) for unit in "s sec ms msec us usec ns nsec".split()), ("timer.hz(100)", True),
    *((f"timer.{unit}(900000).randomize(3)", True) for unit in "s sec ms msec us usec ns nsec".split()), ("timer.hz(9).randomize(3)", False),
    ("timer.jiffies(0)", False), ("timer.jiffies(9).randomize(10)", False), ("timer.ms(9).randomize(-1)", False), ("timer.profile", True),
    ("timer.profile.tick", True), ("timer.s(0)", False), ("timer.ms(-1)", False),
]


@pytest.mark.parametrize("point, good", TIMERS, ids=[point for point, _ in TIMERS])
def test_timers(djtap_once, point, good):
    result = djtap_once("--stop-after=resolve", "-e", f"probe {point} {{ n++ }}", "-c", REFERENCE)
    assert (result.returncode == 0) == good and ("error[DJ" in result.stderr) != good, result


def test_timers_fire(djtap_once):
    """4.11: each of the units, and a random part."""
    points = ["timer.jiffies(2)", "timer.ms(4)", "timer.us(5000)", "timer.ns(6000000)", "timer.hz(100)", "timer.ms(6).randomize(5)"]
    script = " ".join(f"probe {point} {{ n{number} = 1 }}" for number, point in enumerate(points))
    sum_of = " + ".join(f"n{number}" for number, _ in enumerate(points))
    names = ", ".join(f"n{number}" for number, _ in enumerate(points))
    result = djtap_once("-e", f"global {names} {script} probe timer.ms(1) {{ if ({sum_of} == {len(points)}) exit() }}")
    assert result.returncode == 0, result


def test_a_path_is_searched_as_shells_do(djtap_once):
    """4.5.5: a name without a slash is looked for in $PATH."""
    folder = os.path.dirname(REFERENCE)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    result = djtap_once("-e", 'probe process("reference").function("part") { n++ } global n', "-c", "reference", env=environment)
    assert result.globals == {"n": 4}, result
    result = djtap_once("-e", 'probe process("./reference").function("part") { n++ } global n', "-c", "./reference", cwd=folder)
    assert result.globals == {"n": 4}, result


def test_a_whole_path_of_a_source(djtap_once, tmp_path):
    """4.2: where the compiler was given relative paths, absolute ones mean the same files, and no others."""
    (tmp_path / "src").mkdir()
    for name in ("reference.c", "reference_part.c", "facts.h", "sdt_note.h"):
        shutil.copy(paths.TARGETS / name, tmp_path / "src")
    subprocess.run(["gcc", "-O0", "-g", "src/reference.c", "src/reference_part.c", "-o", "program", "-lpthread"], cwd=tmp_path, check=True, timeout=300)
    part = tmp_path / "src" / "reference_part.c"
    for point, hits in {f'function("*@{part}")': 4, f'statement("*@{part}:8")': 4, f'statement("part@{part}+1")': 4, f'function("part@{part}:8")': 4,
                        f'function("squared@{tmp_path}/src/reference.c").inline': 4, f'function("*@{tmp_path}/*/reference_p*.c")': 4,
                        f'function("*@{tmp_path}/reference_part.c")?': 0, 'function("*@/src/reference_part.c")?': 0}.items():
        result = djtap_once("-e", f"global n probe process.{point} {{ n++ }} probe end {{ println(n) }}", "-c", tmp_path / "program")
        assert f"\n{hits}\n" in "\n" + result.stdout, (point, result)
    script = f'probe process.function("part") {{ println(@var("limit@{part}"), " ", @var("limit@{tmp_path}/src/reference.c")) exit() }}'
    assert "7 41\n" in djtap_once("-e", script, "-c", tmp_path / "program").stdout


def test_a_command_that_needs_a_shell(djtap_once):
    """4.5.6: SystemTap runs a shell where it sees characters of one; probes would not follow to what that starts, so djtap asks for the word."""
    result = djtap_once("-e", "probe begin { exit() }", "-c", f"{REFERENCE} 3 > /dev/null")
    assert result.returncode == 1 and "DJ0003" in result.stderr and "-- sh -c" in result.stderr, result
    assert "-- sh -c" in (paths.ROOT / "docs" / "compatibility.md").read_text()


# What chapters 3 and 4 have and djtap does not: a form, the code that djtap gives it, and the words of docs/compatibility.md.
ABSENT = [
    ("3.2.4", 'module("tcp").function("sendmsg").return.maxactive(10)', "DJ3003", ".return.maxactive(n)"),
    ("4.2", 'kernel.statement(1).absolute', "DJ3003", "kernel.statement"), ("4.2", 'module("m").statement("f@g.c:1")', "DJ3003", 'module("m").statement'),
    ("4.4", "kprobe.statement(1).absolute", "DJ3003", "kprobe.statement"),
    ("4.5.7", 'process.insn', "DJ3001", "process.insn"), ("4.5.7", "process.insn.block", "DJ3001", "process.insn.block"),
    ("4.6", 'java("P").class("C").method("m(int)")', "DJ3001", 'java('), ("4.6", 'java(12).class("^C").method("m(int):3").return', "DJ3001", 'java('),
    ("4.7", 'procfs("PATH").read', "DJ3003", 'procfs("x").read'), ("4.7", "procfs.write", "DJ3003", 'procfs('),
    ("4.8", 'kernel.mark("M").format("F")', "DJ3003", "kernel.mark"), ("4.9", 'kernel.trace("sched_switch")', "DJ3003", "kernel.trace"),
]


@pytest.mark.parametrize("section, point, code, words", ABSENT, ids=[f"{section}-{point}" for section, point, _, _ in ABSENT])
def test_what_is_absent_is_named(djtap_once, section, point, code, words):
    result = djtap_once("--stop-after=resolve", "-e", f"probe {point} {{ n++ }}", "-c", REFERENCE)
    assert result.returncode != 0 and f"error[{code}]" in result.stderr, (section, result)
    assert words in (paths.ROOT / "docs" / "compatibility.md").read_text(), (section, words)
