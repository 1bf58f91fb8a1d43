# SPDX-License-Identifier: Apache-2.0
"""A program that ends while what it has forked goes on, as a daemon does: the session ends with the program, and says who is left."""
import os
import re
import signal

from support.paths import victim


def test_a_daemon_is_named(djtap_once, tmp_path):
    number = tmp_path / "number"
    result = djtap_once("-e", 'probe func("serve") { n++ }', "-c", f"{victim('daemon')} {number}")
    told = re.search(r"warning\[DJ5911\]: the session ends with the program, but (.*) that it has forked go on, without probes: (.*); attach", result.stderr)
    assert result.returncode == 0 and told, result
    pid = int(number.read_text())
    assert f"{pid} (daemon)" in told[2], result
    attached = djtap_once("-p", pid, "-T", "1", "-e", 'probe func("serve") { n++ }')
    os.kill(pid, signal.SIGTERM)
    assert attached.globals["n"] > 100, attached


def test_what_ends_with_the_program_is_not_named(djtap_once):
    result = djtap_once("-e", 'probe func("main") { n++ }', "-c", victim("forker"))
    assert "DJ5911" not in result.stderr, result
