# SPDX-License-Identifier: Apache-2.0
"""Where a probe can be put: names, wildcards, returns, source lines, life-cycle and timers; and -l, -L."""
import os
import re
import subprocess

import pytest

from support import paths
from support.paths import line_of, victim


def test_the_source_of_a_function(djtap_once, tmp_path):
    lines = str(tmp_path / "lines")  # compiled here, so that its debug info names a folder that is there
    subprocess.run(["cc", "-g", "-O0", "-o", lines, paths.ROOT / "tests" / "targets" / "lines.c"], check=True)
    result = djtap_once("--source", "walk", "-c", lines)
    source = (paths.ROOT / "tests" / "targets" / "lines.c").read_text().splitlines()
    assert result.stderr == "" and result.stdout.startswith("walk@"), result
    shown = {int(line): (star, text) for star, line, text in re.findall(r"^([* ]) +(\d+)  (.*)$", result.stdout, re.M)}
    assert shown and all(source[line - 1] == text for line, (_, text) in shown.items()), result
    for mark in ("body", "odd", "out"):
        line = next(i for i, text in enumerate(source, 1) if f"LINE:{mark}" in text)
        assert shown[line][0] == "*", result
    assert any(star == " " for star, _ in shown.values())
    for line, (star, _) in shown.items():
        listed = djtap_once("-l", f'func("walk@lines.c:{line}")', "-c", lines)
        assert (listed.returncode == 0) == (star == "*"), (line, listed)
    assert re.search(r"^  \$total:long(?: int)? on [\d, -]+$", result.stdout, re.M) and "$from" in result.stdout, result


def test_the_source_of_assembler_code(djtap_once, tmp_path):
    """Its functions are labels: objdump says which lines their instructions are of."""
    (tmp_path / "work.s").write_text(".globl work\n.type work, @function\nwork:\n  mov %edi, %eax\n\n  # one more\n  add $1, %eax\n  ret\n"
                                     ".size work, . - work\n.globl main\n.type main, @function\nmain:\n  xor %eax, %eax\n  ret\n"
                                     ".size main, . - main\n.section .note.GNU-stack\n")
    subprocess.run(["cc", "-g", "-o", "work", "work.s"], cwd=tmp_path, check=True)
    result = djtap_once("--source", "work", "-c", tmp_path / "work")
    listing = subprocess.run(["objdump", "-d", "-l", "--disassemble=work", tmp_path / "work"], capture_output=True, text=True, check=True).stdout
    lines = set(re.findall(r"work\.s:(\d+)", listing))
    assert result.returncode == 0 and set(re.findall(r"^\* +(\d+)  ", result.stdout, re.M)) == lines == {"4", "7", "8"}, result
    assert re.search(r"^ +6    # one more$", result.stdout, re.M) and "xor" not in result.stdout, result


def test_a_source_that_was_changed_since(djtap_once, tmp_path):
    source = tmp_path / "work.c"
    source.write_text("int work(int n) { return n + 1; }\nint main(void) { return work(-1); }\n")
    subprocess.run(["cc", "-g", "-o", "work", "work.c"], cwd=tmp_path, check=True)
    assert "newer" not in djtap_once("--source", "work", "-c", tmp_path / "work").stdout
    later = (tmp_path / "work").stat().st_mtime + 10
    os.utime(source, (later, later))
    assert "(the source is newer than the program: lines may have moved)\n" in djtap_once("--source", "work", "-c", tmp_path / "work").stdout


def test_source_needs_debug_info(djtap_once, tmp_path):
    program = tmp_path / "plain"
    subprocess.run(["strip", "-g", "-o", program, victim("lines")], check=True)
    result = djtap_once("--source", "walk", "-c", str(program))
    assert "error[DJ3010]" in result.stderr, result
    result = djtap_once("--source", "wlak", "-c", victim("lines"))
    assert "error[DJ3004]" in result.stderr and '"walk"' in result.stderr, result


