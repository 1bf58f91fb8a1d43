# SPDX-License-Identifier: Apache-2.0
"""Names of functions: what gdb takes for one, and that every name djtap lists finds what it was listed for."""
import shutil
import subprocess

import pytest

from support import paths
from support.listed import check_listed

COMPILERS = {"g++": ["g++", "-O1"], "g++ DWARF 4": ["g++", "-O0", "-gdwarf-4"], "clang": ["clang++-19", "-O0"],
             "clang DWARF 4": ["clang++-19", "-O1", "-gdwarf-4"]}


def built(words, source, folder):
    """The program that these words make of a source of tests/targets; skips without the compiler."""
    program = folder / source.split(".")[0]
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]} here")
    subprocess.run([*words, paths.TARGETS / source, "-o", program], cwd=folder, check=True, capture_output=True)
    return program


@pytest.fixture(scope="module", params=COMPILERS)
def cxx(request, tmp_path_factory):
    return built([*COMPILERS[request.param], "-g", "-w", "-std=c++20"], "named.cpp", tmp_path_factory.mktemp("named"))


# What stands for one function among others of its kind, and the number by which the program counts it.
ONE = {"kinds::A::get()": 0, "A::get()": 0, "kinds::A::get() const": 1, "kinds::A::get(int) &&": 2, "kinds::A::operator int": 3,
       "kinds::A::operator const char*() const": 4, "kinds::A::operator char const*": 4, "kinds::A::operator*(int)": 5, "kinds::A::operator[]": 6,
       "kinds::A::make(std::string const&)": 7, "kinds::A::make(const std::string &)": 7,
       "kinds::A::make(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > const&)": 7,
       "kinds::v2::fresh": 8, "kinds::fresh": 8, "kinds::fresh(int)": 8, "kinds::v2::v3::fresher": 9, "kinds::fresher": 9,
       "kinds::v3::fresher(int)": 9,
       "kinds::(anonymous namespace)::hidden(char*)": 10, "kinds::hidden(char *)": 10, "::total(int)": 11,
       "total(unsigned long, const char *const *)": 12, "total(long unsigned int, char const* const*)": 12, "变量": 13, "变量(int)": 13,
       "main::{lambda(int)#1}::operator()": 14, "main()::{lambda(int)#1}::operator()(int) const": 14, "main::{lambda(int)#2}::operator()": 15}


def test_a_name_means_one_function_as_in_gdb(djtap_once, cxx):
    """Overloads, qualifiers, spellings of types, namespaces that the source leaves out, lambdas of both compilers."""
    script = " ".join(f'probe process.function("{name}") {{ n[{number}]++ }}' for number, name in enumerate(ONE))
    result = djtap_once("-e", script, "-c", cxx)
    counted = {list(ONE)[int(key)]: int(value) for key, value in result.array("n")}
    assert counted == {name: result.facts[f"calls {number}"] for name, number in ONE.items()}, result


def test_names_that_are_no_function(djtap_once, cxx):
    """An inline namespace may be left out, another one or a class may not."""
    for name in ("kinds::inner", "kinds::run(int)", "old::v2::fresh", "kinds::A::get(char)", "::kinds::A", "::fresh",
                 "main::{lambda(char)#1}::operator()"):
        result = djtap_once("-e", f'probe process.function("{name}") {{ }}', "-c", cxx)
        assert result.returncode == 3 and "DJ3004" in result.stderr, (name, result)


def test_every_listed_name_is_found_again(djtap_once, cxx):
    groups = check_listed(djtap_once, cxx)
    several = {point.split('"')[1] for point, lines in groups.items() if len(lines) > 1}
    assert all("::A::A(" in name or "::~A" in name for name in several), several


@pytest.fixture(scope="module", params=["legacy", "v0"])
def rust(request, tmp_path_factory):
    mangling = ["-C", "symbol-mangling-version=v0"] if request.param == "v0" else []
    return built(["rustc", "-A", "warnings", "-g", "--crate-name", "r", *mangling], "named.rs", tmp_path_factory.mktemp(request.param))


# As gdb has them: by what debug information calls them.
RUST = {"r::biggest<i32>": 1, "biggest::<f64>": 1, "r::biggest": 3, "r::shapes::Point<f32>::length": 1, "shapes::Point<i32>::length<i32>": 1,
        "Point::length": 2,
        "r::übung": 1, "r::shapes::Point<i32>::only": 1, "r::main::{closure#0}": 1}


def test_instances_of_generic_functions_of_rust(djtap_once, rust):
    names = [name for name in RUST if "length<" not in name or rust.parent.name.startswith("legacy")]
    script = " ".join(f'probe process.function("{name}") {{ n["{name}"]++ }}' for name in names)
    result = djtap_once("-e", script, "-c", rust)
    assert {key.strip('"'): int(value) for key, value in result.array("n")} == {name: RUST[name] for name in names}, result


