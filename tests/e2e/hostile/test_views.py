# SPDX-License-Identifier: Apache-2.0
"""Containers, chroots and sandboxes under a root's djtap: it traces what is in them, and sees and reaches no more than that does."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import pytest

from support import paths, process

if os.getuid() != 0:
    pytest.skip("containers are made by root here", allow_module_level=True)
if subprocess.run(["unshare", "-Urmpf", "true"], capture_output=True, check=False).returncode != 0:
    pytest.skip("no namespaces here", allow_module_level=True)

NOBODY = 65534
# What is started in the folder argv[2], in the way argv[1].
START = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
how, root = sys.argv[1], sys.argv[2].encode()
def done(result): assert result == 0, os.strerror(ctypes.get_errno())
def enter_container(flags):
    NEWNS, BIND, REC, PRIVATE, DETACH, PIVOT_ROOT = 0x20000, 0x1000, 0x4000, 0x40000, 2, 155
    done(libc.unshare(flags | NEWNS))
    if flags & NEWPID and os.fork():
        os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
    done(libc.mount(b"none", b"/", None, REC | PRIVATE, None))
    done(libc.mount(root, root, None, BIND | REC, None))
    os.chdir(root)
    done(libc.mount(b"proc", b"proc", b"proc", 0, None))
    done(libc.syscall(PIVOT_ROOT, b".", b"old"))
    os.chdir("/")
    done(libc.umount2(b"/old", DETACH))
def become_nobody():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
NEWPID, SPACES = 0x20000000, 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000
if how == "chroot":
    os.chroot(root)
    os.chdir("/")
    become_nobody()
elif how == "nobody's container":
    enter_container(SPACES)
    become_nobody()
elif how == "root's container":
    enter_container(SPACES)
    for capability in range(41):
        libc.prctl(24, capability, 0, 0, 0)
elif how == "Docker's container":
    enter_container(SPACES)
    kept = {0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31}
    for capability in set(range(41)) - kept:
        libc.prctl(24, capability, 0, 0, 0)
    # Its filter denies some system calls (EPERM), pidfd_getfd() among them.
    import struct
    code = struct.pack("HBBIHBBIHBBIHBBI", 0x20, 0, 0, 0, 0x15, 0, 1, 438, 0x06, 0, 0, 0x50001, 0x06, 0, 0, 0x7FFF0000)
    memory = ctypes.create_string_buffer(code, len(code))
    done(libc.prctl(38, 1, 0, 0, 0))
    done(libc.prctl(22, 2, struct.pack("HxxxxxxQ", 4, ctypes.addressof(memory)), 0, 0))
elif how == "user namespace":
    become_nobody()
    libc.prctl(4, 1, 0, 0, 0)
    done(libc.unshare(0x10000000))
    open("/proc/self/setgroups", "w").write("deny")
    open("/proc/self/uid_map", "w").write("0 65534 1")
    open("/proc/self/gid_map", "w").write("0 65534 1")
    enter_container(SPACES)
elif how == "network":
    done(libc.unshare(0x40000000))
    become_nobody()
    os.chdir("/")
    os.execv(sys.argv[3], ["commander"])
os.execv("/bin/commander", ["commander"])
"""
HOWS = ["chroot", "nobody's container", "root's container", "Docker's container", "user namespace", "network"]


@pytest.fixture(name="root", scope="module")
def small_root(public_build):
    """A folder with the victim, a shell and their libraries, at the places where the loader looks for them."""
    victim = public_build / "targets" / "commander"
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        top = pathlib.Path(name)
        for program, place in ((victim, "/bin/commander"), ("/bin/sh", "/bin/sh")):
            needed = re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout)
            for file, inside in [(program, place), *((library, library) for library in needed)]:
                there = top / inside.lstrip("/")
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(os.path.realpath(file), there)
        for folder in ("old", "proc"):
            (top / folder).mkdir()
        (top / "inside").write_text("a file of the container\n")
        for folder in [top, *(path for path in top.rglob("*") if path.is_dir())]:
            folder.chmod(0o777)
        yield top


@pytest.fixture(name="start")
def start_in(program, root, public_build):
    """start(how) starts the victim; returns what talks to it, and its pid outside."""
    def go(how):
        target = program(sys.executable, "-c", START, how, root, public_build / "targets" / "commander", cwd="/tmp")
        target.wait_for("pid: ")
        children = pathlib.Path(f"/proc/{target.pid}/task/{target.pid}/children").read_text().split()
        return target, int(children[0]) if children else target.pid

    return go


