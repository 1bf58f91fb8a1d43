# SPDX-License-Identifier: Apache-2.0
"""Debug files of objects that the program opens during the session: it never waits for a server."""
import subprocess
import time

import pytest

from support.debug_servers import build_id, send
from support.paths import victim
from support.run import PATIENCE, Background, command, run

SOURCE = r"""
static long noise[64];
__attribute__((noinline)) static long hidden(long depth) { __asm__ volatile("" ::: "memory"); return depth + 1 + noise[depth & 63]; }
long lib_work(long n) { long v = hidden(n); __asm__ volatile("" ::"r"(v)); return v; }
"""
SCRIPT = 'probe func("libserved.so!hidden")? { n++; d += $depth }'


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A stripped library, its debug file, and where the client's cache will have that."""
    if "libdebuginfod.so.1" not in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout:
        pytest.skip("libdebuginfod is not here")
    (tmp_path / "served.c").write_text(SOURCE)
    path, debug = tmp_path / "libserved.so", tmp_path / "served.debug"
    subprocess.run(["gcc", "-g", "-O1", "-shared", "-fPIC", "-Wl,--build-id", "-o", path, tmp_path / "served.c"], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", path, debug], check=True)
    subprocess.run(["strip", path], check=True)
    data = debug.read_bytes()
    debug.unlink()
    monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(tmp_path / "cache"))
    return path, data, tmp_path / "cache" / build_id(path) / "debuginfo"


def of(path, data):
    name = build_id(path)
    return lambda handler: send(handler, data) if name in handler.path else handler.send_error(404)


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def start(path):
    return Background(command(["-e", SCRIPT, "--", victim("plugin"), path]))


def call(djtap, number):
    djtap.order(f"call {number}", f"called: {number}")


def test_what_comes_is_used_the_next_time(library, serve):
    """Of the object that is opened again, and of the next session, which asks nobody any more."""
    path, data, kept = library
    server = serve(of(path, data))
    with start(path) as djtap:
        djtap.order("open", "opened: 1")
        call(djtap, 5)
        until(lambda: kept.exists() and kept.stat().st_size == len(data))
        djtap.order("close", "closed: 0")
        djtap.order("open", "opened: 1$")
        call(djtap, 3)
        djtap.tell("quit")
        result = djtap.finish()
    assert result.returncode == 0 and result.globals == {"n": 3, "d": 0 + 1 + 2} and "DJ49" not in result.stderr, result
    asked = len(server.asked)
    again = run(["-e", SCRIPT, "--", victim("plugin"), path], stdin="open\ncall 5\nquit\n")
    assert again.globals == {"n": 5, "d": 10} and "DJ49" not in again.stderr and len(server.asked) == asked, again


def test_what_comes_too_late_is_told(library, serve):
    path, data, kept = library
    serve(of(path, data))
    with start(path) as djtap:
        djtap.order("open", "opened: 1")
        call(djtap, 5)
        until(lambda: kept.exists() and kept.stat().st_size == len(data))
        djtap.tell("quit")
        result = djtap.finish()
    assert result.returncode == 0 and result.stderr.count("DJ4909") == 1 and str(path) in result.stderr, result


def test_a_server_that_hangs_holds_nobody(library, serve):
    """Neither the program, which opens and calls, nor djtap's end."""
    path, _, _ = library
    server = serve(lambda handler: handler.server.ended.wait(PATIENCE))
    with start(path) as djtap:
        djtap.order("open", "opened: 1")
        call(djtap, 5)
        until(lambda: server.asked)
        djtap.order("close", "closed: 0")
        djtap.tell("quit")
        result = djtap.finish()
    assert result.returncode == 0 and "total: 5" in result.stdout and "DJ49" not in result.stderr, result


def test_a_server_that_lies(library, serve):
    path, data, kept = library
    serve(lambda handler: send(handler, data[: len(data) // 2]))
    with start(path) as djtap:
        djtap.order("open", "opened: 1")
        call(djtap, 5)
        until(lambda: kept.exists() and kept.stat().st_size > 0)
        djtap.tell("quit")
        result = djtap.finish()
    assert result.returncode == 0 and result.stderr.count("DJ4908") == 1 and "cut short" in result.stderr, result
    assert not kept.exists(), result


def test_what_lies_in_the_cache_is_not_believed(library, serve):
    """A file of another build id there, and no server that has the right one."""
    path, _, kept = library
    kept.parent.mkdir(parents=True)
    subprocess.run(["cp", victim("plugin"), kept], check=True)
    serve(lambda handler: handler.send_error(404))
    result = run(["-e", SCRIPT, "--", victim("plugin"), path], stdin="open\ncall 5\nquit\n")
    assert result.returncode == 0 and result.facts["total"] == 5 and result.globals.get("n", 0) == 0, result
