# SPDX-License-Identifier: Apache-2.0
"""Probes without a body: a line per hit, capped by rate, and the number of hits at the end."""
import re

from support import paths, run

TINYFS = ["-c", str(paths.BUILD / "examples" / "tinyfs")]
LINE = re.compile(r"^ *(\d+)\.(\d{6}) (\d+) (\w+)\((.*?)\)(?: (return=\S+))?$", re.M)


def test_each_hit_is_a_line_up_to_a_cap_and_all_are_counted(tmp_path):
    counted = run.run(["-e", 'probe func("vfs_read") { n++ }', *TINYFS]).globals["n"]
    output = tmp_path / "lines"  # on a pipe that both write to, lines of the program may stand inside of ours
    result = run.run(["-o", output, "-e", 'probe func("vfs_read")', *TINYFS])
    text = output.read_text()
    assert f"vfs_read: {counted} hits" in text, result
    lines = LINE.findall(text)
    left_out = re.search(r"^(\d+) lines not printed", text, re.M)
    assert len(lines) + (int(left_out.group(1)) if left_out else 0) == counted, result
    per_second = [sum(1 for line in lines if line[0] == second) for second in {line[0] for line in lines}]
    assert 0 < max(per_second) <= 1010  # two threads may begin a second together
    assert all(name == "vfs_read" and "count=" in values and not value for _, _, _, name, values, value in lines)


def test_a_return_shows_the_value_and_a_script_has_the_last_word():
    result = run.run(["-e", 'probe func("vfs_read").return', *TINYFS])
    assert LINE.findall(result.stdout)[0][5].startswith("return="), result
    own = 'global n function print_hit(name, values, result) { n++ } probe func("vfs_read"); probe func("vfs_read").return'
    result = run.run(["-e", own, *TINYFS])
    assert result.globals["n"] > 0 and not LINE.findall(result.stdout), result
