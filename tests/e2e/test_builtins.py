# SPDX-License-Identifier: Apache-2.0
"""Built-in functions: what they say, against Python's own computation and what the kernel says of the process."""
import os
import random
import re
import signal
import socket
import time

import pytest

from support import paths, run
from support.paths import victim


# What the program prints meanwhile may come in between.
PRINTED = re.compile(r"(list|text|bits|table|negative_byte|unsigned_short|string|head): -?\d+")


def says(djtap, expressions, point="begin"):
    """The texts that expressions have in a script, computed at one hit of `point`."""
    body = " ".join(f'println({each})' for each in expressions)
    script = f'global hits probe {point} {{ if (hits++ == 0) {{ println("<<"); {body} println(">>") }} }}'
    result = djtap("-e", script, "-c", victim("args"))
    match = re.search(r"^<<\n(.*)^>>$", result.stdout, re.M | re.S)
    assert result.returncode == 0 and "ERROR" not in result.stderr and match, result
    return [line for line in match.group(1).split("\n")[:-1] if not PRINTED.fullmatch(line)]


def quoted(text):
    """The text as a literal of a script."""
    return '"' + "".join({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}.get(c, c) for c in text) + '"'


STRINGS = [
    (f'str_replace({quoted(a)}, {quoted(b)}, {quoted(c)})', a.replace(b, c))
    for a, b, c in [("one two one", "one", "1"), ("aaaa", "aa", "b"), ("abc", "x", "y"), ("abc", "b", ""), ("ab", "abc", "")]
] + [(f'stringat("hello", {i})', str(ord("hello"[i]) if 0 <= i < 5 else 0)) for i in (0, 4, 5, -1)] + [
    (f'isdigit({quoted(text)})', str(int(text[:1].isdigit()))) for text in ("1a", "a1", "", "9", ":")
] + [
    ('text_str("a\\tb\\n")', r"a\tb\n"),
    (r'text_str("say \"x\"")', r"say \"x\""),
    (r'text_str("\001\x7f")', r"\001\177"),
    ('text_strn("hello", 0, 1)', '"hello"'),
    ('text_strn("hello world", 8, 1)', '"hel"...'),
    ('text_strn("hello world", 5, 0)', "hello"),
]


def test_strings(djtap_once):
    assert says(djtap_once, [text for text, _ in STRINGS]) == [truth for _, truth in STRINGS]


def test_byte_orders(djtap_once):
    values = [0, 1, 0x1234, 0x89ABCDEF, 0x0123456789ABCDEF]
    calls = [call.replace("v", str(value)) for value in values for call in
             ("htons(v)", "ntohs(v)", "htonl(v)", "ntohl(v)", "htonll(v)", "ntohll(v)")]
    truth = []
    for value in values:
        short, long = socket.htons(value & 0xFFFF), socket.htonl(value & 0xFFFFFFFF)
        quad = int.from_bytes(value.to_bytes(8, "little"), "big", signed=True)
        truth += [str(short)] * 2 + [str(long)] * 2 + [str(quad)] * 2
    assert says(djtap_once, calls) == truth


def test_dates(djtap_once):
    source = random.Random(4)
    moments = [0, 951782400, 4107542399, -1] + [source.randrange(-10**10, 10**11) for _ in range(40)]
    assert says(djtap_once, [f"ctime({moment})" for moment in moments]) == [time.asctime(time.gmtime(m)) for m in moments]


def test_a_date_out_of_range_is_an_error(djtap_once):
    result = djtap_once("-e", 'probe begin { println(ctime(1 << 60)) }', "-c", victim("args"))
    assert "9999" in result.stderr, result


def test_chance(djtap_once):
    script = "probe begin { for (i = 0; i < 900; i++) { n = randint(9); if (n < 0 || n > 8) wrong++; seen[n]++ } }"
    result = djtap_once("-e", "global wrong, seen " + script, "-c", victim("args"))
    counts = [int(value) for _, value in result.array("seen")]
    assert len(counts) == 9 and sum(counts) == 900 and min(counts) > 50, result
    assert result.globals.get("wrong", 0) == 0, result


