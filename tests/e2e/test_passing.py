# SPDX-License-Identifier: Apache-2.0
"""Parameters behind parameters of unusual types, at functions' entries; members of virtual bases; variables of namespaces and classes."""
import pathlib
import re
import shutil
import subprocess

import pytest

from support import paths

SOURCE = paths.TARGETS / "passing.cpp"


def built(tmp_path_factory, compiler, source):
    words = compiler.split()
    if not shutil.which(words[0]):
        pytest.skip(f"there is no {words[0]}")
    path = tmp_path_factory.mktemp(source.stem) / source.stem
    subprocess.run([*words, "-g", "-w", "-o", path, source], check=True)
    return str(path)


@pytest.fixture(scope="module", params=["g++ -O0", "g++ -O2", "clang++-14 -O0", "clang++-19 -O0", "clang++-19 -O2"])
def program(request, tmp_path_factory):
    return built(tmp_path_factory, request.param, SOURCE)


HAS_AVX = " avx " in pathlib.Path("/proc/cpuinfo").read_text()


@pytest.fixture(scope="module", params=["g++ -O0", "g++ -O0 -mavx", "g++ -O2", "clang++-14 -O0", "clang++-14 -O1", "clang++-14 -O2 -gdwarf-4",
                                        "clang++-19 -O0", "clang++-19 -O0 -mavx", "clang++-19 -O2", "clang++-19 -O2 -mavx",
                                        "clang++-19 -O3 -fno-omit-frame-pointer"])
def late(request, tmp_path_factory):
    if "avx" in request.param and not HAS_AVX:
        pytest.skip("this processor has no AVX")
    return built(tmp_path_factory, request.param, paths.TARGETS / "late.cpp")


def test_the_parameters_behind_each_type(djtap_once, program):
    script = """probe process.function("takes_*") {
        seen[ppfunc(), sprintf("%d %d %g %d %d %d %d %d %d %c", $first, $number, $real, $s1, $s2, $s3, $s4, $s5, $s6, $last)] = 1 }"""
    result = djtap_once("-e", script, "-c", program)
    names = {f'"takes_{name.split(")")[0].split(",")[0]}"' for name in SOURCE.read_text().split("TAKES(takes_")[1:]}
    assert len(names) == 18 and {key for key, _ in result.array("seen")} == {f'{name},"1 -2 2.5 11 12 13 14 15 16 z"' for name in names}, result


def test_members_of_virtual_bases(djtap_once, program):
    script = """probe process.function("bases") {
        printf("members %d %d %d %d %d %d\\n%s\\n", $both->b, $both->left, $both->right, $both->both, $left->b, $right->b, $$parms$) }"""
    result = djtap_once("-e", script, "-c", program)
    b, left, right, both = (result.facts[name] for name in ("b", "left", "right", "both"))
    assert f"members {b} {left} {right} {both} {b} {b}\n" in result.stdout, result
    assert f"left={{.b={b}, .left={left}}} right={{.b={b}, .right={right}}}" in result.stdout, result


def test_a_bit_field_alone_in_a_register(djtap_once, program):
    result = djtap_once("-e", 'probe process.function("takes_bits") { printf("bits %d %d %d\\n", $odd->a, $odd->s, $odd->l) }', "-c", program)
    assert "bits 5 -3 78187493530\n" in result.stdout, result


def test_variables_by_their_qualified_names(djtap_once, program):
    wanted = {"tally::count": 61, "tally::hidden": 62, "tally::Made::count": 63, "Made::count": 63, "Made::count@passing.cpp": 63}
    reads = " ".join(f'println("{name} is ", @var("{name}"))' for name in wanted)
    result = djtap_once("-e", f'probe process.function("bases") {{ {reads} }}', "-c", program)
    assert all(f"{name} is {value}\n" in result.stdout for name, value in wanted.items()), result
    result = djtap_once("-e", 'probe process.function("bases") { println(@var("shapes::count")) }', "-c", program)
    assert 'error[DJ3011]: no variable "shapes::count" in any unit' in result.stderr, result


