# SPDX-License-Identifier: Apache-2.0
"""Probes of tapsets/ that SystemTap's examples use: metrics for Prometheus, the life of processes, calls without a wrapper."""
import re

import pytest

from support import paths, run

PYTHON = ["--", "/usr/bin/python3", "-I", "-S", "-c"]
TINYFS = ["-c", str(paths.TINYFS)]


def traced(script, *words):
    result = run.run(["-e", script, *words])
    assert result.returncode == 0, result
    return result


def numbers(text, pattern):
    return [tuple(map(int, found)) for found in re.findall(pattern, text, re.M)]


# --- metrics

def test_metrics_of_arrays_with_any_number_of_keys():
    for count in range(1, 9):
        keys = [f'"k{i}\\"\\\\\\n"' for i in range(count)]
        labels = ", ".join(f'"l{i}"' for i in range(count))
        names = ", ".join(["twice"] + ["sprint"] * count)
        script = f"""global a function twice:string(n:long) {{ return sprint(2 * n) }}
        probe begin {{ a[{", ".join(keys)}] = 21 exit() }}
        probe prometheus {{ @prometheus_dump_array{count}(a, "m", {labels}) @prometheus_dump_array{count}_map(a, "n", {labels}, {names})
          @prometheus_dump_array{count}_map_unquoted(a, "o", {labels}, {names}) }}"""
        quoted = ",".join(f'l{i}="k{i}\\"\\\\\\n"' for i in range(count))
        plain = ",".join(f'l{i}=k{i}"\\\n' for i in range(count))
        assert traced(script, "-c", "/bin/true").stdout == f"m{{{quoted}}} 21\nn{{{quoted}}} 42\no{{{plain}}} 42\n"


def test_metrics_count_the_victims_calls():
    result = traced('probe func("vfs_read") { n[execname()]++ } probe prometheus { @prometheus_dump_array1(n, "reads", "who") } global n', *TINYFS)
    calls = re.search(r"^vfs_read calls: (\d+)$", result.stdout, re.M) or re.search(r"vfs_read calls\D+(\d+)", result.stdout)
    assert f'reads{{who="tinyfs"}} {calls[1]}\n' in result.stdout, result


# --- the life of processes

LIFE = """import os, threading
t = threading.Thread(target=lambda: print("thread", os.getpid(), threading.get_native_id(), flush=True)); t.start(); t.join()
child = os.fork()
if child == 0: os._exit(3)
os.waitpid(child, 0)
print("child", child, child, flush=True)
try: os.execv("/no/where", ["a"])
except OSError: pass"""


def test_processes_are_made_and_end():
    script = """probe kprocess.create { printf("created %d %d %d\\n", new_pid, new_tid, task == new_tid) }
    probe kprocess.exec { printf("exec %s\\n", filename) } probe kprocess.exec_complete { printf("complete %s %d\\n", errno_str(errno), success) }
    probe kprocess.exit { printf("exit %d %d\\n", pid(), code) }
    probe scheduler.process_exit { printf("%s %d %d\\n", name, pid, priority) }"""
    text = traced(script, *PYTHON, LIFE).stdout
    created = numbers(text, r"^created (\d+) (\d+) 1$")
    (thread,), (child,) = numbers(text, r"^thread (\d+) (\d+)$"), numbers(text, r"^child (\d+) (\d+)$")
    assert thread in created and child[1] in [tid for _, tid in created], text
    assert (child[0], 3 << 8) in numbers(text, r"^exit (\d+) (\d+)$") and (thread[0], 0) in numbers(text, r"^exit (\d+) (\d+)$"), text
    assert {pid for pid, _ in numbers(text, r"^process_exit (\d+) (\d+)$")} == {child[0], thread[0]}, text
    assert 'exec "/no/where"\n' in text and "complete ENOENT 0\n" in text, text


def test_calls_without_a_wrapper():
    script = """probe syscall.futex.return, syscall.clone.return, syscall.clone3.return { printf("%d %s(%s) = %s\\n", tid(), name, argstr, retstr) }
    probe nd_syscall.exit, nd_syscall.exit_group { printf("%d %s(%s)\\n", tid(), name, argstr) }"""
    text = traced(script, *PYTHON, LIFE).stdout
    (thread,), (child,) = numbers(text, r"^thread (\d+) (\d+)$"), numbers(text, r"^child (\d+) (\d+)$")
    assert f"{thread[1]} exit(0)\n" in text and f"{child[0]} exit_group(3)\n" in text and f"{thread[0]} exit_group(0)\n" in text, text
    assert re.search(rf"^{thread[0]} clone3?\(.*\) = {thread[1]}$", text, re.M), text
    assert re.search(rf"^{thread[0]} clone\(0x0, CLONE_CHILD_CLEARTID\|CLONE_CHILD_SETTID\|SIGCHLD, .*\) = {child[0]}$", text, re.M), text
    assert re.search(r"^\d+ futex\(0x[0-9a-f]+, FUTEX_WAIT_BITSET\|FUTEX_PRIVATE_FLAG\|FUTEX_CLOCK_REALTIME, \d+, 0x0\) = ", text, re.M), text


@pytest.mark.parametrize("family", ["syscall", "nd_syscall"])
def test_wrappers_decode_their_arguments(family):
    program = """import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.semop(-1, None, 1); libc.semtimedop(-1, None, 2, None); libc.vmsplice(-1, None, 3, 1); libc.ptrace(99, 7, None, None)
libc.tgkill(os.getpid(), os.getpid(), 0); signal.sigtimedwait([signal.SIGUSR1], 0)"""
    script = """probe FAMILY.{semop,semtimedop,vmsplice,ptrace,tgkill,rt_sigtimedwait}.return { printf("%s(%s) = %d\\n", name, argstr, retval) }"""
    text = traced(script.replace("FAMILY", family), *PYTHON, program).stdout
    lines = [re.sub("0x[0-9a-f]{4,}", "ADDR", line) for line in text.splitlines()]
    wanted = ["semtimedop(-1, 0x0, 1, NULL) = ", "semtimedop(-1, 0x0, 2, NULL) = ", "vmsplice(-1, 0x0, 3, SPLICE_F_MOVE) = ", "ptrace(99, 7, 0x0, 0x0) = ",
              "rt_sigtimedwait([SIGUSR1], ADDR, [0.000000000], 8) = "]
    for begin in wanted:
        assert any(line.startswith(begin + "-") for line in lines), (begin, text)
    assert any(re.fullmatch(r"tgkill\((\d+), \1, 0\) = 0", line) for line in lines), text
