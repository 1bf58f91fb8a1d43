# SPDX-License-Identifier: Apache-2.0
"""Tapset files in Lua: they look into the target's files and write probes; against nm, readelf and the programs' own counts."""
import os
import re
import subprocess
import time

import pytest

from support import paths

# Lua: a function of the script that prints the list "said".
SAY = """ dj.define("function fam_say() { println(" .. dj.quote("SAID " .. table.concat(said, "|")) .. ") }")"""

ENDLESS = ": an endless loop?"  # behind the limit that was met first


def said_by(result):
    return tuple(re.search("^SAID (.*)$", result.stdout, re.M).group(1).split("|"))


@pytest.fixture
def traced(djtap_once, tmp_path):
    """traced(text, script, words...) runs a script with the tapset file fam.lua."""
    def call(text, script, *words):
        (tmp_path / "fam.lua").write_text(text)
        return djtap_once("-I", str(tmp_path), "-e", script, *(words or ("-c", str(paths.TINYFS))))
    return call


def sizes(program, prefix):
    """{"vfs_read": 335} by nm."""
    text = subprocess.run(["nm", "-S", str(program)], capture_output=True, text=True, check=True).stdout
    return {name: int(size, 16) for size, name in re.findall(rf"^\w+ (\w+) [tT] ({prefix}\w+)$", text, re.M)}


def test_probes_are_made_of_the_symbol_index(traced):
    result = traced("""for _, f in ipairs(dj.functions("vfs_*")) do
                         dj.alias("fam." .. f.name:sub(5), 'func("' .. f.name .. '")', "size = " .. f.size)
                       end""", "probe fam.* { seen[ppfunc(), size] = 1; if (ppfunc() == \"vfs_read\") reads++ }")
    truth = sizes(paths.TINYFS, "vfs_")
    assert {key: int(value) for key, value in re.findall(r'^seen\["(\w+)",(\d+)\]', result.stdout, re.M)} == truth, result
    assert result.globals["reads"] == result.facts["vfs_read calls"] and len(truth) > 3


def test_one_probe_of_a_family_and_its_suffix(traced):
    result = traced("""dj.alias("fam.read", {'func("vfs_read")', 'func("vfs_nothing")?'}, "what = 1")""",
                    "probe fam.read { n += what } probe fam.read.return { r++ }")
    assert result.globals["n"] == result.globals["r"] == result.facts["vfs_read calls"], result


def test_functions_of_the_script_language(traced):
    result = traced("""local names = {}
                       for i, path in ipairs(dj.modules()) do names[i] = 'if (n == ' .. i .. ') return "' .. path .. '"' end
                       dj.define("function fam_module(n) { " .. table.concat(names, " ") .. ' return "" }')""",
                    "probe begin { printf(\"SAID %s|%s|%s\\n\", fam_module(1), fam_module(2), fam_module(99)) }")
    first, second, none = said_by(result)
    assert first == str(paths.TINYFS) and second.startswith("/") and none == "", result


def test_layouts_of_types_are_those_of_the_compiler(traced, tmp_path):
    (tmp_path / "t.c").write_text("""#include <stdio.h>
        #include <stddef.h>
        struct in { char c; short s[5]; }; struct t { long a; struct { int x; union { struct in u[3]; long v; }; } b; struct in *p; unsigned f : 3; };
        struct t one; int main(int argc, char **argv) { struct in *q = one.p;
        printf("%zu %zu %zu %d\\n", offsetof(struct t, b.u[2].s[1]), offsetof(struct t, p), sizeof(struct in), q == 0); }""")
    subprocess.run(["gcc", "-g", "-O0", "-o", tmp_path / "t", tmp_path / "t.c"], check=True)
    asked = ['offset("t", "struct t", "b.u[2].s[1]")', 'offset("t", "struct t", "p")', 'size("t", "struct in")', 'offset("t", "struct t", "p.c")',
             'offset("t", "struct t", "zz")', 'offset("t", "struct nothing", "zz")', 'offset("t", "struct t", "f")', 'size("libm*", "int")',
             'offset("t", "struct t", "b.u[x]")']
    text = " ".join(f"local x, why = dj.{call} said[#said + 1] = x or why" for call in asked)
    result = traced("local said = {} " + text + SAY, "probe begin { fam_say() }", "-c", str(tmp_path / "t"))
    said = said_by(result)
    assert said[:3] == re.search(r"^(\d+) (\d+) (\d+) 1$", result.stdout, re.M).groups(), result
    for reason, words in zip(said[3:], ["a pointer leads there", "no member", "no type", "bit-field", "no debug info", "[number] is missing"]):
        assert words in reason, (reason, words)


