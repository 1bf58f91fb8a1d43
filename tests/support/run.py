# SPDX-License-Identifier: Apache-2.0
"""Runs djtap, to its end or in the background, and reads what it and the victims print."""
import dataclasses
import fcntl
import os
import re
import select
import signal
import subprocess
import tempfile
import time

from support import paths, produced

# Seconds that anything may take before it hangs: the machine may have a lot else to do.
PATIENCE = 300
FACT = re.compile(r"^([\w:() ]+): (-?\d+)$", re.M)
NUMBER = re.compile(r"^(\w+)=(-?\d+)$", re.M)
ELEMENT = re.compile(r"^(\w+)\[(.+)\]=(.*)$", re.M)
SITE = re.compile(r"^(0x)?([0-9a-f]+)\s+([ers])\s+(\S.*?)\s+(\S+)\s+\[(OPTIMIZED|INT3|SKIPPED|DISABLED|GONE)(?:: ([^\]]*))?\]", re.M)


@dataclasses.dataclass
class Site:
    """One line of --probes."""

    address: int
    kind: str
    symbol: str
    module: str
    state: str
    reason: str


class Printed(dict):
    """What a run printed, by name; asked for what it did not print, it shows the whole run."""

    def __init__(self, pairs, run_of):
        super().__init__((name, int(value)) for name, value in pairs)
        self.run_of = run_of

    def __missing__(self, name):
        raise AssertionError(f"{name!r} was not printed by {self.run_of}")


@dataclasses.dataclass
class Result:
    """What a run of djtap left behind."""

    args: list
    stdout: str
    stderr: str
    returncode: int

    def __post_init__(self):
        produced.note(self.stderr)

    @property
    def facts(self):
        """The victim's own truth: {"work calls": 4000}."""
        return Printed(FACT.findall(self.stdout), self)

    @property
    def globals(self):
        """Integer globals that were printed at exit: {"count": 4000}."""
        return Printed(NUMBER.findall(self.stdout), self)

    def array(self, name):
        """An array that was printed at exit, in order: [('"a",1', '7')]."""
        return [(key, value) for array, key, value in ELEMENT.findall(self.stdout) if array == name]

    @property
    def sites(self):
        return sites_of(self.stderr)

    def __str__(self):
        return f"{' '.join(map(str, self.args))}\nstatus {self.returncode}\n--- stdout\n{self.stdout}--- stderr\n{self.stderr}"


def sites_of(text):
    """The lines of --probes in a text."""
    found = SITE.findall(text)
    return [Site(int(a, 16), kind, symbol, module, state, reason) for _, a, kind, symbol, module, state, reason in found]


def session_members(session):
    """Live processes of a session: what a run left behind."""
    members = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf8", errors="replace") as stat:
                fields = stat.read().rpartition(")")[2].split()
            alive = fields[0] not in "ZX" or len(os.listdir(f"/proc/{entry}/task")) > 1
        except OSError:
            continue
        if int(fields[3]) == session and alive:
            members.append(int(entry))
    return members


def reap_session(session, patience=0.0):
    """Kills what is left of a session after some seconds; returns what there was."""
    deadline = time.monotonic() + patience
    left = session_members(session)
    while left and time.monotonic() < deadline:
        time.sleep(0.01)
        left = session_members(session)
    for pid in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return left


def command(args, prefix=(), binary=None):
    return [*prefix, str(binary or paths.DJTAP), *map(str, args)]


def need_own_symbols():
    """Skips a test that looks into djtap itself where that is stripped, as its package installs it."""
    headers = subprocess.run(["readelf", "-SW", paths.DJTAP], capture_output=True, text=True, check=True).stdout
    notes = subprocess.run(["readelf", "-n", paths.DJTAP], capture_output=True, text=True, check=True).stdout
    build_id = re.search(r"Build ID: (\w\w)(\w+)", notes)
    detached = build_id and os.path.exists(f"/usr/lib/debug/.build-id/{build_id[1]}/{build_id[2]}.debug")
    if " .symtab " not in headers and not detached:
        import pytest  # pylint: disable=import-outside-toplevel

        pytest.skip("this djtap is stripped (its package djtap-dbgsym has its functions' names)")


