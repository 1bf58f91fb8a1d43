# SPDX-License-Identifier: Apache-2.0
"""djtap doctor of a target that a session would refuse, or do something without: rows and exit code are the session's own answers."""
import ctypes
import os
import re
import resource
import shutil
import signal
import subprocess

import pytest

from support import paths, process, run
from support.doctors import COUNT, Doctor, fill, hwcap2, of_kernel, refused, session_on
from support.paths import victim

PTRACE_SEIZE, PTRACE_DETACH = 0x4206, 17
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root may do this")


# --- a target that is refused


def test_no_process_and_no_program(doctor, tmp_path):
    """As a session says it, with its exit code."""
    (tmp_path / "plain").write_text("no program")
    head = bytearray(open(victim("count"), "rb").read(64))
    head[4] = 1  # ELFCLASS32
    (tmp_path / "narrow").write_bytes(head)
    (tmp_path / "narrow").chmod(0o755)
    for words, status in ((["-p", "999999999"], 4), (["/no/such/program"], 127), ([str(tmp_path / "plain")], 126), ([str(tmp_path / "narrow")], 126),
                          ([str(tmp_path)], 126), (["-c", "/no/such/program"], 127)):
        found = doctor(*words)
        told = run.run(["-e", COUNT, *(words if words[0] in ("-p", "-c") else ["-c", *words])])
        row = found.row("target")
        assert (found.result.returncode, row["what"]) == refused(told) and row["health"] == "fails", (found.result, told)
        assert found.result.returncode == status and re.fullmatch(r"djtap --explain DJ4\d\d\d", row["way_out"])
        assert run.run(row["way_out"].split()[1:]).returncode == 0


def test_one_that_is_traced(doctor, target):
    pid = target().pid
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    assert doctor("-p", pid).health("target") == "ok"
    assert libc.ptrace(PTRACE_SEIZE, pid, None, None) == 0
    try:
        found, told = doctor("-p", pid), session_on(pid)
    finally:
        os.kill(pid, signal.SIGSTOP)  # only a stopped one can be let go
        os.waitpid(pid, 0x40000000)  # __WALL
        libc.ptrace(PTRACE_DETACH, pid, None, None)
        os.kill(pid, signal.SIGCONT)
    assert (found.result.returncode, found.row("target")["what"]) == refused(told), (found.result, told)
    assert f"already traced by process {os.getpid()}" in found.row("target")["what"] and found.result.returncode == 4


def test_one_of_another_session(doctor, target, attach):
    """One session a process."""
    pid = target().pid
    tracer = attach(pid, COUNT)
    found, told = doctor("-p", pid), session_on(pid)
    assert (found.result.returncode, found.row("target")["what"]) == refused(told) and f"process {tracer.pid}" in told.stderr, (found.result, told)


def test_one_that_hides(target, program, public_build, as_nobody, tmp_path_factory):
    """Not dumpable: no equal may look at it."""
    folder = tmp_path_factory.mktemp("hides")
    source = paths.ROOT / "tests" / "e2e" / "hostile" / "undumpable.c"
    library = public_build / "targets" / "undumpable_for_doctor.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True, cwd=folder)
    started = target(*as_nobody, "env", f"LD_PRELOAD={library}", public_build / "targets" / "commander", cwd="/tmp")
    found = Doctor(run.run(["doctor", "--json", "-p", str(started.pid)], prefix=as_nobody, binary=public_build / "djtap", cwd="/tmp"))
    told = session_on(started.pid, prefix=as_nobody, binary=public_build / "djtap", cwd="/tmp")
    assert (found.result.returncode, found.row("target")["what"]) == refused(told), (found.result, told)
    assert found.result.returncode == 4 and "not dumpable" in told.stderr
    library.unlink()


@as_root
def test_one_of_another_user(target, public_build, as_nobody):
    started = target()
    found = Doctor(run.run(["doctor", "--json", "-p", str(started.pid)], prefix=as_nobody, binary=public_build / "djtap", cwd="/tmp"))
    told = session_on(started.pid, prefix=as_nobody, binary=public_build / "djtap", cwd="/tmp")
    assert (found.result.returncode, found.row("target")["what"]) == refused(told) and "belongs to user 0" in told.stderr, (found.result, told)
    assert found.health("capabilities") == "note"


@as_root
def test_one_of_nobody(doctor, target, as_nobody, public_build):
    """Root's djtap takes nobody's rights, and looks."""
    started = target(*as_nobody, public_build / "targets" / "commander", cwd="/tmp")
    found = doctor("-p", started.pid)
    assert found.health("target") == "ok" and found.health("capabilities") == "ok", found.result
    started.tell("quit")
    assert started.finish().returncode == 0


