# SPDX-License-Identifier: Apache-2.0
"""Real, unmodified programs of Debian under thousands of probes: same output, and counts that can be known."""
import os
import re
import subprocess

import pytest

from support import paths

PY = """
import hashlib, json, random
random.seed(7)
numbers = [random.randrange(10**6) for _ in range(20000)]
text = json.dumps(sorted(numbers)[::100])
table = {str(n): n * n for n in numbers}
print(hashlib.sha256((text + str(sum(table.values()))).encode()).hexdigest())
class A:
    def __init__(self, n): self.n = n
    def __add__(self, other): return A(self.n + other.n)
print(sum((A(i) for i in range(2000)), A(0)).n)
try:
    json.loads("{")
except ValueError as error:
    print(type(error).__name__)
print(__import__("subprocess").run(["/bin/echo", "child"], capture_output=True).stdout)
"""


def plain(words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, "PYTHONHASHSEED": "0"}, **options)


def same_output(result, before, marker="djtap-results"):
    """The program's output, and its status, are as they were unprobed."""
    assert result.stdout.split(marker)[0] == before.stdout and result.returncode == before.returncode, result


def run_probed(djtap, script, words, **options):
    end = ' probe end { println("djtap-results") }'
    return djtap("-e", script + end, "--", *words, timeout=300, env={**os.environ, "PYTHONHASHSEED": "0"}, **options)


@pytest.mark.parametrize("pattern", ["_Py*", "Py*", "*"])
def test_python_under_wildcards(djtap, pattern):
    words = [paths.PYTHON, "-c", PY]
    before = plain(words)
    result = run_probed(djtap, f'probe process.function("{pattern}") {{ n++ }}', words)
    same_output(result, before)
    assert result.globals["n"] > 10000, result


def test_python_returns_under_wildcards(djtap):
    words = [paths.PYTHON, "-c", PY]
    before = plain(words)
    script = 'probe process.function("PyList_*").return { n++ } probe process.function("PyDict_*") { calls[ppfunc()]++ }'
    result = run_probed(djtap, script, words)
    same_output(result, before)
    assert result.globals["n"] > 1000 and len(result.array("calls")) > 5, result


@pytest.mark.skipif(not os.path.exists(paths.NODE), reason="node is not installed")
def test_at_the_highest_addresses(djtap_once):
    """Without randomized addresses, as under gdb, libraries and the stack end where user space does."""
    words = [paths.NODE, "-e", "console.log([3, 1, 2].sort())"]
    before = plain(words)
    script = 'probe func("*").return { n++ } probe end { println("djtap-results") }'
    result = djtap_once("--many=0", "-e", script, "--", *words, prefix=["setarch", "-R"], timeout=300)
    same_output(result, before)
    assert result.globals["n"] > 10000, result


def gdb_hits(words, functions):
    """Oracle: how often gdb's breakpoints on these functions are hit."""
    commands = ["set pagination off", "set confirm off", "set breakpoint pending on", "set env PYTHONHASHSEED 0",
                "handle all nostop noprint pass"]
    for number, function in enumerate(functions, 1):
        commands += [f"break {function}", f"ignore {number} 100000000"]
    commands += ["run", "info breakpoints"]
    arguments = [part for command in commands for part in ("-ex", command)]
    text = plain(["gdb", "-q", "-nx", "-batch", *arguments, "--args", *words]).stdout
    hits = {}
    current = None
    for line in text.splitlines():
        found = re.match(r"^(\d+)\s+breakpoint", line)
        if found:
            current = functions[int(found.group(1)) - 1]
            hits[current] = 0
        found = re.match(r"^\s+breakpoint already hit (\d+) time", line)
        if found:
            hits[current] = int(found.group(1))
    return hits


def test_python_counts_agree_with_gdb(djtap):
    functions = ["PyImport_ImportModuleLevelObject", "PyRun_SimpleStringFlags", "PyCode_NewWithPosOnlyArgs", "Py_BytesMain",
                 "PyErr_SetString", "PyModule_Create2"]
    words = [paths.PYTHON, "-S", "-c", "import json, re; print(len(json.dumps(list(range(100)))))"]
    truth = {name: count for name, count in gdb_hits(words, functions).items() if count}
    assert len(truth) >= 3, truth
    points = ", ".join(f'process.function("{name}")' for name in truth)
    result = run_probed(djtap, f"probe {points} {{ hits[ppfunc()]++ }}", words)
    assert {key.strip('"'): int(value) for key, value in result.array("hits")} == truth, result


