# SPDX-License-Identifier: Apache-2.0
"""-p of several processes and of names, and djtap clean of them. The named programs are copies of a name that no other process has."""
import os
import re
import shlex
import shutil
import signal
import subprocess
import time

import pytest

from support import paths, process, run
from support.json_diagnostics import diagnostics
from support.paths import victim

TARGET = "probe begin { println(target()) exit() }"
COUNT = 'probe func("work") { n++ }'
NO_PROCESS = 4194300
# Traces a process until its own standard input ends.
TRACER = r"""
import ctypes, sys
PTRACE_SEIZE = 0x4206
assert ctypes.CDLL(None).ptrace(PTRACE_SEIZE, int(sys.argv[1]), None, None) == 0
print("traces", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def named(tmp_path, program):
    """named() starts a commander under the name named.name, which named.path runs; later ones are younger by more than a clock tick."""
    def start():
        time.sleep(0.03)
        started = program(start.path)
        started.wait_for("pid: ")
        return started

    start.name = f"mp{os.getpid()}x{time.monotonic_ns() % 10**6}"
    start.path = tmp_path / start.name
    shutil.copy(victim("commander"), start.path)
    return start


def target_of(*words):
    result = run.run(["-e", TARGET, *map(str, words)])
    assert (result.returncode, result.stderr) == (0, ""), result
    return int(result.stdout)


@pytest.mark.parametrize("way", [["-p", "{1},{0}"], ["-p", "{1}", "-p", "{0}"], ["-x", "{1}", "-p", "{0},{1}"], ["-p", "{1} {0}"], ["-p", "{1}\n{0}\n"],
                                 ["-p{1}, {0}"]], ids=shlex.join)
def test_the_first_of_several_is_the_target(named, way):
    pids = [named().pid, named().pid]
    assert target_of(*(word.format(*pids) for word in way)) == pids[1]


def test_the_first_is_probed(target, attach):
    first, other = target(), target()
    tracer = attach(f"{first.pid},{other.pid},{first.pid}", COUNT)
    first.call(321)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals == {"n": 321}, result


def test_a_name_means_the_oldest_first(named):
    """By the file's name, also when a process of it calls itself otherwise, or the file has gone."""
    first, second = named(), named()
    assert target_of("-p", named.name) == first.pid
    first.tell("quit")
    first.finish()
    (named.path).unlink()
    assert target_of("-p", f"{named.name},{os.getpid()}") == second.pid


@pytest.mark.parametrize("name", ["mp-short{}", "mp-longer-than-the-kernel-keeps{}.py"])
def test_a_script_has_its_own_name(name, tmp_path, program):
    script = tmp_path / name.format(os.getpid())
    script.write_text(f"#!{os.path.realpath(paths.PYTHON)}\nprint('ready', flush=True)\ninput()\n")
    script.chmod(0o755)
    runs = program(script)
    runs.wait_for("ready")
    assert target_of("-p", script.name) == runs.pid


def test_a_name_that_the_kernel_alone_knows(program):
    name = f"mpcomm{os.getpid()}"
    runs = program(paths.PYTHON, "-c", f"open('/proc/self/comm', 'w').write('{name}'); print('ready', flush=True); input()")
    runs.wait_for("ready")
    assert target_of("-p", name) == runs.pid


def test_who_has_started_djtap_is_not_meant(tmp_path):
    """A shell of a name of its own asks for that name."""
    shell = tmp_path / f"mpshell{os.getpid()}"
    shutil.copy(os.path.realpath("/bin/sh"), shell)
    told = subprocess.run([shell, "-c", f"{shlex.join(run.command(['-e', TARGET, '-p', shell.name]))}; exit $?"], capture_output=True, text=True,
                          check=False, timeout=run.PATIENCE)
    assert told.returncode == 4 and f"error[DJ4001]: there is no process called {shell.name}\n" in told.stderr, told


def test_names_that_are_near(named):
    """The fix is for the whole word."""
    runs = named()
    wrong = named.name[:-1] + "-"
    for words, right in (([wrong], named.name), ([f"{runs.pid} {wrong}"], f"{runs.pid},{named.name}"), ([f"/no/such/{named.name}"], named.name)):
        result = run.run(["--diagnostics=json", "-e", TARGET, "-p", *words])
        [one] = diagnostics(result)
        assert result.returncode == 4 and one["code"] == "DJ4001" and one["help"] == f'did you mean "-p {right}"?', result
        line = shlex.join(["djtap", *result.args[1:]])
        [fix] = one["fixits"]
        fixed = line[:fix["column"] - 1] + fix["text"] + line[fix["end_column"] - 1:]
        again = run.run(shlex.split(fixed)[1:])
        assert (again.returncode, again.stdout) == (0, f"{runs.pid}\n"), again


