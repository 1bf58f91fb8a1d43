"""gdb beside djtap: its stacks go through detours, handlers and stubs, to the frames that the program has without probes."""
import re
import shutil
import signal
import subprocess
import time

import pytest

from support.paths import victim

pytestmark = pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")

# Goes through one call of leaf() instruction by instruction, and says all frames at each.
STEPS = """
import gdb
gdb.execute("handle all nostop noprint nopass")
def frames():
    frame, names = gdb.newest_frame(), []
    while frame is not None:
        names.append(frame.name() or "?")
        frame = frame.older()
    return names
def step(until):
    for _ in range(20000):
        if until(frames()):
            return
        gdb.execute("stepi", to_string=True)
    raise gdb.GdbError("never")
step(lambda names: "leaf" in names)
step(lambda names: names[0] == "chain")
print("WITHOUT", *frames())
step(lambda names: names[0] != "chain")
def look(names):
    print("AT", *names)
    return names[0] == "chain"
step(look)
"""
OURS = {"djtap_detours", "djtap_handlers", "?"}
HANDLERS = {"count": ("{ n++ }", []), "called": ("{ n++; m[tid()] += 2 }", []), "guards": ("{ n++ }", ["--guards=all"]),
            "return": (".return { n++ }", []), "entry value": (".return { m[@entry(pid())]++ }", [])}


def gdb(pid, *words):
    result = subprocess.run(["gdb", "-nx", "-batch", "-p", str(pid), *words], capture_output=True, text=True, timeout=300)
    assert "Corrupted" not in result.stderr, result
    return result


def objects(pid):
    return re.findall(r"^0x\S+ +0x\S+ +\S+(?: \(\*\))? +(\S+)$", gdb(pid, "-ex", "info sharedlibrary").stdout, re.M)


def wait_for_object(pid):
    """djtap tells debuggers when the session has run for a moment."""
    for _ in range(50):
        if any(path.startswith("/proc/") for path in objects(pid)):
            return
        time.sleep(0.1)
    raise AssertionError(objects(pid))


@pytest.mark.parametrize("mode", ["jump"])  # the signal of an int3 is gdb's, whoever has written it
@pytest.mark.parametrize("handler", HANDLERS)
def test_every_instruction_of_a_hit_has_the_programs_stack(attach, program, tmp_path, mode, handler):
    body, options = HANDLERS[handler]
    (tmp_path / "steps.py").write_text(STEPS)
    target = program(victim("unwinding"), "sample", "1000000000")
    attach(target.pid, f'probe func("leaf"){body}', "-o", "/dev/null", *options)
    wait_for_object(target.pid)
    shown = gdb(target.pid, "-x", str(tmp_path / "steps.py"))
    without = re.search(r"^WITHOUT (.*)$", shown.stdout, re.M)
    assert without, shown
    truth = without[1].split()
    assert truth[:7] == ["chain"] * 6 + ["work"], truth
    seen, last = set(), []
    for line in re.findall(r"^AT (.*)$", shown.stdout, re.M):
        last = line.split()
        first = next(i for i, name in enumerate(last) if name in ("leaf", "chain"))
        seen.update(last[:first])
        assert last[first + (last[first] == "leaf"):] == truth, (last, shown)
    assert last == truth and "djtap_detours" in seen and seen <= OURS, (seen, shown)


def test_the_list_of_objects_is_as_before_when_the_session_has_ended(attach, program):
    target = program(victim("unwinding"), "sample", "1000000000")
    before = objects(target.pid)
    for _ in range(2):
        tracer = attach(target.pid, 'probe func("leaf") { n++ }', "-o", "/dev/null")
        wait_for_object(target.pid)
        assert len(objects(target.pid)) == len(before) + 1
        tracer.signal(signal.SIGINT)
        tracer.finish()
        assert objects(target.pid) == before


def test_what_a_killed_session_has_left_is_taken_out(attach, program, djtap):
    target = program(victim("unwinding"), "sample", "1000000000")
    before = objects(target.pid)
    tracer = attach(target.pid, 'probe func("leaf") { n++ }', "-o", "/dev/null")
    wait_for_object(target.pid)
    tracer.signal(signal.SIGKILL)
    tracer.finish()
    assert djtap("clean", str(target.pid)).returncode == 0
    assert objects(target.pid) == before
