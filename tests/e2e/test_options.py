# SPDX-License-Identifier: Apache-2.0
"""Options of scripts, -G, --help, and command lines that cannot be meant."""
import pytest

from support.paths import victim

SCRIPT = """// Counts calls of a function.
// Second line.
global rows = option("limit", 10, "rows to show"), who = option("who", "all")
probe timer.ms(option("every", 100, "milliseconds")) { printf("%d %s\\n", rows, who); exit() }
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "rows.djt"
    path.write_text(SCRIPT)
    return path


def test_defaults_and_values(djtap_once, script):
    assert djtap_once(script).stdout == "10 all\n"
    assert djtap_once(script, "--limit=-5", "--every=0x10", "--who=a \"b\"").stdout == '-5 a "b"\n'
    assert djtap_once("-e", 'probe begin { println(option("deep", 0)); exit() }', "--deep=7").stdout == "7\n"


def test_a_conditional_may_ask(djtap_once):
    text = '%( option("deep", 0, "") == 1 %? probe begin { println("deep") exit() } %: probe begin { println("flat") exit() } %)'
    assert djtap_once("-e", text).stdout == "flat\n"
    assert djtap_once("-e", text, "--deep=1").stdout == "deep\n"


def test_help_of_a_script(djtap_once, script):
    result = djtap_once(script, "--help")
    assert result.returncode == 0 and result.stderr == "", result
    assert result.stdout == f"""Counts calls of a function.
Second line.

usage: djtap [options] {script} [arguments]

options of the script:
  --limit=NUMBER            rows to show (10)
  --who=TEXT                ("all")
  --every=NUMBER            milliseconds (100)

djtap's own options: djtap --help
""", result
    assert "--stop-after" in djtap_once("--help").stdout


@pytest.mark.parametrize("args, words", {
    ("--limt=5",): ['neither djtap nor the script has an option --limt', '"--limit=5"'],
    ("--limit=x",): ["error[DJ1031]", '--limit takes a number, not "x"'],
    ("--limit",): ["--limit=VALUE"],
    ("--stop-afer=parse",): ['"--stop-after=parse"'],
    ("-Z",): ["djtap has no option -Z"],
}.items())
def test_wrong_options(djtap_once, script, args, words):
    result = djtap_once(script, *args)
    assert result.returncode in (1, 2) and all(word in result.stderr for word in words), result


@pytest.mark.parametrize("text, words", {
    'option("limit", pid(), "x")': ["made of literals", "write option("],
    'option("times", 1, "x")': ["djtap itself has an option --times"],
    'option("a b", 1, "x")': ["cannot be an option"],
    'option("a", 1, "x") + option("a", 2, "x")': ["two defaults", "first declared here"],
    'option(x)': ["made of literals"],
}.items())
def test_wrong_declarations(djtap_once, text, words):
    result = djtap_once("-e", f"probe begin {{ println({text}) }}")
    assert "error[DJ1030]" in result.stderr and all(word in result.stderr for word in words), result


def test_globals_from_the_command_line(djtap_once):
    script = 'global rows = 5, name = "x", free probe begin { printf("%d %s %s\\n", rows, name, free); exit() }'
    assert djtap_once("-e", script, "-G", "rows=-3", "-G", "name=7", "-G", "free=a=b").stdout == "-3 7 a=b\n"
    script = 'global free probe begin { println(free + 1); exit() }'
    assert djtap_once("-e", script, "-G", "free=0x10").stdout == "17\n"


@pytest.mark.parametrize("setting, words", {
    "rosw=5": ["error[DJ2033]: no global `rosw`", "rows"],
    "rows=x": ["`rows` is a number", "initial value"],
    "rows": ["NAME=VALUE"],
    "table=5": ["only a scalar"],
    "kept=5": ["error[DJ2023]"],
}.items())
def test_wrong_settings(djtap_once, setting, words):
    script = "global rows = 5, table[9], kept probe begin { table[1] = rows; kept[1] = 1; println(table[1]) }"
    result = djtap_once("-e", script, "-G", setting)
    assert result.returncode == 3 and "<-G>" in result.stderr and all(word in result.stderr for word in words), result


def test_what_is_no_script(djtap_once, tmp_path):
    (tmp_path / "empty").write_text("")
    (tmp_path / "wide").write_bytes("probe begin {}".encode("utf-16"))
    (tmp_path / "nul").write_bytes(b"probe begin { \0 }")
    for path, words in {
        tmp_path: "is a folder",
        victim("count"): "is a program, not a script; to trace it: djtap -e 'probe ...' -c",
        tmp_path / "empty": "the script is empty",
        tmp_path / "wide": "is UTF-16 text",
        tmp_path / "nul": "byte number 15 is NUL",
        tmp_path / "none": "cannot read script",
    }.items():
        result = djtap_once(path)
        assert result.returncode in (1, 2) and words in result.stderr, result


def test_a_script_from_windows(djtap_once, tmp_path):
    path = tmp_path / "dos.djt"
    path.write_bytes(b'\xef\xbb\xbfprobe begin {\r\n  println("here")\r\n  exit() // end\r\n}\r\n')
    assert djtap_once(path).stdout == "here\n"
    path.write_bytes(b'\xef\xbb\xbfprobe begin {\r\n  printn("here")\r\n}\r\n')
    result = djtap_once(path)
    assert "dos.djt:2:3" in result.stderr and "\r" not in result.stderr, result


@pytest.mark.parametrize("text,unused", [("probe begin { exit() }", [1, 2]), ("probe begin { println(@2) exit() }", [1]),
                                         ("probe begin { println($1, @2) exit() }", []), ("probe begin { println(argc) exit() }", []),
                                         ("probe begin { println($#) exit() }", [])])
def test_words_that_the_script_does_not_use(djtap_once, text, unused):
    """As the second process in `-p 1 2`."""
    result = djtap_once("-e", text, "17", "18")
    assert result.returncode == 0, result
    assert result.stderr.splitlines() == [f"warning[DJ0901]: the argument {16 + n} is not used: the script has no ${n} and no @{n}" for n in unused], result
