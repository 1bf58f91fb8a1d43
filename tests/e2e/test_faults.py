# SPDX-License-Identifier: Apache-2.0
"""Faults of probed functions: the program's handler sees the address of the instruction where it stands in the program."""
import re
import shutil
import signal
import subprocess

import pytest

from support import paths
from support.paths import victim

FUNCTIONS = ["fetch", "fetch_second", "divide", "repaired", "skipped", "trap_here"]
ROUNDS = 200
FAULTS = ROUNDS * 3  # of six functions each faults every second time
CALLS = ROUNDS * 5 + ROUNDS // 2


def script(handler, suffix=""):
    return " ".join(f'probe func("{name}"){suffix} {{ {handler} }}' for name in FUNCTIONS)


@pytest.mark.parametrize("options", [[], ["--guards=all"], ["--guards=none"]], ids=["", "all", "none"])
@pytest.mark.parametrize("handler", ["n++", "n++; m[tid()] += 2"], ids=["count", "called"])
def test_faults_are_looked_up(djtap, options, handler):
    result = djtap("-e", script(handler), *options, "-c", f"{victim('looked_up')} {ROUNDS}")
    assert result.returncode == 0 and result.facts == {"faults": FAULTS, "wrong": 0}, result
    assert result.globals["n"] == CALLS, result


def test_an_instruction_that_is_made_again_is_one_hit(djtap):
    """The handler has opened the page; the push before it is not made again."""
    result = djtap("-e", 'probe func("repaired") { n++ }', "-c", f"{victim('looked_up')} {ROUNDS}")
    assert result.returncode == 0 and result.globals == {"n": ROUNDS} and result.facts["wrong"] == 0, result


def test_returns(djtap):
    result = djtap("-e", script("n++", ".return"), "-c", f"{victim('looked_up')} {ROUNDS}")
    assert result.returncode == 0 and result.facts == {"faults": FAULTS, "wrong": 0}, result


def test_every_function(djtap):
    result = djtap("--stress", "-c", f"{victim('looked_up')} {ROUNDS}")
    assert result.returncode == 0 and result.facts == {"faults": FAULTS, "wrong": 0}, result


def test_in_a_jump_that_has_got_another_form(djtap_once):
    """A loop's head inside the jump is hot: the jump gets a form without guards while the program runs."""
    result = djtap_once("-v", "-e", 'probe func("looping") { n++ }', "-c", f"{victim('looked_up')} 20000 loop")
    assert result.returncode == 0 and result.facts == {"faults": 20000, "wrong": 0} and result.globals == {"n": 20000}, result
    assert "[OPTIMIZED: punned]" in result.stderr, result


def test_the_handler_walks_the_whole_stack(djtap):
    walk = 'probe func("on_fault") { s[ubacktrace()]++ } probe end { foreach (k in s) println(s[k], " of ", sprint_usyms(k)) }'
    result = djtap("-e", f"{script('n++')} {walk}", "-c", f"{victim('looked_up')} {ROUNDS}")
    stacks = re.findall(r"^(\d+) of ((?: 0x.*\n)+)", result.stdout, re.M)
    assert sum(int(count) for count, _ in stacks) == FAULTS, result
    for _, text in stacks:
        names = re.findall(r" : (\w+)\+0x", text)
        assert names[0] == "on_fault" and "main" in names, result