@pytest.mark.parametrize("who, how", [("all", "kill"), ("worker", "kill"), ("all", "strict"), ("worker", "strict")])
def test_a_filter_without_rights(program, public_build, as_nobody, who, how):
    """The row's answer is a session's: only of strict mode, where another thread can be borrowed, it needs no rights."""
    started = program(*as_nobody, public_build / "targets" / "confined", who, how, "9", cwd="/tmp")  # mmap
    started.wait_for("confined: 1")
    pid = int(re.search(r"pid: (\d+)", started.stdout)[1])
    found = Doctor(run.run(["doctor", "--json", "-p", str(pid)], prefix=as_nobody, binary=public_build / "djtap", cwd="/tmp"))
    told = session_on(pid, prefix=as_nobody, binary=public_build / "djtap", cwd="/tmp")
    row = found.row("seccomp filter")
    if (who, how) == ("worker", "strict"):
        assert row["health"] == "limited" and told.returncode == 0 and "warning[DJ4903]" in told.stderr, (found.result, told)
    else:
        assert row["health"] == "fails" and (found.result.returncode, row["what"]) == refused(told), (found.result, told)
    started.process.stdin.close()
    assert started.finish().returncode == 0


@as_root
@pytest.mark.parametrize("denied, health", {"swapon": "ok", "process_vm_readv": "limited", "rt_sigreturn": "limited"}.items())
def test_a_filter_with_rights(doctor, program, denied, health):
    number = {"swapon": "167", "process_vm_readv": "310", "rt_sigreturn": "15"}[denied]
    started = program(victim("confined"), "all", "errno", number)
    started.wait_for("confined: 1")
    pid = int(re.search(r"pid: (\d+)", started.stdout)[1])
    found, told = doctor("-p", pid), session_on(pid, "--no-optimize", "--probes")
    assert found.health("seccomp filter") == health, found.result
    assert ("reads of memory are errors" in found.row("seccomp filter")["what"]) == (denied == "process_vm_readv")
    assert ("warning[DJ4903]" in told.stderr) == (health == "limited" and denied != "rt_sigreturn"), told
    skipped = [site.reason for site in told.sites if site.state == "SKIPPED"]
    assert (found.health("int3") == "limited") == (denied == "rt_sigreturn") == bool(skipped), (found.result, told)
    assert all(reason in found.row("int3")["what"] for reason in skipped)


def test_limited_memory(doctor, target):
    """RLIMIT_AS: the row's reason is what a session ends with."""
    started = target()
    size = int(process.status_field(started.pid, "VmSize").split()[0]) << 10
    assert doctor("-p", started.pid).health("memory limits") == "ok"
    resource.prlimit(started.pid, resource.RLIMIT_AS, (size + (6 << 20), resource.RLIM_INFINITY))
    found, told = doctor("-p", started.pid), session_on(started.pid)
    assert found.health("memory limits") == "fails" and found.result.returncode == told.returncode == 4, (found.result, told)
    assert "address space (RLIMIT_AS" in found.row("memory limits")["what"] and "RLIMIT_AS" in told.stderr


def test_djtaps_own_limit(target):
    """RLIMIT_FSIZE of djtap: it cannot make what it shares."""
    pid = target().pid
    limited = ["prlimit", "--fsize=65536:65536"]
    found = Doctor(run.run(["doctor", "--json", "-p", str(pid)], prefix=limited))
    told = session_on(pid, prefix=limited)
    assert found.health("djtap's memory") == "fails" and found.result.returncode == told.returncode == 4, (found.result, told)
    assert "RLIMIT_FSIZE" in found.row("djtap's memory")["what"] and "RLIMIT_FSIZE" in told.stderr


def test_calls_that_are_caught(doctor, program):
    if "failed: 0\n" not in subprocess.run([victim("dispatching")], capture_output=True, text=True, check=True).stdout:
        pytest.skip("this kernel does not catch system calls")
    started = program(victim("dispatching"), "wait")
    started.wait_for("pid: ")
    found, told = doctor("-p", started.pid), session_on(started.pid)
    if told.returncode == 0:
        pytest.skip("this kernel does not say whose system calls are caught (before 6.4)")
    assert (found.result.returncode, found.row("system calls")["what"]) == refused(told), (found.result, told)


def test_no_room_for_data(doctor, program):
    """Everything below 2 GB is taken, page by page where need be."""
    started = fill(program, "size = 1 << 30\nwhile size >= 1 << 16:\n  for at in range(1 << 16, 1 << 31, size): reserve(at, size)\n  size >>= 1")
    found, told = doctor("-p", started.pid), run.run(["-T", "0.05", "-e", 'probe func("malloc") { n++ }', "-p", str(started.pid)])
    assert found.health("room for data") == "fails", (found.result, told)
    mib = re.compile(r"no \d+ MB")
    assert found.result.returncode == told.returncode == 4, (found.result, told)
    assert mib.sub("", found.row("room for data")["what"]) == mib.sub("", refused(told)[1])


# --- a target that is traced with less


def test_many_mappings(doctor, program):
    most = int(of_kernel("/proc/sys/vm/max_map_count"))
    if most > 100_000:
        pytest.skip(f"half of {most} mappings are many")
    pages = most // 2 + 10
    started = fill(program, f"base = reserve(0, {pages} << 12)\nfor i in range(0, {pages}, 2): assert libc.mprotect(base + (i << 12), 4096, 1) == 0")
    assert len(process.mappings(started.pid)) > most // 2
    found = doctor("-p", started.pid)
    assert found.health("mappings") == "limited" and "may add 0" in found.row("mappings")["what"], found.result
    assert found.result.returncode == 6


