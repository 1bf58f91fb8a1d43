# SPDX-License-Identifier: Apache-2.0
"""User backtraces: against the C library's backtrace() in the program itself, and gdb's on real programs."""
import random
import re
import shutil
import subprocess

import pytest

from support.paths import PYTHON, line_of, victim

LIMITS = ["-D", "MAXBACKTRACE=100", "-D", "MAXSTRINGLEN=4096"]


def stacks(text):
    """Lines of addresses, as numbers."""
    return [[int(word, 16) for word in line.split()] for line in text.splitlines() if line.startswith("0x")]


def both(djtap, point):
    """What leaf() printed of its callers, and what djtap printed with a mark in front."""
    result = djtap(*LIMITS, "-e", f'probe {point} {{ printf("at %s\\n", ubacktrace()) }}', "-c", victim("stack"))
    assert result.returncode == 0 and "warning[" not in result.stderr, result
    ours = [[int(w, 16) for w in line[3:].split()] for line in result.stdout.splitlines() if line.startswith("at ")]
    return stacks(result.stdout), ours


@pytest.mark.parametrize("point", ["entry", "middle", "return"])
def test_callers_are_those_that_backtrace_finds(djtap, point):
    points = {"entry": 'func("leaf")', "middle": f'func("leaf@stack.c:{line_of("stack.c", "middle")}")',
              "return": 'func("leaf").return'}
    truth, ours = both(djtap, points[point])
    assert len(truth) == 6 and any(len(frames) > 20 for frames in truth)
    assert [frames[1:] for frames in ours] == truth


TAGS = {"main", "signal", "signal-stack", "destructor", "landed", "coroutine", "coroutine-again", "thread", "qsort", "atexit"}
FORMS = [[], ["--guards=all"], ["--no-optimize"]]


def told(text, first):
    """Lines of a tag and addresses: the tag, and where the addresses lie in their pages, from the first one wanted on."""
    lines = [line.split() for line in text.splitlines()]
    return [(words[0], [int(word, 16) & 0xfff for word in words[1 + first:]]) for words in lines if words and words[0] in TAGS]


@pytest.mark.parametrize("point", ["", ".return"])
@pytest.mark.parametrize("form", FORMS)
def test_stacks_of_signals_exceptions_coroutines_and_threads(djtap_once, form, point):
    """In handlers on either stack, in destructors that an exception runs and where it lands, behind swapcontext()."""
    script = f'probe func("callers!here"){point} {{ printf("of %s %s\\n", user_string(@entry($tag)), ubacktrace()) }}'
    if not point:
        script = script.replace("@entry($tag)", "$tag")
    result = djtap_once(*form, *LIMITS, "-e", script, "-c", victim("callers"))
    ours = "\n".join(line[3:] for line in result.stdout.splitlines() if line.startswith("of "))
    truth = told(result.stdout, 0)
    assert result.returncode == 0 and {tag for tag, _ in truth} == TAGS, result
    assert told(ours, 1) == truth, result


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("script", ['probe func("*") { n++ }', 'probe func("callers!*").return, func("libgcc_s.so.1!*").return { n++ }',
                                    'probe func("*@callers.cpp:*") { n++ }'])
def test_probes_change_no_stack_that_the_program_sees(djtap_once, form, script):
    alone = subprocess.run([victim("callers")], capture_output=True, text=True, check=True).stdout
    result = djtap_once(*form, "-e", script, "-c", victim("callers"))
    assert result.returncode == 0 and result.globals["n"] > 20, result
    assert told(result.stdout, 0) == told(alone, 0), result


@pytest.mark.parametrize("mode", [[], ["--no-optimize"]])
def test_lines_name_function_offset_and_module(djtap, mode):
    result = djtap(*mode, "-e", 'probe func("leaf") { print_ubacktrace() exit() }', "-c", victim("stack"))
    lines = [line for line in result.stdout.splitlines() if line.startswith(" 0x")]
    names = [re.fullmatch(r" 0x[0-9a-f]+ : (\w+)\+0x[0-9a-f]+/0x[0-9a-f]+ \[(.+)\]", line).groups() for line in lines[:3]]
    assert [name for name, _ in names] == ["leaf", "plain", "main"], result
    assert names[0][1] == victim("stack") and ": _start+" in result.stdout


def test_the_first_function_has_no_caller(djtap):
    """On top of the stack lies argc, no return address."""
    result = djtap("-e", 'probe func("stack!_start") { println("at ", ubacktrace()) exit() }', "-c", victim("stack"))
    assert re.search(r"^at 0x\w+$", result.stdout, re.M), result


