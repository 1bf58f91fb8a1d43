# SPDX-License-Identifier: Apache-2.0
"""The language itself: each case is a begin probe's body and what it prints. No target is needed."""
import json
import os
import subprocess
import time

import pytest

from support.paths import victim


def begin(body, extra=""):
    return f"{extra}\nprobe begin {{ {body}; exit() }}"


EXPRESSIONS = [
    ("1 + 2 * 3", "7"), ("(1 + 2) * 3", "9"), ("7 / 2", "3"), ("-7 / 2", "-3"), ("-7 % 3", "-1"), ("7 % -3", "1"),
    ("1 << 4", "16"), ("-16 >> 2", "-4"), ("-16 >>> 60", "15"), ("6 & 3", "2"), ("6 | 3", "7"), ("6 ^ 3", "5"), ("~5", "-6"),
    ("!0 + !7", "1"), ("3 && 2", "1"), ("0 || 0", "0"), ("5 > 3 ? 11 : 22", "11"), ("0x1F", "31"), ("010", "8"),
    ("1 < 2", "1"), ("2 <= 1", "0"), ("1 == 1", "1"), ("1 != 1", "0"), ("9223372036854775807 + 1", "-9223372036854775808"),
    ("0xffffffffffffffff", "-1"), ("2 + 3 << 1", "10"), ("1 | 2 == 2", "1"), ("10 - 4 - 3", "3"), ("2 * 3 % 4", "2"),
    ("1 ? 2 : x = 5", "2"), ("0 ? 2 : x = 5", "5"), ("0 ? 1 : 0 ? 2 : x = 6", "6"),
    ("- -3", "3"), ("1 ? 0 ? 2 : 3 : 4", "3"), ('"abc" == "abc"', "1"), ('"abc" < "abd"', "1"), ('"b" > "abc"', "1"),
    ("(1 << 63) / -1", "-9223372036854775808"), ("(1 << 63) % -1", "0"),  # no trap: stap's runtime divides by -1 as by a sign
    ("strlen(\"hello\")", "5"), ('isinstr("hello", "ell")', "1"), ('isinstr("hello", "xyz")', "0"), ('strtol("123", 10)', "123"),
    ('strtol("-0x1f", 16)', "-31"), ('strtol("777", 8)', "511"), ('strtol("12ab", 10)', "12"),
]


@pytest.mark.parametrize("expression, value", EXPRESSIONS, ids=[text for text, _ in EXPRESSIONS])
def test_integer_expressions(djtap_once, expression, value):
    assert djtap_once("-e", begin(f'printf("%d", {expression})')).stdout == value


def test_the_least_number_by_minus_one_is_the_same_when_it_is_computed(djtap_once, djtap):
    script = "global least = -0x7fffffffffffffff, sign = -1 {} {{ least--; println(least / sign, \" \", least % sign); least /= sign; println(least) }}"
    wanted = "-9223372036854775808 0\n-9223372036854775808\n"
    assert djtap_once("-e", script.format("probe end") + "probe begin { exit() }").stdout == wanted
    assert wanted in djtap("-e", script.format('probe func("main")'), "-c", victim("count")).stdout


STRINGS = [
    ('"a" . "b" . "c"', "abc"), ('"a" "b"', "ab"), (r'"tab\tquote\"end"', 'tab\tquote"end'), (r'"\x41\102"', "AB"),
    ('substr("hello", 1, 3)', "ell"), ('substr("hello", 3, 10)', "lo"), ('sprintf("%d-%s", 5, "x")', "5-x"),
    ('1 ? "yes" : "no"', "yes"), ('sprintf("%s", sprintf("%d", 7))', "7"),
]


@pytest.mark.parametrize("expression, value", STRINGS, ids=[text for text, _ in STRINGS])
def test_string_expressions(djtap_once, expression, value):
    assert djtap_once("-e", begin(f'printf("%s", {expression})')).stdout == value


