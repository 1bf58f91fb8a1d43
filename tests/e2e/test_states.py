# SPDX-License-Identifier: Apache-2.0
"""Handlers where flags, control words and registers are unusual: the alignment check is on, vectors round to zero, the x87 stack is
full. Handlers must work there, and the program finds all as it was."""
import re

from support import process
from support.paths import victim

ROUNDS = 200
# Copies, hashes, texts, walks, sums: whatever the agent does with memory. {at} is the text's address.
BODY = """{{ n++; hits++
    s = user_string({at}, "?"); texts[s . "/" . sprintf("%5d %-3s|%x", n % 2, substr(s, 3, 5), n % 2)]++
    stacks[ubacktrace()]++; sizes <<< strlen(s); by[pn(), tid()] <<< n
    printf("%s|%d|%s\\n", s, strlen(s), user_string_quoted({at}))
    if (tokenize(s, " ") == s) wrong++
    if (strtol("0x1f", 16) != 31 || isinstr(s, "odd") != 1 || str_replace(s, "odd", "even") == s) wrong++
    if (user_string_n({at}, 6) != substr(s, 0, 6) || sprint_ustack(ubacktrace()) == "") wrong++
    if (user_buffer_quoted({at}, 4, 4) == "" || ctime(1000000000) != "Sun Sep  9 01:46:40 2001") wrong++
    if (s =~ "te(x)t" && matched(1) != "x") wrong++
    if (user_int32({at}) != user_uint32({at}) || user_int64({at}) == 0) wrong++
    d = user_double({at}); doubles <<< (d > d ? 1 : 0)
    foreach (k in texts- limit 1) last = k
}}"""
GLOBALS = "global n, hits, wrong, texts, stacks, sizes, by, doubles, last "
FACTS = {"calls": ROUNDS, "changed": 0, "status changed": 0, "flags kept": ROUNDS, "sum": 45, "faults": 10, "strange": 0}


def check(result, hits=ROUNDS, keeps_status=False):
    """keeps_status: of a probe in the middle of a function. No function keeps status flags for its caller."""
    facts = result.facts if keeps_status else {**result.facts, "status changed": 0}
    assert result.returncode == 0 and facts == FACTS, result
    assert result.globals["hits"] == hits and result.globals["wrong"] == 0, result
    assert len(re.findall(r'^a? text at an odd address\|2[34]\|"a? text at an odd address"$', result.stdout, re.M)) == hits, result


def test_alone(program):
    assert program(victim("states")).finish().facts == FACTS


def body(at):
    return BODY.format(at=at)


def test_at_entries(djtap):
    check(djtap("-e", GLOBALS + 'probe func("probed") ' + body("pointer_arg(1)"), "--", victim("states")))


def test_at_returns(djtap):
    check(djtap("-e", GLOBALS + 'probe func("probed").return ' + body("@entry(pointer_arg(1))"), "--", victim("states")))


def test_at_each_instruction(djtap):
    """Where flags are live, too; registers are read by their names."""
    places = [place for place, _ in process.instructions(victim("states"), "probed")]
    for place in places:
        result = djtap("-e", GLOBALS + f"probe process.statement({place}) " + body('register("rdi")'), "--", victim("states"))
        check(result, keeps_status=place != places[0])


def test_reads_of_the_frame(djtap):
    """Straight ones, of a value that is not aligned."""
    place = next(at for at, name in process.instructions(victim("states"), "framed") if name == "nopw")
    script = f'probe process.statement({place}) {{ sum += $local->number; n++ }}'
    result = djtap("-e", script, "--", victim("states"))
    assert result.facts == FACTS and (result.globals["n"], result.globals["sum"]) == (10, 45), result


def test_where_the_program_faults(djtap):
    """Its own load is a fault that its handler sees where it stands, also where that is in a detour."""
    script = 'probe func("unaligned_load") { n++ } probe func("unaligned_load").return { r++ }'
    result = djtap("-e", script, "--", victim("states"))
    assert result.facts == FACTS and result.globals == {"n": 10, "r": 10}, result
