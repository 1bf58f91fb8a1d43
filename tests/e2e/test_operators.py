# SPDX-License-Identifier: Apache-2.0
"""Statements and literals as SystemTap reads them; texts as it writes them. No target is needed but where one is named."""
import re

import pytest

from support.paths import victim


def begin(body, extra=""):
    return f"{extra}\nprobe begin {{ {body}; exit() }}"


PRINTED = [
    ("a++\n++b\nprintln(a, b)", "11"), ("a++\n--b\nprintln(a, b)", "1-1"),
    ("a--\n--b\n++c\nprintln(a, b, c)", "-1-11"),
    ("++x[1, 2]\n++x[x[1, 2], 3]\n--(b)\n++c\nprintln(x[1, 3], b, c)", "1-11"), ("c = 5; a = c++ - -1; println(a, c)", "66"),
    # A literal ends at its NUL, as C's strings do.
    (r'println(strlen("a\0b"), "a\0b" == "a", "a\000b" "c")', "11a"), (r'println("\x00x", "|")', "|"),
    (r'a = "x\0y"; println(a . "z", strlen(b))', "xz0"), (r'printf("x\0y%d", 5)', "x\0y5"),
    # Characters of UTF-8 by their numbers; bytes that are none in octal.
    (r'println(text_str("é"), string_quoted("☺"))', r'\u00E9"\u263A"'), (r'println(text_str("😀!"))', r"\U0001F600!"),
    (r'println(text_str("\303"), text_str("\303x"), text_str("\200"))', r"\303\303x\200"),
    (r'println(text_str("\300\200"), text_str("\355\240\200"), text_str("\364\220\200\200"))', r"\300\200\355\240\200\364\220\200\200"),
    (r'println(text_str("\342\230é"))', r"\342\230\u00E9"), (r'println(text_str("a\tb\"\\"))', r'a\tb\"\\'),
]


@pytest.mark.parametrize("body, text", PRINTED, ids=[body for body, _ in PRINTED])
def test_what_is_printed(djtap_once, body, text):
    result = djtap_once("-e", begin(body))
    assert (result.returncode, result.stdout.rstrip("\n")) == (0, text), result


HISTOGRAMS = [  # samples; foreach's head; what comes
    ((1, 2, 3), "n = b in @hist_log(h)", "65:1 66:2"),
    ((1, 2, 3), "n = b- in @hist_log(h)", "66:2 65:1"),
    ((1, 2, 3, 3), "n- = b in @hist_log(h) limit 2", "66:3 65:1"),
    ((1, 2, 3, 9, -4), "n = b in @hist_log(h)- limit 4", "66:2 61:1 65:1 68:1"), ((5, 15, 15), "n- = b in @hist_linear(h, 0, 20, 10)", "2:2 1:1"),
    ((5, 15, 15), "n+ = b in @hist_linear(h, 0, 20, 10)", "1:1 2:2"), ((), "n- = b in @hist_log(h)", ""), ((1,), "n- = b in @hist_log(h) limit 0", ""),
]


@pytest.mark.parametrize("samples, head, wanted", HISTOGRAMS, ids=[f"{samples} {head}" for samples, head, _ in HISTOGRAMS])
def test_buckets_with_their_counts_in_any_order(djtap_once, samples, head, wanted):
    feed = "".join(f"h <<< {sample}; " for sample in samples)
    result = djtap_once("-e", begin(f'{feed} foreach ({head}) if (n) print(b, ":", n, " ")', "global h"))
    assert result.stdout.split() == wanted.split(), result


def test_histograms_end_with_the_numbers_of_64_bits(djtap_once):
    result = djtap_once("-e", begin("low <<< -9223372036854775807 - 1; print(@hist_log(low)); high <<< 9223372036854775807; print(@hist_log(high))",
                                     "global low, high"))
    rows = re.findall(r"^ *(-?\d+) \|.* (\d+)$", result.stdout, re.M)
    assert rows == [("-9223372036854775808", "1"), ("-4611686018427387904", "0"), ("-2305843009213693952", "0"),
                    ("1152921504606846976", "0"), ("2305843009213693952", "0"), ("4611686018427387904", "1")], result


@pytest.mark.parametrize("change, wanted", [
    ("delete a; for (i = 1; i < 6; i++) a[i] = i", "1 2 3 4 5"), ("delete a[11]; a[99] = 1; delete a[10]; a[98] = 1", "12 13 14 15 99 98"),
    ("delete a[15]; delete a[10]; a[10] = 7; a[15] = 8", "11 12 13 14 10 15")])
def test_elements_come_in_the_order_of_their_insertion(djtap_once, change, wanted):
    result = djtap_once("-e", begin(f'for (i = 0; i < 6; i++) a[i + 10] = i; {change}; foreach (k in a) print(k, " ")', "global a"))
    assert result.stdout.split() == wanted.split(), result


