# SPDX-License-Identifier: Apache-2.0
"""What djtap is doing is shown on a terminal when it takes long, and nowhere else."""
import os
import pty
import re
import shutil
import subprocess

from support import run


def errors_on_terminal(words):
    """What a program wrote on stderr, a terminal. It has one processor, lest a large machine be too quick."""
    ours, its = pty.openpty()
    one = {min(os.sched_getaffinity(0))}
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=its,
                          preexec_fn=lambda: os.sched_setaffinity(0, one)) as program:
        os.close(its)
        text = b""
        try:
            while piece := os.read(ours, 4096):
                text += piece
        except OSError:  # the terminal's other end is closed
            pass
        program.wait(300)
    os.close(ours)
    return text.decode(errors="replace")


# The compiler that djtap is built with is a large program: all functions of its libraries take a while.
LONG = run.command(["--no-cache", "-e", 'probe func("*") { n++ }', "-c", f"{shutil.which('clang-19')} --version"])


def test_long_work_is_shown_and_taken_away():
    text = errors_on_terminal(LONG)
    seconds = [float(s) for s in re.findall(r"\r\x1b\[Kdjtap: analysing machine code \.\.\. ([\d.]+) s", text)]
    assert seconds and seconds == sorted(seconds) and seconds[0] >= 0.5, text
    assert not text.rsplit("\r\x1b[K", 1)[1].startswith("djtap: analysing"), text


def test_nothing_is_shown_elsewhere():
    assert "\x1b" not in subprocess.run(LONG, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300).stderr


def test_a_command_that_outlives_the_session_is_told(tmp_path):
    """The command waits until the line has come; where it ends in time, or nobody looks, none comes."""
    told = "djtap: the session is over, the command goes on; Ctrl-C ends it"
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    ours, its = pty.openpty()
    words = run.command(["-e", "probe begin { exit() }", "-c", f"sh -c 'read x < {gate}; exit 7'"])
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=its) as program:
        os.close(its)
        text = b""
        while told not in text.decode(errors="replace"):
            text += os.read(ours, 4096)
        gate.write_text("go\n")
        assert program.wait(300) == 7, text
    os.close(ours)
    assert told not in errors_on_terminal(run.command(["-e", "probe begin { exit() }", "-c", "/bin/true"]))
    assert subprocess.run(run.command(["-e", "probe begin { exit() }", "-c", "sleep 0.8"]), capture_output=True, check=True).stderr == b""
