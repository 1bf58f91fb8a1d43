# SPDX-License-Identifier: Apache-2.0
"""Golden tests: a script and the dump it is to give in one file; `pytest --update` rewrites the expectations.

tokens/ script/ program/ plan/ ir/ asm/ patches/   the stage's dump on stdout; ir and asm are LLVM 19's as Debian 12 has it,
                             another one may write them otherwise; of patches those of libraries are left out
probes/ detours/             the table of sites, on stderr, and the detours, on stdout, of a whole session
ko/STAGE/                    the diagnostics on stderr of a script that this stage is to reject; warn: of one that it lets pass

Below the line `// expect:` stands the expectation as comments. A line `// args: ...` on top gives djtap more
arguments; {targets} and {examples} in it are the build's folders, {tapsets} is support/tapsets. Paths, build-ids, numbers of functions of a C library and,
in dumps, addresses are left out.
"""
import pathlib
import re
import shlex

import pytest

from support import paths, run
from support.json_diagnostics import diagnostics

HERE = pathlib.Path(__file__).parent
MARK = "// expect:"
STAGES = {"tokens": ("parse", "tokens"), "script": ("parse", "ast"), "program": ("check", "program"),
          "plan": ("resolve", "plan"), "ir": ("lower", "ir"), "asm": ("lower", "asm"), "patches": ("patch", "patches"),
          "detours": (None, "detours"), "probes": (None, "probes")}
GOLDENS = sorted(HERE.glob("*/**/*.djt"))
WRONG = [path for path in GOLDENS if path.relative_to(HERE).parts[0] == "ko"]
# Stage that rejects: its codes, the exit codes, what djtap is told.
CHECK_ONLY = ["--stop-after=check"]
REJECTS = {
    "tokens": (r"DJ10(0[1-9]|24)", {2}, CHECK_ONLY),
    "parse": (r"DJ10[123]\d", {2}, CHECK_ONLY),
    "tapset": (r"DJ1029", {2, 3}, CHECK_ONLY),
    "check": (r"DJ2[0-8]\d\d", {3}, CHECK_ONLY),
    "warn": (r"DJ29\d\d", {0}, CHECK_ONLY),
    "resolve": (r"DJ3\d{3}", {3}, []),
    "run": (None, {0, 5}, []),
}


def split(text):
    """(script, expectation or None)."""
    script, mark, rest = text.partition(f"\n{MARK}\n")
    if not mark:
        return text.rstrip("\n") + "\n", None
    lines = [re.sub(r"^// ?", "", line) for line in rest.rstrip("\n").split("\n")]
    return script + "\n", "\n".join(lines).rstrip("\n") + "\n"


def join(script, expectation):
    lines = [f"// {line}".rstrip() for line in expectation.rstrip("\n").split("\n")]
    return f"{script}{MARK}\n" + "\n".join(lines) + "\n"


def normal(text, keep_addresses):
    """Without what differs from build to build."""
    for folder in (paths.BUILD, paths.ROOT, paths.DJTAP.parents[1] / "share" / "djtap"):
        text = text.replace(f"{folder}/", "")
    text = re.sub(r"(?<=\s)\.\./(?=tests/|examples/)", "", text)  # sources as ccache's base_dir names them
    text = re.sub(r"/\S*/(targets|examples)/(?=\w)", r"\1/", text)
    text = re.sub(r"(?<=build-id )[0-9a-f]+", "…", text)
    text = re.sub(r"^ *= searched: .*", lambda note: re.sub(r"\(\d{3,}", "(N", note.group(0)), text, flags=re.M)
    if not keep_addresses:
        text = re.sub(r"\b0x[0-9a-f]{4,}\b", "0x…", text)
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n")) + "\n"


def rejection(path, extra, folder):
    """The diagnostics of a wrong script, which the stage of its folder gives, with that stage's exit code."""
    code, status, options = REJECTS[path.relative_to(HERE).parts[1]]
    result = run.run([*options, path.name, *extra], cwd=folder)
    assert result.returncode in status, result
    codes = re.findall(r"^(?:error|warning)\[(DJ\d{4})\]", result.stderr, re.M)
    assert code is None or codes and all(re.fullmatch(code, each) for each in codes), result
    return re.sub(r"\b([pt]id) \d+", r"\1 N", normal(result.stderr, True))


def arguments(script):
    """What its first lines give djtap besides."""
    found = re.search(r"^// args: (.*)$", script, re.M)
    folders = {"targets": paths.BUILD / "targets", "examples": paths.BUILD / "examples", "tapsets": HERE.parent / "support" / "tapsets"}
    return shlex.split(found.group(1).format(**folders)) if found else []


