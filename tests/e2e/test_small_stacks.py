# SPDX-License-Identifier: Apache-2.0
"""Handlers where the program's stack may have no room: how much of it a hit uses (kMostOfProgramStack), and that nothing on it is lost."""
import os
import subprocess

import pytest

from support import golang, paths
from support.paths import victim

BOUND = 256
MIDDLE = f'func("leaf@*:{paths.line_of("small_stacks.c", "middle")}")'
BODIES = {
    "counts": "n++; m += 2",
    "arrays": "a[$n] += $n; b[$n, 1] = $n; delete a[3]; s <<< $n; t[$n] <<< $n",
    "prints": 'printf("%d %s\\n", $n, user_string($text)); println($p$, $$parms)',
    "texts": 'a[sprintf("%s %0200d", "x", $n)]++; if (user_string($text) =~ "(t[a-z]+) .*(p[a-z]*)") b[matched(1)]++',
    "doubles": 'if ($fraction > 1.2) m++; printf("%g\\n", $fraction * 2 / 3)',
    "stacks": "a[ubacktrace()]++; print_ubacktrace()",
    "loops": "a[$n]++; foreach (k in a) m += a[k]",
    "recursion": "m += down(9)",
    "many values": "v = $n; w = v * 3; x = w ^ v; y = x + w * v; z = y - x; a[v, w, x, y, z] += v + w + x + y + z; b[z, y, x, w, v]++",
    "errors": 'error("no")',
    "threads": "a[tid()] = gettimeofday_ns()",
}
FUNCTIONS = "function down(x) { if (x > 0) return down(x - 1) + 1; return 1 } "
OPTIONS = ["-D", "MAXERRORS=100000", "-o", "/dev/null"]


RETURNS = ["n += $return", "a[@entry($n)] += $return; s <<< @entry($n) / $return; printf(\"%d %d\", @entry($n), $return)", "a[ubacktrace(), $return]++"]


def depths(result):
    assert result.returncode == 0 and result.facts["calls"] == 400, result
    return [depth for kind, depth in result.facts.items() if kind != "calls"]


def check(result):
    assert len(depths(result)) == 2 and max(depths(result)) <= BOUND, result


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("point", ['func("leaf")', MIDDLE], ids=["entry", "middle"])
def test_depth_on_coroutines(djtap, point, body):
    check(djtap(*OPTIONS, "-e", f"{FUNCTIONS} probe {point} {{ {BODIES[body]} }}", "-c", victim("small_stacks")))


@pytest.mark.parametrize("body", RETURNS)
def test_depth_of_returns(djtap, body):
    check(djtap(*OPTIONS, "-e", f'probe func("leaf").return {{ {body} }}', "-c", victim("small_stacks")))


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("point", ['func("leaf")', MIDDLE], ids=["entry", "middle"])
def test_depth_on_signal_stacks(djtap_once, point, body):
    """By jumps: the kernel puts the frame of a trap there, too, so what traps is refused."""
    check(djtap_once(*OPTIONS, "-e", f"{FUNCTIONS} probe {point} {{ {BODIES[body]} }}", "-c", f"{victim('small_stacks')} signals"))


HEAVY = """global n, m, a, st
probe func("leaf") { n++; st[ubacktrace()]++; a[$n % 7]++; foreach (k in a) m += k; m += down(3) } probe end { delete st; delete a }"""


def test_signals_that_come_meanwhile(djtap):
    """Their handlers call the probed function, jump out, fork and come back in both processes; frames on their stacks stay.
    The program jumps out of 400 of djtap's handlers, and each keeps its context while another coroutine runs."""
    result = djtap("-D", "MAXERRORS=100000", "-D", "MAXACTION=100000", "-D", "CONTEXTS=500", "-e", FUNCTIONS + HEAVY, "-c", victim("stack_storm"))
    assert result.returncode == 0 and result.facts["wrong"] == 0, result
    assert result.globals["n"] > 0.9 * result.facts["calls"], result


@pytest.mark.parametrize("script", ['probe func("child") { n++ }', 'probe func("child") { st[ubacktrace()]++; n++ }',
                                    'probe syscall.exit, syscall.clone.return { n++ }'])
def test_depth_in_cloned_children(djtap_once, script):
    """What runs behind the system call that started a child runs on the child's stack."""
    result = djtap_once("-e", "global n " + script, "-c", victim("clone_stack"))
    assert result.returncode == 0 and result.globals["n"] >= result.facts["children"], result
    assert result.facts["deepest"] <= BOUND, result


def test_fibers_beside_each_other(djtap):
    if not os.path.exists(victim("fibers")):
        pytest.skip("there is no Boost.Context")
    result = djtap("-e", FUNCTIONS + HEAVY, "-c", victim("fibers"))
    assert result.returncode == 0 and result.facts["wrong"] == 0, result
    assert result.globals["n"] == result.facts["calls"], result
    if "--no-optimize" not in result.args:  # the kernel's frames of traps lie there, too
        assert result.facts["deepest"] <= BOUND, result


@pytest.fixture(scope="module", name="goroutines")
def go_program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("go")
    return golang.build(paths.TARGETS / "goroutines.go", folder / "goroutines", cache=folder / "cache", CGO_ENABLED="0")


GO = """global n, r, st, t, v
probe func("main.leaf") { n++; st[ubacktrace()]++; if (sprintf("%s %0200d", ubacktrace(), tid()) =~ "([0-9a-f]+) .*([0-9])") t[matched(1)]++ }
probe func("main.leaf").return { r++; v += register("rax") - @entry($b) } probe end { delete st; delete t }"""


def test_goroutines(djtap, goroutines):
    result = djtap("-D", "MAXMAPENTRIES=20000", "-e", GO, "-c", goroutines)
    assert result.returncode == 0 and result.globals["n"] == result.globals["r"] == result.facts["calls"], result
    alone = subprocess.run([goroutines], capture_output=True, text=True, check=True).stdout
    assert alone.strip() in result.stdout, result
