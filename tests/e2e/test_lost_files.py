# SPDX-License-Identifier: Apache-2.0
"""Objects whose files an ordinary user cannot open any more, as after an upgrade, or never could: of a memfd."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import pytest

from support import process, run

# Opens a library in some way and calls its function when told to.
OPENS = """
import ctypes, os, shutil, sys
how, library, path = sys.argv[1:]
if how.startswith("memfd"):
    file = os.memfd_create("lib")
    os.write(file, open(library, "rb").read())
    opened = ctypes.CDLL(f"/proc/self/fd/{file}")
    if how == "memfd, closed": os.close(file)
else:
    shutil.copy(library, path)
    opened = ctypes.CDLL(path)
    if how != "there": os.unlink(path)
    if how == "replaced": shutil.copy(sys.executable, path)
print("pid:", os.getpid(), flush=True)
for line in sys.stdin:
    for i in range(1000): opened.lib_work(i)
    print("called:", line, end="", flush=True)
"""
SCRIPT = 'probe func("lib_work") { n++ } probe func("lib_work").return { r++ }'


def zlib_path():
    """The library that Python itself has its zlib from."""
    said = subprocess.run(["ldd", sys.executable], capture_output=True, text=True, check=True).stdout
    found = re.search(r"=> (\S*libz\.so\S*)", said)
    if not found:
        pytest.skip("Python does not use libz.so here")
    return found[1]


@pytest.fixture
def folder():
    """A folder that an ordinary user may write."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        os.chmod(name, 0o777)
        yield pathlib.Path(name)


@pytest.fixture
def probed(program, public_build, as_nobody, mode_options):
    def start(target, script=SCRIPT):
        words = run.command([*mode_options, "--probes", "-e", script, "-p", target.pid], as_nobody, public_build / "djtap")
        tracer = program(*words, cwd="/tmp")
        tracer.wait_for(r"\[(OPTIMIZED|INT3)")
        return tracer

    return start


@pytest.mark.parametrize("how", ["there", "memfd", "memfd, closed", "removed", "replaced"])
def test_a_library(program, public_build, as_nobody, folder, probed, how):
    """Where even the process cannot open it, the file is made of what the process has mapped of it, and djtap says so."""
    target = program(*as_nobody, sys.executable, "-c", OPENS, how, public_build / "targets" / "libctor.so", folder / "lib.so", cwd="/tmp")
    target.wait_for("pid: ")
    text = process.text_of(target.pid)
    tracer = probed(target)
    target.tell("once")
    target.wait_for("called: once")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals == {"n": 1000, "r": 1000}, result
    said = re.findall(r"^warning\[DJ4904\]: the file of (\S+) cannot be opened any more; of what process (\d+) has in its memory", result.stderr, re.M)
    path = "/memfd:lib" if how.startswith("memfd") else str(folder / "lib.so")
    assert said == ([] if how in ("there", "memfd") else [(path, str(target.pid))]), result
    assert process.differences(text, process.text_of(target.pid)) == []
    target.tell("again")
    target.wait_for("called: again")
    target.process.stdin.close()
    assert target.finish().facts["lib_work calls"] == 50 + 2000 + 7


def test_addresses_and_stacks_of_it(program, public_build, as_nobody, folder, probed):
    """Functions of call frame information alone and walks through it work; addresses are the file's."""
    library = public_build / "targets" / "libctor.so"
    target = program(*as_nobody, sys.executable, "-c", OPENS, "removed", library, folder / "lib.so", cwd="/tmp")
    target.wait_for("pid: ")
    tracer = probed(target, 'probe func("lib_work") { if (n++ == 0) printf("at %x\\n%s\\n", uaddr(), sprint_ubacktrace()) }')
    target.tell("once")
    target.wait_for("called: once")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert re.search(r"^at [0-9a-f]+\n.*lib_work.*\n.*ffi", result.stdout, re.M), result


