# SPDX-License-Identifier: Apache-2.0
"""Sentences of SystemTap's stap(1), stapprobes(3stap) and language reference that concern programs, a small script each. What djtap refuses stands in
docs/compatibility.md."""
import pytest

from support.paths import victim

# stapprobes(3stap), in its order. {} is the program.
POINTS = [
    # Wildcards, optional points, alternatives, conditions, braces.
    "sys**write", "syscall.*", "syscall.re*", "syscall.{{write,read}}.return", 'process("{}").function("nothing")?',
    'process("{}").function("nothing")!, process("{}").function("work")', 'process("{}").function("work")!, process("{}").function("nothing")',
    'process("{}").function("work") if (on)', '{{process("{}").function("work"),process("{}").function("main")}}.return?',
    'process("{}").{{function("work"),function("main").return}}', "signal.*? if (on)", 'kernel.function("no_such_function") ?', "syscall.{{write,read}}!",
    # Begin, end, error, never.
    "begin(-1)", "end(2)", "error", "error(-5)", "never",
    # System calls.
    "nd_syscall.write", "nd_syscall.write.return", "nd_syscall.*", "syscall.*.return",
    # Timers.
    "timer.jiffies(10)", "timer.jiffies(10).randomize(5)", "timer.s(1)", "timer.sec(1)", "timer.ms(10)", "timer.msec(10)", "timer.us(500)", "timer.usec(500)",
    "timer.ns(900000)", "timer.nsec(900000)", "timer.hz(50)", "timer.ms(10).randomize(5)", "timer.profile", "timer.profile.tick", "timer.profile.freq.hz(50)",
    "timer.us(500) if (on)",
    # By debug information: functions, lines and what they call.
    'process.function("work")', 'process("{}").function("work").call', 'process("{}").function("*@count.c")', 'process("{}").function("*@*ount.c")',
    'process("{}").function("*@targets/count.c")', 'process("{}").function("work@count.c:*")', 'process("{}").statement("work@count.c:*")',
    'process("{}").statement("*@count.c:1-200").nearest', 'process("{}").statement("*@count.c:20,25-30").nearest',
    'process("{}").statement("work@count.c+1").nearest',
    'process("{}").function("w[a-p]rk")', 'process("{}").function("w?rk").return', 'process("{}").function("*").inline?',
    'process("{}").function("main").label("*")?',
    'process("{}").function("main").callees', 'process("{}").function("main").callees(2)', 'process("{}").function("main").callees(2).return',
    # Programs and libraries.
    'process("{}").library("libc.so.6").function("malloc")', 'process("{}").library("libc*").function("puts").return',
    'process("{}").library("libc.so.6").plt("*")',
    'process("{}").plt', 'process("{}").plt("*")', 'process("{}").plt("*").return', 'process("{}").plt if (on)',
    # Events of processes.
    "process.begin", "process.end", "process.thread.begin", "process.thread.end", "process.syscall", "process.syscall.return", 'process("{}").begin',
    'process("{}").end',
    'process("{}").thread.begin', 'process("{}").thread.end', 'process("{}").syscall', 'process("{}").syscall.return', 'process("{}").begin if (on)',
    'process("{}").mark("*")?', 'process("{}").provider("p").mark("*")?',
]


@pytest.mark.parametrize("point", POINTS)
def test_a_probe_point(djtap_once, point):
    result = djtap_once("--stop-after=resolve", "-e", f"global on = 1, n probe {point.format(*[victim('count')] * 2)} {{ n++ }}", "-c", victim("count"))
    assert result.returncode == 0 and "error[" not in result.stderr, result


# What a handler of work(n) asks of its surroundings, and the answer; None: any.
VALUES = [
    ("probefunc()", "work"), ("ppfunc()", "work"), ("@defined($n) + 2 * @defined($zz) + 4 * @defined($zz->y)", None), ("@choose_defined($zz, 7)", "7"),
    ("is_return()", "0"), ("target() == pid()", "1"), ("is_myproc()", "1"), ("user_mode()", "1"), ("registers_valid()", "1"), ("execname()", "count"),
    ("ppid() == stp_pid()", "1"), ("usymname(uaddr())", "work"), ("umodname(uaddr())", None),
    ("user_mode() ? uaddr() == ustack(0) : 1", "1"), ("cmdline_arg(1)", "2"), ("task_pid(task_current()) == pid()", "1"),
    ("task_execname(task_current())", "count"),
    ("uid() == task_uid(task_current())", "1"), ("strlen(sprint_ubacktrace()) > 0", "1"), ("tokenize(ubacktrace(), \" \") != \"\"", "1"),
    ("env_var(\"HOME\") != \"?\"", "1"), ("cpu() >= 0", "1"), ("gettimeofday_us() / 1000000 - gettimeofday_s() < 2", "1"), ("pn() != \"\"", "1"),
    ("register(\"rsp\") != 0", "1"),
    ("long_arg(1) == int_arg(1)", "1"), ("ns_pid() > 0", "1"), ("speculation() != speculation()", "1"),
]


