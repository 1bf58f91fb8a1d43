# SPDX-License-Identifier: Apache-2.0
"""Debian's own debuginfod on loopback, and servers that hang, fail and lie."""
import os
import pty
import random
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.request

import pytest

from support.debug_servers import build_id, send, stripped
from support.run import PATIENCE, Background, command, run

# Names what is hidden, and works without them.
WALKS = 'global s probe process.function("known") { n++ } probe process.function("known").return { s = sprint_ubacktrace() . usymname(uaddr()); t++ }'


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(tmp_path / "cache"))
    monkeypatch.delenv("DEBUGINFOD_TIMEOUT", raising=False)
    if subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout.count("libdebuginfod.so.1") == 0:
        pytest.skip("libdebuginfod is not here")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def debian_server(tmp_path):
    """serve(folder): Debian's server over a folder of files; what it says of a build id it knows."""
    if shutil.which("debuginfod") is None:
        pytest.skip("there is no debuginfod")
    servers = []

    def serve(folder, *build_ids):
        port = free_port()
        with open(tmp_path / "server.log", "w") as log:
            servers.append(subprocess.Popen(["debuginfod", "-d", ":memory:", "-p", str(port), "-F", str(folder)], stdout=log, stderr=log,
                                            env={**os.environ, "DEBUGINFOD_URLS": ""}))
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + PATIENCE
        for each in build_ids:
            while True:
                try:
                    urllib.request.urlopen(f"{url}/buildid/{each}/debuginfo").close()
                    break
                except OSError:
                    assert time.monotonic() < deadline and servers[-1].poll() is None, (tmp_path / "server.log").read_text()
                    time.sleep(0.1)
        return url

    yield serve
    for server in servers:
        server.send_signal(signal.SIGTERM)
        server.wait(PATIENCE)


def test_names_values_and_stacks_of_debians_server(djtap_once, debian_server, tmp_path, monkeypatch):
    program, debug = stripped(tmp_path)
    (tmp_path / "served").mkdir()
    debug.rename(tmp_path / "served" / "p.debug")
    monkeypatch.setenv("DEBUGINFOD_URLS", debian_server(tmp_path / "served", build_id(program)))
    result = djtap_once("-e", 'global s probe process.function("hidden") { n++ d += $depth + $r->id } probe process.function("hidden").return { r += $return } '
                              'probe end { println(s) } probe process.function("hidden") { s = sprint_ubacktrace() }', "-c", program)
    assert result.globals["n"] == 5 and result.globals["d"] == 0 + 1 + 2 + 3 + 4 + 5 * 7, result
    assert result.globals["r"] == result.facts["sum"] - 5, result
    assert re.search(r"hidden\+.*\n.*known\+.*\n.*main\+", result.stdout), result
    assert result.stderr == "", result
    # The second time the client's cache has it.
    monkeypatch.setenv("DEBUGINFOD_URLS", f"http://127.0.0.1:{free_port()}")
    again = djtap_once("-e", 'probe process.function("hidden") { n++; d += $depth }', "-c", program)
    assert again.globals == {"n": 5, "d": 10} and again.stderr == "", again


def test_what_dwz_shares_comes_from_the_server_too(djtap_once, debian_server, tmp_path, monkeypatch):
    """.gnu_debugaltlink of a file that a server has sent names another one that only the server has."""
    if shutil.which("dwz") is None:
        pytest.skip("dwz is not here")
    programs = [stripped(tmp_path, name, options) for name, options in (("p", ("-O1",)), ("q", ("-O1", "-DOTHER")))]
    subprocess.run(["dwz", "-m", tmp_path / "shared", "-M", "/nowhere/shared.debug", *(debug for _, debug in programs)], check=True)
    links = subprocess.run(["readelf", "--debug-dump=links", "--wide", programs[0][1]], capture_output=True, text=True, check=False).stdout
    assert "/nowhere/shared.debug" in links, links
    (tmp_path / "served").mkdir()
    for file in (tmp_path / "shared", programs[0][1], programs[1][1]):
        file.rename(tmp_path / "served" / f"{file.name}.debug")
    program = programs[0][0]
    shared_id = build_id(tmp_path / "served" / "shared.debug")
    monkeypatch.setenv("DEBUGINFOD_URLS", debian_server(tmp_path / "served", build_id(program), shared_id))
    script = 'global s probe process.function("hidden") { n++; d += $r->sum[2]; s = user_string($r->name) } probe end { println(s) }'
    result = djtap_once("-e", script, "-c", program)
    assert result.globals == {"n": 5, "d": 15} and "seven" in result.stdout and result.stderr == "", result
    assert (tmp_path / "cache" / shared_id).is_dir(), result