COMPRESSES = """
import ctypes, os, shutil, sys, zlib
path, library = sys.argv[1:]
shutil.copy(library, path)
z = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_DEEPBIND)  # calls its own functions
os.unlink(path)
data = bytes(i * i % 251 for i in range(200000))
print("pid:", os.getpid(), flush=True)
for line in sys.stdin:
    size, room = ctypes.c_ulong(300000), ctypes.create_string_buffer(300000)
    assert z.compress2(room, ctypes.byref(size), data, len(data), 9) == 0
    print("right:", int(zlib.decompress(room.raw[:size.value]) == data), flush=True)
"""


def test_every_function_of_a_removed_library(program, public_build, as_nobody, folder, probed):
    """Those that it exports, by name, and all others by call frame information; what it computes stays right."""
    library = os.path.realpath(zlib_path())
    target = program(*as_nobody, sys.executable, "-c", COMPRESSES, folder / "removed.so", library, cwd="/tmp")
    target.wait_for("pid: ")
    words = run.command(["-l", 'func("removed.so!*")', "-p", target.pid], as_nobody, public_build / "djtap")
    listed = set(re.findall(r'function\("(\w+)"\)', subprocess.run(words, capture_output=True, text=True, check=True, cwd="/tmp").stdout))
    table = subprocess.run(["readelf", "--dyn-syms", "-W", library], capture_output=True, text=True, check=True).stdout
    exported = set(re.findall(r" FUNC +(?:GLOBAL|WEAK) +DEFAULT +\d+ (\w+)", table))
    assert len(exported) > 50 and exported <= listed, (exported - listed, listed)
    tracer = probed(target, 'probe func("removed.so!*") { n++ } probe func("removed.so!*").return { r++ } probe func("compress2") { c++ }')
    target.tell("")
    target.wait_for("right: 1$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals["n"] > 10 and result.globals["c"] == 1, result
    target.tell("")
    target.process.stdin.close()
    assert target.finish().stdout.count("right: 1") == 2


def test_the_c_library(program, public_build, as_nobody, folder, probed):
    """As after an upgrade of the system: its system calls are hooked, its functions counted, stacks go through it."""
    victim = public_build / "targets" / "commander"
    said = subprocess.run(["ldd", victim], capture_output=True, text=True, check=True).stdout
    library = shutil.copy(re.search(r"=> (\S*/libc\.so\.6)", said)[1], folder / "libc.so.6")
    library.chmod(0o755)
    target = program(*as_nobody, "env", f"LD_LIBRARY_PATH={folder}", victim, cwd="/tmp")
    target.wait_for("pid: ")
    library.unlink()
    text = process.text_of(target.pid)
    tracer = probed(target, """probe func("libc.so.6!*") { n++ } probe func("work") { m++ }
        probe func("libc.so.6!*").return { r++ } probe func("libc.so.6!write") { if (w++ == 0) println("from ", sprint_ubacktrace()) }""")
    target.tell("call 1000")
    target.wait_for("called: 1000")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals["m"] == 1000 and result.globals["n"] > 10 and result.globals["r"] > 5, result
    assert re.search(r"^from .*\bwrite\b(.*\n)*?.*\bmain\b", result.stdout, re.M), result
    assert process.differences(text, process.text_of(target.pid)) == []
    target.tell("quit")
    assert target.finish().facts["interrupted"] == 0


@pytest.mark.parametrize("how", ["memfd", "removed", "replaced"])
def test_the_program_itself(program, public_build, as_nobody, folder, probed, how):
    """Everybody may open the program by /proc/PID/exe."""
    path = shutil.copy(public_build / "targets" / "commander", folder / "commander")
    execute = "import os, sys; f = os.memfd_create('it'); os.write(f, open(sys.argv[1], 'rb').read()); os.execve(f, ['it'], os.environ)"
    target = program(*as_nobody, *([sys.executable, "-c", execute] if how == "memfd" else []), path, cwd="/tmp")
    target.wait_for("pid: ")
    path.unlink()
    if how == "replaced":
        shutil.copy(sys.executable, path)
    tracer = probed(target, 'probe func("work") { n++; if ($n == 21) right++ }')
    target.tell("call 1000")
    target.wait_for("called: 1000")
    tracer.signal(signal.SIGINT)
    assert tracer.finish().globals == {"n": 1000, "right": 1000}
    target.tell("quit")
    assert target.finish().returncode == 0