def counted(djtap, point, program="count", body="n++"):
    """Runs one probe and returns the Result."""
    result = djtap("-e", f"probe {point} {{ {body} }}", "-c", victim(program))
    assert result.returncode == 0, result
    return result


@pytest.mark.parametrize("point", [
    'func("work")', 'func("work").call', 'func("wor*")', 'func("wo?k")', 'func("count!work")', 'process.function("work")',
    'func("work@count.c")', 'process.function("work@*count.c")', 'func("work").return', 'process.function("work").return',
])
def test_ways_to_name_a_function(djtap, point):
    assert counted(djtap, point).globals == {"n": 4000}


def test_process_by_path(djtap):
    path = victim("count")
    result = djtap("-e", f'probe process("{path}").function("work") {{ a++ }} probe process("count").function("work").return {{ b++ }}',
                   "-c", path)
    assert result.globals == {"a": 4000, "b": 4000}, result


def test_library(djtap):
    path = victim("ctor")
    result = djtap("-e", f'probe process("{path}").library("libctor.so").function("lib_work") {{ n++ }}', "-c", path)
    assert result.globals == {"n": 160}, result


def test_several_points_one_probe(djtap):
    result = counted(djtap, 'func("fib"), func("deep"), func("fib").return', "recursion")
    assert result.globals["n"] == 2 * result.facts["fib calls"] + result.facts["deep calls"], result


def test_several_probes_one_point(djtap):
    script = """global order
        probe func("work") { first++; order[tid()] = 1 }
        probe func("work") { second++; if (order[tid()] == 1) right_order++ }
        probe func("work") { third++ }"""
    result = djtap("-e", script, "-c", victim("count"))
    assert result.globals == {"first": 4000, "second": 4000, "third": 4000, "right_order": 4000}, result


def test_optional_points(djtap):
    result = counted(djtap, 'func("no_such_thing")?, func("work")')
    assert result.globals == {"n": 4000}
    result = counted(djtap, 'func("no_such_thing")!, func("work")!, func("main")')
    assert result.globals == {"n": 4000}, "a sufficient point makes the later ones unneeded"
    result = counted(djtap, 'nosuch.alias!, func("work")!, nosuch.other')
    assert result.globals == {"n": 4000}, "and may itself be missing, whatever it is"


def test_wildcards_with_names(djtap):
    result = counted(djtap, 'func("short_*")', "short", "calls[ppfunc()]++")
    found = {key.strip('"'): int(value) for key, value in result.array("calls")}
    skipped = re.findall(r"short_\w+", result.stderr)
    assert found and result.facts, result
    for name, truth in result.facts.items():
        assert found.get(name) == truth or (name not in found and name in skipped), result


@pytest.mark.parametrize("wild, plain", [
    ("process.b*", "process.begin"), ("process.**.b*", "process.thread.begin"), ("process**begin", "process.{begin,thread.begin}"), ("onesh*", "oneshot"),
    ('func("work").r*', 'func("work").return'), ('f*("work").call', 'func("work").call'), ('process.*("work")', 'process.function("work")'),
    ('process("{}").*tement("*@count.c:16")', 'process("{}").statement("*@count.c:16")'), ("timer.m*s(200)", "timer.ms(200)"),
    ("timer.*s(200)", ", ".join(f"timer.{unit}(200)" for unit in ("s", "ms", "us", "jiffies"))),  # 200 ns would be too short
])
def test_wildcards_in_the_names_of_points(djtap_once, wild, plain):
    """They mean the same places as what they stand for, written out."""
    places = [djtap_once("--stop-after=resolve", "--dump=plan", "-e", "probe " + point.replace("{}", victim("count")) + " { n++ }", "-c", victim("count"))
              for point in (wild, plain)]
    assert all(result.returncode == 0 and result.stderr == "" for result in places), places
    shown = [sorted(re.sub(r"(handlers?|site) [\d,]+", r"\1", result.stdout).splitlines()) for result in places]
    assert shown[0] == shown[1] and shown[0], places


def test_wildcards_in_the_names_of_points_count(djtap):
    result = counted(djtap, 'f*("work").c*ll')
    assert result.globals["n"] == result.facts["work calls"], result


