"""Every command line that README.md, docs/ and the manual show does something: its probes are found, up to the plan."""
import importlib.machinery
import importlib.util
import re
import shlex
import shutil
import subprocess

import pytest

from support import paths, run

LISTING = ("-l", "--stress")


def shown_commands():
    """(file, command) of the indented lines, and of the examples of djtap(1)."""
    found = []
    for path in (paths.ROOT / "README.md", *sorted((paths.ROOT / "docs").glob("*.md"))):
        for line in re.findall(r"^    (?:scripts/)?djtap (.*)$", path.read_text(), re.M):
            found.append((path.name, re.sub(r" {2,}#.*", "", line)))
    page = (paths.ROOT / "docs" / "man" / "djtap.1").read_text()
    for example in re.findall(r"^\.nf\n(djtap .*?)\n\.fi", page, re.M | re.S):
        found.append(("djtap.1", example.replace("\\(aq", "'").replace("\\-", "-").removeprefix("djtap ")))
    return found


def test_there_are_some():
    files = [name for name, _ in shown_commands()]
    assert files.count("README.md") >= 5 and files.count("djtap.1") >= 4 and files.count("lua.md") >= 1


@pytest.mark.parametrize("file, command", shown_commands())
def test_a_shown_command(file, command, tmp_path):
    """A process that runs is the program itself, not started far; ./program is a victim, and top.lua is the one of the page."""
    for process in re.findall(r"-p (?:\$\(pidof ([\w-]+)\)|1234)", command):
        program = shutil.which(process or "ls")
        if program is None:
            pytest.skip(f"{process} is not here")
        command = re.sub(r"-p (\$\(.*?\)|1234)", f"-c {program}", command, count=1)
    command = command.replace("./program", paths.victim("count")).replace("build/examples/tinyfs", str(paths.TINYFS))
    for name in re.findall(r"--report (\S+)", command):
        text = (paths.ROOT / "docs" / file).read_text()
        (tmp_path / name).write_text(re.search(r"```lua\n(-- " + re.escape(name) + r".*?)```", text, re.S)[1])
    words = shlex.split(command)
    assert "$(" not in command, command
    lists = any(word in LISTING for word in words)
    result = run.run(words if lists else ["--stop-after=resolve", *words], cwd=tmp_path)
    assert result.returncode == 0 and "error[" not in result.stderr, result
    assert not lists or "func" in result.stdout or "functions" in result.stdout + result.stderr, result


def test_the_report_of_the_page(tmp_path):
    """docs/lua.md's first example prints five rows."""
    text = (paths.ROOT / "docs" / "lua.md").read_text()
    (tmp_path / "top.lua").write_text(re.search(r"```lua\n(-- top\.lua.*?)```", text, re.S)[1])
    command = next(command for file, command in shown_commands() if file == "lua.md")
    result = run.run(shlex.split(command), cwd=tmp_path)
    rows = re.findall(r"^ *\d+ bytes: (\d+) times$", result.stdout, re.M)
    assert len(rows) == 5 and list(map(int, rows)) == sorted(map(int, rows), reverse=True), result


def test_the_script_for_the_table_of_examples_answers_questions():
    page = (paths.ROOT / "docs" / "compatibility.md").read_bytes()
    for words, status, said in ((["--help"], 0, "usage: "), (["--hlep"], 2, "--hlep"), (["no/such/djtap"], 2, "no/such/djtap is no program")):
        told = subprocess.run([paths.ROOT / "scripts" / "compatibility", *words], capture_output=True, text=True, check=False)
        assert told.returncode == status and said in told.stdout + told.stderr, told
    assert (paths.ROOT / "docs" / "compatibility.md").read_bytes() == page


def test_the_script_for_the_table_of_examples_asks_djtap():
    """Of an example that all of SystemTap's users know, in a folder without tapsets of its own."""
    loader = importlib.machinery.SourceFileLoader("compatibility", str(paths.ROOT / "scripts" / "compatibility"))
    script = importlib.util.module_from_spec(importlib.util.spec_from_loader("compatibility", loader))
    loader.exec_module(script)
    example = script.EXAMPLES / "general" / "helloworld.stp"
    if not example.exists():
        pytest.skip("Debian's systemtap-doc is not here")
    assert script.classify(str(paths.DJTAP), example) == ("runs", "")
