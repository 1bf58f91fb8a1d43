# SPDX-License-Identifier: Apache-2.0
"""A function whose only instruction is its return: it is entered, then left, in whatever order the script has them."""
from support.paths import victim


def test_entry_runs_before_return_at_one_address(djtap):
    script = ('global n probe func("short_ret").return { if (n < 4) print("out ") n++ }'
              ' probe func("short_ret") { if (n < 4) print("in ") n++ } probe end { println(n) }')
    result = djtap("-e", script, "-c", victim("short"))
    assert "in out in out " in result.stdout and "\n2000\n" in "\n" + result.stdout.replace("in out in out ", ""), result
