# SPDX-License-Identifier: Apache-2.0
"""The manual pages, and completion in bash: both follow what djtap is."""
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import time

import pytest

from support import paths

COMPLETION = paths.ROOT / "scripts" / "completion.bash"
TROFF = shutil.which("groff")


# --- manual pages

@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("man")
    subprocess.run([paths.ROOT / "scripts" / "man", "--output", folder], check=True, env={**os.environ, "DJTAP": str(paths.DJTAP)})
    return {page.stem: page for page in folder.iterdir()}


def text_of(page):
    """What a reader sees, on very long lines."""
    words = [TROFF, "-man", "-Tascii", "-P-c", "-P-b", "-P-u", "-rLL=400n", str(page)]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(TROFF is None, reason="groff is not here")
def test_pages_are_well_formed(pages):
    assert sorted(pages) == ["djtap", "djtap-language", "djtap-probes"]
    for page in pages.values():
        result = subprocess.run([TROFF, "-man", "-ww", "-z", "-Tascii", str(page)], capture_output=True, text=True, check=False)
        assert (result.returncode, result.stderr) == (0, ""), page


@pytest.mark.skipif(TROFF is None, reason="groff is not here")
def test_each_option_is_in_the_manual(pages, djtap_once):
    manual = text_of(pages["djtap"])
    listed = re.findall(r"^  (-[^ {:]*)", djtap_once("--help").stdout, re.M)
    assert len(listed) > 15
    for names in listed:
        assert re.search(rf"^ +{re.escape(', '.join(names.split(',')))}\b", manual, re.M), names


@pytest.mark.skipif(TROFF is None, reason="groff is not here")
def test_each_option_of_the_manual_is_one(pages, djtap_once):
    """What the page sets in bold as an option, djtap takes: nothing there says that it has none of that name."""
    page = pages["djtap"].read_text().replace("\\-", "-").replace("\\&", "")
    bold = re.findall(r"^\.B[RI]* (.*)$|\\fB(.*?)\\fR", page, re.M)
    own = [text for text in map("".join, bold) if re.match(r'[ "([]*(-|djtap )', text)]  # the others are of other programs
    named = {name for text in own for name in re.findall(r"(?<![\w/-])--?[A-Za-z][\w-]*", text)}
    assert len(named) > 50
    for name in sorted(named):
        command = {"--json": ["doctor"], "--headers": ["kernel-build", "0", "--headers", "/none"]}.get(name, ["-e", "probe begin { exit() }"])
        told = djtap_once(*command, *([] if name == "--headers" else [name]))
        assert "has no option" not in told.stderr, told


@pytest.mark.skipif(TROFF is None, reason="groff is not here")
def test_groups_and_commands_are_in_the_manual(pages, djtap_once):
    """In the order of --help."""
    manual, listed = text_of(pages["djtap"]), djtap_once("--help").stdout
    groups = re.findall(r"^(\S.*):$", listed, re.M)
    assert groups == ["Commands", "Target", "Script", "Output", "Limits", "Looking around"]
    places = [manual.index(f"\n   {group}\n") for group in groups[1:]]
    assert places == sorted(places)
    commands = re.findall(r"^  ([\w-]+) ", listed[listed.index("Commands:"):listed.index("Target:")], re.M)
    section = manual[manual.index("\nCOMMANDS\n"):manual.index("\nOPTIONS\n")]
    assert commands == ["clean", "doctor", "kernel-build"] and all(re.search(rf"^ +{command} ", section, re.M) for command in commands)


def test_help_is_for_people(djtap_once):
    """None of the words of the library that parses: each value has a name of its own."""
    told = djtap_once("--help")
    assert told.returncode == 0 and told.stderr == ""
    assert not re.search(r"TEXT|:\{|\{false\}|REQUIRED|\bINT\b|\bUINT\b|\bFLOAT\b|\[OPTIONS\]|\[SUBCOMMAND\]", told.stdout, re.M), told
    lines = told.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    names = [name for row in re.findall(r"^  (-\S+)", told.stdout, re.M) for name in row.split(",")]
    assert len(names) > 50 and len(names) == len(set(names))
    for words in (["-h"], ["clean", "--help"], ["doctor", "-h"], ["-V", "--help"]):
        again = djtap_once(*words)
        assert again.returncode == 0 and (again.stdout == told.stdout or words[0] == "-V"), again


def test_each_option_is_completed(djtap_once):
    """By the shell's own words, from the same help."""
    listed = [name for row in re.findall(r"^  (-\S+)", djtap_once("--help").stdout, re.M) for name in row.split(",")]
    completion = f"PATH={paths.BUILD}:$PATH; . {paths.ROOT}/scripts/completion.bash; _djtap_options {paths.DJTAP}"
    told = subprocess.run(["bash", "-c", completion], capture_output=True, text=True, check=True)
    assert sorted(told.stdout.split()) == sorted(listed)


