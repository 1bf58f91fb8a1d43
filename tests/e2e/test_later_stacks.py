# SPDX-License-Identifier: Apache-2.0
"""Stacks through objects that the target opens while it is traced: their frames, their names, and what they leave behind."""
import re
import subprocess

import pytest

from support import paths
from support.paths import PYTHON, line_of, victim

LIMITS = ["-D", "MAXBACKTRACE=100", "-D", "MAXSTRINGLEN=4096"]
WALK = 'probe func("libc.so.6!backtrace") { printf("at %s\\n", ubacktrace()) }'
ORDERS = "open\ncall 12\nclose\nquit\n"


@pytest.fixture(scope="module")
def chains(tmp_path_factory):
    """Two libraries that differ in their functions' names alone, so that one may lie where the other one lay."""
    folder = tmp_path_factory.mktemp("chains")
    made = [folder / "libchain.so", folder / "libother.so"]
    for library, option in zip(made, ["-DTHIS", "-DOTHER"]):
        subprocess.run(["gcc", "-g", "-O2", "-fomit-frame-pointer", "-fPIC", "-shared", option, "-o", library, paths.TARGETS / "late_chain.c"],
                       check=True)
    return made


def frames(text, mark):
    return [[int(word, 16) for word in line.split()[1:]] for line in text.splitlines() if line.startswith(mark + " ")]


def check_frames(text, least):
    """What backtrace() found is what djtap found at its entry, below backtrace() itself."""
    truth, ours = frames(text, "truth"), frames(text, "at")
    assert len(truth) >= least and [stack[1:] for stack in ours] == truth, text
    assert max(map(len, truth)) - min(map(len, truth)) == 4 and min(map(len, truth)) > 5, text


def test_frames_are_those_that_backtrace_finds(djtap, chains):
    result = djtap(*LIMITS, "-e", WALK, "--", victim("plugin"), chains[0], stdin=ORDERS)
    assert result.returncode == 0 and "WARNING" not in result.stderr, result
    check_frames(result.stdout, 12)


def test_of_a_running_process(attach, program, chains):
    target = program(victim("plugin"), *chains)
    target.wait_for("pid: ")
    tracer = attach(target.pid, WALK, *LIMITS)
    for which in (1, 2):
        target.tell(f"open {which}")
        target.tell("call 12")
        target.tell("close")
    target.tell("quit")
    result, truth = tracer.finish(), target.finish()
    check_frames(truth.stdout + result.stdout, 24)


def test_names_lines_and_inlined_calls(djtap_once, chains):
    script = """probe func("libc.so.6!backtrace") {
  if (n++ > 0) next
  print_ubacktrace_fileline()
  printf("%s %s %s\\n", usymname(ustack(1)), umodname(ustack(1)), usymdata(ustack(2)))
  printf("%s %d\\n", usymfileline(ustack(1) - 1), ustack(1) - umodaddr(ustack(1)) > 0) }"""
    result = djtap_once(*LIMITS, "-e", script, "--", victim("plugin"), chains[0], stdin=ORDERS)
    lines = [line.split(" : ", 1)[1] for line in result.stdout.splitlines() if " : " in line and line.startswith(" 0x")]
    told, inner = line_of("late_chain.c", "told"), line_of("late_chain.c", "inner")
    assert re.fullmatch(rf"tell at \S*late_chain.c:{told} \(inlined\) \[{chains[0]}\]", lines[1]), result
    assert re.fullmatch(rf"inner\+0x\w+/0x\w+ at \S*late_chain.c:{inner} \[{chains[0]}\]", lines[2]), result
    assert [line.split("+")[0] for line in lines[2:7]] == ["inner", "middle", "outer", "lib_work", "main"], result
    assert re.search(rf"^inner libchain.so middle\+0x\w+/0x\w+ \[{chains[0]}\]$", result.stdout, re.M), result
    assert re.search(rf"^\S*late_chain.c:{told} 1$", result.stdout, re.M), result


KEPT = """probe func("libc.so.6!backtrace") { calls[ubacktrace()]++ }
probe end { foreach (stack in calls) { println("STACK ", calls[stack]) print_usyms(stack) } }"""


def kept(text):
    """[(how often, [names without those of the program and its start])]"""
    found = re.findall(r"^STACK (\d+)\n((?: 0x.*\n)*)", text, re.M)
    return [(int(count), re.findall(r"^ 0x\w+ : (\w+)", lines, re.M)) for count, lines in found]


