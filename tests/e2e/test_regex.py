# SPDX-License-Identifier: Apache-2.0
"""Regular expressions: the same answers as Python's re where both have the same meaning; POSIX's longest match elsewhere."""
import re

import pytest

from support.paths import victim

PATTERNS = [
    "abc", "^abc$", "a.c", "a*", "^a*$", "^a+b?$", "(ab)+", "^(ab|cd)*$", "[0-9]+", "^[^0-9]*$", "[[:alpha:]_][[:alnum:]_]*", "^x{2,3}$",
    "^x{2}$", "^x{2,}$", r"\.so(\.[0-9]+)*$", "^(a|b|)c", "[]x-]", "a|^b", "^$", "((a)(b)?)+c", "(a*)*b", "[a-c]{0,2}d", r"\[x\]",
]
TEXTS = ["", "abc", "xabcx", "a.c", "aaab", "abab", "abcdab", "12", "x1y22", "xx", "xxx", "xxxx", "libc.so.6", "lib.so", "c", "bc", "]", "-",
         "aac", "abac", "ab", "abd", "[x]", "_name9"]


def script_text(text):
    return '"' + text.replace("\\", "\\\\") + '"'


def test_the_same_as_python(djtap_once):
    lines, expected = [], []
    for pattern in PATTERNS:
        python = pattern.replace("[:alpha:]", "a-zA-Z").replace("[:alnum:]", "a-zA-Z0-9").replace("[]x-]", r"[\]x-]")
        for text in TEXTS:
            lines.append(f"print({script_text(text)} =~ {script_text(pattern)})")
            expected.append("1" if re.search(python, text) else "0")
    result = djtap_once("-e", "probe begin { " + "\n".join(lines) + "; println(); exit() }")
    got = result.stdout.split("\n")[0]
    wrong = [(PATTERNS[i // len(TEXTS)], TEXTS[i % len(TEXTS)]) for i in range(len(expected)) if got[i:i + 1] != expected[i]]
    assert not wrong and len(got) == len(expected), (wrong, result.stderr)


CASES = {
    "groups": ('if ("an example string" =~ "str(ing)") print(matched(0), ",", matched(1), ",", ngroups(), ",", matched_str())', "string,ing,2,string"),
    "a group that took no part": ('if ("a" =~ "a|(b)") print(ngroups(), "[", matched(1), "]")', "2[]"),
    "the leftmost, then the longest": ('if ("xabab" =~ "a|ab|abab") print(matched(0))', "abab"),
    "negated": ('print("abc" !~ "b", "abc" !~ "^b")', "01"),
    "precedence": ('print("abc" =~ "b" && 2 > 1, 1 + 1 == 2 && "a" =~ "b")', "10"),
    "no match": ('if ("a" !~ "b") try { print(matched(0)) } catch (m) { print(m) }', "the last =~ did not match"),
    "no such group": ('if ("a" =~ "a") try { print(matched(3)) } catch (m) { print(m) }', "the last pattern has no group 3"),
    "a loop over a string": ('s = "a1b22c"; while (s =~ "([0-9]+)(.*)") { print(matched(1), " "); s = matched(2) }', "1 22 "),
}


@pytest.mark.parametrize("body, text", CASES.values(), ids=CASES.keys())
def test_matched(djtap_once, body, text):
    result = djtap_once("-e", f"probe begin {{ {body}; println(); exit() }}")
    assert result.stdout.split("\n")[0] == text, result


WRONG = {
    "a(b": "(", "a)": ")", "[a": "[", "*a": "*", "a**": "*", "a{3,1}": "{3,1}", "a{x}": "{", r"\\1": r"\\1", r"a\\d": r"\\d", "[z-a]": "z-a",
    "[[:nope:]]": "[:nope:]", "(x{200}){200}": "(x{200}){200}",
}


@pytest.mark.parametrize("pattern, part", WRONG.items(), ids=WRONG.keys())
def test_a_mistake_is_shown_inside_the_literal(djtap_once, pattern, part):
    result = djtap_once("-e", f'probe begin {{ x = "t" =~ "{pattern}"; println(x) }}')
    assert result.returncode == 3 and "error[DJ2301]" in result.stderr, result
    lines = result.stderr.split("\n")
    marks = next(i for i, line in enumerate(lines) if "^" in line and set(line) <= set(" |^"))
    begin, end = lines[marks].index("^"), lines[marks].rindex("^") + 1
    assert lines[marks - 1][begin:end].startswith(part[0]) and lines[marks - 1][begin:end] in part, result


def test_in_the_target(djtap):
    script = 'probe func("w*k").return { if (probefunc() =~ "^w(or)k$") hits[matched(1)]++ }'
    result = djtap("-e", script, "-c", f"{victim('count')} 1")
    assert result.array("hits") == [('"or"', str(result.facts["work calls"]))], result