@pytest.mark.skipif(TROFF is None, reason="groff is not here")
def test_each_builtin_and_kind_is_in_the_manual(pages):
    names = re.findall(r"^DJ_BUILTIN\((\w+),", (paths.ROOT / "stdlib" / "builtins.def").read_text(), re.M)
    manual = text_of(pages["djtap-language"])
    assert names and [name for name in names if not re.search(rf"^ +{name}\(.*\): (int|str|void|\w+)$", manual, re.M)] == []
    points = text_of(pages["djtap-probes"])
    for form in ("<function>", "<function>.return", "timer.s(n)", "begin", "<process>.mark(s)"):
        assert re.search(rf"^ +{re.escape(form)}$", points, re.M), form


def test_every_kind_of_the_manual_is_known(pages, djtap_once):
    """The page has the rows of the tables of kinds, and no others."""
    page = pages["djtap-probes"].read_text()
    assert "kernel.trace" not in page and page.count("\n.br") > 20


# --- completion

def complete(*words):
    """What bash would offer for the last word."""
    line = " ".join(map(shlex.quote, map(str, words)))
    script = f'source {COMPLETION}; COMP_WORDS=({line}); _djtap "$1" "$2" "$3"; printf "%s\\n" "${{COMPREPLY[@]}}"'
    result = subprocess.run(["bash", "-c", script, "bash", str(words[0]), words[-1], words[-2]],
                            capture_output=True, text=True, check=True, timeout=300)
    return result.stdout.split("\n")[:-1]


def test_options_and_values_are_completed():
    assert {"--stop-after", "--stress", "--strict"} <= set(complete(paths.DJTAP, "--st"))
    assert complete(paths.DJTAP, "--no-c") == ["--no-cache"]
    assert complete(paths.DJTAP, "--stop-after", "re") == ["resolve"]
    assert complete(paths.DJTAP, "-D", "MAXM") == ["MAXMAPENTRIES="]
    assert str(os.getpid()) in complete(paths.DJTAP, "-p", str(os.getpid()))
    own_name = os.path.basename(os.readlink("/proc/self/exe"))
    assert own_name in complete(paths.DJTAP, "-p", own_name) and own_name in complete(paths.DJTAP, "clean", own_name)


def words_after(pattern, *args):
    """The words that an error message of djtap lists."""
    message = subprocess.run([paths.DJTAP, *args], capture_output=True, text=True, check=False, timeout=300).stderr
    return re.split(r", | or ", re.search(pattern, message)[1])


def test_every_value_is_completed():
    """What djtap itself takes, as its error messages say: no more, no less."""
    limits = words_after(r"there are (.*)", "-e", "probe begin {}", "-D", "NOSUCH=1")
    assert len(limits) > 8 and sorted(complete(paths.DJTAP, "-D", "")) == sorted(f"{name}=" for name in limits)
    plugins = sorted(file.stem for file in (paths.ROOT / "runtime" / "lua" / "plugins").glob("*.lua"))
    assert sorted(complete(paths.DJTAP, "-f", "")) == sorted(["text", "json", "csv", *(f"plugin:{name}" for name in plugins)])
    assert sorted(complete(paths.DJTAP, "-f", "plugin:")) == plugins
    for option in ("--stop-after", "--guards", "--dump"):
        taken = words_after(rf"{option} takes (.*?); not nosuch", "-e", "probe begin {}", option, "nosuch")
        assert sorted(complete(paths.DJTAP, option, "")) == sorted(taken), option


def test_functions_are_completed():
    target = f"'{paths.TINYFS}'"
    names = ["vfs_open", "vfs_read", "vfs_unlink", "vfs_write"]
    assert complete(paths.DJTAP, "-c", target, "-l", 'func("vfs_') == [f'func("{name}' for name in names]
    assert complete(paths.DJTAP, "-c", target, "-e", 'probe func("vfs_open"), func("vfs_r') == ['probe func("vfs_open"), func("vfs_read']
    assert 'func("libc.so.6!malloc_trim' in complete(paths.DJTAP, "-c", target, "-l", 'func("libc.so.6!malloc_t')
    assert complete(paths.DJTAP, "-l", 'func("vfs_') == [""], "no program, no names"


def read_until(fd, pattern, seconds=20):
    text, deadline = "", time.monotonic() + seconds
    while not re.search(pattern, text):
        assert time.monotonic() < deadline, f"no {pattern!r} in {text!r}"
        if select.select([fd], [], [], 0.2)[0]:
            text += os.read(fd, 4096).decode(errors="replace")
    return text


def test_a_tab_in_bash_completes():
    """The same through a terminal, with bash's own splitting of words."""
    environment = {**os.environ, "PATH": f"{paths.DJTAP.parent}:{os.environ['PATH']}", "PS1": "> ", "TERM": "dumb", "INPUTRC": "/dev/null"}
    pid, fd = pty.fork()
    if pid == 0:
        os.execvpe("bash", ["bash", "--norc", "--noprofile"], environment)
    try:
        os.write(fd, f"source {COMPLETION}; bind 'set bell-style none'; echo re''ady\n".encode())
        read_until(fd, r"\nready|\rready")
        os.write(fd, f"djtap -c {paths.TINYFS} -e 'probe func(\"vfs_r\t".encode())
        read_until(fd, r'vfs_read')
        os.write(fd, b"\x15djtap -f plugin:fl\t")
        read_until(fd, r"plugin:flame")
    finally:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        os.close(fd)
