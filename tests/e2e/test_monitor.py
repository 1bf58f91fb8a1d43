# SPDX-License-Identifier: Apache-2.0
"""--monitor on a terminal of our own: what it shows, what its keys do, and that the terminal is given back."""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import termios
import time

import pytest

from support import paths, run

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"


class Screen:
    """djtap --monitor, or what is given, on a pseudo-terminal of 40 lines."""

    def __init__(self, *words, program=paths.DJTAP):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execv(program, [str(program), *map(str, words)])
        self.resize(40, 120)
        self.before = termios.tcgetattr(self.fd)
        self.text = ""

    def resize(self, lines, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def last(self):
        """The lines of the last screen that is whole."""
        return self.text.split("\x1b[J")[-2].rpartition("\x1b[H")[2].replace("\x1b[K", "").replace("\r", "").split("\n")

    def wait(self, pattern, seconds=run.PATIENCE):
        """Until the last screen drawn matches; returns the match."""
        deadline = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.text.rpartition("\x1b[H")[2] if LEAVE not in self.text else self.text)
            if found:
                return found
            assert time.monotonic() < deadline, f"no {pattern!r} on {self.text[-3000:]!r}"
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:  # the other side is closed
                    assert re.search(pattern, self.text), f"no {pattern!r} on {self.text[-3000:]!r}"

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def end(self):
        if self.pid:
            pid, self.pid = self.pid, 0
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return None


@pytest.fixture
def screen():
    made = []

    def start(*words, **options):
        made.append(Screen(*words, **options))
        return made[-1]

    yield start
    for each in made:
        if each.pid:
            os.kill(each.pid, signal.SIGKILL)
            each.end()
        os.close(each.fd)


@pytest.fixture
def counting():
    """A process that calls a function again and again."""
    with run.Background([paths.PYTHON, "-c", "import time\nprint('ready', flush=True)\nwhile True: time.sleep(0.001)"]) as victim:
        victim.wait_for("ready")
        yield victim


CLOCK = """probe func("libc.so.6!clock_nanosleep") { n++; by["x"]++ } probe timer.ms(50) { println("tick") }"""


def test_the_screen_lives(screen, counting):
    shown = screen("--monitor", "-p", counting.pid, "-e", CLOCK)
    first = int(shown.wait(r" 1 +on +(\d+) +\d+ +\d+  func\(\"libc\.so\.6!clock_nanosleep\"\) at <command line>:1:7")[1])
    shown.wait(r'by\["x"\]=\d+\x1b\[K\r+\n')
    shown.wait(r"output\x1b\[K\r+\n(  tick\x1b\[K\r+\n)+")
    later = int(shown.wait(rf" 1 +on +(?!{first} )(\d\d+) ")[1])
    assert later > first and ENTER in shown.text and LEAVE not in shown.text
    shown.press("q")
    shown.wait(re.escape(LEAVE) + r"[^\0]*n=\d+\r\n")
    assert shown.end() == 0


def test_a_key_switches_a_probe(screen, counting):
    shown = screen("--monitor", "-p", counting.pid, "-e", CLOCK)
    shown.wait(r" 1 +on +[1-9]")
    shown.press("1")
    hits = shown.wait(r" 1 +off +(\d+) ")[1]
    shown.press("s")
    assert shown.wait(r"sort by hits[^\0]* 1 +off +(\d+) ")[1] == hits, "nothing is counted while it is off"
    shown.press("1")
    shown.wait(rf" 1 +on +(?!{hits} )\d+ ")
    shown.press("2")
    shown.wait("probe 2 is not in the target")


def test_the_cursor_reaches_every_probe(screen, program):
    """More than fit are shown around the cursor; one that is off counts no more and falls behind all others."""
    target = program(paths.victim("relay"))  # calls only when it is told: all counts are the same when they are read
    target.wait_for("pid: ")
    script = " ".join(f'probe func("work") {{ c{n}++ }}' for n in range(1, 31))
    shown = screen("--monitor", "-p", target.pid, "-e", script)
    shown.wait(r"> 1 +on [^\0]*\.\. 10 more")
    shown.press("\x1b[B" * 11)
    shown.wait(r">12 +on ")
    shown.press(" ")
    shown.wait(r">12 +off ")
    target.tell("call 5")
    shown.wait(r" 30 +on +5 [^\n]*\n>12 +off ")
    shown.press("\x1bOA\x1b[A")
    shown.wait(r">29 +on [^\0]* 12 +off ")
    shown.press("\x1b[B" * 40)
    shown.wait(r">12 +off ")
    shown.press("q")
    shown.wait(re.escape(LEAVE))
    assert shown.end() == 0


