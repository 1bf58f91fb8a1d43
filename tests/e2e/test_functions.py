# SPDX-License-Identifier: Apache-2.0
"""Functions with several bodies, and probes that are armed while a condition holds."""
import pytest

from support.paths import victim

BODIES = """
function f(n) { if (n > 1) next; n = 7; return "small" }
function f(n) { return sprintf("big %d", n) }
function f() { return "none" }
function late():3 { return "third" }
function late():1 { if (pass) next; return "first" }
function late():2 { return "second" }
function says(n) { if (n) next; print("zero ") }
function says(n) { print("other ") }
private function fact(n:long) { return n < 2 ? 1 : n * fact(n - 1) }
function last() { next }
"""

CASES = {
    "by the number of arguments": ("print(f(), f(1))", "nonesmall"),
    "next keeps the arguments": ("print(f(5))", "big 5"),
    "priority": ("print(late()); pass = 1; print(late())", "firstsecond"),
    "without a value": ("says(0); says(1)", "zero other "),
    "recursion": ("print(fact(6))", "720"),
    "next without another body": ("try { last() } catch (m) { print(m) }", "all functions exhausted"),
}


@pytest.mark.parametrize("body, text", CASES.values(), ids=CASES.keys())
def test_overloads(djtap_once, body, text):
    result = djtap_once("-e", f"global pass {BODIES} probe begin {{ {body}; println(); exit() }}")
    assert result.stdout.split("\n")[0] == text, result


def test_an_overload_that_is_never_called_is_a_warning(djtap_once):
    result = djtap_once("-e", "function f() { return 1 } function f() { return 2 } probe begin { println(f()); exit() }")
    assert result.stdout == "1\n" and "warning[DJ2905]" in result.stderr, result


def test_an_arming_condition_is_exact(djtap):
    script = """global on, calls
        probe func("work") { calls++; if (calls == 10) on = 1; if (calls == 30) on = 0 }
        probe func("work") if (on) { armed++ }
        probe func("work") if (!on), func("main") { other++ }"""
    result = djtap("-e", script, "-c", f"{victim('count')} 100 1")
    assert result.globals["armed"] == 20 and result.globals["other"] == 80 + 1, result


OF_PROBES = """
global seen
function value() { return $n }
function sum(k) { for (i = 0; i < k; i++) { if (i == 3) return s; s += value() } return s }
function text:string(x:long) { try { if ($n == 2) error("two") return sprint($id, ",", $n * x) } catch (m) { return m } }
function note() { foreach (k in seen) { if (k == $n % 3) { seen[k] += $n; return } } seen[$n % 3] = $n }
function either() { if ($n < 5) next; return "big" }
function either() { return "small" }
function returned() { return @entry($n) * 1000 + $return }
function maybe() { return @defined($nosuch) ? $nosuch : -1 }
function nobody_calls_this() { return $nosuch }
"""


def test_functions_read_the_variables_of_the_probe_that_calls_them(djtap):
    script = OF_PROBES + """probe func("work") { println(value(), " ", sum(2), " ", sum(9), " ", text(10), " ", either(), " ", maybe()) note() }
        probe func("work").return { r += returned() } probe end { foreach (k+ in seen) println("seen ", k, " ", seen[k]) }"""
    result = djtap("-e", script, "-c", f"{victim('count')} 10 1")
    wanted = [f"{n} {2 * n} {3 * n} {'two' if n == 2 else f'0,{10 * n}'} {'small' if n < 5 else 'big'} -1" for n in range(10)]
    wanted += [f"seen {k} {sum(range(k, 10, 3))}" for k in range(3)]
    assert [line for line in result.stdout.splitlines() if line.split()[0] in "0123456789seen"] == wanted, result
    assert result.globals == {"r": sum(1002 * n for n in range(10))}, result


def test_one_function_means_other_variables_in_each_probe(djtap):
    script = """function shown() { return $$parms } function twice() { return shown() . "; " . shown() }
        probe func("wide"), func("narrow") { println(ppfunc(), ": ", twice()) } probe func("list") { if (!n++) println(list_value(), node()->value) }
        function node() { return $head } function list_value() { p = node(); return p->value + node()->value - $head->value } global n"""
    result = djtap("-e", script, "-c", victim("args"))
    wide = [line for line in result.stdout.splitlines() if line.startswith("wide: ")]
    assert wide and all(line.count("i32=") == line.count("u64=") == 2 for line in wide), result
    narrow = [line for line in result.stdout.splitlines() if line.startswith("narrow: ")]
    assert narrow and all(line.count("letter=") == 2 for line in narrow), result
    direct = djtap("-e", 'global n probe func("list") { if (!n++) println($head->value, $head->value) }', "-c", victim("args"))
    value = [line for line in direct.stdout.splitlines() if ":" not in line]
    assert value and value == [line for line in result.stdout.splitlines() if ":" not in line], (result, direct)
