# SPDX-License-Identifier: Apache-2.0
"""`djtap clean` of all processes: in a pid namespace of its own, where it meets no other test's."""
import os
import subprocess

import pytest

from support import paths
from support.paths import victim

UNSHARE = ["unshare", "-pf", "--mount-proc", "--kill-child"] if os.getuid() == 0 else ["unshare", "-Urpf", "--mount-proc", "--kill-child"]
pytestmark = pytest.mark.skipif(subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode != 0,
                                reason=f"{' '.join(UNSHARE)} is not allowed here")

# One and two are left probed, so is four with what it has forked since; three is in a session.
SCENE = r"""
import os, re, signal, subprocess, sys
sys.path.insert(0, {tests!r})
from support import process
djtap, commander, relay = {djtap!r}, {commander!r}, {relay!r}
COUNT = 'probe func("work") {{ n++ }}'

class Victim:
    def __init__(self, *words):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.number("pid")
        self.text = process.text_of(self.pid)
    def number(self, name):
        while not (found := re.match(name + r": (\d+)", self.process.stdout.readline())): pass
        return int(found[1])
    def fork(self):
        self.process.stdin.write("fork\n")
        self.process.stdin.flush()
        self.child = self.number("child")
        return self
    def child_differs(self):
        return bool(process.differences(self.text, process.text_of(self.child)))
    def differs(self):
        return bool(process.differences(self.text, process.text_of(self.pid)))
    def end(self, order):
        self.process.communicate(order, timeout=60)
        return self.process.returncode

def attach(victim):
    tracer = subprocess.Popen([djtap, "--probes", "-e", COUNT, "-p", str(victim.pid)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while "[" not in tracer.stdout.readline(): pass
    return tracer

def kill(tracer):
    tracer.kill()
    tracer.communicate()

def clean():
    done = subprocess.run([djtap, "clean"], capture_output=True, text=True, timeout=300)
    print(done.stdout, done.stderr, file=sys.stderr)
    return done

nothing = clean()
one, two, three, four = Victim(commander), Victim(commander), Victim(commander), Victim(relay)
for each in (one, two, four): kill(attach(each))
kept = attach(three)
four.fork()
before = [each.differs() for each in (one, two, three, four)] + [four.child_differs()]
done = clean()
after = [each.differs() for each in (one, two, three, four)] + [four.child_differs()]
kept.send_signal(signal.SIGINT)
out = kept.communicate(timeout=60)[0]
again = clean()
print("nothing:", nothing.returncode, nothing.stdout.strip())
print("before:", before, "after:", after, "status:", done.returncode)
named = done.stdout.replace(f"process {{three.pid}} ", "process THREE ").replace(f"process {{kept.pid}}:", "process DJTAP:")
print("lines:", [line for line in named.splitlines() if "THREE" in line])
print("restored:", len(re.findall(r"^process \d+: \d+ places? restored$", done.stdout, re.M)))
print("kept:", kept.returncode, re.findall(r"n=\d+", out))
print("again:", again.returncode)
print("ends:", [each.end("quit\n") for each in (one, two, three, four)])
"""


def test_all_that_killed_djtaps_left_is_put_back():
    """A session that runs is left alone, and named."""
    scene = SCENE.format(tests=str(paths.ROOT / "tests"), djtap=str(paths.DJTAP), commander=str(victim("commander")), relay=str(victim("relay")))
    done = subprocess.run([*UNSHARE, paths.PYTHON, "-c", scene], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.splitlines() == [
        "nothing: 0 no process has anything of djtap's",
        "before: [True, True, True, True, True] after: [False, False, True, False, False] status: 0",
        "lines: ['process THREE is held by another djtap, process DJTAP: end that session first (one session a process)']",
        "restored: 4", "kept: 0 ['n=0']", "again: 0", "ends: [0, 0, 0, 0]"], done