def test_a_key_counts_from_0(screen, counting):
    shown = screen("--monitor", "-p", counting.pid, "-e", CLOCK)
    before = int(shown.wait(r" 1 +on +(\d{4,}) ")[1])
    shown.press("r1")
    hits = int(shown.wait(r" 1 +off +(\d+) ")[1])
    assert hits < before, "some time passes between the keys, but not all that has passed until then"
    shown.press("q")
    total = int(shown.wait(re.escape(LEAVE) + r"[^\0]*n=(\d+)\r\n")[1])
    assert total >= before + hits, "the session's own count goes on"


def test_the_terminal_is_given_back(screen, counting):
    for end in (signal.SIGINT, signal.SIGTERM, signal.SIGSEGV):
        shown = screen("--monitor", "-p", counting.pid, "-e", CLOCK)
        shown.wait(r" 1 +on +[1-9]")
        assert not termios.tcgetattr(shown.fd)[3] & termios.ECHO
        os.kill(shown.pid, end)
        shown.wait(re.escape(LEAVE))
        assert shown.end() == (-end if end == signal.SIGSEGV else 0)


def test_output_keeps_its_place(screen, counting):
    """However many globals there are, the newest lines of the output are seen; and on any terminal no line is too long or too much."""
    script = "global many " + CLOCK + ' probe begin { for (i = 0; i < 30; i++) many[i] = i }' + \
        " ".join(f'global g{n} probe func("libc.so.6!clock_nanosleep") {{ g{n}++ }}' for n in range(40))
    shown = screen("--monitor", "-p", counting.pid, "-e", script)
    shown.wait(r"globals\x1b\[K[^\0]*  \.\. \d+ more lines\x1b\[K\r+\n\x1b\[K\r+\noutput\x1b\[K\r+\n(  tick\x1b\[K\r+\n){2}  tick\x1b\[K\x1b\[J")
    assert len(shown.last()) == 40
    for lines, columns in ((12, 50), (3, 10), (60, 200)):
        shown.resize(lines, columns)
        seen = len(shown.text)
        while shown.text[seen:].count("\x1b[J") < 3:
            shown.wait(r"$")
            shown.text += os.read(shown.fd, 65536).decode()
        assert 0 < len(shown.last()) <= lines and all(len(line) <= columns for line in shown.last()), shown.last()
    shown.press("q")
    shown.wait(re.escape(LEAVE))


def test_the_keys_are_named_on_any_width(screen, counting):
    """No word is cut where the terminal has 50 columns or more."""
    shown = screen("--monitor", "-p", counting.pid, "-e", CLOCK)
    shown.wait(r" s   keys: q quit, s sort by time, r count from 0, 1-9 switch a probe, arrows and space any\x1b")
    for columns, words in ((99, "q quit, s by time, r from 0, 1-9 or arrows, space: on/off"), (80, "q quit, s by time, r from 0, 1-9 or arrows, space: on/off"),
                           (60, "q quit, s time, r 0, 1-9 on/off"), (40, "q s r 1-9")):
        shown.resize(30, columns)
        shown.wait(rf" s   {words}\x1b")


def test_a_key_switches_thousands_of_sites(screen, counting):
    """Nothing is counted while they are off, and they count again."""
    shown = screen("--monitor", "-p", counting.pid, "-e", 'probe func("*") { n++ }')
    shown.wait(r" 1 +on +\d{4,} ")
    shown.press("1")
    hits = shown.wait(r" 1 +off +(\d+) ")[1]
    shown.press("s")
    assert shown.wait(r"sort by hits[^\0]* 1 +off +(\d+) ")[1] == hits
    shown.press("1")
    shown.wait(rf" 1 +on +(?!{hits} )\d+ ")
    shown.press("q")
    shown.wait(re.escape(LEAVE) + r"[^\0]*n=\d+\r\n")
    assert shown.end() == 0


