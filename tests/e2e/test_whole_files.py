# SPDX-License-Identifier: Apache-2.0
"""What goes out is whole: each file of -S is valid by itself, and each record says its function, however many are probed."""
import json
import re
import subprocess

import pytest

from support import paths
from support.paths import victim

MEGABYTE = 1 << 20
LIMITS = ["-D", "MAXACTION=10000000", "-D", "RINGBYTES=16777216"]


def parts(tmp_path):
    """The files of -o out -S, in order."""
    found = sorted(tmp_path.glob("out.*"), key=lambda path: int(path.suffix[1:]))
    assert [int(path.suffix[1:]) for path in found] == list(range(len(found)))
    return found


def in_turns(djtap, plugin, tmp_path, prints):
    """Files of a megabyte at most with so many prints of a hundred digits."""
    script = f'probe begin {{ for (i = 0; i < {prints}; i++) printf("%0100d", i); exit() }}'
    result = djtap(*LIMITS, "-f", f"plugin:{plugin}", "-o", tmp_path / "out", "-S", "1", "-e", script)
    assert result.returncode == 0 and result.stderr == "", result
    files = parts(tmp_path)
    assert len(files) > 1 and all(path.stat().st_size <= MEGABYTE for path in files)
    return files


def test_each_file_of_a_trace_is_an_array(djtap_once, tmp_path):
    events = [json.loads(path.read_text()) for path in in_turns(djtap_once, "chrome", tmp_path, 20000)]
    assert all(events)
    assert [int(event["args"]["text"]) for part in events for event in part if "text" in event["args"]] == list(range(20000))


def test_each_file_of_json_has_whole_lines(djtap_once, tmp_path):
    files = in_turns(djtap_once, "json", tmp_path, 20000)
    objects = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    assert [int(item["text"]) for item in objects if "text" in item] == list(range(20000))


@pytest.mark.parametrize("prints", [0, 1, 2])
def test_a_small_trace(djtap_once, tmp_path, prints):
    """In one file, and on stdout; without an event it is an empty array."""
    script = f'probe begin {{ for (i = 0; i < {prints}; i++) println(i); exit() }}'
    for words in ([], ["-o", tmp_path / "out"], ["-o", tmp_path / "out", "-S", "1"]):
        result = djtap_once("-f", "plugin:chrome", *words, "-e", script)
        written = result.stdout if not words else (tmp_path / ("out.0" if "-S" in words else "out")).read_text()
        assert [event["args"] for event in json.loads(written)] == [{"text": str(i)} for i in range(prints)], result


def test_a_script_that_switches_the_file(djtap_once, tmp_path):
    script = 'probe begin { println(1); println(2); switch_file(); switch_file(); println(3); exit() }'
    result = djtap_once("-f", "plugin:chrome", "-o", tmp_path / "out", "-e", script)
    found = [[event["args"]["text"] for event in json.loads(path.read_text())] for path in (tmp_path / "out", tmp_path / "out.1", tmp_path / "out.2")]
    assert found == [["1", "2"], [], ["3"]], result


def test_a_report_stands_behind_the_trace(djtap_once, tmp_path):
    (tmp_path / "report.lua").write_text('dj.on_end(function(g) print("n is " .. g.n) end)')
    result = djtap_once("-f", "plugin:chrome", "--report", tmp_path / "report.lua", "-e", "global n = 7 probe begin { println(n) exit() }")
    trace, _, report = result.stdout.partition("\n]\n")
    assert json.loads(trace + "]")[0]["args"] == {"text": "7"} and report == "n is 7\n", result


def test_a_list_of_ones_own(djtap_once, tmp_path):
    """A line is an item, however it is written."""
    (tmp_path / "own.lua").write_text("""dj.enclose("<list>", ";", "</list>")
        dj.on_record(function(r) dj.write(r.text) if r.text == "b" then dj.write("\\n") end end)
        dj.on_end(function(g) dj.write("\\nend") end)""")
    result = djtap_once("-f", f"plugin:{tmp_path / 'own.lua'}", "-e", 'probe begin { print("a") print("b") print("c") exit() }')
    assert result.stdout == "<list>\nab;\nc;\nend\n</list>\n", result


