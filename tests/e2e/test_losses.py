# SPDX-License-Identifier: Apache-2.0
"""What a limit costs is told once while the session runs, and with its number at the end."""
import re
import signal

import pytest

from support.paths import victim

LOSSES = [  # options; a handler that runs again and again; what is told
    (["-D", "MAXSTRINGLEN=16"], 's = "aaaaaaaaaa"; s = s . s', "DJ5905", "string", "cut (raise -D MAXSTRINGLEN)"),
    (["-D", "MAXMAPENTRIES=5"], "a[n++] = 1", "DJ5905", "new element", "dropped: an array is full (raise -D MAXMAPENTRIES for `a`)"),
    (["-D", "RINGBYTES=4096"], 'for (i = 0; i < 200; i++) printf("%s\\n", "a text of some more bytes, for the ring")', "DJ5905", "event",
     "lost: a ring is full (raise -D RINGBYTES)"),
    (["-D", "MAXACTION=100"], "try { while (1) n++ } catch { }", "DJ5906", "handler", "ended by MAXACTION"),
    (["-D", "MAXNESTING=3"], "try { f() } catch { }", "DJ5906", "handler", "ended by MAXNESTING"),
    (["-D", "MAXBACKTRACE=1"], "s = ubacktrace()", "DJ5905", "stack", "cut (raise -D MAXBACKTRACE)"),
]


@pytest.mark.parametrize("options, body, code, noun, rest", LOSSES, ids=[rest for *_, rest in LOSSES])
def test_a_limit_is_told_at_once_and_at_the_end(background, program, options, body, code, noun, rest):
    target = program(victim("starter"), "children")
    target.wait_for("ready")
    script = f'global a, n, s function f() {{ return 1 + f() }} probe func("work") {{ {body} }}'
    tracer = background(*options, "-o", "/dev/null", "-e", script, "-p", target.pid)
    tracer.wait_for(rf"^warning\[{code}\]: {noun}s {re.escape(rest)}; [1-9]\d* so far, all are counted at the end$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.stderr.count("so far") == 1, result
    (number,) = re.findall(rf"^warning\[{code}\]: (\d+) {noun}s? {re.escape(rest)}$", result.stderr, re.M)
    assert int(number) > 0, result


def test_a_short_session_tells_once(djtap_once):
    result = djtap_once("-D", "MAXSTRINGLEN=16", "-e", 'probe begin { s = "aaaaaaaaaa"; println(s . s); exit() }')
    assert result.stderr == "warning[DJ5905]: 1 string cut (raise -D MAXSTRINGLEN)\n", result


def test_warnings_beyond_the_limit_are_told_at_once(background):
    tracer = background("-e", 'probe timer.ms(1) { for (i = 0; i < 100; i++) warn("again") }')
    tracer.wait_for(r"^warning\[DJ5905\]: warnings by warn\(\): more than 1000 a second; the others are left out, and counted at the end$")
    tracer.signal(signal.SIGINT)
    assert re.search(r"^warning\[DJ5905\]: \d+ warnings by warn\(\) dropped: more than 1000 a second$", tracer.finish().stderr, re.M)


def test_a_whole_stack_is_not_cut(djtap_once):
    """As many frames as there are."""
    script = 'probe func("work") { n = 0; text = ubacktrace(); while (tokenize(n++ ? "" : text, " ") != "") ; println("frames: ", n - 1); exit() }'
    limited = lambda most: djtap_once("-D", f"MAXBACKTRACE={most}", "-e", script, "-c", victim("forker"))
    whole = limited(1000)
    frames = whole.facts["frames"]
    assert frames > 1 and "MAXBACKTRACE" not in whole.stderr, whole
    assert "MAXBACKTRACE" not in limited(frames).stderr
    assert re.search(r"\d+ stacks? cut \(raise -D MAXBACKTRACE\)", limited(frames - 1).stderr)