def test_variables_and_marks(traced):
    program = paths.victim("marks")
    result = traced("""local said = {} for _, m in ipairs(dj.marks("marks")) do said[#said + 1] = m.provider .. ":" .. m.name .. "/" .. m.arguments end
                       for _, v in ipairs(dj.variables("marks!main")) do said[#said + 1] = v.type .. " " .. v.name .. (v.parameter and "!" or "") end
                       said[#said + 1] = select(2, dj.variables("marks!nobody")) """ + SAY, "probe begin { fam_say() }", "-c", program)
    said = said_by(result)
    marks = {word for word in said if "/" in word}
    notes = subprocess.run(["readelf", "-nW", program], capture_output=True, text=True, check=True).stdout
    truth = {f"{provider}:{name}/{len(arguments.split())}"
             for provider, name, arguments in re.findall(r"Provider: (\S+)\n\s+Name: (\S+)\n.*\n\s+Arguments: ?(.*)", notes)}
    assert marks == truth and truth, (said, notes)
    assert said[-1] == 'no function matches "marks!nobody"' and "long int[4] table" in said, said


def test_a_file_that_no_script_needs_is_not_run(traced):
    result = traced("error('was run')", 'probe func("vfs_read") { n++ }')
    assert result.globals["n"] == result.facts["vfs_read calls"] and result.stderr == "", result


def test_printing_a_script_needs_no_target(djtap_once, tmp_path):
    (tmp_path / "fam.lua").write_text('dj.alias("fam.go", "begin", "x = " .. #dj.modules())')
    result = djtap_once("-I", str(tmp_path), "-e", "probe fam.go { println(x) exit() }")
    assert result.stdout == "0\n" and result.returncode == 0, result


@pytest.mark.parametrize("text, code, line, words", [
    ("local x = = 1", "DJ5101", 1, "unexpected symbol near '='"),
    ("\nlocal f = dj.functions('vfs_*')[99].name", "DJ5102", 2, "attempt to index a nil value (field 'integer index')"),
    ("dj.alias('other.go', 'begin')", "DJ5102", 1, 'fam.lua gives probes fam.NAME, not "other.go"'),
    ("dj.alias('fam.go', {})", "DJ5102", 1, "bad argument #2 to 'alias' (a list of points is empty)"),
    ("dj.functions('a!b!c@')", "DJ5102", 1, "bad argument #1 to 'functions' (a source file is expected behind '@')"),
    ("io.open('/etc/passwd')", "DJ5102", 1, "attempt to index a nil value (global 'io')"),
    ("\nwhile true do end", "DJ5103", 2, ENDLESS),
    ("local t = {}\nfor i = 1, 1e9 do\n  t[i] = ('x'):rep(1e6) .. i\nend", "DJ5103", 3, "more than 256 MB of memory"),
])
def test_mistakes_name_the_line_and_nothing_runs(traced, text, code, line, words):
    result = traced(text, "probe fam.go { n++ }")
    said = re.search(rf"^error\[{code}\]: (.*)$", result.stderr, re.M)
    assert said and (said[1] == words or words == ENDLESS and said[1].startswith("more than ") and said[1].endswith(words)), result
    assert re.search(rf"^ *--> .*/fam\.lua:{line}:\d+$", result.stderr, re.M), result
    assert result.returncode in (2, 3) and "vfs_read calls" not in result.stdout, result


def test_what_lua_files_have_is_said(traced):
    result = traced("io.open('/etc/passwd')", "probe fam.go { n++ }")
    assert "help: Lua files have string, table, math, utf8 and dj; there are no files, processes or code to load\n" in result.stderr, result


def test_mistakes_in_what_it_wrote_show_it(traced):
    result = traced("dj.alias('fam.go', 'func(\"vfs_read\")', 'x = = 1')", "probe fam.go { n++ }")
    assert "what " in result.stderr and "fam.lua wrote:1:" in result.stderr and "{ x = = 1 }" in result.stderr, result
    assert result.returncode in (2, 3), result
    result = traced("", "probe fam.go { n++ }")
    assert 'error[DJ3001]: there is no probe point "fam"' in result.stderr, result


def test_a_target_that_cannot_be_had_is_said_once(traced):
    result = traced("dj.alias('fam.go', 'begin')", "probe fam.go { n++ }", "-c", "/no/where")
    assert result.returncode == 127 and result.stderr.count("/no/where") == 1, result


@pytest.mark.parametrize("zone, offset, name", [("CET-1CEST-2,0/0,365/23", -7200, "CEST"), ("EST+5", 18000, "EST"), ("UTC", 0, "UTC")])
def test_the_local_time_zone(djtap_once, zone, offset, name):
    script = 'probe begin { println(tz_gmtoff(), "|", tz_name(), "|", tz_ctime(1000000000)) exit() }'
    result = djtap_once("-e", script, env={**os.environ, "TZ": zone})
    truth = time.strftime("%a %b %e %H:%M:%S %Y", time.gmtime(1000000000 - offset))
    assert result.stdout == f"{offset}|{name}|{truth} {name}\n", result