@pytest.mark.parametrize("expression, answer", VALUES, ids=[expression for expression, _ in VALUES])
def test_a_function(djtap_once, expression, answer):
    """One that SystemTap's tapsets have."""
    result = djtap_once("-e", f'probe process("{victim("count")}").function("work") {{ println("= ", {expression}); exit() }}', "-c", f"{victim('count')} 2")
    told = [line[2:] for line in result.stdout.splitlines() if line.startswith("= ")]
    assert result.returncode == 0 and told and (answer is None or told[0] == answer), result


# Whole scripts that end by themselves, and what they print.
SCRIPTS = [
    ('probe foo = begin { var = 0 }, { if (@probewrite(var)) println(var) } probe foo { var = 1; exit() }', "1\n"),
    ("probe foo += begin { println(x) } probe foo { x = 1; exit() }", "1\n"), ("probe a.b.c = begin { x = 2 } probe a.** { print(x); exit() }", "2"),
    ("probe a.bc = begin { x = 2 } probe a**c { print(x); exit() }", "2"),
    ("probe a = b, c {} probe b = begin {} probe c = end {} probe a { print(1); exit() }", "11"),
    ("probe begin(2) { print(2) exit() } probe begin(-2) { print(-2) } probe begin { print(0) }", "-202"),
    ("probe end(2) { print(2) } probe end(-1) { print(1) } probe begin { exit() }", "12"),
    ("function f() { if (1) next; print(1) } function f() { print(2) } probe begin { f(); exit() }", "2"),
    ("function f():3 { next } function f():1 { next } function f():2 { print(2) } probe begin { f(); exit() }", "2"),
    ("function f() { next } probe begin { try { f() } catch (e) { print(e != \"\") } exit() }", "1"),
    ("function g() { print(1) } function g(x) { print(2) } probe begin { g(); g(1); exit() }", "12"),
    ("private function three:long() { return 3 } private global x = 4 probe begin { print(three(), x); exit() }", "34"),
    ('function f:string(a:long, b) { return sprint(a) . b } function z:string() { } probe begin { print(f(1, "x"), z(), "|"); exit() }', "1x|"),
    ("global a%[2] probe begin { a[1] = 1; a[2] = 2; a[3] = 3; foreach (k in a) print(k); exit() }", "23"),
    ('%( kernel_v >= "2.6" && arch == "x86_64" || 1 == 2 %? probe begin { print(1); exit() } %: probe begin { exit() } %)', "1"),
    ('@define add(a, b) %( (@a + @b) %) @define k %( 4 %) probe begin { print(@add(1, @k)); exit() }', "5"),
    ('probe begin { if ("an example string" =~ "str(ing)") print(matched(0), matched(1), ngroups()); exit() }', "stringing2"),
    ("global a probe begin { a[1] <<< 4; a[2] <<< 9; a[2] <<< 9; foreach (k in a @sum-) print(k); foreach (k in a+) print(k); exit() }", "2112"),
    ("global a probe begin { a[1, 2] = 4; a[3, 2] = 5; a[3, 1] = 6; foreach (v = [x, y] in a[*, 2]) print(x, v);"
     " delete a[3, *]; print([3, 1] in a, [*, 2] in a); exit() }",
     "143501"),
    ("global s probe begin { s <<< 1; s <<< 2; print(sprint(@hist_linear(s, 0, 2, 1)) == \"\", @hist_linear(s, 0, 2, 1)[2]); exit() }", "01"),
    ("probe begin { id = speculation(); speculate(id, \"kept\"); speculate(speculation(), \"not\"); commit(id); exit() }", "kept"),
]


@pytest.mark.parametrize("script, printed", SCRIPTS, ids=[script[:60] for script, _ in SCRIPTS])
def test_a_script(djtap_once, script, printed):
    result = djtap_once("-e", script)
    assert (result.returncode, result.stdout) == (0, printed), result


def test_globals_that_nobody_reads_come_behind_end_probes(djtap_once):
    """In SystemTap each is printed by an end probe of its own that is added behind the script's."""
    script = 'global b, a probe end(3) { println("third") } probe end { println("second") } probe end(-1) { println("first") } probe func("work") { b++; a++ }'
    result = djtap_once("-e", script, "-c", victim("count"))
    calls = result.globals["a"]
    assert calls > 0 and result.stdout.splitlines()[-5:] == ["first", "second", "third", f"b={calls}", f"a={calls}"], result