@pytest.mark.parametrize("point, code, words", [
    ('func("wrok").*', "DJ3004", 'no function matches "wrok"'), ("process.x*", "DJ3001", 'process has no ".x*"'),
    ("timer.m*", "DJ3002", "timer.m* takes a number, got none"), ("timer.*(0)", "DJ3002", "timer.s takes a positive number"),
    ('func("work").r*(1)', "DJ3002", "func.r* takes no argument, got a number"),
])
def test_one_error_where_nothing_is_meant(djtap_once, point, code, words):
    result = djtap_once("-e", f"probe {point} {{ n++ }}", "-c", victim("count"))
    assert re.findall(r"^error\[(DJ\d+)\]: (.*)$", result.stderr, re.M)[:1] == [(code, re.search(rf"{re.escape(words)}.*", result.stderr)[0])], result
    assert result.stderr.count("error[") == 1, result


def test_all_that_can_follow_a_function(djtap):
    """Entries and returns, each once; no inlined copy is there, which is no mistake."""
    result = counted(djtap, 'func("work").*')
    assert result.globals["n"] == 2 * result.facts["work calls"], result


def test_a_wildcard_in_a_name_means_tapsets_and_own_points(djtap_once, tmp_path):
    """Not tapset files that only have a begin probe of their own."""
    result = djtap_once("-e", "global n probe beginning = end { n += 10 } probe begin* { n++ exit() }")
    assert result.returncode == 0 and result.stdout == "n=12\n" and result.stderr == "", result


def test_short_functions_return(djtap):
    result = counted(djtap, 'func("short_same").return, func("short_padded").return', "short", "calls[ppfunc()]++")
    found = {key.strip('"'): int(value) for key, value in result.array("calls")}
    assert found == {"short_same": 250, "short_padded": 125}, result


CXX = [("shapes::Square::area", 12), ("shapes::round::Circle::area", 12), ("shapes::scale(int)", 12),
       ("shapes::scale(long)", 4), ("shapes::scale", 16), ("shapes::*::area", 24), ("shapes::twice*", 8),
       ("shapes::Square::plain_static", 4), ("_ZN6shapes5scaleEi", 12)]


@pytest.mark.parametrize("name, truth", CXX, ids=[name for name, _ in CXX])
def test_cxx_names_as_a_person_writes_them(djtap, name, truth):
    assert counted(djtap, f'func("{name}")', "names").globals == {"n": truth}


def test_a_thunk_is_not_the_function(djtap):
    """A virtual call by a second or virtual base goes through a thunk: one hit, with its parameters."""
    script = """probe func("Cube::volume") { volumes++; scales += $scale; edges[$this->edge]++ }
                probe func("shapes::*::draw").return { drawn++; sums += $return }
                probe func("virtual thunk to shapes::Cube::volume") { thunks++; names[ppfunc()]++ }
                probe process.function("*thunk*::volume") { wild++ }"""
    result = djtap("-e", script, "-c", victim("names"))
    calls = result.facts["volumes"]
    assert (calls, result.facts["drawn"]) == (24, 24), result
    assert result.globals == {"volumes": calls, "scales": 2 * sum(range(12)), "drawn": 24, "thunks": calls, "wild": calls,
                              "sums": 3 * sum(range(12)) + 2 * 12}, result
    assert result.array("edges") == [("2", "24")], result
    assert result.array("names") == [('"virtual thunk to shapes::Cube::volume"', str(calls))], result


def test_returns_under_recursion_and_threads(djtap):
    script = """probe func("fib") { fib_in++ } probe func("fib").return { fib_out++; fib_sum += $return }
                probe func("deep") { deep_in++ } probe func("deep").return { deep_out++; if ($return == $n) good++ }"""
    result = djtap("-e", script, "-c", victim("recursion"))
    fibs, deeps = result.facts["fib calls"], result.facts["deep calls"]
    numbers = result.globals
    assert (numbers["fib_in"], numbers["fib_out"], numbers["deep_in"], numbers["deep_out"]) == (fibs, fibs, deeps, deeps), result
    assert numbers["good"] == deeps, "entry values at return belong to the same call"