def libraries(folder):
    return {line for file in folder.glob("ld.*") for line in re.findall(r"file=(\S+?)(?: |;|$)", file.read_text())}


def test_a_run_that_lacks_nothing_does_not_load_the_client(djtap_once, tmp_path, monkeypatch):
    """libcurl and its libraries take longer than djtap's own start."""
    monkeypatch.setenv("DEBUGINFOD_URLS", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("LD_DEBUG", "files")
    monkeypatch.setenv("LD_DEBUG_OUTPUT", str(tmp_path / "ld"))
    result = djtap_once("-e", 'probe process.function("main") { n += $argc }', "-c", whole(tmp_path))
    assert result.globals == {"n": 1}, result
    assert "libdw.so.1" in libraries(tmp_path), "LD_DEBUG does not tell"
    assert not [name for name in libraries(tmp_path) if "debuginfod" in name or "curl" in name]


def whole(folder):
    (folder / "w.c").write_text("int main(int argc, char** argv) { return argc - argc; }")
    subprocess.run(["gcc", "-g", "-o", folder / "w", folder / "w.c"], check=True)
    return folder / "w"


def hang(handler):
    handler.server.ended.wait(PATIENCE)


def trickle(handler):
    send(handler, b"\x7fELF", 10_000_000)
    while not handler.server.ended.wait(0.1):
        handler.wfile.write(b"x")


def warnings(result):
    return re.findall(r"^.*DJ4908.*$", result.stderr, re.M)


def works_without(result, server, *texts):
    """One clear line, and all that needs no debug file."""
    assert len(set(server.asked)) == 1, (server.asked, result)  # libdebuginfod tries again by itself
    assert len(warnings(result)) == 1, result
    for text in (server.url, *texts):
        assert text in warnings(result)[0], result
    assert result.globals["n"] == 5 and result.returncode == 0, result


@pytest.mark.parametrize("answer", [hang, trickle], ids=["sends nothing", "sends slowly"])
def test_a_server_that_hangs(djtap_once, serve, tmp_path, monkeypatch, answer):
    monkeypatch.setenv("DEBUGINFOD_TIMEOUT", "2")
    program, _ = stripped(tmp_path)
    server = serve(answer)
    works_without(djtap_once("-e", WALKS, "-c", program), server, "DEBUGINFOD_TIMEOUT: 2 s")


def lies(tmp_path):
    """What a server that lies may send for the program p: text, and what the line says of it."""
    other, _ = stripped(tmp_path, "other", ("-O2", "-DOTHER"))
    debug = (tmp_path / "p.debug").read_bytes()
    return {
        "another file": ((tmp_path / "other.debug").read_bytes(), f"build id {build_id(other)}"),
        "a part": (debug[: len(debug) // 2], "cut short"),
        "no end": (debug[:-100], "cut short"),
        "garbage": (random.Random(1).randbytes(50_000), "no ELF file"),
        "a page": (b"<html>please log in</html>", "no ELF file"),
    }


@pytest.mark.parametrize("lie", ["another file", "a part", "no end", "garbage", "a page"])
def test_a_server_that_lies(djtap_once, serve, tmp_path, lie):
    program, _ = stripped(tmp_path)
    data, why = lies(tmp_path)[lie]
    server = serve(lambda handler: send(handler, data))
    result = djtap_once("-e", WALKS, "-c", program)
    works_without(result, server, program.name)
    assert re.search(why, warnings(result)[0]), result
    # gdb would believe what the cache has.
    assert not [file for file in (tmp_path / "cache").rglob("debuginfo") if file.stat().st_size > 0], result


@pytest.mark.parametrize("answer", [
    lambda handler: send(handler, b"\x7fELF", 100_000),
    lambda handler: handler.send_error(500),
    lambda handler: handler.wfile.write(b"no such protocol\r\n\r\n"),
], ids=["breaks off", "fails", "speaks something else"])
def test_a_server_that_fails(djtap_once, serve, tmp_path, answer):
    """To have no file is no failure; the rest is told in one line at most."""
    program, _ = stripped(tmp_path)
    server = serve(answer)
    result = djtap_once("-e", WALKS, "-c", program)
    assert server.asked and len(warnings(result)) <= 1, result
    assert result.globals["n"] == 5 and result.returncode == 0, result


def test_nobody_is_there(djtap_once, tmp_path, monkeypatch):
    program, _ = stripped(tmp_path)
    monkeypatch.setenv("DEBUGINFOD_URLS", f"http://127.0.0.1:{free_port()}")
    result = djtap_once("-e", WALKS, "-c", program)
    assert result.globals["n"] == 5 and len(warnings(result)) == 1, result


def test_no_debuginfod(djtap_once, serve, tmp_path):
    program, _ = stripped(tmp_path)
    server = serve(hang)
    result = djtap_once("--no-debuginfod", "-e", WALKS, "-c", program)
    assert result.globals["n"] == 5 and not server.asked and result.stderr == "", result
    missing = djtap_once("--no-debuginfod", "-e", 'probe process.function("hidden") { n += $depth }', "-c", program)
    assert "DJ3004" in missing.stderr and not server.asked, missing


def test_a_name_that_is_known_here_asks_nobody(djtap_once, serve, tmp_path):
    program, _ = stripped(tmp_path)
    server = serve(hang)
    result = djtap_once("-e", 'probe process.function("known") { n++ } probe process.function("hidden")? { m++ }', "-c", program)
    assert result.globals["n"] == 5 and not server.asked and result.stderr == "", result


def test_a_kept_plan_is_of_what_was_asked(serve, tmp_path):
    """What a wildcard means with a server's file is not what it means without."""
    program, debug = stripped(tmp_path)
    server = serve(lambda handler: send(handler, debug.read_bytes()) if program_id in handler.path else handler.send_error(404))
    program_id = build_id(program)
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "kept")}
    script = ["-e", 'probe process.function("*n") { n++ }', "-c", program]  # known, main and, of the server, hidden
    counts = [run([*options, *script], env=env).globals["n"] for options in ([], ["--no-debuginfod"], [], ["--no-debuginfod"])]
    assert counts[0] == counts[2] == 11 and counts[1] == counts[3] == 6 and server.asked, counts


def test_ctrl_c_ends_the_waiting(serve, tmp_path):
    program, _ = stripped(tmp_path)
    server = serve(hang)
    with Background(command(["-e", WALKS, "-c", program])) as djtap:
        deadline = time.monotonic() + PATIENCE
        while not server.asked and time.monotonic() < deadline:
            time.sleep(0.01)
        djtap.signal(signal.SIGINT)
        result = djtap.finish()
    assert server.asked and "DJ4908" not in result.stderr, result


def test_what_is_waited_for_is_shown(serve, tmp_path, monkeypatch):
    program, _ = stripped(tmp_path)
    monkeypatch.setenv("DEBUGINFOD_TIMEOUT", "0")
    seen = threading.Event()
    serve(lambda handler: (seen.wait(PATIENCE), handler.send_error(404)))
    ours, its = pty.openpty()
    with subprocess.Popen(command(["-e", WALKS, "-c", program]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=its) as djtap:
        os.close(its)
        text = b""
        try:
            while piece := os.read(ours, 4096):
                text += piece
                if b"djtap: asking debuginfod for the symbols of " in text:
                    seen.set()
        except OSError:  # the terminal's other end is closed
            pass
        assert djtap.wait(PATIENCE) == 0
    os.close(ours)
    assert f"asking debuginfod for the symbols of {program} ... " in text.decode() and seen.is_set(), text
