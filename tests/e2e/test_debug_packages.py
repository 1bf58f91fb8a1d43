# SPDX-License-Identifier: Apache-2.0
"""Where names or variables are missing, the message says which package or which server has them."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from support.run import run

LIBRARY = "libsqlite3.so.0"


@pytest.fixture(autouse=True)
def no_servers(monkeypatch):
    monkeypatch.delenv("DEBUGINFOD_URLS", raising=False)


def owner(path):
    """By dpkg itself, which knows the file by the name with /usr or by the one without."""
    if shutil.which("dpkg-query") is None:
        pytest.skip("there is no dpkg")
    for name in (path, path.removeprefix("/usr"), f"/usr{path}"):
        said = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True, check=False).stdout
        if said:
            return re.split("[:,]", said)[0]
    pytest.skip(f"{path} is of no package")


def debug_package(path):
    """The package with its debug information, which must not be here."""
    package = owner(path) + "-dbgsym"
    if subprocess.run(["dpkg-query", "-W", package], capture_output=True, check=False).returncode == 0:
        pytest.skip(f"{package} is installed")
    return package


def library_of(program):
    libraries = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    found = re.search(rf"{LIBRARY} => (\S+)", libraries)
    if not found:
        pytest.skip(f"{program} has no {LIBRARY}")
    return os.path.realpath(found[1])


def named(result):
    return re.findall(r"comes with the package (\S+)", result.stderr)


def test_a_name_in_a_stripped_program():
    program = os.path.realpath(shutil.which("env"))
    package = debug_package(program)
    result = run(["-e", 'probe process.function("main") { n++ } probe process.function("usage") { m++ }', "-c", f"{program} true"])
    assert "DJ3004" in result.stderr and result.returncode == 3, result
    assert named(result) == [package], result  # once, though two names are missing
    assert re.search(r"or from a server: DEBUGINFOD_URLS=https://\S+", result.stderr), result


NAMESPACE = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--user", "--map-root-user"]), "sh", "-c"]


@pytest.fixture
def other_file(tmp_path):
    """A program of a package, and a file with other bytes that does the same, to be put over it in a mount namespace."""
    program = os.path.realpath(shutil.which("sleep"))
    other = tmp_path / "other"
    other.write_bytes(pathlib.Path(program).read_bytes() + b"more")
    other.chmod(0o755)
    tried = subprocess.run([*NAMESPACE, f"mount --bind {other} {program}"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"files cannot be put over others here: {tried.stderr}")
    return program, other


def test_a_file_that_is_not_its_packages(other_file):
    """dpkg knows it by its sum; the package's debug information would not fit."""
    program, other = other_file
    words = [*NAMESPACE, f'mount --bind {other} {program} && exec "$@"', "sh"]
    package = owner(program)
    changed = subprocess.run([*words, "dpkg", "--verify", package], capture_output=True, text=True, check=False).stdout
    assert program.removeprefix("/usr") in changed, changed
    result = run(["-e", 'probe process.function("usage") { m++ }', "-c", f"{program} 0"], prefix=words)
    assert f"{program}: it is not the file that {package} has installed" in result.stderr and not named(result), result


def test_a_file_that_was_replaced_since(other_file, tmp_path):
    """The program runs on with what its package had installed then."""
    program, other = other_file
    now = shutil.copy(program, tmp_path / "now")
    replaced = f"""mount --bind {other} {program} && {{ {program} 1000 & }} && pid=$!
        while ! grep -q {program} /proc/$pid/maps; do sleep 0.01; done
        mount --bind {now} {program} && "$@" -p $pid; status=$?; kill $pid; exit $status"""
    result = run(["-e", 'probe process.function("usage") { m++ }'], prefix=[*NAMESPACE, replaced, "sh"])
    assert f"{program}: {owner(program)} has another file of that name by now; start the program anew" in result.stderr, result


def test_a_variable_of_a_library():
    program = shutil.which("sqlite3")
    if program is None:
        pytest.skip("there is no sqlite3")
    package = debug_package(library_of(program))
    script = f'probe func("{LIBRARY}!sqlite3_open_v2") {{ println($ppDb) }} probe func("{LIBRARY}!sqlite3_close") {{ println($db) }}'
    result = run(["-e", script, "-c", f"{program} :memory: 'select 1'"])
    assert result.stderr.count("DJ3010") == 2 and named(result) == [package], result


def test_lines_of_a_library():
    program = shutil.which("sqlite3")
    if program is None:
        pytest.skip("there is no sqlite3")
    package = debug_package(library_of(program))
    result = run(["-e", f'probe func("{LIBRARY}!sqlite3_close@main.c:1") {{ n++ }}', "-c", f"{program} :memory: 'select 1'"])
    assert "DJ3010" in result.stderr and named(result) == [package], result


def test_a_program_of_ones_own(tmp_path):
    """No package has it; compiling it anew helps."""
    (tmp_path / "p.c").write_text("int main(void) { return 0; }")
    subprocess.run(["gcc", "-o", tmp_path / "p", tmp_path / "p.c"], check=True)
    result = run(["-e", 'probe process.function("main") { println($argc) }', "-c", str(tmp_path / "p")])
    assert "DJ3010" in result.stderr and "compile with -g" in result.stderr and not named(result), result
