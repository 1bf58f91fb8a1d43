# SPDX-License-Identifier: Apache-2.0
"""Every command line that a page of the project or the manual shows runs, and the manual's pieces of scripts are right."""
import importlib.machinery
import importlib.util
import os
import re
import shlex
import shutil
import subprocess

import pytest

from support import pages, paths, run

# What a shown -p means, ready to be traced; it runs until the test ends.
RUNNING = {"redis-server": (["redis-server", "--port", "0", "--unixsocket", "redis.sock", "--save", ""], "ready to accept connections"),
           "1234": ([paths.PYTHON, "-uc", "import time\nprint('ready')\nwhile True: time.sleep(0.01); bytearray(99999)"], "ready")}


def indented_blocks(text):
    """The blocks of a page that are shown as they are. The lines of a list are indented, too, all but its first."""
    return [block for block in text.split("\n\n") if block.lstrip("\n").startswith("    ")]


def is_of_kernel(command):
    """It probes functions, and names no process."""
    return "function(" in command.replace("func(", "function(") and not re.search(r"(^| )(-[clp]|--) ", command)


def shown_commands():
    """(file, command) of the indented lines, and of the examples of djtap(1)."""
    found = []
    for path in pages.PAGES:
        for line in re.findall(r"^    (?:scripts/)?djtap (.*)$", "\n".join(indented_blocks(path.read_text())), re.M):
            found.append((pages.name(path), re.sub(r" {2,}#.*", "", line)))
    found = [each for each in found if not is_of_kernel(each[1])]  # tests/kernel runs these
    page = (paths.ROOT / "docs" / "man" / "djtap.1").read_text()
    for example in re.findall(r"^\.nf\n(djtap .*?)\n\.fi", page, re.M | re.S):
        found.append(("djtap.1", example.replace("\\(aq", "'").replace("\\-", "-").removeprefix("djtap ")))
    return found


def test_there_are_some():
    files = [name for name, _ in shown_commands()]
    assert files.count("README.md") >= 5 and files.count("djtap.1") >= 5 and files.count("docs/lua.md") >= 1


@pytest.mark.parametrize("file, command", shown_commands())
def test_a_shown_command(file, command, tmp_path, program):
    """A process that is to run is started before; ./program is a victim, and top.lua is the one of the page."""
    endless = []
    for name in re.findall(r"-p ([a-z][\w-]+|1234)", command):
        words, ready = RUNNING[name]
        if shutil.which(words[0]) is None:
            pytest.skip(f"{words[0]} is not here")
        target = program(*words, cwd=tmp_path)
        target.wait_for(ready)
        command = re.sub(rf"-p {name}\b", f"-p {target.pid}", command, count=1)
        endless = ["-T", "1.5"]
    command = command.replace("doctor ./program", f"doctor {paths.victim('count')} 10")
    command = command.replace("/usr/share/doc/djtap", str(paths.ROOT)).replace("./program", f"'{paths.victim('count')} 10'")
    command = re.sub(r"build/examples/tinyfs|\./tinyfs", str(paths.TINYFS), command)
    for name in re.findall(r"--report (\S+)", command):
        text = (paths.ROOT / file).read_text()
        (tmp_path / name).write_text(re.search(r"```lua\n(-- " + re.escape(name) + r".*?)```", text, re.S)[1])
    words = shlex.split(command)
    assert "$(" not in command, command
    result = run.run([*endless, *words], cwd=tmp_path)
    assert result.returncode in ((0, 6) if words[0] == "doctor" else (0,)) and "error[" not in result.stderr, result
    assert result.stdout or words[words.index("-o") + 1] in os.listdir(tmp_path), result


# A piece of a script in the manual, as a reader would fill in what it leaves open.
FILLED = [("{ ... }", "{ println(1) }"), (r"\e", "\\"), (r"\-", "-"),
          (") ...", ") println(1)")]