def test_code_without_frame_information_keeps_a_frame_pointer(djtap, tmp_path):
    """backtrace() does not pass assembler of that kind; we do."""
    output = tmp_path / "out"
    result = djtap("-o", output, "-e", 'probe func("leaf") { print_ubacktrace_brief() }', "--", victim("stack"), "bare")
    stack = [line.partition("+")[0] for line in output.read_text().splitlines()]
    assert stack[:4] == ["leaf", "plain", "bare", "main"] and "_start" in stack, result


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.parametrize("options", [["--jitless"], []])
def test_stacks_go_through_javascript(djtap, tmp_path, options):
    """Neither code that V8 makes nor its built-in functions have call frame information: a recursion of 20 more is 20 frames more."""
    program = tmp_path / "deep.js"
    program.write_text("const chmod = require('fs').chmodSync\n"
                       "function deep(n) { return n === 0 ? chmod(process.argv[1], 0o600) : deep(n - 1) || 0 }\n"
                       "for (let i = 0; i < 2; i++) deep(+process.argv[2])\n")
    script = 'probe func("libc.so.6!chmod") { print_ubacktrace_brief() println("END") }'
    found = []
    for depth in (5, 25):
        result = djtap("-D", "MAXBACKTRACE=200", "-D", "MAXSTRINGLEN=16000", "-e", script, "--", "node", *options, program, depth)
        stacks = [[line.partition("+")[0] for line in text.splitlines()] for text in result.stdout.split("END\n")[:-1]]
        assert len(stacks) == 2 and all(stack[-1] == "_start" and "node::Start" in stack for stack in stacks), result
        found.append({len(stack) for stack in stacks})
    assert len(found[0]) == 1 and found[1] == {found[0].pop() + 20}, found


def test_stacks_are_keys_and_are_named_when_the_target_is_gone(djtap):
    script = ('probe func("leaf") { calls[ubacktrace()]++ } '
              'probe end { foreach (stack in calls-) { println(calls[stack]) print_usyms(stack) } }')
    result = djtap(*LIMITS, "-e", script, "-c", victim("stack"))
    counts = [int(line) for line in result.stdout.splitlines() if line.isdigit()]
    assert sum(counts) == len(stacks(result.stdout)), result
    assert result.stdout.count(": qsort") >= 1 and "recurse+" in result.stdout


def test_a_loop_names_thousands_of_stacks(djtap):
    """What a statement has made in the handler's memory for texts is free again behind it; a variable's text takes what is left."""
    script = ('global stack probe func("leaf") { stack = ubacktrace() } '
              'probe end { whole = strlen(sprint_usyms(stack)) '
              'for (i = 0; i < 3000; i++) { same += strlen(sprint_usyms(stack)) == whole } '
              'for (i = 0; i < 3000; i++) { text = sprint_usyms(stack) some += strlen(text) > 40 } '
              'printf("whole: %d\\nsame: %d\\nsome: %d\\n", whole, same, some) }')
    result = djtap("-e", script, "-c", victim("stack"))
    assert result.facts["whole"] > 40 and result.facts["same"] == result.facts["some"] == 3000, result


def test_texts_that_a_later_call_reads_are_kept(djtap_once):
    script = ('probe begin { printf("%s\\n", tokenize(sprintf("first,%s,%d", "second", 3), ",")) println(sprintf("%d", 1234567890123456)) '
              'printf("%s\\n", tokenize("", ",")) '
              'found = sprintf("key=%s", "value") =~ "key=(.*)" println(sprintf("%d", 1234567890123456)) println(found, matched(1)) '
              'name = sprintf("%s", "kept") println(sprintf("%d", 1234567890123456)) println(name) exit() }')
    lines = djtap_once("-e", script).stdout.splitlines()
    assert [line for line in lines if not line.startswith("1234")] == ["first", "second", "1value", "kept"], lines


def test_parts_of_a_stack(djtap, tmp_path):
    script = ('probe func("leaf") { printf("%s|%x|%s|%s|%d\\n", ucallers(2), ustack(1), usymname(ustack(1)), umodname(ustack(1)), '
              'uaddr() == ustack(0)) println(usymdata(uaddr())) print_ubacktrace_brief() exit() }')
    output = tmp_path / "parts"  # what the program prints itself does not come between
    result = djtap("-o", output, "-e", script, "-c", victim("stack"))
    printed = output.read_text()
    callers, second, name, module, same = re.search(r"^(.*)\|(.*)\|(.*)\|(.*)\|(.*)$", printed, re.M).groups()
    assert callers.split()[1] == "0x" + second and len(callers.split()) == 3 and (name, module, same) == ("plain", "stack", "1"), result
    assert re.search(r"^leaf\+0x0/0x[0-9a-f]+ \[.*/stack\]\nleaf\+0x0\nplain\+0x[0-9a-f]+\nmain\+0x[0-9a-f]+\n", printed, re.M), printed


def test_a_walk_ends_where_maxbacktrace_says(djtap):
    result = djtap("-D", "MAXBACKTRACE=3", "-e", 'probe func("leaf") { println(ubacktrace()) exit() }', "-c", victim("stack"))
    ours = [line for line in result.stdout.splitlines() if line.startswith("0x")]
    assert 3 in [len(line.split()) for line in ours], result


def test_functions_walk_stacks_and_djtap_has_none(djtap):
    script = ('function who() { return usymname(ustack(1)) } '
              'probe func("leaf") { by[who()]++ } probe begin { println("[", ubacktrace(), "]") }')
    result = djtap("-e", script, "-c", victim("stack"))
    assert "[]" in result.stdout, result
    assert dict(result.array("by")) == {'"plain"': str(len(stacks(result.stdout)))}, result


