# SPDX-License-Identifier: Apache-2.0
"""-c probes what the command's descendants execute: each call of each process is counted, and all of them compute the same."""
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

import pytest

from support import paths, process, run
from support.paths import victim

COUNT = victim("count")


def counting(program=COUNT):
    """One probe of the victim's work(), which counts itself."""
    return f'probe process("{program}").function("work") {{ n++; p[pid()]++ }}'


def facts_of_all(result):
    """The sum of what the victims have counted."""
    return sum(int(count) for count in re.findall(r"^work calls: (\d+)$", result.stdout, re.M))


def check(result, processes):
    assert result.returncode == 0, result
    assert result.globals["n"] == facts_of_all(result) > 0 and len(result.array("p")) == processes, result


def test_a_shell_loop(djtap):
    check(djtap("-e", counting(), "-c", f"sh -c 'for i in $(seq 100); do {COUNT} 3; done'"), 100)


@pytest.mark.parametrize("has_it_first", [False, True])
def test_processes_that_map_a_library_begin_and_end(djtap_once, has_it_first):
    """process("lib.so").begin and .end mean these alone, whether the command itself is one of them or not."""
    mapping, library = victim("ctor"), paths.BUILD / "targets" / "libctor.so"
    script = f'probe process("{library}").begin {{ b[execname()]++ }} probe process("{library}").end {{ e[execname()]++ }}'
    rest = f"{COUNT} 1; {mapping}; {COUNT} 1"
    command = [mapping] if has_it_first else ["sh", "-c", f"{mapping}; {rest}"]
    result = djtap_once("-e", script, "--", *command)
    count = "1" if has_it_first else "2"
    assert result.returncode == 0 and result.array("b") == result.array("e") == [('"ctor"', count)], result


def test_what_has_ended_takes_no_files(djtap):
    """However many execs djtap follows, it has some hundred files open: those of the processes that have ended last."""
    result = djtap("-e", counting(), "-c", f"sh -c 'for i in $(seq 1200); do {COUNT} 1; done; echo files: $(ls /proc/$PPID/fd | wc -l)'")
    assert 0 < result.facts["files"] < 1000, result
    check(result, 1200)


def test_programs_that_are_executed_once(djtap_once, tmp_path):
    """A build or a configure script makes and executes hundreds of them: those that have the same sites share the rows of these,
    of which a session has 262,144."""
    loop = f"for i in $(seq 150); do cp {COUNT} {tmp_path}/once; {tmp_path}/once 1; rm {tmp_path}/once; done"
    script = 'probe func("libc.so.6!*") ? { n++ } probe func("libc.so.6!exit") { ends[execname()]++ }'
    result = djtap_once("-e", script, "-c", f"sh -c '{loop}'")
    assert result.returncode == 0 and not result.stderr and dict(result.array("ends"))['"once"'] == "150", result


def test_a_command_becomes_another_program(djtap):
    """The number of the process stays."""
    result = djtap("-e", counting() + " probe end { println(\"TARGET \", target()) }", "-c", f"sh -c 'echo own: $$; exec {COUNT} 5'")
    check(result, 1)
    own = result.facts["own"]
    assert f"TARGET {own}\n" in result.stdout and result.array("p") == [(str(own), "20")], result


def test_a_command_that_takes_long_to_become_another_program(djtap):
    """Where processors are busy, djtap's loop goes round while a process is on its way into execve(): the first one, or one that
    has followed."""
    with subprocess.Popen(["sh", "-c", "while :; do :; done & while :; do :; done & while :; do :; done & wait"], start_new_session=True) as busy:
        try:
            for number in range(12):
                command, processes = (f"exec {COUNT} 5", 1) if number % 2 else (f'sh -c "exec {COUNT} 5"; exec {COUNT} 5', 2)
                result = djtap("-e", counting(), "-c", f"sh -c '{command}'")
                check(result, processes)
                assert "DJ5901" not in result.stderr, result
        finally:
            os.killpg(busy.pid, signal.SIGKILL)


def test_a_pipe_and_many_at_once(djtap):
    check(djtap("-e", counting(), "-c", f"sh -c 'seq 40 | xargs -P4 -n1 {COUNT} | cat'"), 40)