def test_exceptions_pass_through_probed_frames(djtap):
    script = """probe func("leaf"), func("middle"), func("outer") { calls[ppfunc()]++ }
                probe func("leaf").return { leaf_returns++ } probe func("middle").return { middle_returns++ }"""
    result = djtap("-e", script, "-c", victim("exceptions"))
    truth = result.facts
    assert (truth["caught"], truth["passed"], truth["destroyed"]) == (100, 100, 600), result
    assert result.globals == {"leaf_returns": truth["leaf returns"], "middle_returns": truth["middle returns"]}, result
    assert dict(result.array("calls")) == {'"leaf"': "600", '"middle"': "600", '"outer"': "600"}, result


def test_tail_calls(djtap):
    """A tail-called function returns for its caller too."""
    result = djtap("-e", 'probe func("front") { a++ } probe func("back") { b++ } probe func("back").return { c++ } '
                         'probe func("exits").return { d++ }', "-c", victim("tail"))
    backs = result.facts["back calls"]
    assert result.globals == {"a": 100, "b": backs, "c": backs, "d": result.facts["exits calls"]}, result


@pytest.mark.parametrize("mode", [[], ["--no-optimize"]], ids=["jump", "int3"])
def test_exits_that_leave_only_sometimes(djtap, mode):
    """A conditional tail call; and an indirect jump that is a computed goto or a tail call, as the program goes."""
    bare = subprocess.run([victim("tail")], capture_output=True, text=True, check=True).stdout
    result = djtap(*mode, "-e", 'probe func("maybe") { a++ } probe func("maybe").return { b++ } probe func("program") { c++ } '
                   'probe func("program").return { d++ }', "-c", victim("tail"))
    maybe, program = result.facts["maybe calls"], result.facts["program calls"]
    assert result.globals == {"a": maybe, "b": maybe, "c": program, "d": program}, result
    assert result.stdout.startswith(bare), result


def test_a_return_that_is_also_reached_alone(djtap, mode):
    """It keeps an int3 inside the jump; whoever traps there has the handlers before him."""
    result = djtap("--probes", "-e", 'probe func("leaves").return { n++ }', "-c", victim("tail"))
    assert result.globals == {"n": result.facts["leaves returns"]}, result
    assert mode == "int3" or [site.reason.split(",")[0] for site in result.sites] == ["guarded"], result


def test_return_of_a_tail_caller(djtap):
    """Counted at its tail jump, or refused by name: never wrong."""
    result = djtap("--probes", "-e", 'probe func("front").return? { n++ } probe func("back") { b++ }', "-c", victim("tail"))
    assert result.globals.get("n") == 100 or re.search(r"front\S* .*\[SKIPPED: .+\]", result.stderr), result


@pytest.mark.parametrize("form", ["lines", "lines_O0"])
def test_source_lines(djtap, form):
    body, odd, out = (line_of("lines.c", name) for name in ("body", "odd", "out"))
    script = f"""probe func("walk@lines.c:{body}") {{ body++ }}
                 probe process.statement("walk@lines.c:{odd}") {{ odd++ }}
                 probe process.function("walk@lines.c:{out}") {{ out++ }}
                 probe process.statement("*@lines.c:{line_of("lines.c", "second")}") {{ second++ }}"""
    result = djtap("-e", script, "-c", victim(form))
    numbers = result.globals
    assert numbers["body"] == result.facts["loop passes"], result
    assert numbers["second"] == 10 and numbers["odd"] == result.facts["odd branches"], result
    if form == "lines_O0":  # the optimizer makes several places of that line
        assert numbers["out"] == 10, result


def test_begin_end_order(djtap_once):
    script = """probe end { println("end 1") } probe begin { println("begin 1") } probe begin { println("begin 2"); exit() }
                probe end { println("end 2") }"""
    assert djtap_once("-e", script).stdout == "begin 1\nbegin 2\nend 1\nend 2\n"


