# SPDX-License-Identifier: Apache-2.0
"""Debug files for nobody's process: a root's djtap fetches them as nobody, and shows nobody nothing of its own."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import pytest

from support.debug_servers import Server, build_id, send, stripped

if os.getuid() != 0:
    pytest.skip("targets run as nobody, djtap as root", allow_module_level=True)
if "libdebuginfod.so.1" not in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout:
    pytest.skip("libdebuginfod is not here", allow_module_level=True)

NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
WAITS = r"""
#include <stdio.h>
#include <unistd.h>
static long noise[64];
__attribute__((noinline)) static long hidden(int depth) { __asm__ volatile("" ::: "memory"); return depth * 2 + noise[depth & 63]; }
int main(void) {
  char line[16];
  long sum = 0;
  printf("pid: %d\n", getpid());
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) for (int i = 0; i < 5; i++) sum += hidden(i);
  printf("sum: %ld\n", sum);
}
"""
SCRIPT = 'probe process.function("hidden") { n++; d += $depth } probe begin { println("ready") }'


def owner_of_port(port):
    """The user whose process has the socket, by the kernel's table."""
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[1].endswith(f":{port:04X}"):
            return int(words[7])
    return None


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="djtap-hostile-") as name:
        pathlib.Path(name).chmod(0o755)
        yield pathlib.Path(name)


@pytest.fixture
def served(folder, monkeypatch):
    """A stripped program of nobody's, the server that has its debug file, and the users who have asked."""
    program, debug = stripped(folder, source=WAITS)
    program.chmod(0o755)
    data, name, users = debug.read_bytes(), build_id(program), []
    debug.unlink()

    def answer(handler):
        users.append(owner_of_port(handler.client_address[1]))
        return send(handler, data) if name in handler.path else handler.send_error(404)

    server = Server(answer)
    monkeypatch.setenv("DEBUGINFOD_URLS", server.url)
    yield program, server, users
    server.shutdown()
    server.server_close()


CACHE = pathlib.Path(f"/var/tmp/djtap-debuginfod-{NOBODY}")


@pytest.fixture
def roots_cache(folder, monkeypatch):
    """What root's environment names; and nobody's, who has no home, is empty."""
    if os.access(pathlib.Path("~nobody").expanduser(), os.F_OK):
        pytest.skip("nobody has a home")
    shutil.rmtree(CACHE, ignore_errors=True)
    cache = folder / "cache"
    cache.mkdir()
    cache.chmod(0o777)
    monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(cache))
    yield cache
    shutil.rmtree(CACHE, ignore_errors=True)


@pytest.fixture
def target(program, served):
    started = program(*AS_NOBODY, served[0], cwd="/tmp")
    started.wait_for("pid: ")
    yield started
    started.process.stdin.close()
    started.finish()


def test_the_file_comes_to_nobody(target, background, served, roots_cache):
    """Names and values are there; who has asked, and whose the file is, is nobody."""
    path, _, users = served
    tracer = background("-e", SCRIPT, "-p", str(target.pid))
    tracer.wait_for("^ready$")
    target.tell("")
    target.process.stdin.close()
    target.wait_for("sum: ")
    result = tracer.finish()
    assert result.globals == {"n": 5, "d": 10} and "DJ4908" not in result.stderr, result
    assert users and set(users) == {NOBODY}, users
    files = [CACHE, *CACHE.rglob("*")]
    assert (CACHE / build_id(path) / "debuginfo").stat().st_size > 0, files
    assert {file.stat().st_uid for file in files} == {NOBODY} and not list(roots_cache.iterdir()), files


@pytest.mark.parametrize("whose", ["root's", "open to all", "a link"])
def test_a_folder_that_another_has_made(target, djtap_once, served, roots_cache, whose):
    """Files are neither put there nor believed."""
    CACHE.symlink_to(roots_cache) if whose == "a link" else CACHE.mkdir()
    if whose == "open to all":
        os.chown(CACHE, NOBODY, NOBODY)
        CACHE.chmod(0o777)
    result = djtap_once("-T", "0.1", "-e", SCRIPT, "-p", str(target.pid))
    there = list(CACHE.iterdir())
    CACHE.unlink() if whose == "a link" else CACHE.rmdir()
    assert "DJ3004" in result.stderr and f"user {NOBODY} has no home" in result.stderr, result
    assert result.stderr.count("DJ4908") == 1 and not served[2] and not there, result


def test_names_with_a_password_stay_with_root(target, background, served, roots_cache, monkeypatch):
    """Nobody may see the environment of a process that has become its equal: such servers are not asked."""
    _, server, users = served
    monkeypatch.setenv("DEBUGINFOD_URLS", server.url.replace("//", "//me:hush@"))
    script = 'probe begin { system("env") } probe timer.ms(50) { println("ready") } probe process.function("main")? { n++ }'
    tracer = background("-e", script, "-p", str(target.pid))
    tracer.wait_for("^ready$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert re.search("^PATH=", result.stdout, re.M) and "hush" not in result.stdout + result.stderr and not users, result
