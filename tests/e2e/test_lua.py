# SPDX-License-Identifier: Apache-2.0
"""Lua in djtap: report files, output plugins, and the limits of both."""
import csv
import json
import re
import signal
import time

import pytest

from support import paths

COUNT = 'probe func("vfs_read") { n++ }'

ENDLESS = ": an endless loop?"  # behind the limit that was met first


@pytest.fixture
def lua(djtap_once, tmp_path):
    """lua(text, script) runs a report file on the small file system."""
    def call(text, script=COUNT, *options):
        file = tmp_path / "report.lua"
        file.write_text(text)
        return djtap_once("--report", str(file), *options, "-e", script, "-c", str(paths.TINYFS))
    return call


# --- report files

def test_a_report_gets_all_globals(lua):
    result = lua("""
        dj.on_end(function(g)
          print(table.concat(dj.names(), " "))
          print(g.n, g.who, g.by.tinyfs[1], g.s.count, g.s.sum, g.s.avg, g.per[1].count, g.none.count, g.none.min)
          for _, row in ipairs(dj.rows("by")) do print("row", row[1], row[2], row.value) end
          print(dj.is_array("by"), dj.is_array("n"))
        end)""", """global n, who, by, s, per, none
        probe func("vfs_read") { n++; who = execname(); by[who, 1]++; by["rare", 2] = 1; s <<< $count; per[1] <<< $count }
        probe end { if (0) none <<< 1; printf("%d %d\\n", n, @sum(s)) }""")
    calls = result.facts["vfs_read calls"]
    total = int(re.search(rf"^{calls} (\d+)$", result.stdout, re.M)[1])
    assert result.stdout.endswith(
        f"n who by s per none\n{calls}\ttinyfs\t{calls}\t{calls}\t{total}\t{total // calls}\t{calls}\t0\tnil\n"
        f"row\ttinyfs\t1\t{calls}\nrow\trare\t2\t1\ntrue\tfalse\n"), result


def test_a_report_gets_what_the_script_asks_of_aggregates(djtap_once, tmp_path):
    """Sums of samples are known here; the words are in rows of CPUs (s, l) and in elements of an array (by)."""
    file = tmp_path / "report.lua"
    file.write_text("""
        local function list(t)
          local keys, out = {}, {}
          for k in pairs(t) do keys[#keys + 1] = k end
          table.sort(keys)
          for i, k in ipairs(keys) do out[i] = k .. ":" .. t[k] end
          return table.concat(out, " ")
        end
        dj.on_end(function(g)
          print(list(g.s.hist_log), math.abs(g.s.p50 - 49) * 32 <= 49, g.s.variance, g.s.hist_linear, g.s.below)
          print(list(g.l.hist_linear), g.l.below, g.l.above, g.l.hist_log, g.l.p50)
          print(list(g.by.a.hist_log), list(g.by.b.hist_log), g.by.a.p99, g.by.b.p99)
          print(g.plain.avg, g.plain.hist_log, g.plain.variance, g.none.count, list(g.none.hist_log), g.none.p50)
        end)""")
    result = djtap_once("--report", str(file), "-e", """global s, l, by, plain, none
        probe begin { for (i = 0; i < 100; i++) { s <<< i; l <<< i } for (i = -4; i <= 4; i++) by["a"] <<< i
          by["b"] <<< 7000; plain <<< 5; exit() }
        probe never { none <<< 1 }
        probe end { if (0) { print(@hist_log(s)); print(@hist_linear(l, 10, 60, 25)); print(@hist_log(by["a"])); print(@hist_log(none))
          println(@p90(s), @variance(s), @p99(by["a"]), @p50(none)) } }""")
    variance = sum((i - 49.5) ** 2 for i in range(100)) / 99
    assert result.stdout.splitlines() == [
        f"0:1 1:1 2:2 4:4 8:8 16:16 32:32 64:36\ttrue\t{int(variance)}\tnil\tnil",
        "10:25 35:25 60:25\t10\t15\tnil\tnil",
        "-4:1 -2:2 -1:1 0:1 1:1 2:2 4:1\t4096:1\t4\t7000",
        "5\tnil\tnil\t0\t\tnil"], result


