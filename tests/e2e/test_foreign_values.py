# SPDX-License-Identifier: Apache-2.0
"""Fortran, Ada and D: names of functions and values of all variables at marked lines are what gdb says of the same program."""
import os
import re
import shutil
import subprocess

import pytest

from support import paths
from support.listed import check_listed
from support.paths import line_of
from support.value_trees import is_same, transposed, tree

PROGRAMS = {"ledger.f90": ["gfortran", "-g", "-O0", paths.TARGETS / "ledger.f90", "-o", "ledger"],
            "parcel.adb": ["gnatmake", "-q", "-g", "-O0", paths.TARGETS / "parcel.adb", "-o", "parcel"],
            "wares.d": ["gdc", "-g", "-O0", "-frelease", paths.TARGETS / "wares.d", "-o", "wares"]}
MARKS = {"ledger.f90": ["scalars", "arrays", "objects"], "parcel.adb": ["look", "arrays", "records"], "wares.d": ["scalars", "arrays", "objects"]}
EVERY_MARK = [(source, mark) for source, marks in MARKS.items() for mark in marks]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The program of a source of tests/targets, made once; skips without its compiler."""
    made = {}

    def program(source):
        words = PROGRAMS[source]
        if shutil.which(words[0]) is None or shutil.which("gdb") is None:
            pytest.skip(f"no {words[0]} or no gdb here")
        if source not in made:
            folder = tmp_path_factory.mktemp(words[0])
            subprocess.run(words, cwd=folder, check=True, capture_output=True)
            made[source] = folder / source.split(".")[0]
        return made[source]
    return program


def gdb(program, *commands, **variables):
    words = ["gdb", "-nx", "-batch", *[word for command in commands for word in ("-ex", command)], program]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600, env=os.environ | variables | {"DEBUGINFOD_URLS": ""})
    return done.stdout


def said_by_gdb(program, source, mark):
    """The text that gdb has for each argument and local variable, at the second stop there."""
    unlimited = [f"set print {what} unlimited" for what in ("elements", "repeats")]
    text = gdb(program, *unlimited, f"break {source}:{line_of(source, mark)}", "run", "continue", "echo BEGIN\\n", "info args", "info locals")
    return dict(re.findall(r"^(\w+) = (.*)$", text.partition("BEGIN\n")[2], re.M))


def said_by_djtap(djtap_once, program, source, mark, expressions):
    """The text of each expression, at the second hit of the line."""
    body = " ".join(f'println("<", {number}, ">", {expression})' for number, expression in enumerate(expressions))
    point = f'process.statement("*@{source}:{line_of(source, mark)}")'
    result = djtap_once("-e", f"global hits probe {point} {{ if (hits++ == 1) {{ {body} }} }}", "-c", program)
    assert result.returncode == 0, result
    return {expressions[int(number)]: text for number, text in re.findall(r"^<(\d+)>(.*)$", result.stdout, re.M)}


def truth_of(source, text):
    value = tree(text)
    return transposed_inside(value) if source.endswith(".f90") else value


def transposed_inside(value):
    """Each array of a Fortran value, also those of components."""
    if isinstance(value, dict):
        return {name: transposed_inside(part) for name, part in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [transposed_inside(part) for part in value]
    return transposed(value)


# What gdb 13 does not read, or not as the source says: the last bound of "sized" is not known, the type of "words" is only declared.
BETTER = {("ledger.f90", "arrays"): {"sized": [["..."]] * 3, "words": []},
          ("ledger.f90", "objects"): {"deferred": '"deferred"'}}


@pytest.mark.parametrize("source, mark", EVERY_MARK)
def test_every_variable_is_what_gdb_says(djtap_once, built, source, mark):
    program = built(source)
    there = said_by_gdb(program, source, mark)
    assert len(there) > 6, there
    truth = {name: truth_of(source, text) for name, text in there.items()} | BETTER.get((source, mark), {})
    said = said_by_djtap(djtap_once, program, source, mark, [f"${name}$$" for name in truth])
    values = {name: tree(said[f"${name}$$"]) for name in truth}
    assert [f"{name}: {said[f'${name}$$']} for {there[name]}" for name in truth if not is_same(values[name], truth[name])] == []


def functions_of(program):
    """Addresses of the functions that the program's symbols name, in hexadecimal."""
    table = subprocess.run(["readelf", "-sW", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^\s*\d+: ([0-9a-f]+)\s+\d+ FUNC\s+\S+\s+\S+\s+\d+ \S+$", table, re.M)


@pytest.mark.parametrize("source", ["ledger.f90", "parcel.adb"])
def test_functions_are_called_as_in_gdb(djtap_once, built, source):
    """Those of the source, in lists; each name finds its function."""
    program = built(source)
    text = gdb(program, f"source {paths.ROOT / 'tests' / 'support' / 'gdb_functions.py'}", FUNCTIONS=" ".join(functions_of(program)))
    truth = {(name, int(line)) for name, line in re.findall(rf"^function\t(.*)\t(\d+)\t{source}$", text, re.M) if GENERATED.search(name) is None}
    listed = djtap_once("-l", f'process.function("*@{source}")', "-c", program).stdout
    names = {(name.replace('\\"', '"'), int(line)) for name, line in re.findall(r'\.function\("(.*)@[^@]*:(\d+)"\)$', listed, re.M)}
    assert names >= truth and len(truth) > 5, truth - names


@pytest.mark.parametrize("source", PROGRAMS)
def test_every_listed_name_is_found_again(djtap_once, built, source):
    check_listed(djtap_once, built(source))


GENERATED = re.compile(r"^main$|___|[A-Z]{2}$|__copy|__final")  # what no one has written


STACKS = {"ledger.f90": ("single", ["single", "ledger"]), "parcel.adb": ("parcel.types.sum.add", ["parcel.types.sum.add", "parcel.types.sum", "parcel"])}


@pytest.mark.parametrize("source", STACKS)
def test_stacks_and_reports_have_these_names(djtap_once, built, source):
    """ppfunc(), a stack, the list of sites, and a switch of a site by its name."""
    name, callers = STACKS[source]
    script = f'global n probe process.function("{name}") {{ if (n++ == 0) {{ println("at ", ppfunc()) print_ubacktrace() }} }}'
    result = djtap_once("--probes", "-e", script, "-c", built(source))
    assert f"at {name}\n" in result.stdout, result
    stack = [line for line in result.stdout.splitlines() if "+0x" in line]
    assert [caller for caller, line in zip(callers, stack) if re.search(rf"\b{re.escape(caller)}\+0x", line)] == callers, result
    assert re.search(rf" e {re.escape(name)}\+0x0 ", result.stderr + result.stdout), result


# Members and elements, by the subscripts of the source, and in any case where the language has none.
PARTS = {("ledger.f90", "arrays"): {"$N": "3", "$below[-1]": "1", "$moved[-3]": "2", "$turned[1][1]": "5", "$turned[2][3]": "2", "$Cells[2]->ID": "20",
                                    '@var("books::shared")[-2]': "4", '@var("SHARED")[1]': "1"},
         ("ledger.f90", "objects"): {"$heap[0][2]": "1", "$heap[1][4]": "6", "$a->history[3]": "3", "$a->code$": '"wxyz"', "$a->next->id": "7",
                                     '@var("title")$': '"ledger"'},
         ("parcel.adb", "arrays"): {"$own[5]": "12", "$v[2]": "20", "$V[3]": "30", "$p[2]": "8", "$c[1]": "2", "$b[3]": "1", "$b[4]": "0"},
         ("parcel.adb", "records"): {"$s2->id": "2", "$S3->Width": "4", "$head->next->value": "2", "$t->size": "5", "$pet->legs": "2", "$g->level": "7"},
         ("wares.d", "arrays"): {"$slice->length": "3", "$fixed[2]": "9", "$grid[1][0]": "3", "$pairs->ptr[1]->second": "4"}}


@pytest.mark.parametrize("source, mark", PARTS)
def test_parts_by_the_subscripts_of_the_source(djtap_once, built, source, mark):
    truth = PARTS[source, mark]
    assert said_by_djtap(djtap_once, built(source), source, mark, list(truth)) == truth


# Where the caller has put them: unconstrained arrays are two pointers, in registers or on the stack.
AT_ENTRY = {"parcel.types.arrays": {"$v$": "[10, 20, 30]", "$word$": '"word"', "$c$": "[1, 2, 3]", "$v[2]": "20"},
            "parcel.types.look": {"$n": "1", "$c$": "green", "$s": "-5", "$ok$": "true", "$name$": '"name"'}}


@pytest.mark.parametrize("name", AT_ENTRY)
def test_values_at_the_entry(djtap_once, built, name):
    body = " ".join(f'println("<", {each}, ">")' for each in AT_ENTRY[name])
    result = djtap_once("-e", f'global hits probe process.function("{name}") {{ if (hits++ == 0) {{ {body} }} }}', "-c", built("parcel.adb"))
    assert re.findall("^<(.*)>$", result.stdout, re.M) == list(AT_ENTRY[name].values()), result