def test_an_enclosure_needs_three_texts(djtap_once, tmp_path):
    (tmp_path / "own.lua").write_text('dj.enclose("[", ",")')
    result = djtap_once("-f", f"plugin:{tmp_path / 'own.lua'}", "-e", "probe begin { exit() }")
    assert "own.lua:1" in result.stderr and "string expected" in result.stderr, result


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A program of 1,500 functions of C++, each called once."""
    folder = tmp_path_factory.mktemp("many")
    source = folder / "many.cpp"
    functions = "".join(f"[[gnu::noipa]] int f{i}(int x) {{ return x + {i}; }}\n" for i in range(1500))
    calls = "".join(f"  sum += names::f{i}(sum);\n" for i in range(1500))
    source.write_text(f"namespace names {{\n{functions}}}\nint main() {{\n  int sum = 0;\n{calls}  return sum & 0;\n}}\n")
    subprocess.run(["g++", "-O1", "-o", folder / "many", source], check=True)
    return folder / "many"


@pytest.mark.parametrize("plugin, key", [("json", "probe"), ("chrome", "name")])
def test_records_of_a_large_wildcard_name_their_functions(djtap, many, tmp_path, plugin, key):
    """Of more than a thousand places as of few, in a plan that was kept, too."""
    for _ in range(2):
        script = 'probe func("*many!names::*") { println() } probe end { println("end") }'
        result = djtap("-f", f"plugin:{plugin}", "-o", tmp_path / "out", "-e", script, "-c", many)
        text = (tmp_path / "out").read_text()
        records = json.loads(text) if plugin == "chrome" else [json.loads(line) for line in text.splitlines()]
        names = [record[key] for record in records if record.get("kind", record.get("ph")) in ("entry", "B")]
        assert names == [f"names::f{i}" for i in range(1500)], result


def test_records_of_every_function(djtap_once, tmp_path):
    """python3's: each is one that readelf lists, or stands at an address without a name."""
    script = f'global n probe func("{paths.PYTHON}!*") {{ if (n++ % 1000 == 0) println() }}'
    result = djtap_once(*LIMITS, "-f", "plugin:json", "-o", tmp_path / "out", "-e", script, "-c", f"{paths.PYTHON} -c pass")
    names = {json.loads(line)["probe"] for line in (tmp_path / "out").read_text().splitlines() if '"kind"' in line}
    table = subprocess.run(["readelf", "-sW", "--dyn-syms", paths.PYTHON], capture_output=True, text=True, check=True).stdout
    known = set(re.findall(r"FUNC.* ([\w.]+)(?:@\S+)?$", table, re.M))
    assert len(names) > 5 and all(name in known or re.fullmatch(r"0x[0-9a-f]+", name) for name in names), (names - known, result)


def test_the_victim_of_a_shown_trace(djtap, tmp_path):
    """As README shows it: entries and returns pair up within each thread."""
    result = djtap("-f", "plugin:chrome", "-o", tmp_path / "out", "-e", 'probe func("work"), func("work").return { println() }', "-c", f"{victim('count')} 20")
    open_calls = {}
    for event in json.loads((tmp_path / "out").read_text()):
        depth = open_calls.get(event["tid"], 0) + (1 if event["ph"] == "B" else -1)
        assert depth in (0, 1) and event["name"] == "work", result
        open_calls[event["tid"]] = depth
    assert len(open_calls) == 4 and set(open_calls.values()) == {0}


# --- flame graphs

STACKS = ["ubacktrace()", "sprint_usyms(ubacktrace())", "sprint_ubacktrace()"]


def folded(result):
    """[(frames, outermost first, number)] of a flame plugin's lines."""
    lines = [re.match(r"(\S.*) (\d+)$", line) for line in result.stdout.splitlines() if not re.match(r"[\w ]+: \d+$", line)]
    return [(line[1].split(";"), int(line[2])) for line in lines]


