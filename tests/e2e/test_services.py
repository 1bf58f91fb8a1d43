# SPDX-License-Identifier: Apache-2.0
"""Services whose processes come and go: each request is counted in the process that has answered it."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from support import run

SESSIONS, QUERIES, REQUESTS = 20, 50, 40
# postgres refuses to run as root; its folder must then be another user's.
OTHER = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}


@pytest.fixture(name="folder")
def folder_of_the_service():
    with tempfile.TemporaryDirectory(prefix="djtap-test-", dir="/var/tmp") as name:
        if OTHER:
            shutil.chown(name, 65534, 65534)
        yield pathlib.Path(name)


def await_file(path, seconds=run.PATIENCE):
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, path
        time.sleep(0.05)


@pytest.fixture(name="postgres")
def postgres_programs():
    folders = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
    if not folders or not (folders[-1] / "pgbench").exists():
        pytest.skip("no postgres with pgbench here")
    return folders[-1]


@pytest.fixture(name="cluster")
def new_cluster(postgres, folder):
    subprocess.run([postgres / "initdb", "-D", folder / "data", "--no-sync", "-A", "trust", "-U", "tester"], check=True, capture_output=True, cwd="/", **OTHER)
    (folder / "one.sql").write_text("SELECT 1;\n")
    return [str(postgres / "postgres"), "-D", str(folder / "data"), "-k", str(folder), "-c", "listen_addresses=", "-F"]


def bench_of(postgres, folder):
    return (f"until {postgres}/pg_isready -q -h {folder}; do sleep 0.1; done; "
            f"{postgres}/pgbench -n -h {folder} -U tester -c {SESSIONS} -j 2 -t {QUERIES} -f {folder}/one.sql postgres")


def check_queries(counted, script_output):
    assert f"number of transactions actually processed: {SESSIONS * QUERIES}/{SESSIONS * QUERIES}" in script_output
    assert sorted(counted) == [str(QUERIES)] * SESSIONS


QUERIES_OF = 'probe process("{0}/postgres").function("pg_parse_query") {{ n[pid()]++ }}'


def test_sessions_of_postgres(postgres, cluster, folder, tmp_path):
    """The command starts the server; each session is a process that the postmaster forks."""
    script = folder / "go.sh"
    script.write_text(f"{' '.join(cluster)} & server=$!\n{bench_of(postgres, folder)}\nkill -INT $server; wait $server\n")
    result = subprocess.run(run.command(["-e", QUERIES_OF.format(postgres), "-c", f"sh {script}"]), capture_output=True, text=True,
                            timeout=run.PATIENCE, check=False, cwd=folder, env={**os.environ, "HOME": str(folder)}, **OTHER)
    assert result.returncode == 0, result
    check_queries(re.findall(r"^n\[\d+\]=(\d+)$", result.stdout, re.M), result.stdout)


def test_a_server_that_runs(postgres, cluster, folder):
    """-p of the postmaster: a session that was there before, and those that come."""
    with subprocess.Popen(cluster, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, **OTHER) as server:
        try:
            ready = subprocess.run(["sh", "-c", f"until {postgres}/pg_isready -q -h {folder}; do sleep 0.1; done"], timeout=run.PATIENCE, check=True, **OTHER)
            assert ready.returncode == 0
            with subprocess.Popen([postgres / "psql", "-qAt", "-h", folder, "-U", "tester", "postgres"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True, **OTHER) as before:
                before.stdin.write("SELECT pg_backend_pid();\n")
                before.stdin.flush()
                pid = before.stdout.readline().strip()
                tracer = subprocess.Popen(run.command(["--probes", "-e", QUERIES_OF.format(postgres), "-p", str(server.pid)]),
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/", **OTHER)
                # The postmaster's probes are told first; its children join one after the other.
                for line in tracer.stdout:
                    if line.endswith(f"[OPTIMIZED] pid {pid}\n"):
                        break
                bench = subprocess.run(["sh", "-c", bench_of(postgres, folder)], capture_output=True, text=True, timeout=run.PATIENCE, check=True, **OTHER)
                for _ in range(7):
                    before.stdin.write("SELECT 2;\n")
                before.stdin.close()
                assert before.stdout.read() == "2\n" * 7
                tracer.send_signal(signal.SIGINT)
                told = tracer.communicate(timeout=run.PATIENCE)[0]
            counts = dict(re.findall(r"^n\[(\d+)\]=(\d+)$", told, re.M))
            assert counts.pop(pid) == "7", told
            check_queries(counts.values(), bench.stdout)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(run.PATIENCE)
    assert server.returncode == 0


NGINX = """daemon off; worker_processes 2; pid {0}/pid; error_log {0}/errors;
events {{ worker_connections 64; }}
http {{
  access_log {0}/access; client_body_temp_path {0}/1; proxy_temp_path {0}/2; fastcgi_temp_path {0}/3; uwsgi_temp_path {0}/4; scgi_temp_path {0}/5;
  server {{ listen unix:{0}/socket; root {0}/www; }}
}}
"""


def test_nginx_through_reloads(folder):
    """The master starts other workers when it is told to read its configuration again; the old ones end when they have answered."""
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin")
    if not nginx or not shutil.which("curl"):
        pytest.skip("no nginx, or no curl, here")
    (folder / "www").mkdir()
    (folder / "www" / "file").write_bytes(os.urandom(3000))
    (folder / "nginx.conf").write_text(NGINX.format(folder))
    script = folder / "go.sh"
    script.write_text(f"""get() {{
  for i in $(seq {REQUESTS}); do curl -s --unix-socket {folder}/socket http://x/file | cmp - {folder}/www/file || echo WRONG; done
}}
{nginx} -p {folder} -c {folder}/nginx.conf & master=$!
until [ -S {folder}/socket ]; do sleep 0.1; done
get; kill -HUP $master; sleep 0.3; get; kill -HUP $master; get
kill -QUIT $master; wait $master; echo "master: $?"
""")
    probe = f'probe process("{nginx}").function("ngx_http_process_request") {{ n[pid()]++ }}'
    words = run.command(["-e", probe, "-c", f"sh {script}"])
    result = subprocess.run(words, capture_output=True, text=True, timeout=run.PATIENCE, check=False, cwd=folder, **OTHER)
    answered = [int(count) for count in re.findall(r"^n\[\d+\]=(\d+)$", result.stdout, re.M)]
    assert result.returncode == 0 and "WRONG" not in result.stdout and "master: 0\n" in result.stdout, result
    assert sum(answered) == 3 * REQUESTS == len((folder / "access").read_text().splitlines()) and 3 <= len(answered) <= 6, result