def test_a_report_stands_for_the_printed_globals(lua):
    assert "n=" not in lua('dj.on_end(function(g) dj.write("seen ") dj.write(g.n .. "\\n") end)').stdout
    assert "n=" in lua("local unused = 1").stdout, "nobody shows them"


def test_what_is_printed_outside_of_functions_is_written(lua):
    assert re.search(r"^head\n(.*\n)*n=", lua('print("head")').stdout, re.M)
    assert "head\nbody\n" in lua('print("head") dj.on_end(function() print("body") end)').stdout


@pytest.mark.parametrize("text, code, line, words", [
    ("dj.on_end(function(g)\n  local x = = 1\nend)", "DJ5101", 2, "unexpected symbol near '='"),
    ("local function inner(g)\n  return g.n.x.y\nend\ndj.on_end(function(g)\n  inner(g)\nend)", "DJ5102", 2, "attempt to index a number value (field 'n')"),
    ("dj.on_end(function(g)\n  error('no rows')\nend)", "DJ5102", 2, "no rows"),
    ("dj.on_end(function(g)\n  dj.rows('m')\nend)", "DJ5102", 2, 'the script has no global named "m"'),
    ("dj.on_end(function(g)\n  dj.rows('n')\nend)", "DJ5102", 2, "n is no array"),
    ("dj.rows('n')", "DJ5102", 1, 'there are no globals before dj.on_end: "n"'),
    ("\nwhile true do end", "DJ5103", 2, ENDLESS),
    ("\nstring.find(('a'):rep(40), ('a-'):rep(30) .. 'b')", "DJ5103", 2, "a pattern took more than 5 seconds to match"),
    ("\nwhile true do pcall(string.gsub, ('a'):rep(40), ('a-'):rep(30) .. 'b', '') end", "DJ5103", 2, ENDLESS),
    ("\nfor x in ('a'):rep(40):gmatch(('a-'):rep(30) .. 'b') do end", "DJ5103", 2, "a pattern took more than 5 seconds to match"),
    ("\nwhile true do pcall(function() while true do end end) end", "DJ5103", 2, ENDLESS),
    ("\nxpcall(function() error('x') end, function() while true do end end)", "DJ5103", 2, ENDLESS),
    ("\nxpcall(function() while true do end end, function() while true do end end)", "DJ5103", 2, ENDLESS),
    ("\nif xpcall(error, function(e) return e .. 2 end, 'x') or select(2, xpcall(error, function(e) return e .. 2 end, 'x')) ~= 'x2'\nor"
     " select('#', xpcall(select, error, 2, 'a', 'b', 'c')) ~= 3 then return end\nerror('as in Lua')", "DJ5102", 4, "as in Lua"),
    ("local t = {}\nfor i = 1, 9e5 do t[i] = i end\nwhile true do pcall(table.unpack, t) end", "DJ5103", 3,
     "more than 10 seconds of processor time: an endless loop?"),
    ("local a, t = ('x'):rep(8e7), {}\nfor i = 1, 1e5 do t[i] = i % 2 == 0 and a .. '' or a end\ntable.sort(t)", "DJ5103", 3,
     "more than 10 seconds of processor time: an endless loop?"),
    ("local t = {3, 1, 2}\ntable.sort(t)\nif table.concat(t) ~= '123' then return end\ntable.sort(t, function(a, b) return a > b end)\n"
     "if table.concat(t) ~= '321' then return end\ntable.sort({1, 'x'})", "DJ5102", 6, "attempt to compare string with number"),
    ("local t = {}\nfor i = 1, 1e9 do\n  t[i] = ('x'):rep(1e6) .. i\nend", "DJ5103", 3, "more than 256 MB of memory"),
    ("local s = ('x'):rep(1e9)", "DJ5103", 1, "more than 256 MB of memory"),
])
def test_an_error_names_the_line(lua, text, code, line, words):
    result = lua(text)
    said = re.search(rf"^error\[{code}\]: (.*)$", result.stderr, re.M)
    assert said and (said[1] == words or words == ENDLESS and said[1].startswith("more than ") and said[1].endswith(words)), result
    assert re.search(rf"^ *--> .*/report\.lua:{line}:\d+$", result.stderr, re.M), result
    assert result.returncode == (0 if "on_end" in text and code != "DJ5101" else 2), result
    assert ("vfs_read calls" in result.stdout) == (result.returncode == 0), "a wrong file is found before the program runs"