def test_make(djtap, tmp_path):
    (tmp_path / "Makefile").write_text("all: " + " ".join(f"t{i}" for i in range(20)) + f"\nt%:\n\t@{COUNT} 2 > $@; cat $@\n")
    check(djtap("-e", counting(), "-c", f"make -s -j2 -C {tmp_path}"), 20)


PYTHON = {
    "subprocess": "import subprocess\nfor i in range(10): subprocess.run([COUNT, '4'], check=True)",
    "posix_spawn": "import os\nfor i in range(10): os.waitpid(os.posix_spawn(COUNT, [COUNT, '4'], os.environ), 0)",
    "fork and exec": "import os\nfor i in range(10):\n  pid = os.fork()\n  if pid == 0: os.execv(COUNT, [COUNT, '4'])\n  os.waitpid(pid, 0)",
    "threads": """
        import subprocess, threading
        def go():
          for i in range(5): subprocess.run([COUNT, '4'], check=True)
        both = [threading.Thread(target=go) for i in range(2)]
        for one in both: one.start()
        for one in both: one.join()""",
}


@pytest.mark.parametrize("way", PYTHON)
def test_python_starts_them(djtap, tmp_path, way):
    script = tmp_path / "start.py"
    script.write_text(f"COUNT = {str(COUNT)!r}\n" + textwrap.dedent(PYTHON[way]))
    check(djtap("-e", counting(), "-c", f"{sys.executable} -u {script}"), 10)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(djtap_once, tmp_path, method):
    """Calls of a C function, from the processes of a pool."""
    script = tmp_path / "pool.py"
    script.write_text(textwrap.dedent(f"""
        import multiprocessing, os
        def ask(n): return [os.getppid() for i in range(n)] and n
        if __name__ == "__main__":
          multiprocessing.set_start_method("{method}")
          with multiprocessing.Pool(3) as pool: print("sum:", sum(pool.map(ask, [100] * 12, chunksize=1)))
        """))
    result = djtap_once("-e", 'probe func("getppid") { n++ }', "-c", f"/usr/bin/python3 {script}")
    # The pool's own code asks as well, now and then.
    assert result.returncode == 0 and result.facts["sum"] == 1200 <= result.globals["n"] < 1300, result


UNSHARE = "unshare -pf" if os.geteuid() == 0 else "unshare -Urpf"


