# SPDX-License-Identifier: Apache-2.0
"""Where the target leaves an object: calls through its linkage table, and system calls."""
import os
import re
import shutil
import subprocess

import pytest

from support import process
from support.paths import PYTHON, victim


def traced(djtap, script, program="outward"):
    result = djtap("-e", script, "-c", victim(program))
    assert result.returncode == 0, result
    return result


def test_plt(djtap):
    result = traced(djtap, 'probe process.plt("*al*oc"), process.plt("free") { n[probefunc()]++ }', "inside")
    assert dict(result.array("n")) == {'"malloc"': "10", '"free"': "10"}


def test_every_plt_entry_of_a_real_program(djtap):
    result = djtap("-e", 'probe process.plt { n++; by[probefunc()]++ }', "-c", f"{shutil.which('bash')} -c 'echo a; echo b; :'")
    assert result.stdout.startswith("a\nb\n") and result.globals["n"] > 100, result


def test_without_a_plt(djtap, tmp_path):
    source, program = tmp_path / "t.c", tmp_path / "t"
    source.write_text('#include <stdlib.h>\nint main(void) { for (int i = 0; i < 9; i++) free(malloc(5)); return 0; }\n')
    subprocess.run(["gcc", "-O1", "-fno-plt", "-fno-builtin", "-o", program, source], check=True)
    result = djtap("-e", 'probe process.plt("malloc") { n++ }', "-c", str(program))
    assert "built with -fno-plt" in result.stderr and '.callee("malloc")' in result.stderr, result
    result = djtap("-e", 'probe func("main").callee("malloc") { n++ }', "-c", str(program))
    assert result.globals == {"n": 9}, result


@pytest.mark.parametrize("body, entry", [("", ""), ("base += int_arg(3)", "base")], ids=["result", "with-entry-value"])
def test_returns_of_calls_through_the_plt(djtap, body, entry):
    """strtol() leaves by a tail call itself: two jumps are followed."""
    result = traced(djtap, f'probe process.plt("strtol").return {{ n[$$name]++; sum += $return; {body} }}')
    truth = result.facts
    assert result.array("n") == [('"strtol"', str(truth["strtol calls"]))] and not result.stderr, result
    assert result.globals["sum"] == truth["strtol sum"], result
    assert not entry or result.globals[entry] == 0


def test_a_jump_to_what_the_loader_will_choose(djtap):
    result = traced(djtap, 'probe process.function("length").return { n++; sum += $return }')
    assert result.globals == {"n": 30, "sum": result.facts["lengths"]} and not result.stderr, result


def test_calls_of_others_are_none_through_the_plt(djtap):
    """The library's own calls of malloc() do not go through the program's linkage table."""
    script = """probe process.plt("malloc") { inward++ } probe process.plt("malloc").return { out++; if ($return) good++ }
                probe func("malloc").return { all++ }"""
    result = traced(djtap, script, "inside")
    assert result.globals["inward"] == result.globals["out"] == result.globals["good"] == 10, result
    assert result.globals["all"] > 10, result


def test_returns_of_all_plt_entries(djtap):
    result = traced(djtap, "probe process.plt.return { n[$$name]++ }")
    counted = {name.strip('"'): int(number) for name, number in result.array("n")}
    assert counted["strtol"] == 100 and counted["write"] == 20 and counted["pthread_create"] == 1, result
    assert counted["strlen"] == 30, "the loader chooses it, for the C library itself, too"


@pytest.mark.parametrize("script, words", [
    ('probe process.plt("strtool") { n++ }', 'did you mean "strtol"?'),
    ('probe process.plt("strtool").return { n++ }', "no PLT entry"),
    ('probe process.plt("strtol").return { n += $return->x }', "$return is a number"),
    ('probe process.syscall { n += $arg7 }', 'did you mean "$arg'),
    ('probe process.syscall { n += $return }', "`$return` exists only where a function returns"),
    ('probe process.syscall { println($arg1$) }', "$arg1 is a number"),
    ('probe process.library("libm*").syscall?, process.library("libc.so.6").syscal { n++ }', 'did you mean "syscall"?'),
])
def test_what_is_not_there(djtap, script, words):
    result = djtap("-e", script, "-c", victim("outward"))
    assert result.returncode != 0 and words in result.stderr, result


SYS_WRITE, SYS_GETPPID, SYS_GETPGID = 1, 110, 121


def test_system_calls(djtap):
    """By the C library, in two threads, and by an instruction of the program's own."""
    result = traced(djtap, """probe process.syscall { n[$syscall]++; if ($syscall == 1 && $arg1 == 0xffffffff) { failing++; bytes += $arg3 } }
                              probe process.library("libc.so.6").syscall { of_libc[$syscall]++ }""")
    truth, counted = result.facts, {int(number): int(times) for number, times in result.array("n")}
    assert counted[SYS_GETPPID] == truth["getppid calls"] == 50 and counted[SYS_GETPGID] == truth["own calls"] == 25, result
    assert result.globals["failing"] == truth["writes failed"] == 20 and result.globals["bytes"] == 60, result
    of_libc = {int(number): int(times) for number, times in result.array("of_libc")}
    assert of_libc[SYS_GETPPID] == 50 and SYS_GETPGID not in of_libc, result


