# SPDX-License-Identifier: Apache-2.0
"""What djtap says to mistakes: the exact span under the caret, one error per cause, names that are near."""
import re

import pytest

from support.paths import victim

PLACE = re.compile(r"^ *--> ([^\n:]+):(\d+):(\d+)\n *\|\n *(\d+) \| ([^\n]*)\n *\| ([ -]*)(\^+)", re.M)


class Shown:
    """The first diagnostic of a run, taken apart."""

    def __init__(self, result):
        self.result = result
        head = re.search(r"^(error|warning)\[(DJ\d{4})\]: (.*)$", result.stderr, re.M)
        assert head, result
        self.severity, self.code, self.message = head.groups()
        self.errors = len(re.findall(r"^error\[", result.stderr, re.M))
        place = PLACE.search(result.stderr)
        self.file = place and place.group(1)
        self.line = place and int(place.group(2))
        self.column = place and int(place.group(3))
        self.source = place and place.group(5)
        begin = len(place.group(6)) if place else 0
        self.marked = place and self.source[begin:begin + len(place.group(7))]
        self.notes = re.findall(r"^ *= (.*)$", result.stderr, re.M)
        self.help = "\n".join(re.findall(r"^help: (.*)$", result.stderr, re.M))


@pytest.fixture
def diagnose(djtap_once, tmp_path):
    """diagnose(script, args...) runs a wrong script from the file t.djt; exactly one error is expected."""

    def run(script, *args, errors=1, status=None):
        (tmp_path / "t.djt").write_text(script)
        result = djtap_once("t.djt", *args, cwd=tmp_path)
        shown = Shown(result)
        assert shown.errors == errors and shown.severity == "error", result
        assert status is None or result.returncode == status, result
        return shown

    return run


COUNT = ["-c", victim("count")]
ARGS = ["-c", victim("args")]

# script, arguments, first digit group of the code, what is underlined, words of the message, words of help or notes
CASES = {
    "no such function": ('probe func("wrok") { n++ }', COUNT, "DJ3", '"wrok"', ["wrok"], ["work", "searched"]),
    "no such function in a process": ('probe process.function("wrok") { n++ }', COUNT, "DJ3", '"wrok"', ["wrok"], ["work"]),
    "no such variable": ('probe func("text") { n += $strng }', ARGS, "DJ3", "$strng", ["strng"], ["$string"]),
    "no such member": ('probe func("list") { n += $head->vlaue }', ARGS, "DJ3", "->vlaue", ["vlaue"], ["value"]),
    "no such script function": ("probe begin { print(user_strng(1)) }", [], "DJ2", "user_strng", ["user_strng"], ["user_string"]),
    "misspelled print": ('probe begin { prnt("x") }', [], "DJ2", "prnt", ["prnt"], ["print", "printf"]),
    "misspelled begin": ("probe beginn { exit() }", [], "DJ3", "beginn", ["beginn"], ["begin"]),
    "misspelled return": ('probe func("work").retrun { n++ }', COUNT, "DJ3", "retrun", ["retrun"], ["return"]),
    "timer with a string": ('probe timer.s("x") { exit() }', [], "DJ3", '"x"', ["timer.s takes a number of seconds, got a string"], []),
    "missing process": ('probe process("./nosuch").function("f") { n++ }', COUNT, "DJ3", '"./nosuch"', ["nosuch"], []),
    "no such line": ('probe func("work@count.c:999") { n++ }', COUNT, "DJ3", '"work@count.c:999"', ["999"], ["1"]),
    "argument of the wrong kind": ('probe begin { print(strlen(5)) }', [], "DJ2", "5", ["str"], []),
    "types in conflict": ('global g probe begin { g = 1; g = "x" }', [], "DJ2", '"x"', ["g"], []),
    "too few arguments": ("function f(a, b) { return a + b } probe begin { print(f(1)) }", [], "DJ2", "f(1)", ["f"], []),
    "unclosed string": ('probe begin { print("abc) }', [], "DJ1", '"abc) }', ["string"], []),
    "unclosed brace": ("probe begin { print(1)\n", [], "DJ1", "{", ["never closed"], []),
    "unclosed angle body": ("probe begin < n++\n", [], "DJ1", None, [], ["(a > b)"]),
    "keyword": ("porbe begin { exit() }", [], "DJ1", "porbe", [], ["probe"]),
    "printf without an argument": ('probe begin { printf("%d %s\\n", 1) }', [], "DJ2", "%s", [], []),
    "printf of the wrong type": ('probe begin { printf("%d\\n", "x") }', [], "DJ2", '"x"', [], []),
    "aggregate as a number": ("global s probe begin { s <<< 1; print(s + 1) }", [], "DJ2", "s", [], ["@count"]),
    "target in begin": ("probe begin { print($x) }", [], "DJ2", "$x", ["begin"], []),
    "return value at the entry": ('probe func("work") { n += $return }', COUNT, "DJ", "$return", ["$return"], [".return"]),
    "return outside of a function": ("probe begin { return 1 }", [], "DJ", None, ["return"], []),
    "break outside of a loop": ("probe begin { break }", [], "DJ", "break", ["break"], []),
    "argument that was not given": ("probe begin { print($1) }", [], "DJ1", "$1", ["argument"], []),
    "what only SystemTap has": ("probe begin { print(@perf(1)) }", [], "DJ2", None, ["does not have SystemTap's"], []),
    "not built yet": ('probe begin { printf("%n", 1) }', [], "DJ2", "%n", ["not built yet"], []),
    "malformed number": ("probe begin { print(0xzoo) }", [], "DJ1", "0xzoo", [], []),
    "empty script": ("  \n", [], "DJ1", None, ["empty"], []),
    "without a body": ('probe begin', [], "DJ1", None, ["body"], []),
}


