# SPDX-License-Identifier: Apache-2.0
"""Text forms ($x$, $$parms$), casts, @var, registers and objects in registers, against what values.cpp holds."""
import re
import shutil
import subprocess

import pytest

from support.paths import victim

FORMS = ["values", "values_O0"]
SHAPE = ('{{.id=9, .name="circle\\n", .at={at}, .colour=BLUE, .tag="tag", .grid={grid}, .low=5, .negative=-3, .whole=66, '
         ".half=66, .next=0x8, .yes=1, .letter='Q', .real=2.5, .single=1.25, .text=\"hello\"}}")
SHORT = SHAPE.format(at="{...}", grid="[...]")
FULL = SHAPE.format(at="{.x=1, .y=-2}", grid="[7, 8, 9]")


def says(djtap, form, point, expressions):
    """What the expressions print at the first hit of the point."""
    body = " ".join(f"println({each})" for each in expressions)
    script = f'global hits probe {point} {{ if (hits++ == 0) {{ println("<<") {body} println(">>") }} }}'
    result = djtap("-e", script, "-c", victim(form))
    match = re.search(r"^<<\n(.*)^>>$", result.stdout, re.M | re.S)
    assert result.returncode == 0 and "ERROR" not in result.stderr and match, result
    return match.group(1).split("\n")[:-1]


SHOWN = [
    ("$p$", SHORT), ("$p$$", FULL), ("$r$", SHORT), ("$p->at$", "{.x=1, .y=-2}"), ("$p->grid$", "[7, 8, 9]"),
    ("$colour$", "GREEN"), ("$p->colour$", "BLUE"), ("$d$", "1.5"), ("$f$", "0.75"), ("$p->real$", "2.5"),
    ("$mixed$", "{.a=3.25, .b=6}"), ("$mixed->b", "6"), ("$text$", '"text"'), ("$view$", '"viewed"'),
    ("$p->text$", '"hello"'), ("$p->next$", None), ("$p->id", "9"), ("$p->negative$", "-3"), ("$p->letter$", "'Q'"),
]


@pytest.mark.parametrize("form", FORMS)
def test_values_as_text(djtap, form):
    rows = says(djtap, form, 'func("show")', [expression for expression, _ in SHOWN])
    wrong = {e: (got, want) for (e, want), got in zip(SHOWN, rows) if want is not None and got != want}
    assert not wrong
    unread = rows[[e for e, _ in SHOWN].index("$p->next$")]
    assert unread.startswith("{.id=?, .name=?, .at={...}, ") and "0x" not in unread, unread


@pytest.mark.parametrize("form", FORMS)
def test_all_parameters_pretty(djtap, form):
    (row,) = says(djtap, form, 'func("show")', ["$$parms$"])
    assert row == (f'p={SHORT} r={SHORT} colour=GREEN d=1.5 f=0.75 mixed={{.a=3.25, .b=6}} text="text" view="viewed"')


def test_objects_passed_in_registers(djtap):
    (row,) = says(djtap, "values_O0", 'func("registers")', ["$$parms$"])
    assert row == "whole={.a=1, .b=-2} reals={.a=0.5, .b=-0.25} mixed={.a=8.5, .b=-9} point={.x=3, .y=4}"


def test_unreadable_parameters_raise_nothing(djtap):
    script = 'probe func("show") { if ($p == 0) println($$parms$) } probe func("show").return { println($colour$, $p$) }'
    result = djtap("-e", script, "-c", victim("values"))
    assert "ERROR" not in result.stderr and "p={.id=?, .name=?, " in result.stdout, result
    assert re.search(r"^RED\{\.id=\?, ", result.stdout, re.M), result


RESULTS = [("make_mixed", ["$return$", "$return->b", "$$return$", "$d$"], ["{.a=13.5, .b=4}", "4", "return={.a=13.5, .b=4}", "4.5"]),
           ("make_whole", ["$return$", "$return->a", "$return->b"], ["{.a=5, .b=-5}", "5", "-5"]),
           ("halve", ["$return$", "$d$"], ["-2.5", "-5"]), ("third", ["$return$"], ["0.333333"])]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("function, expressions, truth", RESULTS, ids=[row[0] for row in RESULTS])
def test_results_in_registers(djtap, form, function, expressions, truth):
    assert says(djtap, form, f'func("{function}").return', expressions) == truth


