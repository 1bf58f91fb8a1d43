# SPDX-License-Identifier: Apache-2.0
"""snapshot(): what is taken and what stays add up to what the victim counted, while its threads go on."""
from support.paths import victim

SCRIPT = """
global numbers, total, keyed, samples, keyed_samples, taken
probe func("work") { n++; numbers++; if (numbers < 0) exit(); a[tid()]++; s <<< 1; t[tid()] <<< 2 }
probe timer.ms(20) {
  taken++
  total += snapshot(n) + snapshot(numbers)
  snapshot(a) { foreach (k in a) keyed += a[k] }
  snapshot(s) { samples += @sum(s) }
  snapshot(t) { foreach (k in t) keyed_samples += @sum(t[k]) + @count(t[k]) }
}
probe end {
  total += snapshot(n) + snapshot(numbers)
  foreach (k in a) keyed += snapshot(a[k])
  foreach (k in a) keyed += 1000000
  samples += @sum(s)
  foreach (k in t) keyed_samples += @sum(t[k]) + @count(t[k])
}
"""


def test_nothing_is_lost_or_counted_twice(djtap):
    result = djtap("-e", SCRIPT, "-c", f"{victim('hammer')} 1")
    calls, found = result.facts["work calls"], result.globals
    assert found["taken"] > 1 and calls > 10000, result
    assert found["total"] == 2 * calls, result
    assert found["keyed"] == calls, result
    assert found["samples"] == calls, result
    assert found["keyed_samples"] == 3 * calls, result


def test_inside_the_block_the_name_is_the_snapshot(djtap):
    script = """probe func("work") { a[1]++ }
    probe end { snapshot(a) { println("was ", a[1]); println("gone ", [1] in a); snapshot(a) { println("again ", a[1]) } println("then ", [1] in a) }
                println("now ", [1] in a) }"""
    result = djtap("-e", script, "-c", victim("count"))
    lines = dict(line.split() for line in result.stdout.splitlines() if len(line.split()) == 2 and line.split()[1].isdigit())
    assert lines["was"] == lines["again"] == str(result.facts["work calls"]), result
    assert (lines["gone"], lines["then"], lines["now"]) == ("1", "0", "0"), result


def test_the_block_may_change_the_snapshot(djtap_once):
    script = """global a
    probe begin {
      a[1] = 5; snapshot(a) { a[1] = 7; println(a[1]) }
      a[1] = 1; snapshot(a) { a[1] += 7; println(a[1]) }
      snapshot(a) { println([1] in a) }
      exit()
    }"""
    assert djtap_once("-e", script).stdout == "7\n8\n0\n"


def test_strings_and_histograms(djtap):
    script = """global last
    probe func("work") { last = "seen"; s <<< 5 }
    probe end { println(snapshot(last), ".", last, "."); snapshot(s) { print(@hist_log(s)) } println(@count(s)) }"""
    result = djtap("-e", script, "-c", victim("count"))
    assert "seen..\n" in result.stdout and f" {result.facts['work calls']}\n" in result.stdout, result
    assert result.stdout.endswith("0\n"), result


def test_what_has_no_snapshot(djtap_once):
    for script, words in {
        "probe begin { x = 1; println(snapshot(x)) }": "declare it: global x",
        "global a probe begin { a[1] = 1; println(snapshot(a)) }": "needs a block",
        'global a probe func("f") { a[1] = 1; snapshot(a) { n++ } }': "runs in djtap",
        "probe begin { snapshot(1, 2) }": "takes one variable",
        "probe begin { snapshot(x) { } }": "takes a global",
    }.items():
        result = djtap_once("-e", script)
        assert "error[DJ2032]" in result.stderr and words in result.stderr, result


def test_swap_is_another_name(djtap_once):
    """Of the block, of the value, and of what a script calls so itself."""
    result = djtap_once("-e", """global a, n = 3
        probe begin { a["x"] = 1 swap(a) { foreach (k in a) println(k, " ", a[k]) } println(swap(n), " ", n, " ", "x" in a) exit() }""")
    assert result.returncode == 0 and result.stdout == "x 1\n3 0 0\n", result
    result = djtap_once("-e", 'function swap(n) { return n + 1 } probe begin { println(swap(4)) exit() }')
    assert result.returncode == 0 and result.stdout == "5\n", result
