# SPDX-License-Identifier: Apache-2.0
"""process("file") without -c and -p means all processes that run the file, now and later."""
import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from support import paths, process, run
from support.paths import victim

WAITING = r"^djtap: no process runs .*; waiting for one$"


def may_watch(all_files=False):
    """Whether the kernel asks this user who may execute a file (fanotify_init(2), FAN_OPEN_EXEC_PERM), or any of a file system."""
    class_content, mark_add, mark_file_system, open_exec_perm, here = 4, 1, 0x100, 0x40000, -100
    libc = ctypes.CDLL(None)
    group = libc.fanotify_init(class_content, os.O_RDONLY)
    if group < 0:
        return False
    marked = libc.fanotify_mark(group, mark_add | (mark_file_system if all_files else 0), ctypes.c_uint64(open_exec_perm), here, __file__.encode())
    os.close(group)
    return marked == 0


as_root = pytest.mark.skipif(not may_watch(), reason="the kernel gives this user no permission events (fanotify): only root, and not in every sandbox")


@pytest.fixture
def own():
    """own(name): a victim that no other test runs, which any user may execute; pytest's folders are its user's."""
    with tempfile.TemporaryDirectory(prefix="djtap-test-", dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        yield lambda name: shutil.copy2(victim(name), folder)


def counting(file):
    return f'probe process("{file}").function("work") {{ n++; p[pid()]++ }}'


def calls_in(text):
    return sum(map(int, re.findall(r"^work calls: (\d+)$", text, re.M)))


def loop(file, rounds, words="3"):
    """What a shell says that runs it so often."""
    return subprocess.run(["sh", "-c", f"for i in $(seq {rounds}); do {file} {words} & {file} {words}; wait; done"], capture_output=True,
                          text=True, timeout=run.PATIENCE, check=True).stdout


def end(tracer):
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0, result
    return result


def await_sites(tracer, count):
    while len(re.findall(r"\[(?:OPTIMIZED|INT3)", tracer.stderr_so_far())) < count:
        assert tracer.open, tracer
        time.sleep(0.01)


def test_those_that_run(own, background, program):
    file = own("commander")
    targets = [program(file) for _ in range(3)]
    for each in targets:
        each.wait_for("pid: ")
    tracer = background("--probes", "-e", counting(file))
    await_sites(tracer, 3)
    assert sorted(re.findall(r" pid (\d+)$", tracer.stderr_so_far(), re.M)) == sorted(str(each.pid) for each in targets)
    for i, each in enumerate(targets):
        each.call(100 * (i + 1))
    result = end(tracer)
    assert {int(pid): int(count) for pid, count in result.array("p")} == {each.pid: 100 * (i + 1) for i, each in enumerate(targets)}, result
    for each in targets:
        each.call(1)  # it goes on


@as_root
def test_those_that_come(own, background):
    """By fork and exec of processes that djtap has never seen."""
    file = own("count")
    tracer = background("-e", counting(file) + f' probe process.begin {{ b++ }} probe process("{file}").end {{ e++ }}')
    tracer.wait_for(WAITING)
    calls = calls_in(loop(file, 20))
    result = end(tracer)
    assert result.globals["n"] == calls > 0 and len(result.array("p")) == 40, result
    assert result.globals["b"] == result.globals["e"] == 40, result


@as_root
def test_both(own, background, program):
    file = own("commander")
    target = program(file)
    target.wait_for("pid: ")
    tracer = background("--probes", "-e", counting(file))
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    target.call(10)
    later = program(file)
    later.wait_for("pid: ")
    later.call(20)
    target.tell("quit")  # the session is not that of the first
    target.finish()
    later.call(5)
    assert sorted(int(count) for _, count in end(tracer).array("p")) == [10, 25]


@as_root
def test_a_name_in_the_path_and_two_files(own, background, monkeypatch):
    first, second = own("count"), own("forker")
    monkeypatch.setenv("PATH", os.path.dirname(first) + ":" + os.environ["PATH"])
    tracer = background("-e", f'probe process("count").function("work") {{ n++ }} probe process("{second}").begin {{ m++ }}')
    tracer.wait_for(WAITING)
    calls = calls_in(loop(first, 2))
    subprocess.run([second], capture_output=True, timeout=run.PATIENCE, check=True)
    result = end(tracer)
    assert result.globals["n"] == calls > 0 and "DJ5916" not in result.stderr, result


@as_root
def test_a_file_that_is_replaced(own, background, tmp_path):
    """As a package's upgrade does it."""
    file = own("count")
    tracer = background("-e", counting(file))
    tracer.wait_for(WAITING)
    calls = calls_in(loop(file, 1))
    shutil.copy2(file, f"{file}.new")
    os.rename(f"{file}.new", file)
    time.sleep(1)
    calls += calls_in(loop(file, 1))
    result = end(tracer)
    assert result.globals["n"] == calls and len(result.array("p")) == 4, result


@as_root
def test_execs_that_fail(own, background):
    """The kernel asks for the file before it looks at it."""
    file = own("count")
    tracer = background("-e", counting(file))
    tracer.wait_for(WAITING)
    good = open(file, "rb").read()
    broken = f"{file}.broken"
    with open(broken, "wb") as out:
        out.write(good[:16] + bytes(2000))
    os.chmod(broken, 0o755)
    os.rename(broken, file)
    time.sleep(1)
    with pytest.raises(OSError, match="Exec format error"):
        subprocess.run([file], check=True)
    with open(broken, "wb") as out:
        out.write(good)
    os.chmod(broken, 0o755)
    os.rename(broken, file)
    time.sleep(1)
    calls = calls_in(loop(file, 1))
    assert end(tracer).globals["n"] == calls > 0


@as_root
def test_the_script_executes_it(own, background):
    """djtap's own children pass, else djtap would wait for itself."""
    file = own("count")
    tracer = background("-e", counting(file) + f' probe timer.ms(50) {{ if (!done) {{ done = 1; system("{file} 1 > /dev/null"); println("executed") }} }}')
    tracer.wait_for(WAITING)
    loop(file, 1)
    tracer.wait_for("^executed$")
    end(tracer)


@as_root
def test_processes_with_fewer_rights(own, background):
    """Root's djtap believes what it reads in the process, so it probes those of other users only when it is told to."""
    file = own("count")
    for options, told in [([], 0), (["--trust-target"], 1)]:
        tracer = background(*options, "-e", counting(file))
        tracer.wait_for(WAITING)
        theirs = subprocess.run([file, "3"], capture_output=True, text=True, timeout=run.PATIENCE, check=True, **run.NOBODY)
        calls = calls_in(loop(file, 1)) + told * calls_in(theirs.stdout)
        result = end(tracer)
        assert result.globals["n"] == calls, result
        assert ("--trust-target probes it" in result.stderr) == (told == 0), result


@as_root
def test_killed(own, program):
    """The kernel lets all pass that wait for djtap."""
    file = own("count")
    tracer = program(*run.command(["-e", counting(file)]))
    tracer.wait_for(WAITING)
    with subprocess.Popen(["sh", "-c", f"for i in $(seq 40); do {file} 1; done"], stdout=subprocess.PIPE, text=True) as shell:
        time.sleep(0.3)
        tracer.signal(signal.SIGKILL)
        out, _ = shell.communicate(timeout=run.PATIENCE)
    assert len(re.findall("^work calls: 4$", out, re.M)) == 40, out


@as_root
def test_stopped(own, program):
    """While djtap is stopped (Ctrl-Z), others execute the file as ever."""
    file = own("count")
    job = program(paths.PYTHON, "-c", run.JOB, *run.command(["-e", counting(file)]))
    tracer = int(job.wait_for(r"tracer: (\d+)\n").group(1))
    job.wait_for(WAITING)
    calls = calls_in(loop(file, 1))
    os.kill(tracer, signal.SIGTSTP)
    while process.status_field(tracer, "State")[0] != "T":
        time.sleep(0.01)
    assert calls_in(loop(file, 1)) > 0
    os.kill(tracer, signal.SIGCONT)
    time.sleep(1)
    calls += calls_in(loop(file, 1))
    os.kill(tracer, signal.SIGINT)
    result = job.finish()
    assert result.globals["n"] == calls and len(result.array("p")) == 4, result


@as_root
def test_none_comes(own, djtap_once):
    file = own("count")
    result = djtap_once("-T", "0.3", "-e", counting(file))
    assert result.returncode == 4 and f"no process has executed {file}" in result.stderr, result


def test_without_the_rights_of_root(own, public_build, as_nobody, program):
    """Those that run are probed; that later ones are not is said."""
    file = own("commander")
    djtap = public_build / "djtap"
    words = ["--no-cache", "-T", "0.5", "-e", counting(file)]
    result = run.run(words, prefix=as_nobody, binary=djtap, cwd="/")
    assert result.returncode == 4 and f"no process that djtap may trace runs {file}" in result.stderr and "-c starts one" in result.stderr, result
    target = program(*as_nobody, file)
    target.wait_for("pid: ")
    result = run.run(words, prefix=as_nobody, binary=djtap, cwd="/")
    assert result.returncode == 0 and f"DJ5917]: processes that execute {file} later are not probed" in result.stderr, result


def test_stages_need_no_process(own, djtap_once):
    file = own("count")
    result = djtap_once("--dump=plan", "--stop-after=resolve", "-e", counting(file))
    assert result.returncode == 0 and "work" in result.stdout, result


def test_no_such_program(djtap_once):
    result = djtap_once("-e", counting("/nonexistent/program"))
    assert "DJ3005" in result.stderr, result


CALLER = """import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
print("pid: ready", flush=True)
for line in sys.stdin:
    for i in range(int(line)): lib.zlibVersion()
    print("called:", line.strip(), flush=True)
"""
LIBRARY_POINTS = ['func("libown.so.1!zlibVersion")', 'process.library("libown.so.1").function("zlibVersion")', 'func("libown!zlib*ion")']


@pytest.fixture(name="library")
def own_library():
    """A library that no other process has, which any user may read."""
    found = re.search(r"libz\.so\.1 .*=> (\S+)$", subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout, re.M)
    if not found:
        pytest.skip("no libz.so.1 here")
    with tempfile.TemporaryDirectory(prefix="djtap-test-", dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        yield shutil.copy(found[1], f"{folder}/libown.so.1")


@pytest.mark.parametrize("point", LIBRARY_POINTS)
def test_a_library_means_all_that_have_mapped_it(background, program, library, point):
    """In whatever program; those of other libraries are left alone."""
    callers = [program("/usr/bin/python3", "-c", CALLER, library) for _ in range(3)]
    for caller in callers:
        caller.wait_for("pid: ready$")
    tracer = background("--probes", "-e", f"probe {point} {{ n++; p[pid()]++ }}")
    await_sites(tracer, 3)
    for calls, caller in zip((7, 20, 300), callers):
        caller.tell(str(calls))
        caller.wait_for(f"called: {calls}$")
    result = end(tracer)
    assert result.globals["n"] == 327 and sorted(int(count) for _, count in result.array("p")) == [7, 20, 300], result
    assert ("DJ5917]: processes that map libown" in result.stderr) == (not may_watch()), result


def test_a_library_that_nobody_knows(djtap_once):
    result = djtap_once("-e", 'probe func("libnosuch.so.9!f") { n++ }')
    assert result.returncode == 4 and "DJ4001]: no process that djtap may trace has mapped libnosuch.so.9" in result.stderr, result


OWN_LIBRARY = """
int own_version(void) { __asm__ volatile(""); return 7; }
"""
OWN_PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
extern int own_version(void);
static int calls;
__attribute__((constructor)) static void early(void) { own_version(); calls++; }
int main(int argc, char** argv) {
  for (int i = 0; i < atoi(argv[1]); i++, calls++) own_version();
  printf("calls: %d\\n", calls);
}
"""
LATE_CALLER = """if True:
    import ctypes, os, sys
    calls = ctypes.CDLL(sys.argv[1]).own_version
    for _ in range(int(sys.argv[2])):
        calls()
    print("calls:", sys.argv[2])
"""


@pytest.fixture(name="built_library")
def own_built_library():
    """A library that no other process has, and beside it a program that is linked with it."""
    with tempfile.TemporaryDirectory(prefix="djtap-test-", dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        for name, text in (("own.c", OWN_LIBRARY), ("uses.c", OWN_PROGRAM)):
            pathlib.Path(folder, name).write_text(text)
        shared, uses = f"{folder}/{OWN_NAME}", f"{folder}/uses"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", f"-Wl,-soname,{OWN_NAME}", "-o", shared, f"{folder}/own.c"], check=True)
        subprocess.run(["cc", "-O1", "-o", uses, f"{folder}/uses.c", shared, f"-Wl,-rpath,{folder}"], check=True)
        yield shared, uses


def calls_of(words):
    printed = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=run.PATIENCE, check=True).stdout
    return int(re.search(r"^calls: (\d+)$", printed, re.M)[1])


HOLDER = """if True:
    import ctypes, sys
    held = ctypes.CDLL(sys.argv[1])
    print("ready", flush=True)
    sys.stdin.read()
"""
OWN_NAME = f"libdjtapown{os.getpid()}.so.1"  # a name means all libraries that have it
OWN_POINTS = [f'func("{OWN_NAME}!own_version")', f'process.library("{OWN_NAME}").function("own_version")']


@pytest.fixture
def trace_held(background, program, built_library):
    """trace_held(script): djtap, with a process probed that has the library and stays; its number is the tracer's `holder`."""
    def start(script):
        holder = program("/usr/bin/python3", "-c", HOLDER, built_library[0])
        holder.wait_for("^ready$")
        tracer = background("--probes", "-e", script)
        await_sites(tracer, 1)
        tracer.holder = holder.pid
        return tracer

    return start


@as_root
def test_a_library_by_its_path(own, background, built_library):
    """No process has mapped it when the session begins, and what begins first has not, either."""
    shared, uses = built_library
    first = own("count")
    tracer = background("-e", f'probe process("{first}").function("work") {{ n++ }} probe func("{shared}!own_version"), '
                              f'process.library("{shared}").function("own_version") {{ m++ }}')
    tracer.wait_for(WAITING)
    calls = calls_in(loop(first, 2))
    of_library = calls_of([uses, 3]) + calls_of([uses, 4])
    result = end(tracer)
    assert result.globals == {"n": calls, "m": of_library} and of_library > 0 and "DJ5916" not in result.stderr, result


@as_root
@pytest.mark.parametrize("point", range(len(OWN_POINTS)))
def test_those_that_map_the_library_later(trace_held, built_library, point):
    """Each call counts, those of constructors and those right behind dlopen(), too; a reader of the file is left alone."""
    shared, uses = built_library
    tracer = trace_held(f"probe {OWN_POINTS[point]} {{ n++; p[execname()]++ }}")
    wanted = sum(calls_of([uses, calls]) for calls in (0, 5, 100, 3))
    late = sum(calls_of(["/usr/bin/python3", "-c", LATE_CALLER, shared, calls]) for calls in (1, 50))
    assert subprocess.run(["cat", shared], capture_output=True, check=True).stdout == open(shared, "rb").read()
    result = end(tracer)
    assert result.globals["n"] == wanted + late and "DJ59" not in result.stderr, result
    assert {name: int(count) for name, count in result.array("p")} == {'"uses"': wanted, '"python3"': late}, result


@as_root
def test_a_library_that_many_open_at_once(trace_held, built_library):
    _, uses = built_library
    tracer = trace_held(f"probe {OWN_POINTS[0]} {{ n++ }}")
    command = f"for i in $(seq 12); do {uses} $i & {uses} 7 & wait; done"
    printed = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=run.PATIENCE, check=True).stdout
    assert end(tracer).globals["n"] == sum(map(int, re.findall(r"^calls: (\d+)$", printed, re.M))) == 12 * 8 + sum(range(1, 13)) + 12


@as_root
def test_djtap_waits_for_a_library(background, built_library):
    """process("file") may name one; nobody has mapped it."""
    shared, uses = built_library
    tracer = background("-e", f'probe process("{shared}").function("own_version") {{ n++ }}')
    tracer.wait_for(WAITING)
    assert calls_of([uses, 9]) + calls_of([uses, 4]) == 15
    assert end(tracer).globals["n"] == 15


@as_root
def test_openers_go_on_when_djtap_is_killed(trace_held, built_library):
    _, uses = built_library
    tracer = trace_held(f"probe {OWN_POINTS[0]} {{ n++ }}")
    tracer.signal(signal.SIGKILL)
    assert calls_of([uses, 9]) == 10
    cleaned = subprocess.run(run.command(["clean", str(tracer.holder)]), capture_output=True, text=True, check=False)
    assert cleaned.returncode == 0, cleaned