def sanitizers_report(djtap, folder, compiler, flags, words):
    built = folder / "sanitized"
    build = [compiler, "-fsanitize=address", *flags, "-O1", "-g", "-o", built, paths.ROOT / "tests" / "targets" / "sanitized.c"]
    if shutil.which(compiler) is None or subprocess.run(build, check=False).returncode != 0:
        pytest.skip(f"there is no {compiler} with AddressSanitizer that works")
    result = djtap(*words, "-o", folder / "output", "-c", built)
    assert result.facts == {"peeked": 5} and result.returncode == 1, result
    frames = re.findall(r"^ *#\d+ 0x[0-9a-f]+ in (\w+)", result.stderr, re.M)
    assert "SEGV on unknown address" in result.stderr and frames[:2] == ["peek", "outer"], result


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("flags", [["-pie", "-fPIE"], ["-no-pie", "-fno-pie"]], ids=["pie", "fixed"])
def test_a_sanitizers_report(djtap, tmp_path, compiler, flags):
    """AddressSanitizer looks up where the fault was, and wants its shadow memory for itself. Of clang it is linked in."""
    sanitizers_report(djtap, tmp_path, compiler, flags, ["-e", 'probe func("peek"), func("outer") { n++ }'])


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_a_sanitizers_report_with_all_functions_probed(djtap_once, tmp_path, compiler):
    """By jumps alone: it looks names up for minutes where each function that does so has an int3."""
    sanitizers_report(djtap_once, tmp_path, compiler, ["-pie", "-fPIE"], ["--stress"])


def test_another_c_library(djtap, tmp_path):
    """It registers no rseq area, so djtap hooks nothing for that; static, so nobody but the program knows where code is."""
    built = tmp_path / "looked_up"
    words = ["musl-gcc", "-static", "-O2", "-g", "-o", built, paths.ROOT / "tests" / "targets" / "looked_up.c"]
    if shutil.which("musl-gcc") is None or subprocess.run(words, check=False).returncode != 0:
        pytest.skip("there is no musl-gcc that works")
    result = djtap("-e", script("n++"), "-c", f"{built} {ROUNDS}")
    assert result.returncode == 0 and result.facts == {"faults": FAULTS, "wrong": 0} and result.globals["n"] == CALLS, result


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_handlers_that_were_there_before(attach, djtap_once, program, end):
    """They are the program's again when the session has ended, or been cleaned up; also in a forked child."""
    target = program(victim("looked_up"), str(ROUNDS), "wait")
    target.wait_for(f"^faults: {FAULTS}$")
    tracer = attach(target.pid, script("n++"))
    for times, order in ((2, ""), (3, "fork")):
        target.tell(order)
        target.wait_for(f"^own: 1\nfaults: {FAULTS * times}$")
    tracer.signal(end)
    result = tracer.finish()
    if end == signal.SIGKILL:
        assert djtap_once("clean", target.pid).returncode == 0
    else:
        assert result.returncode == 0, result
    target.tell("join")
    target.wait_for(f"^child: 0\nown: 1\nfaults: {FAULTS * 4}$")
    target.tell("quit")
    assert target.finish().returncode == 0


OWN_TRAPS = ["breaks", "breaks_first", "breaks_wide", "breaks_hardware"]


@pytest.mark.parametrize("options", [[], ["--guards=all"], ["--guards=none"]], ids=["", "all", "none"])
@pytest.mark.parametrize("suffix", ["", ".return"], ids=["entry", "return"])
def test_traps_of_the_programs_own(djtap, options, suffix):
    """int3 and its kin in moved code: the handler knows them by where they stand in the program."""
    result = djtap("-e", f'probe func("breaks*"){suffix} {{ n++ }}', *options, "-c", f"{victim('own_traps')} {ROUNDS}")
    assert result.returncode == 0 and result.facts["known"] == 4 * ROUNDS and result.facts["unknown"] == 0, result
    assert result.globals == {"n": 4 * ROUNDS}, result


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_trap_handler_that_was_there_before(attach, djtap_once, program, end):
    target = program(victim("own_traps"), str(ROUNDS))
    target.wait_for("^unknown: 0$")
    tracer = attach(target.pid, 'probe func("breaks*") { n++ }')
    target.tell("")
    target.wait_for(f"^known: {8 * ROUNDS}\nunknown: 0$")
    tracer.signal(end)
    result = tracer.finish()
    if end == signal.SIGKILL:
        assert djtap_once("clean", target.pid).returncode == 0
    else:
        assert result.returncode == 0 and result.globals == {"n": 4 * ROUNDS}, result
    target.tell("")
    target.wait_for(f"^known: {12 * ROUNDS}\nunknown: 0$")
    target.process.stdin.close()
    assert target.finish().facts["own"] == 1