PRINTF = [
    ('"%d|%i|%u", -5, 6, -1', "-5|6|18446744073709551615"), ('"%x|%X|%o", 255, 255, 8', "ff|FF|10"),
    ('"%#x|%#o", 255, 8', "0xff|010"), ('"%5d|%-5d|%05d", 42, 42, 42', "   42|42   |00042"), ('"%+d|% d", 3, 3', "+3| 3"),
    ('"%c%c", 65, 98', "Ab"), ('"%s|%6s|%-6s|%.2s", "abc", "abc", "abc", "abc"', "abc|   abc|abc   |ab"),
    ('"%p", 4660', "0x1234"), ('"100%%"', "100%"), ('"%*d|%-*d|", 5, 42, 5, 42', "   42|42   |"),
    ('"%ld %lld %lu", 1, 2, 3', "1 2 3"), ('"%.3d", 7', "007"),
    # As stap(1) shows them: "#" escapes characters, and its prefix stands before 0, too.
    ('"%#o %#x %#X", 1, 2, 3', "01 0x2 0X3"), ('"%#x %p %#010x", 0, 0, 0', "0x0 0x0 0x00000000"),
    ('"%#c %#c %#c", 0, 9, 42', r"\000 \t *"), ('"%#c%#c|%#4c|%#-5c|%#c", 39, 92, 10, 200, 255', r"\'\\|  \n|\310 |\377"),
]


@pytest.mark.parametrize("arguments, text", PRINTF, ids=[text for text, _ in PRINTF])
def test_printf(djtap_once, arguments, text):
    assert djtap_once("-e", begin(f"printf({arguments})")).stdout == text