def test_local_clock_runs_as_the_wall_clock(djtap_once):
    script = ('global early, c, late probe begin { early = gettimeofday_ns(); c = local_clock_ns(); late = gettimeofday_ns() } '
              'probe end { least = gettimeofday_ns() - late; local = local_clock_ns() - c; printf("%d %d %d\\n", least, local, gettimeofday_ns() - early); '
              'printf("%d %d %d %d\\n", local_clock_ns(), local_clock_us(), local_clock_ms(), local_clock_s()) }')
    result = djtap_once("-e", script, "--", "/bin/sleep", "0.3")
    (least, local, most), (ns, us, ms, s) = [tuple(map(int, row.split())) for row in result.stdout.splitlines()[:2]]
    assert local >= 300_000_000 and least * 0.99 <= local <= most * 1.01, result  # the wall clock may be slewed
    assert 0 <= us - ns // 10**3 < 300 * 10**6 and 0 <= ms - ns // 10**6 < 300 * 10**3 and 0 <= s - ns // 10**9 < 300, result


def test_identity(djtap):
    calls = ["uid()", "euid()", "gid()", "egid()"]
    assert says(djtap, calls, 'func("list")') == [str(f()) for f in (os.getuid, os.geteuid, os.getgid, os.getegid)]


def test_family(djtap, program):
    """Of a running process whose parent, group and session the kernel tells."""
    script = 'probe func("nanosleep"), func("clock_nanosleep") { printf("%d %d %d\\n", ppid(), pgrp(), sid()); exit() }'
    sleeper = program("/usr/bin/python3", "-c", "import time\nprint('up', flush=True)\nwhile 1: time.sleep(0.05)")
    sleeper.wait_for("up")
    result = djtap("-e", script, "-p", str(sleeper.pid))
    truth = f"{os.getpid()} {os.getpgid(sleeper.pid)} {os.getsid(sleeper.pid)}"
    assert truth in result.stdout.splitlines(), result


def test_module_of_the_probe(djtap):
    assert says(djtap, ["probemod()"], 'func("list")') == [os.path.realpath(victim("args"))]


# $head of the first call of list(): {value -10, name "first"}; the second one's small[] is 1, -2, 3, -4.
NUMBERS = [
    ("user_long($head)", "-10"), ("user_ulong($head)", "-10"), ("user_int64($head)", "-10"),
    ("user_uint64($head)", "-10"), ("user_int($head)", "-10"), ("user_int32($head)", "-10"),
    ("user_uint32($head)", str(2**32 - 10)), ("user_short($head)", "-10"), ("user_int16($head)", "-10"),
    ("user_ushort($head)", "65526"), ("user_uint16($head)", "65526"), ("user_char($head)", "-10"),
    ("user_int8(&$head->next->small[1])", "-2"), ("user_uint8(&$head->next->small[3])", "252"),
]


NUMBERS += [
    ("user_long_error($head)", "-10"), ("user_ulong_error($head)", "-10"), ("user_int64_error($head)", "-10"),
    ("user_uint64_error($head)", "-10"), ("user_int_error($head)", "-10"), ("user_int32_error($head)", "-10"),
    ("user_uint32_error($head)", str(2**32 - 10)), ("user_short_error($head)", "-10"), ("user_int16_error($head)", "-10"),
    ("user_ushort_error($head)", "65526"), ("user_uint16_error($head)", "65526"), ("user_char_error($head)", "-10"),
    ("user_int8_error(&$head->next->small[1])", "-2"), ("user_uint8_error(&$head->next->small[3])", "252"),
]


def test_numbers_of_the_program(djtap):
    assert says(djtap, [call for call, _ in NUMBERS], 'func("list")') == [truth for _, truth in NUMBERS]


@pytest.mark.parametrize("name", [call.partition("(")[0] for call, _ in NUMBERS])
def test_bad_addresses_are_script_errors(djtap_once, name):
    result = djtap_once("-e", f'probe func("list") {{ println({name}(0x10)); reached++ }}', "-c", victim("args"))
    assert "0x10" in result.stderr and "reached=" not in result.stdout.replace("reached=0", ""), result


def test_other_names_say_the_same(djtap):
    """SystemTap has some of its functions under two names."""
    twins = [("ns_pid()", "pid()"), ("ns_tid()", "tid()"), ("ns_ppid()", "ppid()"), ("ns_pgrp()", "pgrp()"), ("ns_sid()", "sid()"),
             ("ns_uid()", "uid()"), ("ns_euid()", "euid()"), ("ns_gid()", "gid()"), ("ns_egid()", "egid()"), ("addr()", "uaddr()"),
             ("backtrace()", "ubacktrace()"), ("sprint_backtrace()", "sprint_ubacktrace()"), ("callers(2)", "ucallers(2)"),
             ("stack(1)", "ustack(1)"), ("symname(uaddr())", "usymname(uaddr())"), ("symdata(uaddr())", "usymdata(uaddr())"),
             ("modname(uaddr())", "umodname(uaddr())"), ("sprint_stack(ubacktrace())", "sprint_ustack(ubacktrace())"),
             ("sprint_syms(ubacktrace())", "sprint_usyms(ubacktrace())"),
             ("user_string_nofault($head->name)", "user_string($head->name)"),
             ("user_string_n_nofault($head->name, 2)", "user_string_n($head->name, 2)")]
    assert says(djtap, [f"{one} == {other}" for one, other in twins], 'func("list")') == ["1"] * len(twins)
    assert says(djtap, ["ns_pid() == target()", "usymname(addr())"], 'func("list")') == ["1", "list"]