def pieces():
    found = []
    for page in ("djtap-language.7", "djtap-probes.7"):
        text = (paths.ROOT / "docs" / "man" / page).read_text()
        for piece in re.findall(r"^\.nf\n(.*?)\n\.fi", text, re.M | re.S):
            for left, right in FILLED:
                piece = piece.replace(left, right)
            statements = re.match(r"try|foreach|snapshot", piece)
            found += piece.split("\n") if statements else [piece]
    return found


@pytest.mark.parametrize("piece", pieces())
def test_a_piece_of_the_manual(piece):
    if re.match(r"try|foreach|snapshot", piece):
        element = "array[1, 2]" if "[x, y]" in piece else "array[1]"
        piece = f"global array probe begin {{ {element} = 3; exit() }} probe end {{ {piece} }}"
    elif "probe" not in piece:
        names = re.findall(r"function (\w+)", piece)
        piece += f" probe begin {{ println({names[0]}(1, 2)) exit() }}" if names else ""
    if piece.startswith("@define"):
        piece = piece.replace("%( $#", "probe begin { %( $#") + " exit() }"
    result = run.run(["-e", piece, "-c", "/bin/true"])
    assert result.returncode == 0 and result.stderr == "", result


def test_there_are_pieces():
    assert len(pieces()) >= 9


def test_the_report_of_the_page(tmp_path):
    """docs/lua.md's first example prints five rows."""
    text = (paths.ROOT / "docs" / "lua.md").read_text()
    (tmp_path / "top.lua").write_text(re.search(r"```lua\n(-- top\.lua.*?)```", text, re.S)[1])
    command = next(command for file, command in shown_commands() if file == "docs/lua.md")
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


# --- on a tree that only the first command has built

PAGES = (*pages.PAGES, *sorted((paths.ROOT / "examples").glob("*.djt")))


def built_by(*targets):
    """Every file that a command writes which these targets of the build need."""
    told = subprocess.run(["ninja", "-C", paths.BUILD, "-t", "commands", *targets], capture_output=True, text=True, check=True)
    return set(re.findall(r" -o (\S+)", told.stdout))


def test_the_first_command_builds_the_programs_that_are_shown():
    targets = re.search(r'"\$root/scripts/build" (.*?) \|\|', (paths.ROOT / "scripts" / "djtap").read_text())[1].split()
    built = built_by(*targets)
    shown = [page for page in PAGES if page.parent != paths.ROOT / "tests"]  # whose commands are for a tree that is built
    named = {(page.name, name) for page in shown for name in re.findall(r"\bbuild/([\w/.-]*\w)", page.read_text())}
    assert {name for _, name in named} >= {"examples/tinyfs", "targets/exceptions", "targets/recursion"}
    assert not {(page, name) for page, name in named if name not in built}


def test_commands_within_sentences_name_files_that_are_there():
    """With the interpreter, where the file is not executable."""
    for page in PAGES:
        for words in re.findall(r"`((?:/usr/bin/python3 )?(?:scripts|tests)/[^`\n]*)`", page.read_text()):
            python, path = re.match(r"(/usr/bin/python3 )?(\S+)", words).groups()
            for part in re.sub(r"\{.*?\}|/\*.*", "", path).split("::")[:1]:
                assert (paths.ROOT / part).exists(), (page, words)
            if page.name == "README.md" and path.startswith("tests/bench/"):
                assert python, words


def test_benchmarks_build_what_they_measure():
    """Each asks support.built for its programs, by targets that there are."""
    told = subprocess.run(["ninja", "-C", paths.BUILD, "-t", "targets", "all"], capture_output=True, text=True, check=True)
    targets = set(re.findall(r"^(\S+): ", told.stdout, re.M))
    asked = []
    for file in sorted((paths.ROOT / "tests" / "bench").glob("*.py")):
        text = file.read_text()
        assert "paths.victim" not in text and "paths.BUILD" not in text, file.name
        asked += re.findall(r'built\.program\("([^"]+)", "([^"]+)"\)', text)
        asked += [(f"targets/{name}", f"victim_{name}") for name in re.findall(r'built\.victim\("([^"]+)"\)', text)]
    assert len(asked) >= 4 and all({name, target} <= targets for name, target in asked), asked
