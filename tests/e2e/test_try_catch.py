# SPDX-License-Identifier: Apache-2.0
"""try, catch and script errors: what is caught goes on, what is not ends the handler, and begin's ends the session."""
import pytest

from support.paths import victim

FUNCTIONS = """
function fails(n) { if (n == 0) error("from below"); return 10 / n }
function deep(n) { return deep(n + 1) }
function tried(n) { try { return fails(n) } catch { return -1 } }
"""

CASES = {
    "error in a function": ('try { print(fails(5)); print(fails(0)); print("no") } catch (m) { print("|", m) }', "2|from below"),
    "division by zero": ('x = 0; try { print(1 / x) } catch (m) { print(m) }', "division by 0"),
    "bad address": ("try { print(user_string(16)) } catch (m) { print(m) }", "read fault at address 0x0000000000000010"),
    "empty aggregate": ("try { print(@min(none)) } catch (m) { print(m) }", "the aggregate is empty"),
    "too deep": ("try { deep(0) } catch (m) { print(m) }", "MAXNESTING exceeded: more than 10 calls deep"),
    "deep again": ("for (i = 0; i < 3; i++) try { deep(0) } catch { print(i) }", "012"),
    "rethrown": ('try { try { error("a") } catch (m) { error(m . "b") } } catch (m) { print(m) }', "ab"),
    "break and continue leave it": (
        'for (i = 0; i < 5; i++) { try { if (i == 1) continue; if (i == 3) break; error(sprint(i)) } catch (m) { print(m) } }', "02"),
    "return leaves it": ("print(tried(5), tried(0), tried(2))", "2-15"),
    "nothing raised": ('try { print("a") } catch { print("never") } print("b")', "ab"),
    "out of a foreach": (
        'for (i = 0; i < 4; i++) a[i] = i; for (i = 0; i < 3; i++) try { foreach (k+ in a) if (k == 2) error("x"); else print(k) }'
        ' catch { print("!") } foreach (k+ in a) print(k)', "01!01!01!0123"),
    "message in a global": ('try { error("kept") } catch (last) { } print(last)', "kept"),
}


@pytest.mark.parametrize("body, text", CASES.values(), ids=CASES.keys())
def test_caught(djtap_once, body, text):
    script = f'global none, last = "" {FUNCTIONS} probe begin {{ {body}; println(); exit() }} probe end {{ if (0) none <<< 1 }}'
    result = djtap_once("-e", script)
    assert result.stdout.split("\n")[0] == text and "ERROR" not in result.stderr, result
    assert result.returncode == 0, result


def test_a_loop_that_is_caught_again_and_again_ends(djtap_once):
    result = djtap_once("-D", "MAXACTION_HOST=500", "-e", "probe begin { exit(); while (1) try { while (1) n++ } catch { c++ } }")
    assert result.returncode == 5 and "MAXACTION_HOST exceeded" in result.stderr, result


def test_uncaught_after_a_try_is_reported(djtap_once):
    result = djtap_once("-e", 'probe begin { try { error("a") } catch { } error("b") } probe end { print("never") }')
    assert result.returncode == 5 and result.stdout == "", result
    assert "error[DJ5002]: b\n" in result.stderr and "]: a\n" not in result.stderr, result


def test_an_error_in_begin_starts_no_target(djtap):
    result = djtap("-e", 'probe begin { error("not today") } probe func("work") { n++ }', "-c", f"{victim('count')} 3")
    assert result.returncode == 5 and "work calls" not in result.stdout, result


def test_caught_in_the_target(djtap):
    script = 'probe func("work") { try { user_int32(8); never++ } catch (m) { caught[m]++ } }'
    result = djtap("-e", script, "-c", f"{victim('count')} 1")
    assert result.array("caught") == [('"read fault at address 0x0000000000000008"', str(result.facts["work calls"]))], result
