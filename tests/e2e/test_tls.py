# SPDX-License-Identifier: Apache-2.0
"""Thread-local variables: of the program, and of libraries by the thread's list of blocks, also of one that is opened later."""
import re

import pytest

from support.paths import victim

LATER = victim("liblater.so")
SCALE = {"tls": 1, "desc": 10, "later": 100}


def traced(djtap, script):
    result = djtap("-e", script, "--", victim("tls"), LATER)
    assert result.returncode == 0 and "ERROR" not in result.stderr, result
    return result


@pytest.mark.parametrize("form", SCALE)
def test_each_thread_has_its_own(djtap, form):
    """Ten calls a thread, each adds n, 2n, 3n and -n."""
    body = f'printf("%d: %d %d %d %d\\n", $id, $hidden, ${form}_shared, $big->last, $big->low[3])'
    result = traced(djtap, f'probe func("{form}_seen")? {{ {body} }}')
    truth = {f"{id}: {5 + n * i} {2 * n * i} {3 * n * i} {-n * i}" for id in (1, 2, 3) for i in range(1, 11)
             for n in [id * SCALE[form]]}
    assert set(re.findall(r"^\d: .*$", result.stdout, re.M)) == truth, result


@pytest.mark.parametrize("form", SCALE)
def test_before_its_first_use_a_variable_has_its_initial_value(djtap, form):
    """The thread's block of a library that came later is made when the thread asks for it."""
    result = traced(djtap, f'global seen probe func("{form}_work")? {{ if (!seen[$id]++) printf("%d: %d %d\\n", $id, $hidden, ${form}_shared) }}')
    assert sorted(re.findall(r"^\d: .*$", result.stdout, re.M)) == ["1: 5 0", "2: 5 0", "3: 5 0"], result


def test_what_is_in_no_block_yet_is_an_error(djtap):
    """Large, and begins as 0: nowhere."""
    result = djtap("-e", 'global n probe func("later_work")? { try { last = $big->last; n++ } catch { bad++ } }', "--", victim("tls"), LATER)
    assert result.globals == {"n": 27, "bad": 3}, result


def test_at_the_return_it_is_that_of_the_entry(djtap):
    result = traced(djtap, 'probe func("tls_work").return { if ($id == 2) printf("%d: %d\\n", $id, $hidden) }')
    assert re.findall(r"^2: (\d+)$", result.stdout, re.M) == [str(5 + 2 * i) for i in range(10)], result


def test_of_the_program_and_of_others_that_it_names(djtap):
    """own is the program's; tls_shared and tls_plain are only declared in it."""
    result = traced(djtap, 'probe func("use") { printf("%d: %d\\n", $id, $own + $id + $tls_shared + $tls_plain) } '
                           'probe func("use").return { printf("%d: %d\\n", @entry($id), $return) }')
    pairs = re.findall(r"^(\d): (\d+)$", result.stdout, re.M)
    assert len(pairs) == 6 and len(set(pairs)) == 3, result


def test_by_the_librarys_name(djtap):
    script = ('probe func("tls_seen").return { printf("%d: %d %d\\n", $id, @var("hidden@tls_lib.c", "libtls.so"), @var("hidden", "libdesc")) }'
              'probe func("use") { printf("%d: %d %s\\n", $id, @var("tls_shared", "libtls.so"), @var("big", "libdesc")$) }')
    lines = re.findall(r"^(\d): (.*)$", traced(djtap, script).stdout, re.M)
    assert ("1", "15 95") in lines and ("3", "35 275") in lines, lines
    assert [row for row in lines if row[1].startswith("40 ")] == [("2", "40 {.low=[...], .last=600}")], lines