# Printed values of parameters, and the same as late.cpp's calls write them.
LATE = {
    "stack_params": ("$a $b $c $d $e $f $s1 $s2 $s3 $s4 $x1", "1 2 3 4 5 6 77 -78 -79 80 6.5"),
    "stack_doubles": ("$a $h $s1 $s2 $b $i $s3", "1.5 8.5 9.5 10.5 2.5 111 12.5"),
    "mixed": ("$dl->d $dl->l $ld->l $ld->d $ffl->l $ii->a $ii->b $last", "1.5 21 22 2.5 23 24 25 26"),
    "spilled": ("$a $e $dl->l $big->a $big->b $big->c $ld->l $ld->d $ii->a $ii->b $cc->c[9] $last", "1 5 21 91 92 93 22 2.5 24 25 106 26"),
    "uni": ("$u->d $n->in->i $n->d $b->a $b->s $e $s $cc->c[9] $ref->b $pu->l", "8.5 51 6.5 1 -9 5 7 106 72 44"),
    "returns_big": ("$a $d $ref->n $s1", "61 62.5 63 64"),
    "Base::method": ("$this->base $a $dl->l $b $c $d $e $s1", "41 81 82 83 84 85 86 87"),
    "Der::sret": ("$this->base $this->der $a $b $c $d $s1", "41 42 51 52 53 54 55"),
    "vectors": ("$v[0] $a $w[0] $d $b", "1 31 1.5 2.25 32"),
    "hvec": ("$a $d $sd $b", "33 2.75 3.75 34"),
}


def printing(point, name, reads):
    """A probe that prints "name <1 2 3>"."""
    values = ', " ", '.join(reads)
    return f'probe process.function("{point}") {{ println("{name} <", {values}, ">") }}'.replace('.return")', '").return')


def test_parameters_that_are_described_late(djtap_once, late):
    script = " ".join(printing(name, name, reads.split()) for name, (reads, _) in LATE.items())
    result = djtap_once("-e", script, "-c", late)
    wanted = {f"{name} <{text}>" for name, (_, text) in LATE.items() if HAS_AVX or name not in ("vectors", "hvec")}
    assert wanted <= set(result.stdout.splitlines()), result


RESULTS = {"big": "a b c", "dl": "d l", "ld": "l d", "ffl": "a b l", "nest": "in->f in->i d", "cc": "c[10]", "u": "l", "ii": "a b", "e": "",
           "bool": "", "float": ""}


def test_results_of_each_kind(djtap_once, late):
    script = " ".join(printing(f"returns_{name}.return", f"{name} is", [f"$return->{member}" for member in members.split()] or ["$return"])
                      for name, members in RESULTS.items())
    result = djtap_once("-e", script, "-c", late)
    truth = dict(re.findall(r"^(\w+) (<.*>)$", result.stdout, re.M))
    assert {name: truth[name] for name in RESULTS} == dict(re.findall(r"^(\w+) is (<.*>)$", result.stdout, re.M)), result


def test_a_result_that_the_compiler_has_taken_away(djtap_once, tmp_path_factory):
    """It knows all callers, and what they make of it; gdb declines, too."""
    program = built(tmp_path_factory, "clang++-19 -O2 -flto -fuse-ld=lld-19", paths.TARGETS / "late.cpp")
    result = djtap_once("-e", 'probe process.function("returns_big").return { println($return->a) }', "-c", program)
    assert "$return cannot be read: no caller uses the result, and the compiler may have taken it away" in result.stderr, result


RETURNING = ["gcc -O0", "gcc -O2", "gcc -O2 -mavx", "gcc -O2 -flto", "clang-14 -O0", "clang-14 -O2", "clang-19 -O0", "clang-19 -O2", "clang-19 -O2 -mavx"]


@pytest.mark.parametrize("compiler", RETURNING)
def test_results_of_many_types(djtap_once, tmp_path_factory, compiler):
    """One or two registers of either kind, the x87's, vectors of 4 to 64 bytes, structs of these: what the program says, or no value."""
    if "avx" in compiler and not HAS_AVX:
        pytest.skip("this processor has no AVX")
    program = built(tmp_path_factory, compiler, paths.TARGETS / "returned.c")
    alone = subprocess.run([program], capture_output=True, text=True, timeout=300, check=True).stdout
    truth = dict(re.findall(r"^truth (\w+) (.*)", alone, re.M))
    assert len(truth) >= 34
    probes = {name: f'probe func("returns_{name}").return {{ println("seen {name} ", $return$$) }}' for name in truth}
    if compiler == "clang-19 -O2 -mavx":
        refused = djtap_once("-e", probes.pop("long8"), "-c", program).stderr
        assert "error[DJ3015]: $return cannot be read: a vector of more than 32 bytes in such registers cannot be read" in refused
        del truth["long8"]
    result = djtap_once("-e", " ".join(probes.values()), "-c", program)
    seen = dict(re.findall(r"^seen (\w+) (.*)", result.stdout, re.M))
    assert seen == truth, result
