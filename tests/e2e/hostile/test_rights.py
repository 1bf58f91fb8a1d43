# SPDX-License-Identifier: Apache-2.0
"""Rights end with the target's: a root's djtap works on the data of nobody's process as nobody, whatever that process does."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import pytest

from support import paths, process, run

if os.getuid() != 0:
    pytest.skip("targets run as nobody, djtap as root", allow_module_level=True)

HERE = pathlib.Path(__file__).parent
NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
DOCUMENTED = {0, 1, 2, 3, 4, 5, 125, 126, 127}
FIELDS = ("Uid", "Gid", "Groups", "CapPrm", "CapEff", "NoNewPrivs", "Seccomp")
# How the target hides from its equals; the last one hides nothing.
HIDDEN = ["undumpable", "filtered", "capable", "plain"]


@pytest.fixture(scope="module")
def folder(public_build):
    """A folder that nobody may read, with the attackers and a victim or two."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="djtap-hostile-") as name:
        made = pathlib.Path(name)
        made.chmod(0o755)
        for library in ("undumpable", "filtered"):
            subprocess.run(["gcc", "-shared", "-fPIC", "-o", made / f"{library}.so", HERE / f"{library}.c"], check=True)
        subprocess.run(["gcc", "-O1", "-g", "-o", made / "becomes_setuid", HERE / "becomes_setuid.c"], check=True)
        subprocess.run(["g++", "-std=c++20", "-O1", "-g", f"-I{paths.ROOT}", "-o", made / "forged_system", HERE / "forged_system.cpp"], check=True)
        (made / "of_nobody").mkdir()
        os.chown(made / "of_nobody", NOBODY, NOBODY)
        yield made


@pytest.fixture
def start(program, folder, public_build):
    """start(how, words...) starts a victim of nobody's that hides so."""
    def go(how, *words):
        environment = dict(os.environ)
        if how in ("undumpable", "filtered"):
            environment["LD_PRELOAD"] = str(folder / f"{how}.so")
        more = ["--inh-caps=+net_raw", "--ambient-caps=+net_raw"] if how == "capable" else []
        env = [f"LD_PRELOAD={environment['LD_PRELOAD']}"] if "LD_PRELOAD" in environment else []
        target = program(*AS_NOBODY, *more, "env", *env, *words, cwd="/tmp")
        target.wait_for("pid: ")
        return target

    return go


def fields(path):
    text = pathlib.Path(path).read_text()
    return {name: re.search(rf"^{name}:[ \t]*(.*?)[ \t]*$", text, re.M).group(1) for name in FIELDS}


def nobodys(found):
    ids = "\t".join([str(NOBODY)] * 4)
    return found == {"Uid": ids, "Gid": ids, "Groups": "", "CapPrm": "0" * 16, "CapEff": "0" * 16, "NoNewPrivs": "1", "Seccomp": "2"}


def check_worker(pid):
    for task in os.listdir(f"/proc/{pid}/task"):
        found = fields(f"/proc/{pid}/task/{task}/status")
        assert nobodys(found), found
    # Its memory and descriptors are closed to the user whom it has become.
    looked = subprocess.run([*AS_NOBODY, "cat", f"/proc/{pid}/environ"], capture_output=True, check=False)
    assert looked.returncode != 0, looked


def skip_traps(how, mode):
    if how == "filtered" and mode == "int3":
        pytest.skip("under a filter of the program djtap puts no int3")