def test_parameters_in_hexadecimal(djtap):
    result = djtap("-e", 'probe process.function("work") { println($$parms, "; ", $$parms$); exit() }', "-c", victim("count"))
    plain, pretty = next(line for line in result.stdout.split("\n") if "; " in line).split("; ")
    assert [int(value.split("=")[1], 16) for value in plain.split()] == [int(value.split("=")[1]) for value in pretty.split()], result
    assert plain and all("=0x" in value for value in plain.split()), result


ORDER = "expected == or !=, as this has no order in the condition of %( ... %?"
DEEP = "macros and conditionals stand more than 200 deep in each other"
ONE = "a '%(' has one '%?' and at most one '%:', this '%?' is one too many"
UNKNOWN = "there is no macro or operator @nomacro"
HISTOGRAM = "a histogram has one key, its bucket, and one order"
WRONG = [  # a handler's statements; what is said, and the help
    ("%( 1 == 0 %? print(1) %? print(2) %)", ONE, "write %( condition %? text %: other text %)"),
    ("%( 1 == 0 %? print(1) %: print(2) %: print(3) %)", ONE.replace("this '%?'", "this '%:'"), ""),
    ('%( arch >= "foo" %? print(1) %)', ORDER, ""), ("%( guru_mode >= 0 %? print(1) %)", ORDER, ""),
    ('%( runtime < "x" %? print(1) %)', ORDER, ""), ('%( CONFIG_SMP > "a" %? print(1) %)', ORDER, ""),
    ("println(@nomacro)", UNKNOWN, "@define nomacro %( text %) makes one, before its use"), ("println(@nomacro + 1)", UNKNOWN, ""),
    ("println(@count)", "@count needs an argument in parentheses", "write @count(variable)"),
    ("%( 1 == 1 %? " * 20000 + "x = 1" + " %)" * 20000, DEEP, ""), ("x = " + "@f(" * 20000 + "1" + ")" * 20000, DEEP, ""),
    ("a++ ++", "expected '(', a name, a number or a string, found '}'", ""),
    ("h <<< 1; foreach (n+ = b- in @hist_log(h)) print(n)", HISTOGRAM, "foreach (count = bucket in @hist_log(x)- limit 5)"),
    ("h <<< 1; foreach ([b, c] in @hist_log(h)) print(b)", HISTOGRAM, ""),
]


@pytest.mark.parametrize("body, said, help", WRONG, ids=[body[:40] for body, _, _ in WRONG])
def test_what_is_wrong_is_said(djtap_once, body, said, help, tmp_path):
    script = tmp_path / "script.djt"
    script.write_text(f"global h\n@define f(x) %( @x %)\nprobe begin {{ {body} }}")
    result = djtap_once("--stop-after=check", script)
    assert result.returncode in (2, 3) and said in result.stderr and help in result.stderr, (result.returncode, result.stderr[-2000:])


def test_no_macro_is_named_define(djtap_once):
    result = djtap_once("--stop-after=check", "-e", "@define define %( x %) probe begin { exit() }")
    assert result.returncode == 2 and "no macro can be named define: @define makes one" in result.stderr, result


def test_arguments_and_globals_of_tapsets_are_set(djtap_once):
    result = djtap_once("-G", "argc=1", "-G", "argv_1=hello", "-e", begin("println(argc, argv_1)"))
    assert (result.returncode, result.stdout) == (0, "1hello\n"), result


def test_sets_in_names_of_functions(djtap):
    listed = lambda pattern: {line.split('"')[3] for line in djtap("-l", f'process.function("{pattern}")', "-c", victim("count")).stdout.splitlines()}
    assert {name.split("@")[0] for name in listed("[m-w][ao][ir][nk]")} == {"main", "work"}
    assert {name.split("@")[0] for name in listed("[!m]or[a-z]")} == {"work"}


def test_a_wildcard_begins_a_probes_name(djtap):
    result = djtap("-e", "global hits probe *syscall.{close} { hits[ppfunc()]++ } probe *ys*ll.read { hits[name]++ }", "-c", "/bin/cat /etc/hostname")
    assert result.returncode == 0 and "read" in dict(result.array("hits")).__str__(), result


def test_arguments_by_number_at_system_calls(djtap):
    script = """probe nd_syscall.openat { if (filename =~ "hostname") println(int_arg(1), " ", user_string(pointer_arg(2))) }
        probe nd_syscall.openat.return { if (filename =~ "hostname") println(retval, " ", user_string(@entry(pointer_arg(2)))) }"""
    result = djtap("-e", script, "-c", "/bin/cat /etc/hostname")
    assert "-100 /etc/hostname\n" in result.stdout and "3 /etc/hostname\n" in result.stdout, result
