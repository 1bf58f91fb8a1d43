# SPDX-License-Identifier: Apache-2.0
"""No name, path or text of a program reaches a terminal as a command: it is shown by escapes, one line stays one line."""
import json
import os
import pty
import re
import signal
import socket
import subprocess

import pytest

from support import paths, run

# Colours, a line of its own, C1 as UTF-8, a bidi override, DEL and a byte that is no character.
COMMANDS = b"\x1b[31m.\nerror[DJ0666]: \xc2\x9b2J\xe2\x80\xae\x7f\xff"
SHOWN = "\\x1b[31m.\\x0aerror[DJ0666]: \\u009b2J\\u202e\\x7f\\xff"
SOURCE = """#line 1 "%(source)s"
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
struct %(type)s { long %(member)s; };
static volatile long sink;
__attribute__((noinline)) long %(function)s(struct %(type)s* %(parameter)s, const char* text) {
  sink += %(parameter)s->%(member)s + text[0];
  return sink;
}
__attribute__((noinline)) long 名前(long é) { return sink += é; }
int main(int argc, char** argv) {
  if (argc < 2) return 2;
  struct %(type)s it = {1};
  prctl(PR_SET_NAME, "\\x1b[2J\\nx");
  printf("pid: %%d\\n", getpid());
  fflush(stdout);
  for (;;) {
    %(function)s(&it, argv[1]);
    名前(3);
    usleep(2000);
  }
}
"""

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root has programs that nobody may not trace")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A program whose every name in ELF and DWARF, and whose path, holds COMMANDS: put there in place of names as long."""
    folder = tmp_path_factory.mktemp("hostile") / os.fsdecode(b"\x1b[2J\nerror[DJ0666]: \xff")
    folder.mkdir()
    folder.chmod(0o755)
    names = {what: what[0].upper() + "_" * len(COMMANDS) for what in ("source", "type", "member", "function", "parameter")}
    (folder / "plain.c").write_text(SOURCE % names)
    subprocess.run(["gcc", "-g", "-O1", "-o", "plain", "plain.c"], cwd=folder, check=True)
    text = (folder / "plain").read_bytes()
    for name in names.values():
        assert name.encode() in text
        text = text.replace(name.encode(), name[0].encode() + COMMANDS)
    program = folder / os.fsdecode(b"evil\x1b]0;owned\x07")
    program.write_bytes(text)
    program.chmod(0o755)
    return program


def check(*texts):
    """No text commands a terminal, or has a line that djtap has not written."""
    for text in texts:
        assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", text), text
        assert not re.search("[\x80-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", text.decode()), text
        assert not re.search(rb"^error\[DJ0666\]", text, re.M), text


def ran(*args, env=None, codes=(0,)):
    done = subprocess.run([paths.DJTAP, *args], capture_output=True, timeout=run.PATIENCE, check=False, env={**os.environ, **(env or {})})
    check(done.stdout, done.stderr)
    assert done.returncode in codes, done
    return (done.stdout + done.stderr).decode()


@pytest.fixture
def target(program, hostile):
    started = program(hostile, "seen")
    started.wait_for("pid: ")
    return str(started.pid)


def test_lists(target):
    for option in ("-l", "-L"):
        assert SHOWN in ran(option, 'func("F*error*")', "-p", target)
    listed = ran("-L", 'func("名*")', "-p", target)
    assert '名前@' in listed and "$é:long" in listed, listed
    assert SHOWN in ran("--source", "F*error*", "-p", target)


def test_what_a_session_reports(target):
    script = 'probe func("F*error*") { n++; at[ppfunc()]++; file[usymdata(uaddr())]++ } probe func("F*error*").return { r++ } probe timer.ms(300) { exit() }'
    for options in (["-n"], ["-v", "-t", "--probes"], ["--dump=tokens,ast,program,plan,ir,asm,probes"]):
        assert SHOWN in ran(*options, "-e", script, "-p", target)
    assert 'at["F\\033[31m.\\nerror' in ran("-e", script, "-p", target)  # as one writes it in a script
    assert "\\x1b[31m" in ran("-e", script, "-p", target, env={"DJTAP_LOG": "engine"})


def test_all_functions(target, hostile):
    assert "evil\\x1b]0;owned\\x07" in ran("--stress", "--probes", "-T", "1", "-p", target)
    assert "evil\\x1b]0;owned\\x07" in ran("--stress", "--coverage", hostile)


