# SPDX-License-Identifier: Apache-2.0
"""Pointers in the script's own variables: members by the type of what they were assigned, as in SystemTap.

Truth: what the victims' sources say, and the same members by way of the target variables themselves.
"""
import re
import shutil
import subprocess

import pytest

from support.paths import victim

FORMS = ["args", "args_O0"]

# Forty names, each assigned the one before, in a ring.
RING = "a0 = $head; " + "; ".join(f"a{i} = a{i - 1}" for i in range(1, 40)) + "; a0 = a39->next"

# Of $head, a list of -10, 20, 30.
BODIES = [
    ("p = $head", 'p->value, p->next->value, p->at->x', "-10 20 1"),
    ("p = $head->next", 'p->value, p->next->value, p->at->y, p->small[1], p->small[3]', "20 30 -4 -2 -4"),
    ("p = q = $head; r = q->next", "p->value, r->value, r->next->next", "-10 20 0"),
    ("p = $head; while (p) { sum += p->value; many++; p = p->next }", "sum, many", "40 3"),
    ("first = 0; p = first ? $head : $head->next", "p->value, (first ? $head->next : $head)->value", "20 -10"),
    ("at = &$head->next->at", "at->x, at->y, &at->y - at", "3 -4 4"),
    ('p = @cast($head, "node")->next', "p->value, p->next->at->x", "20 5"),
    ("p = @choose_defined($nowhere, $head)", "p->value, @defined(p->value), @defined(p->nothing)", "-10 1 0"),
    ("p = @var(\"global_list\")", "p == $head, p->next->value", "1 20"),
    (RING, "a39->value, a0->value", "-10 20"),
    ("p = $head; i = 2", "p->next->small[i + 1], p->both->half[i - 1]", "-4 2"),
    ("p = $head->next->small; i = 2", "p[0], p[i - 1], p[i] + p[3], @defined(p[0])", "1 -2 -1 1"),
    ("p = $head", "p[0]->value, p[0]->next->value, &p[0]->at - p", "-10 20 24"),
    ("p = next_of($head)", "p->value, next_of(p)->value, next_of(next_of($head))->at->x", "20 30 5"),
    ("p = last($head, 2)", "p->value, p->next", "30 0"),
    # What stands in parentheses is what it is without.
    ("p = (&$head->next->at)", "p == &$head->next->at, (&$head->next->at) - $head->next == &p->x - $head->next, p->x", "1 1 3"),
    ("p = ($head)->next", "p->value, (&$head->next->at)->x, ((&$head->next->at))->y, (($head->next))->value", "20 3 -4 20"),
]

FUNCTIONS = """function next_of(pointer) { return @cast(pointer, "node")->next }
               function last(pointer, many) { p = @cast(pointer, "node"); n = next_of(p); return many > 1 ? last(n, many - 1) : n }"""


