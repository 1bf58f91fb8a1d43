# SPDX-License-Identifier: Apache-2.0
"""input.char and input.line: what djtap's standard input says."""
import os
import pty
import subprocess
import time

import pytest

from support import paths

CHARS = 'probe input.char { printf("<%s>", char); if (char == "q") exit() }'


def piped(script, data, *words):
    result = subprocess.run([paths.DJTAP, "-e", script, *words], input=data, capture_output=True, check=False, timeout=300)
    return result.stdout, result.stderr.decode(), result.returncode


def test_each_character():
    assert piped(CHARS, b"a\nb\"\tqz") == (b'<a><\n><b><"><\t><q>', "", 0), "nothing behind exit()"


def test_each_line_in_every_probe():
    script = """global lines
probe input.line { lines++; printf("1:%s", line) }
probe input.line { printf("2:%s", line); if (line == "end\\n") exit() }"""
    stdout, stderr, code = piped(script, b"one\n\ntwo words\nend\nmore\n")
    assert (stdout, stderr, code) == (b"1:one\n2:one\n1:\n2:\n1:two words\n2:two words\n1:end\n2:end\nlines=4\n", "", 0)


def test_any_byte_and_the_end(tmp_path):
    """A file at its end is no reason to end: probes go on."""
    data = bytes(byte for byte in range(1, 256)) * 3
    (tmp_path / "bytes").write_bytes(data)
    script = 'global n probe input.char { print(char); n++ } probe timer.ms(20) { if (n == 765) exit() } probe end { printf("|%s", input_char()) }'
    with open(tmp_path / "bytes", "rb") as file:
        result = subprocess.run([paths.DJTAP, "-e", script, "-T", "30"], stdin=file, capture_output=True, check=False, timeout=300)
    assert result.stdout == data + b"|" and result.stderr == b"", result.stderr


def test_keys_of_a_terminal():
    """Each at once, without echo; the terminal is as it was behind that."""
    main, other = pty.openpty()
    before = subprocess.run(["stty", "-g"], stdin=other, capture_output=True, text=True, check=True).stdout
    process = subprocess.Popen([paths.DJTAP, "-e", f'probe begin {{ println("ready") }} {CHARS}'], stdin=other, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
    assert process.stdout.readline() == b"ready\n"
    until = time.monotonic() + 30
    while subprocess.run(["stty", "-g"], stdin=other, capture_output=True, text=True, check=True).stdout == before:
        assert time.monotonic() < until, "the terminal is taken"
        time.sleep(0.01)
    os.write(main, b"x")
    assert process.stdout.read(3) == b"<x>", "no line feed is waited for"
    os.write(main, b"q")
    stdout, stderr = process.communicate(timeout=300)
    assert (stdout, stderr, process.returncode) == (b"<q>", b"", 0)
    assert subprocess.run(["stty", "-g"], stdin=other, capture_output=True, text=True, check=True).stdout == before
    os.set_blocking(main, False)
    with pytest.raises(BlockingIOError):
        os.read(main, 100)  # an echo


def test_the_monitor_has_the_keys():
    stdout, stderr, code = piped(CHARS, b"", "--monitor")
    assert (stdout, code) == (b"", 1) and stderr.startswith("error[DJ0007]: --monitor and input probes want the same keys\n"), stderr


def test_where_nothing_is_read():
    assert piped('probe begin { printf("[%s]", input_char()); exit() }', b"abc")[0] == b"[]"
