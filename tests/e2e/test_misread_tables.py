# SPDX-License-Identifier: Apache-2.0
"""Jump tables that end where no reader looks, and tables that cannot be read: the program computes the same, and djtap tells."""
import re
import subprocess

import pytest

from support.paths import victim

BOTH = 'probe func("{0}") {{ n++ }} probe func("{0}").return {{ r++ }}'


@pytest.mark.parametrize("options", [[], ["--guards=all"], ["--no-optimize"]], ids=["jump", "guarded", "int3"])
@pytest.mark.parametrize("name, function", [("ends_table", "sized"), ("misread", "chosen")])
def test_every_case_is_counted(djtap_once, name, function, options):
    bare = subprocess.run([victim(name)], capture_output=True, text=True, check=True).stdout
    result = djtap_once(*options, "-e", BOTH.format(function), "-c", victim(name))
    assert result.returncode == 0 and result.stdout.startswith(bare), result
    assert result.globals == {"n": result.facts["calls"], "r": result.facts["calls"]}, result


def test_an_arrival_that_no_table_told_of_is_told(djtap_once):
    result = djtap_once("-e", 'probe func("chosen").return { n++ }', "-c", victim("misread"))
    assert re.search(r"warning\[DJ5910\]: a jump table was read wrong: .* at chosen\+0x\w+ /.*/misread,", result.stderr), result
    assert result.stderr.count("DJ5910") == 1, result
    read = djtap_once("-e", 'probe func("sized").return { n++ }', "-c", victim("ends_table"))
    assert read.returncode == 0 and "DJ5910" not in read.stderr, read


@pytest.mark.parametrize("options", [[], ["--guards=all"], ["--no-optimize"], ["--live"]], ids=["jump", "guarded", "int3", "live"])
def test_a_function_with_very_many_exits(djtap_once, tmp_path, options):
    """Each case returns, so that one probe has hundreds of places, and each of them may be int3 or guarded."""
    cases = "\n".join(f"case {i}: return (struct two){{{i % 7}, {i % 3}}};" for i in range(0, 1200, 2))
    source, program = tmp_path / "exits.c", tmp_path / "exits"
    source.write_text('#include <stdio.h>\nstruct two { unsigned long a, b; };\n'
                      "__attribute__((noinline)) struct two sized(unsigned n) { switch (n) {" + cases + "\n} return (struct two){n, 1}; }\n"
                      "int main(void) { unsigned long sum = 0; for (unsigned i = 0; i < 3000; i++) { struct two t = sized(i % 1500); "
                      'sum = sum * 31 + t.a + t.b; } printf("sum: %lu\\n", sum); }\n')
    subprocess.run(["gcc", "-O1", "-fno-tree-switch-conversion", "-o", program, source], check=True)
    bare = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    result = djtap_once(*options, "-e", BOTH.format("sized"), "-c", str(program))
    assert result.returncode == 0 and result.stdout.startswith(bare) and result.globals == {"n": 3000, "r": 3000}, result
    assert "SKIPPED" not in result.stderr, result
