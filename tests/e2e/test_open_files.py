# SPDX-License-Identifier: Apache-2.0
"""Sessions with more processes than a shell's usual limits leave room for; truth: the victims count themselves."""
import re
import resource
import subprocess
import time

from support import run
from support.paths import victim

COUNT = victim("count")
COUNTING = f'probe process("{COUNT}").function("work") {{ n++ }} '
FEW = 100  # open files


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def traced(*words):
    result = subprocess.run(run.command(words), preexec_fn=few_files, capture_output=True, text=True, check=True, timeout=300)
    return result.stdout, result.stderr


def counted(stdout):
    return sum(int(count) for count in re.findall(r"^work calls: (\d+)$", stdout, re.M))


def test_one_after_the_other():
    stdout, stderr = traced("-e", COUNTING, "--", "sh", "-c", f"for i in $(seq 300); do {COUNT} 3; done")
    assert stderr == "" and f"n={counted(stdout)}\n" in stdout and counted(stdout) == 3600, stderr


def test_at_once():
    stdout, stderr = traced("-e", COUNTING, "--", "sh", "-c", f"for i in $(seq 60); do (sleep 2; {COUNT} 3) & done; wait")
    assert stderr == "" and f"n={counted(stdout)}\n" in stdout and counted(stdout) == 720, stderr


def test_a_program_that_may_open_one_file_more():
    """Its loader needs that one, too. djtap maps its files one after the other."""
    for limit in (4, 5):
        stdout, stderr = traced("-e", COUNTING, "--", "sh", "-c", f"ulimit -n {limit}; {COUNT} 1; {COUNT} 2; exit 0")
        assert stderr == "" and f"n={counted(stdout)}\n" in stdout and counted(stdout) == 12, stderr


def test_a_program_that_is_refused_is_named_once():
    """However often it is executed, by its name."""
    stdout, stderr = traced("-e", 'probe process.begin { n++ }', "--", "sh", "-c", "ulimit -v 60000; /bin/true; /bin/true; /bin/true; exit 0")
    told = re.findall(r"DJ5915\]: (\S+) is executed without probes: mmap of the data arena: Cannot allocate memory", stderr)
    assert told == ["/usr/bin/true"] and stdout == "n=4\n", (stdout, stderr)


def test_who_djtap_starts_has_its_own_limit():
    ask = "ulimit -Sn; ulimit -Hn"
    bare = subprocess.run(["sh", "-c", ask], preexec_fn=few_files, capture_output=True, text=True, check=True).stdout.split()
    stdout, stderr = traced("-e", f'probe end {{ system("{ask}") }}', "--", "sh", "-c", f"sh -c '{ask}'; exit 0")
    assert stdout.split() == bare * 2 and bare[0] == str(FEW) and stderr == "", (stdout, stderr)


def test_what_has_ended_goes():
    """djtap's memory does not grow with the number of processes that there have been."""
    words = run.command(["-o", "/dev/null", "-e", COUNTING, "--", "sh", "-c", f"echo; for i in $(seq 1200); do {COUNT} 1 >/dev/null; done"])
    sizes = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as tracer:
        tracer.stdout.readline()
        while tracer.poll() is None:
            with open(f"/proc/{tracer.pid}/status", encoding="utf8") as status:
                sizes += [int(kilobytes) for kilobytes in re.findall(r"VmRSS:\s+(\d+)", status.read())]
            time.sleep(0.2)
    assert tracer.returncode == 0 and max(sizes) - sizes[len(sizes) // 4] < 100_000, sizes