@pytest.mark.parametrize("name", CASES)
def test_mistakes(diagnose, name):
    script, args, code, marked, message, advice = CASES[name]
    status = {"DJ1": 2, "DJ2": 3, "DJ3": 3}.get(code)
    shown = diagnose(script, *args, status=status)
    assert shown.code.startswith(code), shown.result
    assert marked is None or shown.marked == marked, shown.result
    for word in message:
        assert word in shown.message, shown.result
    for word in advice:
        assert word in shown.result.stderr.partition("\n")[2], shown.result


def test_place_is_the_files_line_and_column(diagnose):
    shown = diagnose('global n\n\n  probe func("wrok") { n++ }\n', *COUNT)
    assert (shown.file, shown.line, shown.column) == ("t.djt", 3, 14), shown.result
    assert shown.source == '  probe func("wrok") { n++ }' and shown.marked == '"wrok"', shown.result


def test_there_is_no_process(djtap_once):
    result = djtap_once("-e", 'probe process.function("vfs_read") < count++ >')
    shown = Shown(result)
    assert result.returncode == 3 and "no process is traced" in shown.message, result
    assert "-c" in shown.help and "-p" in shown.help and shown.errors == 1, result


def test_searched_objects_are_named(diagnose):
    shown = diagnose('probe func("wrok") { n++ }', *COUNT)
    searched = next(note for note in shown.notes if note.startswith("searched:"))
    assert re.search(r"count \(\d+", searched) and re.search(r"libc\.so\.6 \(\d{4}", searched), shown.result
    assert "list with -l 'func(\"w*\")' in place of the script" in shown.result.stderr, shown.result


def test_one_text_in_many_probes_is_told_once(djtap_once):
    """Of all system calls. One of them has a variable `n` of its own, which the message shows."""
    result = djtap_once("-e", "probe syscall.* { if (q) n++ }", "-c", "true")
    assert result.returncode == 0 and result.stderr.count("`q` is never set") == 1, result
    assert result.stderr.count("`n` is set but never read") == 1, result
    assert "  n = int_arg(1)" in result.stderr and "set by an alias, too: so it is a local variable" in result.stderr, result


def test_available_variables_in_order_of_declaration(diagnose):
    shown = diagnose('probe func("nine") { n += $zz }', *ARGS)
    text = shown.result.stderr
    positions = [text.find(f"${name}") for name in "abcdefghi"]
    assert -1 not in positions and positions == sorted(positions), shown.result


def test_a_struct_needs_a_member(diagnose):
    shown = diagnose('probe func("list") { n += $head->at }', *ARGS)
    assert "->x" in shown.result.stderr or "x" in shown.help + "".join(shown.notes), shown.result


def test_two_mistakes_are_two_errors(diagnose):
    shown = diagnose('probe begin { prnt("a") }\nprobe begin { user_strng(2) }\n', errors=2)
    assert shown.line == 1, shown.result


def test_no_such_process(djtap_once):
    result = djtap_once("-e", 'probe func("f") { n++ }', "-p", "4194300")
    assert result.returncode == 4 and "4194300" in result.stderr, result


def test_script_file_is_missing(djtap_once):
    result = djtap_once("/no/such/script.djt")
    assert result.returncode in (1, 2) and "/no/such/script.djt" in result.stderr, result


def test_run_time_error_shows_script_place(djtap_once):
    result = djtap_once("-e", "global n\nprobe begin { n = 3 / nothing } probe begin { exit() }")
    assert re.search(r"^error\[DJ5003\]: division by 0\n --> <command line>:2:19$", result.stderr, re.M), result
    assert result.returncode == 5, result
