# SPDX-License-Identifier: Apache-2.0
"""Wrong names in points of programs that are executed later are told, each where it is known; and what can be listed of them, before."""
import re

from support.built import victim

COUNT = victim("count")


def test_a_function_that_a_library_of_a_later_program_lacks(djtap):
    script = f'probe process("{COUNT}").library("libc.so.6").function("mallok") {{ n++ }} '
    wrong = djtap("-e", script, "-c", f"sh -c '{COUNT} 1; {COUNT} 1'")
    assert wrong.returncode == 0 and wrong.globals == {"n": 0}, wrong
    told = re.findall(r'DJ3004\]: no function matches "mallok" in libc.so.6 \(did you mean "malloc"', wrong.stderr)
    assert len(told) == 1, wrong
    # What the point says of another program, or may say of this one, is no mistake.
    for point in ('process("/usr/bin/true").library("libc.so.6").function("mallok")', f'process("{COUNT}").library("libc.so.6").function("mallok") ?'):
        right = djtap("-e", f"probe {point} {{ n++ }} probe process(\"{COUNT}\").library(\"libc.so.6\").function(\"malloc\") {{ m++ }}",
                      "-c", f"sh -c '{COUNT} 1; true'")
        assert right.globals["n"] == 0 and right.globals["m"] > 0 and "DJ3004" not in right.stderr, right


def test_a_library_that_a_later_program_never_maps(djtap):
    never = djtap("-e", f'probe process("{COUNT}").library("libc.so.7").function("malloc") {{ n++ }}', "-c", f"sh -c '{COUNT} 1; true'")
    assert never.globals == {"n": 0} and "DJ5916]: no process of the session has mapped libc.so.7: " in never.stderr, never


def test_a_function_of_a_later_program_without_its_name(djtap_once):
    """The first program is meant."""
    for point in ('func("work")', 'process.function("work")'):
        wrong = djtap_once("-e", f"probe {point} {{ n++ }}", "-c", f"sh -c '{COUNT} 1; true'")
        assert wrong.returncode == 3, wrong
        assert '= if a program that the target executes has it: process("/path/program").function("work")' in wrong.stderr, wrong
    alone = djtap_once("--no-follow", "-e", 'probe func("wrok") { n++ }', "-c", f"sh -c '{COUNT} 1; true'")
    assert alone.returncode == 3 and "that the target executes" not in alone.stderr, alone
    named = djtap_once("-e", f'probe process("{COUNT}").function("wrok") {{ n++ }}', "-c", f"sh -c '{COUNT} 1; true'")
    assert 'did you mean "work"' in named.stderr and "that the target executes" not in named.stderr, named


def test_an_installed_library_is_listed_without_a_process(djtap_once):
    points = ('func("libm.so.6!cbrt*")', 'process.library("libm.so.6").function("cbrt*")', 'process("/usr/bin/true").library("libm.so.6").function("cbrt*")')
    for point in points:
        listed = djtap_once("-l", point)
        names = set(re.findall(r'function\("(\w+)', listed.stdout))
        assert listed.returncode == 0 and {"cbrt", "cbrtf", "cbrtl"} <= names, listed
    wrong = djtap_once("-l", 'func("libmm.so.6!cbrt*")')
    assert wrong.returncode == 3 and 'DJ3005]: there is no library "libmm.so.6"' in wrong.stderr, wrong


def test_the_command_that_help_names_lists(djtap_once):
    """Each as it is printed."""
    for point in ('func("libc.so.6!mallok")', f'process("{COUNT}").function("wrok")'):
        wrong = djtap_once("-e", f"probe {point} {{ n++ }}", "-c", COUNT)
        command = re.search(r"list with: djtap -l '(.*?)'$", wrong.stderr, re.M)
        assert command, wrong
        listed = djtap_once("-l", command[1])
        assert listed.returncode == 0 and re.search(r'function\("(malloc|work)', listed.stdout), listed
