# SPDX-License-Identifier: Apache-2.0
"""The probes of system calls count what strace counts, in each process and wherever a program makes the call. strace also sees
what the loader does before the probes are there, up to its munmap() of ld.so.cache."""
import collections
import re
import shutil
import subprocess

import pytest

from support import paths, run

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")

# SystemTap's names of calls that the kernel names otherwise.
NAMES = {"mmap": "mmap2", "pread64": "pread", "pwrite64": "pwrite", "getdents64": "getdents", "umount2": "umount"}
COMMANDS = ["gzip -c /etc/passwd | wc -c; gzip -c /etc/group", "sort /etc/passwd; uniq /etc/passwd; cut -c1-9 /etc/passwd", "ls -l / /etc; id; date",
            "for n in 1 2 3; do tail -n1 /etc/passwd; done; dd if=/dev/zero bs=99 count=3", "touch a b; mv a c; rm b c; mkdir d; rmdir d",
            "uname; arch; seq 2; fold /dev/null; basename a; dirname a; tac /dev/null; pathchk a; sum /dev/null; cksum /dev/null; nl /dev/null; env"]


def known():
    """What `name` may be in the probes that the tapsets have."""
    lines = [line for path in (paths.ROOT / "tapsets").glob("syscall_*.djt") for line in path.read_text().splitlines()]
    return {name for line in lines if line.startswith("  name = ") for name in re.findall(r'"(\w+)"', line)}


def strace_counts(command, folder):
    """How often each call is begun, and how often it returns to where it was made, behind the work of each program's loader."""
    log = folder / "strace"
    subprocess.run(["strace", "-f", "-o", log, "sh", "-c", f"exec >output; {command}"], check=True, cwd=folder, capture_output=True)
    first, *lines = log.read_text().splitlines()
    begun, done, loading = collections.Counter(), collections.Counter(), {first.split()[0]}
    for line in lines:
        call = re.match(r"(\d+) +(<\.\.\. )?(\w+)(?: resumed>|\()(.*)", line)
        if call is None:  # a signal, or an exit
            continue
        pid, is_resumed, name, rest = call.groups()
        if pid in loading and name not in ("munmap", "execve"):
            continue
        loading.discard(pid)
        begun[NAMES.get(name, name)] += is_resumed is None
        if name == "execve" and rest.endswith("= 0"):
            loading.add(pid)
        elif not rest.endswith("<unfinished ...>") and "= ?" not in rest:
            done[NAMES.get(name, name)] += 1
    return begun, done


def djtap_counts(script, command, folder):
    result = run.run(["-e", script, "-c", f"sh -c 'exec >output; {command}'"], cwd=folder)
    assert result.returncode == 0 and "warning" not in result.stderr, result
    return {key.strip('"'): int(count) for key, count in result.array("c")}


@needs_strace
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("where", ["", ".return"])
def test_as_strace(command, where, tmp_path):
    """The C library makes many calls without its wrappers: __read_nocancel(), __close_nocancel() ..."""
    truth = dict(strace_counts(command, tmp_path)[where == ".return"])
    truth = {name: count for name, count in truth.items() if name in known() and count}
    assert len(truth) > 8
    assert djtap_counts(f"probe syscall.*{where} {{ c[name]++ }}", command, tmp_path) == truth


