# SPDX-License-Identifier: Apache-2.0
"""Every probe of tapsets/ has fired on the real library, as often as the program says that it made the call."""
import os
import pathlib
import re
import tempfile

import pytest

from support import paths, run

TAPSETS = paths.ROOT / "tapsets"
PYTHON = ["--", "/usr/bin/python3", "-I", "-S", "-c"]
# Probes of nothing that a library does, and those that say themselves that they never fire.
ELSEWHERE = {"begin", "end", "prometheus", "syscall.exit.return", "syscall.exit_group.return",
             "syscall.send", "syscall.send.return", "syscall.recv", "syscall.recv.return"}
# The C and C++ libraries call these themselves, too.
MORE = {"libc.malloc", "libc.calloc", "libc.realloc", "libc.free", "libc.allocate", "libc.getenv", "syscall.futex", "syscall.close",
        "syscall.read", "syscall.write", "syscall.openat", "syscall.fstatat", "syscall.prlimit64", "syscall.mmap2", "syscall.munmap", "syscall.mprotect",
        "syscall.socket", "syscall.ioctl", "syscall.brk", "syscall.getrandom", "syscall.rseq", "syscall.set_robust_list",
        "syscall.madvise", "syscall.rt_sigaction", "syscall.rt_sigprocmask", "cxx.new", "cxx.delete", "syscall_any", "pthread.contended", "pthread.cond.wait",
        "pthread.mutex.lock", "pthread.mutex.unlock", "kprocess.create",
        "kprocess.exec_complete"}
# What one call of the program is besides.
ALSO = {"kprocess.exec": "syscall.execve", "kprocess.exec_complete": "syscall.execve", "kprocess.create": "syscall.clone3",
        "kprocess.exit": "syscall.exit_group", "scheduler.process_exit": "syscall.exit_group", "syscall_any": "syscall.poll",
        "libc.allocate": "libc.malloc"}


def aliases():
    """Names of all probes that tapsets/*.djt define, but nd_syscall's, which are syscall's."""
    found = set()
    for path in TAPSETS.glob("*.djt"):
        found |= set(re.findall(r"^probe ([\w.]+)", path.read_text(), re.M))
    return {name for name in found if not name.startswith("nd_syscall.")} - ELSEWHERE


def fired(names, *words, env=None):
    """How often each of these probes fired while the program ran, and what it printed."""
    script = "".join(f'probe {name} {{ n["{name}"]++ }}\n' for name in sorted(names))
    result = run.run(["-e", script, *[str(word) for word in words]], env=env)
    assert result.returncode == 0, result
    return {key.strip('"'): int(count) for key, count in result.array("n")}, result


def in_order(names):
    """The same program's calls by one thread, as they come: what it says, and which probes fire, entries and returns."""
    script = "".join(f'probe {name} {{ if (tid() == target()) println("fired {name}") }}\n' for name in sorted(names))
    with tempfile.NamedTemporaryFile("r") as output:  # two writers to one pipe may meet within a line
        result = run.run(["-o", output.name, "-e", script, "-c", paths.victim("library_calls")])
        return (re.findall(r"^then (\S+)$", result.stdout, re.M), re.findall(r"^fired (\S+)$", output.read(), re.M))


def of_family(*families):
    return {name for name in aliases() if name.split(".")[0] in families}


def test_probes_of_the_c_and_cxx_libraries():
    names = of_family("libc", "pthread", "syscall", "syscall_any", "cxx", "kprocess", "scheduler")
    counts, result = fired(names, "-c", paths.victim("library_calls"))
    made = {name: int(count) for name, count in re.findall(r"^made (\S+) (\d+)$", result.stdout, re.M)}
    wrong = {}
    for name in names:
        base = name.removesuffix(".return")
        truth, count = made[ALSO.get(base, base)], counts.get(name, 0)
        if count != truth and not (base in MORE and count > truth):
            wrong[name] = count, truth
    assert not wrong, (wrong, result)