def produce(path, script, folder):
    """What djtap says to the script now."""
    (folder / path.name).write_text(script)
    extra = arguments(script)
    stage = path.relative_to(HERE).parts[0]
    if stage == "ko":
        return rejection(path, extra, folder)
    last, dump = STAGES[stage]
    stop = [f"--stop-after={last}"] if last else []
    result = run.run([*stop, f"--dump={dump}", path.name, *extra], cwd=folder)
    assert result.returncode == 0, result
    if stage == "detours":  # how many bytes they have depends on where they lie
        shown = ("detour ", "module ", "hook ")
        lines = [line for line in result.stdout.splitlines() if line.startswith(shown) or line.endswith((" code area", " code areas"))]
        result.stdout = re.sub(r"(?<= bytes )[0-9a-f]+$", "…", "\n".join(lines), flags=re.M)
    text = normal(result.stdout if last or stage == "detours" else result.stderr, False)
    if stage in ("patches", "detours"):  # a library's code is another with each of its versions
        text = re.sub(r"^module /.*\n(?:(?:hook|place|detour) .*(?:\n|$))*", "", text, flags=re.M)
    if stage in ("ir", "asm"):
        text = re.sub(r"(?<!\d)\d{9,10}\b", "…", text)  # addresses in the arena
        text = re.sub(r'(asm sideeffect ")[^"]*"', r'\1…"', text)
    return text if stage != "probes" else re.sub(r"^[0-9a-f]{16} ", "… ", text, flags=re.M)


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: str(path.relative_to(HERE).with_suffix("")))
def test_golden(path, tmp_path, request):
    script, expected = split(path.read_text())
    actual = produce(path, script, tmp_path)
    if request.config.getoption("--update"):
        path.write_text(join(script, actual))
        return
    assert expected is not None, f"no line {MARK!r}: run pytest --update and read the difference"
    assert actual == expected


def fixed(script, fix):
    """The script with one fix in it."""
    lines = script.encode().splitlines(keepends=True) + [b""]

    def offset(line, column):
        return sum(map(len, lines[:line - 1])) + column - 1
    begin, end = offset(fix["line"], fix["column"]), offset(fix["end_line"], fix["end_column"])
    return (script.encode()[:begin] + fix["text"].encode() + script.encode()[end:]).decode()


@pytest.mark.parametrize("path", WRONG, ids=lambda path: str(path.relative_to(HERE / "ko").with_suffix("")))
def test_every_fix_fixes(path, tmp_path):
    """Each alone, in the bytes that it names: what it was offered for is gone. One that is offered alone makes the script right, if that was all."""
    stage, script = path.relative_to(HERE).parts[1], split(path.read_text())[0]
    (tmp_path / path.name).write_text(script)

    def told():
        found = diagnostics(run.run(["--diagnostics=json", *REJECTS[stage][2], path.name, *arguments(script)], cwd=tmp_path))
        return [each for each in found if each["code"][2] in "123"]
    before = told()
    for each in before:
        same = [other for other in before if other["code"] == each["code"]]
        errors = [other for other in before if other["severity"] == "error"]
        for fix in each["fixits"]:
            assert fix["file"] == path.name, fix
            (tmp_path / path.name).write_text(fixed(script, fix))
            after = told()
            assert len([other for other in after if other["code"] == each["code"]]) < len(same), (fix, after)
            if errors == [each] and len(each["fixits"]) == 1:
                assert [other for other in after if other["severity"] == "error"] == [], (fix, after)


def test_every_stage_has_a_golden():
    stages = {path.relative_to(HERE).parts[0] for path in GOLDENS}
    assert stages == {*STAGES, "ko"}


def test_there_are_many_wrong_scripts_of_every_stage():
    stages = [path.relative_to(HERE).parts[1] for path in GOLDENS if path.relative_to(HERE).parts[0] == "ko"]
    assert set(stages) == set(REJECTS) and len(stages) >= 250


def test_each_wrong_script_says_what_is_wrong():
    """In its first comment, which tells a reader what the error is about; no two files of a stage say the same."""
    titles = {}
    for path in WRONG:
        lines = [line for line in path.read_text().splitlines()[:2] if not re.match(r"// (args:|SPDX)", line)]
        match = re.match(r"(#|//) (.+)$", lines[0]) if lines else None
        assert match, path
        titles.setdefault((path.parent.name, match[2]), []).append(path.name)
    assert {title: names for title, names in titles.items() if len(names) > 1} == {}