@pytest.mark.parametrize("body, names", [
    ("println($nosuch)", True), ("println($P_nosuch->a)", True), ("println(user_string(1))", True), ("error(user_string($text))", True),
    ("println(@cast(1, \"nosuch\")->a)", False)])
def test_mistakes(target, body, names):
    script = f'probe func("F*error*") {{ {body} }} probe timer.ms(300) {{ exit() }}'
    said = ran("-D", "MAXERRORS=9", "-e", script, "-p", target, codes=range(256))
    assert SHOWN in said or not names, said
    told = ran("--diagnostics=json", "-D", "MAXERRORS=9", "-e", script, "-p", target, codes=range(256))
    for line in told.splitlines():
        if line.startswith("{"):
            json.loads(line)


def test_the_control_socket(background, target, tmp_path):
    tracer = background("--control", tmp_path / "control", "-e", 'probe func("F*error*") { n++ }', "--probes", "-p", target)
    tracer.wait_for("(OPTIMIZED|INT3)")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(tmp_path / "control"))
        client.settimeout(run.PATIENCE)
        client.sendall(b"list\n")
        answer = b""
        while not answer.endswith(b"ok\n"):
            answer += client.recv(4096)
    check(answer)
    assert SHOWN in answer.decode()
    tracer.signal(signal.SIGINT)
    tracer.finish()


def test_the_monitor(target):
    """All that its screen has is drawn, what the script prints there, too."""
    script = 'probe func("F*error*") { at[ppfunc()]++; println(ppfunc()) }'
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(paths.DJTAP, ["djtap", "--monitor", "-T", "2", "-e", script, "-p", target])
    drawn = b""
    try:
        while data := os.read(terminal, 65536):
            drawn += data
    except OSError:  # the other side is closed
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, drawn
    screen, left, _ = drawn.partition(b"\x1b[?25h\x1b[?1049l")
    screens = re.sub(rb"\x1b\[(\?(1049|25)[hl]|[HKJ])|\r", b"", screen)
    assert left and b"F [31m" in screens, drawn
    check(re.sub(rb"^\s*error", b"", screens, flags=re.M))


@as_root
def test_a_process_that_may_not_be_traced(target, public_build, as_nobody):
    """Its name stands in the message; it has chosen it."""
    words = [*as_nobody, public_build / "djtap", "-e", 'probe func("F*error*") { n++ }', "-p", target]
    done = subprocess.run(words, capture_output=True, timeout=run.PATIENCE, check=False)
    check(done.stdout, done.stderr)
    assert done.returncode == 4 and b"(\\x1b[2J" in done.stderr, done


def test_a_command_that_is_none(tmp_path):
    nothing = tmp_path / "\x1b[2Jevil"
    nothing.write_text("x")
    said = ran("-e", "probe begin { exit() }", "-c", f"'{nothing}'", codes=range(1, 256))
    assert "\\x1b[2Jevil" in said, said
    assert "\\x1b[2J" in ran("-e", "probe begin { exit() }", "--report", f"{tmp_path}/\x1b[2J.lua", codes=range(1, 256))
    assert "\\x1b[2J" in ran(f"{tmp_path}/\x1b[2J.djt", codes=range(1, 256))


def test_probes_without_a_body(target):
    """Their lines are djtap's: names of functions and of parameters."""
    printed = ran("-e", 'probe func("F*error*"); probe func("F*error*").return; probe timer.ms(300) { exit() }', "-p", target)
    assert re.search(r" F\\033\[31m\.\\nerror.*\(P\\033.*=0x", printed) and re.search(r"^F\\033.*: \d+ hits$", printed, re.M), printed


def test_prints_of_scripts_stay(target):
    """What a script prints is its own; so are colours that it wants."""
    script = 'probe func("F*error*") { printf("\\033[1m%s\\n", ppfunc()); exit() }'
    done = subprocess.run([paths.DJTAP, "-e", script, "-p", target], capture_output=True, timeout=run.PATIENCE, check=True)
    assert done.stdout.startswith(b"\x1b[1mF" + COMMANDS), done


def test_djtaps_own_colours_stay(target):
    words = [paths.DJTAP, "--color=always", "-e", 'probe func("F*error*") { println($nosuch) }', "-p", target]
    done = subprocess.run(words, capture_output=True, timeout=run.PATIENCE, check=False)
    assert done.stderr.startswith(b"\x1b[1;31merror[DJ3"), done
    check(re.sub(rb"\x1b\[[0-9;]*m", b"", done.stderr))
    assert b"\x1b[31m" not in done.stderr, done
