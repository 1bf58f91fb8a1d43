# SPDX-License-Identifier: Apache-2.0
"""Unwinding out of djtap's own code: what interrupts a detour, a handler or the agent sees the program's stack whole."""
import re

import pytest

from support.paths import victim

# Of chain() the exits too, so that its return goes through a detour; work() and main stay whole on the stack.
POINTS = ["leaf", "chain", "spin", "poke"]
HANDLERS = {
    "count": ('probe {point} {{ n++ }}', []),
    "called": ('probe {point} {{ n++; m[tid()] += 2 }}', []),
    "guards": ('probe {point} {{ n++ }}', ["--guards=all"]),
    "return": ('probe {point}.return {{ n++ }}', []),
    "entry value": ('probe {point}.return {{ m[@entry(pid())]++ }}', []),
    "print": ('probe {point} {{ if (n++ % 64 == 0) printf("%d %s\\n", n, sprintf("%d", n)) }}', ["-o", "/dev/null"]),
    "stack": ('probe {point} {{ if (n++ % 64 == 0) m[ubacktrace()]++ }}', []),
}


def script(handler, functions):
    body, options = HANDLERS[handler]
    return ["-e", " ".join(body.format(point=f'func("{name}")') for name in functions), *options]


@pytest.mark.parametrize("handler", HANDLERS)
def test_backtraces_are_whole(djtap, handler):
    """The victim knows its own stack: backtrace() in a timer's handler must find all of it, wherever that interrupts."""
    result = djtap(*script(handler, ["leaf"]), "-c", f"{victim('unwinding')} sample 500")
    truth = result.facts
    assert result.returncode == 0 and truth["samples"] >= 500, result
    assert truth["whole"] == truth["samples"], result


def walks(function):
    return f'probe func("{function}") {{ s[ubacktrace()]++ }} probe end {{ foreach (k in s) println("STACK ", s[k], "\\n", sprint_usyms(k)) }}'


def walked(result):
    """[(how often, [function, ...]), ...], the innermost first."""
    stacks = re.findall(r"^STACK (\d+)\n((?: 0x.*\n)*)", result.stdout, re.M)
    return [(int(count), re.findall(r"^ 0x[0-9a-f]+ : (\S+?)(?:\+0x|@| at )", text.replace("(anonymous namespace)::", ""), re.M))
            for count, text in stacks]


@pytest.mark.parametrize("handler", ["count", "called", "guards", "return", "entry value"])
def test_handlers_walk_whole_stacks(djtap, handler):
    """What a signal has interrupted may be a detour, a handler or the agent: ubacktrace() passes through."""
    words = script(handler, ["leaf"])
    result = djtap(words[0], f"{words[1]} {walks('sample')}", *words[2:], "-c", f"{victim('unwinding')} sample 500")
    stacks = walked(result)
    assert result.returncode == 0 and all("main" in names for _, names in stacks), result
    whole = [(count, names) for count, names in stacks if names.count("chain") == 6]
    assert sum(count for count, _ in whole) >= result.facts["samples"] >= 500, result
    for _, names in whole:
        first = names.index("chain")
        assert names[:first] in (["sample"], ["sample", "leaf"]) and names[first:first + 7] == ["chain"] * 6 + ["work"], result


def test_the_agent_is_interrupted_where_an_unwinder_asks_it(djtap):
    """Its first function aligns the stack, or need not: the frame may be where the stack pointer already is."""
    result = djtap("-e", f'probe func("leaf") {{ n++ }} {walks("interrupted")}', "-D", "MAXSTRINGLEN=30000", "-c",
                   f"{victim('unwinding')} unwind 3000")
    stacks = walked(result)
    assert result.returncode == 0 and sum(count for count, _ in stacks) >= result.facts["samples"] == 3000, result
    assert all(names[0] == "interrupted" and "interrupt_unwinder" in names for _, names in stacks), result


@pytest.mark.parametrize("mode", ["jump"])
def test_detours_are_interrupted(djtap, mode):
    """Or the test above would show nothing."""
    result = djtap(*script("called", ["leaf"]), "-c", f"{victim('unwinding')} sample 500")
    assert result.facts["in no object"] > 50, result


@pytest.mark.parametrize("handler", ["count", "called", "guards"])
def test_middle_of_functions(djtap, handler):
    body, options = HANDLERS[handler]
    result = djtap("-e", body.format(point='process.statement("leaf@unwinding.cpp:*")'), *options, "-c",
                   f"{victim('unwinding')} sample 500")
    truth = result.facts
    assert result.returncode == 0 and truth["whole"] == truth["samples"] >= 500, result


@pytest.mark.parametrize("handler", HANDLERS)
def test_faults_of_moved_instructions_are_thrown(djtap, handler):
    """The SIGSEGV handler throws; poke()'s only memory access stands in the detour."""
    result = djtap(*script(handler, ["poke"]), "-c", f"{victim('unwinding')} throw 1000")
    assert result.returncode == 0 and result.facts == {"caught": 500, "destroyed": 1000}, result


@pytest.mark.parametrize("handler", HANDLERS)
def test_cancelled_threads_destroy_their_objects(djtap, handler):
    result = djtap(*script(handler, ["leaf"]), "-c", f"{victim('unwinding')} cancel 100")
    assert result.returncode == 0 and result.facts == {"cancelled": 100, "destroyed": 100}, result


def test_every_function(djtap):
    """With unwinder, C library and loader probed as well."""
    for form, truth in [("sample 300", None), ("throw 300", {"caught": 150, "destroyed": 300}),
                        ("cancel 50", {"cancelled": 50, "destroyed": 50})]:
        result = djtap("-e", 'probe func("*") { n++ }', "-c", f"{victim('unwinding')} {form}")
        assert result.returncode == 0, result
        facts = result.facts
        assert facts == truth or (truth is None and facts["whole"] == facts["samples"] >= 300), result


def test_children_from_before_an_object_came(djtap):
    """The code of a later object's probes is in the target alone: a child that was forked before walks its stack without it."""
    library = victim("liblinked.so")
    result = djtap("-e", 'probe func("leaf") { s[ubacktrace()]++ } probe func("liblinked*!*") { n++ } '
                   'probe end { println("IN THE LIBRARY ", n) foreach (k in s) println("STACK ", s[k], "\\n", sprint_usyms(k)) }',
                   "-c", f"{victim('forked_early')} {library}")
    truth = result.facts
    assert result.returncode == 0 and truth["child status"] == 0, result
    assert truth["frames in the child"] == truth["frames"] + 3, result
    assert int(re.search(r"^IN THE LIBRARY (\d+)", result.stdout, re.M)[1]) > 100, result
    assert (1, 3) in [(count, names.count("deep")) for count, names in walked(result)], result