def test_many_probes(screen, counting, tmp_path):
    """Five hundred in a script: the keys are heard, the last one can be reached."""
    script = tmp_path / "many.djt"
    script.write_text("\n".join(f'probe func("libc.so.6!clock_nanosleep") {{ c{n}++ }}' for n in range(1, 501)))
    shown = screen("--monitor", "-p", counting.pid, script)
    shown.wait(r"> 1 +on +[1-9][^\0]*\.\. 480 more")
    shown.press(" ")
    shown.wait(r"> 1 +off [^\n]*\n +\.\. 480 more")  # it has fallen behind all others
    shown.press("\x1b[A")
    shown.wait(r">(?!  1 )[ \d]{3} +on +[1-9]")  # the one before: mostly 500, but counts are read one after the other
    shown.press("q")
    shown.wait(re.escape(LEAVE) + r"[^\0]*c500=\d+\r\n")


def test_text_of_all_kinds(screen, counting):
    """Characters, not bytes, are cut; what would move the cursor, and what is no character, is not sent to the terminal."""
    script = CLOCK.replace('"tick"', r'"h\303\251 \346\227\245\346\234\254 a\033[31mb\302\233c\377d " . str_repeat("\346\227\245", 70)') + \
        ' function str_repeat:string(text:string, n) { all = "" for (i = 0; i < n; i++) all .= text return all }' \
        r' probe begin { key["two\nlines"] = 1 println(key["x"]) }'
    shown = screen("--monitor", "-p", counting.pid, "-e", script)
    line = shown.wait(r"\n  (h\u00e9 \u65e5\u672c a \[31mb c\?d \u65e5+)\x1b\[K")[1]
    wide = line.count("\u65e5") + line.count("\u672c")
    assert 117 <= len(line) + wide <= 118, line
    shown.wait(r'key\["two\\nlines"\]=1\x1b\[K')


def test_a_stopped_monitor_gives_the_terminal_back(screen, counting):
    """Ctrl-Z, and fg of the shell: it is taken again, and keys are heard."""
    shell = shutil.which("bash")
    shown = screen("--norc", "--noprofile", "-i", program=shell)
    shown.press(f"{paths.DJTAP} --monitor -p {counting.pid} -e '{CLOCK}'\n")
    shown.wait(re.escape(ENTER) + r"[^\0]* 1 +on +[1-9]|> 1 +on +[1-9]")
    shown.press("\x1a")
    shown.wait(re.escape(LEAVE) + r"[^\0]*Stopped")
    shown.press("stty -a; echo do''ne\n")
    assert re.search(r" icanon .* echo ", shown.wait(r"speed[^\0]*done")[0], re.S)
    shown.text = ""
    shown.press("fg\n")
    shown.wait(r"> 1 +on +[1-9]")
    assert ENTER in shown.text
    shown.press("1")
    shown.wait(r"> 1 +off +[1-9]")
    shown.press("q")
    shown.wait(re.escape(LEAVE) + r"[^\0]*n=\d+\r\n")


def test_the_end_of_the_target_is_the_end(screen):
    for signal_number, code in ((signal.SIGKILL, 0), (signal.SIGSEGV, 0)):
        with run.Background([paths.PYTHON, "-c", "import time\nprint('ready', flush=True)\nwhile True: time.sleep(0.001)"]) as victim:
            victim.wait_for("ready")
            shown = screen("--monitor", "-p", victim.pid, "-e", CLOCK)
            shown.wait(r" 1 +on +[1-9]")
            victim.signal(signal_number)
            shown.wait(re.escape(LEAVE) + r"[^\0]*n=\d+\r\n")
            assert shown.end() == code and termios.tcgetattr(shown.fd) == shown.before


def test_a_terminal_that_is_not_drawn_on(screen, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    shown = screen("--monitor", "-e", "probe begin { exit() }")
    shown.wait(r'error\[DJ0007\]: --monitor needs a terminal that is drawn on; \$TERM says "dumb"')
    assert "\x1b" not in shown.text and shown.end() == 1


def test_without_a_terminal(djtap_once):
    result = djtap_once("--monitor", "-e", "probe begin { exit() }")
    assert result.returncode == 1 and "--monitor needs a terminal" in result.stderr, result
