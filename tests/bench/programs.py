"""Real programs with every function counted, their own and those of all libraries: each measures the processor
time of its own work.

    /usr/bin/python3 tests/bench/programs.py
"""
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True

from support import run  # noqa: E402

ALL, OWN = 'probe func("*") {{ n++ }}', 'probe process("{}").function("*") {{ n++ }}'
PYTHON_WORK = """
import time, json, re
begin = time.process_time()
words = [str(i * 7919 % 10007) for i in range(60000)]
for turn in range(20):
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


def seconds(text):
    """What the program said of its own processor time."""
    if "cpu:" in text:
        return float(re.search(r"cpu: ([\d.]+)", text)[1])
    if "Run Time" in text:
        return sum(float(user) + float(system) for user, system in re.findall(r"user ([\d.]+) sys ([\d.]+)", text))
    times = re.findall(r"(\d+)m([\d.]+)s", text)[:2]  # bash's times: the shell's own
    return sum(60 * int(minutes) + float(rest) for minutes, rest in times)


def commands(folder):
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


def redis(folder, prefix):
    """Processor time of a server that redis-benchmark asks; and the count, when it is probed."""
    socket = f"{folder}/redis.sock"
    server = ["/usr/bin/redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", str(folder)]
    ask = ["redis-cli", "-s", socket]
    with run.Background([*prefix, *server]) as running:
        running.wait_for("ready to accept|Ready to accept", 60)

        def used():
            text = subprocess.run([*ask, "info", "cpu"], capture_output=True, text=True).stdout
            return sum(float(value) for value in re.findall(r"used_cpu_(?:sys|user):([\d.]+)", text))

        begin = used()
        subprocess.run(["redis-benchmark", "-s", socket, "-q", "-n", "100000", "-t", "get,set,lpush"], capture_output=True, check=True)
        spent = used() - begin
        subprocess.run([*ask, "shutdown", "nosave"], capture_output=True)
        result = running.finish(60)
    return spent, result.stdout


def postgres_programs():
    """The folder of the server's programs; empty: there is none here, or nobody to run it (it refuses root)."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/pgbench"))
    if not found or (os.getuid() == 0 and not shutil.which("setpriv")):
        return None
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        return None
    return found[-1].parent


def postgres(folder, programs, prefix, transactions=10_000):
    """Processor time of a server and its children that `pgbench -S` asks; the count, when it is probed; and which part of the count was
    measured. What short clients ask in the first seconds is not: djtap changes guards that get hot, and calls, but not in processes that have been
    forked before."""
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []
    data, environment = f"{folder}/data", dict(os.environ, HOME=folder, XDG_CACHE_HOME=folder, LC_ALL="C")

    def ask(program, *words):
        return subprocess.run([*user, programs / program, *words], cwd=folder, env=environment, capture_output=True, text=True, check=True)

    if user:
        shutil.chown(folder, "postgres", "postgres")
    first = not os.path.exists(data)
    if first:
        ask("initdb", "-D", data, "-A", "trust", "-N")
    server = [programs / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "autovacuum=off", "-c", "fsync=off"]
    with run.Background([*user, *prefix, *server], cwd=folder, env=environment) as running:
        while subprocess.run([programs / "pg_isready", "-h", folder, "-q"], check=False).returncode != 0:
            time.sleep(0.05)
        pid = int(pathlib.Path(data, "postmaster.pid").read_text().split()[0])
        if first:
            ask("pgbench", "-h", folder, "-i", "-s", "5", "-q", "postgres")

        def used_after(count):
            ask("pgbench", "-h", folder, "-S", "-n", "-t", str(count), "postgres")
            time.sleep(0.2)  # the child's time is the server's as soon as it is waited for
            return sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:15]))

        settled, asked = time.monotonic() + 4, 0
        while time.monotonic() < settled:
            before, asked = used_after(500), asked + 500
        spent = used_after(transactions) - before
        os.kill(pid, signal.SIGINT)
        result = running.finish(60)
    return spent / os.sysconf("SC_CLK_TCK"), result.stdout, transactions / (asked + transactions)


def postgres_row(runs):
    programs = postgres_programs()
    if not programs:
        return
    with tempfile.TemporaryDirectory() as folder:
        postgres(folder, programs, [])  # makes the tables
        prefix = run.command(["-e", ALL.format(), "--"])
        bare, probed = [], []
        for _ in range(runs):
            bare.append(postgres(folder, programs, [])[0])
            probed.append(postgres(folder, programs, prefix))
        _, text, part = probed[-1]
        yield row("postgres, `pgbench -S`", min(bare), min(spent for spent, _, _ in probed), text, part)


FEW = 100_000  # hits that noise outweighs


def row(name, bare, probed, text, part=1):
    counts = re.findall(r"^n=(\d+)", text, re.M)
    if not counts:
        return (name, f"{bare:.2f}", "no function has a name", "", "", "")
    hits = round(int(counts[-1]) * part)
    each = f"{(probed - bare) * 1e9 / hits:.1f}" if hits > FEW else ""
    return (name, f"{bare:.2f}", f"{probed:.2f}", f"{100 * bare / probed:.0f} %", f"{hits:,}", each)


def rows(runs=3):
    with tempfile.TemporaryDirectory() as folder:
        for name, words in commands(folder).items():
            for what, script in (("", ALL), (", own functions only", OWN)):
                bare, probed = [], []
                for _ in range(runs):  # in turn, so that both see the same neighbours
                    result = subprocess.run(words, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
                    bare.append(seconds(result.stdout))
                    result = run.run(["-e", script.format(words[0]), "--", *words], timeout=300)
                    probed.append(seconds(result.stdout))
                yield row(name + what, min(bare), min(probed), result.stdout)
        if shutil.which("redis-server") and shutil.which("redis-benchmark"):
            bare = min(redis(folder, [])[0] for _ in range(runs))
            for what, script in (("", ALL), (", own functions only", OWN)):
                prefix = run.command(["-e", script.format(os.path.realpath("/usr/bin/redis-server")), "--"])
                each = [redis(folder, prefix) for _ in range(runs)]
                yield row("redis-server" + what, bare, min(spent for spent, _ in each), each[-1][1])
    yield from postgres_row(runs)


if __name__ == "__main__":
    for each in rows():
        print(" | ".join(each), flush=True)
