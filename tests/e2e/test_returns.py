# SPDX-License-Identifier: Apache-2.0
"""Return probes: $return of functions that end in tail calls, what became of each call, and that nobody sees a difference."""
import re
import shutil
import signal
import subprocess

import pytest

from support import process
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
    assert result.stdout.startswith(bare()) and "warning[" not in result.stderr, result
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


@pytest.mark.parametrize("body", ["r++", "r++; sum += $return"], ids=["count", "result"])
def test_jumps_within_a_function_are_no_returns(djtap, body):
    """By an address that the function keeps in a variable, as it would jump to an imported function."""
    result = djtap("-e", f'probe func("next").return {{ {body} }}', "-c", victim("resumed"))
    assert result.globals["r"] == result.facts["calls"] and "warning[" not in result.stderr, result
    assert result.globals.get("sum", result.facts["total"]) == result.facts["total"], result


def test_calls_that_return_at_once(djtap):
    """even() and odd() jump to each other: one return instruction returns for all of them."""
    evens = [begin % 2 == 0 for begin in range(60) for _ in range(begin, -1, -2)]
    odds = [begin % 2 == 0 for begin in range(60) for _ in range(begin - 1, -1, -2)]
    script = 'probe func("even").return { n++; ones += $return } probe func("odd").return { odds++; odd_ones += $return }'
    result = djtap("-e", script, "-c", victim("tails"))
    assert result.stdout.startswith(bare()) and "warning[" not in result.stderr, result
    assert result.facts["mutual calls"] == 60
    assert result.globals == {"n": len(evens), "ones": sum(evens), "odds": len(odds), "odd_ones": sum(odds)}, result


def test_returns_that_cannot_be_seen_are_counted(djtap):
    """pointer() jumps where a variable says: to code that djtap cannot know beforehand."""
    result = djtap("-e", 'probe func("pointer").return { n++; sum += $return }', "-c", victim("tails"))
    lost = int(re.search(r"warning\[DJ5907\]: (\d+) returns not seen", result.stderr).group(1))
    assert result.globals["n"] + lost == result.facts["through pointer calls"] and result.globals["n"] == 150, result


@pytest.mark.parametrize("body", [".latency { timed += elapsed >= 0; within += lasts - begun }",
                                  ".return { timed++; within += lasts - begun + @entry($n) * 0 }"])
def test_times_of_calls_end_with_the_last_callee(djtap, body):
    """first() ends in a jump to last(), whose call is part of its own: SystemTap's user would see it so, too."""
    script = f'global lasts, begun; probe func("last") {{ lasts++ }} probe func("first") {{ begun = lasts }} probe func("first"){body}'
    result = djtap("-e", script, "-c", victim("tails"))
    assert result.stdout.startswith(bare()) and "warning[" not in result.stderr, result
    assert result.globals["within"] == result.globals["timed"] >= result.facts["direct calls"] > 0, result


def test_returns_of_what_the_loader_has_chosen(djtap, tmp_path):
    """calloc() of large blocks ends in a jump to memset(), which the C library's loader has chosen for this processor."""
    source, program = tmp_path / "zeros.c", tmp_path / "zeros"
    source.write_text('''#include <stdio.h>
#include <stdlib.h>
int main(void) {
  unsigned long sum = 0;
  for (int i = 0; i < 500; i++) {
    char *block = calloc(77, 1 + i % 50);
    sum += (unsigned long)block;
    for (int k = 0; k < 77 * (1 + i % 50); k++) block[k] = 1;
    if (i % 2) free(block);
  }
  printf("sum: %lu\\n", sum);
}
''')
    subprocess.run(["gcc", "-O1", "-o", program, source], check=True)
    result = djtap("-e", 'probe func("libc.so.6!calloc").return { if (int_arg(1) == 77) { n++; sum += $return } }', "-c", str(program))
    assert result.globals == {"n": 500, "sum": result.facts["sum"]} and "warning[" not in result.stderr, result


