# SPDX-License-Identifier: Apache-2.0
"""Slices of arrays and arrays that wrap; everything that aggregates are asked for."""
import pytest

from support.paths import victim

FILL = "for (i = 0; i < 4; i++) for (j = 0; j < 3; j++) { a[i, j] = 10 * i + j; s[i, j] <<< 10 * i + j }"

CASES = {
    "foreach over a slice": ("foreach ([i-, j] in a[*, 2]) print(a[i, j], \" \")", "32 22 12 2 "),
    "foreach with a limit": ("foreach ([i+, j] in a[*, 1] limit 2) print(a[i, j], \" \")", "1 11 "),
    "foreach sorted by the value": ("foreach (v- = [i, j] in a[2, *]) print(v, \" \")", "22 21 20 "),
    "foreach by an aggregate": ("foreach ([i, j] in s[*, 0] @sum-) print(@sum(s[i, j]), \" \")", "30 20 10 0 "),
    "a negative limit is none": ("foreach ([i, j] in a limit -1) print(i)", ""),
    "in": ("print([*, 2] in a, [*, 7] in a, [3, *] in a, [*, *] in a)", "1011"),
    "delete": ("delete a[*, 1]; foreach ([i+, j] in a) print(j); print([*, 1] in a)", None),
    "delete all": ("delete a[*, *]; print([*, *] in a)", "0"),
    "count and sum of a slice": ("print(@count(s[*, 1]), \" \", @sum(s[*, 1]), \" \", @avg(s[2, *]), \" \", @max(s[*, *]))", "4 64 21 32"),
    "percentiles of a slice": (
        "for (i = 0; i < 3; i++) for (j = 1; j <= 10; j++) t[i, j % 2] <<< 10 * i + j;"
        "print(@p50(t[*, *]), \" \", @p90(t[*, *]), \" \", @p50(t[*, 0]), \" \", @p999(t[1, *]), \" \", @p50(t[1, 1]))",
        "15 27 16 20 15"),
    "variance of a slice": ("for (i = 1; i <= 5; i++) t[i, 0] <<< i; print(@variance(t[*, *]), \" \", @variance(t[*, 0], 3))", "2 2"),
    "buckets of a slice": (
        "print(@hist_log(s[*, 1])[65], @hist_log(s[*, *])[68], \" \", 70 in @hist_log(s[*, 1]), \" \");"
        "foreach (b in @hist_linear(s[2, *], 20, 22, 1)) print(@hist_linear(s[2, *], 20, 22, 1)[b]);"
        "try { print(@hist_log(s[*, 1])[200]) } catch (m) { print(m) }", "13 1 01110the histogram has no bucket 200"),
    "an empty slice": ("print(@count(s[*, 9])); try { print(@min(s[*, 9])) } catch (m) { print(m) }", "0the aggregate is empty"),
}


@pytest.mark.parametrize("body, text", CASES.values(), ids=CASES.keys())
def test_slices(djtap_once, body, text):
    result = djtap_once("-e", f"global a, s, t probe begin {{ {FILL} {body}; println(); exit() }}")
    line = result.stdout.split("\n")[0]
    if text is None:
        assert line.count("1") == 0 and line.count("0") == 5 and line.count("2") == 4, result
    else:
        assert line == text, result


def test_a_wrapping_array_gives_up_its_oldest_elements(djtap_once):
    script = "global a%[5] probe begin { for (i = 0; i < 12; i++) a[i] = i; foreach (k+ in a) print(k, \" \"); println(); exit() }"
    result = djtap_once("-e", script)
    assert result.stdout.startswith("7 8 9 10 11 \n") and "skipped" not in result.stderr, result


def test_a_wrapping_array_under_threads_stays_within_its_size(djtap):
    result = djtap("-e", 'global last%[100] probe func("work") { last[tid(), $n] = $n }', "-c", f"{victim('count')} 2000")
    kept = result.array("last")
    assert len(kept) == 100 and all(key.endswith("," + value) for key, value in kept), result


