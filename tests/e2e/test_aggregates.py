# SPDX-License-Identifier: Apache-2.0
"""Statistics: extractors, histograms in SystemTap's drawing, and exactness under four threads."""
import re
import statistics

import pytest

from support.paths import victim


def begin(body, extra="global s"):
    return f"{extra}\nprobe begin {{ {body}; exit() }}"


EXTRACTORS = [("@count(s)", "5"), ("@sum(s)", "110"), ("@min(s)", "-4"), ("@max(s)", "100"), ("@avg(s)", "22")]


@pytest.mark.parametrize("extractor, value", EXTRACTORS)
def test_extractors(djtap_once, extractor, value):
    body = f's <<< 10; s <<< -4; s <<< 100; s <<< 3; s <<< 1; printf("%d", {extractor})'
    assert djtap_once("-e", begin(body)).stdout == value


def test_extractors_of_array_elements(djtap_once):
    body = """s["a"] <<< 1; s["a"] <<< 2; s["b"] <<< 50; foreach (k in s @sum-) printf("%s %d %d %d|", k, @count(s[k]), @sum(s[k]), @max(s[k]))"""
    assert djtap_once("-e", begin(body)).stdout == "b 1 50 50|a 2 3 2|"


def test_sorting_by_statistic(djtap_once):
    body = """for (i = 0; i < 5; i++) for (j = 0; j <= i; j++) s[i] <<< 10 - i
        foreach (k in s @count+) print(k); foreach (k in s @avg+) print(k); foreach (k in s @sum- limit 2) print(k)"""
    assert djtap_once("-e", begin(body)).stdout == "01234" + "43210" + "43"


def test_sorting_by_percentile_and_variance(djtap_once):
    """Samples whose order differs by each operator; also in a loop of another array's, with delete in the script, and of a snapshot."""
    samples = {"far": [2] * 98 + [90000] * 2, "wide": [1] * 60 + [4000] * 40, "even": [70, 72] * 50, "none": [5]}
    feed = "".join(f's["{name}"] <<< {value}; ' for name, values in samples.items() for value in values)
    order = lambda key: "".join(sorted(samples, key=lambda name: key(samples[name]), reverse=True))
    at = lambda share: lambda values: sorted(values)[max(0, -(-len(values) * share // 1000) - 1)]
    truth = "|".join([order(at(500)), order(at(950)), order(at(990)),
                      order(lambda values: statistics.variance(values) if len(values) > 1 else 0)])
    loops = '; print("|"); '.join(f"foreach (k in s @{op}-) print(k)" for op in ["p50", "p95", "p99", "variance"])
    inner = 't[1] = 1; foreach (x in t) foreach (k in s @p90+ limit 1) println(k)'
    script = begin(f'{feed} {loops}; delete s["nobody"]; print("\\n"); {inner}; snapshot (s) {{ {loops} }}', "global s, t")
    assert djtap_once("-e", script).stdout == f"{truth}\nfar\n{truth}"


def test_deleted_statistics_start_again(djtap_once):
    body = 's <<< 5; delete s; s <<< 2; printf("%d %d", @count(s), @sum(s))'
    assert djtap_once("-e", begin(body)).stdout == "1 2"


def test_empty_statistic_has_a_count(djtap_once):
    assert djtap_once("-e", begin('if (0) s <<< 1; printf("%d %d", @count(s), @sum(s))')).stdout == "0 0"


def rows(text):
    """The drawing as [(value, bar length, count)]."""
    return [(value.strip(), len(bar), int(count)) for value, bar, count in re.findall(r"^\s*(\S+) \|(@*) *(\d+)$", text, re.M)]


def test_log_histogram(djtap_once):
    body = "for (i = 0; i < 3; i++) s <<< 1; s <<< 5; s <<< 7; s <<< 1000; print(@hist_log(s))"
    text = djtap_once("-e", begin(body)).stdout
    lines = text.rstrip("\n").split("\n")
    assert lines[0] == "value |" + "-" * 50 + " count"
    assert [row for row in rows(text) if row[2]] == [("1", 3, 3), ("4", 2, 2), ("512", 1, 1)]
    assert lines[2].startswith("    1 |@@@ "), text
    widths = {len(line) for line in lines[1:] if "|" in line}
    assert len(widths) == 1, "counts stand in one column"


def test_log_histogram_of_negative_values(djtap_once):
    text = djtap_once("-e", begin("s <<< -1; s <<< -8; s <<< 0; s <<< 3; print(@hist_log(s))")).stdout
    assert [(value, count) for value, _, count in rows(text) if count] == [("-8", 1), ("-1", 1), ("0", 1), ("2", 1)], text


def test_log_histogram_is_scaled(djtap_once):
    text = djtap_once("-e", begin("for (i = 0; i < 1000; i++) s <<< 1; for (i = 0; i < 500; i++) s <<< 2; print(@hist_log(s))")).stdout
    found = {value: (bar, count) for value, bar, count in rows(text)}
    assert found["1"] == (50, 1000) and found["2"] == (25, 500), text


def test_linear_histogram(djtap_once):
    body = "for (i = -5; i < 35; i++) s <<< i; print(@hist_linear(s, 0, 30, 10))"
    text = djtap_once("-e", begin(body)).stdout
    found = {value: count for value, _, count in rows(text)}
    assert found.get("0") == 10 and found.get("10") == 10 and found.get("20") == 10, text
    assert found.get("<0") == 5, text
    assert sum(found.values()) == 40, text


def test_exact_with_four_threads(djtap):
    script = """probe func("work") { all <<< $n; per[$id] <<< $n } probe func("work").return { back <<< $return }"""
    result = djtap("-e", script, "-c", f"{victim('count')} 20000")
    calls, total = result.facts["work calls"], result.facts["sum"]
    assert f"all @count={calls} @min=0 @max=19999 @sum={total} @avg={total // calls}" in result.stdout, result
    assert len(re.findall(r"^per\[[0-3]\] @count=20000 @min=0 @max=19999 @sum=199990000 @avg=9999$", result.stdout, re.M)) == 4
    assert re.search(rf"^back @count={calls} @min=0 @max=40001 ", result.stdout, re.M), result


def test_histogram_of_arguments(djtap):
    script = 'probe func("work") { s <<< $n } probe end { print(@hist_linear(s, 0, 1000, 100)) }'
    result = djtap("-e", script, "-c", victim("count"))
    found = {value: count for value, _, count in rows(result.stdout)}
    assert all(found.get(str(low)) == 400 for low in range(0, 1000, 100)), result