def test_every_listed_name_of_rust_is_found_again(djtap_once, rust):
    check_listed(djtap_once, rust, "*@named.rs")


@pytest.fixture(scope="module")
def dlang(tmp_path_factory):
    return built(["gdc", "-g", "-O0", "-frelease"], "named.d", tmp_path_factory.mktemp("d"))


D = {"shop.goods.join": 1, "goods.join": 1, "join": 1, "shop.goods.join(string, const(char)[], int[])": 1, "shop.goods.Item.total": 1,
     "shop.goods.Bird.this": 1,
     "shop.goods.biggest": 2, "shop.goods.biggest!(int)": 1, "shop.goods.biggest!(int).biggest(int[])": 1,
     "shop.goods.scale": 3, "shop.goods.scale(int)": 1,
     "shop.goods.Bird.walk": 2, "shop.goods.*.walk": 2, "_D4shop5goods5scaleFiZi": 1}


def test_names_of_d(djtap_once, dlang):
    script = " ".join(f'probe process.function("{name}") {{ n["{name}"]++ }}' for name in D)
    result = djtap_once("-e", script, "-c", dlang)
    assert {key.strip('"'): int(value) for key, value in result.array("n")} == D, result


# Slices and strings as the program has them, at the one call or the first; what a class inherits is a member of it.
D_VALUES = {"join": {"$a$": '"hello"', "$b$": '"wo"', "$v$": "{size=3, [1, 2, 3]}", "$v->length": "3"}, "biggest": {"$v$": "{size=3, [3, 9, 2]}"},
            "sell": {"$animal->name$": '"tit"', "$animal->legs": "2", "$two[1]->count": "7", "$two[0]$": "{.price=1.5, .count=2}"}}


@pytest.mark.parametrize("name", D_VALUES)
def test_values_of_d(djtap_once, dlang, name):
    body = " ".join(f'println("<", {each}, ">")' for each in D_VALUES[name])
    result = djtap_once("-e", f'global hits probe process.function("{name}") {{ if (hits++ == 0) {{ {body} }} }}', "-c", dlang)
    assert [line[1:-1] for line in result.stdout.splitlines() if line.startswith("<")] == list(D_VALUES[name].values()), result


def test_every_listed_name_of_d_is_found_again(djtap_once, dlang):
    check_listed(djtap_once, dlang)


def test_probefunc_is_the_name_of_the_source(djtap_once, dlang):
    result = djtap_once("-e", 'probe process.function("scale"), process.function("biggest"), process.function("walk") { n[ppfunc()]++ }', "-c", dlang)
    assert sorted(result.array("n")) == [('"shop.goods.Bird.walk"', "2"), ('"shop.goods.biggest"', "2"), ('"shop.goods.scale"', "3")], result


ADA = {"shop.ads": """package Shop is
   type Item is record
      Price : Integer;
      Count : Integer;
   end record;
   function Total (I : Item) return Integer;
   function Total (I : Item; Tax : Float) return Integer;
   procedure Show (Name : String; N : Integer);
   package Inner is
      function Deep (X : Integer) return Integer;
   end Inner;
   generic
      type T is private;
   package Boxes is
      function Id (X : T) return T;
   end Boxes;
   function "+" (A, B : Item) return Item;
end Shop;
""", "shop.adb": """with Ada.Text_IO; use Ada.Text_IO;
package body Shop is
   function Total (I : Item) return Integer is (I.Price * I.Count);
   function Total (I : Item; Tax : Float) return Integer is (Integer (Float (I.Price * I.Count) * Tax));
   procedure Show (Name : String; N : Integer) is
      procedure Line (S : String) is begin Put_Line (S & Integer'Image (N)); end Line;
   begin Line (Name); end Show;
   package body Inner is
      function Deep (X : Integer) return Integer is (X + 1);
   end Inner;
   package body Boxes is
      function Id (X : T) return T is begin return X; end Id;
   end Boxes;
   function "+" (A, B : Item) return Item is ((A.Price + B.Price, A.Count + B.Count));
end Shop;
""", "sale.adb": """with Shop; use Shop;
procedure Sale is
   package Ints is new Shop.Boxes (Integer);
   I : constant Item := (Price => 3, Count => 4);
   function Local (X : Integer) return Integer is (X * 2);
begin
   Show ("total", Total (I) + Total (I + I, 1.5) + Inner.Deep (1) + Ints.Id (5) + Local (3));
end Sale;
"""}
ADA_NAMES = {"shop.total": 2, "Shop.Total": 2, "total": 2, "shop.inner.deep": 1, "inner.deep": 1, "shop.show.line": 1, "sale": 1,
             "sale.ints.id": 1, "Sale.Local": 1, r'shop.\"+\"': 1, "shop__total__2": 1}


