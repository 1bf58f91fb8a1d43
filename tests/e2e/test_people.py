# SPDX-License-Identifier: Apache-2.0
"""What djtap prints for people: explanations of codes, results as text, JSON and CSV, dry runs, manual, completion."""
import csv
import io
import json
import re
import subprocess

import pytest

from support import paths, process, run

CODES = re.findall(r"DJ_CODE\((DJ\d{4})", (paths.ROOT / "compiler" / "diag" / "codes.def").read_text())
EXAMPLES = re.findall(r"DJ_EXAMPLE\((DJ\d{4})", (paths.ROOT / "compiler" / "diag" / "examples.def").read_text())


# --- --explain

def explanation(code):
    return subprocess.run([paths.DJTAP, "--explain", code], capture_output=True, text=True, check=False, timeout=300)


def test_every_code_is_explained():
    for code in CODES:
        result = explanation(code)
        assert result.returncode == 0 and result.stderr == "", code
        assert re.match(rf"{code}, an? (error|warning) found while .*\n\n\S.*\.\n", result.stdout), result.stdout


def test_a_code_may_be_written_shorter():
    assert explanation("2001").stdout == explanation("dj2001").stdout == explanation("DJ2001").stdout != ""


@pytest.mark.parametrize("code", EXAMPLES)
def test_examples_are_true(djtap_once, code):
    """The wrong script gives this code; the right one runs and gives no diagnostic at all."""
    wrong, right = re.search(r"^  wrong:  (.*)\n  right:  (.*)\n", explanation(code).stdout, re.M).groups()
    result = djtap_once("-e", wrong, "-c", str(paths.TINYFS))
    assert f"[{code}]" in result.stderr, result
    result = djtap_once("-e", right, "-c", str(paths.TINYFS))
    assert result.returncode == 0 and "[DJ" not in result.stderr, result


def test_codes_have_examples():
    """What no single script shows has none: settings, Lua files, a missing target or debug info, sheer size."""
    assert len(set(EXAMPLES)) == len(EXAMPLES) and set(EXAMPLES) <= set(CODES)
    assert len([code for code in set(CODES) - set(EXAMPLES) if code[2] not in "045"]) < 20


def test_an_unknown_code_names_the_near_ones():
    result = explanation("DJ2010")
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.startswith("error[DJ0003]: there is no code DJ2010; near it are DJ2008, DJ2009, DJ2011\n"), result
    result = explanation("segfault")
    assert result.returncode == 1 and f"codes go from {CODES[0]} to {CODES[-1]}" in result.stderr


# --- -f

GLOBALS = """global n, last, who, by, s, sizes, none
probe func("vfs_read") { n++; last = 7; who = execname(); by[execname(), "a,\\"b"]++; s <<< $count; sizes[1] <<< $count }
probe end { if (0) none <<< 1; printf("printed\\n") }"""


def shown(djtap, form):
    """What follows the victim's and the script's own output; and the victim's number of calls."""
    result = djtap("-f", form, "-e", GLOBALS, "-c", str(paths.TINYFS))
    assert result.returncode == 0, result
    return result.stdout.split("printed\n")[1], result.facts


def test_globals_as_json(djtap_once):
    text, facts = shown(djtap_once, "json")
    calls, total = facts["vfs_read calls"], json.loads(text)
    assert text.count("\n") == 1 and list(total) == ["n", "last", "who", "by", "s", "sizes", "none"]
    assert (total["n"], total["last"], total["who"], total["none"]) == (calls, 7, "tinyfs", {"count": 0})
    assert total["by"] == [{"key": ["tinyfs", 'a,"b'], "value": calls}]
    assert list(total["s"]) == ["count", "min", "max", "sum", "avg"] and total["s"]["count"] == calls
    assert total["s"]["avg"] == total["s"]["sum"] // calls
    assert total["sizes"] == [{"key": [1], "value": total["s"]}]


def test_globals_as_csv(djtap_once):
    text, facts = shown(djtap_once, "csv")
    rows = list(csv.reader(text.splitlines()))
    calls = str(facts["vfs_read calls"])
    assert rows[:4] == [["n", calls], ["last", "7"], ["who", "tinyfs"], ["by", "tinyfs", 'a,"b', calls]]
    assert [row[0] for row in rows[4:]] == [f"{name}@{part}" for name in ("s", "sizes")
                                            for part in ("count", "min", "max", "sum", "avg")] + ["none@count"]
    assert [row[-1] for row in rows[4:9]] == [row[-1] for row in rows[9:14]] and rows[9][:2] == ["sizes@count", "1"]


def test_globals_as_text(djtap_once):
    text, facts = shown(djtap_once, "text")
    assert text.startswith(f'n={facts["vfs_read calls"]}\nlast=7\nwho="tinyfs"\nby["tinyfs","a,\\"b"]=')
    assert text.endswith("none @count=0\n")


TEXTS = ["", "a\nb\r\nc\td", 'say "hi" \\ \'x\'', "a,b;c", "h\u00e9 \u20ac \U0001f600", "\x01\x1b[31m\x7f", "null", "=1+1", " ", "x" * 4000, ',"\n' * 900]
NUMBERS = [0, -5, 2**63 - 1, -2**63]