def test_clocks_of_the_cpu(djtap_once):
    clocks = [f"({one} - {other}) / {300 * unit}" for one, other, unit in (  # seconds may pass between the two
        ("cpu_clock_s()", "local_clock_s()", 1), ("cpu_clock_ms()", "local_clock_ms()", 10**3), ("cpu_clock_us()", "local_clock_us()", 10**6),
        ("cpu_clock_ns()", "local_clock_ns()", 10**9), ("ktime_get_ns()", "local_clock_ns()", 10**9))] + ["cpuid() < 4096"]
    assert says(djtap_once, clocks, 'func("list")') == ["0"] * 5 + ["1"]


def test_command_line_and_environment(djtap_once):
    script = ('probe func("list") { printf("<%s|%s|%s|%s|%s|%s|%s>\\n", cmdline_str(), cmdline_arg(1), cmdline_args(1, 2, ","), '
              'cmdline_arg(7), env_var("DJTAP_WORD"), env_var("DJTAP_WOR"), pexecname()) exit() }')
    result = djtap_once("-e", script, "--", victim("args"), "one", "two words", env={**os.environ, "DJTAP_WORD": "a=b c"})
    words = re.search(r"^<(.*)>$", result.stdout, re.M).group(1).split("|")
    assert words == [f"{victim('args')} one two words", "one", "one,two words", "", "a=b c", "", "djtap"], result


def test_tokens(djtap_once):
    script = ('probe begin { for (word = tokenize("one, two,,three", ", "); word != ""; word = tokenize("", ", ")) println("<", word, ">") '
              'println(strpos("abcabc", "ca"), strpos("abc", "x"), strpos("abc", ""), "[", tokenize("", ","), "]") exit() }')
    result = djtap_once("-e", script)
    assert result.stdout.split() == ["<one>", "<two>", "<three>", "2-10[]"], result


def test_messages_and_commands(djtap_once):
    """warn() goes to stderr, log() to the output, and system() runs in djtap's shell, once per call."""
    script = ('global calls probe func("list") { if (calls++ == 0) { log("logged") warn("careful") system("echo from the shell; exit 3") } } '
              'probe end { system("echo last") }')
    result = djtap_once("-e", script, "-c", victim("args"))
    assert result.returncode == 0 and "WARNING: careful\n" in result.stderr, result
    lines = result.stdout.splitlines()
    assert lines.count("logged") == lines.count("from the shell") == lines.count("last") == 1, result


def test_a_signal_ends_the_wait_for_commands():
    script = 'probe begin { exit() } probe end { println("said before") system("echo pid $$; exec sleep 300 >&- 2>&-") }'
    with run.Background([paths.DJTAP, "-e", script]) as tracer:
        command = int(tracer.wait_for(r"pid (\d+)").group(1))
        tracer.signal(signal.SIGTERM)
        result = tracer.finish(10)
    os.kill(command, signal.SIGKILL)  # it is there
    assert result.returncode == -signal.SIGTERM and "said before" in result.stdout, result
    assert f"told to end: a command of system() goes on, process {command}" in result.stderr, result


def test_printed_stacks_have_two_names(djtap_once):
    script = 'probe func("list") { print_backtrace() println("--") print_stack(ubacktrace()) println("--") print_syms(ubacktrace()) exit() }'
    result = djtap_once("-e", script, "-c", victim("args"))
    lines = [line for line in result.stdout.splitlines() if line.startswith(" 0x")]
    assert lines and lines[:3] == lines[len(lines) // 3:][:3], result


def test_strings_of_the_program(djtap):
    calls = ["user_string_quoted($head->name)", "user_string_n_quoted($head->name, 3)", "user_string_quoted(0x10)",
             'user_string2($head->name, "none")', 'user_string2(0x10, "none")', 'user_string_n2($head->name, 2, "none")',
             'user_string_n2(0x10, 2, "none")']
    assert says(djtap, calls, 'func("list")') == ['"first"', '"fir"...', "0x10", "first", "none", "fi", "none"]
