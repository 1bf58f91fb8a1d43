# SPDX-License-Identifier: Apache-2.0
"""Values of the traced program: parameters, locals, members, results; compared with what the program knows."""
import re
import shutil
import subprocess

import pytest

from support.paths import line_of, victim

FORMS = ["args", "args_O0"]


def printed(djtap, point, body, program="args"):
    """What the body prints at its first hit, as one line."""
    result = djtap("-e", f'global hits probe {point} {{ if (hits++ == 0) {{ {body} }} }}', "-c", victim(program))
    assert result.returncode == 0 and "ERROR" not in result.stderr, result
    return result


def line(djtap, point, body, program="args"):
    result = printed(djtap, point, f'print("<"); {body}; println(">")', program)
    match = re.search(r"^<(.*)>$", result.stdout, re.M)
    assert match, result
    return match.group(1)


PARAMETERS = [
    ("narrow", '"%d %d %d %d %d %c", $i8, $u8, $i16, $u16, $yes, $letter', "-8 200 -30000 60000 1 Q"),
    ("wide", '"%d %d %d %u", $i32, $u32, $i64, $u64', "-2000000000 4000000000 -9000000000000000000 18000000000000000000"),
    ("nine", '"%d %d %d %d %d %d %d %d %d", $a, $b, $c, $d, $e, $f, $g, $h, $i', "1 -2 3 -4 5 -6 7 -8000000000 -9"),
    ("list", '"%d %d %d %d", $head->value, $head->next->value, $head->next->next->value, $depth', "-10 20 30 3"),
    ("list", '"%s %s", user_string($head->name), user_string($head->next->name)', "first second"),
    ("list", '"%d %d", $head->at->x, $head->next->at->y', "1 -4"),
    ("list", '"%d %d", $head->next->small[1], $head->next->small[3]', "-2 -4"),
    ("list", '"%d %d %d", $head->both->whole, $head->both->half[0], $head->both->half[1]', "131073 1 2"),
    ("list", '"%d", &$head->at - $head', "24"),
    ("list", '"%d", $head == $global_list', "1"),
    ("list", '"%d", $static_number', "4711"),
    ("text", '"%s %d", user_string($string), $bytes', "hello, world 64"),
    ("text", '"%s", user_string_n($string, 5)', "hello"),
    ("bits", '"%d %d %d %d", $flags->low, $flags->middle, $flags->negative, $colour', "5 777 -9 -7"),
    ("bits", '"%x", $flags->wide', "9876543210"),
    ("table", '"%d %d %d", $matrix[1][2], $nodes[1]->value, $row', "23 20 1"),
    ("table", '"%d", $nodes[$row]->next->value', "30"),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("function, arguments, truth", PARAMETERS, ids=lambda value: str(value)[:24])
def test_parameters(djtap, form, function, arguments, truth):
    assert line(djtap, f'func("{function}")', f"printf({arguments})", form) == truth


def test_pointers_agree_with_the_program(djtap):
    result = printed(djtap, 'func("list")', 'printf("head %d\\n", $head)')
    assert f"head {result.facts['head']}\n" in result.stdout, result


RESULTS = [("list", "40"), ("text", "12"), ("bits", "-2"), ("table", "4754"), ("negative_byte", "-100"),
           ("unsigned_short", "65535")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("function, truth", RESULTS)
def test_results(djtap, form, function, truth):
    assert line(djtap, f'func("{function}").return', 'printf("%d", $return)', form) == truth


def test_result_is_a_string(djtap):
    assert line(djtap, 'func("string_result").return', "print(user_string($return))") == "seven"


@pytest.mark.parametrize("form", FORMS)
def test_entry_values_at_return(djtap, form):
    body = 'printf("%d %s %d", $depth, user_string($head->name), $return)'
    assert line(djtap, 'func("list").return', body, form) == "3 first 40"


def test_all_parameters_as_text(djtap):
    given = {"a": 1, "b": -2, "c": 3, "d": -4, "e": 5, "f": -6, "g": 7, "h": -8000000000, "i": -9}
    assert line(djtap, 'func("nine")', "print($$parms$)") == " ".join(f"{name}={value}" for name, value in given.items())
    assert line(djtap, 'func("nine")', "print($$parms)") == " ".join(f"{name}={value % 2**64:#x}" for name, value in given.items())
    assert re.fullmatch(r"head=0x[0-9a-f]+ depth=0x3", line(djtap, 'func("list")', "print($$parms)"))
    assert line(djtap, 'func("negative_byte").return', "print($$return)") == "return=0xffffffffffffff9c"


def test_locals_in_the_middle_of_a_function(djtap):
    number = line_of("lines.c", "body")
    script = f'probe func("walk@lines.c:{number}") {{ printf("%d %d %d\\n", $i, $square, $to) }}'
    for form in ("lines", "lines_O0"):
        result = djtap("-e", script, "-c", victim(form))
        rows = [tuple(map(int, row.split())) for row in re.findall(r"^\d+ \d+ \d+$", result.stdout, re.M)]
        assert rows == [(i, i * i, n) for n in range(10) for i in range(n)], result


def test_locals_as_text(djtap):
    number = line_of("lines.c", "second")
    result = line(djtap, f'func("second@lines.c:{number}")', 'printf("%s|%s", $$locals, $$vars)', "lines_O0")
    assert result == "doubled=0x0|value=0x0 doubled=0x0"


def test_defined(djtap):
    body = 'printf("%d %d %d", @defined($a), @defined($nonesuch), @defined($a->field) ? $a->field : -1)'
    assert line(djtap, 'func("nine")', body) == "1 0 -1"
    assert line(djtap, 'func("nine")', 'if (@defined($zzz)) print($zzz); else print("no zzz")') == "no zzz"


def test_every_call_with_four_threads(djtap):
    script = 'probe func("work") { sum += $n; per_id[$id] += $n; if ($id < 0 || $id > 3) wrong++ }'
    result = djtap("-e", script, "-c", f"{victim('count')} 20000")
    assert result.globals == {"sum": result.facts["sum"], "wrong": 0}, result
    assert dict(result.array("per_id")) == {str(i): str(20000 * 19999 // 2) for i in range(4)}, result


def test_printf_of_every_call_is_complete_and_in_order(djtap):
    """Events of one thread come in the order they were made; none is lost at this rate."""
    result = djtap("-e", 'probe func("work") { printf("%d %d %d\\n", tid(), $id, $n) }', "-c", victim("count"))
    per_thread = {}
    for tid, ident, n in re.findall(r"^(\d+) (\d) (\d+)$", result.stdout, re.M):
        per_thread.setdefault((tid, ident), []).append(int(n))
    assert len(per_thread) == 4 and all(values == list(range(1000)) for values in per_thread.values()), result


def test_identity_of_the_process(djtap):
    script = """global n probe func("work") { if (n++ == 0) printf("%s %d %d %d\\n", execname(), pid() == target(), uid(), cpu() >= 0) }"""
    result = djtap("-e", script, "-c", victim("count"))
    assert re.search(r"^count 1 \d+ 1$", result.stdout, re.M), result


def test_time_passes(djtap):
    script = """global entered, n probe func("main") { entered = gettimeofday_ns() }
        probe func("work") { if (n++ == 0) printf("after %d ns at %d s\\n", gettimeofday_ns() - entered, gettimeofday_s()) }"""
    result = djtap("-e", script, "-c", victim("count"))
    elapsed, now = map(int, re.search(r"^after (\d+) ns at (\d+) s$", result.stdout, re.M).groups())
    assert 0 < elapsed < 300 * 10**9 and now > 1_600_000_000, result


def test_bit_fields_across_words(djtap):
    """Those of packed structs begin anywhere: in memory, and as text."""
    names = ["a", "wide", "negative", "most", "b", "last", "c"]
    shown = " ".join(f"{name}: %d" for name in names)
    script = f"""probe func("take") {{ printf("{shown}\\n%s\\n", {", ".join(f"$packed->{name}" for name in names)}, $packed$) }}"""
    result = djtap("-e", script, "-c", victim("packed"))
    rows = re.findall("".join(rf"^{name}: (-?\d+)\n" for name in names), result.stdout, re.M)
    assert len(rows) == 3 and len(set(rows)) == 3, result
    for row in rows:
        told = " ".join(f"{name}: {value}" for name, value in zip(names, row))
        text = ", ".join(f".{name}={value}" for name, value in zip(names, row))
        assert f"{told}\n{{{text}}}\n" in result.stdout, result


HIDDEN = """#include <cstdio>
#include <memory>
struct Base { int x = 1, y = 5; };
struct Derived : Base { int x = 2; };
struct Shared : virtual Base { int x = 7; };
struct Far { int same = 3; };
struct Near : Far {};
struct Nearer { int same = 4; };
struct Both : Near, Nearer {};
__attribute__((noinline)) int show(Derived* d, Shared* s, Both* b, std::unique_ptr<Derived>& u) {
  std::printf("truth: %d %d %d %d %d %d\\n", d->x, d->Base::x, d->y, s->x, b->Nearer::same, u->x);
  return d->x;
}
int main() {
  Derived d;
  Shared s;
  Both b;
  auto u = std::make_unique<Derived>();
  u->x = 11;
  return show(&d, &s, &b, u) != 2;
}
"""


@pytest.mark.parametrize("compiler", ["g++ -O0", "g++ -O2", "clang++-19 -O1"])
def test_a_member_hides_those_of_bases(djtap_once, tmp_path, compiler):
    """As in C++; of bases, the nearest one's. A unique_ptr has its pointer, and its deleter under the same name further away."""
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"no {compiler} here")
    (tmp_path / "hidden.cpp").write_text(HIDDEN)
    subprocess.run([*compiler.split(), "-g", "-std=c++17", "-o", "hidden", "hidden.cpp"], cwd=tmp_path, check=True)
    script = """probe process.function("show") {
        println("truth: ", $d->x, " ", @cast($d, "Base")->x, " ", $d->y, " ", $s->x, " ", $b->same, " ", $u->_M_t->_M_t->_M_head_impl->x) }"""
    result = djtap_once("-e", script, "-c", tmp_path / "hidden")
    said = [line for line in result.stdout.splitlines() if line.startswith("truth: ")]
    assert len(said) == 2 and said[0] == said[1], result


ONE_NAME = """#include <cstdio>
__attribute__((noinline)) void sink(int x) { __asm__ volatile("" : : "r"(x) : "memory"); }
template <typename... A> __attribute__((noinline)) int many(A... args) { return (0 + ... + (int)args); }
__attribute__((noinline)) int nested(int x) {
  int same = x;
  {
    int same = x + 30;
    sink(same);  // inside
  }
  return same;
}
int main() { return many(1, 20L, 'c') + nested(5) == 0; }
"""


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_variables_of_one_name_have_their_own_values_in_texts(djtap_once, tmp_path, compiler):
    """Blocks within each other, and what clang calls the arguments of a pack (gcc gives them no names)."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    (tmp_path / "names.cpp").write_text(ONE_NAME)
    subprocess.run([compiler, "-g", "-std=c++17", "-o", "names", "names.cpp"], cwd=tmp_path, check=True)
    script = """probe process.statement("nested@names.cpp:8") { println($$locals$, " ", $same) } probe process.function("many") { println($$parms$) }"""
    result = djtap_once("-e", script, "-c", tmp_path / "names")
    assert result.stdout.splitlines() == ["args=1 args=20 args='c'" if compiler.startswith("clang") else "", "same=5 same=35 35"], result
