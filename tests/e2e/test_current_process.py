# SPDX-License-Identifier: Apache-2.0
"""Who the current process is in process.begin and process.end, which djtap itself runs: the target, by what it says itself."""
import os

WHO = """println(pid(), " ", tid(), " ", ppid(), " ", pgrp(), " ", sid(), " ", uid(), " ", euid(), " ", gid(), " ", egid())
         println(execname(), "|", pexecname(), "|", cmdline_str(), "|", cmdline_arg(3), "|", env_var("DJTAP_TOLD"))"""
SELF = ("import os; p = os.getpid(); print('self', p, p, os.getppid(), os.getpgrp(), os.getsid(0), "
        "os.getuid(), os.geteuid(), os.getgid(), os.getegid(), flush=True)")


def parts(output):
    """What follows the line "begin" of process.begin, "end" of process.end and what the program says of itself."""
    lines = output.splitlines()
    behind = {mark: lines[lines.index(mark) + 1:][:2] for mark in ("begin", "end")}
    return *behind.values(), next(line for line in lines if line.startswith("self ")).removeprefix("self ")


def test_of_a_started_program(djtap):
    script = f'probe process.begin {{ println("begin") {WHO} }} probe process.end {{ println("end") {WHO} }}'
    result = djtap("-e", script, "--", "/usr/bin/python3", "-c", SELF, "a b", env=dict(os.environ, DJTAP_TOLD="it is told"))
    begin, end, ids = parts(result.stdout)
    assert begin == end == [ids, f"python3|djtap|/usr/bin/python3 -c {SELF} a b|a b|it is told"], result


def test_of_a_program_that_runs_already(background, program):
    """Its parent may have waited for it before djtap asks again."""
    target = program("/usr/bin/python3", "-c", SELF + "; input()", "x", env=dict(os.environ, DJTAP_TOLD="there"))
    target.wait_for("self")
    script = f'probe begin {{ println("of djtap ", pid() == target()) }} probe process.begin {{ println("begin") {WHO} }}'
    script += ' global armed probe timer.ms(10) { if (++armed == 1) println("armed") }'
    tracer = background("-e", script + f' probe process.end {{ println("end") {WHO} }}', "-p", target.pid)
    tracer.wait_for("armed")
    target.tell("")
    target.finish()
    tracer.finish()
    begin, end, ids = parts(tracer.stdout + target.stdout)
    assert tracer.stdout.startswith("of djtap 0\n") and begin == end and begin[0] == ids, tracer.stdout
    assert begin[1].startswith("python3|") and begin[1].endswith("|x|there"), tracer.stdout


def test_its_last_name(djtap):
    """What it called itself last, where that can still be had."""
    script = 'probe process.begin { println(execname()) } probe process.end { println(execname()) }'
    rename = "open('/proc/self/comm', 'w').write('renamed')"
    assert djtap("-e", script, "--", "/usr/bin/python3", "-c", rename).stdout.split() == ["python3", "renamed"]