def test_one_handler_for_callers_and_callees(djtap):
    """Each return has the name of its own function, though one place sees them all."""
    script = ('probe func("first").return, func("chain").return, func("second").return, func("third").return, func("last").return '
              '{ a[ppfunc()] += $return c[ppfunc()]++ }')
    result = djtap("-e", script, "-c", victim("tails"))
    sums, counts = ({key.strip('"'): int(value) for key, value in result.array(name)} for name in "ac")
    truth = result.facts
    assert sums["first"] + sums["chain"] == sum(truth[f"{kind} sum"] for kind in ("direct", "chained", "scaled")), result
    assert counts["first"] == 450 and counts["chain"] == 450 and counts["third"] > 300 and counts["last"] > 450, result


def calls(result):
    """--calls: entered, returned, abandoned, unseen, inside by the function of the probe."""
    rows = re.findall(r'^ *(\d+) +(\d+) +(\d+) +(\d+) +(\d+)  func\("(\w+)"\)\.return at', result.stderr.partition("calls of\n")[2], re.M)
    return {name: tuple(map(int, numbers)) for *numbers, name in rows}


def test_calls_that_longjmp_has_left(djtap):
    script = 'probe func("thrower").return { t += $return } probe func("middle").return { m++ }'
    result = djtap("--calls", "-e", script, "-c", victim("jumps"))
    entered, returned = result.facts["thrown"], result.facts["returned"]
    assert returned < entered
    assert calls(result) == {name: (entered, returned, entered - returned, 0, 0) for name in ("thrower", "middle")}, result


