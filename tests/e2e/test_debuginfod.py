# SPDX-License-Identifier: Apache-2.0
"""Names and values of a stripped program whose debug file only a debuginfod server has."""
import functools
import http.server
import re
import subprocess
import threading

import pytest

from support.run import run

SOURCE = r"""
#include <stdio.h>
static int noise[1000];
__attribute__((noinline)) static long visit(int depth, const char* name) { __asm__ volatile("" ::"r"(name)); return depth * 2 + noise[depth]; }
int main(void) {
  long s = 0;
  for (int i = 0; i < 4; i++) s += visit(i, "name");
  printf("sum: %ld\n", s);
}
"""


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A stripped program, and what was asked of the server that has its debug file."""
    (tmp_path / "p.c").write_text(SOURCE)
    program = tmp_path / "p"
    subprocess.run(["gcc", "-g", "-O1", "-Wl,--build-id", "-o", program, tmp_path / "p.c"], check=True)
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout
    folder = tmp_path / "served" / "buildid" / re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
    folder.mkdir(parents=True)
    subprocess.run(["objcopy", "--only-keep-debug", program, folder / "debuginfo"], check=True)
    subprocess.run(["strip", program], check=True)
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            asked.append(self.path)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(tmp_path / "served"))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("DEBUGINFOD_URLS", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(tmp_path / "cache"))
        yield program, asked
        server.shutdown()


def test_names_and_values(djtap, served):
    program, asked = served
    result = djtap("-e", 'probe process.function("visit") { n++; d += $depth } probe process.function("visit").return { r += $return }', "-c", program)
    if not asked:
        pytest.skip("libdebuginfod is not here")
    assert result.globals == {"n": 4, "d": 6, "r": result.facts["sum"]}, result


def test_lists_and_stacks(djtap_once, served):
    program, asked = served
    listed = djtap_once("-l", 'process.function("vis*")', "-c", program)
    if not asked:
        pytest.skip("libdebuginfod is not here")
    assert '"visit@' in listed.stdout, listed
    stack = djtap_once("-e", 'probe process.function("visit") { print_ubacktrace() exit() }', "-c", program)
    assert re.search(r": visit\+0x0.*\n.*: main\+", stack.stdout), stack


def test_no_server_is_asked_without_the_variable(served, monkeypatch):
    program, asked = served
    monkeypatch.delenv("DEBUGINFOD_URLS")
    result = run(["-e", 'probe process.function("visit") { n++ }', "-c", program])
    assert "DJ3004" in result.stderr and not asked, result


def test_a_server_without_the_file(djtap_once, served, tmp_path):
    """The program is what it would be without the server."""
    program, _ = served
    for file in (tmp_path / "served").rglob("debuginfo"):
        file.unlink()
    result = djtap_once("-e", 'probe process.function("visit") { n++ }', "-c", program)
    assert "DJ3004" in result.stderr and "is stripped" in result.stderr, result