def test_process_end(djtap):
    result = djtap("-e", 'probe process.end { println("ended") } probe func("work") { n++ }', "-c", victim("count"))
    assert "ended\n" in result.stdout and result.globals == {"n": 4000}, result


@pytest.mark.parametrize("timer, times", [("timer.ms(100)", 5), ("timer.us(100000)", 5), ("timer.msec(50)", 10)])
def test_timers(djtap_once, timer, times):
    script = f"""global ticks
        probe begin {{ printf("%d\\n", gettimeofday_ms()) }}
        probe {timer} {{ if (++ticks == {times}) exit() }}
        probe end {{ printf("%d\\nticks %d\\n", gettimeofday_ms(), ticks) }}"""
    result = djtap_once("-e", script)
    begun, ended, ticks = re.findall(r"\d+", result.stdout)
    assert int(ticks) == times and 450 <= int(ended) - int(begun), result  # a unit too large would never end


def test_timer_reads_what_probes_count(djtap):
    script = """global n, seen probe func("work") { n++ } probe timer.ms(50) { if (n > 0) seen = 1 }
                probe end { printf("n %d seen %d\\n", n, seen) }"""
    result = djtap("-e", script, "-c", f"{victim('hammer')} 1")
    count, seen = re.search(r"^n (\d+) seen (\d)$", result.stdout, re.M).groups()
    assert int(seen) == 1 and int(count) == result.facts["work calls"], result


def test_timer_seconds(djtap_once):
    assert djtap_once("-e", 'probe timer.s(1) { println("tick"); exit() }').stdout == "tick\n"


def test_probe_names(djtap):
    script = 'global n probe func("work") { if (n++ == 0) printf("%s|%s|%s\\n", ppfunc(), probefunc(), pp()) }'
    line = djtap("-e", script, "-c", victim("count")).stdout
    match = re.search(r"^work\|work\|(.*)$", line, re.M)
    assert match and "work" in match.group(1), line


def test_list(djtap_once):
    result = djtap_once("-l", 'func("lib_*")', "-c", victim("ctor"))
    assert result.returncode == 0, result
    lines = result.stdout.splitlines()
    assert len(lines) == 2 and all(re.match(r'process\("[^"]+"\)', line) for line in lines), result
    assert "lib_work" in result.stdout and "lib_total" in result.stdout, result


def test_list_has_what_scripts_may_use(djtap_once):
    """The suffix .latency, too; of process.begin and process.end not the places in the C library where forked children are told."""
    for point in "process.begin", "process.end":
        assert djtap_once("-l", point, "-c", victim("ctor")).stdout == point + "\n"
    assert djtap_once("-l", 'func("lib_work").latency', "-c", victim("ctor")).stdout.endswith('.function("lib_work").latency\n')


def test_a_process_by_its_number(djtap_once, background, program):
    """process(PID) is the traced process, or a mistake; behind it a ? takes that away."""
    target = program(victim("commander"))
    target.wait_for("pid: ")
    tracer = background("-e", f'probe process({target.pid}).function("work") {{ n++ }} probe process({target.pid}).end {{ e++ }} global armed '
                        'probe timer.ms(10) { if (++armed == 1) println("armed") }', "-p", target.pid)
    tracer.wait_for("armed")
    target.tell("call 7")
    target.wait_for("called: 7")
    target.tell("quit")
    target.finish()
    result = tracer.finish()
    assert (result.globals["n"], result.globals["e"]) == (7, 1), result
    wrong = djtap_once("-e", 'probe process(1).function("work") { n++ }', "-c", victim("count"))
    assert wrong.returncode == 3 and re.search(r"error\[DJ3005\]: process 1 is not the traced one, \d+\n --> <command line>:1:15\n", wrong.stderr), wrong
    assert "help: trace it: -p 1;" in wrong.stderr and wrong.stderr.count("error[") == 1, wrong
    assert djtap_once("-e", 'probe process(1).end ?, begin { println("x") exit() }', "-c", victim("count")).stdout.splitlines().count("x") == 1


