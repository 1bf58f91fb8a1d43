# SPDX-License-Identifier: Apache-2.0
"""The first thing a user does: count the calls of vfs_read in tinyfs; and every example runs."""
import re
import shlex

import pytest

from support import paths

EXAMPLES = sorted((paths.ROOT / "examples").glob("*.djt"))


@pytest.mark.parametrize("body", ["< count++ >", "{ count++ }"])
def test_counts_what_tinyfs_counts(djtap, body):
    result = djtap("-e", f'probe func("vfs_read") {body}', "-c", str(paths.TINYFS))
    assert result.returncode == 0, result
    assert result.facts["mistakes"] == 0, result
    assert result.globals == {"count": result.facts["vfs_read calls"]}, result
    assert result.stdout.splitlines()[-1] == f"count={result.facts['vfs_read calls']}", result


def test_the_wrapper_script_adds_no_delay(djtap_once):
    """scripts/djtap in the work tree itself, when its build is current."""
    stamp = paths.ROOT / "build" / "djtap.stamp"
    if paths.BUILD != paths.ROOT / "build" or not stamp.exists():
        pytest.skip("scripts/djtap has not built this tree")
    result = djtap_once("--version", binary=paths.ROOT / "scripts" / "djtap", timeout=600)
    assert result.returncode == 0 and result.stdout.startswith("djtap"), result


def test_sums_arguments_and_results(djtap):
    script = """probe func("vfs_read").return { if ($return > 0) total += $return; calls++ }"""
    result = djtap("-e", script, "-c", str(paths.TINYFS))
    assert result.globals == {"total": result.facts["bytes read"], "calls": result.facts["vfs_read calls"]}, result


SHAPES = [(r"0x[0-9a-f]+", "0x[0-9a-f]+"), (r"\d+\.\d+", r"\d+\.\d+"), (r"(?<![\w.])0(?![\w.])", r"\d+"),
          (r"(?<![\w.])\d+(?![\w.])", r"0*[1-9]\d*"), (r"@+", "@+"), (r"\.\.\.", ".*"), (r" +", " *")]


def shape_of(line):
    """A pattern for lines like this one: other numbers, but 0 only for 0; other widths; words as they are."""
    parts, at = [], 0
    tokens = re.compile("|".join(f"(?P<p{number}>{token})" for number, (token, _) in enumerate(SHAPES)))
    for found in tokens.finditer(line):
        parts += [re.escape(line[at:found.start()]), SHAPES[int(found.lastgroup[1:])][1]]
        at = found.end()
    return re.compile("".join([*parts, re.escape(line[at:])]))


def test_shapes():
    """What the test of the examples takes for the same shape, and what not."""
    assert shape_of("  48 %     82 f (x) 0x7f").fullmatch(" 5 %   7 f (x) 0x1")
    assert not shape_of("  48 %     82 f (x)").fullmatch(" 0 %   0 f (x)")
    assert shape_of(" 0 |@@@   4").fullmatch("16 |@    12") and not shape_of("0 |@@@  4").fullmatch("0 |    4")
    assert not shape_of("read  written").fullmatch("read  wrote") and shape_of("a: 1.250 us").fullmatch("a: 0.030 us")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_as_its_header_says(djtap_once, example):
    line = re.search(r"^//\s+scripts/djtap (.*)$", example.read_text(), re.M)
    assert line, "the header shows the command"
    words = shlex.split(re.sub(r"\bbuild/", f"{paths.BUILD}/", line.group(1)))
    result = djtap_once(*words, cwd=paths.ROOT)
    assert result.returncode == 0, result
    assert "ERROR" not in result.stderr and "error" not in result.stderr, result
    shown = re.findall(r"^//   \| (.*)$", example.read_text(), re.M)
    assert shown, "the header shows what is printed"
    lines = result.stdout.splitlines()
    for sample in shown:
        assert any(shape_of(sample).fullmatch(line) for line in lines), f"no line like {sample!r} in {result}"


def test_example_calls_is_exact(djtap):
    result = djtap(str(paths.ROOT / "examples/calls.djt"), "-c", str(paths.TINYFS))
    counts = dict(result.array("calls"))
    assert int(counts['"vfs_read"']) == result.facts["vfs_read calls"], result
    assert counts['"vfs_write"'] == "801", result
    values = [int(value) for _, value in result.array("calls")]
    assert values == sorted(values, reverse=True), result


def test_example_line_sees_locals(djtap):
    result = djtap(str(paths.ROOT / "examples/line.djt"), "-c", str(paths.TINYFS))
    shown = re.findall(r"^tinyfs: block index (\d+), offset (\d+), part (\d+)$", result.stdout, re.M)
    assert len(shown) == 10, result
    assert all(int(offset) + int(part) <= 512 for _, offset, part in shown), result
