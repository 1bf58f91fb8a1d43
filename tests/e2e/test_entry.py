# SPDX-License-Identifier: Apache-2.0
"""@entry(...) and .latency: values of a call's entry at its return, for each call of a recursion and each thread its own."""
import re
import signal

import pytest

from support import process
from support.control import Control
from support.paths import victim


def test_each_call_keeps_its_own(djtap):
    script = ('global at_entry, kept, wrong, other probe func("fib") { at_entry += $n } '
              'probe func("fib").return { kept += @entry($n + 0) wrong += @entry($n * 2 + tid()) != 2 * $n + tid() '
              'other += @entry(cpu() >= 0 ? 1 : 0) } '
              'probe end { printf("%d %d %d %d\\n", at_entry, kept, wrong, other) }')
    result = djtap("-e", script, "-c", victim("recursion"))
    at_entry, kept, wrong, other = map(int, re.search(r"^(\d+) (\d+) (\d+) (\d+)$", result.stdout, re.M).groups())
    assert at_entry == kept > 0 and wrong == 0 and other == result.facts["fib calls"], result


def test_short_functions_are_called_at_the_entry(djtap):
    """A function that is one `return` stands for its expression, also inside of another one: the time at a call's entry is before its callee's."""
    script = ('global depth, began function now() { return local_clock_ns() } function twice() { return 2 * now() } '
              'probe func("fib") { began[++depth[tid()], tid()] = 2 * now() } '
              'probe func("fib").return { d = depth[tid()]--; if ($n > 1) { n++; wrong += @entry(twice()) > began[d + 1, tid()] } } '
              'probe end { printf("%d %d\\n", n, wrong) }')
    result = djtap("-e", script, "-c", victim("recursion"))
    n, wrong = map(int, re.search(r"^(\d+) (\d+)$", result.stdout, re.M).groups())
    assert n > 0 and wrong == 0, result


def test_latency_times_each_call(djtap):
    """Calls inside of calls are shorter; the outermost ones of four threads last as long as probes around the measuring ones say."""
    script = ('global h, early, late, ended, most, least probe func("deep") { if ($n == 1000) early[tid()] = local_clock_ns() } '
              'probe func("deep").return { if ($return == 1000) ended[tid()] = local_clock_ns() } '
              'probe func("deep").latency { h[$n] <<< elapsed } '
              'probe func("deep") { if ($n == 1000) late[tid()] = local_clock_ns() } '
              'probe func("deep").return { if ($return == 1000) { least += ended[tid()] - late[tid()] most += local_clock_ns() - early[tid()] } } '
              'probe end { printf("%d %d %d %d %d %d\\n", @count(h[0]), @count(h[1000]), @sum(h[0]), @sum(h[1000]), least, most) '
              'worse = 0 for (i = 1; i < 900; i++) worse += @avg(h[i]) < @avg(h[i - 1]) println("worse=", worse) }')
    result = djtap("-D", "MAXMAPENTRIES=4096", "-e", script, "-c", victim("recursion"))
    leaves, roots, inner, outer, least, most = map(int, re.search(r"^(\d+)" + r" (\d+)" * 5 + "$", result.stdout, re.M).groups())
    assert leaves == roots == 4 and 0 < inner < outer and result.returncode == 0, result
    assert 0 < least <= outer <= most and "worse=0" in result.stdout, result


def test_values_from_before_a_switch_off_are_not_found(attach, program, tmp_path):
    """One call returns while the probe is off, the next one begins then: its return has no entry value."""
    target = program(victim("asleep"))
    target.wait_for("pid: ")
    tracer = attach(target.pid, 'probe func("through").return { n++; kept += @entry(local_clock_ns()) > 0 }', "--control", str(tmp_path / "control"))
    with Control(tmp_path / "control") as control:
        for woken, command in enumerate(["disable through", "enable through", "list", "list"], 1):
            target.tell("")
            target.wait_for(f"woken: {woken}$")
            process.wait_until_asleep(target.pid)
            control.do(command)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.globals == {"n": 1, "kept": 1} and "warning[DJ5907]: 2 returns without entry values: entered before" in result.stderr, result


def test_a_return_whose_values_could_not_be_read(djtap):
    """That was an error at the entry: its call began neither before the probe nor before a fork."""
    result = djtap("-e", 'probe func("take").return { n++; s += @entry($box->value) }', "-c", victim("badptr"))
    told = re.search(r"^warning\[DJ5907\]: (\d+) returns without entry values: .* or reading them was an error$", result.stderr, re.M)
    errors = len(re.findall(r"^error\[DJ5001\]", result.stderr, re.M))
    assert result.globals["n"] == result.facts["take calls"] - errors and told and int(told[1]) == errors > 3, result


@pytest.mark.parametrize("script, words", [
    ('probe func("fib") { println(@entry($n)) }', "only where a function returns"),
    ("probe begin { println(@entry(1)) }", "only where a function returns"),
    ('global g probe func("fib").return { println(@entry(g)) }', "cannot be kept from the entry"),
    ('function f() { return f() } probe func("fib").return { println(@entry(f())) }', "`f` cannot be called at the entry"),
    ('function f(x) { return x } probe func("fib").return { println(@entry(f(1))) }', "`f` cannot be called at the entry"),
    ('probe func("fib").return { println(@entry(execname())) }', "cannot be called at the entry"),
])
def test_wrong_use(djtap_once, script, words):
    result = djtap_once("-e", script, "-c", victim("recursion"))
    assert result.returncode != 0 and "DJ2031" in result.stderr and words in result.stderr, result
