"""Parameters behind parameters of unusual types, at functions' entries; members of virtual bases; variables of namespaces and classes."""
import shutil
import subprocess

import pytest

from support import paths

SOURCE = paths.TARGETS / "passing.cpp"


@pytest.fixture(scope="module", params=["g++ -O0", "g++ -O2", "clang++-14 -O0", "clang++-19 -O0", "clang++-19 -O2"])
def program(request, tmp_path_factory):
    compiler = request.param.split()
    if not shutil.which(compiler[0]):
        pytest.skip(f"there is no {compiler[0]}")
    path = tmp_path_factory.mktemp("passing") / "passing"
    subprocess.run([*compiler, "-g", "-w", "-o", path, SOURCE], check=True)
    return str(path)


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
