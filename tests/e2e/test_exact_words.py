# SPDX-License-Identifier: Apache-2.0
"""What djtap says, word for word, where nothing is asked of a program: prompts, Lua files, points without a program; and of sessions' leavings."""
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from support import run
from support.paths import victim

EXIT = "probe begin { exit() }"


def errors(*words, **options):
    """The lines of a run's errors and warnings, without their places."""
    return re.findall(r"^(?:error|warning)\[DJ\d{4}\]: .*", run.run(words, **options).stderr, re.M)


def test_the_prompts_commands():
    assert run.run(["-i"], stdin="help\n").stdout == """clear        begin anew
exit         leave
help         these lines
list         the script, in tidy form
load         FILE: add what stands there
quit         leave, too
run          run the script; Ctrl-C ends it
save         FILE: write the script there
else         an item of the script: probe begin { println(1) }
"""


def test_a_program_is_missing():
    script = f'probe process("{victim("count")}").function("work") {{ n++ }}'
    assert errors("--dry-run", "-e", script) == ["error[DJ3006]: the script probes a program, but there is none: give -c 'command' or -p PID"]


LUA = {
    "another family": ('dj.alias("other.x", "begin")', 'fam.lua gives probes fam.NAME, not "other.x"'),
    "behind a pointer": ('error(select(2, dj.offset("args", "struct node", "next.value")), 0)',
                         "struct node.next.value is not inside it: a pointer leads there"),
    "no member": ('error(select(2, dj.offset("args", "struct node", "valeu")), 0)', 'struct node has no member "valeu"'),
    "no such global": ('dj.rows("n")', "attempt to call a nil value (field 'rows')"),
}


@pytest.mark.parametrize("name", LUA)
def test_a_tapset_in_lua(tmp_path, name):
    text, message = LUA[name]
    (tmp_path / "fam.lua").write_text(text)
    assert errors("-I", tmp_path, "-e", "probe fam.x { exit() }", "-c", victim("args"))[0] == f"error[DJ5102]: {message}"


def test_printers_within_each_other(tmp_path):
    nested = "local p = {t.kind}\nfor i = 1, 40 do p = {dj.when(dj.equal(t.kind, 0), p)} end\nreturn p"
    (tmp_path / "mine.lua").write_text(f'dj.printer("Tagged", function(t) {nested} end)')
    told = errors("-I", tmp_path, "-e", 'probe func("show") { println($tagged$) }', "-c", victim("containers"))
    assert told == ["error[DJ5102]: dj.when within each other more than 8 times"], told


HIDDEN = "import ctypes, sys; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); print('ready', flush=True); sys.stdin.read()"


def test_a_process_that_lets_nobody_look(program, public_build, as_nobody):
    """PR_SET_DUMPABLE 0: also for its own user; root is told nothing."""
    hidden = program(*as_nobody, sys.executable, "-c", HIDDEN)
    hidden.wait_for("ready")
    told = run.run(["-e", 'probe func("read") { n++ }', "-p", hidden.pid], prefix=as_nobody, binary=public_build / "djtap")
    assert (told.returncode, told.stderr) == (4, f"error[DJ4002]: process {hidden.pid} ({os.path.basename(sys.executable)}) may not be traced: "
                                              "it is setuid, or has made itself not dumpable (PR_SET_DUMPABLE)\n"), told


def test_no_room_for_strings(djtap):
    """Texts that came and texts that were dropped are all."""
    result = djtap("-D", "STRINGBYTES=4096", "-e", 'probe func("work") { seen[sprint($id * 100000 + $n)] = 1 }', "-c", victim("count"))
    assert re.fullmatch(r"warning\[DJ5905\]: \d+ strings dropped: string memory is full \(raise -D STRINGBYTES\)", result.stderr.splitlines()[-1]), result


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_pointer_that_was_optimized_out(tmp_path):
    """Its object is in registers alone: what it points to is known, the pointer is not."""
    (tmp_path / "p.c").write_text("""#include <stdlib.h>
static inline int sum(const int* at, int n) { int all = *at * n; for (int i = rand() & 1; i < n; i++) all += rand(); return all; }
int main(int argc, char** argv) { (void)argv; int one = argc * 3; return sum(&one, argc) == 7; }
""")
    subprocess.run(["gcc", "-O2", "-g", "-o", "p", "p.c"], cwd=tmp_path, check=True)
    told = run.run(["-e", 'probe process.function("sum").inline { println($at[0]); println($at) }', "-c", tmp_path / "p"])
    assert re.search(r"^error\[DJ3013\]: \$at cannot be read here: the pointer was optimized out$", told.stderr, re.M), told
    assert "help: what it points to may be known: $at[0] or its members\n" in told.stderr, told


def test_what_a_killed_djtap_has_left(attach, djtap_once, program):
    """The next one says whose it was, and how much."""
    target = program(victim("commander"))
    target.wait_for("pid: ")
    tracer = attach(target.pid, 'probe func("work") { n++ }')
    tracer.signal(signal.SIGKILL)
    tracer.process.wait()
    told = djtap_once("-e", 'probe func("work") { n++ } probe timer.ms(1) { exit() }', "-p", target.pid)
    pattern = rf"warning\[DJ4905\]: process {target.pid} was left probed by djtap {tracer.pid}, which has ended: \d+ places? restored"
    assert re.search(rf"^{pattern}$", told.stderr, re.M), told
    target.tell("quit")
    assert target.finish().returncode == 0