def test_calls_that_exceptions_and_tail_calls_have_left(djtap):
    script = "".join(f'probe func("{f}").return {{ n += $return }}' for f in ("to_throwing", "to_jumping", "chain", "even", "pointer"))
    result = djtap("--calls", "-e", script, "-c", victim("tails"))
    truth = result.facts
    for function, kind in (("to_throwing", "thrown"), ("to_jumping", "jumped")):
        entered, returned = truth[f"{kind} calls"], truth[f"{kind} returns"]
        assert calls(result)[function] == (entered, returned, entered - returned, 0, 0), result
    assert calls(result)["chain"] == (450, 450, 0, 0, 0) and calls(result)["pointer"] == (300, 150, 0, 150, 0), result
    assert calls(result)["even"][0] == sum(n // 2 + 1 for n in range(60)), result


def test_calls_of_exceptions(djtap):
    result = djtap("--calls", "-e", 'probe func("leaf").return { n++ } probe func("middle").return { m++ }', "-c", victim("exceptions"))
    for name in ("leaf", "middle"):
        returned = result.facts[f"{name} returns"]
        assert 0 < returned < 600 and calls(result)[name] == (600, returned, 600 - returned, 0, 0), result


def test_calls_of_recursion_coroutines_and_cancelled_threads(djtap):
    result = djtap("--calls", "-e", 'probe func("fib").return { n += $return } probe func("deep").return { m++ }', "-c", victim("recursion"))
    fib, deep = result.facts["fib calls"], result.facts["deep calls"]
    assert calls(result) == {"fib": (fib, fib, 0, 0, 0), "deep": (deep, deep, 0, 0, 0)}, result

    result = djtap("--calls", "-e", 'probe func("yield").return { n++ }', "-c", victim("coroutines"))
    entered, left = result.facts["entered"], result.facts["left"]
    assert calls(result) == {"yield": (entered, left, entered - left, 0, 0)}, result

    result = djtap("--calls", "-e", 'probe func("nap").return { n++ }', "-c", victim("cancel"))
    assert calls(result) == {"nap": (200, 0, 200, 0, 0)} and result.facts["cancelled"] == 400, result


def test_calls_that_are_still_inside(attach, program):
    target = program(victim("asleep"))
    target.wait_for("pid: ")
    tracer = attach(target.pid, 'probe func("through").return { n++ }', "--calls")
    for woken in range(1, 4):
        target.tell("")
        target.wait_for(f"woken: {woken}$")
    process.wait_until_asleep(target.pid)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()  # the first return is of a call that nobody saw begin
    assert calls(result) == {"through": (3, 2, 0, 0, 1)} and result.globals == {"n": 3}, result


def gdb_stack(pid):
    text = subprocess.run(["gdb", "-p", str(pid), "-batch", "-nx", "-ex", "thread apply all bt"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^#\d+ .*? (?:in )?(\w+) \(", text, re.M)


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
def test_gdb_sees_the_same_frames(attach, program):
    """Inside a call whose return is awaited."""
    target = program(victim("asleep"))
    target.wait_for("pid: ")
    process.wait_until_asleep(target.pid)
    without = gdb_stack(target.pid)
    tracer = attach(target.pid, 'probe func("through").return, func("nap").return { n += register("rax") }')
    target.tell("")
    target.wait_for("woken: 1$")
    process.wait_until_asleep(target.pid)
    assert gdb_stack(target.pid) == without and {"nap", "through", "sleeper", "main"} <= set(without), without
    tracer.signal(signal.SIGINT)
    assert tracer.finish().globals["n"] > 0


def test_backtrace_sees_the_same_frames(djtap):
    """Callers that wait for their results: as many frames, with the same places in them."""
    def frames(text):
        return [[int(word, 16) & 0xfff for word in line.split()] for line in text.splitlines() if line.startswith("0x")]

    bare_frames = frames(subprocess.run([victim("stack")], capture_output=True, text=True, check=True).stdout)
    points = ", ".join(f'func("{name}").return' for name in ("plain", "recurse", "main", "leaf"))
    result = djtap("-e", f'probe {points} {{ n++; r += register("rax") + int_arg(1) }}', "-c", victim("stack"))
    assert frames(result.stdout) == bare_frames and len(bare_frames) == 6 and result.globals["n"] > 6, result


SHARERS = ("twice", "thrice", "falls", "plus")


def test_blocks_that_are_code_of_their_own(djtap):
    """A jump to one of them is no tail call: what stands below the stack pointer is the function's."""
    result = djtap("-e", 'probe func("summed").return, func("halved").return { n++; if (@entry(tid()) == tid()) own++ }',
                   "-c", victim("pieces"), timeout=60)
    assert result.facts == {"sums": sum(i * (i + 1) // 2 for i in range(50)), "halves": sum(max(i.bit_length() - 1, 0) for i in range(70))}
    assert result.globals == {"n": 120, "own": 120}, result


def test_exits_that_functions_share(djtap):
    """Four functions end in one instruction: each call's return is told from the others', also without a result, all probed at once."""
    script = "".join(f'probe func("{f}").return {{ {f} += register("rax"); n["{f}"]++ }} probe func("{f}").return {{ of_{f}++ }}' for f in SHARERS)
    result = djtap("-e", script, "-c", victim("shared_exits"))
    truth = {f: result.facts[f"{f} sum"] for f in SHARERS}
    truth["plus"] += truth["falls"]  # who runs on into a function passes its entry, too
    calls = dict(zip(SHARERS, (100, 70, 30, 40)))
    assert {f: result.globals[f] for f in SHARERS} == truth, result
    assert {f: result.globals[f"of_{f}"] for f in SHARERS} == calls, result
    assert {key.strip('"'): int(count) for key, count in result.array("n")} == calls and "warning[" not in result.stderr, result


def test_one_of_the_functions_that_share_an_exit(djtap):
    result = djtap("-e", 'probe func("falls").return { n++; same += @entry(tid()) == tid() }', "-c", victim("shared_exits"))
    assert result.globals == {"n": 30, "same": 30}, result


def test_calls_left_before_a_shared_exit(djtap):
    result = djtap("--calls", "-e", 'probe func("escape").return { n++ } probe func("twice").return { m++ }', "-c", victim("shared_exits"))
    assert result.facts["escape returned"] == 70 and result.globals["n"] == 70, result
    assert calls(result) == {"escape": (80, 70, 10, 0, 0), "twice": (100, 100, 0, 0, 0)}, result


def test_assembler_of_the_c_library(djtap):
    """memcpy and its kin share code in every form that the processor chooses from."""
    script = ('probe func("libc.so.6!__mem*") { entered[ppfunc()]++ } probe func("libc.so.6!__mem*").return { left[ppfunc()]++ } '
              'probe end { foreach (f in entered) { if (entered[f] != left[f]) printf("%s %d %d\\n", f, entered[f], left[f]) println(f) } }')
    result = djtap("-e", script, "-c", "/usr/bin/python3 -c 'print(sum(map(len, map(str, range(9999)))))'")
    assert "exits unknown" not in result.stderr and len(result.stdout.split()) > 2, result
    assert all(len(line.split()) == 1 for line in result.stdout.splitlines()), result