STATEMENTS = {
    "print and println": ('print(1); print("a"); println("b"); println(2, "c", 3)', "1ab\n2c3\n"),
    "printd": ('printd(",", 1, "a", 2); printdln("-", 3, 4)', "1,a,23-4\n"),
    "if else": ('if (1 > 2) print("a"); else if (2 > 1) print("b"); else print("c")', "b"),
    "while": ("i = 0; while (i < 5) { print(i); i++ }", "01234"),
    "for": ("for (i = 0; i < 10; i += 3) print(i)", "0369"),
    "for without parts": ("i = 0; for (;;) { if (i++ > 2) break; print(i) }", "123"),
    "break and continue": ("for (i = 0; i < 9; i++) { if (i == 2) continue; if (i == 5) break; print(i) }", "0134"),
    "nested loops": ("for (i = 0; i < 3; i++) for (j = 0; j < 3; j++) { if (j == 1) break; print(i * 10 + j) }", "01020"),
    "increments": ("i = 5; print(i++); print(i); print(++i); print(i--); print(--i)", "56775"),
    "assignment operators": ("i = 10; i += 5; i -= 3; i *= 4; i /= 6; i %= 5; i <<= 4; i |= 1; i ^= 3; i &= 30; i >>= 1; print(i)", "9"),
    "string append": ('s = "a"; s .= "b"; s .= "c"; print(s)', "abc"),
    "assignment is a value": ("a = b = 7; print(a + b)", "14"),
    "comments": ("print(1) # one\n print(2) // two\n /* three */ print(3)", "123"),
    "semicolons are optional": ("print(1) print(2)\n print(3)", "123"),
    "empty statement": (";;; print(1);", "1"),
    "unassigned local is zero": ("print(nothing + 1)", "1"),
    "side effects of && and ||": ("a = 0; if (0 && a++) {} if (1 || a++) {} print(a)", "0"),
    "&& and || before a call without a value": ("a = 1; a == 1 && println(1); a || print(2); a == 2 && a == 1 && exit(); print(3)", "1\n3"),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(djtap_once, name):
    body, text = STATEMENTS[name]
    result = djtap_once("-e", begin(body))
    assert result.stdout == text, result


ARRAYS = {
    "one key": ('a["x"] = 3; a["y"] += 4; print(a["x"] + a["y"] + a["z"])', "7"),
    "several keys": ('a["x", 1] = 3; a["x", 2] = 4; print(a["x", 2] * 10 + a["x", 1])', "43"),
    "in": ('a["x"] = 0; print("x" in a); print("y" in a)', "10"),
    "in with several keys": ('a["x", 1] = 5; print(["x", 1] in a); print(["x", 2] in a)', "10"),
    "delete element": ('a["x"] = 1; a["y"] = 2; delete a["x"]; print("x" in a); print("y" in a)', "01"),
    "delete array": ('a["x"] = 1; a["y"] = 2; delete a; n = 0; foreach (k in a) n++; print(n)', "0"),
    "string values": ('a[1] = "one"; a[2] = "two"; print(a[1] . a[2] . a[3])', "onetwo"),
    "foreach by key": ('a["b"] = 1; a["c"] = 2; a["a"] = 3; foreach (k+ in a) print(k)', "abc"),
    "foreach by key down": ('a[2] = 1; a[10] = 2; a[-5] = 3; foreach (k- in a) { print(k); print(" ") }', "10 2 -5 "),
    "foreach by value": ('a["b"] = 10; a["c"] = -2; a["a"] = 3; foreach (k in a+) print(k)', "cab"),
    "foreach by value down": ('a["b"] = 10; a["c"] = -2; a["a"] = 3; foreach (k in a-) print(k)', "bac"),
    "foreach by string value": ('a[1] = "b"; a[2] = "c"; a[3] = "a"; foreach (k in a+) print(k)', "312"),
    "foreach limit": ('for (i = 0; i < 10; i++) a[i] = i * i; foreach (k in a- limit 3) { print(a[k]); print(" ") }', "81 64 49 "),
    "foreach several keys": ('a["x", 2] = 1; a["y", 1] = 2; foreach ([s, n+] in a) printf("%s%d ", s, n)', "y1 x2 "),
    "foreach value": ('a["x"] = 7; a["y"] = 8; foreach (v = k in a+) printf("%s=%d ", k, v)', "x=7 y=8 "),
    "foreach break": ("for (i = 0; i < 10; i++) a[i] = i; foreach (k+ in a) { if (k == 3) break; print(k) }", "012"),
    "foreach continue": ("for (i = 0; i < 5; i++) a[i] = i; foreach (k+ in a) { if (k == 3) continue; print(k) }", "0124"),
    "elements change in foreach": ('a["x"] = 1; a["y"] = 2; foreach (k in a) a[k] *= 10; print(a["x"] + a["y"])', "30"),
    "increment is a value": ('a["x"] = 4; print(a["x"]++); print(++a["x"])', "46"),
    "nine keys": ('a[1, 2, 3, 4, "e", 6, 7, 8, "i"] = 9; print(a[1, 2, 3, 4, "e", 6, 7, 8, "i"])', "9"),
    "nine keys of a slice": ('a[1, 2, 3, 4, "e", 6, 7, 8, "i"] = 9; a[1, 2, 3, 4, "e", 6, 7, 8, "j"] = 8; print([*, *, *, *, *, *, *, *, "j"] in a); '
                             'delete a[*, 2, *, *, *, *, *, *, "i"]; foreach ([k1, k2, k3, k4, k5, k6, k7, k8, k9] in a) print(k9)', "1j"),
    "eight keys": ('a[1, 2, 3, 4, "e", 6, 7, 8] = 9; print(a[1, 2, 3, 4, "e", 6, 7, 8])', "9"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(djtap_once, name):
    body, text = ARRAYS[name]
    result = djtap_once("-e", begin(body, "global a"))
    assert result.stdout == text, result


def test_a_thousand_elements(djtap_once):
    script = begin("""for (i = 0; i < 1000; i++) a[i, sprintf("key%d", i)] = i * 3
        for (i = 0; i < 1000; i += 2) delete a[i, sprintf("key%d", i)]
        foreach ([i, s] in a) { n++; sum += a[i, s] }
        printf("%d %d", n, sum)""", "global a, n, sum")
    assert djtap_once("-e", script).stdout == f"500 {sum(3 * i for i in range(1, 1000, 2))}"


FUNCTIONS = {
    "result": ("function add(a, b) { return a + b }", "print(add(2, 3))", "5"),
    "recursion": ("function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }", "print(fib(7))", "13"),
    "strings": ('function twice(s) { return s . s }', 'print(twice("ab"))', "abab"),
    "types": ('function pick:string(n:long) { return n ? "one" : "none" }', "print(pick(1) . pick(0))", "onenone"),
    "early return": ("function f(n) { if (n > 2) return 1; return 2 }", "print(f(3)); print(f(1))", "12"),
    "by value": ("function f(n) { n = 9 }", "n = 1; f(n); print(n)", "1"),
    "globals": ("global g = 5 function f() { g++ }", "f(); f(); print(g)", "7"),
    "no result": ('function hello() { print("hi") }', "hello()", "hi"),
    "own locals": ("function f() { x = 3; return x }", "x = 1; y = f(); print(x * 10 + y)", "13"),
    "mutual recursion": ("function even(n) { return n == 0 ? 1 : odd(n - 1) } function odd(n) { return n == 0 ? 0 : even(n - 1) }",
                         "print(even(6)); print(even(5))", "10"),
    "loops": ("function f(n) { s = 0; for (i = 1; i <= n; i++) s += i; return s }", "print(f(100))", "5050"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(djtap_once, name):
    declaration, body, text = FUNCTIONS[name]
    result = djtap_once("-e", begin(body, declaration))
    assert result.stdout == text, result


def test_clocks(djtap_once):
    """The four units agree with each other and with the system's clock; cycles go up."""
    body = """a = gettimeofday_ns(); b = gettimeofday_us(); c = gettimeofday_ms(); d = gettimeofday_s(); e = get_cycles()
        printf("%d %d %d %d %d", a, b, c, d, get_cycles() > e)"""
    before = time.time()
    nanoseconds, us, ms, seconds, up = map(int, djtap_once("-e", begin(body)).stdout.split())
    patience = 300  # seconds between two readings: others may have the processor
    assert 0 <= us - nanoseconds // 1000 < patience * 10**6 and 0 <= ms - us // 1000 < patience * 1000 and 0 <= seconds - ms // 1000 < patience and up
    assert before - 1 <= nanoseconds / 1e9 <= time.time() + 1


def test_identity(djtap_once):
    result = djtap_once("-e", begin('printf("%d %s %d %d %s", uid(), execname(), pid() == tid(), target(), pp())'))
    assert result.stdout == f"{os.getuid()} djtap 1 0 begin", result


def test_error_ends_the_handler(djtap_once):
    result = djtap_once("-e", 'probe begin { print("a"); error("my reason"); print("b") } probe begin { print("c"); exit() }')
    assert result.stdout == "ac" and "error[DJ5002]: my reason" in result.stderr and result.returncode == 5, result


def test_next_ends_the_handler(djtap_once):
    script = 'probe begin { print("a"); if (1) next; print("b") } probe begin { print("c"); exit() }'
    assert djtap_once("-e", script).stdout == "ac"


def test_globals_are_shared_and_initialised(djtap_once):
    script = 'global n = 5, s = "text" probe begin { n++ } probe begin { printf("%d %s", n, s); exit() }'
    assert djtap_once("-e", script).stdout == "6 text"


def test_script_arguments(djtap_once, tmp_path):
    script = tmp_path / "args.djt"
    script.write_text('probe begin { printf("%d %s %d %s", $1 + 1, @2, $#, @#); exit() }')
    assert djtap_once(script, "41", "some text").stdout == "42 some text 2 2"
    assert djtap_once("-e", 'probe begin { print(@1 . @2); exit() }', "a", "b").stdout == "ab"
    missing = djtap_once(script, "41")
    assert missing.returncode == 2 and "argument" in missing.stderr, missing


def test_angle_body(djtap_once):
    script = 'probe begin < if ((3 > 2)) print("a"); print(5 >> 1); if (2 >= 2) print("b"); exit() >'
    assert djtap_once("-e", script).stdout == "a2b"


DISPLAY = {
    "integer": ("global n probe begin { n = 3; exit() }", "n=3\n"),
    "string": ('global s probe begin { s = "abc"; exit() }', 's="abc"\n'),
    "array": ('global a probe begin { a["x"] = 1; a["y"] = 3; a["z"] = 2; exit() }', 'a["y"]=3\na["z"]=2\na["x"]=1\n'),
    "array with two keys": ('global a probe begin { a["x", 1] = 4; exit() }', 'a["x",1]=4\n'),
    "array of strings": ('global a probe begin { a[1] = "one"; exit() }', 'a[1]="one"\n'),
    "statistic": ("global s probe begin { s <<< 1; s <<< 2; s <<< 3; s <<< 4; exit() }", "s @count=4 @min=1 @max=4 @sum=10 @avg=2\n"),
    "array of statistics": ('global s probe begin { s["a"] <<< 5; s["a"] <<< -1; exit() }', 's["a"] @count=2 @min=-1 @max=5 @sum=4 @avg=2\n'),
    "read, so not printed": ("global n probe begin { n = 3; print(n); exit() }", "3"),
    "never written": ("global n probe begin { exit() }", ""),
    "in order of declaration": ("global b, a probe begin { a = 1; b = 2; exit() }", "b=2\na=1\n"),
    "auto-global": ('probe begin { hits++; names["x"]++; exit() }', 'hits=1\nnames["x"]=1\n'),
    "auto-global statistic": ("probe begin { s <<< 7; exit() }", "s @count=1 @min=7 @max=7 @sum=7 @avg=7\n"),
}


@pytest.mark.parametrize("name", DISPLAY)
def test_globals_at_exit(djtap_once, name):
    script, text = DISPLAY[name]
    result = djtap_once("-e", script)
    assert result.returncode == 0 and result.stdout == text, result


def test_auto_globals_between_handlers(djtap_once):
    script = "probe begin { n++ } probe begin { n++; exit() } probe end { printf(\"%d\", n) }"
    assert djtap_once("-e", script).stdout == "2"


def test_strict_keeps_names_local(djtap_once):
    result = djtap_once("--strict", "-e", "probe begin { n++; exit() }")
    assert result.returncode == 0 and "n=" not in result.stdout, result


def test_a_plain_assignment_makes_a_local(djtap_once):
    result = djtap_once("-e", "probe begin { n = 0; n++; exit() }")
    assert result.returncode == 0 and "n=" not in result.stdout, result


def test_delete_of_a_local(djtap_once):
    """It becomes 0, "" or 0.0, whatever its type."""
    result = djtap_once("-e", """function f(a) { delete a return a . "!" }
        probe begin { x = 5 s = "text" d = 1.5 for (i = 0; i < 2; i++) { x++ delete x } delete s delete d
                      println(x, "|", s, "|", d, "|", f("b")) exit() }""")
    assert result.returncode == 0 and result.stderr == "" and result.stdout == "0||0|!\n", result


def test_errno_macro(djtap):
    """@errno, as SystemTap's macro: what the thread's last failed call of the C library left."""
    program = "import os\nfor i in range(3):\n  try: os.rmdir('/nowhere-at-all')\n  except OSError: pass\n"
    result = djtap("-e", 'probe func("libc.so.6!rmdir").return { e[@errno]++ }', "--", "/usr/bin/python3", "-c", program)
    assert result.returncode == 0 and result.array("e") == [("2", "3")], result


def test_pointers_are_hexadecimal_at_exit(djtap, tmp_path):
    """Values and keys that only pointers of the program flow into; what the program prints says which."""
    (tmp_path / "point.c").write_text("""#include <stdio.h>
struct point { int x; struct point* next; } one = {1, 0}, two = {2, &one};
__attribute__((noinline)) long look(struct point* p, long n) { __asm__ volatile("" : : "r"(p)); return p->x + n; }
int main(void) { printf("%p %p\\n", (void*)&two, (void*)&one); return look(&two, 9) == 0; }
""")
    subprocess.run(["cc", "-g", "-O1", "-o", "point", "point.c"], cwd=tmp_path, check=True)
    script = """global p, next_one, number, mixed, seen, by_address, zeroed, through, sum
        function same(q) { return q }
        probe func("look") { p = $p next_one = $p->next number = $n mixed = $p mixed = 7 seen[$p, $n] = 1 by_address[$p->x] = &$p->x
                             zeroed = 0 zeroed = $p local = $p through = same(local) sum = $p + 0 }"""
    result = djtap("-e", script, "-c", tmp_path / "point")
    two, one = result.stdout.split("\n")[0].split()
    shown = set(result.stdout.splitlines()[1:])
    assert shown == {f"p={two}", f"next_one={one}", "number=9", "mixed=7", f"seen[{two},9]=1", f"by_address[2]={two}", f"zeroed={two}", f"through={two}",
                     f"sum={int(two, 16)}"}, result
    numbers = json.loads(djtap("-f", "json", "-e", script, "-c", tmp_path / "point").stdout.splitlines()[-1])
    assert isinstance(numbers["p"], int), numbers


@pytest.mark.parametrize("megabytes", [0.2, 1])
def test_long_strings(djtap, tmp_path, megabytes):
    """As long as the limit says, in the program and in djtap: read, joined, printed, kept, used as keys."""
    size = int(megabytes * 2**20)
    (tmp_path / "long.c").write_text("""#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) void look(char* text) { __asm__ volatile("" : : "r"(text)); }
int main(void) { char* text = malloc(SIZE); memset(text, 'x', SIZE); text[SIZE - 1] = 0; look(text); return 0; }
""")
    subprocess.run(["cc", "-g", f"-DSIZE={size}", "-o", "long", "long.c"], cwd=tmp_path, check=True)
    result = djtap("-D", f"MAXSTRINGLEN={size}", "-e", """global kept, keys
        probe func("look") { text = user_string($text) kept = text keys[text] = strlen(text) println(text . "!") }
        probe end { println(strlen(kept), " ", keys[kept], " ", substr(kept, strlen(kept) - 2, 2)) }""", "-c", tmp_path / "long")
    lines = result.stdout.split("\n")
    assert result.returncode == 0 and result.stderr == "", (result.returncode, result.stderr)
    assert lines[0] == "x" * (size - 1) + "!" and lines[1] == f"{size - 1} {size - 1} xx", (len(lines[0]), lines[1:])


def test_the_longest_string(djtap_once):
    assert djtap_once("-D", "MAXSTRINGLEN=1048576", "-e", 'probe oneshot { println("x") }').returncode == 0
    result = djtap_once("-D", "MAXSTRINGLEN=1048577", "-e", 'probe begin { println("x") }')
    assert result.returncode == 1 and "16 to 1048576" in result.stderr, result


def test_what_a_probe_writes_its_alias_can_ask(djtap_once):
    """@probewrite(x) in either body of an alias, by probes that write x, count it up, feed it, or only read it."""
    script = """global g, s
      probe named = begin { print(@probewrite(x), @probewrite(g)); x = 5 }, { println(@probewrite(x) ? " x" : " -", @probewrite(s)) }
      probe again = named { }, { print(@probewrite(x), ":") }
      probe named { x = 1 } probe named { println(x) } probe named { if (x > 2) g++ } probe named { s <<< x } probe again { x += 1; g += 2 }
      probe end { println(g, @sum(s), @probewrite(g)) }"""
    result = djtap_once("-e", script + " probe timer.ms(1) { exit() }")
    assert result.stdout == "10 x0\n005\n -0\n01 -0\n00 -1\n111: x0\n350\n", result


def test_the_kernels_configuration_is_unset(djtap_once):
    script = """probe begin { %( CONFIG_UTRACE == "" %? print("unset") %) %( CONFIG_UTRACE == "[ym]" %? print("set") %)
                              %( CONFIG_64BIT == "y" %? print(" 64") %) exit() }"""
    assert djtap_once("-e", script).stdout == "unset 64"


def test_literals_are_compared_as_they_stand(djtap_once):
    """Only what is asked of the machine is compared with a pattern."""
    script = """probe begin { %( "abc" == "a*" %? print("pattern ") %) %( "a*" == "a*" %? print("same ") %) %( "abc" != "a?c" %? print("other ") %)
                              %( arch == "x86_*" %? print("machine") %) exit() }"""
    assert djtap_once("-e", script).stdout == "same other machine"


def test_dividing_by_zero_is_told_of_whole_numbers_alone(djtap_once):
    fraction = djtap_once("-e", begin('x = 2.5; println(1.0 / 0, " ", x / 0)'))
    assert (fraction.stdout, fraction.stderr) == ("inf inf\n", ""), fraction
    whole = djtap_once("-e", begin("x = 2; try { println(x / 0) } catch { x %= 0 }"))
    assert whole.stderr.count("warning[DJ2107]") == 2, whole
