# SPDX-License-Identifier: Apache-2.0
"""Works without any privilege on one's own processes; as root, the same by dropping all of it first."""
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from support import paths, process, run

SCRIPT = 'probe func("work") { n++; a[$id] += $n } probe func("work").return { s <<< $return }'


def launch(as_nobody, build, *args):
    return run.run(args, prefix=as_nobody, binary=build / "djtap", cwd="/tmp")


def check(result, calls=4000):
    assert result.returncode == 0 and result.facts["work calls"] == calls, result
    assert result.globals == {"n": calls} and f"s @count={calls}" in result.stdout, result


@pytest.mark.parametrize("form", ["count", "count_nopie", "count_static"])
def test_launch(as_nobody, public_build, mode_options, form):
    result = launch(as_nobody, public_build, *mode_options, "-e", SCRIPT, "-c", str(public_build / "targets" / form))
    check(result)


def test_a_folder_of_the_path_that_is_somebody_elses(as_nobody, public_build, tmp_path):
    """What is nowhere else in $PATH is not found; it is not said to be there."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o000)
    result = run.run(["-e", SCRIPT, "-c", "nosuch-program"], prefix=as_nobody, binary=public_build / "djtap", cwd="/tmp",
                     env={**os.environ, "PATH": f"{closed}:/usr/bin"})
    assert result.returncode == 127 and "nosuch-program: No such file or directory in any folder of $PATH" in result.stderr, result


def test_tinyfs(as_nobody, public_build, mode_options):
    result = launch(as_nobody, public_build, *mode_options, "-e", 'probe func("vfs_read") < count++ >',
                    "-c", str(public_build / "examples" / "tinyfs"))
    assert result.globals == {"count": result.facts["vfs_read calls"]}, result


def test_attach(as_nobody, public_build, mode_options, program):
    target = program(*as_nobody, public_build / "targets" / "commander", cwd="/tmp")
    target.wait_for("pid: ")
    words = run.command([*mode_options, "--probes", "-e", 'probe func("work") { n++ }', "-p", target.pid], as_nobody,
                        public_build / "djtap")
    tracer = program(*words, cwd="/tmp")
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    assert process.status_field(target.pid, "TracerPid") == "0"
    target.tell("call 5000")
    target.wait_for("called: 5000")
    tracer.signal(2)
    assert tracer.finish().globals == {"n": 5000}
    target.tell("quit")
    assert target.finish().returncode == 0


def test_a_program_that_may_not_be_read(as_nobody, public_build):
    if os.getuid() != 0:
        pytest.skip("needs root to make a program of another user")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy(public_build / "targets" / "count", folder)
        os.chmod(program, 0o711)
        result = launch(as_nobody, public_build, "-e", SCRIPT, "-c", program)
    assert (result.returncode, result.stdout) == (126, ""), result
    assert result.stderr == f"error[DJ4002]: {program} may be executed, but not read\n", result


def test_another_users_process_is_refused(public_build, as_nobody, program):
    if os.getuid() != 0:
        pytest.skip("needs root to have another user's process")
    target = program(public_build / "targets" / "commander")
    target.wait_for("pid: ")
    result = launch(as_nobody, public_build, "-e", 'probe func("work") { n++ }', "-p", str(target.pid))
    assert result.returncode == 4 and str(target.pid) in result.stderr, result
    target.tell("quit")
    assert target.finish().returncode == 0


def test_a_setuid_program_runs_without_its_rights(public_build, as_nobody):
    """The kernel's rule for traced programs; djtap says so, and the program runs."""
    if os.getuid() != 0:
        pytest.skip("needs root to make a program of another user")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        program = os.path.join(folder, "count")
        shutil.copy(public_build / "targets" / "count", program)
        os.chmod(program, 0o4755)
        result = launch(as_nobody, public_build, "-e", SCRIPT, "-c", program)
        check(result)
        assert f"warning[DJ4902]: {program} has the setuid bit: traced from its start, it runs without these rights\n" in result.stderr, result
    assert "warning[" not in launch(as_nobody, public_build, "-e", SCRIPT, "-c", str(public_build / "targets" / "count")).stderr


def test_without_proc_it_is_djtap_that_fails():
    """The command is there, so the exit code is not that of a command that is not found."""
    namespace = ["unshare", "-m"] if os.getuid() == 0 else ["unshare", "-rm"]
    hide = [*namespace, "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if shutil.which("unshare") is None or subprocess.run([*hide, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no mount namespaces here")
    result = run.run(["-e", "probe begin { exit() }", "-c", "/bin/true"], prefix=hide)
    assert result.returncode == 4 and "/proc" in result.stderr, result


def test_a_build_of_somebody_else_is_used_as_it_is(as_nobody):
    """scripts/djtap where the sources are newer than the build, and the build's folder cannot be written."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        tree = pathlib.Path(name)
        for folder in ("scripts", "build", "arch", "compiler", "grammar", "runtime", "stdlib", "examples"):
            (tree / folder).mkdir()
        (tree / "CMakeLists.txt").write_text("")
        shutil.copy(paths.ROOT / "scripts" / "djtap", tree / "scripts")
        (tree / "build" / "djtap").write_text('#!/bin/sh\necho ran "$@"\n')
        (tree / "build" / "djtap").chmod(0o755)
        (tree / "build").chmod(0o555)
        tree.chmod(0o755)
        said = subprocess.run([*as_nobody, tree / "scripts" / "djtap", "-V"], capture_output=True, text=True, check=False)
        (tree / "build").chmod(0o755)
        assert (said.returncode, said.stdout, said.stderr) == (0, "ran -V\n", "")
