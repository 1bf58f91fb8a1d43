"""$return of functions that end in tail calls: seen where the callee returns, for exactly the calls that return there."""
import re
import subprocess

import pytest

from support.paths import victim

NAMED = {"direct": "first", "chained": "chain", "in library": "imported", "thrown": "to_throwing", "jumped": "to_jumping"}


def bare():
    return subprocess.run([victim("tails")], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("entry", ["", "e += $n * 0 + 1"], ids=["result", "with-entry-value"])
def test_results_come_from_the_last_callee(djtap, entry):
    """Thrown over, jumped over, left half-way; and callees that are also called by themselves, from the same place."""
    script = "".join(f'probe func("{f}").return {{ {f}_n++; {f}_sum += $return; {entry} }}' for f in NAMED.values())
    result = djtap("-e", script, "-c", victim("tails"))
    truth = result.facts
    assert result.stdout.startswith(bare()) and "WARNING" not in result.stderr, result
    for kind in ("thrown", "jumped"):
        assert 0 < truth[f"{kind} returns"] < truth[f"{kind} calls"]
    for kind in ("thrown", "jumped", "in library"):
        function = NAMED[kind]
        assert result.globals[f"{function}_n"] == truth[f"{kind} returns"], result
        assert result.globals[f"{function}_sum"] == truth[f"{kind} sum"], result
    both = result.globals["first_n"] + result.globals["chain_n"], result.globals["first_sum"] + result.globals["chain_sum"]
    for number, word in zip(both, ("returns", "sum")):
        assert number == sum(truth[f"{kind} {word}"] for kind in ("direct", "chained", "scaled")), result
    if entry:
        assert result.globals["e"] == sum(result.globals[f"{f}_n"] for f in NAMED.values()), result


def test_calls_that_return_at_once(djtap):
    """even() and odd() jump to each other: one return instruction returns for all of them."""
    evens = [begin % 2 == 0 for begin in range(60) for _ in range(begin, -1, -2)]
    odds = [begin % 2 == 0 for begin in range(60) for _ in range(begin - 1, -1, -2)]
    script = 'probe func("even").return { n++; ones += $return } probe func("odd").return { odds++; odd_ones += $return }'
    result = djtap("-e", script, "-c", victim("tails"))
    assert result.stdout.startswith(bare()) and "WARNING" not in result.stderr, result
    assert result.facts["mutual calls"] == 60
    assert result.globals == {"n": len(evens), "ones": sum(evens), "odds": len(odds), "odd_ones": sum(odds)}, result


def test_returns_that_cannot_be_seen_are_counted(djtap):
    """pointer() jumps where a variable says: to code that djtap cannot know beforehand."""
    result = djtap("-e", 'probe func("pointer").return { n++; sum += $return }', "-c", victim("tails"))
    lost = int(re.search(r"WARNING: (\d+) returns not seen", result.stderr).group(1))
    assert result.globals["n"] + lost == result.facts["through pointer calls"] and result.globals["n"] == 150, result


def test_one_handler_for_callers_and_callees(djtap):
    """Each return has the name of its own function, though one place sees them all."""
    script = ('probe func("first").return, func("chain").return, func("second").return, func("third").return, func("last").return '
              '{ a[ppfunc()] += $return c[ppfunc()]++ }')
    result = djtap("-e", script, "-c", victim("tails"))
    sums, counts = ({key.strip('"'): int(value) for key, value in result.array(name)} for name in "ac")
    truth = result.facts
    assert sums["first"] + sums["chain"] == sum(truth[f"{kind} sum"] for kind in ("direct", "chained", "scaled")), result
    assert counts["first"] == 450 and counts["chain"] == 450 and counts["third"] > 300 and counts["last"] > 450, result
