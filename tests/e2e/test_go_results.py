# SPDX-License-Identifier: Apache-2.0
"""What Go's functions return, in registers and on the stack: the program prints the same lines as the probes."""
import subprocess

import pytest

from support import golang, paths

SOURCE = paths.ROOT / "tests" / "targets" / "results.go"

# What each probe prints; r1 and so on are the results behind the first as debug information calls them.
SHOWN = {
    "one": ('one %d', "$return"), "small": ('small %d', "$return"), "yes": ('yes %d', "$return"),
    "two": ('two %d %d', '$return, @var("~r1")->tab != 0'), "text": ('text %s', "$return$"),
    "slice": ('slice %s %d', "$return$, $return->len"), "named": ('named %d %s %d %g', "$return, $name$, $ok, $part"),
    "inPair": ('pair %s %d', "$return$, $return->a"), "inMixed": ('mixed %g %s %d %d', "$return->f, $return->s$, $return->b, $return->h[0]"),
    "inNested": ('nested %d %d %g %d %d', '$return->p->a, $return->p->b, $return->g, $return->c, @var("~r1")'),
    "fractions": ('fractions %g %g %d', '$return, @var("~r1"), @var("~r2")'), "array": ('array %d %d %d', "$return[0], $return[1], $return[2]"),
    "onStack": ('stack %d %d %d %d %d', '$return, @var("~r1")->two[0], @var("~r1")->two[1], @var("~r1")->n, @var("~r2")'),
    "many": ('many %d %d %d %d %d', "$a, $c, $i, $j, $k"), "manyFractions": ('many fractions %g %g %g', "$return, $p, $q"),
    "last": ('last %d %s %d', "$h, $s$, $z"), "pointer": ('pointer %d', "$return->a"), "(*pair).method": ('method %d %s', '$return, @var("~r1")$'),
    "copied": ('copied %d %g', "$return, $half"), "blank": ('blank %d %s', "$return, $rest$"),
    "generic[*": ('generic %d %d', '$return, @var("~r1")'),
}


@pytest.fixture(scope="module", params=["plain", "optimized"])
def program(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return golang.build(SOURCE, folder / "results", *([golang.PLAIN] if request.param == "plain" else []), cache=folder / "cache")


def test_results_of_every_kind(djtap, program, tmp_path):
    """And none of the registers that hold them is changed: the program prints what it prints alone."""
    shown = tmp_path / "shown"
    script = "".join(f'probe func("main.{name}").return {{ printf("{words}\\n", {values}) }} ' for name, (words, values) in SHOWN.items())
    result = djtap("-o", str(shown), "-e", script, "-c", program)
    bare = subprocess.run([program], capture_output=True, text=True, check=True)
    assert result.stdout == bare.stdout and result.stderr == bare.stderr, result
    truth = bare.stdout.splitlines()
    again = sum(line.startswith("two ") or (line.startswith("copied ") and "plain" in program.parent.name) for line in truth)
    lines = shown.read_text().splitlines()
    assert set(lines) == set(truth) and len(truth) == 3 * len(SHOWN) and len(lines) == len(truth) + again, lines


def test_all_of_them_in_one_text(djtap_once, program):
    script = ('probe func("main.two").return, func("main.one").return { println("shows ", $$return) } '
              'probe func("main.nothing").return { println("shows ", $$return, ".") } '
              'probe func("main.named").return { println("shows ", $$parms, "; ", $$return) }')
    result = djtap_once("-e", script, "-c", program)
    lines = [line.removeprefix("shows ") for line in result.stdout.splitlines() if line.startswith("shows ")]
    assert len(lines) == 15 and lines.count(".") == 3 and {"return=0x3", "return=0x6", "return=0x9"} <= set(lines), lines
    assert sum(line.startswith("return=0x2 ~r1=") for line in lines) == 4, lines  # one of two(1), and two(2)
    assert "n=0x2; return=0xa name=? ok=0x0 part=0.5" in lines, lines
    result = djtap_once("-e", 'probe func("main.named").return { println($$return$) }', "-c", program)
    assert 'return=10 name="nm" ok=0 part=0.5' in result.stdout.splitlines(), result


def test_results_have_no_value_at_the_entry(djtap_once, program):
    listed = djtap_once("-L", 'func("main.named").return', "-c", program)
    assert "$return:int" in listed.stdout, listed
    result = djtap_once("-e", 'probe func("main.two") { println($$parms) }', "-c", program)
    assert [line for line in result.stdout.splitlines() if line.startswith("n=")] == ["n=0x1", "n=0x1", "n=0x2", "n=0x2", "n=0x3", "n=0x3"], result
