# SPDX-License-Identifier: Apache-2.0
"""SDT marks with their arguments and semaphores."""
import signal
import subprocess

import pytest

from support import paths, process
from support.paths import victim


def traced(djtap, script, program="marks"):
    result = djtap("-e", script, "-c", victim(program))
    assert result.returncode == 0 and not result.stderr, result
    return result


def test_arguments(djtap):
    result = traced(djtap, """probe process.mark("plain") {
        n++; sum += $arg1; text[user_string($arg2)]++; seven += $arg3; who[$$provider . ":" . $$name]++ }""")
    assert result.globals["n"] == result.facts["plain"] and result.globals["sum"] == sum(range(100))
    assert result.globals["seven"] == 700
    assert result.array("text") == [('"hello"', "100")] and result.array("who") == [('"victim:plain"', "100")]


def test_operands_of_every_shape(djtap):
    result = traced(djtap, """probe process.provider("vic*").mark("two-words") {
        negative += $arg1; byte += $arg2; element += $arg3; again += $arg4 }""")
    bytes_seen = sum((n + 200) % 256 for n in range(100))
    elements = sum([20, 30, 40][n % 3] for n in range(100))
    assert result.globals == {"negative": -sum(range(100)), "byte": bytes_seen, "element": elements, "again": -sum(range(100))}


def test_all_arguments_as_text(djtap):
    result = traced(djtap, 'probe process.mark("two__words") { if ($arg1 == -3) println($$parms) }')
    assert "arg1=0xfffffffffffffffd arg2=0xcb arg3=0x14 arg4=0xfffffffffffffffd" in result.stdout, result


def test_a_semaphore_is_up_while_its_mark_is_probed(djtap):
    result = traced(djtap, 'probe process.mark("costly") { n++; sum += $arg1 }')
    assert result.facts["prepared"] == 100 and result.facts["semaphore"] == 1, result
    assert result.globals == {"n": 100, "sum": sum(n * n for n in range(100))}
    result = traced(djtap, 'probe process.mark("plain") { n++ }')
    assert result.facts["prepared"] == 0 and result.facts["semaphore"] == 0, "nobody asked for it"


def test_a_semaphore_of_a_library_that_is_closed_meanwhile(attach, program, opened):
    """It is gone with its library, and another one may lie at its address; all the rest is taken out."""
    target = program(victim("plugin"), opened)
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    target.tell("open")
    target.wait_for("opened: 1")
    tracer = attach(target.pid, 'probe process.library("libopened*").mark("costly") { n++ } probe func("main") { m++ }')
    target.tell("call 5")
    target.wait_for("called: 5")
    target.tell("close")
    target.wait_for("closed: 0")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals["n"] == 5 and "not removed" not in result.stderr, result
    assert process.differences(before, process.text_of(target.pid)) == []
    target.tell("quit")
    assert target.finish().returncode == 0


def test_a_semaphore_that_is_nowhere(attach, program):
    """What a note says to lie outside of the program is not written to, and the mark is probed."""
    target = program(victim("lost_semaphore"))
    target.wait_for("ready: 1")
    before = process.text_of(target.pid)
    tracer = attach(target.pid, 'probe process.mark("lost") { n++; sum += $arg1 }')
    target.tell("")
    target.wait_for("marks: 10")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals == {"n": 10, "sum": 45}, result
    assert process.differences(before, process.text_of(target.pid)) == []


def test_marks_of_a_real_library(djtap):
    """libstdc++ has marks where exceptions are thrown and caught."""
    result = djtap("-e", 'probe process.library("libstdc++*").mark("throw") { t++ } probe process("libstdc++.so.6").mark("catch") { c++ }',
                   "-c", victim("exceptions"))
    assert result.globals["t"] > 0 and result.globals["c"] > 0, result


@pytest.mark.parametrize("script, words", [
    ('probe process.mark("plian") { n++ }', 'did you mean "plain"?'),
    ('probe process.mark("plain") { n += $arg4 }', "the mark plain has 3 arguments"),
    ('probe process.mark("plain") { n += $arg1->x }', "$arg1 is a number"),
    ('probe process.function("plain") { println($$name) }', "only marks have"),
])
def test_what_is_not_there(djtap, script, words):
    result = djtap("-e", script, "-c", victim("marks"))
    assert result.returncode != 0 and words in result.stderr, result


def test_listing(djtap):
    shown = djtap("-l", 'process.mark("*")', "-c", victim("marks")).stdout.splitlines()
    assert [line.split(").", 1)[1] for line in shown] == [f'provider("victim").mark("{name}")'
                                                         for name in ("plain", "two__words", "costly")]


MANY = """#include "{targets}/facts.h"
#include "{targets}/sdt_note.h"
__attribute__((section(".probes"), used)) volatile unsigned short semaphores[{count}];
static void say(void) {{
  int raised = 0;
  for (int i = 0; i < {count}; i++) raised += semaphores[i];
  fact("raised", raised);
}}
NOINLINE void marked(long n) {{
{marks}
}}
int main(void) {{
  fact("pid", 0);
  getchar();
  marked(7);
  say();
  getchar();
  say();
  return 0;
}}
"""


@pytest.mark.parametrize("mode", ["jump"])
def test_more_semaphores_than_are_raised(attach, program, tmp_path, mode):
    """The first 8,192 by address are; that the others are not is said, and those that are go down again."""
    marks = "\n".join(f'  __asm__ volatile(SDT_NOTE("v", "m{i}", "semaphores+{2 * i}", "-8@%0") : : "r"(n));' for i in range(8200))
    (tmp_path / "many.c").write_text(MANY.format(targets=paths.TARGETS, count=8200, marks=marks))
    subprocess.run(["gcc", "-O1", "-w", "-o", tmp_path / "many", tmp_path / "many.c"], check=True)
    target = program(tmp_path / "many")
    target.wait_for("pid: ")
    tracer = attach(target.pid, 'probe process.mark("m*") { n++; sum += $arg1 }')
    tracer.wait_for(r"^warning\[DJ5903\]: 8 semaphores of marks not raised, as a session raises 8192 at most: the program may leave those marks out$")
    target.order("", "raised: 8192$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.globals == {"n": 8200, "sum": 7 * 8200}, result
    target.order("", "raised: 0$")
    assert target.finish().returncode == 0


def test_operands_that_name_variables(djtap):
    result = traced(djtap, 'probe process.mark("named") { println($arg1, " ", $arg2, " ", $arg3, " ", $arg4) }', "named_marks")
    seen = [tuple(map(int, line.split())) for line in result.stdout.splitlines() if line.count(" ") == 3]
    assert seen == [(5, -6, 16, 9), (6, -7, 32, 9), (8, -9, 64, 9)], result
    assert seen[-1][:3] == tuple(result.facts[name] for name in ("counter", "hidden", "table")), result


def test_operands_with_a_fraction(djtap):
    result = traced(djtap, 'probe process.mark("fractions") { printf("%g %g %g %g\\n", $arg1, $arg2, $arg3, $arg4); println($$parms) }', "named_marks")
    lines = [line for line in result.stdout.splitlines() if not line.startswith(("counter", "hidden", "table"))]
    assert lines[::2] == ["0 -0.5 0.25 -0.5", "1.5 -0.5 0.5 -0.5", "3 -0.5 1 -0.5"], result
    assert lines[3] == "arg1=1.5 arg2=-0.5 arg3=0.5 arg4=-0.5", result