@pytest.mark.parametrize("form", ["log({})", "linear({}, 0, 40, 5)"])
def test_the_histogram_of_a_slice_is_that_of_its_samples(djtap_once, form):
    """As a plain aggregate draws it that was given the same values."""
    shown = [f'print(@hist_{form.format(which)}) println("--")' for which in ("s[*, 1]", "t")]
    result = djtap_once("-e", f"global a, s, t probe begin {{ {FILL} for (i = 1; i < 40; i += 10) t <<< i {' '.join(shown)} delete s delete t exit() }}")
    of_slice, of_all, _ = result.stdout.split("--\n", 2)
    assert of_slice == of_all and sum(int(line.split()[-1]) for line in of_slice.splitlines()[1:] if "@" in line) == 4, result


STATS = {
    "variance": ("for (i = 1; i <= 5; i++) x <<< i; print(@variance(x), @variance(x, 1))", "22"),
    "variance of negative and large": ("x <<< -3000000000; x <<< 3000000000; print(@variance(x))", "-446744073709551616"),
    "variance of one": ("x <<< 7; print(@variance(x))", "0"),
    "exact percentiles": ("for (i = 1; i <= 30; i++) x <<< i; print(@p50(x), \" \", @p90(x), \" \", @p99(x))", "15 27 30"),
    "one value": ("x <<< 123456789; print(@p50(x), \" \", @p999(x))", "123456789 123456789"),
    "percentiles of elements": ("y[1] <<< -20; y[1] <<< -10; y[1] <<< 4; print(@p50(y[1]))", "-10"),
    "log buckets": ("x <<< 0; x <<< 3; x <<< 2; x <<< -1; print(@hist_log(x)[64], @hist_log(x)[66], @hist_log(x)[63])", "121"),
    "linear buckets": (
        "x <<< -100; x <<< 1; x <<< 2; x <<< 3; x <<< 100;"
        "foreach (b in @hist_linear(x, 1, 3, 1)) print(b, \":\", @hist_linear(x, 1, 3, 1)[b], \" \")", "0:1 1:1 2:1 3:1 4:1 "),
    "limit and break": ("x <<< 1; foreach (b in @hist_log(x) limit 3) print(b); foreach (b in @hist_log(x)) if (b > 1) break; print(b)", "0122"),
    "in a histogram": (
        "x <<< 1; print(127 in @hist_log(x), 128 in @hist_log(x), -1 in @hist_log(x), [0] in @hist_log(x), "
        "5 in @hist_linear(x, 0, 3, 1), 6 in @hist_linear(x, 0, 3, 1))", "100110"),
    "no such bucket": ("x <<< 1; try { print(@hist_log(x)[128]) } catch (m) { print(m) }", "the histogram has no bucket 128"),
    "absent element": ("y[1] <<< 1; print(@hist_log(y[2])[64]); try { print(@p50(y[2])) } catch (m) { print(m) }", "0the aggregate is empty"),
}


@pytest.mark.parametrize("body, text", STATS.values(), ids=STATS.keys())
def test_what_aggregates_are_asked(djtap_once, body, text):
    result = djtap_once("-e", f"global x, y probe begin {{ {body}; println(); exit() }} probe end {{ if (0) {{ x <<< 1; y[0] <<< 1 }} }}")
    assert result.stdout.split("\n")[0] == text, result


def test_percentiles_are_near_the_truth(djtap):
    script = 'probe func("work") { x <<< $n * $n } probe end { printdln(" ", @p50(x), @p90(x), @p95(x), @p99(x), @p999(x), @count(x)) }'
    result = djtap("-e", script, "-c", f"{victim('count')} 2000 2")
    got = [int(word) for word in result.stdout.splitlines()[-1].split()]
    truth = sorted(n * n for n in range(2000))
    for value, mille in zip(got, (500, 900, 950, 990, 999)):
        exact = truth[-(-2000 * mille // 1000) - 1]
        assert abs(value - exact) <= exact / 32 + 1, (mille, value, exact)
    assert got[5] == 4000, result
