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