@pytest.mark.parametrize("orders", [ORDERS, "open\ncall 12\nquit\n"])
def test_stacks_are_named_when_library_and_target_are_gone(djtap_once, chains, orders):
    result = djtap_once(*LIMITS, "-e", KEPT, "--", victim("plugin"), chains[0], stdin=orders)
    stacks = kept(result.stdout)
    assert sum(count for count, _ in stacks) == 12, result
    for _, names in stacks:
        assert [n for n in names if n != "outer"][:6] == ["backtrace", "tell", "inner", "middle", "lib_work", "main"], result


def test_of_two_libraries_at_one_address_none_has_the_other_s_names(djtap, chains, tmp_path):
    """A hit names what is there now; an address that was kept may mean either, so it has no name."""
    script = f'probe func("libc.so.6!backtrace") {{ println("HIT") print_ubacktrace_brief() println("") }} {KEPT}'
    orders = "open 1\ncall 1\nclose\nopen 2\ncall 1\nclose\nopen 1\ncall 1\nquit\n"
    printed = tmp_path / "printed"  # alone: the program writes meanwhile
    result = djtap(*LIMITS, "-o", printed, "-e", script, "--", victim("plugin"), *chains, stdin=orders)
    truth = frames(result.stdout, "truth")
    assert len(truth) == 3 and truth[0][0] == truth[1][0] == truth[2][0], ("the libraries are not at one address", result)
    hits = [[line.partition("+")[0] for line in text.split()[1:5]] for text in re.findall(r"^HIT\n((?:\S+\n)*)", printed.read_text(), re.M)]
    first, second = ["inner", "middle", "outer", "lib_work"], ["other_inner", "other_middle", "other_outer", "lib_work"]
    assert hits == [first, second, first], result
    ((count, names),) = kept(printed.read_text())
    assert count == 3 and names[0] == "backtrace" and "main" in names, result
    assert not set(names) & {*first, *second}, result


def test_opened_again_and_again_it_keeps_its_names(djtap_once, chains):
    """The same file at the same place is no other object, and takes no more memory."""
    orders = "open\ncall 1\nclose\n" * 300 + "quit\n"
    result = djtap_once("-v", *LIMITS, "-e", KEPT, "--", victim("plugin"), chains[0], stdin=orders)
    ((count, names),) = kept(result.stdout)
    assert count == 300 and names[1:6] == ["tell", "inner", "middle", "outer", "lib_work"], result


GDB = """
import gdb
gdb.execute("run")
frame, places = gdb.newest_frame(), []
while frame is not None and frame.is_valid():
    if frame.type() != gdb.INLINE_FRAME:
        places.append("%x" % (frame.pc() & 0xfff))
    frame = frame.older()
print("FRAMES", *places)
"""


@pytest.mark.parametrize("library, function, program", [
    ("mmap.", "msync", "import mmap; mmap.mmap(-1, 4096).flush()"),
    ("termios.", "tcdrain", "import os, termios; termios.tcdrain(os.openpty()[1])"),
    ("_json.", "PyFloat_FromString", "import _json\nclass How: strict, parse_float, parse_int = True, float, int; "
     "object_hook = object_pairs_hook = parse_constant = None\n_json.make_scanner(How())('[[1.5]]', 0)"),
])
def test_extension_modules_have_the_frames_that_gdb_shows(djtap, tmp_path, library, function, program):
    command = [PYTHON, "-S", "-E", "-c", program]
    (tmp_path / "frames.py").write_text(GDB)
    gdb = subprocess.run(["gdb", "-nx", "-batch", "-ex", "set breakpoint pending on", "-ex", f"tbreak {function}", "-ex",
                          f"source {tmp_path}/frames.py", "--args", *command], capture_output=True, text=True, timeout=300, check=False)
    found = re.search(r"^FRAMES (.*)$", gdb.stdout, re.M)
    assert found, gdb
    truth = [int(word, 16) for word in found.group(1).split()]
    script = f'global n probe func("{function}") {{ if (n++ == 0) {{ println(ubacktrace()) println(umodname(ustack(1))) }} }}'
    result = djtap(*LIMITS, "-e", script, "--", *command)
    addresses, module = re.search(r"^(0x.*)\n(.*)$", result.stdout, re.M).groups()
    assert module.startswith(library), result
    ours = [int(word, 16) & 0xfff for word in addresses.split()]
    assert len(truth) > 9 and ours[1:len(truth)] == truth[1:], (gdb.stdout, result)
