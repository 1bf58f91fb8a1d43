# SPDX-License-Identifier: Apache-2.0
"""Objects that the target opens while it is traced: probed before any of their code runs."""
import os
import platform
import re
import shutil
import signal
import subprocess
import time

import pytest

from support import paths, process, run
from support.control import Control
from support.paths import line_of, victim

LIBRARY = victim("libctor.so")


def rounds(orders, *options, script, djtap):
    """The victim under djtap, told `orders`: (result, what the library itself counted, over all rounds)."""
    result = djtap(*options, "-e", script, "--", victim("plugin"), LIBRARY, stdin="\n".join(orders) + "\n")
    return result, sum(int(n) for n in re.findall(r"^lib_work calls: (\d+)$", result.stdout, re.M))


def test_its_constructor_is_counted_too(djtap):
    result, truth = rounds(["open", "call 1000", "close", "quit"], djtap=djtap,
                           script='probe process.library("libctor*").function("lib_work") { n++ }')
    assert truth == 1057, result
    assert result.returncode == 0 and result.globals == {"n": truth}, result


def test_opened_closed_and_opened_again(djtap_once):
    """Each time at whatever address; the same address, too, is a new object."""
    result, truth = rounds(["open", "call 3", "close"] * 5 + ["quit"], djtap=djtap_once,
                           script='probe func("libctor.so!lib_work")? { n++ }')
    assert truth == 5 * 60 and result.globals == {"n": truth}, result


def test_a_function_of_any_object(djtap):
    """func("f") means later objects as well; where SIGTRAP is the session's, they may have int3 sites."""
    result, truth = rounds(["open", "call 20", "close", "quit"], djtap=djtap,
                           script='probe func("lib_work")?, func("main") { hits[probefunc()]++ }')
    assert sorted(result.array("hits")) == [('"lib_work"', str(truth)), ('"main"', "1")], result


def test_values_returns_and_events(djtap_once):
    """Debug info, entry values, names of places and places of errors are the new object's."""
    script = """probe func("lib*!lib_work")? { if ($n == 41) printf("%s %d\\n", probefunc(), $n) }
probe func("lib*!lib_work").return ? { if ($return == 42 && @entry($n) == 41) back++
  if ($return == 30) wrong = 1 / ($return - 30) }"""
    result, _ = rounds(["open", "call 100", "quit"], djtap=djtap_once, script=script)
    assert result.stdout.count("lib_work 41\n") == 2, result  # the constructor's and one of the calls
    assert result.globals["back"] == 2, result
    assert re.search(r'error\[DJ5003\]: division by 0\n +--> .*:3:\d+\n(.*\n){3} += in probe lib_work,', result.stderr), result