def printed(djtap, script, program):
    result = djtap("-e", script, "-c", victim(program))
    assert result.returncode == 0 and result.stderr == "", result
    return re.search(r"^<(.*)>$", result.stdout, re.M).group(1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("before, values, truth", BODIES, ids=lambda value: str(value)[:24])
def test_members_of_what_was_assigned(djtap, form, before, values, truth):
    body = f'{before}; print("<"); printd(" ", {values}); println(">")' if "," in values else None
    script = f'probe func("list") {{ if (hits++ == 0) {{ {body} }} }} global hits {FUNCTIONS}'
    assert printed(djtap, script, form) == truth


def test_texts_and_strings(djtap):
    script = """probe func("list") { p = $head; q = p->next
                  if (hits++ == 0) println("<", user_string(p->name), " ", user_string(q->name), " ", q->at$ == $head->next->at$,
                                           " ", p->name$ == $head->name$, ">") } global hits"""
    assert printed(djtap, script, "args") == "first second 1 1"


def test_elements_of_what_was_assigned(djtap):
    """Pointers to pointers, rows of a matrix, characters; an index may be any expression."""
    script = """probe func("table") { p = $nodes; m = $matrix; q = p[$row + 1]
                  println("<", p[1]->value, " ", p[$row]->next->value, " ", q->value, " ", (m)[1][2], " ",
                    (m)[$row - 1][$row], " ", p[0] == $nodes[0], ">") }"""
    assert printed(djtap, script, "args") == "20 30 30 23 12 1"
    assert printed(djtap, 'probe func("text") { s = $string; println("<", s[0], " ", s[strlen("hello")], ">") }', "args") == "104 44"


def test_fractions_and_enums_through_a_pointer(djtap):
    script = 'probe func("show") { s = $p; if (s) println("<", s->real, " ", s->single, " ", s->colour$, " ", s->low, ">") }'
    assert printed(djtap, script, "values") == "2.5 1.25 BLUE 5"


KINDS = r"""#include <stdio.h>
typedef struct node { int value; struct node* next; } node_t;
__attribute__((noinline)) int both(const node_t* first, struct node* second, void* raw) {
  asm volatile("" ::: "memory");
  return first->value + second->value + (raw != 0);
}
int main(void) { node_t b = {20, 0}, a = {10, &b}; printf("sum: %d\n", both(&a, &b, &a)); }
"""


def test_pointers_to_const_typedefs_and_void(djtap, tmp_path):
    """const, a typedef's name and void make no other type; void alone has none."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    (tmp_path / "kinds.c").write_text(KINDS)
    subprocess.run(["gcc", "-g", "-O1", "-o", tmp_path / "kinds", tmp_path / "kinds.c"], check=True)
    script = """probe func("both") { p = $first; print("<", p->value, p->next->value); p = $second; print(p->value); p = $raw; println(p->value, ">") }"""
    result = djtap("-e", script, "-c", tmp_path / "kinds")
    assert result.stdout == "sum: 31\n<10202010>\n" and result.stderr == "", result
    wrong = djtap("-e", 'probe func("both") { p = $raw; println(p->value) }', "-c", tmp_path / "kinds")
    assert "error[DJ3014]: p leads to no type: it was assigned a value of type void*" in wrong.stderr, wrong


def test_references(djtap):
    """To an object, and a pointer that a reference leads to; both are the one at *$p."""
    script = 'probe func("show") { q = &$r; if ($p) println("<", q->id, " ", q->at->y, " ", q == $p, " ", q->text$, ">") }'
    assert printed(djtap, script, "values") == '9 -2 1 "hello"'


def test_in_aliases_functions_and_where_functions_return(djtap):
    script = """probe grown = func("grow").return { shape = @entry($p) }
                probe grown { println("<", shape->id, " ", user_string(shape->name), " ", id_of(shape), " ", @exit(shape->grid[1]), ">") }
                function id_of(pointer) { same = @cast(pointer, "Shape"); other = same; return other->id }"""
    assert printed(djtap, script, "values") == "109 square 109 108"


WRONG = [
    ('p = $depth; println(p->value)', "p is no pointer: it was assigned a value of type int", "^"),
    ('p = $head; p = &$head->at; println(p->x)', "p was assigned pointers to struct node and to struct point", "^"),
    ('p = $head; println(p->valeu)', 'struct node has no member "valeu"', "^^^^^^^"),
    ('p = $hed; println(p->value)', 'no variable "hed" in list()', "^^^^"),
    ('p = $depth; println(p[0])', "p is no pointer: it was assigned a value of type int", "^"),
    ('p = $head; println(p[1])', "p[1] is a whole struct node, not a number", "^"),
    ('p = user_ulong($head); println(p[1])', "`p` is a local variable, but arrays are global", "^"),
    ('p = user_ulong($head); println(p->value)', "only target variables, @cast(...) and @var(...) have members", "^^^^^^^^"),
]


@pytest.mark.parametrize("body, message, marks", WRONG, ids=lambda value: str(value)[:24])
def test_what_has_no_such_type_is_refused_once(djtap_once, body, message, marks):
    result = djtap_once("-e", f'probe func("list") {{ {body} }}', "-c", victim("args"))
    assert result.returncode == 3 and result.stderr.count("error[") == 1, result
    assert message in result.stderr and re.search(rf" {re.escape(marks)}", result.stderr), result
