# SPDX-License-Identifier: Apache-2.0
"""What goes wrong on the way to the target and while it runs: a code, its explanation, and with --diagnostics=json an object."""
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from support import paths, run
from support.json_diagnostics import diagnostics
from support.paths import victim

NO_PROCESS = 4194300
PROBED = 'probe func("libc.so.6!getppid") { m++ }'  # something that attach() can see armed
TALK = 'probe func("work") { n++ }'

# Script, options behind it, code, exit code, message (numbers of bytes as N).
FAILURES = {
    "no such process": (TALK, ["-p", NO_PROCESS], "DJ4001", 4, "there is no process 4194300"),
    "no such program": (TALK, ["-c", "/no/such/program"], "DJ4001", 127, "/no/such/program: No such file or directory"),
    "no program": (TALK, ["-c", "/etc/passwd"], "DJ4002", 126, "/etc/passwd is not executable: Permission denied"),
    "no arena": ("global a[16777216], b[16777216], c[16777216] probe begin { a[1] = b[1] = c[1] = 1 exit() }", [],
        "DJ4005", 4, "no N MB of addresses below 2 GB are free in both processes; smaller buffers need less (-D MAXMAPENTRIES=..., RINGBYTES=...)"),
    "nothing to probe": ('probe process.function("_start").return { n++ }', ["-c", victim("count")],
                         "DJ3022", 3, "the one place that is meant cannot be probed"),
    "-W": ("probe begin { x = 1; exit() }", ["-W"], "DJ2034", 3, "-W: a warning ends it"),
    "bad address": ("probe begin { user_string(8) }", [], "DJ5001", 5, "read fault at address 0x0000000000000008 (no process is traced)"),
    "error()": ('probe begin { error("x") }', [], "DJ5002", 5, "x"),
    "division": ("global zero = 0 probe begin { zero /= zero }", [], "DJ5003", 5, "division by 0"),
    "rounds": ("probe begin { while (1) n++ }", [],
        "DJ5004", 5, "MAXACTION_HOST exceeded: more than 1000000 loop rounds and calls in one hit (raise it by -D MAXACTION_HOST=N)"),
    "depth": ("function f(n) { return f(n + 1) } probe begin { f(1) }", [],
        "DJ5005", 5, "MAXNESTING exceeded: more than 10 calls deep (raise it by -D MAXNESTING=N)"),
    "empty aggregate": ("global s probe begin { println(@avg(s)) } probe end { s <<< 1 }", [], "DJ5006", 5, "the aggregate is empty"),
    "scratch": ("global a[1000] function f(n) { if (n < 9) foreach (k in a) f(n + 1) } probe begin { for (i = 0; i < 1000; i++) a[i] = i; f(0) }",
                [], "DJ5007", 5, "scratch memory is full: a loop or a match needs N bytes more (in a function that calls itself?)"),
    "no match": ('probe begin { if ("a" =~ "b") next; println(matched(0)) }', [], "DJ5008", 5, "the last =~ did not match"),
    "no group": ('probe begin { if ("a" =~ "a") println(matched(5)) }', [], "DJ5009", 5, "the last pattern has no group 5"),
    "no bucket": ("global s probe begin { s <<< 1; println(@hist_log(s)[5000]) }", [], "DJ5010", 5, "the histogram has no bucket 5000"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_has_a_code(djtap_once, name):
    script, options, code, status, message = FAILURES[name]
    plain = djtap_once("-e", script, *options)
    said = re.search(rf"^error\[{code}\]: (.*)$", plain.stderr, re.M)
    assert plain.returncode == status and said and re.sub(r"\b\d+(?= MB of addr| bytes more)", "N", said[1]) == message, plain
    told = djtap_once("--diagnostics=json", "-e", script, *options)
    found = diagnostics(told)
    assert [each["code"] for each in found if each["severity"] == "error"] == [code] and told.returncode == status, told
    assert len(found) == len(told.stderr.splitlines()), "nothing but JSON"
    assert djtap_once("--explain", code).stdout.startswith(f"{code}, an error"), code


def test_an_error_of_a_handler_has_its_place(djtap_once):
    script = "function f(n) {\n  return 1 / n }\nprobe begin { f(0) }"
    [error] = [each for each in diagnostics(djtap_once("--diagnostics=json", "-e", script)) if each["severity"] == "error"]
    place = {key: value for key, value in error["spans"][0].items() if key != "label"}
    assert place == {"file": "<command line>", "line": 2, "column": 10, "end_line": 2, "end_column": 15, "primary": True}
    assert re.fullmatch(r"in probe begin, pid \d+, tid \d+", error["notes"][0]), error
    assert error["notes"][1:] == ["in f(0), called at <command line>:3:15"], error
    plain = djtap_once("-e", script).stderr
    assert plain.startswith("error[DJ5003]: division by 0\n --> <command line>:2:10\n  |\n2 |   return 1 / n }\n  |          ^^^^^\n"), plain


HIDING = """
import mmap, os, sys
file = open(sys.argv[1])
hidden = mmap.mmap(file.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=0)
nameless = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0)
print("ready", flush=True)
for line in sys.stdin: os.getppid()
"""


@pytest.mark.parametrize("where", ["in the program", "in djtap"])
def test_a_read_fault_names_the_mapping(attach, program, tmp_path, where):
    """Of a file that is mapped and may not be read, as /proc tells of it, and of no mapping at all."""
    (tmp_path / "hidden file").write_bytes(bytes(4096))
    target = program("/usr/bin/python3", "-c", HIDING, tmp_path / "hidden file")
    target.wait_for("ready")
    with open(f"/proc/{target.pid}/maps", encoding="utf8") as maps:
        [address] = [int(line.split("-")[0], 16) for line in maps if line.endswith("hidden file\n")]
    point = 'probe func("libc.so.6!getppid")' if where == "in the program" else "probe timer.ms(20)"
    tracer = attach(target.pid, f'{point} {{ try {{ user_string(16) }} catch (why) {{ n++ }} user_string({address}) }}\n'
                                f'{point} {{ user_string(0x1230); n++ }} {PROBED}')
    target.tell("go")
    tracer.wait_for(r"\(no mapping\)\n(.*\n)*  = in probe")
    tracer.signal(signal.SIGINT)
    told = tracer.finish().stderr
    faults = re.findall(r"^error\[DJ5001\]: read fault at address 0x0*(\w+) \((.*)\)$", told, re.M)
    assert set(faults) == {(f"{address:x}", f"in {tmp_path}/hidden file, ---p"), ("1230", "no mapping")}, told
    who = rf"pid {target.pid}, tid {target.pid}" if where == "in the program" else r"pid \d+, tid \d+"
    assert re.search(rf"^2 \| probe .* user_string\(0x1230\); n\+\+ \}}.*\n  \| +\^+\n  = in probe [\w.()]+, {who}$", told, re.M), told


def test_probes_that_stay_are_an_error(background, program):
    """Somebody else traces the program when the session ends (PTRACE_SEIZE): its text cannot be written."""
    target = program(victim("commander"))
    target.wait_for("pid: ")
    tracer = background("--probes", "-e", TALK, "-p", str(target.pid))
    tracer.wait_for(r"\[(OPTIMIZED|INT3)")
    holder = program(sys.executable, "-c", f"""import ctypes, sys
assert ctypes.CDLL(None, use_errno=True).ptrace(0x4206, {target.pid}, None, None) == 0
print("seized", flush=True)
sys.stdin.read()""")
    holder.wait_for("seized")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    told = result.stderr
    assert re.search(rf"^error\[DJ5014\]: probes not removed: .*; do it later with: djtap clean {target.pid}$", told, re.M), told
    assert result.returncode == 5, result
    holder.signal(signal.SIGKILL)
    holder.process.wait()
    assert run.run(["clean", str(target.pid)]).returncode == 0
    target.tell("call 10")
    target.wait_for("called: 10")


def test_losses_are_warnings_with_codes(djtap_once):
    told = djtap_once("--diagnostics=json", "-D", "MAXMAPENTRIES=2", "-e", "global a probe begin { for (i = 0; i < 4; i++) a[i] = 1; exit() }")
    assert [(each["code"], each["severity"], each["message"]) for each in diagnostics(told)] == [
        ("DJ5905", "warning", "2 new elements dropped: an array is full (raise -D MAXMAPENTRIES for `a`)")] and told.returncode == 0, told
    told = djtap_once("--diagnostics=json", "--no-follow", "-e", 'probe process.begin { n++ }', "--", "/bin/sh", "-c", "exec /bin/sleep 0.3")
    sleep = os.path.realpath("/bin/sleep")
    assert [(each["code"], each["message"]) for each in diagnostics(told)] == [("DJ5901", f"the target executed {sleep}: probes do not follow")], told
    told = djtap_once("--diagnostics=json", "-D", "CONTEXTS=1", "-e", 'probe func("work") { a[sprintf("%d", $n & 7)]++ }', "-c", f"{victim('hammer')} 1")
    *early, skipped = diagnostics(told)  # early: while the session runs
    assert told.returncode == 0 and len(early) <= 1 and all(each["code"] == "DJ5904" for each in (*early, skipped)), told
    assert re.fullmatch(r"\d+ hits? skipped: too many handlers at once \(raise -D CONTEXTS\)", skipped["message"]), told


def test_what_cannot_be_done_is_a_warning():
    """A shell that nobody may execute."""
    hide = ["unshare", "-m", "sh", "-c", 'mount --bind /dev/null "$(readlink -f /bin/sh)" && exec "$@"', "sh"]
    if os.getuid() != 0 or subprocess.run([*hide, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no mount namespaces here")
    result = run.run(["-e", 'probe begin { system("true") exit() }'], prefix=hide)
    assert result.returncode == 0 and result.stderr == 'warning[DJ5903]: system("true"): Permission denied\n', result


def test_a_part_of_djtap_that_is_missing(tmp_path):
    """The command does not run."""
    shutil.copy(paths.DJTAP, tmp_path)
    for command in ([], ["-c", victim("count")]):
        result = run.run(["-e", "probe begin { exit() }", *command], binary=tmp_path / "djtap")
        assert (result.returncode, result.stdout) == (5, "") and result.stderr.startswith(
            "error[DJ5013]: djtap's compiler of handlers is missing: there is neither "), result
        assert f"{tmp_path}/libdjtap_lower.so" in result.stderr, result


def test_a_command_that_is_too_long():
    """Linux takes 128 kB of one word."""
    grow = 's = "echo some words that are repeated very often "; for (i = 0; i < 13; i++) s = s . s;'
    result = run.run(["-D", "MAXSTRINGLEN=1000000", "-e", f"probe begin {{ {grow} system(s) exit() }}"])
    begin = ("echo some words that are repeated very often " * 2)[:60]
    assert result.returncode == 0 and result.stderr == f'warning[DJ5903]: system("{begin}"...): Argument list too long\n', result


def test_a_killed_djtap_is_told_of_by_the_next(program):
    target = program(victim("commander"))
    target.wait_for("pid: ")
    with run.Background(run.command(["--probes", "-e", TALK, "-p", target.pid])) as tracer:
        tracer.wait_for(r"\[(OPTIMIZED|INT3)")
        tracer.signal(signal.SIGKILL)
    again = run.run(["--diagnostics=json", "-T", "0.1", "-e", TALK, "-p", target.pid])
    assert [each["code"] for each in diagnostics(again)] == ["DJ4905"], again


def test_exit_codes_with_a_command_are_its_own_once_it_runs(djtap_once):
    """Before, they are djtap's own; a command that cannot be had is a shell's 126 and 127."""
    shell = ["--", "/bin/sh", "-c"]
    for script, status in (("probe begin {", 2), ("probe begin { nothing_such() }", 3), ('probe func("nothing_such") { n++ }', 3),
                           ('probe begin { error("x") }', 5)):
        result = djtap_once("-e", script, *shell, "echo ran; exit 7")
        assert result.returncode == status and "ran" not in result.stdout, result
    assert djtap_once("-e", "probe begin { n++ }", *shell, "exit 7").returncode == 7
    assert djtap_once("-e", 'probe process.end { error("x") }', *shell, "exit 7").returncode == 7
    assert djtap_once("-e", "probe begin { n++ }", *shell, "kill -9 $$").returncode == 128 + 9
    assert djtap_once("--no-such-option", *shell, "exit 7").returncode == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full is not here")
def test_output_that_is_lost_is_told_as_json(djtap_once):
    told = djtap_once("--diagnostics=json", "-o", "/dev/full", "-e", 'probe begin { println("x") exit() }')
    assert [(each["code"], each["message"]) for each in diagnostics(told)] == [("DJ5012", "output ended early: No space left on device")], told
    assert told.returncode == 5, told


def test_every_code_of_a_session_is_explained():
    codes = re.findall(r"DJ_CODE\((DJ[45]\d{3})", (paths.ROOT / "compiler" / "diag" / "codes.def").read_text())
    assert codes
    for code in codes:
        text = subprocess.run([paths.DJTAP, "--explain", code], capture_output=True, text=True, check=True).stdout
        assert text.startswith(f"{code}, a{' warning' if code[3] == '9' else 'n error'} found "), text


def test_a_pattern_of_many_places_is_told_of(djtap_once):
    """nm says how many functions there are; a list and --stress mean them all."""
    symbols = subprocess.run(["nm", paths.TINYFS], capture_output=True, text=True, check=True).stdout
    count = len(re.findall(r" [tT] vfs_\w+$", symbols, re.M))
    script = 'probe begin { b++ }\nprobe func("vfs_*") { n++ }'
    told = djtap_once("--diagnostics=json", f"--many={count - 1}", "-e", script, "-c", paths.TINYFS)
    [warning] = diagnostics(told)
    assert count > 1 and told.returncode == 0 and (warning["code"], warning["message"]) == ("DJ3901", f"this means {count} places"), told
    assert [(span["line"], span["column"], span["end_column"]) for span in warning["spans"]] == [(2, 12, 19)], told
    for options in ([f"--many={count}"], ["--many=0"], ["--many=1", "-w"], []):
        quiet = djtap_once(*options, "-e", script, "-c", paths.TINYFS)
        assert quiet.returncode == 0 and quiet.stderr == "", quiet
    assert "DJ3901" not in djtap_once("--many=1", "--stress", "vfs_*", "-c", paths.TINYFS).stderr
    assert djtap_once("--many=1", "-l", 'func("vfs_*")', "-c", paths.TINYFS).stderr == ""


def test_a_kept_plan_of_many_places_is_told_of(djtap_once):
    for _ in range(2):
        told = djtap_once("-v", "--many=100", "-e", 'probe func("libc.so.6!*") { n++ }', "-c", "/bin/true")
        assert told.returncode == 0 and "warning[DJ3901]" in told.stderr, told
    assert re.search(r"resolve .*, kept", told.stderr), told