def text_of(pid):
    text = process.own_text(pid, re.search(r" (/\S*commander)$", pathlib.Path(f"/proc/{pid}/maps").read_text(), re.M)[1])
    assert text
    return text


def end(target):
    target.tell("quit")
    assert target.finish().facts["interrupted"] == 0


def skip_traps(how, mode):
    """A program under a seccomp filter gets no int3, since a filter may deny what returns from its signal."""
    if how == "Docker's container" and mode == "int3":
        pytest.skip("under a filter of the program djtap puts no int3")


def uid_of(how):
    return 0 if how in ("root's container", "Docker's container") else NOBODY


@pytest.mark.parametrize("how", HOWS)
def test_counts(start, attach, how, mode):
    """Program and C library by the names inside, arguments by debug info, a backtrace; the program is as it was afterwards."""
    skip_traps(how, mode)
    target, pid = start(how)
    before = text_of(pid)
    tracer = attach(pid, 'global n, right, lines probe func("work") { n++; if ($n == 21) right++; if (n < 100) print_ubacktrace() } '
                    'probe func("libc.so.6!fgets") { lines++ } '
                    'probe end { printf("n=%d\\nright=%d\\nlines=%d\\n", n, right, lines) }')
    target.call(1000)
    target.order("call 1", "called: 1$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals["n"] == result.globals["right"] == 1001 and result.globals["lines"] > 0, result
    assert re.search(r" : work\+.*\n .* : worker\+", result.stdout), result
    assert process.status_field(pid, "TracerPid") == "0" and text_of(pid) == before
    end(target)


@pytest.mark.parametrize("how", HOWS)
def test_samples_and_numbers(start, attach, how, mode):
    """timer.profile, --live and the numbers by which the process knows itself."""
    skip_traps(how, mode)
    target, pid = start(how)
    own = re.search(r"pid: (\d+)", target.stdout)[1]
    tracer = attach(pid, 'global s, w probe timer.profile.freq.hz(500) { if (++s == 3) println("samples") } '
                    'probe func("work") { w++; if (w < 100) printf("is %d\\n", pid()) } '
                    'probe end { printf("s=%d\\nw=%d\\n", s, w) }', "--live")
    calls = target.call_until(tracer, "samples")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals["w"] == calls and result.globals["s"] >= 3, result
    assert f"is {own}\n" in result.stdout, result
    end(target)


def test_a_kill_is_cleaned_up_after(start, djtap_once, background):
    target, pid = start("nobody's container")
    before = text_of(pid)
    tracer = background("--probes", "-e", 'probe func("work") { n++ }', "-p", str(pid))
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    tracer.signal(signal.SIGKILL)
    tracer.finish()
    assert text_of(pid) != before
    cleaned = djtap_once("clean", str(pid))
    assert cleaned.returncode == 0 and text_of(pid) == before, cleaned
    end(target)


# What a shell with the worker's rights tries, a line each.
TRIES = r"""
echo user $(while read k v r; do case $k in Uid:) echo $v;; esac; done < /proc/self/status)
echo rights $(while read k v; do case $k in CapEff:|CapPrm:|NoNewPrivs:) echo $v;; esac; done < /proc/self/status)
if read line < /inside; then echo inside $line; fi
if read line < @secret; then echo WON file $line; fi
line=; if read -r line < /proc/@other/environ || test -n "$line"; then echo WON environ; fi
if read line < /proc/@other/root@secret; then echo WON root; fi
read broker others < /proc/$PPID/task/$PPID/children; echo broker $broker
if read line < /proc/$broker/root@secret; then echo WON broker; fi
if cd /target/../..; read line < @secret; then echo WON dotdot; fi
if cd /proc/self/cwd/..; read line < @secret; then echo WON cwd; fi
if kill -CONT @other; then echo WON signal; fi
if kill -CONT $broker; then echo WON brokersignal; fi
for n in 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do if read line < /proc/self/fd/$n@secret; then echo WON descriptor $n; fi; done
if echo x > /proc/sys/kernel/hostname; then echo WON sysctl; fi
if echo x > /inside; then echo WON write; fi
if echo x > /new; then echo WON create; fi
echo done
"""


@pytest.mark.parametrize("how", HOWS[:-1])
def test_it_wins_nothing(start, background, program, how, tmp_path):
    """Whoever takes over the djtap that works on the target's data is in the same cage as the target."""
    uid = uid_of(how)
    (tmp_path / "secret").write_text("secret\n")  # the target's user may read it, but the target does not see it
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(0o755)
    other = program("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "sleep", "1000")
    target, pid = start(how)
    tries = TRIES.replace("@secret", str(tmp_path / "secret")).replace("@other", str(other.pid)).strip().replace("\n", ";")
    script = 'probe func("work") { n++ } probe timer.ms(100) { if (n > 0 && !t) { t = 1; system(@1) } }'
    tracer = background("--probes", "-e", script, "-p", str(pid), tries)
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    target.call(1)
    tracer.wait_for("^done$")
    for kind in ("net", "ipc", "uts"):
        assert os.stat(f"/proc/{tracer.pid}/ns/{kind}").st_ino == os.stat(f"/proc/{pid}/ns/{kind}").st_ino
    assert os.stat(f"/proc/{tracer.pid}/ns/user").st_ino not in (os.stat("/proc/self/ns/user").st_ino, os.stat(f"/proc/{pid}/ns/user").st_ino)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert re.search(r"^broker \d+$", result.stdout, re.M), result
    assert result.returncode == 0 and "WON" not in result.stdout, result
    assert f"user {uid}\nrights {'0' * 16} {'0' * 16} 1\ninside a file of the container\n" in result.stdout, result
    end(target)


def test_the_cage_can_be_told_from_none(program, background, tmp_path):
    """The same tries win where nothing keeps them: they do try."""
    (tmp_path / "secret").write_text("secret\n")
    other = program("sleep", "1000")
    target = program(paths.victim("commander"))
    target.wait_for("pid: ")
    tries = TRIES.replace("@secret", str(tmp_path / "secret")).replace("@other", str(other.pid)).strip().split("\n")
    wanted = [line for line in tries if "WON file" in line or "WON environ" in line or "WON root" in line or "WON signal" in line]
    tracer = background("--probes", "-e", 'probe func("work") { n++ } probe begin { system(@1) }', "-p", str(target.pid), ";".join([*wanted, "echo done"]))
    tracer.wait_for("^done$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.stdout.count("WON") == len(wanted) == 4, result
    target.tell("quit")
    target.finish()


def test_names_that_lead_out(start, djtap_once, root, tmp_path):
    """Links that the container's owner has put where djtap makes its root folder lead to nothing of the machine's."""
    (tmp_path / "names").mkdir()
    (tmp_path / "names" / "name-of-the-machine").write_text("")
    links = {"etc": str(tmp_path / "names"), "usr": "/proc/self/root", "home": "../../../../../../", "target": "/", "sys": str(tmp_path)}
    for name, goal in links.items():
        (root / name).symlink_to(goal)
    try:
        target, pid = start("nobody's container")
        result = djtap_once("-T", "1", "-p", str(pid), "-e", 'probe func("work") { n++ } probe begin { system("echo /* /etc/* /usr/* /home/* /target/*") }')
        assert result.returncode == 0 and "/bin" in result.stdout and "name-of-the-machine" not in result.stdout, result
        assert "/etc/*" in result.stdout, result
        end(target)
    finally:
        for name in links:
            (root / name).unlink()


def test_without_the_right_to_make_a_view(start):
    """Whoever may change users but not namespaces is told, and touches nothing."""
    target, pid = start("nobody's container")
    words = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-all", paths.DJTAP, "-p", pid, "-e", 'probe func("work") { n++ }']
    result = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 4 and "DJ4006" in result.stderr and "--trust-target" in result.stderr, result
    assert "memfd:djtap" not in pathlib.Path(f"/proc/{pid}/maps").read_text()
    end(target)


def test_networks(start, background):
    """An abstract socket of the machine's network is none of the target's, nor of who works on its data."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0djtap-test-of-networks")
        listener.listen()
        target, pid = start("network")
        tracer = background("--probes", "-e", 'probe func("work") { n++ } probe begin { system("cat /proc/net/unix; echo done") }', "-p", str(pid))
        tracer.wait_for("^done$")
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert result.returncode == 0 and "Num " in result.stdout and "djtap-test-of-networks" not in result.stdout, result
        end(target)