OTHERS = [
    ('@cast($p, "Shape")->name$', '"circle\\n"'), ('@cast($p, "struct Shape")->at->y', "-2"),
    ('@cast(&$p->grid, "int")[2]', "9"), ('@cast(&$p->at, "Point")$', "{.x=1, .y=-2}"),
    ('&@cast($p, "Shape")->at - $p', "16"), ('@cast(&@var("inner"), "outer::Inner")->value', "-3"),
    ('@var("counter")', "42"), ('@var("counter@values.cpp")', "42"), ('@var("of_thread")', "77"), ("$of_thread", "77"),
    ('@var("inner")->value', "-3"), ('@choose_defined($none, 5)', "5"), ('@choose_defined($colour, 7)', "5"),
    ('@defined(@cast($p, "NoSuchType")->x)', "0"), ('@defined(@var("nothing"))', "0"), ("@defined($p->name$)", "1"),
    ("pointer_arg(1) == $p", "1"), ("int_arg(3)", "5"), ("uint_arg(3)", "5"), ("long_arg(1) == $p", "1"),
    ('register("rdi") == $p', "1"), ('u_register("edx")', "5"), ('register("dl")', "5"), ("ulong_arg(2) == &$r", "1"),
    ("s32_arg(3)", "5"), ("u32_arg(3)", "5"), ("s64_arg(1) == $p", "1"), ("u64_arg(1) == $p", "1"),
    ("longlong_arg(1) == $p", "1"), ("ulonglong_arg(1) == $p", "1"),
] + [(f'@cast(&$p->colour, "{words}")[0]', str(value)) for value, spellings in {
    -7: ["int", "signed", "signed int", "short", "short int", "signed short", "signed char"],
    2 ** 32 - 7: ["unsigned", "unsigned int", "int unsigned"],
    2 ** 16 - 7: ["unsigned short", "short unsigned int"], 249: ["unsigned char"],
    int.from_bytes(b"\xf9\xff\xff\xfftag\0", "little"): ["long", "long int", "unsigned long", "long unsigned int", "long long",
                                                          "long long int", "unsigned long long", "long long unsigned"],
}.items() for words in spellings]


@pytest.mark.parametrize("form", FORMS)
def test_casts_variables_and_registers(djtap, form):
    rows = says(djtap, form, 'func("show")', [expression for expression, _ in OTHERS])
    assert dict(zip([e for e, _ in OTHERS], rows)) == dict(OTHERS)


AT_EXIT = [
    ("@exit($p->id)", "109"), ("$p->id", "9"), ("@exit($r->at->x)", "101"), ("@exit($r$) == @exit($p[0]$)", "1"), ("$r->at->x", "1"),
    ("user_string(@exit($p->name))", "square"), ("@exit($p->name$)", '"square"'), ("@exit($p->grid[$by / 100])", "108"),
    ("@exit($p->at$)", "{.x=101, .y=-2}"), ("$p->at$", "{.x=1, .y=-2}"), ("@exit(&$p->at) - $p", "16"),
    ('@exit(@var("counter"))', "144"), ("@exit($counter)", "144"), ("$counter", "44"), ('@exit(@cast($p, "Shape")->id)', "109"),
    ('@exit($p[0]$) == @exit(@cast($p, "Shape")$)', "1"), ("@exit($p->real)", "2.5"), ("$by", "100"),
]


@pytest.mark.parametrize("form", FORMS)
def test_what_a_pointer_leads_to_at_the_exit(djtap, form):
    """grow() changes what its parameters point to, and a variable outside."""
    rows = says(djtap, form, 'func("grow").return', [expression for expression, _ in AT_EXIT])
    assert dict(zip([e for e, _ in AT_EXIT], rows)) == dict(AT_EXIT)


def test_arguments_on_the_stack(djtap):
    rows = says(djtap, "args", 'func("nine")', ["int_arg(7)", "long_arg(8)", "int_arg(9)"])
    assert rows == ["7", "-8000000000", "-9"]


def test_casts_look_into_the_object_that_they_name(djtap_once):
    script = 'probe func("list") { println(@cast($head, "struct node", "libc.so.6")->value) }'
    result = djtap_once("-e", script, "-c", victim("args"))
    assert result.returncode == 3 and re.search(r"DJ301[01]", result.stderr) and "libc.so.6" in result.stderr, result
    named = script.replace("libc.so.6", "args")
    assert "-10\n" in djtap_once("-e", named, "-c", victim("args")).stdout


