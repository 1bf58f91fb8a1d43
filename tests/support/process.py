# SPDX-License-Identifier: Apache-2.0
"""Looks into a running process the way the kernel shows it."""
import os
import re
import signal
import subprocess
import time


def status_field(pid, name):
    """A field of /proc/PID/status, as text."""
    with open(f"/proc/{pid}/status", encoding="utf8") as file:
        return re.search(rf"^{name}:\s*(.*)$", file.read(), re.M).group(1)


def living_thread(pid):
    """The process itself, or a thread of it when the first one has ended."""
    tasks = sorted(int(name) for name in os.listdir(f"/proc/{pid}/task"))
    return pid if status_field(pid, "State")[0] != "Z" or len(tasks) == 1 else tasks[-1]


def wait_until(holds, otherwise, seconds=300):
    """Until holds() is true; fails with what is the case otherwise."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.01)


def wait_until_asleep(pid):
    """Until all threads of a process wait for something."""
    time.sleep(0.01)  # it may have just been given something to do
    wait_until(lambda: {status_field(int(tid), "State")[0] for tid in os.listdir(f"/proc/{pid}/task")} == {"S"}, f"{pid} does not come to rest")


def stop_where(pid, holds, otherwise):
    """Stops a process by a signal, and lets it go on, until holds(pid) is true where all its threads stand; fails with what is the
    case otherwise."""
    def stands():
        return {status_field(int(tid), "State")[0] for tid in os.listdir(f"/proc/{pid}/task")} == {"T"}

    def stops_there():
        os.kill(pid, signal.SIGSTOP)
        wait_until(stands, f"{pid} does not stop")
        if not holds(pid):
            os.kill(pid, signal.SIGCONT)
            return False
        return True

    wait_until(stops_there, otherwise)


def wait_until_headless(pid):
    """Until the first thread of a process has ended, which stays as a zombie while others live."""
    wait_until(lambda: status_field(pid, "State")[0] == "Z", f"the first thread of {pid} does not end")


def mappings(pid):
    """[(begin, end, permissions, path)] of a process."""
    rows = []
    with open(f"/proc/{living_thread(pid)}/maps", encoding="utf8") as file:
        for line in file:
            fields = line.split(maxsplit=5)
            begin, end = (int(part, 16) for part in fields[0].split("-"))
            rows.append((begin, end, fields[1], fields[5].strip() if len(fields) > 5 else ""))
    return rows


def text_of(pid):
    """{(begin, path): bytes} of all mappings of files that are not writable, so the GOTs that the loader has
    filled for good are there; the vdso, too."""
    for _ in range(20):
        try:
            return _text_of(pid)
        except (OSError, ValueError):  # the thread by which we looked has ended
            pass
    return _text_of(pid)


def _text_of(pid):
    result = {}
    with open(f"/proc/{living_thread(pid)}/mem", "rb") as memory:
        for begin, end, permissions, path in mappings(pid):
            if "w" not in permissions and "r" in permissions and (path.startswith("/") and "memfd" not in path or path == "[vdso]"):
                memory.seek(begin)
                result[begin, path] = memory.read(end - begin)
    return result


def own_text(pid, program):
    """text_of() the program's own file, without libraries, where system calls may be hooked."""
    return {key: text for key, text in text_of(pid).items() if key[1] == str(program)}


def wait_for_own_text(pid, program, text):
    """Until own_text() is `text`: probes that are off leave the text after a moment."""
    assert text
    wait_until(lambda: not differences(text, own_text(pid, program)), "the text is still patched")


def differences(before, after):
    """Where two text_of() differ: readable, empty when they do not."""
    found = []
    for key, old in before.items():
        new = after.get(key)
        if new is None:
            found.append(f"{key[1]} is gone")
        elif new != old:
            at = [i for i, (a, b) in enumerate(zip(old, new)) if a != b]
            found.append(f"{key[1]}: {len(at)} bytes differ, the first at {key[0] + at[0]:#x}")
    return found


def check_taken_out(tracer, counted, pid, before):
    """It ends as it should, with these globals, and the process's text_of() is as before."""
    result = tracer.finish()
    assert result.returncode == 0 and result.globals == counted, result
    assert differences(before, text_of(pid)) == []


def check_put_back_in_children(djtap_once, tracer, target, text):
    """A victim that hands over to a child, whose tracer is killed then: `clean` gives both their text_of() again, and the child goes on."""
    target.tell("fork")
    child = int(target.wait_for(r"^child: (\d+)").group(1))
    target.call(100)
    tracer.signal(signal.SIGKILL)
    tracer.process.wait()
    assert differences(text, text_of(child))
    target.call(101)
    result = djtap_once("clean", target.pid)
    assert result.returncode == 0 and "1 process" in result.stdout, result
    for pid in (target.pid, child):
        assert differences(text, text_of(pid)) == [], result
    target.call(1000)
    target.tell("quit")
    assert target.finish().returncode == 0


def instructions(program, function, fillers=True):
    """[(address, mnemonic)] of a function, by objdump; without those that only fill up, if they are not wanted."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", program],
                          capture_output=True, text=True, check=True).stdout
    found = [(int(place, 16), name) for place, name in re.findall(r"^ +([0-9a-f]+):\t(\S+)", text, re.M)]
    assert len(found) > 3, text
    return [(place, name) for place, name in found if fillers or not re.match(r"nop|cs$|data16$", name)]
