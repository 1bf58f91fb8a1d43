# SPDX-License-Identifier: Apache-2.0
"""-i: a script that grows at a prompt."""
import os
import pty
import re
import subprocess
import time

import pytest

from support import paths, run


def at_prompt(text, *options):
    """What djtap says to these lines."""
    return run.run(["-i", *[str(option) for option in options]], stdin=text)


def test_a_script_grows_and_runs():
    said = at_prompt('probe func("work") {\n  n++\n}\nprobe end { printf("%d calls\\n", n) }\nrun\nquit\n', "-c", f"{paths.victim('count')} 10")
    assert said.returncode == 0 and f"{said.facts['work calls']} calls" in said.stdout, said


def test_what_is_wrong_is_not_kept():
    said = at_prompt('probe begin { println("first") exit() }\nprobe begin { prnt(2) }\nprobe begin ) \nrun\n')
    assert said.stderr.count("error[") == 2 and "DJ2001" in said.stderr and "<prompt>:2:15" in said.stderr, said
    assert said.stdout == "first\n" and said.returncode == 0, said


def test_list_save_load_and_clear(tmp_path):
    path = tmp_path / "kept.djt"
    said = at_prompt(f'global  a=5\nprobe   begin {{println(a) exit() }}\nlist\nsave {path}\nclear\nlist\nload {path}\nrun\n')
    assert said.stdout == "global a = 5\nprobe begin { println(a) exit() }\n5\n", said
    assert run.run([path]).stdout == "5\n"
    said = at_prompt(f"load {tmp_path}/none\nsave {tmp_path}/none/none\nload\n")
    assert said.stderr.splitlines() == [f'error[DJ0007]: load: cannot read "{tmp_path}/none"', f'error[DJ0007]: save: cannot write "{tmp_path}/none/none"',
                                        'error[DJ0007]: load: cannot read ""'], said


def test_exit_codes_and_options_are_those_of_the_last_run():
    assert at_prompt("").returncode == 0
    assert at_prompt("probe begin { error(\"no\") }\nrun\n").returncode == 5
    said = at_prompt("probe begin { println($1 + 1) exit() }\nrun\n", "41")
    assert said.stdout == "42\n" and said.returncode == 0, said
    wrong = run.run(["-i", "-e", "probe begin { }"])
    assert wrong.returncode == 1 and "-i takes the script at its prompt: load FILE" in wrong.stderr, wrong


def test_each_command_has_its_help():
    said = at_prompt("help\n")
    assert [line.split()[0] for line in said.stdout.splitlines()] == ["clear", "exit", "help", "list", "load", "quit", "run", "save", "else"], said


@pytest.mark.parametrize("word", ["exit", "quit"])
def test_two_words_leave(word):
    said = at_prompt(f"{word}\nprobe begin )\n")
    assert (said.returncode, said.stdout, said.stderr) == (0, "", ""), said


def test_ctrl_c_ends_the_run_alone():
    """At a terminal, which prompts."""
    master, slave = pty.openpty()
    with subprocess.Popen(run.command(["-i"]), stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                          preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR))) as process:
        os.close(slave)
        seen = b""

        def wait_for(text):
            nonlocal seen
            deadline = time.monotonic() + 60
            while text not in seen:
                assert time.monotonic() < deadline, seen
                seen += os.read(master, 4096)
            seen = seen[seen.index(text) + len(text):]
        wait_for(b"djtap> ")
        os.write(master, b"probe timer.ms(20) {\n")
        wait_for(b"... ")
        os.write(master, b'println("tick") }\n')
        wait_for(b"djtap> ")
        os.write(master, b"run\n")
        wait_for(b"tick\r\ntick\r\n")
        os.write(master, b"\x03")
        wait_for(b"djtap> ")
        os.write(master, b"quit\n")
        assert process.wait(300) == 0
    os.close(master)


def test_names_are_those_of_the_target():
    """What the program has not is not kept; what it has is, and runs."""
    right = 'probe func("work") { sum += $n }'
    said = at_prompt(f'probe func("wrok") {{ n++ }}\nprobe func("work") {{ sum += $m }}\n{right}\nlist\n', "-c", f"{paths.victim('count')} 1")
    assert re.findall(r"^error\[(DJ\d+)\]|^help: (.*)", said.stderr, re.M)[::2] == [("DJ3004", ""), ("DJ3011", "")], said
    assert 'did you mean "work"?' in said.stderr and said.stdout == f"{right}\n", said
    said = at_prompt(f"{right}\nlist\n", "-c", "/no/such/program")
    assert said.stderr == "warning[DJ4001]: /no/such/program: No such file or directory: what it has is not checked\n", said
    assert said.stdout == f"{right}\n", said
