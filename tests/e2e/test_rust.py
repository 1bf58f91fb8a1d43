# SPDX-License-Identifier: Apache-2.0
"""Programs in Rust: functions by the paths people write, enums with values, slices and strings; compared with what the source says."""
import re
import shutil
import subprocess

import pytest

from support import paths
from support.paths import line_of

SOURCE = paths.ROOT / "tests" / "targets" / "shapes.rs"


@pytest.fixture(scope="module", params=["default_0", "default_2", "v0_0", "v0_2"])
def program(request, tmp_path_factory):
    """With the mangling that rustc makes by default and its newer one, at two levels of optimization."""
    mangling, level = request.param.split("_")
    built = tmp_path_factory.mktemp("rust") / f"shapes_{request.param}"
    chosen = ["-C", "symbol-mangling-version=v0"] if mangling == "v0" else []
    words = ["rustc", "-g", "-C", f"opt-level={level}", *chosen, "--crate-name", "shop", SOURCE, "-o", built]
    if shutil.which("rustc") is None or subprocess.run(words, capture_output=True, check=False).returncode != 0:
        pytest.skip("there is no rustc that works")
    return built


def inside(program, name):
    """A place where the parameters are: unoptimized code has stored them, of others the entry knows them."""
    return f'process.function("{name}@shapes.rs:{line_of("shapes.rs", name)}")' if program.name.endswith("0") else f'process.function("{name}")'


@pytest.fixture
def says(djtap_once, program):
    def call(script):
        result = djtap_once("-e", script, "-c", program)
        assert result.returncode == 0 and "ERROR" not in result.stderr, result
        return result
    return call


NAMES = {"shop::shapes::area": 8, "shapes::area": 8, "area": 8, "ar?a": 8, "Point::length": 1, "shop::shapes::Point::length": 1, "length": 1, "shop::total": 1,
         "generic": 2, "shop::gen*": 2, "shop::shapes::Point::fmt": 1, "shop::main": 1}


def test_functions_by_their_paths(says):
    """Without the hash; an implementation of a trait is its type's."""
    script = " ".join(f'probe process.function("{name}") {{ n["{name}"]++ }}' for name in NAMES)
    counted = {name.strip('"'): int(count) for name, count in says(script).array("n")}
    assert counted == NAMES


def test_names_that_are_printed(says):
    result = says('probe process.function("area"), process.function("length") { n[probefunc()]++ }')
    assert sorted(result.array("n")) == [('"shop::shapes::Point::length"', "1"), ('"shop::shapes::area"', "8")], result


def test_a_misspelt_name(djtap_once, program):
    for wrong, right in {"lenght": "length", "Point::lenght": "Point::length", "sohp::shapes::area": "shop::shapes::area"}.items():
        result = djtap_once("-e", f'probe process.function("{wrong}") {{ }}', "-c", program)
        assert f'did you mean "{right}"' in result.stderr, result


def test_parameters_and_results(says):
    result = says('probe process.function("length") { printf("<%d %d %d %s>", $self->x, $self->y, $scale, $self$) } '
                  'probe process.function("length").return { printf("<%d>", $return) } '
                  'probe process.function("area").return { sum += $return } probe end { printf("<%d>", trunc(sum)) } global sum = 0.0')
    assert "<3 -4 10 {.x=3, .y=-4}>" in result.stdout and "<26>" in result.stdout, result
    assert f"<{result.facts['sum']}>" in result.stdout, result


def test_enums_show_the_variant_that_is_there(says, program):
    text = says(f'probe {inside(program, "area")} ' '{ println("<", $s$$, " ", $c$, " ", $maybe$$, ">") }').stdout
    shapes = re.findall(r"^<(.*)>$", text, re.M)
    assert [row.split(" ")[0] for row in shapes[:4]] == ["Empty", "Empty", "Circle{.__0=1.5}", "Circle{.__0=1.5}"], text
    assert shapes[4].startswith("Rect{.w=3, .h=4} Green Some{.__0=7}") and shapes[5].endswith(" Red None"), text
    assert shapes[6].startswith('Named{.__0="abc"}'), text


@pytest.mark.parametrize("level", [0, 3])
def test_a_result_that_stands_in_memory(djtap_once, tmp_path, level):
    built = tmp_path / "shapes"
    words = ["rustc", "-g", "-C", f"opt-level={level}", "--crate-name", "shop", SOURCE, "-o", built]
    if shutil.which("rustc") is None or subprocess.run(words, capture_output=True, check=False).returncode != 0:
        pytest.skip("there is no rustc that works")
    result = djtap_once("-e", 'probe process.function("checked").return { println("<", $return$, ">") }', "-c", built)
    assert re.findall(r"^<(.*)>$", result.stdout, re.M) == ["Ok{.__0=6}", 'Err{.__0="not -7"}'], result


def test_a_variants_members(says):
    """As the type says where they lie, whichever variant is there."""
    text = says('global n probe process.function("area") { if (n++ == 4) printf("<%d %d>", $s->Rect->w, $s->Rect->h) }').stdout
    assert "<3 4>" in text, text


def test_slices_strings_and_tuples(says, program):
    text = says(f'probe {inside(program, "total")} ' '{ println("<", $v$, $words$, ">") } global n '
                'probe process.function("area") { if (n++ < 2) println("<", $name$, ">") }').stdout
    assert '{size=2, ["a", "bc"]}>\n' in text, text
    if program.name.endswith("0"):  # optimized code does not pass what it does not need
        assert '<{size=3, [1, 2, 3]}{' in text and '<"four">\n<"five5">' in text, text


def test_a_value_of_no_bytes(says, program):
    if not program.name.endswith("0"):
        pytest.skip("optimized code has no such variable")
    text = says(f'probe {inside(program, "nothing")} ' '{ println("<", $unit$, $pair$, $unit, ">") }').stdout
    assert "<(){.__0=5, .__1=()}0>\n" in text, text


UNITS = """use std::hint::black_box;
#[derive(Clone, Copy)] pub struct Nothing;
#[inline(never)] pub fn between(first: i32, _: (), second: i64, _none: Nothing, _empty: [u64; 0], third: u8) -> i64 { first as i64 + second + third as i64 }
fn main() { println!("{}", between(black_box(1), (), black_box(-2), Nothing, [], black_box(3))) }
"""


@pytest.mark.parametrize("level", [0, 3])
def test_parameters_of_no_bytes_take_no_register(djtap_once, tmp_path, level):
    (tmp_path / "units.rs").write_text(UNITS)
    words = ["rustc", "-g", "-C", f"opt-level={level}", "units.rs", "-o", "units"]
    if shutil.which("rustc") is None or subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode != 0:
        pytest.skip("there is no rustc that works")
    result = djtap_once("-e", 'probe func("units::between") { println("<", $first, " ", $second, " ", $third, ">") }', "-c", tmp_path / "units")
    assert "<1 -2 3>" in result.stdout, result