@needs_strace
def test_errors_are_straces(tmp_path):
    """Of all calls in tests/targets/system_calls.cpp, in their order: by these a probe at another call's number would show."""
    log, output, program = tmp_path / "strace", tmp_path / "out", paths.victim("library_calls")
    subprocess.run(["strace", "-o", log, program], check=True, capture_output=True)
    of_strace = [(NAMES.get(name, name), error) for name, error in re.findall(r"^(\w+)\(.*\) += \S+(?: (E\w+))?", log.read_text(), re.M)]
    script = 'probe syscall.*.return { if (tid() == target()) println(name, " ", retval < 0 ? errno_str(retval) : "") }'
    run.run(["-o", output, "-e", script, "-c", program])
    of_djtap = re.findall(r"^(\w+) (\w*)$", output.read_text(), re.M)
    here, seen = known() - {"pause"}, []  # the kernel's own error of pause() never reaches the program
    for calls in (of_strace, of_djtap):
        names = [name for name, _ in calls]
        first, last = names.index("geteuid"), len(names) - names[::-1].index("getppid")
        seen.append([call for call in calls[first:last] if call[0] in here])
    assert len(seen[0]) > 30 and seen[1] == seen[0]


def test_a_jump_behind_a_call():
    """In glibc's _Fork() the parent jumps over the child's set_robust_list(2), to where that call returns."""
    program = "import os\nif os.fork() == 0: os._exit(0)\nos.wait()"
    script = "probe process.syscall(273).return { c[pid() == target(), $return]++ }"
    result = run.run(["-e", script, "--", "/usr/bin/python3", "-I", "-S", "-c", program])
    assert result.array("c") == [("0,0", "1")], result


@needs_strace
def test_by_number(tmp_path):
    """process.syscall(N) is the call of that number, also where the program chooses the number."""
    program = 'import ctypes\nc = ctypes.CDLL(None)\nfor number in (39, 110, 39, 102, 39): c.syscall(number)\n'
    script = 'probe process.syscall(39) { c["call"]++ } probe process.syscall(39).return { if ($return == pid() && $syscall == 39) c["return"]++ }'
    result = run.run(["-e", script, "--", "/usr/bin/python3", "-I", "-S", "-c", program])
    assert result.array("c") == [('"call"', "3"), ('"return"', "3")], result


def test_many_programs_share_the_handlers(tmp_path):
    """A session has room for 32768 handlers of later programs; each of these would take 600 of its own."""
    for number in range(60):
        shutil.copy("/bin/true", tmp_path / f"true{number}")
    counts = djtap_counts("probe syscall.* { c[name]++ }", "for program in ./true*; do $program; done", tmp_path)
    assert counts["exit_group"] == 61


# In namespaces of its own djtap meets no other test's processes, and may not hold who opens the C library later.
UNSHARE = ["unshare", "-Urpf", "--mount-proc", "--kill-child"]
SCENE = r"""
import re, signal, subprocess, sys
CALLER = "import os\nprint('ready', flush=True)\nfor i in range(int(input())): os.getppid()\nprint('called', flush=True)\ninput()"

def begin(words, ready):
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while ready not in process.stdout.readline(): pass
    return process

def tell(process, text):
    process.stdin.write(text + "\n")
    process.stdin.flush()

callers = [begin([sys.executable, "-I", "-S", "-c", CALLER], "ready") for number in range(2)]
script = 'probe begin { println("begins") } probe syscall.getppid { c[pid()]++ } probe syscall.getppid.return { d[retval]++ }'
tracer = begin([sys.argv[1], "-e", script], "begins")
for caller, count in zip(callers, (30, 12)):
    tell(caller, str(count))
    assert caller.stdout.readline() == "called\n"
tracer.send_signal(signal.SIGINT)
counts = dict(re.findall(r"(\w+\[\d+\])=(\d+)", tracer.communicate(timeout=60)[0]))
for caller in callers: tell(caller, "")
print([counts[f"c[{caller.pid}]"] for caller in callers], len(counts), [caller.wait() for caller in callers], tracer.returncode)
"""


@pytest.mark.skipif(subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode != 0, reason=f"{' '.join(UNSHARE)} is not allowed here")
def test_of_all_processes():
    """Without -c and -p: those that have mapped the C library."""
    done = subprocess.run([*UNSHARE, paths.PYTHON, "-c", SCENE, paths.DJTAP], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "['30', '12'] 3 [0, 0] 0\n" and "DJ5917" in done.stderr, done
