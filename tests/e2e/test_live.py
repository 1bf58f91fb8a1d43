# SPDX-License-Identifier: Apache-2.0
"""--live: text is written while the threads that execute it run."""
import re
import signal
import subprocess

import pytest

from support import process
from support.control import FOLLOW, Control
from support.paths import DJTAP, IS_INSTALLED, symbol_address, victim
from support.run import PATIENCE

SIGTRAP_BIT = 1 << (signal.SIGTRAP - 1)
INT3, JUMP = 0xcc, 0xe9


def catches_sigtrap(pid):
    return bool(int(process.status_field(pid, "SigCgt"), 16) & SIGTRAP_BIT)


def start(program, name):
    target = program(victim(name), "3600")
    target.wait_for("pid: ")
    return target


def end(target):
    target.signal(signal.SIGTERM)
    result = target.finish()
    assert result.returncode == 0 and result.facts["wrong"] == 0, result


def test_no_hit_is_missed_while_the_jump_is_written(attach, program):
    """From int3 to jump under four threads, with SIGTRAP caught only meanwhile."""
    target = start(program, "hammer")
    before = process.text_of(target.pid)
    for _ in range(5):
        tracer = attach(target.pid, FOLLOW, "--live", "-v")
        assert catches_sigtrap(target.pid)
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert re.search(r"patched while it ran: [\d.]+ ms", result.stderr), result
        assert result.globals["hits"] > 0, result
        assert result.globals.get("extra", 0) == 0 and result.globals.get("gaps", 0) == 0, result
        assert not catches_sigtrap(target.pid)
        assert process.differences(before, process.text_of(target.pid)) == []
    end(target)


def test_the_steps_of_a_site(background, program, mode):
    target = start(program, "hammer")
    tracer = background("--live", "-e", 'probe func("work") { n++ }', "-p", str(target.pid),
                        env={"DJTAP_LOG": "engine"})
    tracer.wait_for("work optimizing -> optimized: written while" if mode == "jump" else "work registered -> int3")
    tracer.signal(signal.SIGINT)
    steps = re.findall(r"work (\w+ -> \w+)", tracer.finish().stderr)
    jump = ["int3 -> optimizing", "optimizing -> optimized", "optimized -> int3"] if mode == "jump" else []
    assert steps == ["registered -> int3", *jump, "int3 -> disabled"]
    end(target)


def test_threads_children_and_signals_meanwhile(attach, program):
    """Everybody who is born, forked or interrupted between two phases goes on."""
    target = start(program, "churn")
    own = {key: text for key, text in process.text_of(target.pid).items() if key[1] == target.words[0]}
    for _ in range(4):
        tracer = attach(target.pid, 'probe func("churn!*") { n++ } probe func("work").return { if (r++ == 0) println("counts") } global r', "--live")
        tracer.wait_for("^counts$")
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert result.returncode == 0 and result.globals["n"] > 0, result
        assert own and process.differences(own, process.text_of(target.pid)) == []
    end(target)


@pytest.mark.parametrize("live", [[], ["--live"]])
def test_a_signal_handler_returns_into_the_jump(attach, program, live):
    """Armed, disarmed and armed again while a thread stands in a handler that goes back between the bytes."""
    target = program(victim("faulting"))
    target.wait_for("standing$")
    before = process.text_of(target.pid)
    for reached in (1, 3):
        tracer = attach(target.pid, 'probe func("reach") { n++ }', *live)
        target.tell("")
        target.wait_for(f"reached: {reached}\nstanding$")
        tracer.signal(signal.SIGINT)
        assert tracer.finish().globals == {"n": 1}
        assert process.differences(before, process.text_of(target.pid)) == []
        target.tell("")
        target.wait_for(f"reached: {reached + 1}$")
    assert target.finish().returncode == 0


def work_now(pid):
    """(first byte of work(), whether the four behind it lead into code that djtap has mapped)."""
    own = [row for row in process.mappings(pid) if row[3] == str(victim("hammer"))]
    address = own[0][0] + symbol_address(victim("hammer"), "work")
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(address)
        text = memory.read(5)
    aim = address + 5 + int.from_bytes(text[1:], "little", signed=True)
    return text[0], any(begin <= aim < end and "x" in rights and (begin, end, rights, path) not in own
                        for begin, end, rights, path in process.mappings(pid))


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="utf8") as file:
        return int(file.read().rpartition(")")[2].split()[11])


