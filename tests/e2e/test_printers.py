# SPDX-License-Identifier: Apache-2.0
"""Printers of types in Lua tapsets: containers of the C++ library, a tagged struct of the program, and mistakes in printers."""
import re
import subprocess

import pytest

from support.paths import victim

CONTAINERS = {
    "$bag->numbers$": "{size=3, [1, -2, 3]}", "$bag->none$": "{size=0, []}", "$bag->words$": '{size=2, ["one", "two words"]}',
    "$bag->points$": "{size=2, [{...}, {...}]}", "$bag->points$$": "{size=2, [{.x=1, .y=2}, {.x=3, .y=4}]}", "$bag->bits$": "{size=70}",
    "$bag->shared$$": "{uses=2, {.x=5, .y=6}}", "$bag->empty$": "nullptr", "$bag->some$": "42", "$bag->nothing$": "nullopt",
    "$bag->pair$": '{7, "seven"}', "$bag->map$": "{size=2, [{1, 1}, {2, 2}]}",
    "$bag->set$": '{size=4, ["a", ..., "d"]}', "$bag->list$": "{size=5, [1, 2, 3, 4, 5]}",
    "$many$": "{size=20, [0, 1, 2, 3, 4, 5, 6, 7, ...]}",
}

MORE = {
    "unique$": "{...}", "unique$$": "{.x=5, .y=6}", "none$": "nullptr", "text$": '"owned"', "weak$$": "{uses=1, {.x=7, .y=8}}",
    "deque$": "{size=274, [126, 127, 128, 129, 130, 131, 132, 133, ...]}", "empty$": "{size=0, []}",
    "large$": "{size=3, [{...}, {...}, {...}]}", "tuple$$": '{1, "two", {.x=3, .y=4}}', "nothing$": "{}",
    "whole$": "{0: 5}", "word$": '{1: "word"}', "place$$": "{2: {.x=1, .y=2}}", "plain$": "{1: 1.5}",
    "one$": '{size=1, [{"a", 1}]}', "three$": '{size=3, [{"a", 1}, {"b", 2}, {"c", 3}]}', "many$": '{size=20, [{"key10", 0}, ..., {"key29", 19}]}',
    "set$": "{size=2, [1, 3]}", "hashed$": '{size=1, [{"only", 1}]}', "numbers$": "{size=1, [77]}", "list$": '{size=2, ["first", "second"]}',
    "nine$": "{size=9, [1, 2, 3, 4, 5, 6, 7, 8, ...]}", "forward$": "[1, 2, 3]", "array$": "[1, 2, 3]", "optional$": '"there"', "atomic$": "9",
    "atomic_pointer$": "0x0", "view$": '"looked"',
}

TAGGED = """dj.printer("Tagged", function(t)
  local function is(kind) return dj.equal(t.kind, kind) end
  return {"<", dj.when(is(0), {dj.text(t.text, t.length)}), dj.when(is(1), {t.number}), dj.when(is(2), {t.point[0]}),
          dj.when(is(3), {"last of ", dj.hex(dj.bytes(t)), " bytes"}, {" -> ", t.next}), ">"}
end)"""

ENDLESS = ": an endless loop?"  # behind the limit that was met first


@pytest.fixture
def says(djtap_once, tmp_path):
    """says(expressions, lua, point) gives what they print at the first hit."""
    def call(expressions, lua=None, point='func("show")', fails=False):
        if lua is not None:
            (tmp_path / "mine.lua").write_text(lua)
        body = " ".join(f"println({each})" for each in expressions)
        told = tmp_path / "told"  # apart from what the program prints
        told.write_text("")
        result = djtap_once("-I", str(tmp_path), "-e", f'probe {point} {{ println("<<") {body} println(">>") }}', "-o", told, "-c", victim("containers"))
        match = re.search(r"^<<\n(.*)^>>$", told.read_text(), re.M | re.S)
        if fails:
            return result
        assert result.returncode == 0 and result.stderr == "" and match, result
        return match.group(1).split("\n")[:-1]
    return call


def test_containers_of_the_library(says):
    assert dict(zip(CONTAINERS, says(CONTAINERS))) == CONTAINERS


def test_more_containers(says):
    assert dict(zip(MORE, says([f"$more->{name}" for name in MORE], point='func("show_more")'))) == MORE


def test_hashed_elements_in_any_order(says):
    text = says(["$bag->hashed$"])[0]
    assert sorted(re.findall(r"\{(\d), \1\}", text)) == ["1", "2", "3"] and text.startswith("{size=3, [{"), text


def test_in_an_object_that_is_opened_later(djtap_once, tmp_path):
    library = tmp_path / "libbag.so"
    source = """#include <vector>
    struct Bag { std::vector<int> numbers; }; static Bag bag;
    extern "C" __attribute__((noipa)) long count(Bag* b) { return b->numbers.size(); }
    extern "C" long lib_work(long n) { bag.numbers = {1, int(n)}; return count(&bag) + n - 1; }"""
    subprocess.run(["g++", "-g", "-O1", "-shared", "-fPIC", "-x", "c++", "-", "-o", library], input=source, text=True, check=True)
    result = djtap_once("-e", 'probe func("count")? { println($b$) }', "--", victim("plugin"), library, stdin="open\ncall 3\nquit\n")
    assert "{.numbers={size=2, [1, 2]}}\n" in result.stdout, result


