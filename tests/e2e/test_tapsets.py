# SPDX-License-Identifier: Apache-2.0
"""Aliases, macros and tapset folders, against what the victim counted itself; --fmt."""
import pytest

from support import paths, run

COUNT = ["-c", str(paths.BUILD / "targets" / "count_static")]


def test_an_alias_of_a_tapset_counts_what_the_victim_counted(tmp_path):
    (tmp_path / "demo.djt").write_text('probe demo.work = func("work") { one = step() }\n')
    (tmp_path / "helper.djt").write_text("function step() { return 1 }\n")
    (tmp_path / "words.djtm").write_text("@define twice(x) %( (@x + @x) %)\n")
    (tmp_path / "broken.djt").write_text("probe other.thing = }\n")  # nobody asks for it: never read
    result = run.run(["-I", tmp_path, "-e", "probe demo.* { n += one; m += @twice(one) }", *COUNT])
    assert result.globals["n"] == result.facts["work calls"] > 0, result
    assert result.globals["m"] == 2 * result.globals["n"], result


def test_names_of_a_tapset_do_not_meet_the_scripts(tmp_path):
    (tmp_path / "helper.djt").write_text(
        "private global calls\nprivate function add() { return ++calls }\nfunction step() { n = add(); return n }\n")
    script = 'probe func("work") { n++; calls = step() } probe end { printf("%d %d\\n", n, step()) }'
    result = run.run(["-I", tmp_path, "-e", script, *COUNT])
    work = result.facts["work calls"]
    assert f"{work} {work + 1}" in result.stdout, result
    result = run.run(["-I", tmp_path, "-e", "probe begin { println(step() + add()) }"])
    assert "error[DJ2001]" in result.stderr and "it is private to helper.djt" in result.stderr, result


def test_a_conditional_chooses_by_the_arguments():
    script = "%( $# == 1 %? probe func(@1) { n++ } %: probe func(\"none\") { n++ } %)"
    result = run.run(["-e", script, "work", *COUNT])
    assert result.globals["n"] == result.facts["work calls"], result


@pytest.mark.parametrize("name", ["angle", "forms", "precedence", "statements"])
def test_a_tidy_script_means_the_same(name, tmp_path):
    script = paths.ROOT / "tests" / "golden" / "script" / f"{name}.djt"
    tidy = tmp_path / "tidy.djt"
    tidy.write_text(run.run(["--fmt", script]).stdout)
    trees = [run.run(["--stop-after=parse", "--dump=ast", path]).stdout for path in (script, tidy)]
    assert trees[0] == trees[1] != ""
    assert run.run(["--fmt", tidy]).stdout == tidy.read_text()
