# SPDX-License-Identifier: Apache-2.0
"""Numbers with a fraction: values of the program, arithmetic, printing; compared with the program and with Python."""
import json
import random
import re
import subprocess

import pytest

from support.paths import victim

FORMS = ["doubles", "doubles_O0"]


def script(djtap, text, program="doubles"):
    result = djtap("-e", text, "-c", victim(program))
    assert result.returncode == 0 and "ERROR" not in result.stderr, result
    return result


def evaluated(djtap, expressions, formats="%.17g"):
    """What the expressions are in a begin probe."""
    lines = "; ".join(f'printf("{formats}\\n", {e})' for e in expressions)
    result = djtap("-e", f"probe begin {{ {lines}; exit() }}")
    assert result.returncode == 0, result
    return result.stdout.split("\n")[:-1]


@pytest.mark.parametrize("form", FORMS)
def test_parameters_members_and_results(djtap, form):
    body = ('probe func("mix") { if (n++ == 0) printf("mix %g %g %d %g %s\\n", $a, $b, $n, $c, $$parms) } '
            'probe func("last") { printf("ninth %g eighth %f\\n", $ninth, $h) } '
            'probe func("last").return { printf("sum %g of %e\\n", $return, $ninth) } '
            'probe func("cool") { if (m++ == 0) { println($r->celsius, " ", $r->humidity, " ", $r->history[2]); '
            'printf("%.18f\\n", $r->exact) } } probe func("cool").return { println($return == 0.375) }')
    out = script(djtap, "global n, m " + body, form).stdout
    assert "mix 0.125 1.5 1 -0.25 a=0.125 b=1.5 n=0x1 c=-0.25\n" in out, out
    assert "ninth 9.125 eighth 8.000000\n" in out and "sum 45.125 of 9.125000e+00\n" in out, out
    assert "21.75 0.375 1e+300\n" in out and f"{1 / 3:.18f}\n" in out, out
    assert len(re.findall("^1$", out, re.M)) == 4, out


@pytest.mark.parametrize("form", FORMS)
def test_sum_of_results_is_the_programs(djtap, form):
    result = script(djtap, 'global total = 0.0, byparity probe func("mix").return { total += $return; '
                           'byparity[$n % 2] += $return } probe end { printf("%.10f %.10f\\n", total, '
                           'byparity[0] + byparity[1]) }', form)
    truth = re.search(r"total: (\S+)", result.stdout).group(1)
    assert result.stdout.endswith(f"{truth} {truth}\n"), result


def test_places_that_differ_are_doubles_everywhere(djtap):
    out = script(djtap, 'probe func("pick_*") { printf("%s %g\\n", ppfunc(), $size / 2) }').stdout
    assert "pick_real 1.25\n" in out and "pick_whole 3.5\n" in out, out


def test_places_that_differ_in_what_is_executed(djtap, tmp_path):
    """Whether djtap knows them before, or has to cut what comes later."""
    point = f'process("{victim("doubles")}").function("pick_*")'
    out = djtap("-e", f'probe {point} {{ printf("%s %g\\n", ppfunc(), $size / 2) }}', "-c", f"sh -c '{victim('doubles')}; true'").stdout
    assert "pick_real 1.25\n" in out and "pick_whole 3.5\n" in out, out
    source = """
        #include <unistd.h>
        #include <sys/wait.h>
        __attribute__((noinline)) void work(TYPE x) { __asm__ volatile("" :: "g"(x)); }
        int main(int count, char** words) { work(7.5); if (count > 1 && fork() == 0) execl(words[1], words[1], (char*)0); wait(0); }"""
    for name in ("int", "double"):
        (tmp_path / f"{name}.c").write_text(source.replace("TYPE", name))
        subprocess.run(["gcc", "-g", "-O1", "-o", tmp_path / name, tmp_path / f"{name}.c"], check=True)
    whole = djtap("-e", 'probe process.function("work") { printf("%s %d\\n", execname(), $x) }', "-c", f"{tmp_path}/int {tmp_path}/double")
    assert whole.stdout == "int 7\ndouble 7\n" and "DJ5903]: $x is a number with a fraction in what was executed" in whole.stderr, whole
    real = djtap("-e", 'probe process.function("work") { printf("%s %g\\n", execname(), $x) }', "-c", f"{tmp_path}/double {tmp_path}/int")
    assert real.stdout == "double 7.5\nint 7\n" and real.stderr == "", real


def test_globals_print_at_the_end(djtap):
    text = ('global top, seen, half = 0.5, count, negative = -2.5 probe func("mix") { seen[$a] = $n; count++; '
            'if (top < $a) top = $a; half *= 1; negative-- }')
    out = script(djtap, text + ' probe end { print(top) }').stdout
    assert out.index("seen[125]=1000\n") < out.index("seen[0.125]=1\n"), out
    assert "half=0.5\n" in out and "count=1000\n" in out and "negative=-1002.5\n" in out, out
    done = json.loads(djtap("-f", "json", "-e", text, "-c", victim("doubles")).stdout.splitlines()[-1])
    assert done["half"] == 0.5 and done["count"] == 1000 and {"key": [125.0], "value": 1000} in done["seen"]


def test_arithmetic_is_that_of_python(djtap):
    random.seed(5)
    numbers = [random.uniform(-1, 1) * 10.0 ** random.randint(-30, 30) for _ in range(30)]
    pairs = [(x, op, y) for x, y in zip(numbers, numbers[1:]) for op in "+-*/"]
    for start in range(0, len(pairs), 40):
        some = pairs[start:start + 40]
        answers = evaluated(djtap, [f"{x!r} {op} {y!r}" for x, op, y in some])
        for (x, op, y), answer in zip(some, answers):
            truth = {"+": x + y, "-": x - y, "*": x * y, "/": x / y}[op]
            assert float(answer) == truth, (x, op, y)