def test_a_number_means_no_child(attach, program):
    """What it has forked has its probes, but another number."""
    forking = ('import os, sys; print("pid: 0", flush=True); sys.stdin.readline(); child = os.fork()\n'
               'for _ in range(5 if child else 7): os.getppid()\n'
               'if child: os.waitpid(child, 0)')
    target = program(paths.PYTHON, "-c", forking)
    target.wait_for("pid: ")
    tracer = attach(target.pid, f'probe process({target.pid}).library("libc.so.6").function("getppid") {{ own++ }} '
                                'probe func("libc.so.6!getppid") { all++ }')
    target.tell("")
    target.finish()
    result = tracer.finish()
    assert result.globals == {"own": 5, "all": 12}, result


def test_list_matches_the_symbol_table(djtap_once):
    """Oracle: readelf."""
    path = victim("names")
    listed = djtap_once("-l", 'process.function("*")', "-c", path).stdout
    table = subprocess.run(["readelf", "-sW", "-C", path], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"\bFUNC\s+\w+\s+\w+\s+\d+\s+(shapes::[\w:]+)", table)
    assert names and [name for name in names if name not in listed] == []


def test_list_with_variables(djtap_once):
    result = djtap_once("-L", 'func("nine")', "-c", victim("args"))
    for variable in ("$a:int", "$g:int", "$h:long", "$i:short"):
        assert variable in result.stdout, result
    result = djtap_once("-L", 'func("list")', "-c", victim("args"))
    assert re.search(r"\$head:struct node ?\*", result.stdout) and "$depth:int" in result.stdout, result


NOWHERE = 'probe process.function("_start").return { s++ }'  # it never returns


@pytest.mark.parametrize("script, status, words", [
    (NOWHERE, 3, "warning[DJ4901]: 1 site not probed [SKIPPED: never returns]: _start+0x0\nerror[DJ3022]: the one place that is meant cannot be probed\n"),
    (NOWHERE + 'probe process.function("_start").return, begin { b++ }', 3, "error[DJ3022]: the one place that is meant cannot be probed\n"),
    (NOWHERE + 'probe func("work") { n++ }', 0, "warning[DJ4901]: 1 site not probed [SKIPPED: never returns]: _start+0x0\n"),
    ('probe process.function("_start").return ? { s++ }', 0, "warning[DJ4901]: 1 site not probed [SKIPPED: never returns]: _start+0x0\n"),
])
def test_it_is_an_error_where_no_place_can_be_probed(djtap, script, status, words):
    """Then the program is not started; if one can be, the others are a warning."""
    result = djtap("-e", script, "-c", victim("count"))
    assert result.returncode == status and result.stderr.endswith(words), result
    assert ("work calls" in result.facts) == (status == 0), result
    assert result.globals.get("n", 0) == (result.facts["work calls"] if "work" in script else 0), result


def test_a_running_program_goes_on_where_no_place_can_be_probed(djtap, program):
    target = program(victim("ticking"), "wait")
    target.wait_for("own: 500")
    result = djtap("-e", NOWHERE, "-p", str(target.pid))
    assert result.returncode == 3 and "error[DJ3022]: the one place that is meant cannot be probed" in result.stderr, result
    target.process.stdin.close()
    assert target.finish().returncode == 0


@pytest.mark.parametrize("point", ['func("__vdso_clock_gettime")', 'func("[vdso]!*")', 'func("linux-vdso.so.1!__vdso_time")',
                                   'process("[vdso]").function("*")', 'process.library("linux-vdso*").function("*")'])
def test_the_vdso_is_refused(djtap_once, point):
    """It is code of the kernel's that a process has, and no file."""
    result = djtap_once("-e", f"probe {point} {{ n++ }}", "-c", "/bin/true")
    name = re.search(r'"([^"!]+)', point)[1]
    assert result.returncode == 3 and result.stderr.startswith(f"error[DJ3009]: refused to probe {name}: the kernel's vdso cannot be changed\n"), result
    assert 'help: probe the C library\'s function that calls it: func("clock_gettime")' in result.stderr, result
