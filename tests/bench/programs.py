# SPDX-License-Identifier: Apache-2.0
"""Real programs with every function counted, their own and those of all libraries. Each is measured by the processor time of its own work, in
rounds: bare, and counted in each way, one right after the other, so that all see the same neighbours. What is printed are medians.

    /usr/bin/python3 tests/bench/programs.py                         # all
    /usr/bin/python3 tests/bench/programs.py sqlite3 postgres        # or only some
"""
import contextlib
import functools
import os
import pathlib
import pwd
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True

from support import run  # noqa: E402

ROUNDS = 9
SETTLED_S = 4  # djtap changes guards that get hot, and calls, in a server's first seconds, but not in children that were forked before
COUNTED = {"": 'probe func("*") {{ n++ }}', ", own functions only": 'probe process("{}").function("*") {{ n++ }}'}
PYTHON_WORK = """
import time, json, re
begin = time.process_time()
words = [str(i * 7919 % 10007) for i in range(60000)]
for turn in range(40):
    table = {w: len(w) for w in words}
    text = json.dumps(sorted(table.items()))
    json.loads(text)
    len(re.findall(r"[0-9]+7", text))
    sum(i * i for i in range(200000))
print("cpu:", time.process_time() - begin)
"""
SQL_ROUND = """
CREATE TABLE t AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 600000) SELECT i, i * 7919 % 10007 AS k, hex(i) AS s FROM c;
CREATE INDEX x ON t(k);
SELECT count(*), sum(i), max(s) FROM t JOIN (SELECT k AS q FROM t LIMIT 5000) ON k = q;
DROP TABLE t;
"""
SQL_WORK = ".timer on\n" + 4 * SQL_ROUND  # the first tenth of a second is not like the rest (docs/design.md, "Calls lead straight to detours")
BASH_WORK = "for ((i = 0; i < 200000; i++)); do a[i % 100]=x$i; [[ ${a[i % 100]} == *7 ]] && n=$((n + 1)); done; times"
NODE_WORK = """
const begin = process.cpuUsage();
let list = Array.from({length: 200000}, (_, i) => ({k: i * 7919 % 10007, s: String(i)}));
for (let i = 0; i < 4; i++) { list.sort((a, b) => a.k - b.k); JSON.parse(JSON.stringify(list)); }
for (let i = 0; i < 5; i++) require('zlib').deflateSync(JSON.stringify(list));
const used = process.cpuUsage(begin);
console.log("cpu:", (used.user + used.system) / 1e6);
"""


def counting(script, program):
    """The words before a command that count its functions; none for no script."""
    return run.command(["-e", script.format(program), "--"]) if script else []


def counted(text):
    """The count that djtap has printed; None: no function has a name."""
    counts = re.findall(r"^n=(\d+)", text, re.M)
    return int(counts[-1]) if counts else None


class Command:
    """A program that says at its end what it has used of the processor; each measurement runs it anew."""

    def __init__(self, words, script):
        self.words = [*counting(script, words[0]), *words]
        self.text = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Nothing is left running."""

    def measure(self):
        """Seconds of processor time."""
        self.text = subprocess.run(self.words, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL, timeout=300).stdout
        if "cpu:" in self.text:
            return float(re.search(r"cpu: ([\d.]+)", self.text)[1])
        if "Run Time" in self.text:
            return sum(float(user) + float(system) for user, system in re.findall(r"user ([\d.]+) sys ([\d.]+)", self.text))
        times = re.findall(r"(\d+)m([\d.]+)s", self.text)[:2]  # bash's times: the shell's own
        return sum(60 * int(minutes) + float(rest) for minutes, rest in times)

    def hits(self):
        """Of one measurement; None: no function has a name."""
        return counted(self.text)


class Server:
    """A server that stays while it is measured, counted and bare ones side by side. Those below say how it is started, which file has its process's
    number, and how it is asked `amount` things; `ask` fails as long as it does not answer."""

    def __init__(self, folder, script):
        self.folder = folder
        self.environment = dict(os.environ, HOME=folder, XDG_CACHE_HOME=folder, LC_ALL="C")
        self.prefix = counting(script, os.path.realpath(self.program))
        self.asked = 0

    def command(self, *words):
        return subprocess.run([*self.user, *words], cwd=self.folder, env=self.environment, capture_output=True, text=True, check=True)

    def __enter__(self):
        self.prepare()
        self.running = run.Background([*self.user, *self.prefix, self.program, *self.options()], cwd=self.folder, env=self.environment)
        while not self.answers():
            time.sleep(0.05)
        self.pid = int(pathlib.Path(self.folder, self.pid_file).read_text().split()[0])
        self.fill()
        settled = time.monotonic() + SETTLED_S
        while time.monotonic() < settled:
            self.ask(self.amount // 40)
        return self

    def __exit__(self, *reason):
        self.running.__exit__(*reason)

    def used(self):
        """Seconds of processor time, of the server and of its children that have ended."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")

    def measure(self):
        """Seconds of processor time for `amount` things."""
        before = self.used()
        self.ask(self.amount)
        time.sleep(0.2)  # a child's time is the server's as soon as it is waited for
        return self.used() - before

    def hits(self):
        """Of one measurement; ends the server."""
        os.kill(self.pid, signal.SIGINT)
        count = counted(self.running.finish(60).stdout)
        return count and round(count * self.amount / self.asked)