def test_texts_of_stacks_are_what_is_printed(djtap):
    script = ('probe func("leaf") { print(sprint_ubacktrace()) print_ubacktrace() print(sprint_ubacktrace_brief()) '
              'print(sprint_usyms(ubacktrace())) print(sprint_ustack(ubacktrace())) print_ustack(ubacktrace()) println("") exit() }')
    text = djtap("-e", script, "-c", victim("stack")).stdout.split("\n\n")[0]
    lines = [line for line in text.splitlines() if line.startswith(" 0x")]
    assert lines == lines[:len(lines) // 5] * 5 and len(lines) >= 20, text


GDB = """
import gdb
frame = gdb.newest_frame()
places = []
while frame is not None and frame.is_valid():
    if frame.type() != gdb.INLINE_FRAME:
        places.append("%x" % (frame.pc() & 0xfff))
    frame = frame.older()
print("FRAMES", *places)
"""


@pytest.mark.parametrize("function, command", [
    ("PyImport_ImportModuleLevelObject", [PYTHON, "-S", "-E", "-c", "import json"]),
    ("sqlite3_step", ["sqlite3", ":memory:", "select 1"]),
    ("opendir", ["/usr/bin/ls", "/usr"]),
])
def test_real_programs_have_the_frames_that_gdb_shows(djtap, tmp_path, function, command):
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    (tmp_path / "frames.py").write_text(GDB)
    gdb = subprocess.run(["gdb", "-nx", "-batch", "-ex", "set breakpoint pending on", "-ex", f"break *{function}", "-ex", "run", "-ex",
                          f"source {tmp_path}/frames.py", "--args", *command], capture_output=True, text=True, timeout=300, check=False)
    found = re.search(r"^FRAMES (.*)$", gdb.stdout, re.M)
    assert found, gdb
    truth = [int(word, 16) for word in found.group(1).split()]
    result = djtap(*LIMITS, "-e", f'global n probe func("{function}") {{ if (n++ == 0) println(ubacktrace()) }}', "--", *command)
    ours = [int(word, 16) & 0xfff for word in re.search(r"^0x.*$", result.stdout, re.M).group(0).split()]
    # The entry probe stands behind endbr64; main is where gdb stops.
    assert len(truth) >= 2 and ours[1:len(truth)] == truth[1:], (gdb.stdout, result)


# At the first call of each of these functions: where the frames are, inside their pages.
GDB_MANY = """
import gdb
class First(gdb.Breakpoint):
    def __init__(self, name):
        super().__init__("*" + name)
        self.name = name
    def stop(self):
        frame, places = gdb.newest_frame(), []
        while frame is not None and frame.is_valid():
            if frame.type() != gdb.INLINE_FRAME:
                places.append("%x" % (frame.pc() & 0xfff))
            frame = frame.older()
        print("FRAMES", self.name, *places)
        self.enabled = False
        return False
for name in NAMES:
    First(name)
gdb.execute("run")
"""


def test_a_hundred_functions_have_the_frames_that_gdb_shows(djtap, tmp_path, monkeypatch):
    """At random: exported functions of Python, each where it is called first."""
    monkeypatch.setenv("PYTHONHASHSEED", "0")  # both runs go the same way
    program = [PYTHON, "-s", "-S", "-c", "import json; json.loads('[1, {}]')"]
    table = subprocess.run(["readelf", "-W", "--dyn-syms", PYTHON], capture_output=True, text=True, check=True).stdout
    names = sorted(set(re.findall(r" FUNC +GLOBAL +DEFAULT +\d+ (\w+)$", table, re.M)))
    seed = random.randrange(10**6)
    names = random.Random(seed).sample(names, min(len(names), 400))
    probe = 'probe func("NAME") { if (!seen["NAME"]++) println("FRAMES NAME ", ubacktrace()) }\n'
    script = "global seen\n" + "".join(probe.replace("NAME", name) for name in names)
    (tmp_path / "all.djt").write_text(script)
    result = djtap("-D", "MAXBACKTRACE=200", "-D", "MAXSTRINGLEN=8192", tmp_path / "all.djt", "--", *program)
    ours = {name: [int(word, 16) & 0xfff for word in words.split()] for name, words in re.findall(r"^FRAMES (\w+) (.*)$", result.stdout, re.M)}
    called = sorted(ours)[:100]
    (tmp_path / "many.py").write_text(GDB_MANY.replace("NAMES", repr(called)))
    gdb = subprocess.run(["gdb", "-nx", "-batch", "-ex", f"source {tmp_path}/many.py", "--args", *program], capture_output=True, text=True,
                         timeout=300, check=False)
    truth = {name: [int(word, 16) for word in words.split()] for name, words in re.findall(r"^FRAMES (\w+) (.*)$", gdb.stdout, re.M)}
    assert len(called) > 50 and set(truth) == set(called), (seed, result, gdb)
    for name in called:  # the entry probe stands behind endbr64; main is where gdb stops
        assert ours[name][1:len(truth[name])] == truth[name][1:], (seed, name)
