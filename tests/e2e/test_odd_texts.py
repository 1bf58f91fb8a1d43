# SPDX-License-Identifier: Apache-2.0
"""Texts that are hard to write: in every form of the final globals they are what the program has."""
import csv
import io
import json
import subprocess

import pytest

TEXTS = [b"plain", b'a"b', b"a\\b", b"line\nfeed", b"cr\rhere", b"tab\there", b"\x01\x1b[31m\x7f", "caf\u00e9".encode(), b"bad\xff\xfeutf", b"\xc3",
         b"\xed\xa0\x80", b"comma,semi;", b" lead", b"", b"'q'", "\u2028".encode(), "\U0001f600".encode()]
PROGRAM = """
__attribute__((noinline)) void say(const char *text) {{ asm volatile("" :: "r"(text)); }}
int main(void) {{ {} return 0; }}"""
SCRIPT = """global count, last
probe func("say") { t = user_string_n(pointer_arg(1), 99); count[t, "k,\\"" . t]++; last = t }"""


def in_c(text):
    return '"' + "".join(f"\\{byte:03o}" for byte in text) + '"'


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("odd") / "odd"
    calls = "".join(f"say({in_c(text)}); " for text in TEXTS)
    subprocess.run(["gcc", "-O1", "-x", "c", "-", "-o", path], input=PROGRAM.format(calls), text=True, check=True)
    return path


def output(djtap, form, program):
    """Its bytes, as text that holds any."""
    result = djtap("-f", form, "-e", SCRIPT, "-c", program)
    assert result.returncode == 0 and result.stderr == "", result
    return result.stdout


def test_json(djtap_once, program):
    shown = json.loads(output(djtap_once, "json", program))
    wanted = sorted(text.decode(errors="replace").count("\ufffd") for text in TEXTS)
    keys = {tuple(each["key"]): each["value"] for each in shown["count"]}
    for text in TEXTS:
        try:
            word = text.decode()
        except UnicodeDecodeError:
            continue  # JSON has no bytes
        assert keys[word, 'k,"' + word] == 1, text
    assert len(keys) == len(TEXTS) and wanted[-1] > 0 and shown["last"] == TEXTS[-1].decode()


def test_csv(djtap_once, program):
    rows = list(csv.reader(io.StringIO(output(djtap_once, "csv", program), newline="")))
    named = [tuple(row[1:]) for row in rows if row[0] == "count"]
    for text in TEXTS:
        try:
            word = text.decode()
        except UnicodeDecodeError:
            continue
        assert (word, 'k,"' + word, "1") in named, text
    assert len(named) == len(TEXTS) and ["last", TEXTS[-1].decode()] in rows


def test_text_is_a_line_each(djtap_once, program):
    """As a literal of the language: what it means is what the program has."""
    lines = output(djtap_once, "text", program).splitlines(keepends=False)
    assert len([line for line in lines if line.startswith("count[")]) == len(TEXTS), lines
    for text, literal in ((b'a"b', r'a\"b'), (b"a\\b", r"a\\b"), (b"line\nfeed", r"line\nfeed"), (b"tab\there", r"tab\there"),
                          (b"\x01\x1b[31m\x7f", r"\001\033[31m\177"), ("caf\u00e9".encode(), "caf\u00e9")):
        assert f'count["{literal}","k,\\"{literal}"]=1' in lines, text
        again = djtap_once("-e", f'probe begin {{ print("{literal}") exit() }}').stdout
        assert again.encode() == text, literal


def test_more_words_than_a_script_may_have(djtap_once, tmp_path):
    """Two million; the place is that of the first one too many."""
    path = tmp_path / "long.djt"
    path.write_text("probe begin {\n" + "x++\n" * 1_000_000 + "exit() }\n")
    result = djtap_once(path)
    assert result.returncode == 2 and result.stderr == f"""error[DJ1016]: a script has at most 2000000 words and marks, this one has 2000007
       --> {path}:1000000:2
        |
1000000 | x++
        |  ^^
""", result
