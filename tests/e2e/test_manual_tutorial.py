# SPDX-License-Identifier: Apache-2.0
"""Figures and sentences of SystemTap's tutorial (T) and Beginners Guide (B), a small script each: where they probe the kernel, these
probe targets/reference.c. What djtap refuses stands in docs/compatibility.md."""
import re

import pytest

from support.histograms import drawn
from support.paths import victim

REFERENCE = victim("reference")
TAKE = f'process("{REFERENCE}").function("take")'

# Scripts that end by themselves, and what they print.
SCRIPTS = [
    ("T1", 'probe begin\n{\n  print ("hello world\\n")\n  exit ()\n}', "hello world\n"),
    ("B3.4", 'probe begin\n{\n  printf ("hello world\\n")\n  exit ()\n}', "hello world\n"),
    # T3.1 Statements, expressions and variables.
    ("T3.1", 'probe begin { print("hello" . " " . "world"); exit() }', "hello world"),
    ("T3.1", "probe begin { print(uid() > -1, cpu() >= 0 && gettimeofday_s() > 1140498000); exit() }", "11"),
    ("T3.1",
     'probe begin { foo = gettimeofday_s(); bar = "/usr/bin/" . execname(); c++; s = sprint(2345); print(foo > 0, strlen(bar) > 9, c, s . "x"); exit() }',
     "1112345x"),
    ("T3.1", "probe begin { a = 1; b = 2; print(a + ++b, a++ + b); exit() }", "44"),
    ("T3.1", "probe begin { x = 5\n-x; y = x\n++x; print(x, y) exit() }", "65"),
    # T3.3 Functions, as in figure 6.
    ("T3.3", """function system_uid_p (u) { return u < 500 }
     function makedev (major,minor) { return major << 20 | minor }
     function trace_common ()
     {
       printf("%d %s(%d)", gettimeofday_s() > 0, execname() != "" ? "x" : "", pid() > 0)
       # no return value necessary
     }
     function fibonacci (i)
     {
       if (i < 1) return 0
       else if (i < 2) return 1
       else return fibonacci(i-1) + fibonacci(i-2)
     }
     probe begin { print(system_uid_p(3), makedev(0xfd, 3), fibonacci(9)) trace_common() exit() }""", "1265289731341 x(1)"),
    ("T3.3", 'function twice(n) { n = n * 2; return n } probe begin { n = 4; print(twice(n), n); exit() }', "84"),
    # T3.4 Arrays.
    ("T3.4", 'global foo[400] probe begin { foo [4,"hello"] ++; if ([4,"hello"] in foo) print(1); delete foo; if ([4,"hello"] in foo) print(2); exit() }', "1"),
    ("T3.4", "global a probe begin { a[1] = 0; print(1 in a, a[2], 2 in a); exit() }", "100"),
    ("T3.4", "global foo function fuss_with(x) { print(x) } probe begin { foo[2,1] = 7; foo[1,2] = 8; foreach ([a,b] in foo+ limit 5) print(a); foreach"
     " ([a-,b] in foo) print(a)" " delete foo[2,1]; foreach (x = [a,b] in foo) { fuss_with(x) } exit() }", "21218"),
    # T3.5 Aggregates.
    ("T3.5", 'global a, writes probe begin { for (i = 0; i < 10; i++) a <<< i; writes["zsh"] <<< 5; print(@avg(a), @min(a), @max(a), @count(a), @sum(a),'
     ' @count(writes["zsh"])); exit() }', "40910451"),
    ("T3.5", "global a probe begin { a <<< 5 a <<< 55 a <<< 56 print(@hist_linear(a,0,100,10)) exit() }", drawn((0, 1), *((n, 0) for n in (10, 20, 30, 40)), (
     50, 2), (60, 0), (70, 0))),
    ("T3.5", 'global writes probe begin { writes["zsh"] <<< 5 writes["zsh"] <<< 55 print(@hist_log(writes["zsh"])) exit() }', drawn((1, 0), (2, 0), (4, 1), (8,
     0), (16, 0), (32, 1), (64, 0), (128, 0))),
    # B3.3 Conditions and loops; B3.4, B3.5 arrays.
    ("B3.3.3", "probe begin { i = 0 while (i < 3) { print(i) i++ } for (i = 0; i < 3; i++) print(i); print(3 >= 3, 3 <= 2, 3 != 3) exit() }", "012012100"),
    ("B3.13", 'global foo probe begin { foo["tom"] = 23 foo["dick"] = 24 foo["harry"] = 25 print(foo["tom"] + foo["harry"]); exit() }', "48"),
    ("B3.4", 'global device probe begin { device[pid(),execname(),uid(),ppid(),"W"] = "sda"; foreach ([p, e, u, pp, w] in device) print(p == pid(), e =='
     ' execname(), w); exit() }', "11W"),
    ("B3.14", "global foo probe begin { foo[tid()] = gettimeofday_s(); delta = gettimeofday_s() - foo[tid()]; print(delta < 9, foo[-1]); exit() }", "10"),
    ("B3.17", 'global reads probe begin { reads["a"]++ reads["b"] += 3 foreach (count in reads- limit 10) printf("%s : %d \\n", count, reads[count]) exit() }',
     "b : 3 \na : 1 \n"),
    ("B3.19", 'global reads probe begin { reads["a"] = 2048 reads["b"] = 3 foreach (count in reads-) if (reads[count] >= 1024) printf("%s : %dkB \\n",'
     ' count, reads[count]/1024)' ' else printf("%s : %dB \\n", count, reads[count]) exit() }', "a : 2kB \nb : 3B \n"),
    ("B3.20", 'global reads probe begin { reads["stapio"]++ if(["stapio"] in reads) { printf("stapio read detected, exiting\\n") exit() } }',
     "stapio read detected, exiting\n"),
    ("B3.22", 'global reads probe begin { reads["x",4] <<< 1 reads["x",4] <<< 1 foreach([var1,var2] in reads) printf("%s (%d) : %d \\n", var1, var2,'
     ' @count(reads[var1,var2])) exit() }', "x (4) : 2 \n"),
    ("B3.8", """global count_jiffies, count_ms
     probe timer.jiffies(1) { count_jiffies ++ }
     probe timer.ms(1) { count_ms ++ }
     probe timer.ms(50) { if (count_jiffies && count_ms) { hz=(1000*count_jiffies) / count_ms printf ("%d\\n", hz > 0) exit () } }""", "1\n"),
]