EXPRESSIONS = [
    ("1.5", "1.5"), ("2 + 0.5", "2.5"), ("7 / 2", "3"), ("7 / 2.0", "3.5"), ("-1.5e3", "-1500"), ("1e3", "1000"),
    ("- (0.25)", "-0.25"), ("1 ? 2 : 0.5", "2"), ("sqrt(2.25)", "1.5"), ("sqrt(-1)", "nan"), ("1.0 / 0.0", "inf"),
    ("double(3) / 2", "1.5"), ("0.1 + 0.2", "0.3"), ("1 / 3.0", "0.333333"),
]


def test_expressions(djtap):
    assert evaluated(djtap, [e for e, _ in EXPRESSIONS], "%g") == [truth for _, truth in EXPRESSIONS]


WHOLE = [("round(2.5)", 3), ("round(-2.5)", -3), ("trunc(-2.5)", -2), ("floor(-2.5)", -3), ("ceil(-2.5)", -2), ("floor(1e300)", 2**63 - 1),
         ("0.5 < 1", 1), ("2 <= 1.5", 0), ("1.5 == 1.5", 1), ("1 == 1.0", 1), ("sqrt(-1) == sqrt(-1)", 0), ("sqrt(-1) != 1", 1),
         ("!0.5", 0), ("0.0 || -0.0", 0), ("0.1 && 1", 1), ("1.5 > 2 ? 1 : 2", 2), ("sqrt(-1) >= 0", 0), ("2.5 >= 2", 1), ("-2.5 > -3", 1)]


def test_whole_results(djtap):
    assert evaluated(djtap, [e for e, _ in WHOLE], "%d") == [str(truth) for _, truth in WHOLE]


FORMATS = ["%f", "%.2f", "%10.3f|", "%-10.1f|", "%+g", "% g", "%010.2f", "%e", "%.0e", "%G", "%#g", "%.0f", "%12g", "%F", "%E"]


def test_formats_are_those_of_c(djtap):
    values = [0.0, 1.5, -2.25, 1e10, 123456.789, 1e-7, 2.5]
    for form in FORMATS:
        assert evaluated(djtap, [repr(v) for v in values], form) == [form % v for v in values], form
    made = djtap("-e", 'probe begin { s = sprintf("%.3f", 2); print(s . "!"); printf("%*.*f", 8, 2, 1.5); exit() }').stdout
    assert made == "2.000!    1.50", made


def test_variables_functions_and_loops(djtap):
    text = '''
    function mean(sum, n) { return sum / n }
    function twice(x) { return x * 2 }
    global a, keyed
    probe begin {
      x = 1; x += 0.5; x++; println(x)
      println(mean(3.0, 2), " ", twice(4))
      a["one"] = 1; a["half"] = 0.5; a["minus"] -= 7.25; a["half"] *= 3
      foreach (v = [k] in a-) printf("%s=%g ", k, v)
      keyed[-1.5] = 1; keyed[2.5] = 2; keyed[-0.0] = 3; keyed[0.0] = 4; keyed[-3] = 5
      foreach (q+ in keyed) printf("%g:%d ", q, keyed[q])
      println(2.5 in keyed, 2 in keyed)
      for (i = 0.0; i < 1; i += 0.25) printf("%g ", i)
      exit()
    }'''
    out = djtap("-e", text).stdout
    assert out == "2.5\n1.5 8\nhalf=1.5 one=1 minus=-7.25 -3:5 -1.5:1 0:4 2.5:2 10\n0 0.25 0.5 0.75 ", out


def test_numbers_at_addresses(djtap):
    out = script(djtap, 'global n probe func("cool") { if (n++ == 0) printf("%g %g", user_double(&$r->celsius), '
                        'user_float(&$r->humidity)) }').stdout
    assert out.startswith("21.75 0.375") or "21.75 0.375" in out, out


def test_arguments_by_number_of_a_stripped_program(djtap, tmp_path):
    """No debug info: vector registers are counted apart from the others. mix(a, float b, n, c)."""
    program = tmp_path / "doubles"
    subprocess.run(["objcopy", "-g", victim("doubles"), program], check=True)
    body = ('global m probe func("mix") { if (m++ == 2) printf("%g %g %d %g\\n", double_arg(1), float_arg(2), int_arg(1), double_arg(3)) } '
            'probe func("last") { printf("eighth %g\\n", double_arg(8)) } probe func("last").return { printf("%g\\n", @entry(double_arg(7)) / 2) } '
            'probe func("mix") { total += double_arg(1) } probe end { println(total) } global total = 0.0')
    result = djtap("-e", body, "-c", program)
    assert "0.375 1.5 3 -0.25\n" in result.stdout and "eighth 8\n" in result.stdout and "\n3.5\n" in result.stdout, result
    assert result.stdout.endswith(f"{sum(i / 8 for i in range(1, 1001)):g}\n"), result


def test_whole_numbers_only(djtap):
    result = djtap("-e", 'probe func("mix") { s <<< $a }', "-c", victim("doubles"))
    assert result.returncode != 0 and "$a is a number with a fraction, but `<<<` needs a whole one" in result.stderr, result
    assert "round(x * 1000)" in result.stderr, result