class Redis(Server):
    """redis-server and redis-benchmark."""
    program, pid_file, amount, user = "/usr/bin/redis-server", "pid", 100_000, []
    socket = "redis.sock"

    def prepare(self):
        """It needs nothing."""

    fill = prepare

    def options(self):
        return ["--port", "0", "--unixsocket", self.socket, "--save", "", "--appendonly", "no", "--pidfile", f"{self.folder}/{self.pid_file}"]

    def answers(self):
        return subprocess.run(["redis-cli", "-s", self.socket, "ping"], cwd=self.folder, capture_output=True, check=False).returncode == 0

    def ask(self, amount):
        self.command("redis-benchmark", "-s", self.socket, "-q", "-n", str(amount), "-t", "get,set,lpush")
        self.asked += amount


class Postgres(Server):
    """PostgreSQL and `pgbench -S`. It refuses root, so another user runs it."""
    folders = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
    programs = folders[-1] if folders else pathlib.Path("/nowhere")
    program, pid_file, amount = programs / "postgres", "data/postmaster.pid", 20_000
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []

    def prepare(self):
        if self.user:
            shutil.chown(self.folder, "postgres", "postgres")
        self.command(self.programs / "initdb", "-D", "data", "-A", "trust", "-N")

    def options(self):
        return ["-D", "data", "-k", self.folder, "-c", "listen_addresses=", "-c", "autovacuum=off", "-c", "fsync=off"]

    def answers(self):
        return subprocess.run([self.programs / "pg_isready", "-h", self.folder, "-q"], check=False).returncode == 0

    def fill(self):
        self.command(self.programs / "pgbench", "-h", self.folder, "-i", "-s", "5", "-q", "postgres")

    def ask(self, amount):
        self.command(self.programs / "pgbench", "-h", self.folder, "-S", "-n", "-t", str(amount), "postgres")
        self.asked += amount


def can_run_postgres():
    try:
        return (Postgres.programs / "pgbench").exists() and (not Postgres.user or bool(shutil.which("setpriv") and pwd.getpwnam("postgres")))
    except KeyError:
        return False


def commands(folder):
    """What each program runs."""
    work = {}
    for name, program, suffix, text in (("python3", "/usr/bin/python3", ".py", PYTHON_WORK), ("bash", "/bin/bash", ".sh", BASH_WORK),
                                        ("node", "/usr/bin/node", ".js", NODE_WORK)):
        file = pathlib.Path(folder) / (name + suffix)
        file.write_text(text)
        work[name] = [program, str(file)]
    sql = pathlib.Path(folder) / "work.sql"
    sql.write_text(SQL_WORK)
    work["sqlite3"] = ["/usr/bin/sqlite3", "-init", str(sql), ":memory:", ".quit"]
    return {name: words for name, words in work.items() if shutil.which(words[0])}


def measured(folder):
    """By name, what makes one that is measured: a function of the script that counts in it."""
    makers = {name: functools.partial(Command, words) for name, words in commands(folder).items()}

    def server(kind):
        return lambda script: kind(tempfile.mkdtemp(dir=folder), script)

    if shutil.which("redis-server") and shutil.which("redis-benchmark"):
        makers["redis-server"] = server(Redis)
    if can_run_postgres():
        makers["postgres"] = server(Postgres)
    return makers


FEW = 100_000  # hits that noise outweighs


def row(name, bare, probed, hits):
    left, seconds = statistics.median(b / p for b, p in zip(bare, probed)), statistics.median(bare)
    cells = [name, f"{seconds:.2f}", f"{statistics.median(probed):.2f}"]
    if hits is None:
        return [*cells, "no function has a name", "", ""]
    each = f"{seconds * (1 / left - 1) * 1e9 / hits:.1f}" if hits > FEW else ""
    return [*cells, f"{100 * left:.0f} %", f"{hits:,}", each]


def rows(*names, rounds=ROUNDS):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for name, make in measured(folder).items():
            if names and name not in names:
                continue
            with contextlib.ExitStack() as stack:
                bare, *probed = [stack.enter_context(make(script)) for script in ("", *COUNTED.values())]
                spent = [[each.measure() for each in (bare, *probed)] for _ in range(rounds)]
                first, *others = zip(*spent)
                for what, each, times in zip(COUNTED, probed, others):
                    yield row(name + what, first, times, each.hits())


if __name__ == "__main__":
    for each in rows(*sys.argv[1:]):
        print(" | ".join(each), flush=True)
