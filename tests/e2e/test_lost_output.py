# SPDX-License-Identifier: Apache-2.0
"""Output that nobody takes: closed pipes and descriptors, a full disk, a limit on file sizes. The target keeps no probe."""
import os
import re
import resource
import signal
import subprocess

import pytest

from support import paths, process, run

TICKS = """probe func("libc.so.6!clock_nanosleep") { n++ } probe timer.ms(5) { println("tick") warn("tock") }"""


@pytest.fixture
def sleeper():
    """A process that calls a function again and again; afterwards its text must be what it was."""
    with run.Background([paths.PYTHON, "-c", "import time\nprint('ready', flush=True)\nwhile True: time.sleep(0.001)"]) as victim:
        victim.wait_for("ready")
        before = process.text_of(victim.pid)
        yield victim
        assert process.text_of(victim.pid) == before, "a probe is left"


def traced(*words, **options):
    return subprocess.run([paths.DJTAP, *map(str, words)], check=False, timeout=300, **options)


def limited(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


def test_nobody_reads_stderr(sleeper):
    """Warnings that nobody reads are lost; the session goes on to its end."""
    reader, writer = os.pipe()
    os.close(reader)
    ten = TICKS + " global ticks probe timer.ms(5) { if (++ticks == 10) exit() }"
    result = traced("-p", sleeper.pid, "-e", ten, stdout=subprocess.PIPE, stderr=writer, text=True)
    os.close(writer)
    assert result.returncode == 0 and result.stdout.count("tick\n") >= 10, result
    assert run.NUMBER.search(result.stdout)[1] == "n", result


def test_nobody_reads_stdout(sleeper):
    reader, writer = os.pipe()
    os.close(reader)
    result = traced("-p", sleeper.pid, "-T", "30", "-e", TICKS, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert result.returncode == 0 and "output ended early: Broken pipe" in result.stderr, result


def test_started_without_descriptors(sleeper):
    """The files that djtap opens must not be taken for stdin, stdout and stderr."""
    line = f'exec "{paths.DJTAP}" "$@" <&- >&- 2>&-'
    result = subprocess.run(["sh", "-c", line, "sh", "-p", str(sleeper.pid), "-T", "0.5", "-e", TICKS], check=False, timeout=300)
    assert result.returncode == 0
    line = f'"{paths.DJTAP}" "$@" 2>&-'
    result = subprocess.run(["sh", "-c", line, "sh", "-e", 'probe func("vfs_read") { n++ } probe begin { warn("lost") }', "-c", paths.TINYFS],
                            check=False, timeout=300, capture_output=True, text=True)
    assert result.returncode == 0 and f"n={run.FACT.search(result.stdout[result.stdout.index('vfs_read calls'):])[2]}\n" in result.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full is not here")
def test_a_full_disk(sleeper):
    session = ["-p", sleeper.pid, "-T", "30", "-e", TICKS]
    for words, options in ((["-o", "/dev/full"], {}), ([], {"stdout": open("/dev/full", "wb")})):
        result = traced(*words, *session, stderr=subprocess.PIPE, text=True, **options)
        assert result.returncode == 5 and "output ended early: No space left on device" in result.stderr, result
    for words in (["-l", 'func("*")', "-c", "/bin/true"], ["--explain", "DJ2001"], ["--stress", "--coverage", paths.victim("count")]):
        with open("/dev/full", "wb") as full:
            result = traced(*words, stdout=full, stderr=subprocess.PIPE, text=True)
        assert result.returncode in (5, 125) and "error[DJ5012]: output ended early: " in result.stderr, result


def test_a_limit_on_file_sizes(sleeper, tmp_path):
    """SIGXFSZ ends nobody: neither djtap, nor the target, whose own limit does not count for djtap's memory."""
    result = traced("-p", sleeper.pid, "-e", TICKS, capture_output=True, text=True, preexec_fn=limited(resource.RLIMIT_FSIZE, 4096))
    assert result.returncode == 4 and "cannot make the memory that the target shares" in result.stderr and "File too large" in result.stderr, result
    script = 'probe begin { for (i = 0; i < 30000; i++) printf("%099d\\n", i); exit() }'
    result = traced("-o", tmp_path / "out", "-D", "MAXACTION_HOST=10000000", "-e", script, capture_output=True, text=True,
                    preexec_fn=limited(resource.RLIMIT_FSIZE, 64 << 10))
    assert result.returncode == 5 and "output ended early: File too large" in result.stderr, result
    assert f"File too large ({tmp_path}/out)" in result.stderr, result
    assert (tmp_path / "out").read_text() == "".join(f"{i:099}\n" for i in range(30000))[:64 << 10]
    with run.Background([paths.victim("commander")], preexec_fn=limited(resource.RLIMIT_FSIZE, 0)) as victim:
        session = subprocess.Popen([paths.DJTAP, "-p", str(victim.pid), "--probes", "-e", 'probe func("work") { n++ }'],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while "[" not in session.stderr.readline():
            pass
        victim.tell("call 10")
        victim.wait_for("called: 10")
        session.send_signal(signal.SIGINT)
        assert session.communicate(timeout=300)[0] == "n=10\n" and session.returncode == 0


LINES = 'probe func("libc.so.6!clock_nanosleep") { for (i = 0; i < 500; i++) printf("%099d\\n", i) }'
# tmpfs of 1.5 MB in a mount namespace of its own, where the output goes.
SMALL_DISK = 'mount -t tmpfs -o size=1536k none "$0" && "$@"; code=$?; ls "$0" >&2; wc -c < "$0/out.1" >&2; exit $code'


def test_files_in_turns_on_a_full_disk(sleeper, tmp_path):
    """The second file of one megabyte finds no room: the session ends, its probes go, and the message names the file."""
    tried = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", tmp_path], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"no mount namespace: {tried.stderr}")
    namespace = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-rm"]
    session = [paths.DJTAP, "-p", str(sleeper.pid), "-T", "60", "-o", tmp_path / "out", "-S", "1", "-e", LINES]
    result = subprocess.run([*namespace, "sh", "-c", SMALL_DISK, tmp_path, *session], capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 5 and f"output ended early: No space left on device ({tmp_path}/out.1)" in result.stderr, result
    assert re.search(r"^out\.0\nout\.1\n5\d{5}$", result.stderr, re.M), result


def test_files_in_turns_and_a_limit_on_file_sizes(tmp_path):
    """The limit of 512 kB comes before the turn."""
    script = 'probe begin { for (i = 0; i < 9000; i++) printf("%099d\\n", i); exit() }'
    result = traced("-o", tmp_path / "out", "-S", "1", "-D", "MAXACTION_HOST=10000000", "-e", script, capture_output=True, text=True,
                    preexec_fn=limited(resource.RLIMIT_FSIZE, 512 << 10))
    assert result.returncode == 5 and f"output ended early: File too large ({tmp_path}/out.0)" in result.stderr, result
    assert [file.stat().st_size for file in tmp_path.iterdir()] == [512 << 10]


def test_too_little_memory(sleeper):
    result = traced("-p", sleeper.pid, "-T", "1", "-e", TICKS, capture_output=True, text=True,
                    preexec_fn=limited(resource.RLIMIT_AS, 300 << 20))
    assert result.returncode in (4, 5) and "memory" in result.stderr and "terminate" not in result.stderr, result


STACKS = 'probe func("libc.so.6!malloc") { a[ubacktrace()]++ }'
EVERYTHING = 'probe func("*") { n++ }'


@pytest.mark.parametrize("script, command, limits", [(STACKS, f"{paths.victim('count')} 1 1", range(40, 72, 4)),
                                                     (EVERYTHING, "/bin/bash -c 'echo ran'", range(284, 310, 4))])
def test_memory_ends_anywhere(script, command, limits):
    """In whatever thread: djtap says so, and its program has either not run at all or as if nothing were."""
    for megabytes in limits:
        result = traced("--no-cache", "-e", script, "-c", command, capture_output=True, text=True,
                        preexec_fn=limited(resource.RLIMIT_AS, megabytes * 10**6))
        ran = "work calls: 1\n" in result.stdout or "ran\n" in result.stdout
        assert (result.returncode == 0) == ran, result
        assert ran or (result.returncode in (4, 5, 125) and re.search(r"^error\[(DJ4005|DJ5013)\]: ", result.stderr)), (megabytes, result)


@pytest.mark.parametrize("place", ["dj::ProcessTarget::raise", "dj::ProcessTarget::poll"])
def test_memory_ends_in_the_middle(sleeper, place):
    """While probes are put into a running program, and while they are there (gdb makes it so): they are taken out."""
    result = run.interrupted(place, "set $rip = (long)&'std::__throw_bad_alloc()'", ["-e", TICKS, "-p", sleeper.pid])
    assert "error[DJ5013]: there is not enough memory" in result.stderr, result