BASH = r"""
fib() { local n=$1; if [ $n -lt 2 ]; then echo $n; else echo $(( $(fib $((n - 1))) + $(fib $((n - 2))) )); fi; }
fib 6
for i in 1 2 3 4 5 6 7 8; do (exit $i); echo "status $?"; done
seq 1 100 | sort -r | head -3 | tr '\n' ' '
x=$(printf '%s-' a b c); echo "$x" | sed s/-/+/g
trap 'echo got' USR1; kill -USR1 $$; exit 7
"""


def test_bash_with_forks(djtap):
    words = ["/bin/bash", "-c", BASH]
    before = plain(words)
    result = run_probed(djtap, 'probe process.function("*") { n++ } probe process.function("make_child") { forks[pid() == target()]++ }', words)
    same_output(result, before)
    assert before.returncode == 7 and result.globals["n"] > 1000 and result.array("forks"), result


def test_bash_forks_are_known(djtap):
    result = run_probed(djtap, 'probe func("make_child") { if (pid() == target()) forks++ }',
                        ["/bin/bash", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do (echo $i); done; true"])
    assert result.globals["forks"] == 10, result


SQL = """
create table t(id integer primary key, name text, value real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
  insert into t select i, 'name ' || (i * 7919 % 2000), i * 0.5 from n;
create index by_name on t(name);
select count(*), sum(value), min(name), max(name) from t;
select id, name from t where name like 'name 19%' order by name limit 50;
select a.id, b.id from t a join t b on a.name = b.name and a.id < 20 order by a.id;
"""


def test_sqlite_running_a_file(djtap, tmp_path):
    (tmp_path / "queries.sql").write_text(SQL)
    words = ["/usr/bin/sqlite3", ":memory:", f".read {tmp_path}/queries.sql"]
    before = plain(words)
    assert before.stdout.count("\n") == 70, before
    result = run_probed(djtap, 'probe func("libsqlite3*!*") { n++ }', words)
    same_output(result, before)
    assert result.globals["n"] > 500, result


def test_sqlite_steps_are_known(djtap):
    """sqlite3_step is called once a row and once for the end."""
    sql = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 500) select i from n;"
    result = run_probed(djtap, 'probe func("libsqlite3.so.0!sqlite3_step") { steps++ } '
                               'probe func("libsqlite3.so.0!sqlite3_step").return { returns++ }',
                        ["/usr/bin/sqlite3", ":memory:", sql])
    assert result.globals == {"steps": 501, "returns": 501}, result


C = """
#include <stdio.h>
struct tree { struct tree *left, *right; int key; };
static int depth(const struct tree* t) {
  if (!t) return 0;
  int l = depth(t->left), r = depth(t->right);
  return 1 + (l > r ? l : r);
}
int sum(const int* a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i] * a[i]; return s; }
double mix(double x, int n) { while (n-- > 0) x = x * 1.5 + n % 7; return x; }
int main(void) {
  int a[64];
  for (int i = 0; i < 64; i++) a[i] = i ^ 5;
  printf("%d %f %d\\n", sum(a, 64), mix(1.0, 20), depth(0));
  switch (a[3]) { case 1: return 2; case 6: return 3; default: return 0; }
}
"""


def test_compiler_makes_the_same_assembly(djtap, tmp_path):
    """gcc's own cc1 -O2, with every function of libc that it uses and its exported ones probed."""
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()
    source = tmp_path / "source.i"
    plain(["gcc", "-E", "-x", "c", "-", "-o", str(source)], input=C)
    words = [cc1, "-quiet", "-O2", "-fpreprocessed", str(source), "-o"]
    assert plain([*words, str(tmp_path / "before.s")]).returncode == 0
    result = run_probed(djtap, 'probe func("cc1!*")?, func("libc.so.6!*alloc*"), func("libc.so.6!str*"), func("libc.so.6!free") { n++ }',
                        [*words, str(tmp_path / "after.s")])
    assert result.returncode == 0 and result.globals["n"] > 1000, result
    assert (tmp_path / "after.s").read_bytes() == (tmp_path / "before.s").read_bytes() != b""


def test_malloc_argument_of_a_real_program(djtap):
    result = run_probed(djtap, 'probe func("libc.so.6!malloc") { calls++; bytes += $bytes } probe func("libc.so.6!malloc").return { back++ }',
                        ["/bin/ls", "-l", "/usr"])
    assert result.globals["calls"] > 50 and result.globals["bytes"] > 1000, result
    assert result.globals.get("back", result.globals["calls"]) == result.globals["calls"], result
