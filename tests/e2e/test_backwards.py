# SPDX-License-Identifier: Apache-2.0
"""Handlers between `std` and `cld`: what they copy goes upwards all the same, and the program's own copies go downwards."""
from support import process
from support.paths import victim

BODY = """{ n++; name[sprintf("%s of %d", pn(), tid())]++
           printf("%s|%s|%s\\n", "what is printed here is a text of more than sixty-four bytes, for a copy", probefunc(), execname())
           foreach (k in name- limit 3) kept[k . "+"] = strlen(k)
           if (tokenize(sprint_ubacktrace(), "\\n") =~ "copy_down") traced++ }"""
LINE = "what is printed here is a text of more than sixty-four bytes, for a copy|copy_down|backwards"


def printed(result):
    return [line for line in result.stdout.splitlines() if "|" in line]


def places(name):
    """The instructions behind `std`, up to `cld`."""
    return [at for at, _ in process.instructions(victim(name), "copy_down")]


def test_handlers_where_the_direction_flag_is_set(djtap):
    """Each instruction of the function has a handler: jumps that come behind one another, or int3."""
    for place in places("backwards"):
        result = djtap("-e", f"global name, kept probe process.statement({place}) {BODY}", "-c", victim("backwards"))
        assert result.returncode == 0 and result.facts["wrong"] == 0, (hex(place), result)
        assert printed(result) == [LINE] * 200 and result.globals["n"] == result.globals["traced"] == 200, (hex(place), result)


def test_samples_where_the_direction_flag_is_set(djtap_once):
    result = djtap_once("-e", f"global name, kept probe timer.profile {BODY}", "-c", f"{victim('backwards')} long")
    assert result.returncode == 0 and result.facts["wrong"] == 0, result
    assert len(printed(result)) == result.globals["n"] and result.globals["traced"] == printed(result).count(LINE) > 3, result