def test_a_caller_is_shown(lua):
    result = lua("local function inner(g)\n  return g.n.x.y\nend\ndj.on_end(function(g)\n  inner(g)\nend)")
    assert "called from here" in result.stderr and "5 |" in result.stderr, result


def test_there_is_no_way_out(lua):
    names = ["io", "os", "debug", "package", "coroutine", "require", "load", "loadfile", "loadstring", "dofile", "collectgarbage",
             "getmetatable", "setmetatable", "string.dump", "table.move"]
    checks = "\n".join(f"  assert({name} == nil, '{name}')" for name in names)
    result = lua(f"dj.on_end(function(g)\n{checks}\n  local all = 0\n  for name in pairs(_G) do all = all + 1 end\n  print('closed', all)\nend)")
    assert "closed" in result.stdout and result.stderr == "", result
    result = lua("\x1bLua")  # what bytecode begins with
    assert "DJ5101" in result.stderr and result.returncode == 2, result
    assert "closed" in lua('dj.on_end(function() print((("") .. ""):rep(1e15) .. "closed") end)').stdout


def test_a_missing_file_is_a_mistake_in_use(djtap_once):
    result = djtap_once("--report", "/nowhere.lua", "-e", COUNT, "-c", str(paths.TINYFS))
    assert result.returncode == 1 and "cannot read /nowhere.lua: No such file or directory" in result.stderr, result
    result = djtap_once("-f", "plugin:flam", "-e", COUNT, "-c", str(paths.TINYFS))
    assert result.returncode == 1 and "there are chrome, csv, flame, json, prometheus, and any file NAME.lua" in result.stderr, result


def test_a_report_of_a_hundred_thousand_keys(djtap_once, tmp_path):
    """All of them within Lua's limits; what copies them again and again ends with an error, not with djtap."""
    script = """global a[100000], t[100000]
        probe begin { for (i = 0; i < 100000; i++) { a[i] = i * 7 t["k" . sprint(i)] = sprint(i) } exit() }"""
    options = ["-D", "MAXMAPENTRIES=100000", "-D", "STRINGBYTES=33554432", "-D", "MAXACTION_HOST=100000000"]
    file = tmp_path / "many.lua"
    file.write_text("""dj.on_end(function(g)
        local n, sum, rows = 0, 0, dj.rows("a")
        for _, v in pairs(g.a) do n = n + 1; sum = sum + v end
        print(n, sum, #rows, rows[1][1], rows[#rows][1], g.t.k99999)
      end)""")
    result = djtap_once("--report", str(file), *options, "-e", script)
    assert result.stdout == f"100000\t{7 * sum(range(100000))}\t100000\t99999\t0\t99999\n" and result.stderr == "", result
    file.write_text("dj.on_end(function(g)\n local all = {}\n while true do\n  all[#all + 1] = dj.rows('t')\n end\nend)")
    result = djtap_once("--report", str(file), *options, "-e", script)
    assert result.returncode == 5 and "DJ5103" in result.stderr and "more than 256 MB of memory" in result.stderr and ":4:" in result.stderr, result


