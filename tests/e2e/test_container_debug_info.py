# SPDX-License-Identifier: Apache-2.0
"""Debug information for a process in a container: files, packages and the distribution are those below its own root."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from support import paths
from support.debug_servers import build_id, send

# Its path is that of a program of the machine's own, which another package has.
INSIDE = "/usr/bin/env"
SOURCE = r"""
#include <stdio.h>
#include <unistd.h>
static int noise[1000];
__attribute__((noinline)) static long visit(int depth, const char* name) { __asm__ volatile("" ::"r"(name)); return depth * 2 + noise[depth]; }
int main(void) {
  char line[100];
  printf("pid: %d\n", getpid());
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    long sum = 0;
    for (int i = 0; i < 4; i++) sum += visit(i, "name");
    printf("sum: %ld\n", sum);
    fflush(stdout);
  }
}
"""
PIVOT = 'mount --bind "$1" "$1" && cd "$1" && pivot_root . old && exec /usr/bin/env'
SCRIPT = 'probe process.function("visit") { n++; depths += $depth }'


@pytest.fixture(name="made", scope="module")
def made_once(tmp_path_factory):
    """A stripped program and its debug file."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "p.c").write_text(SOURCE)
    program, debug = folder / "p", folder / "p.debug"
    subprocess.run(["gcc", "-g", "-O1", "-Wl,--build-id", "-o", program, folder / "p.c"], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
    subprocess.run(["strip", program], check=True)
    return program, debug


class Container:
    """A folder that becomes the root of the program; its user is the one that the tests are."""

    def __init__(self, top, program, debug):
        self.top, self.program, self.debug = top, program, debug
        needed = re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout)
        for file, place in [(program, INSIDE), *((library, library) for library in needed)]:
            shutil.copy(os.path.realpath(file), self.folder(os.path.dirname(place)) / os.path.basename(place))
        self.folder("old")

    def folder(self, name):
        folder = self.top / name.lstrip("/")
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def put_debug_file(self):
        identity = build_id(self.program)
        shutil.copy(self.debug, self.folder(f"usr/lib/debug/.build-id/{identity[:2]}") / f"{identity[2:]}.debug")

    def put_package(self, name):
        (self.folder("var/lib/dpkg/info") / f"{name}.list").write_text(f"/.\n/usr\n/usr/bin\n{INSIDE}\n")
        (self.folder("etc") / "os-release").write_text("ID=fedora\n")


@pytest.fixture(params=["chroot", "pivot_root"])
def how(request):
    return request.param


@pytest.fixture(params=["root's djtap", "nobody's djtap"] if os.getuid() == 0 else ["djtap"])
def user(request, as_nobody):
    """What to put before the program and djtap: a root's djtap enters a view of the container, another does not."""
    return as_nobody if request.param == "nobody's djtap" else []


@pytest.fixture(name="container")
def small_root(made):
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        top = pathlib.Path(name)
        yield Container(top, *made)


@pytest.fixture(name="trace")
def trace_in(program, container, how, user, public_build):
    """trace(script): what djtap, attached to the program in the container, says of a script, while the program makes one round."""
    def go(script):
        for folder in [container.top, *container.top.rglob("*")]:
            folder.chmod(0o755)
        if os.getuid() == 0 and user:
            subprocess.run(["chown", "-R", "65534:65534", container.top], check=True)
        words = ["--root", container.top, INSIDE] if how == "chroot" else ["sh", "-c", PIVOT, "sh", container.top]
        target = program(*user, "unshare", "-Ur", "--mount", *words, cwd="/")
        try:
            target.wait_for("pid: ")
        except AssertionError:
            pytest.skip(f"no container can be made here: {target.stderr}")
        djtap = paths.DJTAP if paths.IS_INSTALLED else public_build / "djtap"
        tracer = program(*user, djtap, "--probes", "-e", script, "-p", target.pid, cwd="/")
        return target, tracer

    return go


def counted(target, tracer):
    """What djtap has counted of one round of the program."""
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    target.order("go", "sum: ")
    tracer.signal(2)
    return tracer.finish()


def test_debug_files_of_the_container(trace, container):
    container.put_debug_file()
    target, tracer = trace(SCRIPT)
    result = counted(target, tracer)
    target.tell("go")
    assert result.globals == {"n": 4, "depths": 0 + 1 + 2 + 3}, result


def test_packages_of_the_container(trace, container):
    """The machine's own dpkg says something else of that path."""
    container.put_package("inside")
    result = trace(SCRIPT)[1].finish()
    assert "DJ3004" in result.stderr and f"{INSIDE} comes with the package inside-dbgsym" in result.stderr, result
    assert "DEBUGINFOD_URLS=https://debuginfod.fedoraproject.org" in result.stderr, result


def test_no_package_of_the_machine(trace):
    """The container has no list of packages."""
    result = trace(SCRIPT)[1].finish()
    assert "DJ3004" in result.stderr and "comes with the package" not in result.stderr and "has installed" not in result.stderr, result


def test_a_list_that_never_ends(trace, container):
    """The container's owner has put a fifo among the lists: nobody writes to it."""
    container.put_package("inside")
    os.mkfifo(container.top / "var/lib/dpkg/info/another.list")
    result = trace(SCRIPT)[1].finish()
    assert f"{INSIDE} comes with the package inside-dbgsym" in result.stderr, result


def test_a_server_is_asked_by_build_id(trace, serve, container, user, tmp_path_factory, monkeypatch):
    """By a djtap that has no rights over the container: a root's becomes the container's user, whose files and network it has."""
    if os.getuid() == 0 and not user:
        pytest.skip("in a view of a container djtap asks no server")
    server = serve(lambda handler: send(handler, container.debug.read_bytes()))
    with tempfile.TemporaryDirectory(dir="/tmp") as cache:
        os.chmod(cache, 0o777)
        monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", f"{cache}/files")
        target, tracer = trace(SCRIPT)
        result = counted(target, tracer)
    if not server.asked:
        pytest.skip("libdebuginfod is not here")
    assert server.asked == [f"/buildid/{build_id(container.program)}/debuginfo"], server.asked
    assert result.globals == {"n": 4, "depths": 6}, result
