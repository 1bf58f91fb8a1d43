# SPDX-License-Identifier: Apache-2.0
"""The memory that djtap shares with a target of nobody's: no process that shares its descriptors puts another file in its place,
and nobody but djtap changes its size, its code, its journal or its constants."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile

import pytest

from support import process

if os.getuid() != 0:
    pytest.skip("attackers run as nobody, djtap as root", allow_module_level=True)

HERE = pathlib.Path(__file__).parent
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
COUNT = 'probe func("work") { n++ }'
CONTENT = b"of root's, and longer than a page\n" * 1000
TRACES, TRACES_NOT = {0}, {4}


@pytest.fixture(scope="module")
def folder():
    """A folder with the attacker and a file of root's, which nobody may read."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        made = pathlib.Path(name)
        made.chmod(0o755)
        subprocess.run(["gcc", "-O1", "-g", "-o", made / "swapper", HERE / "swapper.c"], check=True)
        yield made


@pytest.fixture
def attacker(program, folder):
    def start(kind):
        file = folder / "prize"
        file.write_bytes(CONTENT)
        file.chmod(0o644)
        target = program(*AS_NOBODY, folder / "swapper", kind, file, cwd="/tmp")
        target.wait_for("pid: ")
        return target, file

    return start


@pytest.mark.parametrize("kind", ["file", "socket", "message", "none"])
def test_no_other_file_gets_in_between(attacker, djtap_once, kind):
    target, file = attacker(kind)
    text = process.text_of(target.pid)
    seen = set()
    for _ in range(1 if kind == "none" else 8):
        result = djtap_once("-T", "0.2", "-e", COUNT, "-p", target.pid)
        assert result.returncode in TRACES | TRACES_NOT, result
        assert file.read_bytes() == CONTENT
        seen.add(result.returncode)
    assert seen == TRACES if kind == "none" else TRACES_NOT & seen, seen
    assert not process.differences(text, process.text_of(target.pid))


def tried(target):
    """What the attacker could do: {("shrink", "journal"): "EPERM"}."""
    target.text[target.process.stdout.fileno()] = b""
    target.tell("")
    said = target.wait_for(r"^((?:[a-z ]+: \w+\n)+)tried").group(1)
    return dict(((what, name), how) for what, name, how in re.findall(r"^(\w+(?: \w+)?) (data|code|journal|constants): (\w+)$", said, re.M))


def test_what_is_shared_is_sealed(attacker, attach):
    """Its files, of which the target's kin has kept descriptors, and its mappings."""
    target, _ = attacker("kept")
    for _ in range(20):
        tracer = attach(target.pid, COUNT)
        done = tried(target)
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert result.returncode == 0, result  # what it counts, the target has spoiled
        if ("shrink", "journal") in done:
            break
    names = {name for what, name in done if what == "shrink"}
    assert {"data", "code", "journal"} <= names, done
    for name in names:
        assert [done[what, name] for what in ("shrink", "grow", "seal")] == ["EPERM"] * 3, done
    for name in names - {"data"}:
        assert [done[what, name] for what in ("write", "map", "punch", "write again")] == ["EPERM"] * 4, done
        assert [done[what, name] for what in ("protect", "protect twin", "remove")] == ["EACCES"] * 3, done
        assert done["open mapped", name] != "done" and done["write memory", name] != "done", done