@pytest.fixture(scope="module")
def ada(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ada")
    if shutil.which("gnatmake") is None:
        pytest.skip("no gnatmake here")
    for name, text in ADA.items():
        (folder / name).write_text(text)
    subprocess.run(["gnatmake", "-q", "-g", "sale.adb"], cwd=folder, check=True, capture_output=True)
    return folder / "sale"


def test_names_of_ada(djtap_once, ada):
    """As gdb has them."""
    script = " ".join(f'probe process.function("{name}") {{ n[{number}]++ }}' for number, name in enumerate(ADA_NAMES))
    result = djtap_once("-e", script, "-c", ada)
    assert [int(value) for _, value in sorted(result.array("n"), key=lambda each: int(each[0]))] == list(ADA_NAMES.values()), result
    missing = djtap_once("-e", 'probe process.function("shop.totals") { }', "-c", ada)
    assert missing.returncode == 3 and "DJ3004" in missing.stderr, missing


def test_every_listed_name_of_ada_is_found_again(djtap_once, ada):
    check_listed(djtap_once, ada)


FORTRAN = """subroutine outside(a)
  integer :: a, b
  a = a + 1
  return
  entry another(b)
  b = b + 2
end subroutine
module stats
contains
  integer function twice(n)
    integer, value :: n
    twice = n * 2
  end function
end module
program main
  use stats
  integer :: q
  q = twice(1)
  call outside(q)
  call outside(q)
  call another(q)
  call inner(q)
contains
  subroutine inner(v)
    integer :: v
    print *, v
  end subroutine
end program
"""
FORTRAN_NAMES = {"outside": 2, "OUTSIDE": 2, "outside_": 2, "outs?de": 2, "another": 1, "stats::twice": 1, "Stats::Twice": 1,
                 "TWICE": 1, "inner": 1, "Inner": 1}


@pytest.fixture(scope="module")
def fortran(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fortran")
    if shutil.which("gfortran") is None:
        pytest.skip("no gfortran here")
    (folder / "names.f90").write_text(FORTRAN)
    subprocess.run(["gfortran", "-g", "names.f90", "-o", "names"], cwd=folder, check=True, capture_output=True)
    return folder / "names"


def test_names_of_fortran(djtap_once, fortran):
    """In any case, external procedures by their own names, as gdb has them."""
    script = " ".join(f'probe process.function("{name}") {{ n["{name}"]++ }}' for name in FORTRAN_NAMES)
    result = djtap_once("-e", script, "-c", fortran)
    assert {key.strip('"'): int(value) for key, value in result.array("n")} == FORTRAN_NAMES, result
    missing = djtap_once("-e", 'probe process.function("Main_") { }', "-c", fortran)
    assert missing.returncode == 3 and "DJ3004" in missing.stderr, missing


def test_every_listed_name_of_fortran_is_found_again(djtap_once, fortran):
    check_listed(djtap_once, fortran)


SPREAD = """#include <cstdio>
#define NOINLINE __attribute__((noinline))
struct Shelf {
  NOINLINE
  int
  count(int n) const
    noexcept
  {
    return n + 1;
  }
  template <class T> NOINLINE T taken(T n);
};
template <class T>
T Shelf::taken(T n)
{
  return n + n;
}
NOINLINE
static
int
first(int a,
      int b)
{
  return a * b;
}
int main(int argc, char**) { Shelf s; std::printf("%d %d %d\\n", s.count(argc), s.taken(argc), first(argc, 2)); }
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_functions_whose_line_has_no_code(djtap_once, tmp_path, compiler):
    """Where the brace has a line of its own, code may begin with that: the line that is listed means the function all the same."""
    words = COMPILERS[compiler]
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]} here")
    (tmp_path / "spread.cpp").write_text(SPREAD)
    subprocess.run([*words, "-g", "spread.cpp", "-o", "spread"], cwd=tmp_path, check=True)
    listed = djtap_once("-l", 'process.function("*")', "--", tmp_path / "spread").stdout.splitlines()
    points = [line for line in listed if "spread.cpp:" in line]
    assert len(points) == 4, listed
    script = " ".join(f'probe {point} {{ n{i}++ }} probe {point}.return {{ r{i}++ }}' for i, point in enumerate(points))
    result = djtap_once("-e", script, "-c", tmp_path / "spread")
    assert result.returncode == 0 and result.globals == {f"{kind}{i}": 1 for kind in "nr" for i in range(4)}, result
