# SPDX-License-Identifier: Apache-2.0
"""sprint(@hist_...(x)): the text that print() draws, as a value; and which number a bucket has in the script and in Lua."""
import re

import pytest

from support.paths import victim

FORMS = ["@hist_log({})", "@hist_linear({}, -20, 40, 10)", "@hist({}, 2)"]
SAMPLES = [[], [0], [1, 2, 3, 900], [-5, 5, 5, 5, 15, 39, 40, 1000], [-9223372036854775807 - 1, -1, 9223372036854775807], list(range(-100, 100))]


def feed(place, samples):
    return " ".join(f"{place} <<< {sample if sample > -2**63 else '-9223372036854775807 - 1'};" for sample in samples)


@pytest.mark.parametrize("form", FORMS)
def test_the_text_of_print(djtap_once, form):
    """Of values, elements and slices."""
    places = [("s", "s"), ("a[7]", "a[7]"), ("b[1, 2]", "b[*, 2]")]
    for place, asked in places:
        drawn = form.format(asked)
        body = "".join(f'{feed(place, samples)} print({drawn}) println("=") print(sprint({drawn})) println("#") delete {place[0]} ' for samples in SAMPLES)
        result = djtap_once("-e", f"global s, a, b probe begin {{ {body} exit() }}")
        pairs = [part.split("=\n") for part in result.stdout.split("#\n")[:-1]]
        assert result.returncode == 0 and len(pairs) == len(SAMPLES), result
        assert all(printed == kept for printed, kept in pairs) and pairs[0] == ["", ""] and "@" in pairs[2][0], result


def test_in_the_program_and_kept(djtap):
    """A handler in the target keeps it in a global and in an array."""
    script = """global s, n, text, kept
        probe func("work") { s <<< ++n; text = sprint(@hist_log(s)); kept["work"] = text }
        probe end { print(text); print(@hist_log(s)); print(kept["work"]) }"""
    result = djtap("-e", script, "-c", f"{victim('count')} 500 1")
    rows = re.findall(r"^ *(\d+) \|.* (\d+)$", result.stdout, re.M)
    assert len(rows) % 3 == 0 and rows[:len(rows) // 3] == rows[len(rows) // 3:len(rows) // 3 * 2] == rows[len(rows) // 3 * 2:], result
    assert sum(int(count) for _, count in rows) == 3 * result.facts["work calls"], result


def test_lines_that_have_no_room_are_left_out(djtap_once):
    """Whole ones, and it is told."""
    result = djtap_once("-D", "MAXSTRINGLEN=64", "-D", "STRINGBYTES=65536", "-e",
                        f"global s probe begin {{ {feed('s', range(0, 3000, 7))} print(sprint(@hist_linear(s, 0, 3000, 4))); exit() }}")
    lines = result.stdout.splitlines()
    assert len(lines) > 10 and all(re.fullmatch(r" *(value|\d+) \|.{50} +(count|\d+)", line) for line in lines), result
    assert "1 string cut (raise -D MAXSTRINGLEN)" in result.stderr, result


def test_numbers_of_buckets(djtap_once, tmp_path):
    """In the script as SystemTap counts them: 64 is the value 0. In Lua a bucket has the value that it begins with."""
    (tmp_path / "buckets.lua").write_text("""dj.on_end(function(g)
        for value, count in pairs(g.s.hist_log) do print("lua " .. value .. " " .. count) end
    end)""")
    samples = [0, 1, 2, 3, 4, 900, -1, -6]
    begins = [0, 1, 2, 2, 4, 512, -1, -4]
    body = f'{feed("s", samples)} foreach (n = b in @hist_log(s)) if (n) println("bucket ", b, " ", n)'
    result = djtap_once("--report", tmp_path / "buckets.lua", "-e", f"global s probe begin {{ {body} exit() }} probe end {{ println(@count(s)) }}")
    by_value = dict(re.findall(r"^lua (-?\d+) (\d+)$", result.stdout, re.M))
    by_number = dict(re.findall(r"^bucket (\d+) (\d+)$", result.stdout, re.M))
    wanted = {value: begins.count(value) for value in begins}
    number = {value: 64 + (abs(value).bit_length() if value >= 0 else -abs(value).bit_length()) for value in begins}
    assert {int(value): int(count) for value, count in by_value.items()} == wanted, result
    assert {int(bucket): int(count) for bucket, count in by_number.items()} == {number[value]: count for value, count in wanted.items()}, result
