# SPDX-License-Identifier: Apache-2.0
"""A program that spoils the arena, with djtap attached to it: djtap neither crashes nor hangs nor grows, whatever the arena says.

Seeds are fixed. DJTAP_STRESS=long makes it 2,000 sessions; else as many of 60 as DJTAP_FUZZ_SECONDS (150) are enough for.
DJTAP_HOSTILE_SEED=N repeats one session.
"""
import concurrent.futures
import os
import random
import subprocess
import sys
import time

import pytest

from support import paths
from support.paths import victim

LONG = os.environ.get("DJTAP_STRESS") == "long"
SESSIONS, SECONDS = (2000, 1e9) if LONG else (60, float(os.environ.get("DJTAP_FUZZ_SECONDS", "150")))
PATIENCE, GROWTH_KB = 5, 100 << 10
AS_NOBODY = {"user": 65534, "group": 65534, "extra_groups": []}

KINDS = ["header", "words", "rings", "records", "flood", "strings", "globals", "rows", "captures", "threads", "traps", "sites", "any", "all"]
# Handlers in the target, handlers in djtap that use what those have left, and reports of all forms.
SCRIPTS = [
    'probe func("work") { n++ }',
    'probe func("with_text") { seen[user_string($text)] = user_string($text) }',
    'probe func("with_text") { printf("%s %d %*d\\n", user_string($text), $n, $n, $n) }',
    'probe func("with_text") { s[user_string($text), $n] <<< $n all <<< $n }',
    'global s probe func("work") { s <<< $x if (n++ % 100 == 0) { print(@hist_log(s)) print(@hist_linear(s, 0, 100, 10)) warn("careful") } }',
    'probe func("recurse").return { back[@entry($n)] <<< $return }',
    'global last probe func("with_text") { last = user_string($text) }',
    'probe func("work") { by[ubacktrace()]++ } probe func("recurse") { error("wrong") }',
    'probe func("work") { n++ if (n % 1000 == 0) switch_file() println(n) }',
    'global t probe func("work") { t[tid()] = n++ } probe func("with_text") { delete t[tid()] }',
    'probe process.function("*") { all[ppfunc()]++ } probe process.end { ends++ }',
    'global last, names probe func("with_text") { last = user_string($text) names[last] = last } '
    'probe timer.ms(20) { foreach (name+ in names limit 5) println(name, names[name] . last, strlen(last)) delete names }',
    'global s, of probe func("recurse") { s <<< $n of[$n, "text"] <<< $n } '
    'probe timer.ms(30) { foreach ([n, t] in of @count- limit 3) println(n, t, @avg(of[n, t]), @p99(s)) }',
    'global seen probe func("with_text") { seen[user_string($text)]++ } '
    'probe timer.ms(25) { snapshot(seen) { foreach (text in seen) log(text) } } '
    'probe end { println(substr(tokenize("a b", " "), 0, 1), get_loadavg_index(0)) }',
]
OPTIONS = [[], ["-f", "json"], ["-f", "csv"], ["-t"], ["-f", "plugin:json"], ["-v"]]

pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights that the target does not have"),
              pytest.mark.timeout(4 * 3600 if LONG else 900)]


def one_session(seed, folder):
    """Attaches to an attacker: (what was done, exit status, seconds beyond the session's own, kilobytes at most)."""
    chosen = random.Random(seed)
    kind, script, options = (chosen.choice(each) for each in (KINDS, SCRIPTS, OPTIONS))
    target = subprocess.Popen([victim("arena_attacker"), str(seed), kind], stdout=subprocess.PIPE, **AS_NOBODY)
    out = folder / str(seed)
    session = 0.4
    try:
        target.stdout.readline()
        with open(out, "wb") as file:
            command = [paths.DJTAP, "-p", str(target.pid), "-T", str(session), "-o", f"{out}.text", *options, "-e", script]
            begin = time.monotonic()
            tracer = subprocess.Popen(command, stdout=file, stderr=file, cwd=folder)
            status, usage = wait(tracer, begin + session + 4 * PATIENCE)
            return f"seed {seed}: {kind}, {options}, {script}", status, time.monotonic() - begin - session, usage
    finally:
        target.kill()
        target.wait()


def wait(tracer, deadline):
    """Its wait status and the most memory that it had; it is killed at the deadline."""
    while True:
        pid, status, usage = os.wait4(tracer.pid, os.WNOHANG)
        if pid != 0:
            tracer.returncode = os.waitstatus_to_exitcode(status)
            return tracer.returncode, usage.ru_maxrss
        if time.monotonic() > deadline:
            tracer.kill()
        time.sleep(0.01)


def usual_memory(folder):
    """What djtap takes where nobody is hostile."""
    return max(one_session_of_friends(script, folder) for script in SCRIPTS)


def one_session_of_friends(script, folder):
    target = subprocess.Popen([victim("arena_attacker"), "1", "none"], stdout=subprocess.PIPE, **AS_NOBODY)
    try:
        target.stdout.readline()
        with open(folder / "friend", "wb") as file:
            tracer = subprocess.Popen([paths.DJTAP, "-p", str(target.pid), "-T", "0.3", "-o", folder / "friend.text", "-e", script], stdout=file, stderr=file)
            status, usage = wait(tracer, time.monotonic() + 60)
        assert status == 0 or "error(" in script, (script, (folder / "friend").read_text())
        return usage
    finally:
        target.kill()
        target.wait()


def wrongs(session, most_kb, folder):
    """What djtap must not do."""
    what, status, seconds, kilobytes = session
    said = (folder / what.split(":")[0].split()[1]).read_text(errors="replace")
    found = []
    if status not in range(7):
        found.append(f"ended by {status}")
    if seconds > PATIENCE:
        found.append(f"{seconds:.1f} s late")
    if kilobytes > most_kb:
        found.append(f"{kilobytes} kB, {most_kb} were allowed")
    if "djtap: bug" in said:
        found.append("a CHECK failed")
    return [f"{what}: {', '.join(found)}\n{said[-2000:]}"] if found else []


def test_whatever_the_arena_says(tmp_path):
    tmp_path.chmod(0o711)
    most_kb = usual_memory(tmp_path) + GROWTH_KB
    given = os.environ.get("DJTAP_HOSTILE_SEED")
    seeds, wrong, done, deadline = ([int(given)] if given else range(SESSIONS)), [], 0, time.monotonic() + SECONDS
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for session in pool.map(lambda seed: one_session(seed, tmp_path) if time.monotonic() < deadline else None, seeds):
            if session is None:
                continue
            done += 1
            wrong += wrongs(session, most_kb, tmp_path)
    print(f"{done} sessions, {len(wrong)} wrong", file=sys.stderr)
    assert wrong == []
    assert done > 0