@pytest.mark.skipif(IS_INSTALLED, reason="an installed djtap has no symbols by which gdb stops it")
@pytest.mark.parametrize("phase, shape", [(2, (INT3, False)), (3, (INT3, True)), (4, (JUMP, True)), (5, (INT3, True)), (6, (INT3, False))])
def test_djtap_killed_between_two_phases(program, phase, shape):
    """Armed are int3, displacement, jump; back go int3, displacement, first byte. gdb kills djtap where a phase begins, and what stands in the
    text then still leads into handlers that are mapped: the program computes on."""
    target = start(program, "hammer")
    script = 'global n probe func("work") { if (n++ == 1000) exit() }'
    killed = subprocess.run(["gdb", "-nx", "-batch", "-ex", "set breakpoint pending off", "-ex", "break dj::LiveText::phase", "-ex", f"ignore 1 {phase - 1}",
                             "-ex", "run", "-ex", "info breakpoints", "-ex", "kill", "--args", DJTAP, "--live", "-e", script, "-p", str(target.pid)],
                            capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
    assert f"already hit {phase} time" in killed.stdout, killed
    assert work_now(target.pid) == shape, killed
    ticks = cpu_ticks(target.pid)
    process.wait_until(lambda: cpu_ticks(target.pid) > ticks + 10, "the program stands still")
    end(target)


def test_a_library_that_may_be_closed_is_written_while_all_stand(attach, program):
    target = program(victim("plugin"), victim("libctor.so"))
    target.wait_for("pid: ")
    target.tell("open")
    target.wait_for("opened: 1")
    tracer = attach(target.pid, 'probe func("libctor.so!lib_work") { n++ }', "--live", "-v")
    target.tell("call 1000")
    target.wait_for("called: 1000$")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.globals == {"n": 1000} and "while it ran" not in result.stderr, result
    target.tell("quit")
    assert target.finish().returncode == 0


@pytest.mark.parametrize("name", ["hammer", "churn"])
def test_toggled_under_load(attach, program, tmp_path, name):
    rounds = 100
    target = start(program, name)
    before, own = process.text_of(target.pid), process.own_text(target.pid, target.words[0])
    tracer = attach(target.pid, FOLLOW if name == "hammer" else 'probe func("work") { hits++ }', "--live",
                    "--control", str(tmp_path / "control"))
    with Control(tmp_path / "control") as control:
        for round_number in range(rounds):
            control.do("disable work")
            if round_number % 10 == 0:
                process.wait_for_own_text(target.pid, target.words[0], own)
            control.do("enable work")
        control.do("disable work")
        process.wait_for_own_text(target.pid, target.words[0], own)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.globals.get("extra", 0) == 0 and result.globals["hits"] > 0, result
    assert result.globals.get("gaps", 0) <= rounds * 4, result
    assert process.differences(before, process.text_of(target.pid)) == []
    end(target)


def test_who_stands_inside_when_it_is_enabled_again_is_moved(attach, program, tmp_path):
    """Of 24 threads some are held behind the function's first instruction, where the jump's bytes will be."""
    target = program(victim("parked"))
    target.wait_for("pid: ")
    own = process.own_text(target.pid, target.words[0])
    tracer = attach(target.pid, 'probe func("work") { hits++ }', "--live", "--control", str(tmp_path / "control"))
    with Control(tmp_path / "control") as control:
        for _ in range(12):
            control.do("disable work")
            process.wait_for_own_text(target.pid, target.words[0], own)
            target.order("park", "parked: 24$")
            control.do("enable work")
            target.order("go", "parked: 0$")
    tracer.signal(signal.SIGINT)
    assert tracer.finish().globals["hits"] > 0
    target.tell("quit")
    result = target.finish()
    assert result.returncode == 0 and result.facts["wrong"] == 0, result