def test_of_a_running_process(attach, program):
    target = program(victim("plugin"), LIBRARY)
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    tracer = attach(target.pid, 'probe func("main") { m++ } probe func("lib*!lib_work") { n++ }')
    target.order("open", "opened: 1")
    target.order("call 1000", "called: 1000$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.globals["n"] == 1050, result
    after = process.text_of(target.pid)
    assert process.differences(before, after) == []
    with open(LIBRARY, "rb") as file:  # the library's text is its file's again
        content = file.read()
    (begin,) = [begin for begin, _, permissions, path in process.mappings(target.pid) if path == LIBRARY and "x" in permissions]
    assert after[begin, LIBRARY].rstrip(b"\0") in content
    target.order("call 5", "called: 5$")
    target.tell("quit")
    assert target.finish().facts["total"] == 1005


def test_one_whose_text_somebody_else_has_changed(attach, program):
    """What stands there is left alone, and said; the probes of all others are taken out."""
    target = program(victim("plugin"), LIBRARY)
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    tracer = attach(target.pid, 'probe func("main") { m++ } probe func("lib*!lib_work") { n++ }')
    target.order("open", "opened: 1")
    target.order("call 10", "called: 10$")
    (site,) = [site for site in run.sites_of(tracer.stderr_so_far()) if site.symbol.startswith("lib_work")]
    with open(f"/proc/{target.pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(site.address)
        memory.write(b"\xf4")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 5 and "was changed by somebody else" in result.stderr, result
    assert process.differences(before, process.text_of(target.pid)) == []


def own_looks_at_mappings(number, folder):
    """How often djtap reads the whole list of a process's mappings while its target opens `number` objects; what it counts."""
    run.need_own_symbols()
    for i in range(number):
        shutil.copy(LIBRARY, folder / f"{i}.so")
    inner = run.command(["-e", 'probe func("*!lib_work") { n++ }', "--", victim("many_objects"), folder, number])
    result = run.run(["-e", 'probe func("dj::read_maps") { looks++ }', "--", *inner])
    assert result.returncode == 0, result
    return result.globals["looks"], result.globals["n"]


@pytest.mark.skipif(tuple(int(n) for n in platform.release().split(".")[:2]) < (6, 11), reason="the kernel has no PROCMAP_QUERY")
def test_what_an_object_costs_does_not_grow_with_others(tmp_path):
    """A look at all mappings takes the longer the more objects are there: there is one for each object, and no more at the end."""
    few, counted_few = own_looks_at_mappings(5, tmp_path)
    many, counted_many = own_looks_at_mappings(25, tmp_path)
    assert (counted_few, counted_many) == (5 * 57, 25 * 57)
    assert many - few <= 20 * 2, (few, many)


def test_switched_like_any_other(background, tmp_path):
    path = tmp_path / "control"
    tracer = background("--control", str(path), "-e", 'probe process.library("libctor*").function("lib_work") { n++ }',
                        "--", victim("plugin"), LIBRARY)
    tracer.wait_for("pid: ")
    tracer.order("open", "opened: 1")
    with Control(path) as control:
        assert any("lib_work" in line and re.search(r"\[(OPTIMIZED|INT3)", line) for line in control.do("list"))
        for command, calls in (("disable lib_work", 100), ("enable lib_work", 10), ("disable lib_work", 1000)):
            control.do(command)
            tracer.order(f"call {calls}", f"called: {calls}$")
    tracer.tell("quit")
    assert tracer.finish().globals == {"n": 60}


def test_python_imports_an_extension(djtap_once):
    result = djtap_once("-e", 'probe process.library("_json*").function("PyInit__json") { n++ } probe end { println(n) }',
                        "--", "/usr/bin/python3", "-c", "import _json; print(_json.scanstring('x\"', 0))")
    assert result.stdout == "('x', 2)\n1\n", result


def test_closing_threads(attach, program):
    """Threads that open and close the library again and again are counted or left alone, never harmed."""
    target = program(victim("closing"), LIBRARY)
    target.wait_for("running: 1")
    tracer = attach(target.pid, 'global said probe func("lib*!lib_work") { n++; if (said++ == 1000) println("counts") } probe func("dlopen") { opened++ }')
    tracer.wait_for("^counts$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals["n"] > 0 and "not removed" not in result.stderr, result
    target.tell("end")
    assert target.finish().facts["wrong"] == 0


def test_names_that_may_come_and_names_that_are_wrong(djtap_once):
    waits = djtap_once("-e", 'probe process.library("libnever*").function("f") { n++ }', "-c", "/bin/true")
    assert waits.returncode == 0 and "warning[DJ3005]" in waits.stderr and "waits" in waits.stderr, waits
    other = djtap_once("-e", 'probe func("lib*!no_such_function") { n++ }', "-c", "/bin/true")
    assert other.returncode == 0 and "warning[DJ3004]" in other.stderr and "waits for others" in other.stderr, other
    wrong = djtap_once("-e", 'probe process.library("libnever.so").function("f") { n++ }', "-c", "/bin/true")
    assert wrong.returncode == 3 and "error[DJ3005]" in wrong.stderr and "if the program opens it later" in wrong.stderr, wrong


def test_a_stub_of_a_later_library_that_leads_to_what_was_there(djtap_once, opened):
    """Its calls are seen, not their return, and a warning says why."""
    script = 'probe process.library("libopened*").plt("strtol") { n++ } probe process.library("libopened*").plt("strtol").return { r++ }'
    result = djtap_once("-e", script, "--", victim("plugin"), opened, stdin="open\ncall 10\nclose\nquit\n")
    assert result.globals == {"n": 9, "r": 0}, result
    assert result.stderr.endswith("warning[DJ4901]: 1 site not probed "
                                  "[SKIPPED: linkage stub: what it leads to was there before this library, or is not known]: "
                             "strtol@plt+0x0\n"), result


@pytest.mark.parametrize("point, hits", {
    'function("lib_work")': 10, 'function("lib_work").return': 10, 'function("helper").call': 10, 'function("*").exported': 20, 'function("twice").inline': 10,
    'function("lib_work").callee("helper")': 10, 'function("lib_work").callees': 19, 'function("lib_work").label("out")': 10,
    'function("lib_work@opened.c:ODD")': 9, 'statement("lib_work@opened.c:ODD")': 9, 'statement("*@opened.c:ODD").nearest': 9,
    'plt("strtol")': 9, 'mark("step")': 10, 'mark("costly")': 10, 'mark("*")': 20, 'provider("opened").mark("step")': 10, 'function("lib_work").latency': 10,
    '{function("helper"),mark("step")}': 20}.items())
def test_every_kind_of_place_in_a_library_that_comes_later(djtap_once, opened, point, hits):
    """Also those that need an int3: a point that names such a library takes SIGTRAP from the beginning."""
    point = point.replace("ODD", str(line_of("opened.c", "odd")))
    result = djtap_once("-e", f'probe process.library("libopened*").{point} {{ n++ }}', "--", victim("plugin"), opened, stdin="open\ncall 10\nclose\nquit\n")
    assert result.facts["called"] == 10 and result.globals == {"n": hits} and "warning[DJ4" not in result.stderr, result


def test_code_that_the_loader_is_about_to_change(djtap, tmp_path):
    """Text relocations are made when the object has been told of: what is written before would be spoilt, and copies be stale."""
    library = tmp_path / "librelocated.so"
    subprocess.run(["gcc", "-shared", "-Wl,-z,notext", "-o", library, paths.TARGETS / "relocated_lib.c"], check=True, stderr=subprocess.DEVNULL)
    result = djtap("-e", 'probe func("librelocated.so!lib_work")? { n++ } probe func("main") { m++ }', "--", victim("plugin"), library,
                   stdin="open\ncall 5\nclose\nquit\n")
    assert result.returncode == 0 and result.facts["total"] == 5, result
    assert result.globals == {"n": 0, "m": 1} and "text relocations" in result.stderr, result


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGSTOP], ids=["Ctrl-Z", "stopped"])
def test_the_loader_does_not_wait_for_a_djtap_that_is_stopped(program, number):
    """What it opens meanwhile is probed when djtap goes on. Of a SIGSTOP it knows as djtap uses no processor time."""
    target = program(victim("plugin"), LIBRARY)
    target.wait_for("pid: ")
    job = program(paths.PYTHON, "-c", run.JOB, paths.DJTAP, "--probes", "-e", 'probe func("lib_work")?, func("main") { n++ }', "-p", str(target.pid))
    tracer = int(job.wait_for(r"tracer: (\d+)\n").group(1))
    job.wait_for(r"main.*\[OPTIMIZED")
    os.kill(tracer, number)
    while process.status_field(tracer, "State")[0] != "T":
        time.sleep(0.01)
    target.tell("open")
    target.wait_for("opened: 1", 20)
    target.order("call 100", "called: 100$")
    os.kill(tracer, signal.SIGCONT)
    job.wait_for(r"lib_work.*\[OPTIMIZED")
    target.order("call 20", "called: 20$")
    target.order("close", "closed: 0")
    os.kill(tracer, signal.SIGINT)
    result = job.finish()
    assert result.globals["n"] == 20 + 7, result


@pytest.mark.parametrize("program", ["count_static", "count_static_pie"])
def test_a_static_program_opens_none(djtap_once, program):
    """No loader would tell of them, so nothing is waited for."""
    result = djtap_once("-e", 'probe process.library("libz*").function("deflate") { n++ }', "-c", victim(program))
    assert result.returncode == 3 and 'has no object "libz*"' in result.stderr and "the program is static" in result.stderr, result