# --- output plugins

PRINTS = """probe func("vfs_read") { printf("%d %s\\n", tid(), "a,\\"b"); by[execname()]++; n++; s <<< 5 }
probe func("vfs_read").return { println(tid()) } probe end { println("over") }"""


def plugged(djtap, tmp_path, name, script=PRINTS):
    """What a plugin writes, and the victim's facts."""
    output = tmp_path / "out"
    result = djtap("-f", f"plugin:{name}", "-D", "RINGBYTES=67108864", "-o", str(output), "-e", script, "-c", str(paths.TINYFS))
    assert result.returncode == 0 and result.stderr == "", result
    return output.read_text(), result.facts["vfs_read calls"]


def test_chrome(djtap_once, tmp_path):
    text, calls = plugged(djtap_once, tmp_path, "chrome")
    events = json.loads(text)
    slices = [event for event in events if event["ph"] in "BE"]
    threads = {event["tid"] for event in slices}
    for thread in threads:
        phases = "".join(event["ph"] for event in slices if event["tid"] == thread)
        assert phases == "BE" * (len(phases) // 2), thread
    assert len(threads) > 1 and len(slices) == 2 * calls and {event["name"] for event in slices} == {"vfs_read"}
    assert [event["ts"] for event in slices] == sorted(event["ts"] for event in slices)
    assert slices[0]["args"]["text"] == f'{slices[0]["tid"]} a,"b'
    assert [event["args"] for event in events if event["name"] == "end"] == [{"text": "over"}]
    assert [event["args"]["value"] for event in events if event["name"] == "global n"] == [calls]


def test_json_lines(djtap_once, tmp_path):
    text, calls = plugged(djtap_once, tmp_path, "json")
    lines = [json.loads(line) for line in text.splitlines()]
    prints = [line for line in lines if line.get("kind") == "entry"]
    assert len(prints) == calls and prints[0]["args"][1] == 'a,"b' and prints[0]["probe"] == "vfs_read"
    assert all(line["tid"] == line["args"][0] for line in prints) and len({line["tid"] for line in prints}) > 1
    assert [line["time_ns"] for line in lines if "kind" in line] == sorted(line["time_ns"] for line in lines if "kind" in line)
    values = {line["global"]: line for line in lines if "global" in line}
    assert values["n"]["value"] == calls and (values["by"]["key"], values["by"]["value"]) == (["tinyfs"], calls)
    assert values["s"]["value"] == {"count": calls, "min": 5, "max": 5, "sum": 5 * calls, "avg": 5}


def test_csv(djtap_once, tmp_path):
    text, calls = plugged(djtap_once, tmp_path, "csv")
    rows = list(csv.reader(text.splitlines()))
    entries = [row for row in rows if row[0] == "print" and row[3] == "entry"]
    assert len(entries) == calls and entries[0][2] == "vfs_read" and entries[0][5] == 'a,"b'
    assert ["global", "n", str(calls)] in rows and ["global", "by", "tinyfs", str(calls)] in rows
    assert ["global", "s@sum", str(5 * calls)] in rows


def test_folded_stacks(djtap_once, tmp_path):
    text, calls = plugged(djtap_once, tmp_path, "flame",
                          'probe func("vfs_read") { n[sprint_usyms(ubacktrace())]++; println("left out") }')
    stacks = dict(line.rsplit(" ", 1) for line in text.splitlines())
    assert sum(map(int, stacks.values())) == calls, text
    for stack in stacks:
        names = stack.split(";")
        assert names[:2] == ["clone3", "start_thread"] and names[-1] == "vfs_read" and "left out" not in names, stack


def test_prometheus(djtap_once, tmp_path):
    text, calls = plugged(djtap_once, tmp_path, "prometheus", """global n, by, s, who, half, none
        probe func("vfs_read") { n++; by["a\\"\\\\\\n", 1]++; s <<< $count; who = execname(); half = 0.5; println("left out") }
        probe end { if (0) none <<< 1; printf("%d\\n", @sum(s)) }""")
    lines = text.splitlines()
    assert f"n {calls}" in lines and f'by{{key1="a\\"\\\\\\n",key2="1"}} {calls}' in lines, text
    assert f"s_count {calls}" in lines and "half 0.5" in lines and 'who_info{value="tinyfs"} 1' in lines and "none_count 0" in lines
    metrics = [line.split()[2] for line in lines if line.startswith("# TYPE ")]
    assert metrics == ["n", "by", "s_count", "s_sum", "s_min", "s_max", "who_info", "half", "none_count"] and "left out" not in text
    form = r'[a-zA-Z_:][\w:]*(\{(\w+="([^"\\]|\\[\\"n])*",?)+\})? \S+'  # of Prometheus' description of the format
    assert [line for line in lines if not line.startswith("# TYPE ") and not re.fullmatch(form, line)] == []


def test_a_failing_plugin_ends_the_session(djtap_once, tmp_path):
    plugin = tmp_path / "mine.lua"
    plugin.write_text("local seen = 0\ndj.on_record(function(r)\n  seen = seen + 1\n  if seen == 3 then error('third') end\n"
                      "  print('record', seen)\nend)\n")
    result = djtap_once("-f", f"plugin:{plugin}", "-e", "probe timer.ms(1) { println(1) }")
    assert result.returncode == 5 and "mine.lua:4:" in result.stderr and "third" in result.stderr, result
    assert result.stdout == "record\t1\nrecord\t2\n", result


@pytest.mark.parametrize("plugin", ["report", "output"])
def test_a_failing_file_loses_no_globals(djtap_once, tmp_path, plugin):
    """Also those that the script reads: the file was to show them."""
    file = tmp_path / "mine.lua"
    file.write_text("dj.on_record(function(r) dj.write(r.text) end)\ndj.on_end(function(g)\n  print('half')\n  error('here')\nend)\n")
    options = ["--report", str(file)] if plugin == "report" else ["-f", f"plugin:{file}"]
    script = 'global n, by probe func("vfs_read") { n++; by["a", n % 2] = 1 } probe end { println("read ", n, by["a", 0]) }'
    result = djtap_once(*options, "-e", script, "-c", str(paths.TINYFS))
    calls = result.facts["vfs_read calls"]
    assert result.stdout.endswith(f'read {calls}1\nhalf\nn={calls}\nby["a",0]=1\nby["a",1]=1\n'), result
    assert "mine.lua:4:" in result.stderr, result


@pytest.mark.parametrize("loop", ["while true do pcall(table.unpack, t) end", "string.find(('a'):rep(40), ('a-'):rep(30) .. 'b')"])
def test_a_signal_ends_lua(background, tmp_path, loop):
    """The file's limits are 10 and 5 seconds of processor time, and its message would say so."""
    (tmp_path / "slow.lua").write_text(f"dj.on_end(function()\n  local t = {{}}\n  for i = 1, 9e5 do t[i] = i end\n  {loop}\nend)")
    tracer = background("--report", tmp_path / "slow.lua", "-e", 'probe begin { println("over"); exit() }')
    tracer.wait_for("over")
    while tracer.process.poll() is None:  # the first may find the session still on
        tracer.signal(signal.SIGINT)
        time.sleep(0.2)
    result = tracer.finish()
    assert "error[DJ5103]: ended by a signal (Ctrl-C)" in result.stderr and "slow.lua:4:" in result.stderr, result


def test_help_names_the_plugins(djtap_once):
    names = sorted(path.stem for path in (paths.ROOT / "runtime" / "lua" / "plugins").glob("*.lua"))
    assert "plugin: " + ", ".join(names) + ", or a file" in " ".join(djtap_once("--help").stdout.split()), names