def need(unshare):
    if subprocess.run([*unshare.split(), "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"{unshare} is not allowed here")


@pytest.mark.parametrize("space", [UNSHARE, "unshare -Urpf --mount-proc"])
def test_pid_namespaces(djtap, space):
    """Processes that know themselves by numbers which others have outside. They do not see djtap, and wait for it all the same."""
    need(space)
    result = djtap("-e", counting() + TIMES.format(""), "-c", f"{space} sh -c '{COUNT} 3; {COUNT} 4; true'")
    check(result, 2)
    told = times_of(result)
    assert [(what, name) for what, pid, name in told if pid == "1"] == [("begin", "unshare"), ("end", "unshare"), ("begin", "sh"), ("end", "sh")], result
    assert [(what, name) for what, _, name in told if name == "count"] == [("begin", "count"), ("end", "count")] * 2, result


def test_many_of_the_same_number(djtap):
    """In namespaces of their own all of them are process 1."""
    need(UNSHARE)
    result = djtap("-e", counting(), "-c", f"sh -c 'seq 30 | xargs -P4 -n1 {UNSHARE} {COUNT}'")
    assert result.returncode == 0 and result.globals["n"] == facts_of_all(result) == 4 * sum(range(1, 31)) and result.array("p") == [("1", "1860")], result


def test_calls_that_fail(djtap, tmp_path):
    """What cannot be executed; a script without a first line, which the shell runs itself; nothing at all."""
    broken, plain = tmp_path / "broken", tmp_path / "plain"
    broken.write_bytes(b"\x7fELF nothing")
    plain.write_text(f"{COUNT} 2\n")
    for file in (broken, plain):
        file.chmod(0o755)
    result = djtap("-e", counting(), "-c", f"sh -c '{broken}; {plain}; /nowhere/at/all; {COUNT} 3; true'")
    check(result, 2)


def test_other_programs_are_probed_by_name(djtap):
    """func() without an object means each program and its libraries."""
    result = djtap("-e", 'probe func("work") ? { n++; p[pid()]++ } probe func("getenv") { own++ }', "-c", f"sh -c '{COUNT} 3; {COUNT} 4; true'")
    check(result, 2)


TIMES = 'probe process{0}.begin {{ println("begin ", pid(), " ", execname()) }} probe process{0}.end {{ println("end ", pid(), " ", execname()) }}'


def times_of(result):
    """(what, pid, name)... in the order in which it was printed."""
    return re.findall(r"^(begin|end) (\d+) (\S+)$", result.stdout, re.M)


def test_processes_begin_and_end(djtap):
    """A process that executes a program has been another one until then."""
    result = djtap("-e", TIMES.format(""), "-c", "bash -c '/bin/true; (/bin/true; :); exec sed -n 1p /dev/null'")
    told = times_of(result)
    lives = {}
    for what, pid, name in told:
        lives.setdefault(pid, []).append((what, name))
    assert result.returncode == 0 and len(lives) == 4, result
    own = told[0][1]
    assert lives.pop(own) == [("begin", "bash"), ("end", "bash"), ("begin", "sed"), ("end", "sed")], result
    of_true = [("begin", "bash"), ("end", "bash"), ("begin", "true"), ("end", "true")]
    assert sorted(lives.values()) == sorted([of_true, of_true, [("begin", "bash"), ("end", "bash")]]), result


POINTS = ["begin", "end", "thread.begin", "thread.end", "syscall", "syscall.return", 'plt("*")', 'function("work")', 'function("*")',
          'library("libc.so.6").function("printf")', 'library("libc.so.6").function("malloc").return', 'library("libc.so.6").plt("*")']


ENDS = 'probe process.end { ended[pid(), pp()]++ } '
EXITS = 'probe func("libc.so.6!_exit") { exits[pid(), ppfunc()]++ } '


BOTH = 'probe process.end, func("libc.so.6!_exit") { if (pp() == "process.end") ended[pid(), pp()]++; else exits[pid(), ppfunc()]++ }'


@pytest.mark.parametrize("script", [ENDS + EXITS, EXITS + ENDS, BOTH])
def test_the_end_and_a_probe_of_its_place(djtap, script):
    """djtap hears of the end at the C library's _exit(): each probe is hit for itself, and has its own name."""
    result = djtap("-e", script, "--", "sh", "-c", f"{COUNT} 3; (exit 3); {COUNT} 4; exit 0")
    ended, exits = result.array("ended"), result.array("exits")
    assert result.returncode == 0 and len(ended) == 4 and {(key[-13:], count) for key, count in ended} == {('"process.end"', "1")}, result
    assert len(exits) == 4 and {count for _, count in exits} == {"1"}, result


@pytest.mark.parametrize("point", ["begin", "end", 'function("main")', 'function("main").return', 'statement("main@*:1")'])
def test_a_program_that_the_session_makes(djtap_once, tmp_path, point):
    """There is no such file when the session begins: only a script that says so by ? is no error."""
    source, built = tmp_path / "made.c", tmp_path / "made"
    source.write_text("int main(void) { return 0; }\n")
    script = f'global n probe process("{built}").{point} '
    words = ["--", "sh", "-c", f"gcc -g -o {built} {source} && {built} && {built}; exit 0"]
    result = djtap_once("-e", script + "? { n++ }", *words)
    assert result.returncode == 0 and result.globals["n"] == 2, result
    built.unlink()
    result = djtap_once("-e", script + "{ n++ }", *words)
    assert result.returncode == 3 and "a file that is made later is no error with ?" in result.stderr and not built.exists(), result


@pytest.mark.parametrize("point", POINTS)
def test_points_of_a_program_mean_its_processes(djtap_once, tmp_path, point):
    """Wherever the place lies: another program that has the same libraries, threads and functions is not meant."""
    own = shutil.copy2(COUNT, tmp_path / "own")
    script = f'probe process("{own}").{point} {{ n[execname()]++ }}'
    result = djtap_once("-e", script, "-c", f"sh -c '{COUNT} 1; {own} 1; :'")
    assert result.returncode == 0 and [name for name, _ in result.array("n")] == ['"own"'], result
    exact = {"begin": "1", "end": "1", "thread.begin": "4", "thread.end": "4", 'function("work")': "4"}
    assert result.array("n")[0][1] == exact.get(point, result.array("n")[0][1]), result
    never = djtap_once("-e", script, "-c", f"{COUNT} 1")
    assert never.returncode == 0 and not never.array("n"), never
    assert f"DJ5916]: no process of the session has executed {own}" in never.stderr, never


def test_programs_begin_and_end(djtap):
    """process("file") means those that run the file."""
    result = djtap("-e", TIMES.format('("sed")'), "-c", "sh -c '/bin/true; sed -n 1p /dev/null; sed -n 1p /dev/null; exec sed -n 1p /dev/null'")
    told = times_of(result)
    assert result.returncode == 0 and len(told) == 6 and {name for _, _, name in told} == {"sed"}, result
    assert [what for what, _, _ in told] == ["begin", "end"] * 3, result


def test_static_programs(djtap):
    static = victim("count_static")
    check(djtap("-e", counting(static), "-c", f"sh -c '{static} 3; {static} 4; true'"), 2)


def test_what_handlers_cannot_live_with_is_left_alone(djtap):
    """The session ends for that process; the others are counted to their ends."""
    dispatching = victim("dispatching")
    if "failed: 0\n" not in subprocess.run([dispatching], capture_output=True, text=True, check=True).stdout:
        pytest.skip("this kernel has no syscall user dispatch")
    result = djtap("-e", counting() + ' probe func("work") ? { all++ }', "-c", f"sh -c '{COUNT} 2; {dispatching}; {COUNT} 3; true'")
    # The victim calls work() a hundred times before and as often after.
    counted = sum(4 * calls for calls in (2, 3))
    assert result.returncode == 0 and result.globals == {"n": counted, "all": counted + 100}, result
    assert re.search(r"DJ5902\]: the session ends for process \d+: the program catches system calls", result.stderr), result


def test_no_follow(djtap_once):
    result = djtap_once("--no-follow", "-e", 'probe func("work") ? { n++ } probe func("getenv") { own++ }', "-c", f"sh -c '{COUNT} 3; true'")
    assert result.returncode == 0 and result.globals["n"] == 0 and "DJ5912" in result.stderr, result


def test_a_program_that_nobody_executes(djtap_once):
    """That it does not run yet is no error; that it never did is said."""
    result = djtap_once("-e", counting(), "-c", "sh -c 'true; /bin/true'")
    assert result.returncode == 0 and result.globals["n"] == 0 and f"DJ5916" in result.stderr and COUNT in result.stderr, result


@pytest.fixture
def open_folder():
    """One that other users may read; those of pytest they may not."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        os.chmod(name, 0o755)
        yield pathlib.Path(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a setuid program")
def test_setuid_programs_keep_their_rights(open_folder):
    """djtap of another user would take them away, so it does not follow."""
    own = open_folder / "id"
    shutil.copy2("/usr/bin/id", own)
    own.chmod(0o4755)
    if os.statvfs(own).f_flag & os.ST_NOSUID:
        pytest.skip("no setuid programs here")
    words = [paths.DJTAP, "--no-cache", "-e", 'probe func("getenv") { n++ }', "-c", f"sh -c '{own} -u; true'"]
    told = subprocess.run(words, capture_output=True, text=True, timeout=run.PATIENCE, check=False, cwd="/", **run.NOBODY)
    assert told.returncode == 0 and told.stdout.startswith("0\n"), told
    assert f"{own} is executed without probes" in told.stderr and told.stderr.count("DJ5915") == 1, told


needs_sudo = pytest.mark.skipif(os.geteuid() != 0 or shutil.which("sudo") is None, reason="not root, or sudo is not installed")


@needs_sudo
def test_sudo_keeps_its_rights():
    """Without them it would say that its user is not root; with them it asks for the password."""
    shell = "sh -c 'sudo -n true; true'"
    words = [paths.DJTAP, "--no-cache", "-e", 'probe func("getenv") { n++ }', "-c", shell]
    alone, traced = [subprocess.run(line, shell=isinstance(line, str), capture_output=True, text=True, timeout=run.PATIENCE, check=False,
                                    cwd="/", **run.NOBODY) for line in (shell, words)]
    assert alone.stderr.startswith("sudo: ") and alone.stderr in traced.stderr, (alone, traced)
    assert traced.returncode == 0 and traced.stderr.count("sudo is executed without probes") == 1, traced


@needs_sudo
def test_what_sudo_starts_is_followed(djtap):
    """sudo is root's already, so nothing is lost; it, and what it becomes as another user, are counted."""
    words = ["sh", "-c", "sudo -n -u nobody id -u; true"]
    result = djtap("-e", 'probe func("getenv") { n[execname()]++ }', "--", *words)
    alone = subprocess.run(words, capture_output=True, text=True, timeout=run.PATIENCE, check=False)
    assert result.returncode == 0 and alone.stdout.strip().isdigit() and alone.stdout in result.stdout, (alone, result)
    assert re.search(r'^n\["sudo"\]=\d+$', result.stdout, re.M) and re.search(r'^n\["id"\]=\d+$', result.stdout, re.M), result


KILLS = 40 if os.environ.get("DJTAP_STRESS") == "long" else 3


def has_ended_or_has_no_djtap(pid):
    try:
        return "djtap" not in pathlib.Path(f"/proc/{pid}/maps").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_killed_during_a_build(tmp_path):
    """kill -9 at any moment of make -j2: the build completes, and clean restores make itself, which may run for long."""
    for number in range(12):
        (tmp_path / f"f{number}.c").write_text(f"#include <stdio.h>\nint f{number}(void) {{ return printf(\"%d\", {number}); }}\n")
    (tmp_path / "Makefile").write_text("all: " + " ".join(f"f{number}.o" for number in range(12)) + "\n\t@echo built > done\n")
    script = 'probe func("malloc")? { n[execname()]++ } probe process.begin { m++ }'
    words = run.command(["-e", script, "-c", f"sh -c 'echo $$ > {tmp_path}/pid; exec make -s -j2 -C {tmp_path}'"])
    begin = time.monotonic()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    seconds, moments = time.monotonic() - begin, random.Random(31)
    for _ in range(KILLS):
        for old in [*tmp_path.glob("*.o"), *tmp_path.glob("done"), *tmp_path.glob("pid")]:
            old.unlink()
        moment = moments.uniform(0, seconds)
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tracer:
            time.sleep(moment)
            tracer.send_signal(signal.SIGKILL)
            tracer.wait()
        text = (tmp_path / "pid").read_text() if (tmp_path / "pid").exists() else ""
        if not text:
            continue  # killed before its command began: that has gone with it
        pid = int(text)
        cleaned = subprocess.run(run.command(["clean", str(pid)]), capture_output=True, text=True, timeout=run.PATIENCE, check=False)
        assert has_ended_or_has_no_djtap(pid) or "memory of a session stays" in cleaned.stdout, (moment, cleaned)
        end = time.monotonic() + 60
        while not (tmp_path / "done").exists() and time.monotonic() < end:
            time.sleep(0.1)
        assert (tmp_path / "done").exists() and len(list(tmp_path.glob("*.o"))) == 12, f"killed after {moment} s"
        objects = subprocess.run(["nm", *sorted(tmp_path.glob("*.o"))], capture_output=True, text=True, check=True).stdout
        assert objects.count(" T f") == 12


def test_killed_while_it_follows(program, tmp_path):
    """kill -9 at any moment: what runs goes on, and clean restores the rest."""
    for moment in range(8):
        out = tmp_path / f"out{moment}"
        loop = f"i=0; while [ $i -lt 60 ]; do {COUNT} 1; i=$((i+1)); done > {out}; echo done >> {out}"
        with subprocess.Popen(run.command(["-e", counting(), "-c", f"sh -c '{loop}'"]), stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as tracer:
            time.sleep(0.3 + 0.1 * moment)
            tracer.send_signal(signal.SIGKILL)
            tracer.wait()
        end = time.monotonic() + 60
        while "done" not in (out.read_text() if out.exists() else "") and time.monotonic() < end:
            time.sleep(0.1)
        text = out.read_text()
        assert text.count("work calls: 4") == 60 and text.endswith("done\n"), text


LATE = """
/bin/true
touch ready; read line < go
/bin/true
for i in $(seq 150); do /bin/true & done; wait
"""


def test_what_was_executed_without_an_answer_is_told(background, tmp_path):
    """A program waits some seconds for a djtap that is stopped, also where hundreds wait; djtap says afterwards how many it has missed."""
    (tmp_path / "late.sh").write_text(LATE)
    os.mkfifo(tmp_path / "go")
    tracer = background("-e", 'probe process("/usr/bin/true").begin { n++ }', "-c", "sh late.sh", cwd=tmp_path)
    process.wait_until((tmp_path / "ready").exists, "the script does not begin")
    tracer.signal(signal.SIGSTOP)
    (tmp_path / "go").write_text("now\n")
    time.sleep(7)
    tracer.signal(signal.SIGCONT)
    result = tracer.finish()
    missed = re.findall(r"(\d+) (?:program is|programs are) executed without probes: djtap was too busy to follow in time", result.stderr)
    assert missed and result.globals["n"] + sum(map(int, missed)) == 152, result


# The more processors, the more room each process takes.
AT_ONCE = 700 if (os.cpu_count() or 1) <= 16 else 300


def test_hundreds_of_processes_at_once(djtap_once):
    """The last ones wait for djtap longer than a program waits that djtap does not answer: they wait as long as it answers others."""
    script = 'probe process.begin { if (execname() == "sleep") n++ } probe func("libc.so.6!exit") { ends[execname()]++ }'
    result = djtap_once("-e", script, "--", "sh", "-c", f"for i in $(seq {AT_ONCE}); do sleep 5 & done; wait")
    assert result.returncode == 0 and not result.stderr, result
    assert result.globals["n"] == AT_ONCE and dict(result.array("ends"))['"sleep"'] == str(AT_ONCE), result


def test_a_library_that_only_what_is_executed_maps(djtap, djtap_once, tmp_path):
    """An installed one: a wrong name stays a mistake."""
    (tmp_path / "roots.c").write_text("""
        #include <math.h>
        int main(int count, char** words) { double d = count; for (int i = 0; i < 5; i++) d += cbrt(d + i); return d < 0; }""")
    subprocess.run(["gcc", "-fno-builtin", "-o", tmp_path / "roots", tmp_path / "roots.c", "-lm"], check=True)
    for point in ('func("libm.so.6!cbrt")', 'process.library("libm.so.6").function("cbrt")'):
        found = djtap("-e", f"probe {point} {{ n++ }}", "-c", f"sh -c '{tmp_path}/roots; {tmp_path}/roots'")
        assert found.globals["n"] == 10 and 'DJ3005]: no process has mapped "libm.so.6" yet' in found.stderr, found
        assert "DJ5916" not in found.stderr, found
    by_path = f'process.library("{paths.BUILD}/targets/libctor.so").function("lib_work")'  # one that is not installed
    found = djtap("-e", f"probe {by_path} {{ n++ }}", "-c", f"sh -c '{victim('ctor')}; true'")
    assert found.globals["n"] == found.facts["lib_work calls"] and "DJ5916" not in found.stderr, found
    never = djtap("-e", 'probe func("libm.so.6!cbrt") { n++ }', "-c", "sh -c 'true; true'")
    assert never.globals["n"] == 0 and "DJ5916]: no process of the session has mapped libm.so.6: " in never.stderr, never
    for options in (["--no-follow", "-e", 'probe func("libm.so.6!cbrt") { n++ }'], ["-e", 'probe func("libmm.so.6!cbrt") { n++ }']):
        wrong = djtap_once(*options, "-c", "sh -c 'true; true'")
        assert wrong.returncode == 3 and "error[DJ3005]: the traced process has no object" in wrong.stderr, wrong


def test_the_end_of_a_fork_has_the_name_of_what_has_forked_it(djtap):
    """Also where it is killed before djtap looks at it, and what has forked it is not the first process."""
    forks = "import os; [os.waitpid(pid, 0) if (pid := os.fork()) else os.kill(os.getpid(), 9) for _ in range(20)]"
    name = pathlib.Path(os.path.realpath(paths.PYTHON))
    script = f'probe process.end {{ e[execname()]++ }} probe process("{name}").end {{ s++ }}'
    result = djtap("-e", script, "--", "sh", "-c", f"{name} -c '{forks}'; exit")
    assert dict(result.array("e")) == {f'"{name.name[:15]}"': "21", '"sh"': "1"}, result
    assert result.globals["s"] == 21, result