def test_each_probe_tells_its_own_function():
    """Many functions are called equally often; in the order of the calls no probe can stand at another's function."""
    others = MORE | set(ALSO) | {"syscall.exit", "syscall.exit_group", "syscall.clone", "syscall.clone3"}
    others |= {"syscall.gettid", "syscall.setsid", "syscall.vhangup"}  # other threads and processes of the program make these
    names = {name for name in of_family("libc", "pthread", "syscall", "cxx") if name.removesuffix(".return") not in others}
    made, fired_names = in_order(names)
    entries, returns = names & set(made), {name for name in names if name.endswith(".return")}
    assert len(entries) > 60 and len(returns) > 50
    assert [name for name in fired_names if name in entries] == [name for name in made if name in entries]
    expected = [f"{name}.return" for name in made if f"{name}.return" in returns]
    assert [name for name in fired_names if name in returns] == expected


SQLITE = """import ctypes
c = ctypes.CDLL('libsqlite3.so.0'); db = ctypes.c_void_p(); s = ctypes.c_void_p()
for n in range(3):
    assert (c.sqlite3_open(b':memory:', ctypes.byref(db)) if n else c.sqlite3_open_v2(b':memory:', ctypes.byref(db), 6, None)) == 0
    assert c.sqlite3_exec(db, b'create table t(a); insert into t values(7)', None, None, None) == 0
    assert c.sqlite3_prepare_v2(db, b'select a from t', -1, ctypes.byref(s), None) == 0
    assert c.sqlite3_step(s) == 100 and c.sqlite3_reset(s) == 0 and c.sqlite3_step(s) == 100 and c.sqlite3_finalize(s) == 0 and c.sqlite3_close(db) == 0
"""


def test_probes_of_sqlite():
    """The library executes, prepares, steps and finalizes statements of its own, too."""
    counts, result = fired(of_family("sqlite"), *PYTHON, SQLITE, env={**os.environ, "LD_PRELOAD": "libsqlite3.so.0"})
    assert set(counts) == of_family("sqlite"), result
    for name in ("open", "close"):
        assert counts[f"sqlite.{name}"] == 3, counts
    for name, least in (("exec", 3), ("prepare", 3), ("step", 6), ("reset", 3), ("finalize", 3)):
        assert counts[f"sqlite.{name}"] >= least, counts
    assert counts["sqlite.prepare.return"] == counts["sqlite.prepare"] and counts["sqlite.step.return"] == counts["sqlite.step"], counts


TLS = """import hashlib, ssl
hashlib.sha256(b'x' * 5000).hexdigest()
s = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); s.set_ciphers('aNULL:@SECLEVEL=0'); s.maximum_version = ssl.TLSVersion.TLSv1_2
c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT); c.check_hostname = False; c.verify_mode = ssl.CERT_NONE
c.set_ciphers('aNULL:@SECLEVEL=0'); c.maximum_version = ssl.TLSVersion.TLSv1_2
a, b = ssl.MemoryBIO(), ssl.MemoryBIO(); server = s.wrap_bio(a, b, True); client = c.wrap_bio(b, a); shakes = 0
for n in range(3):
    for end in (client, server):
        shakes += 1
        try: end.do_handshake()
        except ssl.SSLWantReadError: pass
for n in range(4): client.write(b'word'); assert server.read(100) == b'word'
print('SHAKES', shakes)"""


def test_probes_of_openssl():
    counts, result = fired(of_family("openssl"), *PYTHON, TLS, env={**os.environ, "LD_PRELOAD": "libssl.so.3"})
    for name in ("read", "read.return", "write", "write.return"):
        assert counts[f"openssl.{name}"] == 4, counts
    assert counts["openssl.handshake"] == int(re.search(r"SHAKES (\d+)", result.stdout)[1]) and counts["openssl.digest"] >= 1, counts


@pytest.mark.skipif(not pathlib.Path("/usr/bin/python3.11").exists(), reason="other versions have other marks")
def test_probes_of_python():
    program = "import gc, sys\nsys.addaudithook(lambda *a: None)\ngc.collect()\nimport colorsys\ntry: raise ValueError\nexcept ValueError: pass"
    counts, result = fired(of_family("python"), "--", "/usr/bin/python3.11", "-I", "-c", program)
    assert set(counts) == of_family("python"), (of_family("python") - set(counts), result)


def test_no_family_is_forgotten():
    """input.char and input.line: test_input.py."""
    families = {name.split(".")[0] for name in aliases()}
    assert families - {"input"} == {"libc", "pthread", "syscall", "syscall_any", "cxx", "kprocess", "scheduler", "sqlite", "openssl", "python"}
