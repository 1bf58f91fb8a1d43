# SPDX-License-Identifier: Apache-2.0
"""Which programs can be traced, how they are started, and what is left alone."""
import os
import signal

import pytest

from support import process
from support.paths import victim

FORMS = ["count", "count_nopie", "count_static", "count_static_pie", "count_dynsym", "count_debuglink",
         "count_minidebug"]
COUNT = 'probe func("work") { calls++ }'


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_executable(djtap, form):
    result = djtap("-e", COUNT, "-c", f"{victim(form)} 5000")
    assert result.returncode == 0, result
    assert result.facts == {"work calls": 20000, "sum": 4 * 4999 * 5000 // 2}, result
    assert result.globals == {"calls": 20000}, result


@pytest.mark.parametrize("form", ["count", "count_nopie", "count_debuglink"])
def test_arguments_by_debug_information(djtap, form):
    """count_debuglink is stripped: its DWARF is in a file that .gnu_debuglink names."""
    result = djtap("-e", 'probe func("work") { sum += $n; ids[$id]++ }', "-c", victim(form))
    assert result.globals == {"sum": result.facts["sum"]}, result
    assert sorted(result.array("ids")) == [(str(i), "1000") for i in range(4)], result


def test_function_of_libc_with_its_debug_package(djtap):
    """libc6-dbg is found by build-id."""
    result = djtap("-e", 'global s probe func("libc.so.6!getenv") { s[user_string($name)]++ }', "-c", "/bin/bash -c true")
    assert result.returncode == 0, result
    assert '"LOCPATH"' in dict(result.array("s")), result


def test_command_after_two_dashes(djtap):
    result = djtap("-e", COUNT, "--", victim("count"), "10", "2")
    assert result.facts["work calls"] == 20 and result.globals == {"calls": 20}, result


def test_words_of_a_command_are_kept(djtap_once):
    result = djtap_once("-e", "probe begin { x = 1 }", "--", "/bin/sh", "-c", 'printf "%s|" "a  b" "$0"', "it's")
    assert result.stdout.startswith("a  b|it's|"), result


def test_target_is_the_pid(djtap):
    script = 'probe func("work") { seen[target() == pid()]++ } probe end { printf("target %d\\n", target()) }'
    result = djtap("-e", script, "-c", victim("commander"), stdin="call 10\nquit\n")
    assert f"target {result.facts['pid']}\n" in result.stdout and result.array("seen") == [("1", "10")], result


@pytest.mark.parametrize("words, status", [(["exit", "0"], 0), (["exit", "42"], 42), (["signal", "9"], 128 + 9),
                                           (["signal", "11"], 128 + 11), (["signal", "6"], 128 + 6)])
def test_exit_status_is_the_childs(djtap, words, status):
    result = djtap("-e", COUNT, "--", victim("ending"), *words)
    assert result.returncode == status, result
    assert result.globals == {"calls": 10}, result


def test_results_outlive_an_exec(djtap):
    """The new program is not followed; what was counted before stays."""
    result = djtap("-e", COUNT, "--", victim("ending"), "exec", "/bin/echo", "replaced")
    assert "replaced" in result.stdout and result.globals == {"calls": 10}, result
    assert result.returncode == 0, result


def test_own_failures_with_a_command(djtap_once, tmp_path):
    plain = tmp_path / "not-executable"
    plain.write_text("x")
    script = "probe begin { x = 1 }"
    assert djtap_once("-e", script, "-c", "/no/such/program").returncode == 127
    assert djtap_once("-e", script, "-c", str(plain)).returncode == 126
    assert djtap_once("-e", "probe begin {", "-c", "/bin/true").returncode == 2
    assert djtap_once("-e", 'probe func("no_such_function") { n++ }', "-c", "/bin/true").returncode == 3


def test_own_failures_without_a_command(djtap_once):
    assert djtap_once("--no-such-option").returncode == 1
    assert djtap_once("-e", "probe begin {").returncode == 2
    assert djtap_once("-e", "probe begin { no_such_function() }").returncode == 3
    assert djtap_once("-e", "probe begin { x = 1 }", "-p", "999999999").returncode in (1, 4)
    assert djtap_once("-e", 'probe func("f") { n++ }', "-p", "4194300").returncode == 4


def test_output_file(djtap, tmp_path):
    out = tmp_path / "out.txt"
    result = djtap("-o", out, "-e", COUNT + ' probe end { println("done") }', "-c", victim("count"))
    assert sorted(out.read_text().splitlines()) == ["calls=4000", "done"], result
    assert "calls=" not in result.stdout and result.facts["work calls"] == 4000, result


def test_target_keeps_its_own_stdio(djtap):
    result = djtap("-e", 'probe begin { println("begun") }', "--", "/bin/sh", "-c", "cat; echo to-stderr >&2",
                   stdin="one\ntwo\n")
    assert "one\ntwo\n" in result.stdout and "begun" in result.stdout, result
    assert "to-stderr" in result.stderr, result


def test_constructors_are_counted(djtap):
    """Probes are armed before the first constructor of any library runs; destructors count as well."""
    result = djtap("-e", 'probe func("lib_work") { calls++ }', "-c", victim("ctor"))
    assert result.facts == {"in main": 153, "lib_work calls": 160}, result
    assert result.globals == {"calls": 160}, result


def test_a_library_that_audits_the_loader(djtap):
    """The loader's list is complete for that library first; probes are armed when it is for the program."""
    environment = {**os.environ, "LD_AUDIT": victim("libaudit.so")}
    result = djtap("-e", 'probe func("lib_work") { calls++ } probe func("libc.so.6!printf") { lines++ }', "-c", victim("ctor"), env=environment)
    assert result.facts == {"in main": 153, "lib_work calls": 160}, result
    assert result.globals == {"calls": 160, "lines": 2}, result


def test_function_of_one_object_only(djtap):
    result = djtap("-e", 'probe func("libctor.so!lib_work") { a++ } probe func("libctor.so!l*_work").return { b++ }',
                   "-c", victim("ctor"))
    assert result.globals == {"a": 160, "b": 160}, result


def test_attach_and_detach(attach, program):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    target.tell("call 1000")
    target.wait_for("called: 1000")
    before = process.text_of(target.pid)

    tracer = attach(target.pid, COUNT)
    assert process.status_field(target.pid, "TracerPid") == "0"
    during = process.text_of(target.pid)
    assert any(path.endswith("/commander") and during[begin, path] != text for (begin, path), text in before.items())
    target.tell("call 250000")
    target.wait_for("called: 250000")
    assert process.status_field(target.pid, "TracerPid") == "0"
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals == {"calls": 250000}, result
    assert process.differences(before, process.text_of(target.pid)) == []

    target.tell("call 500")  # goes on, uncounted
    target.wait_for("called: 500$")
    target.tell("quit")
    end = target.finish()
    assert end.returncode == 0 and end.facts["work calls"] == 251500, end
    assert end.facts["interrupted"] == 0, "attaching cut a system call short"


def test_attach_again_and_again(attach, program):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    for round_number in range(1, 6):
        tracer = attach(target.pid, COUNT)
        target.tell(f"call {round_number * 111}")
        target.wait_for(f"called: {round_number * 111}$")
        tracer.signal(signal.SIGINT)
        assert tracer.finish().globals == {"calls": round_number * 111}
        assert process.differences(before, process.text_of(target.pid)) == []
    target.tell("quit")
    assert target.finish().returncode == 0


def test_attach_under_load(attach, program):
    """Four threads hammer the function while its probe comes and goes."""
    target = program(victim("hammer"), "3600")
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    for _ in range(5):
        tracer = attach(target.pid, 'probe func("work") { calls++ } probe func("work").return { back++ }')
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert result.returncode == 0, result
        assert abs(result.globals.get("calls", 0) - result.globals.get("back", 0)) <= 8, result
        assert process.differences(before, process.text_of(target.pid)) == []
    target.signal(signal.SIGTERM)
    end = target.finish()
    assert end.returncode == 0 and end.facts["wrong"] == 0, end


def test_attached_target_ends_by_itself(attach, program):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    tracer = attach(target.pid, COUNT)
    target.tell("call 77")
    target.wait_for("called: 77")
    target.tell("quit")
    target.finish()
    result = tracer.finish()
    assert result.globals == {"calls": 77} and result.returncode == 0, result


def test_exit_ends_the_session_and_leaves_the_target(attach, program):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    tracer = attach(target.pid, 'global calls probe func("work") { if (calls++ == 99) exit() }')
    target.tell("call 1000")
    target.wait_for("called: 1000")
    result = tracer.finish()
    assert result.returncode == 0, result
    target.tell("quit")
    assert target.finish().facts["work calls"] == 1000


def test_interrupt_with_a_command_prints_the_results(background):
    """The results come at once; the command goes on, and its status is waited for."""
    first = 'global said probe func("work") { if (!said) { said = 1; println("called") } }'
    tracer = background("-e", COUNT + first, "-c", f"{victim('hammer')} 3600")
    pid = int(tracer.wait_for(r"^pid: (\d+)").group(1))
    tracer.wait_for("^called$")
    tracer.signal(signal.SIGINT)
    assert int(tracer.wait_for(r"^calls=(\d+)").group(1)) > 0
    os.kill(pid, signal.SIGTERM)
    result = tracer.finish()
    assert result.returncode == 0 and result.facts["wrong"] == 0, result


def test_a_traced_process_cannot_be_traced_twice_by_ptrace(djtap_once, program):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    with_gdb = program("gdb", "-q", "-nx", "-p", str(target.pid), "-ex", "echo attached\\n")
    with_gdb.wait_for("attached")
    result = djtap_once("-e", COUNT, "-p", str(target.pid))
    assert result.returncode == 4 and str(with_gdb.pid) in result.stderr, result


def test_nothing_is_loaded_into_the_target(attach, program):
    """Memory files of djtap's alone, nothing writable and executable, no library of ours."""
    target = program(victim("commander"))
    target.wait_for("pid: ")
    files = {path for *_, path in process.mappings(target.pid)}
    tracer = attach(target.pid, COUNT)
    rows = process.mappings(target.pid)
    assert not [row for row in rows if "w" in row[2] and "x" in row[2]]
    ours = {row[3] for row in rows if row[3]} - files
    assert ours and all("memfd" in path for path in ours)
    descriptors = [os.readlink(f"/proc/{target.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{target.pid}/fd")]
    assert not [name for name in descriptors if "memfd" in name]
    tracer.signal(signal.SIGINT)
    tracer.finish()


def test_no_argument_shows_usage(djtap_once):
    result = djtap_once()
    assert result.returncode == 1 and result.stderr and not result.stdout, result