def test_gs_base(doctor, program):
    """One that has a gs base of its own."""
    plain = fill(program, "")
    started = fill(program, "word = ctypes.create_string_buffer(64)\nassert libc.syscall(158, 0x1001, ctypes.c_void_p(ctypes.addressof(word))) == 0")
    assert doctor("-p", started.pid).health("rows of threads") == "limited"
    assert doctor("-p", plain.pid).health("rows of threads") == ("ok" if hwcap2() & 2 else "limited")


def test_text_that_can_be_written(doctor, target, public_build):
    """Its code is not probed, unless one says so; a session skips it, too."""
    started = target(public_build / "targets" / "own_text", "writable", cwd="/tmp")
    found, told = doctor("-p", started.pid), session_on(started.pid, "--probes")
    assert found.health("code") == "limited" and found.row("code")["object"].endswith("own_text"), found.result
    assert {site.reason for site in told.sites} == {"writable-text"}, told


@as_root
def test_a_program_that_loses_rights(public_build, as_nobody):
    """Setuid: traced from its start it runs without."""
    copy = public_build / "targets" / "setuid_for_doctor"
    shutil.copy2(public_build / "targets" / "count", copy)
    copy.chmod(0o4755)
    found = Doctor(run.run(["doctor", "--json", str(copy)], prefix=as_nobody, binary=public_build / "djtap", cwd="/tmp"))
    told = run.run(["-e", COUNT, "-c", f"{copy} 10"], prefix=as_nobody, binary=public_build / "djtap", cwd="/tmp")
    copy.unlink()
    row = found.row("rights of the program")
    assert row["health"] == "limited" and f"warning[DJ4902]: {row['what']}" in told.stderr, (found.result, told)
    plain = Doctor(run.run(["doctor", "--json", str(public_build / "targets" / "count")], prefix=as_nobody, binary=public_build / "djtap", cwd="/tmp"))
    assert plain.health("rights of the program") == "ok"


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    found = re.search(r"Build ID: (\w+)", notes)
    return found[1] if found else ""


@pytest.mark.parametrize("how", ["whole", "without debug information", "stripped"])
def test_debug_information(doctor, tmp_path, how):
    """Present where readelf sees it; where it is missing a session has no variables."""
    copy = tmp_path / "count"
    shutil.copy2(victim("count"), copy)
    if how != "whole":
        subprocess.run(["strip", "-g" if how != "stripped" else "-s", copy], check=True)
    found = doctor(copy, "10")
    [row] = [each for each in found.rows("debug information") if each["object"] == str(copy)]
    there = ".debug_info" in subprocess.run(["readelf", "-SW", copy], capture_output=True, text=True, check=True).stdout
    assert (row["health"] == "ok") == there == (how == "whole"), found.result
    assert row["build_id"] == build_id(copy) and (row["build_id"] in row["what"]) or there
    assert there or (found.result.returncode == 6 and ("only what it exports" in row["what"]) == (how == "stripped")), found.result
    told = run.run(["-e", 'probe func("work") { println($n) }' if how != "stripped" else COUNT, "-c", f"{copy} 10"])
    assert (told.returncode == 0) == there, told


def test_debug_information_of_all_objects(doctor, target):
    """One row for each file with code that the process has mapped."""
    started = target()
    found = doctor("-p", started.pid)
    mapped = {line.split(maxsplit=5)[5] for line in of_kernel(f"/proc/{started.pid}/maps").splitlines() if " r-xp " in line and "/" in line}
    assert {each["object"] for each in found.rows("debug information")} == mapped, found.result
    assert {each["build_id"] for each in found.rows("debug information")} == {build_id(path) for path in mapped}


def test_a_removed_file(doctor, tmp_path, target):
    copy = tmp_path / "commander"
    shutil.copy2(victim("commander"), copy)
    started = target(copy)
    assert doctor("-p", started.pid).health("files") == "ok"
    copy.unlink()
    found, told = doctor("-p", started.pid), session_on(started.pid)
    assert (found.health("files") == "limited") == ("warning[DJ4904]" in told.stderr), (found.result, told)
    assert found.health("files") == "ok" or f"warning[DJ4904]: {found.row('files')['what']}" in told.stderr, (found.result, told)


def test_what_a_killed_session_left(doctor, target, attach):
    """Something to know, not a reason for anything."""
    started = target()
    before = doctor("-p", started.pid)
    assert before.health("earlier sessions") == "ok"
    tracer = attach(started.pid, COUNT)
    tracer.signal(signal.SIGKILL)
    tracer.process.wait()
    found = doctor("-p", started.pid)
    assert found.health("earlier sessions") == "note" and f"djtap clean {started.pid}" in found.row("earlier sessions")["way_out"], found.result
    assert found.result.returncode == before.result.returncode
    assert run.run(["clean", str(started.pid)]).returncode == 0
    left = "memfd:djtap" in of_kernel(f"/proc/{started.pid}/maps")  # where a thread may come back to it
    assert doctor("-p", started.pid).health("earlier sessions") == ("note" if left else "ok")
