# SPDX-License-Identifier: Apache-2.0
"""Fixtures: djtap as a function, in both engine modes, and as an unprivileged user."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True

from support import debug_servers, doctors, paths, produced, run  # noqa: E402 (the path comes first)
from support.control import Control  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
NOBODY = 65534

# Analyses that the tests keep go beside the build, not into the user's cache.
os.environ["XDG_CACHE_HOME"] = str(paths.BUILD / "cache")
# No test asks a server but those that bring their own.
os.environ.pop("DEBUGINFOD_URLS", None)


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="rewrite the expectations of the golden tests")


def is_rerun(options):
    """Whether only what failed before is run again (--last-failed, of a plugin that can be left out)."""
    return getattr(options, "lf", False)


def is_whole(config):
    """Whether all tests were to run."""
    options = config.option
    parts = [options.keyword, options.markexpr, options.collectonly, options.update, is_rerun(options), getattr(options, "deselect", None)]
    return not any(parts) and not hasattr(config, "workerinput") and {str(pathlib.Path(arg).resolve()) for arg in config.args} == {str(HERE)}


def pytest_sessionstart(session):
    if not hasattr(session.config, "workerinput") and not is_rerun(session.config.option):
        produced.begin()


def skipped(config):
    return len(config.pluginmanager.get_plugin("terminalreporter").stats.get("skipped", []))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    """Every diagnostic code is to be given by djtap in some test; one that was skipped may be the one."""
    good = session.exitstatus == pytest.ExitCode.OK and is_whole(session.config)
    if good and produced.never() and skipped(session.config) == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    stats = terminalreporter.stats
    if is_whole(config) and produced.never() and not stats.get("failed") and not stats.get("error"):
        terminalreporter.line(f"no test has made djtap say {', '.join(produced.never())} ({skipped(config)} were skipped)")


@pytest.fixture(params=["jump", "int3"])
def mode(request):
    """How sites are built: by jumps where that is safe, or by int3 everywhere."""
    return request.param


@pytest.fixture
def mode_options(mode):
    return [] if mode == "jump" else ["--no-optimize"]


@pytest.fixture
def djtap(mode_options):
    """djtap(args...) runs djtap to its end, in each mode, and returns a Result."""
    return lambda *args, **options: run.run([*mode_options, *args], **options)


@pytest.fixture
def djtap_once():
    """The same in one mode only: for what the engine has no part in."""
    return lambda *args, **options: run.run(args, **options)


@pytest.fixture
def background(mode_options):
    """background(args...) starts djtap and returns a Background that ends with the test."""
    started = []

    def start(*args, **options):
        started.append(run.Background(run.command([*mode_options, *args]), **options))
        return started[-1]

    yield start
    for program in reversed(started):
        program.__exit__()


@pytest.fixture
def attach(background):
    """attach(pid, script) traces a running process; returns when its probes are armed."""
    def start(pid, script, *options):
        tracer = background("--probes", *options, "-e", script, "-p", str(pid))
        tracer.wait_for(r"\[(OPTIMIZED|INT3|SKIPPED)")
        return tracer

    return start


@pytest.fixture
def controlled(attach, tmp_path):
    """controlled(pid, script, *options) -> (the tracer, its Control)."""
    def start(pid, script, *options):
        path = tmp_path / "control"
        tracer = attach(pid, script, "--control", str(path), *options)
        return tracer, Control(path)

    return start


@pytest.fixture
def program():
    """program(words...) starts any other program in the background; it ends with the test."""
    started = []

    def start(*words, **options):
        started.append(run.Background(words, **options))
        return started[-1]

    yield start
    for item in reversed(started):  # a tracer before what it traces
        item.__exit__()


@pytest.fixture
def doctor():
    """doctor(words...): its JSON object, checked."""
    return doctors.look


@pytest.fixture
def target(program):
    """target(words...): a victim that waits for lines."""
    def start(*words, **options):
        started = program(*(words or [paths.victim("commander")]), **options)
        started.wait_for("pid: ")
        return started

    return start


@pytest.fixture(scope="session")
def opened(tmp_path_factory):
    """A library to be opened later: targets/opened.c."""
    path = tmp_path_factory.mktemp("opened") / "libopened.so"
    subprocess.run(["gcc", "-g", "-O1", "-fPIC", "-shared", "-o", path, paths.TARGETS / "opened.c"], check=True)
    return path


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """The folder of analyses that djtap keeps, which is not there yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "djtap"


def reachable(path):
    """May anyone execute this file where it lies?"""
    return all(p.stat().st_mode & 0o001 for p in [path, *path.parents])


@pytest.fixture(scope="session")
def public_build():
    """A folder with djtap and the victims that any user may execute: the build, or a copy of it. An installed djtap is a link there."""
    if not paths.IS_INSTALLED and (os.getuid() != 0 or reachable(paths.DJTAP)):
        yield paths.BUILD
        return
    folder = pathlib.Path(tempfile.mkdtemp(prefix="djtap-test-"))
    folder.chmod(0o755)
    if paths.IS_INSTALLED:
        (folder / "djtap").symlink_to(paths.DJTAP)
    else:
        for name in ("djtap", "libdjtap_lower.so", "VERSION"):
            shutil.copy2(paths.BUILD / name, folder)
        shutil.copytree(paths.ROOT / "tapsets", folder / "tapsets")
    for part in ("targets", "examples"):
        (folder / part).mkdir()
        for file in (paths.BUILD / part).iterdir():
            if file.is_file():
                shutil.copy2(file, folder / part)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def as_nobody():
    """What to put before a command so that it runs without any privilege; nothing when we have none."""
    if os.getuid() != 0:
        return []
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--bounding-set=-all",
            "--inh-caps=-all"]


@pytest.fixture
def serve(monkeypatch):
    """Begins a debuginfod server on loopback, of which djtap is told, and that answers by the function given."""
    servers = []

    def begin(answer):
        servers.append(debug_servers.Server(answer))
        monkeypatch.setenv("DEBUGINFOD_URLS", servers[-1].url)
        return servers[-1]

    yield begin
    for server in servers:
        server.ended.set()
        server.shutdown()
        server.server_close()
