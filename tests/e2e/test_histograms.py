# SPDX-License-Identifier: Apache-2.0
"""Histograms are drawn as SystemTap draws them: compared with the C functions of its runtime, compiled where they are installed."""
import pathlib
import random
import subprocess

import pytest

RUNTIME = pathlib.Path("/usr/share/systemtap/runtime")
# What the runtime expects around it; samples come on stdin.
HARNESS = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define unlikely(x) (x)
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define do_div(n, base) ({ uint64_t rest_ = (n) % (base); (n) /= (base); rest_; })
#define _stp_snprintf snprintf
#define _stp_warn(...) fprintf(stderr, __VA_ARGS__)
static void _stp_print_flush(void) {}
static int64_t _stp_div64(const char **error, int64_t a, int64_t b) { return a / b; }
#include "stat-common.c"
int main(int argc, char **argv) {
  struct _Hist hist = {argc > 1 ? HIST_LINEAR : HIST_LOG};
  if (argc > 1) hist.start = atoi(argv[1]), hist.stop = atoi(argv[2]), hist.interval = atoi(argv[3]);
  hist.buckets = argc > 1 ? _stp_stat_calc_buckets(hist.stop, hist.start, hist.interval) : HIST_LOG_BUCKETS;
  stat_data *data = calloc(1, sizeof *data + 8 * hist.buckets);
  for (long long sample; scanf("%lld", &sample) == 1;) __stp_stat_add(&hist, data, sample, 1, 1, 1, 1, 0);
  static char text[1 << 16];
  _stp_stat_print_histogram_buf(text, sizeof text, &hist, data);
  fputs(text, stdout);
}
"""


@pytest.fixture(scope="module")
def systemtap(tmp_path_factory):
    """systemtap(samples, bounds...) gives the text of SystemTap's drawing."""
    if not (RUNTIME / "stat-common.c").exists():
        pytest.skip("SystemTap's runtime is not installed")
    folder = tmp_path_factory.mktemp("stat")
    (folder / "draw.c").write_text(HARNESS)
    subprocess.run(["gcc", "-w", "-O1", f"-I{RUNTIME}", "-o", folder / "draw", folder / "draw.c"], check=True)
    return lambda samples, *bounds: subprocess.run([folder / "draw", *map(str, bounds)], input=" ".join(map(str, samples)),
                                                   capture_output=True, text=True, check=True).stdout


def samples_of(kind):
    some = random.Random(kind)
    return {"none far": [3, 3, 4], "one": [7], "zeros": [0] * 9, "many": [some.randrange(1000) for _ in range(3000)],
            "far apart": [1, 1 << 20, 1 << 40, -5], "negative": [-some.randrange(1 << some.randrange(1, 40)) for _ in range(300)],
            "both": [some.randrange(-200, 200) for _ in range(123)], "wide": [100_000 + i for i in range(120_000, 120_400)],
            "bounds": [0, 9, 10, 99, 100, 109, 110, 5000, -1]}[kind]


KINDS = ["none far", "one", "zeros", "many", "far apart", "negative", "both", "wide", "bounds"]


def drawn(djtap_once, samples, how):
    """Samples that repeat are written once: a script is to stay short."""
    counts = {}
    for sample in samples:
        counts[sample] = counts.get(sample, 0) + 1
    body = "\n".join(f"for (i = 0; i < {count}; i++) s <<< {sample}" for sample, count in counts.items())
    result = djtap_once("-D", "MAXACTION_HOST=10000000", "-e", f"global s probe begin {{ {body}\nprint(@hist_{how}) exit() }}")
    assert result.returncode == 0 and result.stderr == "", result
    return result.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_logarithmic(djtap_once, systemtap, kind):
    samples = samples_of(kind)
    assert drawn(djtap_once, samples, "log(s)") == systemtap(samples)


@pytest.mark.parametrize("bounds", [(0, 100, 10), (0, 90, 30), (-100, 100, 25), (100_000, 240_000, 20_000), (0, 95, 5)])
@pytest.mark.parametrize("kind", ["many", "both", "bounds", "wide", "one"])
def test_linear(djtap_once, systemtap, kind, bounds):
    samples = samples_of(kind)
    assert drawn(djtap_once, samples, f"linear(s, {', '.join(map(str, bounds))})") == systemtap(samples, *bounds)


@pytest.mark.parametrize("bits", range(5))
def test_parts_of_powers_of_two(djtap_once, bits):
    """@hist(x, bits): every power of two in 2^bits parts. The counts are Python's."""
    samples = [0, 1, 2, 3, 5, 7, 15, 16, 17, 31, 32, 33, 1000, 1023, 1024, -1, -37, -1000, 2**40 + 2**38, 2**63 - 1, -(2**63)]
    script = "global s probe oneshot { " + " ".join(f"s <<< {n}" if n > -(2**63) else "s <<< 1 << 63" for n in samples)
    result = djtap_once("-e", script + f" }} probe end {{ print(@hist(s, {bits})) }}")
    assert result.returncode == 0 and result.stderr == "", result
    shown = {int(line.split("|")[0]): int(line.split()[-1]) for line in result.stdout.splitlines() if "|" in line and "value" not in line}

    def bucket(n):
        drop = max(abs(n).bit_length() - 1 - bits, 0)
        return (abs(n) >> drop << drop) * (-1 if n < 0 else 1)
    expected = {}
    for n in samples:
        expected[bucket(n)] = expected.get(bucket(n), 0) + 1
    assert {label: n for label, n in shown.items() if n} == expected, result
    assert list(shown) == sorted(shown), result


def test_parts_of_powers_of_two_in_arrays_and_snapshots(djtap_once):
    result = djtap_once("-e", """global a, s probe oneshot { for (i = 0; i < 100; i++) { a[i % 2, i] <<< i; s <<< i } }
        probe end { print(@hist(a[0, *], 4)) snapshot(s) { print(@hist(s, 4)) } println(@count(s)) }""")
    tables = result.stdout.split("\n\n")
    totals = [sum(int(line.split()[-1]) for line in table.splitlines() if "|" in line and "value" not in line) for table in tables]
    assert totals == [50, 100, 0] and tables[2].strip() == "0", result
