# SPDX-License-Identifier: Apache-2.0
"""A target's owner changes the files that djtap reads of it, and names others in its debug info: nothing hangs or ends djtap by a
signal, and nothing is shown that the owner may not read."""
import os
import pathlib
import subprocess
import tempfile
import time

import pytest

from support import run

if os.getuid() != 0:
    pytest.skip("attackers run as nobody, djtap as root", allow_module_level=True)

HERE = pathlib.Path(__file__).parent
NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
SECONDS = 60  # of one run; they take one
DOCUMENTED = {0, 1, 2, 3, 4, 5, 125, 126, 127}
LIBRARY = "int lib_state; __attribute__((noinline)) int lib_work(int more) { return lib_state += more; }\n"
SECRET = "the first line of the secret\nand the second\n"


def build(words, folder):
    subprocess.run(["gcc", "-O1", *words], cwd=folder, check=True)


@pytest.fixture
def folder():
    """A folder of nobody's with the attacker, its library and another one of that name to be."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        made = pathlib.Path(name)
        (made / "debug.c").write_text(LIBRARY)
        (made / "other.c").write_text("long other_state; long other_work(long more) { return other_state -= more; }\n")
        build(["-g", "-gsplit-dwarf", "-fPIC", "-c", "debug.c"], made)
        build(["-g", "-shared", "-o", "lib.so", "debug.o"], made)
        build(["-g", "-fPIC", "-shared", "-o", "other.so", "other.c"], made)
        build(["-g", "-o", "attacker", HERE / "files.c", "-ldl"], made)
        for file in (made, *made.iterdir()):
            os.chown(file, NOBODY, NOBODY)
        made.chmod(0o755)
        yield made


@pytest.fixture
def attacker(folder, program):
    """Starts the attacker as nobody; returns its pid."""
    def start(how):
        started = program(*AS_NOBODY, folder / "attacker", how, folder)
        return int(started.wait_for(r"pid: (\d+)").group(1))

    return start


@pytest.mark.parametrize("how", ["exchange", "truncate", "fifo"])
@pytest.mark.parametrize("words", [["-T", "0.2", "-e", 'probe func("lib.so!*work") { n += $more } probe func("lib.so!*").return { r++ }'],
                                   ["-L", 'func("lib.so!*")']], ids=["probes", "lists"])
def test_files_change_while_they_are_read(attacker, how, words):
    pid = attacker(how)
    for _ in range(10):
        result = run.run([*words, "-p", pid], timeout=SECONDS)
        assert result.returncode in DOCUMENTED, result
    os.kill(pid, 0)  # it lives


def named_source(folder, path):
    """A program of nobody's whose debug info says that its source is at that path; it runs, as nobody."""
    text = (folder / "named.c")
    text.write_text(f'#include <unistd.h>\n#line 1 "{path}"\nint main(void) {{\n  for (;;)\n    pause();\n}}\n')
    build(["-g", "-o", "named", "named.c"], folder)
    return subprocess.Popen([*AS_NOBODY, folder / "named"])


def source_of(folder, path):
    target = named_source(folder, path)
    try:
        time.sleep(0.1)
        return run.run(["--source", "main", "-p", target.pid], timeout=SECONDS)
    finally:
        target.kill()
        target.wait()


def test_a_source_file_that_the_target_may_not_read(folder):
    with tempfile.TemporaryDirectory(dir="/tmp") as private:
        secret = pathlib.Path(private) / "secret"
        secret.write_text(SECRET)
        link = folder / "link.c"
        link.symlink_to(secret)
        for path in (secret, link):
            secret.chmod(0o600)
            os.chmod(private, 0o755)
            assert "first line" not in source_of(folder, path).stdout
            secret.chmod(0o644)
            os.chmod(private, 0o700)  # nobody comes there
            assert "first line" not in source_of(folder, path).stdout
            os.chmod(private, 0o755)
            assert "first line" in source_of(folder, path).stdout  # anybody may


@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "endless"])
def test_a_source_that_is_no_file(folder, kind):
    path = folder / "source"
    if kind == "fifo":
        os.mkfifo(path, 0o666)
    elif kind == "folder":
        path.mkdir()
    result = source_of(folder, {"device": "/dev/zero", "endless": "/proc/self/fd/0"}.get(kind, path))
    assert result.returncode == 0 and "(the source is not here)" in result.stdout, result


@pytest.mark.parametrize("link", ["debuglink", "altlink", "dwo"])
def test_a_debug_file_that_is_a_fifo(folder, link):
    """However libdw comes to open it."""
    os.mkfifo(folder / "pipe", 0o666)
    if link == "debuglink":
        (folder / "content").write_bytes(b"pipe\0\0\0\0" + bytes(4))
    else:
        (folder / "content").write_bytes(str(folder / "pipe").encode() + b"\0" + bytes(range(20)))
    library = folder / "lib.so"
    if link == "dwo":
        (folder / "debug.dwo").unlink()
        os.mkfifo(folder / "debug.dwo", 0o666)
    else:
        build(["-g", "-fPIC", "-shared", "-o", "lib.so", "debug.c"], folder)
        name = {"debuglink": ".gnu_debuglink", "altlink": ".gnu_debugaltlink"}[link]
        stripped = ["--strip-debug"] if link == "debuglink" else []
        subprocess.run(["objcopy", *stripped, "--add-section", f"{name}=content", library], cwd=folder, check=True)
    for what in ("-l", "-L"):
        result = run.run([what, f'process("{library}").function("lib_work")'], timeout=SECONDS)
        assert result.returncode in DOCUMENTED, result