@pytest.mark.parametrize("place, script, printed", SCRIPTS, ids=[f"{place}-{script[:40]}" for place, script, _ in SCRIPTS])
def test_scripts(djtap_once, place, script, printed):
    result = djtap_once("-e", script)
    assert (result.returncode, result.stdout) == (0, printed), (place, result)


# Scripts for the program that calls take() and part() four times, and what they print (a pattern).
ON_A_PROGRAM = [
    ("T2", 'probe syscall.write { printf ("%s(%d) write (%s)\\n", execname(), pid(), argstr) } probe timer.ms(400000) { exit () }',
     r'^reference\(\d+\) write \(1, "sum: 278'),
    ("T2.1", 'probe syscall.close.return { if ($return < 0) println("failed") }', "^failed$"),
    ("T2.1", f'probe process("{REFERENCE}").statement("*@reference_part.c:8") {{ n++ }} global n', "^n=4$"),
    ("T2.2", 'probe process("$P").function("*@reference.c").call { printf ("%s -> %s\\n", thread_indent(1), ppfunc()) }'
     ' probe process("$P").function("*@reference.c").return { printf ("%s <- %s\\n", thread_indent(-1), ppfunc()) }',
     r"^ *0 reference\(\d+\): -> main\n +\d+ reference\(\d+\):  -> outer_call\n +\d+ reference\(\d+\):   -> take\n(.*\n)* +\d+ reference\(\d+\): <- main$"),
    ("T2.2", "probe $T { println(tid() > 0, pid() > 0, uid() >= 0, execname(), cpu() >= 0, gettimeofday_s() > 0, get_cycles() > 0, pp(), ppfunc(), $$vars) }",
     r'^111reference111process\("[^"]*reference"\)\.function\("take(@[^"]*)?"\)takenode=0x[0-9a-f]+ text=0x[0-9a-f]+ count=0x0 total='),
    ("T2.2", "probe $T { print_ubacktrace() exit() }", r"^ 0x[0-9a-f]+ : take\+0x\w+.*\n 0x[0-9a-f]+ : outer_call\+0x\w+.*\n 0x[0-9a-f]+ : main\+0x\w+.*$"),
    ("T2.3", 'probe syscall.close { printf("%s -> %s %s\\n", thread_indent(1), name, $$parms) } probe syscall.close.return { printf("%s <- %s %s\\n",'
     ' thread_indent(-1), name, $$return) }', r" -> close syscall=0x3 arg1=0x[0-9a-f]+ .*\n.* <- close return=0x[0-9a-f]+$"),
    ("T3.1", "probe $T { if (execname() == \"reference\") n++ else m++ } global n, m", "^n=4$"),
    ("T3.2", "probe $T { if (@defined($node->f_path->dentry)) { d = $node->f_path->dentry } else { d = $node->id } if (d == (0 << 20 | 1)) printf (\"%s(%d)"
     " %s 0x%x/%u\\n\"," " execname(), pid(), ppfunc(), d, d) }", r"^reference\(\d+\) take 0x1/1$"),
    ("T4.2", """probe callgroup.io = process("$P").function("take"), process("$P").function("part") { groupname = "io" }
     probe callgroup.process = process("$P").function("run") { groupname = "process" }
     probe callgroup.* { groups [execname() . "/" . groupname] ++ }
     probe end { foreach (eg+ in groups) printf ("%s: %d\\n", eg, groups[eg]) }
     global groups""", "^reference/io: 8\nreference/process: 1$"),
    ("B3.1", 'probe process("$P").function("*@reference.c") { } probe process("$P").function("*@reference.c").return { }', "^sum: 278$"),
    ("B3.6",
     "probe $T { printf (\"%s -> %s\\n\", thread_indent(1), probefunc()) } probe $T.return { printf (\"%s <- %s\\n\", thread_indent(-1), probefunc()) }",
     r"^ *0 reference\(\d+\): -> take\n +\d+ reference\(\d+\): <- take$"),
    ("B3.7", 'probe syscall.* { if (pid() == target()) printf("%s\\n", name) }', "^exit_group$"),
    ("B3.3.2", "probe $T { printf (\"current: %d\\n\", @var(\"outer@reference.c\")->depth); exit(); }", "^current: 9$"),
    ("B3.3.2", 'probe $T { printf("%s\\n", $$parms); exit(); }', "^node=0x[0-9a-f]+ text=0x[0-9a-f]+ count=0x0$"),
    ("B3.3.2", 'probe $T { printf("%s\\n", $$parms$); exit(); }', r'^node=\{\.id=1, \.name="first", .*\.in=\{\.\.\.\}.*\} text="text" count=0$'),
    ("B3.3.2", 'probe $T { printf("%s\\n", $$parms$$); exit(); }', r'^node=\{\.id=1, .*\.in=\{\.depth=5, \.word="inner"\}.*\} text="text" count=0$'),
    ("B3.9", "function depth:long (n:long) { return @cast(n, \"node\", \"$P\")->in->depth } probe $T { println(depth($node)) exit() }", "^5$"),
    ("B3.10", 'probe vm.fault = process("$P").function("no_such@reference.c") ?, process("$P").function("take@reference.c") ? { name = "fault" w ='
     ' (@defined($flags) ? $flags & 1 : $count) }' ' probe vm.fault { println(name, w) }', "^fault0\nfault1\nfault2\nfault3$"),
    ("B3.11", 'global countread, countnonread probe process("$P").function("take"),process("$P").function("part") { if (probefunc()=="take") countread ++'
     ' else countnonread ++ }' ' probe timer.s(500) { exit() } probe end { printf("reads total %d\\n writes total %d\\n", countread, countnonread) }',
     "^reads total 4\n writes total 4$"),
    ("B3.18",
     "global reads probe $T { reads[execname()] ++ } probe end { foreach (count in reads) printf(\"%s : %d \\n\", count, reads[count]) delete reads }",
     "^reference : 4 $"),
    ("B3.21", "global reads probe $T { reads[execname()] <<< $count } probe end { r = \"reference\" print(@count(reads[r]), @sum(reads[r]), @min(reads[r]),"
     " @max(reads[r]), @avg(reads[r])) }", "^46031"),
    ("B4.2", "probe $T { println(user_char($text), \" \", user_short($text), \" \", user_int($text), \" \", user_long(&$node->id), user_string($text),"
     " user_string_n($text, 3)) exit() }", f"^{ord('t')} {0x6574} {0x74786574} 1texttex$"),
    ("B4.3", "probe $T { print_usyms(ubacktrace()) exit() }",
     r"^ 0x[0-9a-f]+ : take\+0x0/0x[0-9a-f]+ \[.*reference\]\n 0x[0-9a-f]+ : outer_call\+0x[0-9a-f]+/0x[0-9a-f]+ \[.*reference\]\n"),
]


