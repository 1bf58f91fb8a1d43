# SPDX-License-Identifier: Apache-2.0
"""Targets with another root folder: changed by chroot, or pivot_root in a mount namespace of their own, as containers are made."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

from support import run

# As an ordinary user, in a user namespace: the folder becomes the root, and nothing of the old one stays reachable.
PIVOT = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
user, group, root = os.getuid(), os.getgid(), sys.argv[1].encode()
def done(result): assert result == 0, os.strerror(ctypes.get_errno())
NEWUSER, NEWNS, BIND, REC, PRIVATE, DETACH, PIVOT_ROOT = 0x10000000, 0x20000, 0x1000, 0x4000, 0x40000, 2, 155
done(libc.unshare(NEWUSER | NEWNS))
open("/proc/self/setgroups", "w").write("deny")
open("/proc/self/uid_map", "w").write(f"0 {user} 1")
open("/proc/self/gid_map", "w").write(f"0 {group} 1")
done(libc.mount(b"none", b"/", None, REC | PRIVATE, None))
done(libc.mount(root, root, None, BIND | REC, None))
os.chdir(root)
done(libc.syscall(PIVOT_ROOT, b".", b"old"))
os.chdir("/")
done(libc.umount2(b"/old", DETACH))
os.execv("/bin/commander", ["commander"])
"""
CHROOT = ["unshare", "-Ur", "chroot"]


@pytest.fixture
def root(public_build):
    """A folder with the victim and its libraries, at the places where its loader looks for them."""
    victim = public_build / "targets" / "commander"
    needed = re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", victim], capture_output=True, text=True, check=True).stdout)
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        top = pathlib.Path(name)
        for file, place in [(victim, "/bin/commander"), *((library, library) for library in needed)]:
            there = top / place.lstrip("/")
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(os.path.realpath(file), there)
        (top / "old").mkdir()
        for folder in [top, *(path for path in top.rglob("*") if path.is_dir())]:
            folder.chmod(0o777)
        yield top


@pytest.mark.parametrize("how", ["chroot", "pivot_root"])
def test_it_is_probed(program, public_build, as_nobody, mode_options, root, how):
    """Program and C library, by names of its own root; files are read there."""
    allowed = subprocess.run([*as_nobody, "unshare", "-Urm", "true"], capture_output=True, check=False)
    if allowed.returncode != 0:
        pytest.skip("user namespaces are not allowed here")
    words = [*CHROOT, root, "/bin/commander"] if how == "chroot" else [sys.executable, "-c", PIVOT, root]
    target = program(*as_nobody, *words, cwd="/tmp")
    target.wait_for("pid: ")
    with run.Background(run.command([*mode_options, "--probes", "-e", 'probe func("work") { n++; if ($n == 21) right++ } '
                                     'probe func("libc.so.6!fgets") { lines++ }', "-p", target.pid], as_nobody, public_build / "djtap"),
                        cwd="/tmp") as tracer:
        tracer.wait_for(r"\[(OPTIMIZED|INT3)")
        target.tell("call 1000")
        target.wait_for("called: 1000")
        target.tell("call 1")
        target.wait_for("called: 1$")
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
    assert result.returncode == 0 and result.globals["n"] == result.globals["right"] == 1001 and result.globals["lines"] > 0, result
    target.tell("quit")
    assert target.finish().facts["interrupted"] == 0


def test_djtap_where_nothing_can_be_written(public_build, as_nobody):
    """No /tmp, no /dev/shm, no home folder: what djtap shares with its target has no name."""
    hide = ["unshare", "-Urm", "sh", "-c", 'mount -t tmpfs -o ro none /tmp && mount -t tmpfs -o ro none /dev/shm && exec "$@"', "sh"]
    if subprocess.run([*as_nobody, *hide, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("user namespaces are not allowed here")
    if str(public_build).startswith("/tmp/"):
        pytest.skip("djtap itself lies in /tmp")
    result = run.run(["-e", 'probe func("work") { n++; a[$n & 1]++ }', "-c", str(public_build / "targets" / "count")], cwd="/",
                     prefix=[*as_nobody, "env", "HOME=/nowhere", "XDG_CACHE_HOME=/nowhere", *hide], binary=public_build / "djtap")
    assert result.returncode == 0 and result.globals == {"n": 4000} and result.stderr == "", result
