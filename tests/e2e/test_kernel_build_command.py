# SPDX-License-Identifier: Apache-2.0
"""djtap kernel-build: a module for a kernel, or one sentence that says what is missing; make and the compiler are scripts."""
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import time

import pytest

from support import paths, run
from test_progress import errors_on_terminal

RELEASE = "9.8.7-test"
CONFIG = '#\nCONFIG_CC_VERSION_TEXT="gcc-77 (Test) 77.1"\nCONFIG_MODULES=y\nCONFIG_KPROBES=y\nCONFIG_KALLSYMS=y\nCONFIG_KALLSYMS_ALL=y\n'
MAKE = 'for word; do case $word in M=*) cat "${word#M=}"/*.c >"${word#M=}/djtap.ko";; esac; done'


@pytest.fixture
def headers(tmp_path, monkeypatch):
    """The folder of a kernel's headers, with tools that build for it."""
    def program(name, text):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    program("gcc-77", "exit 0")
    program("make", MAKE)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    folder = tmp_path / "headers"
    for name, text in (("include/generated/utsrelease.h", f'#define UTS_RELEASE "{RELEASE}"\n'), ("include/config/auto.conf", CONFIG)):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text)
    return folder


def build(*words, **options):
    return run.run(["kernel-build", *words], **options)


def refused(result):
    """Why; nothing else is printed, and the exit code is that of a target that cannot be had."""
    assert (result.returncode, result.stdout) == (4, ""), result
    return re.fullmatch(r"error\[DJ4007\]: (.*)\n", result.stderr)[1]


def test_a_file_for_another_machine(headers, tmp_path, as_nobody):
    """Needs no rights: the sources that come with djtap, and nothing but the file is left."""
    out = tmp_path / "out"
    out.mkdir()
    for folder in (tmp_path, *list(tmp_path.parents)[:-2], out):
        folder.chmod(0o777 if folder in (out, tmp_path) else 0o755)
    before = set(tmp_path.iterdir())
    result = build(RELEASE, "--headers", headers, "-o", out / "djtap.ko", prefix=as_nobody)
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{out}/djtap.ko\n", ""), result
    sources = sorted(path for path in (paths.ROOT / "kernel").glob("*.c"))
    assert (out / "djtap.ko").read_text() == "".join(path.read_text() for path in sources)
    assert os.listdir(out) == ["djtap.ko"] and set(tmp_path.iterdir()) == before


def test_only_root_keeps_it(headers, as_nobody):
    if os.getuid() == 0 and not as_nobody:
        pytest.skip("this user may not become the user nobody")
    said = refused(build(RELEASE, "--headers", headers, prefix=as_nobody))
    assert said == "only root may keep the module in /var/cache/djtap/kernel: run djtap as root, or name a file (-o djtap.ko)"


def test_headers_of_the_running_kernel(tmp_path):
    if os.path.exists(f"/lib/modules/{platform.release()}/build"):
        pytest.skip("the headers of this kernel are installed")
    said = refused(build("-o", tmp_path / "x.ko"))
    assert f"/lib/modules/{platform.release()}/build: apt-get install linux-headers-{platform.release()}, or name their folder" in said
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("what, said", [
    ("another kernel", f"are of kernel {RELEASE}, not of 1.2.3"),
    ("no headers", "apt-get install linux-headers-1.2.3"),
    ("no modules", "has no modules (CONFIG_MODULES)"),
    ("no compiler", "is built by gcc-77, which is not here: apt-get install gcc-77"),
    ("no sources", "djtap's kernel module's sources are missing"),
    ("it does not compile", "for kernel 9.8.7-test with gcc-77: device.c:1: error: it is wrong; the whole log is in "),
])
def test_what_is_missing(headers, tmp_path, what, said):
    """One sentence, with the way out, and no file is left but the compiler's log."""
    binary, release = paths.DJTAP, RELEASE
    if what == "another kernel":
        release = "1.2.3"
    elif what == "no headers":
        release, headers = "1.2.3", tmp_path / "none"
    elif what == "no modules":
        (headers / "include/config/auto.conf").write_text(CONFIG.replace("CONFIG_MODULES=y\n", ""))
    elif what == "no compiler":
        (tmp_path / "bin" / "gcc-77").unlink()
    elif what == "no sources":
        binary = shutil.copy2(paths.DJTAP, tmp_path)
    else:
        (tmp_path / "bin" / "make").write_text("#!/bin/sh\necho 'device.c:1: error: it is wrong' >&2; exit 2\n")
    before = set(tmp_path.iterdir())
    why = refused(build(release, "--headers", headers, "-o", tmp_path / "x.ko", binary=binary))
    assert said in why, why
    left = set(tmp_path.iterdir()) - before
    if what == "it does not compile":
        assert left == {tmp_path / "x.ko.log"}
    else:
        assert left == set()


def test_a_build_is_shown_while_it_lasts(headers, tmp_path):
    (tmp_path / "bin" / "make").write_text(f"#!/bin/sh\nsleep 2\n{MAKE}\n")
    text = errors_on_terminal(run.command(["kernel-build", RELEASE, "--headers", headers, "-o", tmp_path / "x.ko"]))
    assert "djtap: building the kernel module ... " in text and text.endswith("\r\x1b[K") and (tmp_path / "x.ko").exists(), text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_can_be_ended(headers, tmp_path, number):
    """With its compiler; and it leaves no file."""
    (tmp_path / "bin" / "make").write_text(f"#!/bin/sh\nsleep 1000 &\necho $! >{tmp_path}/pid.new\nmv {tmp_path}/pid.new {tmp_path}/pid\nwait\n")
    before = {*tmp_path.iterdir(), tmp_path / "pid"}
    words = run.command(["kernel-build", RELEASE, "--headers", headers, "-o", tmp_path / "x.ko"])
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as program:
        while not (tmp_path / "pid").exists():
            time.sleep(0.01)
        program.send_signal(number)
        assert (program.wait(run.PATIENCE), program.stdout.read()) == (-number, b"")
    assert set(tmp_path.iterdir()) == before
    sleeper = (tmp_path / "pid").read_text().strip()
    while os.path.exists(f"/proc/{sleeper}") and ") Z" not in pathlib.Path(f"/proc/{sleeper}/stat").read_text():
        time.sleep(0.01)  # it was killed; init takes it


def test_it_is_explained(djtap_once):
    told = djtap_once("--explain", "DJ4007")
    assert told.returncode == 0 and "kernel module" in told.stdout


def test_the_doctor_notes_it(doctor):
    """What the kernel lacks is worth knowing, and nothing that a session on a process lacks."""
    rows = {name: doctor().row(name) for name in ("kernel probes", "kernel modules", "kernel headers", "kernel module", "kernel symbols", "kernel text")}
    assert {row["health"] for row in rows.values()} <= {"ok", "note"}
    with open("/proc/kallsyms", encoding="utf8") as symbols:
        shown = int(symbols.read(16), 16) != 0
    assert rows["kernel headers"]["health"] == ("ok" if os.path.exists(f"/lib/modules/{platform.release()}/build") else "note")
    assert not shown or rows["kernel symbols"]["health"] == "ok"
    assert os.path.exists("/proc/modules") or "has no modules" in rows["kernel modules"]["what"]


def test_the_doctor_without_rights(as_nobody):
    if not as_nobody:
        pytest.skip("this user has no rights to give up")
    told = run.run(["doctor"], prefix=as_nobody)
    assert "note    kernel probes: the kernel needs root; or give -c or -p\n" in told.stdout, told
