# SPDX-License-Identifier: Apache-2.0
"""What a script says of a program is the same whether that is the session's first process or one that a shell executes later."""
import re

import pytest

from support.paths import victim

# Scripts for a victim, which is what POINT means.
SCRIPTS = {
    "count": {
        "names of the place": 'probe POINT.function("work") { n[pp(), ppfunc(), probefunc(), probemod()]++ }',
        "names of addresses": 'probe POINT.function("work") { n[usymname(uaddr()), usymdata(uaddr()), umodname(uaddr()), usymname(ustack(1))]++ }',
        "stacks": 'probe POINT.function("work") { n[sprint_ubacktrace_brief()]++ }',
        "callers": 'probe POINT.function("work") { n[usymname(strtol(tokenize(ucallers(1), " "), 16))]++ }',
        "parameters": 'probe POINT.function("work") { n[$$parms, $$vars, @defined($nothing)]++ }',
        "values": 'probe POINT.function("work") { s <<< int_arg(1) } probe end { println(@count(s), " ", @sum(s), " ", @max(s)) print(@hist_log(s)) }',
        "returns": 'probe POINT.function("work").return { n[probefunc(), is_return()]++; s += returnval() - @entry(int_arg(1)) }',
        "words": 'probe POINT.function("work") { n[execname(), cmdline_arg(1), uid(), euid(), env_var("TERM")]++ }',
        "lines": 'probe POINT.statement("work@*:*") { n[pp()]++ }',
        "stubs": 'probe POINT.plt("printf") { n[$$name, pp()]++ }',
        "calls": 'probe POINT.function("*").call { n[ppfunc()]++ } probe POINT.function("work").callee("*")? { m++ }',
        "threads": 'probe POINT.thread.begin { begun++ } probe POINT.thread.end { ended++ }',
        "begin and end": 'probe POINT.begin { begun[execname()]++ } probe POINT.end { ended[execname()]++ }',
        "a library's": 'probe POINT.library("libc.so.6").function("printf") { n[ppfunc(), probemod(), user_string(pointer_arg(1))]++ }',
        "system calls": 'probe POINT.syscall { if ($syscall != 202) n[$syscall, pp()]++ } '
                        'probe POINT.syscall.return { if ($syscall != 202) r[$syscall, $return == 0]++ }',
        "system calls by name": 'probe syscall.write { if (execname() == "count") n[name, argstr]++ } '
                                'probe syscall.write.return { if (execname() == "count") r[retval]++ }',
        "kept entries": 'probe POINT.function("work").return { n[@entry(tid()) == tid(), probefunc(), ppfunc()]++ }',
        "the nearest line": 'probe POINT.statement("work@count.c:1").nearest { n[pp()]++ }',
        "exported functions": 'probe POINT.function("*").exported ? { n[ppfunc()]++ } probe POINT.function("main") { m++ }',
        "the library's stubs": 'probe POINT.library("libc.so.6").plt ? { n[$$name]++ } probe POINT.function("main") { m++ }',
        "objects": 'probe POINT.function("main") { n[umodname(uaddr()), probemod()]++ }',
        "times": 'probe POINT.function("work") { n[gettimeofday_s() > 1000000000, cpu() >= 0]++ }',
        "own arrays": 'probe POINT.function("work") { a[pid(), tid(), ppid() > 0] <<< int_arg(1) } '
                      'probe end { foreach ([x, y, z] in a) println(x == y, z, @count(a[x, y, z]), @avg(a[x, y, z])) delete a }',
        "speculation": 'global s probe POINT.function("main") { s = speculation(); speculate(s, "spoken\\n") } '
                       'probe POINT.function("main").return { commit(s) }',
        "errors": 'probe POINT.function("work") { try { n += 1 / (int_arg(1) - int_arg(1)) } catch (m) { e[m]++ } }',
        "conditions": 'global on = 1 probe POINT.function("work") if (on) { n++; if (n == 3) on = 0 }',
        "kept stacks": 'global k probe POINT.function("work") { k[ubacktrace()]++ } '
                       'probe end { foreach (s in k) println(k[s], " ", usymname(strtol(tokenize(s, " "), 16))) delete k }',
    },
    "args": {
        "pretty values": 'probe POINT.function("list") { n[$$parms$, $$parms$$]++ }',
        "casts": 'probe POINT.function("list") { n[@cast($head, "node")->value]++ }',
    },
    "doubles": {
        "of one type": 'probe POINT.function("pick_real") { printf("%g\\n", $size / 2) }',
        "of two types": 'probe POINT.function("pick_*") { printf("%s %g\\n", ppfunc(), $size / 2) }',
        "returned": 'probe POINT.function("mix").return { s += $return } probe end { printf("%g\\n", s) }',
    },
    "marks": {
        "arguments": 'probe POINT.mark("*") { n[$$name, pp()]++ }',
    },
}
CASES = [(name, what) for name, scripts in SCRIPTS.items() for what in scripts]


def said(result):
    """Everything but addresses."""
    return result.returncode, sorted(re.sub(r"0x[0-9a-f]+|\d{12,}", "address", line) for line in result.stdout.splitlines()), result.stderr


@pytest.mark.parametrize("name, what", CASES, ids=[f"{name}: {what}" for name, what in CASES])
def test_a_shells_program_is_said_the_same_of(djtap, name, what):
    program = victim(name)
    script = SCRIPTS[name][what].replace("POINT", f'process("{program}")')
    first, further = [djtap("-e", script, "-c", command) for command in (f"{program} 3", f"sh -c '{program} 3; exit $?'")]
    assert first.returncode == 0, first
    assert said(further) == said(first), (first, further)
    assert re.search(r"[1-9]", "".join(first.stdout.splitlines()[-3:])), first
