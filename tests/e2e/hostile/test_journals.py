# SPDX-License-Identifier: Apache-2.0
"""Journals that no djtap has written, in a process of nobody's: `djtap clean` and a session look at them in bounded time and memory,
end with a documented exit code, and believe no holder that does not hold."""
import os
import pathlib
import random
import subprocess
import tempfile
import time

import pytest

from support import paths, produced

if os.getuid() != 0:
    pytest.skip("attackers run as nobody, djtap as root", allow_module_level=True)

HERE = pathlib.Path(__file__).parent
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
SESSION = ["-T", "0.1", "-e", 'probe func("work") { n++ }', "-p"]
SECONDS, MEGABYTES = 5, 100  # of processor time, and more memory than without a journal
PATIENCE = 120
DOCUMENTED = {0, 4}
RUNS, SEED = 300, 25
BUDGET = 300  # seconds; a machine that needs more makes fewer runs
KINDS = ["many records", "many calls", "held by init", "a trap table of terabytes", "a trap table of all numbers", "many mappings",
         "many journals", "many files", "many places", "many led places", "another one's files"]


@pytest.fixture(scope="module")
def forger():
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        made = pathlib.Path(name)
        made.chmod(0o755)
        subprocess.run(["g++", "-std=c++20", "-O1", "-g", f"-I{paths.ROOT}", "-o", made / "forger", HERE / "forged_journal.cpp"], check=True)
        yield made / "forger"


@pytest.fixture
def forged(program, forger):
    def start(kind):
        target = program(*AS_NOBODY, forger, kind, cwd="/tmp")
        target.wait_for("pid: ")
        if kind != "random":
            target.wait_for("forged")
        return target

    return start


def measured(*args):
    """Runs djtap; its exit code, what it said, seconds of processor time and megabytes."""
    with tempfile.TemporaryFile("w+") as said:
        begun = subprocess.Popen([paths.DJTAP, *map(str, args)], stdout=said, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + PATIENCE
        pid, status = 0, 0
        while pid == 0 and time.monotonic() < deadline:
            pid, status, used = os.wait4(begun.pid, os.WNOHANG)
            time.sleep(0.002)
        if pid == 0:
            begun.kill()
        assert pid != 0, f"djtap {args} hangs"
        begun.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    produced.note(text)
    return begun.returncode, text, used.ru_utime + used.ru_stime, used.ru_maxrss >> 10


@pytest.fixture(scope="module")
def usual(forger):
    """Megabytes of djtap where there is no journal: of clean, and of a session."""
    with subprocess.Popen([*AS_NOBODY, forger, "random"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as target:
        time.sleep(0.2)
        sizes = [measured("clean", target.pid)[3], measured(*SESSION, target.pid)[3]]
        target.kill()
    return sizes


def check(words, usual_size):
    code, said, seconds, size = measured(*words)
    where = f"{words}: {code}, {seconds} s, {size} MB, {said}"
    assert code in DOCUMENTED and seconds < SECONDS and size < usual_size + MEGABYTES, where
    return code, said


@pytest.mark.parametrize("kind", KINDS)
def test_a_forged_journal_is_bounded(forged, usual, kind):
    target = forged(kind)
    for words, size in ((["clean"], usual[0]), (SESSION, usual[1]), (["clean"], usual[0])):
        code, said = check([*words, target.pid], size)
        assert "is held by" not in said, said
        assert code == 0 or kind.startswith("many"), said
    assert target.process.poll() is None


def test_it_may_say_that_it_holds_itself(forged, usual):
    """It is no djtap."""
    target = forged("held by itself")
    assert check([*SESSION, target.pid], usual[1])[0] == 0


def test_random_journals(forged, usual):
    """Words of a whole one are changed. What that does to its own process is the process's."""
    numbers = random.Random(SEED)
    target = None
    deadline = time.monotonic() + BUDGET
    for run in range(RUNS):
        if time.monotonic() > deadline:
            break
        if target is None or target.process.poll() is not None:
            target = forged("random")
        seed = numbers.randrange(1 << 32)
        try:
            target.order(str(seed), "forged$")
        except (AssertionError, OSError):  # it has ended
            target = None
            continue
        words, size = (SESSION, usual[1]) if run % 8 == 0 else (["clean"], usual[0])
        try:
            check([*words, target.pid], size)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, run {run}: {error}") from error
    assert run > 50, "this machine is too slow for it"