def test_a_printer_chooses_by_the_value_and_follows_pointers(says):
    assert says(["$tagged$"], TAGGED) == ['<"abc" -> <-11 -> <{...} -> <last of 0x18 bytes>>>>']
    assert says(["$tagged$$"], TAGGED) == ['<"abc" -> <-11 -> <{.x=8, .y=9} -> <last of 0x18 bytes>>>>']
    assert says(["$tagged->next$"], TAGGED) == ["<-11 -> <{...} -> <last of 0x18 bytes>>>"]


def test_values_at_the_return_are_those_of_the_entry(says):
    assert says(["$many$"], point='func("show").return')[0].startswith("{size=20, [0, 1"), "what fits into the entry values"


def test_arithmetic_and_texts_without_a_length(says):
    lua = """dj.printer("Tagged", function(t)
      return {dj.number((t.length * 7 + 1) % 4), " ", dj.number((t.length << 4 | 1) - 2 ~ 5), " ", dj.number((t.length & 2) >> 1), " ",
              dj.when(dj.less(t.length, 4), {dj.text(t.text)}, {"long"}), " ", dj.when(dj.equal(dj.address(t) - t, 0), {"same"}, {"other"})}
    end)"""
    assert says(["$tagged$"], lua.replace("dj.address(t) - t", "dj.address(t) - dj.address(t.kind)")) == [f'{22 % 4} {(3 << 4 | 1) - 2 ^ 5} 1 "abcdef" same']


def test_a_printer_that_does_not_fit_is_passed_over(says):
    lua = 'dj.printer("Tagged", function(t) return {"old ", t.no_such_member} end) dj.printer("Tag*", function(t) return {"new ", t.kind} end)'
    assert says(["$tagged$"], lua) == ["new 0"]
    assert says(["$tagged->point$"], 'dj.printer("Point", function(p) return {p.z} end)')[0].startswith("{.x="), "as without one"


def test_an_endless_chain_ends(says):
    text = says(["$tagged$"], 'dj.printer("Tagged", function(t) return {"(", t.kind, t.next, ")"} end)')[0]
    assert text.startswith("(0(1(2(3") and len(text) < 500, text


def test_no_texts_no_printers(djtap_once, tmp_path):
    (tmp_path / "mine.lua").write_text("error('was run') -- dj.printer(")
    result = djtap_once("-I", str(tmp_path), "-e", 'probe func("show") { println($tagged->kind) }', "-c", victim("containers"))
    assert result.stderr == "" and result.returncode == 0, result


@pytest.mark.parametrize("lua, words", [
    ("dj.printer('T', function(t)\n  return {t.a / t.b}\nend)", "only a number or dj.bytes() may divide"),
    ("dj.printer('T', function(t)\n  return t.a\nend)", "a printer gives a list of pieces"),
    ("dj.printer('T', function(t)\n  return {true}\nend)", "piece 1 is neither a text nor a value"),
    ("dj.printer('T', function(t)\n  return {{}}\nend)", "a piece is a text, a value, or made by a function of dj"),
    ("dj.printer('T', function(t)\n  while true do t = t.next end\nend)", "too many steps in printers"),
    ("dj.printer('T', function(t)\n  while true do end\nend)", ENDLESS),
    ("dj.printer('T', function(t)\n  return {dj.each(t.a, t.b, 65)}\nend)", "bad argument #3 to 'each' (1 to 64)"),
])
def test_mistakes_in_printers_name_the_line(says, lua, words):
    result = says(["$tagged$"], lua, fails=True)
    said = re.search(r"^error\[DJ510\d\]: (.*)$", result.stderr, re.M)[1]
    assert said == words or words == ENDLESS and said.endswith(words), result
    assert re.search(r"mine\.lua:[123]:", result.stderr) and result.returncode in (2, 3), result
    assert "shown" not in result.stdout, result


def python_with_debug_info():
    """A Python whose library or executable says its types; None: there is none here."""
    for name in ("python3", "python3-dbg", "/usr/bin/python3"):
        try:
            text = subprocess.run([name, "-c", "import sys; print(sys.executable); print(open('/proc/self/maps').read())"],
                                  capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            continue
        program, *maps = text.splitlines()
        for path in {line.split()[-1] for line in maps if "python3." in line and line.endswith((".0", program))}:
            sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=False).stdout
            if ".debug_info" in sections:
                return program
    return None


def test_objects_of_python(djtap_once):
    program = python_with_debug_info()
    if program is None:
        pytest.skip("no Python with debug info is installed")
    values = ["123456789", "-987654", "1 << 40", "'a text of mine'", "b'some bytes'", "[1]", "'\\u00e9\\u4e00'"]
    result = djtap_once("-e", 'probe func("PyObject_Str") { println("SAID ", $v$) }', "--", program, "-I", "-S", "-c",
                        "import json; " + "; ".join(f"print(str({value}))" for value in values) + "; str(json)")
    said = re.findall("^SAID (.*)$", result.stdout, re.M)
    for text in ("123456789", "-987654", "<int of more than 30 bits>", '"a text of mine"', 'b"some bytes"', '<object of "list">',
                 "<str of 2 characters>", '<object of "module">'):
        assert text in said, (text, said)