def brokers_of(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [child for child in children if pathlib.Path(f"/proc/{child}/comm").read_text() == "djtap-broker\n"]


@pytest.mark.parametrize("how", HIDDEN)
def test_counts_as_an_equal(start, attach, how, mode):
    """Threads of a program that sleeps and works: counts are exact, and it is as it was afterwards."""
    skip_traps(how, mode)
    target = start(how, paths.victim("commander"))
    before = process.own_text(target.pid, paths.victim("commander"))
    tracer = attach(target.pid, 'global n, tids probe func("work") { n++; tids[tid()]++ } probe end { system("id -u; id -g; id -G") }')
    check_worker(tracer.pid)
    [broker] = brokers_of(tracer.pid)
    target.call(5000)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals["n"] == 5000, result
    assert f"{NOBODY}\n{NOBODY}\n{NOBODY}\n" in result.stdout, result
    assert process.status_field(target.pid, "TracerPid") == "0" and not os.path.exists(f"/proc/{broker}")
    assert process.own_text(target.pid, paths.victim("commander")) == before
    target.tell("quit")
    ended = target.finish()
    assert ended.returncode == 0 and ended.facts["interrupted"] == 0, ended


@pytest.mark.parametrize("how", ["undumpable", "capable", "plain"])
@pytest.mark.parametrize("options", [["--live"], ["--no-optimize"]])
def test_other_ways_to_write(start, attach, how, options):
    target = start(how, paths.victim("commander"))
    tracer = attach(target.pid, 'probe func("work") { n++ } probe timer.ms(5) { if (++t == 3) println("ticks") }', *options)
    target.call(3000)
    tracer.wait_for("ticks")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals["n"] == 3000, result
    target.tell("quit")
    assert target.finish().returncode == 0


@pytest.mark.parametrize("how", HIDDEN)
def test_samples(start, attach, how, mode):
    """timer.profile stops running threads and sends them through the handler."""
    skip_traps(how, mode)
    target = start(how, paths.victim("commander"))
    tracer = attach(target.pid, 'global n probe timer.profile.freq.hz(500) { if (++n == 5) println("samples") } probe func("work") { w++ } '
                    'probe end { printf("n=%d\\n", n) }')
    calls = target.call_until(tracer, "samples")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals["n"] >= 5 and result.globals["w"] == calls, result
    target.tell("quit")
    assert target.finish().returncode == 0


@pytest.mark.parametrize("how", ["undumpable", "plain"])
def test_a_list_and_a_kill(start, djtap_once, background, how):
    """-l shows functions, and clean takes out what a djtap that was killed has left."""
    target = start(how, paths.victim("commander"))
    before = process.own_text(target.pid, paths.victim("commander"))
    listed = djtap_once("-l", 'func("work")', "-p", str(target.pid))
    assert listed.returncode == 0 and "work" in listed.stdout, listed
    tracer = background("--probes", "-e", 'probe func("work") { n++ }', "-p", str(target.pid))
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    tracer.signal(signal.SIGKILL)
    tracer.finish()
    assert process.own_text(target.pid, paths.victim("commander")) != before
    cleaned = djtap_once("clean", str(target.pid))
    assert cleaned.returncode == 0, cleaned
    assert process.own_text(target.pid, paths.victim("commander")) == before
    target.tell("quit")
    assert target.finish().returncode == 0


# Forks children that work, and live on until they are told to end.
FORKS = r"""import os, signal, sys
print("pid:", os.getpid(), flush=True)
sys.stdin.readline()
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        for _ in range(100): os.getppid()
        os.write(1, b"worked %d\n" % os.getpid())  # whole, whoever else writes
        signal.pause()
        os._exit(0)
    children.append(child)
sys.stdin.readline()
for child in children: os.kill(child, signal.SIGTERM)
print("statuses:", sum(os.waitpid(child, 0)[1] for child in children), flush=True)
"""


@pytest.mark.parametrize("how", HIDDEN)
def test_forks(start, attach, how, mode):
    """Forks are counted, and have their own text back when the session ends before they do."""
    skip_traps(how, mode)
    target = start(how, paths.PYTHON, "-uc", FORKS)
    before = process.text_of(target.pid)
    tracer = attach(target.pid, 'probe process.begin { begun++ } probe func("libc.so.6!getppid") { n++ }')
    target.tell("")
    target.wait_for(r"(^worked \d+\n){4}")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals["n"] == 400 and result.globals["begun"] == 5, result
    for pid in map(int, re.findall(r"worked (\d+)", target.stdout)):
        assert process.differences(before, process.text_of(pid)) == []
    target.tell("")
    assert target.finish().facts["statuses"] == 4 * signal.SIGTERM


def test_a_root_with_fewer_capabilities(program, attach):
    """As that of a service: djtap stays user 0, without a capability."""
    target = program("setpriv", "--bounding-set=-all,+chown", paths.victim("commander"))
    target.wait_for("pid: ")
    tracer = attach(target.pid, 'probe func("work") { n++ }')
    found = fields(f"/proc/{tracer.pid}/status")
    assert (found["CapPrm"], found["NoNewPrivs"], found["Seccomp"]) == ("0" * 16, "1", "2"), found
    target.call(1000)
    tracer.signal(signal.SIGINT)
    assert tracer.finish().globals == {"n": 1000}
    target.tell("quit")
    assert target.finish().returncode == 0


def test_an_equal_from_the_beginning_stays_what_it_is(program, attach):
    target = program(paths.victim("commander"))
    target.wait_for("pid: ")
    tracer = attach(target.pid, 'probe func("work") { n++ }')
    found = fields(f"/proc/{tracer.pid}/status")
    assert (found["NoNewPrivs"], found["Seccomp"]) == (fields("/proc/self/status")["NoNewPrivs"], fields("/proc/self/status")["Seccomp"])
    assert brokers_of(tracer.pid) == []
    target.tell("quit")
    tracer.finish()


def test_a_forged_command_runs_as_the_target(program, djtap_once, folder):
    """With a script that says system(): what the target writes into the ring is run with its rights, so it has won nothing."""
    prize, secret = folder / "of_nobody" / "prize", folder / "secret"
    secret.write_text("secret\n")
    secret.chmod(0o600)
    command = f"id -u > {prize}; cat {secret} >> {prize}; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status >> {prize}"
    target = program(*AS_NOBODY, folder / "forged_system", command, cwd="/tmp")
    target.wait_for("pid: ")
    result = djtap_once("-T", "1.5", "-e", 'probe func("work") { n++ } probe end { if (n < 0) system("true") }', "-p", str(target.pid))
    target.wait_for("forged: ")  # else nothing was tried
    assert result.returncode in DOCUMENTED, result
    if prize.exists():
        text = prize.read_text()
        assert text.startswith(f"{NOBODY}\n") and "secret\n" not in text and "CapEff:\t0000000000000000" in text, text


def test_a_setuid_program_is_not_followed(start, folder, attach):
    """The target executes a program that gets root's rights; djtap keeps out of it, and it gets its rights."""
    program_of_root = folder / "commander"
    shutil.copy(paths.victim("commander"), program_of_root)
    program_of_root.chmod(0o4755)
    target = start("undumpable", folder / "becomes_setuid", program_of_root)
    tracer = attach(target.pid, 'probe func("work") { n++ }')
    target.tell("now")
    process.wait_until(lambda: pathlib.Path(f"/proc/{target.pid}/comm").read_text() == "commander\n", "it executes nothing")
    assert process.status_field(target.pid, "Uid").split()[1] == "0"
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode in DOCUMENTED and process.status_field(target.pid, "TracerPid") == "0", result
    assert "memfd:djtap" not in pathlib.Path(f"/proc/{target.pid}/maps").read_text()
    target.tell("quit")
    assert target.finish().returncode == 0


def test_a_setuid_program_that_runs(start, folder, attach):
    """Started by nobody, with root's rights: djtap works as nobody, the broker traces."""
    program_of_root = folder / "commander"
    shutil.copy(paths.victim("commander"), program_of_root)
    program_of_root.chmod(0o4755)
    target = start("plain", program_of_root)
    tracer = attach(target.pid, 'probe func("work") { n++ }')
    check_worker(tracer.pid)
    target.call(1000)
    tracer.signal(signal.SIGINT)
    assert tracer.finish().globals == {"n": 1000}
    target.tell("quit")
    assert target.finish().returncode == 0


def test_files_of_the_user(start, background, folder, tmp_path):
    """Output in turns, a report and a control socket in folders that only root may enter."""
    target = start("plain", paths.victim("commander"))
    os.chmod(tmp_path, 0o700)
    (tmp_path / "report.lua").write_text('djtap.on_end(function() print("from lua") end)\n')
    script = 'probe begin { println("one") switch_file() println("two") } probe func("work") { n++ }'
    tracer = background("--probes", "-o", str(tmp_path / "out"), "--control", str(tmp_path / "socket"), "-e", script, "-p", str(target.pid))
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    assert (tmp_path / "socket").is_socket() and (tmp_path / "socket").stat().st_uid == 0
    target.call(10)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and (tmp_path / "out").read_text() == "one\n", result
    assert (tmp_path / "out.1").read_text().startswith("two\n") and "n=10" in (tmp_path / "out.1").read_text()
    assert not (tmp_path / "socket").exists()
    target.tell("quit")
    assert target.finish().returncode == 0


def test_a_folder_of_tapsets_that_the_user_of_the_target_may_not_read(start, djtap_once, tmp_path):
    target = start("plain", paths.victim("commander"))
    os.chmod(tmp_path, 0o700)
    result = djtap_once("-T", "5", "-I", str(tmp_path), "-e", 'probe func("work") { n++ }', "-p", str(target.pid))
    assert result.returncode == 4 and f"user {NOBODY} may not read {tmp_path}" in result.stderr and "DJ4006" in result.stderr, result
    target.tell("quit")
    target.finish()


def test_an_output_file_is_no_trap(djtap_once, folder):
    """In a folder where others make files: neither a symbolic link is followed nor another's file written."""
    shared = folder / "shared"
    shared.mkdir()
    shared.chmod(0o777)  # not sticky: there the kernel refuses by itself
    victim = folder / "victim"
    victim.write_text("kept\n")
    os.symlink(victim, shared / "link")
    (shared / "other").write_text("theirs\n")
    os.chown(shared / "other", NOBODY, NOBODY)
    os.link(victim, shared / "second")
    for name in ("link", "other", "second"):
        result = djtap_once("-o", str(shared / name), "-e", 'probe begin { println("x") exit() }')
        assert result.returncode == 1 and "DJ0007" in result.stderr and "others may make files" in result.stderr, result
    (shared / "mine").write_text("old text\n")
    for name in ("new", "mine"):
        result = djtap_once("-o", str(shared / name), "-e", 'probe begin { println("x") exit() }')
        assert result.returncode == 0 and (shared / name).read_text() == "x\n", result
    assert victim.read_text() == "kept\n" and (shared / "other").read_text() == "theirs\n"


def test_secrets_of_the_environment_stay(start, djtap_once, monkeypatch):
    monkeypatch.setenv("SECRET_OF_ROOT", "hush")
    target = start("plain", paths.victim("commander"))
    result = djtap_once("-T", "0.5", "-e", 'probe func("work") { n++ } probe begin { system("env; ls -l /proc/self/fd") }', "-p", str(target.pid))
    assert result.returncode == 0 and "PATH=" in result.stdout and "hush" not in result.stdout, result
    target.tell("quit")
    target.finish()


def test_what_is_kept_is_kept_apart(start, djtap_once, own_cache):
    """In a folder of the target's user, that no djtap with other rights reads."""
    target = start("plain", paths.victim("commander"))
    result = djtap_once("-T", "0.1", "-e", 'probe func("work") { n++ }', "-p", str(target.pid))
    assert result.returncode == 0, result
    kept = own_cache / f"of-{NOBODY}"
    assert kept.stat().st_uid == NOBODY and list(kept.iterdir()) and list(own_cache.iterdir()) == [kept]
    assert all(file.stat().st_uid == NOBODY for file in kept.iterdir())
    target.tell("quit")
    target.finish()


@pytest.mark.parametrize("how", HIDDEN)
def test_a_number_in_the_script_alone(start, djtap_once, how):
    """Without -p djtap has read the script by then: it stays what it is, and reads nothing of nobody's. A list is asked for in words."""
    target = start(how, paths.victim("commander"))
    before = process.own_text(target.pid, paths.victim("commander"))
    point = f'process({target.pid}).function("work")'
    wrong = djtap_once("-e", f"probe {point} {{ n++ }}")
    assert wrong.returncode == 4 and "DJ4002" in wrong.stderr and f"and so does -p {target.pid}, with its rights" in wrong.stderr, wrong
    assert process.own_text(target.pid, paths.victim("commander")) == before
    listed = djtap_once("-l", point)
    assert listed.returncode == 0 and "work" in listed.stdout, listed
    target.tell("quit")
    assert target.finish().returncode == 0


def test_trust(start, djtap_once, attach):
    target = start("plain", paths.victim("commander"))
    tracer = attach(target.pid, 'probe func("work") { n++ }', "--trust-target")
    assert fields(f"/proc/{tracer.pid}/status")["Uid"].split()[0] == "0"
    target.call(10)
    tracer.signal(signal.SIGINT)
    assert tracer.finish().globals == {"n": 10}
    target.tell("quit")
    target.finish()