def test_bytes_inside_an_instruction_are_no_system_call(djtap, tmp_path):
    """0f 05 in the number of a move: in a stripped program, .eh_frame tells which function to decode."""
    source, program = tmp_path / "t.c", tmp_path / "t"
    source.write_text("volatile int word;\nint main(void) { word = 0x050f; return word != 0x050f; }\n")
    subprocess.run(["gcc", "-O1", "-s", "-o", program, source], check=True)
    assert b"\x0f\x05\0\0" in program.read_bytes()
    result = djtap("-e", "probe process.syscall { n[$syscall]++ }", "-c", str(program))
    assert result.returncode == 0 and dict(result.array("n"))["231"] == "1" and "warning[" not in result.stderr, result


def test_returns_of_system_calls(djtap):
    """$syscall and the arguments are those of the call, though their registers hold something else by then."""
    result = traced(djtap, """probe process.syscall.return {
        n[$syscall]++; if ($syscall == 1 && $return == -9) { failing++; bytes += $arg3 } if ($syscall == 121) pgid += $return > 0 }""")
    truth, counted = result.facts, {int(number): int(times) for number, times in result.array("n")}
    assert counted[SYS_GETPPID] == truth["getppid calls"] and counted[SYS_GETPGID] == truth["own calls"], result
    assert result.globals["failing"] == 20 and result.globals["bytes"] == 60 and result.globals["pgid"] == truth["own sum"], result


def test_system_calls_as_text(djtap):
    result = traced(djtap, """probe process.syscall { if ($syscall == 1 && $arg1 == 0xffffffff) println("in ", $$parms) }
                              probe process.syscall.return { if ($syscall == 1 && $arg1 == 0xffffffff) println("out ", $$vars, " ", $$return) }""")
    assert result.stdout.count("in syscall=0x1 arg1=0xffffffff") == 20, result
    assert result.stdout.count("return=0xfffffffffffffff7 return=0xfffffffffffffff7") == 20, result


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_system_calls_of_a_real_program(djtap, tmp_path):
    """As many as strace sees; the loader, which runs before the probes are there, makes none of these."""
    command = [shutil.which("sqlite3"), ":memory:", "create table t(a); insert into t values(1); select * from t;"]
    log = tmp_path / "strace"
    subprocess.run(["strace", "-o", log, "-e", "trace=write,lseek,fcntl,getpid", *command], check=True, capture_output=True)
    truth = sum(1 for line in log.read_text().splitlines() if "(" in line and not line.startswith(("+++", "---")))
    script = """global wanted
                probe begin { wanted[1] = wanted[8] = wanted[72] = wanted[39] = 1 }
                probe process.syscall { if ($syscall in wanted) n++ }"""
    result = djtap("-e", script, "--", *command)
    assert result.globals.get("n", 0) == truth, result


def test_a_library_wherever_the_distribution_keeps_it(djtap):
    """As SystemTap's examples name it: Debian has it in a folder below."""
    result = traced(djtap, 'probe process("/lib*/libc.so.*").function("strtol") { n++ } probe process("/usr/lib*/libc.so.6").function("strtol") { m++ }')
    assert result.globals == {"n": 100, "m": 100}, result


SLEEPER = """
import ctypes
print("ready", flush=True)
input()
libc = ctypes.CDLL(None)
libc.puts(b"asleep")
libc.fflush(None)
libc.ppoll(None, 0, None, ctypes.create_string_buffer(128))
"""


@pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")
@pytest.mark.parametrize("script", ['probe process.library("libc.so.6").syscall { n++ }', 'probe func("libc.so.6!puts") { n++ }'])
def test_who_sleeps_in_a_system_call_has_its_stack(attach, program, script):
    """As gdb shows the same program without probes. In int3 form ppoll is hooked in the second case, too."""
    def asleep(probes):
        target = program(PYTHON, "-c", SLEEPER)
        target.wait_for("ready")
        if probes:
            attach(target.pid, probes)
        target.tell("go on")
        target.wait_for("asleep")
        process.wait_until_asleep(target.pid)
        shown = subprocess.run(["gdb", "-nx", "-batch", "-p", str(target.pid), "-ex", "bt"], capture_output=True, text=True, timeout=300)
        return re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(\S+)", shown.stdout, re.M)

    truth = asleep("")
    assert "__ppoll" in truth and len(truth) > 5, truth
    assert asleep(script) == truth


def test_stubs_whose_return_cannot_be_seen(djtap):
    """perl calls time() by a stub, which the loader binds to the vdso's."""
    if not os.path.exists("/usr/bin/perl"):
        pytest.skip("perl is not installed")
    script = 'probe process("perl").plt("time").return { n++ } probe process("perl").plt("malloc").return { m++ }'
    result = djtap("--probes", "-e", script, "--", "/usr/bin/perl", "-e", "time", env={**os.environ, "LD_BIND_NOW": "1"})
    reasons = {site.symbol: site.reason for site in result.sites if site.state == "SKIPPED"}
    assert reasons == {"time@plt+0x0": "linkage stub: what it leads to is not known, or not probed"} and result.globals["m"] > 0, result
