# SPDX-License-Identifier: Apache-2.0
"""@defined and @choose_defined: an expression is defined where all target expressions in it have values."""
import pytest

from support.paths import victim

# In list(head, depth), called with depth 3 and a list of 40 in all.
ENTRY = {
    "$head->next->small[3]": 1, "$head->next->nope": 0, "&$head->next": 1, "&$nope": 0, "$nope->a->b": 0, "$head->both->half[1]": 1,
    "$head->small[$depth]": 1, "$head->small[$nope]": 0, "$depth[0]": 0, '@var("static_number@args.c")': 1, '@var("none@args.c")': 0,
    '&@var("global_list")': 1, '@cast($head, "node")->value': 1, '@cast($head, "node")->nope': 0, '@cast($nope, "node")->value': 0,
    '@cast(8, "node")->small[$nope]': 0, "$head$": 1, "$nope$$": 0, "$$parms": 1, "$return": 0, "@entry($depth)": 0,
    "-$depth": 1, "$depth + $nope": 0, "@choose_defined($nope, $depth)": 1, "@choose_defined($nope, $none)": 0,
    'register("rax")': 1, "uint_arg(1)": 1,
}
RETURN = {"@entry($depth)": 1, "@entry($nope)": 0, "@entry($depth + $nope)": 0, "@entry(tid())": 1, "$return": 1, "$return->x": 0}


@pytest.mark.parametrize("point, rows", [("", ENTRY), (".return", RETURN)])
def test_what_is_defined(djtap_once, point, rows):
    tests = " ".join(f"printf(\"%d\", @defined({text}));" for text in rows)
    result = djtap_once("-e", f'probe func("list"){point} {{ {tests} println() }}', "-c", victim("args"))
    assert "".join(map(str, rows.values())) in result.stdout.splitlines(), result


@pytest.mark.parametrize("point, text, value", [
    ("", "@choose_defined($head->nope, $depth)", 3), ("", "@choose_defined(@choose_defined($a, $b), $depth)", 3),
    ("", "@choose_defined($nope + 1, $depth - 1)", 2), ("", "@choose_defined(@entry($depth), 5)", 5),
    ("", '@choose_defined(@cast($head, "node")->nope, @var("static_number"))', 4711),
    (".return", "@choose_defined(@entry($nope), 5)", 5), (".return", "@choose_defined(@entry($depth), 5)", 3),
    (".return", "@defined(@entry($nope)) ? @entry($nope) : $return", 40),
])
def test_the_other_value(djtap_once, point, text, value):
    result = djtap_once("-e", f'probe func("list"){point} {{ printf("<%d>\\n", {text}) }}', "-c", victim("args"))
    assert f"<{value}>" in result.stdout, result


def test_each_place_decides_for_itself(djtap_once):
    script = 'probe begin, func("list"), func("bits") { printf("<%d>", @choose_defined($head->value, @choose_defined($flags->low, 8))) }'
    result = djtap_once("-e", script, "-c", victim("args"))
    assert "<8>" in result.stdout and "<-10>" in result.stdout and "<5>" in result.stdout, result


@pytest.mark.parametrize("text", ["3", "x", "tid()", "$head, 1"])
def test_what_has_no_target_variable(djtap_once, text):
    result = djtap_once("-e", f'probe func("list") {{ println(@defined({text})) }}', "-c", victim("args"))
    assert "error[DJ2009]: `@defined` takes" in result.stderr, result
