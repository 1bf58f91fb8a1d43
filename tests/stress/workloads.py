# SPDX-License-Identifier: Apache-2.0
"""Real programs of Debian with something to do whose result is known to be the same every time."""
import os
import pathlib
import subprocess
import time

from support import paths, run

HERE = pathlib.Path(__file__).resolve().parent
LONG = os.environ.get("DJTAP_STRESS") == "long"
ENVIRONMENT = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}

SQL = """
pragma page_size=1024;
create table t(id integer primary key, name text, value real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < {rows})
  insert into t select i, 'name ' || (i * 7919 % {rows}), i * 0.5 from n;
create index by_name on t(name);
select count(*), sum(value), min(name), max(name) from t;
select id, name, printf('%08.3f', value) from t where name like 'name 1%' order by name limit 50;
select a.id, b.id, length(hex(randomblob(8))) from t a join t b on a.name = b.name order by a.id limit 100;
update t set value = value * 2 where id % 3 = 0; delete from t where id % 5 = 0;
select name, count(*), total(value) from t group by substr(name, 1, 6) order by 1;
pragma integrity_check;
"""

BASH = r"""
fib() { local n=$1; if [ $n -lt 2 ]; then echo $n; else echo $(( $(fib $((n - 1))) + $(fib $((n - 2))) )); fi; }
fib ROUNDS
declare -A table; for i in {1..200}; do table[k$((i * 7 % 100))]+=$i,; done; echo "${table[k49]}" "${#table[@]}"
for i in 1 2 3; do (exit $i); echo "status $?"; done
seq 1 100 | sort -r | head -3 | tr '\n' ' '; x=$(printf '%s-' a b c); echo "$x" | sed s/-/+/g
trap 'echo got' USR1; kill -USR1 $$; [[ "probe 42" =~ ([a-z]+)\ ([0-9]+) ]] && echo "${BASH_REMATCH[@]}"; exit 7
"""

C_FUNCTION = """
struct s{n} {{ int key; struct s{n} *left, *right; double weight[{n} % 7 + 1]; }};
int depth{n}(const struct s{n}* t) {{ if (!t) return 0; int l = depth{n}(t->left), r = depth{n}(t->right); return 1 + (l > r ? l : r); }}
unsigned long mix{n}(const unsigned char* p, unsigned long size) {{
  unsigned long h = {n};
  for (unsigned long i = 0; i < size; i++) {{
    switch (p[i] & 15) {{ case 0: h ^= i; break; case 1: h += p[i] * {n}u; break; case 2: h = h << 5 | h >> 59; break;
    case 3: h *= 31; break; case 4: h -= size; break; case 5: h ^= h >> 7; break; default: h += (double)h * 0.5 > i ? 3 : 5; }}
  }}
  return h;
}}
"""


class Workload:
    """A command, and its result: what it printed, its status, and the files it wrote."""

    def __init__(self, words, writes=None, server=None):
        self.words = [str(word) for word in words]
        self.writes = writes    # a file that the command writes
        self.server = server    # what to do with a command that serves until told to end; gives its clients' output

    def result(self, stdout, status):
        written = self.writes.read_bytes() if self.writes else b""
        if self.writes:
            self.writes.unlink()
        return stdout, status, written

    def plain(self):
        """The result without djtap."""
        if self.server:
            with run.Background(self.words, env=ENVIRONMENT) as program:
                return self.server(), program.finish().returncode, b""
        done = subprocess.run(self.words, capture_output=True, text=True, timeout=300, check=False, env=ENVIRONMENT)
        return self.result(done.stdout, done.returncode)

    def probed(self, *options, timeout=3000 if LONG else 600):
        """(the result under djtap, djtap's own stderr)."""
        words = [*options, "--", *self.words]
        if self.server:
            with run.Background(run.command(words), env=ENVIRONMENT) as program:
                output = self.server()
                end = program.finish(timeout)
                return (output, end.returncode, b""), end.stderr
        # Python's own tests leave a sleeping child of theirs behind, probed or not.
        end = run.run(words, env=ENVIRONMENT, timeout=timeout, may_leave=True)
        return self.result(end.stdout, end.returncode), end.stderr


def python(_, size):
    modules = {"small": ["test_bisect"], "medium": ["test_struct", "test_heapq", "test_bisect"],
               "large": ["test_json", "test_struct", "test_re", "test_threading", "test_dict", "test_list", "test_set",
                         "test_collections", "test_itertools", "test_exceptions", "test_generators", "test_subprocess"]}
    return Workload([paths.PYTHON, HERE / "python_tests.py", *modules[size]])


def sqlite(_, size):
    return Workload(["/usr/bin/sqlite3", ":memory:", SQL.format(rows={"small": 100, "medium": 2000, "large": 20000}[size])])


def bash(_, size):
    return Workload(["/bin/bash", "-c", BASH.replace("ROUNDS", {"small": "3", "medium": "6", "large": "9"}[size])])


def node(_, size):
    return Workload(["/usr/bin/node", HERE / "workload.js", {"small": 1, "medium": 5, "large": 50}[size]])


def cc1(folder, size):
    functions = {"small": 1, "medium": 10, "large": 400}[size]
    source, assembly = folder / "source.i", folder / "source.s"
    source.write_text("".join(C_FUNCTION.format(n=n) for n in range(1, functions + 1)))
    program = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()
    return Workload([program, "-quiet", "-O2", "-g", "-fpreprocessed", source, "-o", assembly], writes=assembly)


def redis(folder, size):
    socket = folder / "redis"
    requests = {"small": 20, "medium": 2000, "large": 100000}[size]
    client = ["/usr/bin/redis-cli", "-s", str(socket)]

    def ask(text):
        return subprocess.run(client, input=text, capture_output=True, text=True, timeout=300, check=False).stdout

    def talk():
        deadline = time.monotonic() + 100
        while ask("ping\n") != "PONG\n":
            assert time.monotonic() < deadline, "redis-server does not answer"
            time.sleep(0.02)
        said = ask("".join(f"set k{i} {i * i}\nlpush l {i}\nzadd z {i % 17} m{i}\nhset h f{i} {i}\n" for i in range(100)))
        said += ask("sort l desc limit 0 9\nzrange z 0 9 withscores\nhget h f42\neval \"return redis.call('get', 'k9')\" 0\n"
                    "dbsize\nget none\nincr l\nobject encoding z\n")
        bench = subprocess.run(["redis-benchmark", "-s", str(socket), "-n", str(requests), "-c", "4", "--csv",
                                "-t", "set,get,lpush,lrange_100,mset"], capture_output=True, text=True, timeout=500, check=False)
        said += str([line.split(",")[0] for line in bench.stdout.splitlines()]) + ask("llen mylist\n") + ask("shutdown nosave\n")
        return said

    return Workload(["/usr/bin/redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder,
                     "--daemonize", "no", "--loglevel", "warning"], server=talk)


ALL = {function.__name__: function for function in (python, sqlite, bash, redis, cc1, node)}
EXECUTABLES = {"python": "/usr/bin/python3", "sqlite": "/usr/bin/sqlite3", "bash": "/bin/bash", "redis": "/usr/bin/redis-server",
               "node": "/usr/bin/node"}


def missing(name):
    """Why a program cannot be run here; None when it can."""
    path = EXECUTABLES.get(name)
    return None if path is None or os.path.exists(path) else f"{path} is not installed"