def interrupted(place, command_there, args):
    """djtap under gdb, which does something when djtap comes to a function of its own for the first time. None of its probes
    may be stopped at: they are the target's."""
    need_own_symbols()
    orders = [f"break {place}", "run", "delete", command_there, "continue"]
    words = ["gdb", "-q", "-nx", "-batch", *(word for order in orders for word in ("-ex", order)), "--args", *command(args)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert "hit Breakpoint 1" in done.stdout, done
    return Result(words, done.stdout, done.stderr, done.returncode)


def appended():
    """A file that djtap and its program both write to: there each write is whole, in a full pipe they may meet within a line."""
    file = tempfile.TemporaryFile()
    fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
    return file


def text_in(file):
    file.seek(0)
    return decode(file.read())


def run(args, *, prefix=(), binary=None, timeout=PATIENCE, stdin=None, cwd=None, env=None, may_leave=False):
    """Runs djtap to its end. Fails when it takes too long or leaves processes behind."""
    words = command(args, prefix, binary)
    with appended() as out, appended() as err:
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=out, stderr=err, cwd=cwd, env=env, start_new_session=True)
        try:
            process.communicate((stdin or "").encode(), timeout=timeout)
        except BaseException as why:  # pytest's own limit of time, or somebody's ^C, is none of subprocess
            reap_session(process.pid)
            process.communicate()
            if not isinstance(why, subprocess.TimeoutExpired):
                raise
            raise AssertionError(f"longer than {timeout} s: " + str(Result(words, text_in(out), text_in(err), -1))) from None
        left = reap_session(process.pid, patience=PATIENCE / 10)  # a killed child takes a moment to be gone
        result = Result(words, text_in(out), text_in(err), process.returncode)
    assert may_leave or not left, f"left processes {left} behind: {result}"
    return result


def decode(data):
    return data.decode("utf8", errors="replace")


# A shell's job: a process group of its own, whose parent is of the same session (others are not stopped by SIGTSTP).
JOB = """import os, sys
pid = os.fork()
if pid == 0:
    os.setpgid(0, 0)
    os.execv(sys.argv[1], sys.argv[1:])
os.write(2, b"tracer: %d\\n" % pid)
os.waitpid(pid, 0)
"""


# Who may do nothing: options of subprocess.Popen.
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}


class Background:
    """A program that runs while the test does something; its output is collected as it comes."""

    def __init__(self, words, **options):
        self.words = [str(word) for word in words]
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, start_new_session=True, **options)
        self.text = {self.process.stdout.fileno(): b"", self.process.stderr.fileno(): b""}
        self.open = set(self.text)

    @property
    def pid(self):
        return self.process.pid

    @property
    def stdout(self):
        return decode(self.text[self.process.stdout.fileno()])

    @property
    def stderr(self):
        return decode(self.text[self.process.stderr.fileno()])

    def _read(self, seconds):
        ready, _, _ = select.select(list(self.open), [], [], seconds)
        for fd in ready:
            data = os.read(fd, 65536)
            self.text[fd] += data
            if not data:
                self.open.discard(fd)

    def wait_for(self, pattern, seconds=PATIENCE):
        """Until `pattern` stands in stdout or stderr; returns the match."""
        deadline = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.stdout, re.M) or re.search(pattern, self.stderr, re.M)
            if found:
                return found
            assert self.open and time.monotonic() < deadline, f"no {pattern!r} came from {self}"
            self._read(max(0.0, min(1.0, deadline - time.monotonic())))

    def stderr_so_far(self):
        self._read(0)
        return self.stderr

    def tell(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def order(self, line, answer):
        """Tells it the line, and waits for the answer, whatever it has said before."""
        self.text[self.process.stdout.fileno()] = b""
        self.tell(line)
        self.wait_for(answer)

    def call(self, number):
        """A victim that calls its functions so often when it is told to has done so."""
        self.tell(f"call {number}")
        self.wait_for(f"called: {number}$")

    def call_until(self, tracer, pattern):
        """Such a victim has called its functions again and again until `tracer` has said `pattern`; how often."""
        calls = 0
        while not re.search(pattern, tracer.stdout) and calls < 100_000_000:
            self.order("call 20000", "called: 20000")
            calls += 20_000
            tracer.stderr_so_far()
        return calls

    def signal(self, number):
        os.kill(self.pid, number)

    def finish(self, seconds=PATIENCE):
        """Until the program has ended; its Result."""
        deadline = time.monotonic() + seconds
        while self.open:
            assert time.monotonic() < deadline, f"did not end in {seconds} s: {self}"
            self._read(max(0.0, min(1.0, deadline - time.monotonic())))
        status = self.process.wait(max(0.1, deadline - time.monotonic()))
        return Result(self.words, self.stdout, self.stderr, status)

    def __str__(self):
        return f"{' '.join(self.words)}\n--- stdout\n{self.stdout}--- stderr\n{self.stderr}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        reap_session(self.pid)
        self.process.wait(PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except BrokenPipeError:  # something unsent was still in stdin's buffer
                pass