def test_functions_cast_too(djtap):
    """Functions have no place: their types and variables are those of the first object that knows the name, or of the one named."""
    script = ('global bytes function value(p) { return @cast(p, "node")->value } '
              'function total(p) { while (p) { n += value(p) p = @cast(p, "node")->next } return n } '
              'function words(p) { return user_string(@cast(p, "node", "args")->name) . @cast(p, "node")->at$ '
              '. sprint(@cast(p, "node")->small[1]) } '
              'function kept() { return @defined(@cast(0, "node")->no) || @defined(@var("no")) ? 0 '
              ': @defined(@cast(0, "node")->value) * @var("global_list")->value } '
              'function wide(p) { return &@cast(p, "node")[1] - p + &@cast(0, "tm", "<time.h>")->tm_hour } probe begin { bytes = &@cast(0, "node")[1] } '
              'probe func("list") { printf("%d %d %s %d %d %d\\n", value($head), total($head), words($head), kept(), wide($head), bytes) exit() }')
    result = djtap("-e", script, "-c", victim("args"))
    assert f"-10 {result.facts['list']} first{{.x=1, .y=2}}0 -10 48 40\n" in result.stdout, result


def test_fractions_through_a_function(djtap):
    script = ('function warmer(p) { return @cast(p, "reading")->celsius + 1 } '
              'probe func("cool") { if (hits++ == 0) printf("<%g>", warmer($r)) }')
    assert "<22.75>" in djtap("-e", script, "-c", victim("doubles")).stdout


def test_mistakes_in_functions(djtap_once):
    for body, code, words in [('@cast(p, "node")->valeu', "DJ3012", 'did you mean "value"?'),
                              ('@cast(p, "nodes")->value', "DJ3011", "(searched: args"),
                              ('@var("no_such")', "DJ3011", "no_such"),
                              ('@cast(p, "node", "libnone.so")->value', "DJ3005", "is no object of the traced process"),
                              ("$hed->value", "DJ3011", 'no variable "hed" in list()')]:
        result = djtap_once("-e", f'function f(p) {{ return {body} }} probe func("list") {{ println(f($head)) }}', "-c", victim("args"))
        assert result.returncode != 0 and code in result.stderr and words in result.stderr and result.stderr.count("error[") == 1, result
    host = djtap_once("-e", 'probe begin { println(@cast(8, "node")->value) }', "-c", victim("args"))
    assert "read fault at address 0x0000000000000008 (no mapping)" in host.stderr, host


def test_register_mistakes(djtap_once):
    for call, words in [('register("rxa")', 'there is no general register "rxa"'), ("uint_arg(0)", "takes the number of an argument"),
                        ("double_arg(9)", "takes the number of an argument, 1 to 8")]:
        result = djtap_once("-e", f'probe func("main") {{ println({call}) }}', "-c", "/bin/true")
        assert "DJ2027" in result.stderr and words in result.stderr, result


LENGTHS = r"""#include <stdio.h>
#include <stdlib.h>
struct flexible { int count; int items[]; };
__attribute__((noinline)) int work(int n, int m) {
  int row[n], grid[n][m];
  char text[n * 2];
  struct flexible *tail = malloc(sizeof *tail + sizeof(int) * n);
  for (int i = 0; i < n; i++) {
    row[i] = tail->items[i] = i * 3;
    for (int j = 0; j < m; j++) grid[i][j] = i * 10 + j;
  }
  snprintf(text, sizeof text, "n is %d", n);
  printf("%d %d %s %d\n", row[n - 1], grid[n - 1][m - 1], text, tail->items[n - 1]);
  return 0;
}
int main(int argc, char **argv) { return work(argc + 4, 3) + work(argc + 9, 2); }
"""
ROWS = ["[0, 3, 6, 9, 12]", "[0, 3, 6, 9, 12, 15, 18, 21, ...]"]
OF_LENGTHS = {"$row$": ROWS, "$grid[1][2]": ["12"], "$grid[$n - 1][1]": ["41", "91"], "$text$": ['"n is 5"', '"n is 10"'], "$tail->items[4]": ["12", "12"],
              "$grid$$": ["[[0, 1, 2], [10, 11, 12], [20, 21, 22], [30, 31, 32], [40, 41, 42]]"], "$tail->items$": ["[...]"] * 2}


@pytest.mark.parametrize("compiler", ["gcc -O0", "gcc -O2", "clang-19 -O0"])
def test_arrays_whose_length_is_computed(djtap_once, tmp_path, compiler):
    """Elements, texts, and how far it is from row to row; an array without a length says so. Optimized code may not know m."""
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"no {compiler} here")
    (tmp_path / "lengths.c").write_text(LENGTHS)
    subprocess.run([*compiler.split(), "-g", "-o", "lengths", "lengths.c"], cwd=tmp_path, check=True)
    for asked, wanted in OF_LENGTHS.items():
        if "O2" in compiler and "grid" in asked:
            continue
        script = f'probe process.statement("work@lengths.c:13") {{ println("<", {asked}, ">") }}'
        result = djtap_once("-e", script, "-c", tmp_path / "lengths")
        assert [line[1:-1] for line in result.stdout.splitlines() if line.startswith("<")][:len(wanted)] == wanted, (asked, result)