def odd_values(djtap, form):
    """The bytes that a script prints whose globals hold TEXTS and NUMBERS, as values, keys and in aggregates."""
    def literal(text):
        return '"' + "".join(f"\\{byte:03o}" for byte in text.encode()) + '"'
    lines = [f"text[{i}] = {literal(text)}; by[{literal(text)}, {i}, {literal(text[:1])}] = {i}" for i, text in enumerate(TEXTS)]
    lines += [f"number[{i}] = {number}; spread <<< {number}" for i, number in enumerate(NUMBERS[:2])]
    lines += [f"number[{i}] = {number}" for i, number in enumerate(NUMBERS[2:], 2)]
    script = "global text, by, number, spread, empty, half, nothing, infinite, broken\nprobe begin {\n" + "\n".join(lines) + """
        zero = 0.0; half = 0.5; nothing = zero / zero; infinite = -1.0 / zero; broken = "x\\377\\300z"; if (0) empty[1] = 1; exit() }"""
    result = djtap("-f", form, "-D", "MAXSTRINGLEN=8192", "-e", script)
    assert result.returncode == 0 and result.stderr == "", result
    return result.stdout


def test_odd_values_as_json(djtap_once):
    total = json.loads(odd_values(djtap_once, "json"), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert {row["key"][0]: row["value"] for row in total["text"]} == dict(enumerate(TEXTS))
    assert {tuple(row["key"]): row["value"] for row in total["by"]} == {(text, i, text[:1]): i for i, text in enumerate(TEXTS)}
    assert {row["key"][0]: row["value"] for row in total["number"]} == dict(enumerate(NUMBERS))
    assert total["spread"] == {"count": 2, "min": -5, "max": 0, "sum": -5, "avg": -2} and total["empty"] == []
    assert (total["half"], total["nothing"], total["infinite"], total["broken"]) == (0.5, None, None, "x\ufffd\ufffdz")


def test_odd_values_as_csv(djtap_once):
    rows = list(csv.reader(io.StringIO(odd_values(djtap_once, "csv"), newline="")))
    assert {int(row[1]): row[2] for row in rows if row[0] == "text"} == dict(enumerate(TEXTS))
    assert sorted(row[1:] for row in rows if row[0] == "by") == sorted([text, str(i), text[:1], str(i)] for i, text in enumerate(TEXTS))
    assert {int(row[1]): int(row[2]) for row in rows if row[0] == "number"} == dict(enumerate(NUMBERS))
    scalars = {row[0]: row[1] for row in rows if len(row) == 2}
    assert (scalars["half"], scalars["nothing"], scalars["infinite"], scalars["broken"]) == ("0.5", "nan", "-inf", "x\ufffd\ufffdz")


def test_an_unknown_form_is_a_mistake(djtap_once):
    result = djtap_once("-f", "xml", "-e", "probe begin { exit() }")
    assert result.returncode == 1 and "xml" in result.stderr, result


# --- -n

DRY = re.compile(r"^dry run: (\d+) of (\d+) sites? would be armed, (\d+) by jump, (\d+) by int3; (\d+) probes? runs? in djtap itself; (.*)$",
                 re.M)


def test_a_dry_run_says_what_a_run_does(djtap, mode):
    words = ["-e", 'probe func("vfs_*"), func("vfs_*").return { n++ } probe end { println(n) }', "-c", str(paths.TINYFS)]
    dry, real = djtap("-n", *words), djtap("--probes", *words)
    assert dry.returncode == 0 and "vfs_read calls" not in dry.stdout, "the command must not run"
    armed, sites, jumps, traps, host, done = DRY.search(dry.stdout).groups()
    assert done == "the command was loaded, stopped and killed before it ran" and host == "1"
    where = [(site.symbol, site.kind, site.state) for site in run.sites_of(dry.stdout)]
    assert where == [(site.symbol, site.kind, site.state) for site in real.sites] and where
    assert (int(armed), int(sites)) == (len(where), len(where)) and int(jumps) + int(traps) == int(armed)
    assert (mode == "int3") == (int(jumps) == 0)


def test_a_dry_run_changes_no_process(djtap):
    waiter = [paths.PYTHON, "-c", "print('ready', flush=True); input()"]
    with subprocess.Popen(waiter, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as waiting:
        assert waiting.stdout.readline() == b"ready\n"
        before = (process.text_of(waiting.pid), process.mappings(waiting.pid))
        result = djtap("-n", "-e", 'probe func("libc.so.6!malloc") { n++ }', "-p", str(waiting.pid))
        assert DRY.search(result.stdout).group(1, 6) == ("1", "the process was not changed"), result
        assert (process.text_of(waiting.pid), process.mappings(waiting.pid)) == before
        assert process.status_field(waiting.pid, "TracerPid") == "0"
        waiting.communicate(b"\n")


def test_a_dry_run_rejects_what_a_run_rejects(djtap_once):
    result = djtap_once("-n", "-e", 'probe func("vfs_raed") { n++ }', "-c", str(paths.TINYFS))
    assert result.returncode == 3 and "[DJ3004]" in result.stderr and result.stdout == "", result
