# SPDX-License-Identifier: Apache-2.0
"""@var and @cast in probes that djtap itself runs: they read the program's memory, as long as there is one."""
import re

import pytest

from support.paths import victim


def says(djtap, script):
    return djtap("-e", script, "-c", victim("ticking"))


def test_the_programs_variables_in_begin_and_timers(djtap_once, program):
    """The counter stands at 500 when the program has said so."""
    target = program(victim("ticking"), "wait")
    target.wait_for("own: 500")
    script = """probe begin { printf("begin %d\\n", @var("ticks")) }
      probe timer.ms(20) {
        printf("timer %d %d %s\\n", @var("ticks@ticking.c", "ticking"), @var("clock_face")->last, user_string(@var("clock_face")->name))
        printf("%d %d %s\\n", user_long(&@var("ticks")), @cast(&@var("ticks"), "long int")[0], @var("clock_face")$)
        exit()
      }
      probe end { printf("end %d\\n", @var("ticks")) }"""
    result = djtap_once("-e", script, "-p", str(target.pid))
    lines = result.stdout.splitlines()
    assert lines[0] == "begin 500" and lines[1] == "timer 500 500 tower" and lines[3] == "end 500", result
    assert re.fullmatch(r'500 500 \{\.last=500, \.name="tower"\}', lines[2]), result


def test_a_program_that_has_not_begun(djtap_once):
    result = says(djtap_once, 'probe begin { println("begin ", @var("ticks"), user_string(@var("clock_face")->name)) }')
    assert "begin 0tower" in result.stdout and result.facts["ticks"] == 500, result
    result = says(djtap_once, 'probe oneshot { println("once ", @var("ticks")) }')
    assert "once 0" in result.stdout, result


def test_what_is_not_there_is_not_defined(djtap_once):
    script = ('probe begin { println(@defined(@var("own_ticks")), @defined(@var("ticks")), @defined(@var("clock_face")->no), '
              '@choose_defined(@var("nothing"), 5), @choose_defined(@var("ticks"), 7)) }')
    assert "01050" in says(djtap_once, script).stdout


@pytest.mark.parametrize("probe", ["end", "process.end"])
def test_a_program_that_has_ended(djtap_once, probe):
    """Never djtap's own memory, where something else may stand at the same address."""
    result = says(djtap_once, f'probe {probe} {{ println(@var("ticks")) println("after") }}')
    assert re.search(rf'error\[DJ5001\]: read fault at address 0x0000[0-9a-f]+ \(the program has ended\)\n(.*\n){{4}} += in probe {probe},',
                     result.stderr), result
    assert "after" not in result.stdout, result


def test_no_program(djtap_once):
    result = djtap_once("-e", 'probe begin { println(user_string(0x400001)) }')
    assert "read fault at address 0x0000000000400001 (no process is traced)" in result.stderr, result
    result = djtap_once("-e", 'probe begin { println(@var("ticks")) }')
    assert "error[DJ3005]: no process is traced" in result.stderr and "djtap -p PID" in result.stderr, result


@pytest.mark.parametrize("script", [
    'probe begin { println(@var("own_ticks")) }',
    'function f() { return @var("own_ticks") } probe timer.s(1), func("tick") { println(f()) }',
])
def test_a_variable_of_each_thread(djtap_once, script):
    result = says(djtap_once, script)
    assert 'error[DJ3013]: each thread has its own "own_ticks", and ' in result.stderr, result


def test_functions_read_a_threads_variable_in_its_thread(djtap_once):
    result = says(djtap_once, 'function f() { return @var("own_ticks") } probe func("tick") { seen = f() last = seen } '
                              'probe func("seen") { println("own is ", f()) }')
    assert "own is 500" in result.stdout, result