def test_each_wrong_word_is_named(named):
    runs = named()
    result = run.run(["-e", TARGET, "-p", f"{runs.pid},{NO_PROCESS},no-such-name-at-all", "-p", "0,-7"])
    errors = re.findall(r"^error\[(\w+)\]: (.*)$", result.stderr, re.M)
    assert errors == [("DJ4001", f"there is no process {NO_PROCESS}"), ("DJ4001", "there is no process called no-such-name-at-all"),
                      ("DJ0003", "-p takes processes, by a number above 0 or by name; not 0"),
                      ("DJ0003", "-p takes processes, by a number above 0 or by name; not -7")] and result.stdout == "", result


def test_what_may_not_be_traced_is_left_out(named, program):
    """With a tracer of its own."""
    first, second = named(), named()
    tracer = program(paths.PYTHON, "-c", TRACER, first.pid)
    tracer.wait_for("traces")
    result = run.run(["-e", TARGET, "-p", named.name])
    why = f"process {first.pid} ({named.name}) is already traced by process {tracer.pid}; end that debugger or tracer first"
    assert (result.returncode, result.stdout) == (0, f"{second.pid}\n"), result
    assert result.stderr == f"warning[DJ4910]: 1 process called {named.name} cannot be traced and is left out: {why}\n", result
    second.tell("quit")
    second.finish()
    result = run.run(["-e", TARGET, "-p", named.name])
    assert result.returncode == 4 and f"error[DJ4002]: no process called {named.name} can be traced: {why}\n" in result.stderr, result


@pytest.mark.parametrize("words, asked", [(["-l", 'func("w*")'], "-l"), (["-L", 'func("w*")'], "-L"), (["--source", "work"], "--source"),
                                          (["-n", "-e", TARGET], "-n"), (["--lsp"], "--lsp"), (["doctor"], "doctor")],
                         ids=lambda each: each if isinstance(each, str) else "")
def test_what_is_of_one_process(named, words, asked):
    first, second = named(), named()
    result = run.run([*words, "-p", named.name])
    assert result.returncode == 1 and f"error[DJ0004]: {asked} looks at one process, and -p means 2: {first.pid}, {second.pid}\n" in result.stderr, result
    assert result.stderr.endswith(f"help: name one of them: -p {first.pid}\n"), result


def test_many_are_not_listed_all(named):
    pids = [named().pid for _ in range(6)]
    result = run.run(["-l", 'func("w*")', "-p", named.name])
    assert f"-p means 6: {', '.join(map(str, pids[:5]))}, ...\n" in result.stderr, result


def test_several_are_cleaned(named, attach):
    """Each of two in which a killed djtap has left something, by name or by number, behind clean or -p; one that has gone is told."""
    ways = [[named.name], ["{0}", "{1}"], ["-p", "{0},{1}"], [f"{NO_PROCESS}", "{0} {1}"]]
    victims = [named(), named()]
    texts = [process.text_of(each.pid) for each in victims]
    for way in ways:
        for each in victims:
            tracer = attach(each.pid, COUNT)
            tracer.signal(signal.SIGKILL)
            tracer.process.wait()
        assert all(process.differences(text, process.text_of(each.pid)) for each, text in zip(victims, texts))
        result = run.run(["clean", *(word.format(*(each.pid for each in victims)) for word in way)])
        assert [process.differences(text, process.text_of(each.pid)) for each, text in zip(victims, texts)] == [[], []], result
        assert re.findall(r"^process (\d+): [1-9]\d* places? restored$", result.stdout, re.M) == [str(each.pid) for each in victims], result
        assert result.returncode == (4 if str(NO_PROCESS) in way else 0), result


def test_clean_suggests_a_name(named):
    named()
    result = run.run(["clean", "1,2", f"{named.name}-"])
    assert result.returncode == 4 and f'help: did you mean "{named.name}"?\n' in result.stderr, result


def test_numbers_that_are_words_of_their_own(named):
    """-p $(pidof NAME) without quotes: the second number is none of -p's."""
    first, second = named(), named()
    result = run.run(["-p", first.pid, second.pid, "-e", TARGET])
    assert f"the script has no $1 and no @1; several processes are one word: -p {first.pid},{second.pid}\n" in result.stderr, result
    result = run.run(["-p", first.pid, second.pid, "script.djt"])
    assert "error[DJ0006]" in result.stderr and 'help: several processes are one word: -p "$(pidof NAME)", or -p NAME\n' in result.stderr, result


def test_no_follow_goes_with_a_command():
    assert run.run(["--no-follow", "-e", TARGET, "-c", "/bin/true"]).returncode == 0