@pytest.mark.parametrize("stack", STACKS)
def test_frames_of_templates_are_whole(djtap_once, tmp_path, stack):
    """Demangled, with their arguments' blanks and operators; the program counts its calls: one for each depth."""
    source = tmp_path / "deep.cpp"
    source.write_text("""#include <map>
        #include <string>
        namespace very { template <class T> struct Deep {
          [[gnu::noipa]] int operator()(int n, const std::map<std::string, T>& m) const { return n == 0 ? 1 : (*this)(n - 1, m) + 1; }
          [[gnu::noipa]] bool operator+(int n) const { return operator()(n, {}) > 0; } }; }
        int main() { return !(very::Deep<std::string>() + 9); }""")
    subprocess.run(["g++", "-O1", "-o", tmp_path / "deep", source], check=True)
    result = djtap_once("-f", "plugin:flame", "-e", f'probe func("very::Deep*operator()*") {{ n[{stack}]++ }}', "-c", tmp_path / "deep")
    own = [[frame for frame in frames if frame.startswith("very::")] for frames, _ in folded(result)]
    assert sorted(len(frames) for frames in own) == list(range(2, 12)), result
    for frames in own:
        assert frames[0].endswith("::operator+") and frames[0].startswith("very::Deep<std::") and frames[0].count("<") == frames[0].count(">")
        assert all(frame.endswith("::operator()") for frame in frames[1:]), result
    assert {"main"} <= set.intersection(*(set(frames) for frames, _ in folded(result)))


@pytest.mark.parametrize("stack", STACKS)
def test_frames_without_names(djtap_once, tmp_path, stack):
    """Of a stripped program: its object's name, whatever is called from where."""
    source = tmp_path / "bare.c"
    source.write_text("""#include <stdlib.h>
        static __attribute__((noipa)) void* inner(size_t n) { void* got = malloc(n); if (!got) abort(); return got; }
        static __attribute__((noipa)) void outer(size_t n) { free(inner(n)); free(inner(n + 1)); }
        int main(void) { outer(777); return 0; }""")
    subprocess.run(["gcc", "-O1", "-s", "-o", tmp_path / "bare", source], check=True)
    script = f'probe func("libc.so.6!malloc") {{ if ($bytes == 777 || $bytes == 778) n[{stack}]++ }}'
    result = djtap_once("-f", "plugin:flame", "-e", script, "-c", tmp_path / "bare")
    found = folded(result)
    assert len(found) == 1 and found[0][1] == 2 and found[0][0][-4:] == ["[bare]", "[bare]", "[bare]", "malloc"], result


def test_names_of_a_stack_in_lua(djtap_once, tmp_path):
    """Of stacks only, and not before the end."""
    (tmp_path / "report.lua").write_text("""dj.on_end(function(g)
        for _, row in ipairs(dj.rows("n")) do print(table.concat(dj.stack_names(row[1]), " ")) end
        print(dj.stack_names("main"), dj.stack_names(""), dj.stack_names("0x"), dj.stack_names("0x1 2"), dj.stack_names("0x1")[1])
    end)""")
    result = djtap_once("--report", tmp_path / "report.lua", "-e", 'probe func("vfs_read") { n[ubacktrace()]++ }', "-c", paths.TINYFS)
    lines = result.stdout.splitlines()
    assert re.match(r"vfs_read \w+ worker start_thread clone3$", lines[-2]) and lines[-1] == "nil\tnil\tnil\tnil\t0x1", result
    (tmp_path / "early.lua").write_text('dj.stack_names("0x1")')
    result = djtap_once("--report", tmp_path / "early.lua", "-e", "probe begin { exit() }")
    assert "there are no stacks before dj.on_end" in result.stderr, result


def test_without_stacks_there_are_no_names(djtap_once, tmp_path):
    (tmp_path / "report.lua").write_text('dj.on_end(function(g) print(dj.stack_names("0x1234")) end)')
    assert djtap_once("--report", tmp_path / "report.lua", "-e", "probe begin { exit() }").stdout == "nil\n"