@pytest.mark.parametrize("place, script, printed", ON_A_PROGRAM, ids=[f"{place}-{script[:40]}" for place, script, _ in ON_A_PROGRAM])
def test_on_a_program(djtap_once, place, script, printed):
    result = djtap_once("-e", script.replace("$T", TAKE).replace("$P", REFERENCE), "-c", REFERENCE)
    assert result.returncode == 0 and re.search(printed, result.stdout, re.M), (place, result)


def test_arguments(djtap_once):
    """B3.12: a function's name and T3.2: numbers behind the script."""
    script = f'probe process("{REFERENCE}").function(@1) {{ n++ if ($1$count == ($2 << 2 | $3)) m++ }} global n, m'.replace("$1$count", "$count")
    result = djtap_once("-e", script, "-c", REFERENCE, "take", "0x0", "3")
    assert result.globals == {"n": 4, "m": 1}, result


def test_a_script_from_standard_input(djtap_once):
    """B2.3."""
    result = djtap_once("-v", "-", stdin='probe timer.ms(1) { print("x") exit() }')
    assert (result.returncode, result.stdout) == (0, "x"), result


# --- tapsets

def tapset(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return ["-I", folder]


COMMON = """global __time_vars
function timer_begin (name) { __time_vars[name] = __time_value () }
function timer_end (name) { return __time_value() - __time_vars[name] }
"""
USER = 'probe begin { timer_begin ("bench") for (i=0; i<100; i++) ; printf ("%d cycles\\n", timer_end ("bench")) exit () }'


def test_a_default_that_a_script_overrides(djtap_once, tmp_path):
    """T4.1, figure 8: the tapset's own function, and the script's instead of it."""
    options = tapset(tmp_path, {"time-common.stp": COMMON, "time-default.stp": "function __time_value () { return gettimeofday_us () }\n"})
    result = djtap_once(*options, "-e", USER)
    assert result.returncode == 0 and re.fullmatch(r"\d+ cycles\n", result.stdout), result
    result = djtap_once(*options, "-e", USER + " global ticks function __time_value () { ticks += 7; return ticks }")
    assert (result.returncode, result.stdout) == (0, "7 cycles\n"), result


def test_folders_of_a_tapset(djtap_once, tmp_path):
    """T4.1: what is for this architecture and this kernel goes before what is for all."""
    release = open("/proc/sys/kernel/osrelease", encoding="utf8").read().strip()
    family = ".".join(re.match(r"(\d+)\.(\d+)", release).groups())
    files = {"where.stp": 'function where() { return "all" }', "x86_64/where.stp": 'function where() { return "arch" }'}
    script = "probe begin { print(where()) exit() }"
    assert djtap_once(*tapset(tmp_path, files), "-e", script).stdout == "arch"
    assert djtap_once(*tapset(tmp_path, {f"{family}/where.stp": 'function where() { return "family" }'}), "-e", script).stdout == "family"
    assert djtap_once(*tapset(tmp_path, {f"{family}/x86_64/where.stp": 'function where() { return "both" }'}), "-e", script).stdout == "both"
    other = tapset(tmp_path / "other", {"ia64/other.stp": 'function other() { return 1 }', "2.4/other.stp": "function other() { return 2 }"})
    assert djtap_once(*other, "-e", "probe begin { print(other()) exit() }").returncode != 0


def test_a_tapset_of_data(djtap_once, tmp_path):
    """T4.1: whoever uses a tapset's global gets the probes that fill it."""
    options = tapset(tmp_path, {"seen.stp": "global seen_parts\nprobe process.function(\"part\") { seen_parts[$n]++ }\nprobe begin { seen_parts[77] = 1 }\n"})
    result = djtap_once(*options, "-e", "probe end { foreach (n+ in seen_parts) print(n, \" \") }", "-c", REFERENCE)
    assert result.stdout.endswith("0 1 2 3 77 "), result


def test_a_function_of_the_script_goes_before_one_of_a_tapset(djtap_once, tmp_path):
    """Language Reference 3.4: next goes on to the tapset's."""
    options = tapset(tmp_path, {"lib.stp": 'function said(x) { print("library ") }\n'})
    result = djtap_once(*options, "-e", 'function said(x) { print("script ") if (x) next } probe begin { said(0) said(1) exit() }')
    assert (result.returncode, result.stdout) == (0, "script script library "), result


def test_library_macros(djtap_once, tmp_path):
    """Language Reference 5.9.2: .stpm files on the search path; a tapset's own macros are its own."""
    options = tapset(tmp_path, {"macros.stpm": "@define twice(x) %( (2 * (@x)) %)\n",
     "lib.stp": "@define hidden %( 9 %)\nfunction nine() { return @twice(@hidden) }\n"})
    result = djtap_once(*options, "-e", "probe begin { print(@twice(3 + 4), nine()) exit() }")
    assert (result.returncode, result.stdout) == (0, "1418"), result
    assert djtap_once(*options, "-e", "probe begin { print(nine(), @hidden) exit() }").returncode != 0
    wrong = tapset(tmp_path / "wrong", {"wrong.stpm": "function f() { return 1 }\n"})
    assert djtap_once(*wrong, "-e", "probe begin { print(@twice(1)) exit() }").returncode != 0
