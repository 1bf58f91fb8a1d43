# SPDX-License-Identifier: Apache-2.0
"""--control: probes switched on and off while the program runs, exactly and harmlessly."""
import os
import signal

import pytest

from support import paths, process
from support.control import FOLLOW
from support.paths import victim


def test_disabled_sites_count_nothing(controlled, program):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    before, own = process.text_of(target.pid), process.own_text(target.pid, target.words[0])
    tracer, control = controlled(target.pid, 'probe func("work") { calls++ } probe func("work").return { back++ }')
    with control:
        for round_number in range(1, 4):
            target.tell("call 1000")
            target.wait_for("called: 1000(.|\n)*" * round_number)
            control.do("disable work")
            assert [line.count("[DISABLED") for line in control.do("list")] == [1, 1]
            if round_number > 1:
                process.wait_for_own_text(target.pid, target.words[0], own)
            target.tell("call 777")
            target.wait_for("called: 777(.|\n)*" * round_number)
            control.do("enable wor?")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.globals == {"calls": 3000, "back": 3000}, result
    assert process.differences(before, process.text_of(target.pid)) == []
    target.tell("quit")
    assert target.finish().returncode == 0


def test_cxx_functions_are_named_as_one_writes_them(controlled, program):
    target = program("/usr/bin/env", "LD_PRELOAD=libstdc++.so.6", victim("commander"))
    target.wait_for("pid: ")
    tracer, control = controlled(target.pid, 'probe func("libstdc++.so.6!std::*_category") { n++ }')
    with control:
        control.do("disable std::future_*")
        off = [line.split()[3] for line in control.do("list") if "[DISABLED" in line]
        assert [name.split("+")[0] for name in off] == ["std::future_category"], control.do("list")
        assert control.do("list _ZSt15future_categoryv") == control.do("list std::future_category")
    tracer.signal(signal.SIGINT)
    tracer.finish()


def test_one_of_two_probes_at_a_place(controlled, program):
    """An aggregated site runs the handlers that are on; the place stays patched for the other."""
    target = program(victim("commander"))
    target.wait_for("pid: ")
    tracer, control = controlled(target.pid, 'probe func("work") { a++ } probe process.function("work") { b++ }')
    with control:
        assert [line.split()[0] for line in control.do("list")] == ["0.0", "0.1"]
        assert [line.split()[0] for line in control.do("list 0.1")] == ["0.1"]
        assert [line.split()[0] for line in control.do("list w?rk")] == ["0.0", "0.1"] and control.do("list main") == []
        for at, command in enumerate(("list", "disable 0.0", "disable work", "enable 0.1", "enable 0")):
            control.do(command)
            target.tell(f"call {10 ** at}")
            target.wait_for(f"called: {10 ** at}$")
    tracer.signal(signal.SIGINT)
    assert tracer.finish().globals == {"a": 10001, "b": 11011}


def test_toggled_under_load(controlled, program):
    """Hundreds of times under four threads, now and then so long off that the text is restored: no hit twice, none missing while on."""
    rounds = 400
    target = program(victim("hammer"), "3600")
    target.wait_for("pid: ")
    before, own = process.text_of(target.pid), process.own_text(target.pid, target.words[0])
    tracer, control = controlled(target.pid, FOLLOW)
    with control:
        for round_number in range(rounds):
            control.do("disable work")
            if round_number % 80 == 0:
                process.wait_for_own_text(target.pid, target.words[0], own)
            control.do("enable work")
        control.do("disable work")
        process.wait_for_own_text(target.pid, target.words[0], own)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.globals.get("extra", 0) == 0 and result.globals["hits"] > rounds, result
    assert result.globals.get("gaps", 0) <= rounds * 4, result
    assert process.differences(before, process.text_of(target.pid)) == []
    target.signal(signal.SIGTERM)
    end = target.finish()
    assert end.returncode == 0 and end.facts["wrong"] == 0, end


@pytest.mark.parametrize("script", ['probe func("asked")', 'probe func("asked").return'])
def test_the_asking_thread_misses_nothing(djtap, tmp_path, script):
    """A thread that switches its own probe finds each switch done when it is answered, while others run through the probe."""
    path = tmp_path / "control"
    body = "{ if ($id == 0) mine++; else others++ }"
    result = djtap("--control", str(path), "-e", f"{script} {body}", "-c", f"{victim('switcher')} 1500 asked {path}")
    truth = result.facts
    assert result.returncode == 0 and truth["asked off"] > 2000, result
    assert result.globals["mine"] == truth["asked on"] and 0 < result.globals["others"] <= truth["others"], result


def test_one_of_two_is_switched_by_the_asking_thread(djtap, tmp_path):
    path = tmp_path / "control"
    script = 'probe func("asked") { if ($id == 0) switched++ } probe process.function("asked") { if ($id == 0) left++; else others++ }'
    result = djtap("--control", str(path), "-e", script, "-c", f"{victim('switcher')} 1000 0.0 {path}")
    truth = result.facts
    assert result.globals["switched"] == truth["asked on"] and result.globals["left"] == truth["asked on"] + truth["asked off"], result
    assert result.globals["others"] == truth["others"], result


ORDERS = """
import socket, subprocess, sys
def order(text):
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(sys.argv[1])
        control.sendall(text.encode() + b"\\n")
        assert control.makefile().readline() == "ok\\n"
def count():
    subprocess.run([sys.argv[2], "1"], check=True)
count()
order("disable exit")
count(); count()
order("enable ex?t")
count()
order("disable *")
count()
"""


def test_what_is_switched_off_is_off_in_later_processes(djtap, tmp_path):
    path = tmp_path / "control"
    script = 'probe func("libc.so.6!exit") { n[execname()]++ }'
    result = djtap("--control", str(path), "-e", script, "--", paths.PYTHON, "-c", ORDERS, str(path), str(victim("count")))
    assert result.returncode == 0 and result.array("n") == [('"count"', "2")], result


def test_system_calls_are_switched(controlled, program):
    """Also at those that djtap hooks for itself, whose text stays."""
    target = program(victim("commander"))
    target.wait_for("pid: ")
    tracer, control = controlled(target.pid, "probe process.syscall { if ($syscall == 1) writes++ }")
    with control:
        for number, (command, after) in enumerate((("disable *", "enable *"), ("enable *", "list"), ("disable *", "enable *"))):
            control.do(command)
            for i in range(number + 1):  # each answer is one write
                target.tell(f"call {10 * number + i}")
                target.wait_for(f"called: {10 * number + i}$")
            control.do(after)
    tracer.signal(signal.SIGINT)
    assert tracer.finish().globals == {"writes": 2}


def test_wrong_commands(controlled, program, tmp_path):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    tracer, control = controlled(target.pid, 'probe func("work") { n++ }')
    assert os.stat(tmp_path / "control").st_mode & 0o777 == 0o600
    with control:
        for command in ("", "enable", "destroy work", "disable work main", "list work main"):
            assert control.ask(command) == ([], "error: the commands are: list [N|GLOB], enable N|GLOB, disable N|GLOB, add SCRIPT")
        assert control.ask("disable nothing")[1] == "error: no site is meant by nothing; list shows all"
        assert "[DISABLED" not in "".join(control.do("list"))
    tracer.signal(signal.SIGINT)
    assert tracer.finish().returncode == 0
    assert not (tmp_path / "control").exists()


def test_a_path_that_is_taken(djtap_once, tmp_path):
    path = tmp_path / "control"
    path.write_text("precious")
    result = djtap_once("--control", str(path), "-e", "probe begin { exit() }")
    assert result.returncode == 1 and str(path) in result.stderr and path.read_text() == "precious", result
