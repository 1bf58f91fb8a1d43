# SPDX-License-Identifier: Apache-2.0
"""Script errors of built-ins and limits say where in the script they happened and which limit it was."""
import re

from support.paths import victim


def test_a_failing_built_in_says_its_place(djtap):
    script = 'probe func("work") {\n  user_string(16) }'
    result = djtap("-e", script, "-c", f"{victim('count')} 1")
    assert re.search(r'^error\[DJ5001\]: read fault at address 0x0+10 \(no mapping\)\n --> .*:2:3\n(.*\n){3}  = in probe work,',
                     result.stderr, re.M), result


def test_error_says_its_place(djtap_once):
    result = djtap_once("-e", 'probe end { exit(); user_string_n(8, 4) } probe end {\n error("odd") } probe begin { exit() }')
    assert re.search(r'address 0x0+8 \(no process is traced\)\n --> .*:1:21', result.stderr), result
    assert re.search(r'^error\[DJ5002\]: odd\n --> .*:2:2\n(.*\n){3}  = in probe end', result.stderr, re.M), result


def test_the_limit_named_is_the_one_that_ended_the_handler(djtap, djtap_once):
    host = djtap_once("-D", "MAXACTION=77", "-D", "MAXACTION_HOST=500", "-e", "probe begin { exit(); while (1) n++ }")
    assert "MAXACTION_HOST exceeded: more than 500 loop rounds" in host.stderr, host
    assert host.returncode == 5, host  # an error in begin ends the session
    script = 'probe func("work") { while (1) n++ }'
    target = djtap("-D", "MAXACTION=77", "-D", "MAXACTION_HOST=500", "-e", script, "-c", f"{victim('count')} 1")
    assert "MAXACTION exceeded: more than 77 loop rounds" in target.stderr, target


def test_a_variable_that_is_not_there_is_one_error(djtap):
    result = djtap("-e", 'probe func("work") { println($nope, $nope->x, $nope[3]) }', "-c", victim("count"))
    assert result.stderr.count("error[DJ") == 1, result


def test_cxx_names_are_as_one_writes_them_also_among_thousands_of_sites(djtap):
    """Names of so many sites are not looked up before somebody asks; c++filt knows them too."""
    script = 'probe func("libstdc++.so.6!*") { error("here") }'
    result = djtap("-e", script, "-c", victim("exceptions"))
    named = re.findall(r"in probe (\S+),", result.stderr)
    dry = djtap("-n", "-e", script, "-c", victim("exceptions"))
    listed = dry.stdout + dry.stderr
    assert listed.count("OPTIMIZED") + listed.count("INT3") > 1000
    assert named and not any(name.startswith("_Z") for name in named), result
    assert " e std::future_category+0x" in listed and " _Z" not in listed
