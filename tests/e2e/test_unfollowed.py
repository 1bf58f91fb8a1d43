# SPDX-License-Identifier: Apache-2.0
"""With --no-follow, processes that no probe reaches are told: those that the target had started before, and those that execute another program."""
import os
import re
import signal

from support.paths import victim

WORK = 'probe func("work") { n++ }'
LEFT = re.compile(r"^warning\[DJ5912\]: (\d+) process(?:es)? that the target had started left the session by execve\(\): (.*)$", re.M)
EARLIER = re.compile(r"^warning\[DJ4907\]: 2 processes that the target had started before are not probed: (.*); attach to one with -p$", re.M)


def counted(names):
    """{"true": 3, "sh": 1} of "sh, true (3)"."""
    found = re.findall(r"([^,\s]+)(?: \((\d+)\))?(?:, |$)", names)
    return {name: int(count or 1) for name, count in found}


def test_programs_that_children_execute(djtap):
    """By fork, vfork, posix_spawn and system(); calls that fail are none."""
    result = djtap("--no-follow", "-e", WORK, "--", victim("starter"))
    told = LEFT.findall(result.stderr)
    assert len(told) == 1 and int(told[0][0]) == result.facts["executed"], result
    assert counted(told[0][1]) == {"true": 3, "sh": 1}, result


def test_a_script_counts_once(djtap_once, tmp_path):
    """The kernel refuses a file without #!, and execvp() hands it to the shell."""
    script = tmp_path / "script.without-a-first-line"
    script.write_text("exit 0\n")
    script.chmod(0o755)
    result = djtap_once("--no-follow", "-e", WORK, "--", victim("starter"), script)
    (told,) = LEFT.findall(result.stderr)
    assert int(told[0]) == result.facts["executed"] and "script.without-" in told[1], result


def test_the_probes_of_execve_itself(djtap):
    """The hook that counts and the script's own probes stand at the same place."""
    result = djtap("--no-follow", "-e", 'probe syscall.execve { n++ } probe func("libc.so.6!execve") { m++ }', "--", victim("starter"))
    assert result.globals["n"] >= result.facts["executed"] and len(LEFT.findall(result.stderr)) <= 1, result


def test_a_program_that_starts_none(djtap_once):
    result = djtap_once("-e", WORK, "-c", victim("forker"))
    assert result.stderr == "", result


def test_children_from_before(djtap_once, program):
    target = program(victim("starter"), "children")
    target.wait_for("ready")
    result = djtap_once("--no-follow", "-p", target.pid, "-T", "0.2", "-e", WORK)
    with open(f"/proc/{target.pid}/task/{target.pid}/children", encoding="utf8") as file:
        children = sorted(map(int, file.read().split()))
    (told,) = EARLIER.findall(result.stderr)
    assert told == ", ".join(f"{pid} (starter)" for pid in children), result
    for pid in children:
        os.kill(pid, signal.SIGTERM)


def test_no_children_from_before(djtap_once, program):
    target = program(victim("asleep"))
    result = djtap_once("-p", target.pid, "-T", "0.1", "-e", 'probe func("main") { n++ }')
    assert "DJ4907" not in result.stderr, result


def test_it_is_told_while_the_session_runs(background):
    """Once; with the number at the end."""
    loop = "i=0; while [ $i -lt 400 ]; do /bin/true; sleep 0.01; i=$((i + 1)); done"
    tracer = background("--no-follow", "-e", 'probe func("libc.so.6!malloc") { n++ } probe timer.s(600) { exit() }', "--", "sh", "-c", loop)
    tracer.wait_for(r"^warning\[DJ5912\]: processes that the target had started left the session by execve\(\): .*; \d+ so far, all are counted at the end$")
    result = tracer.finish()
    assert result.stderr.count("so far") == 1 and len(LEFT.findall(result.stderr)) == 1, result
