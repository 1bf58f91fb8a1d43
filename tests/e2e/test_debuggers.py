# SPDX-License-Identifier: Apache-2.0
"""gdb beside djtap: its stacks go through detours, handlers and stubs, to the frames that the program has without probes."""
import re
import shutil
import signal
import subprocess
import time

import pytest

from support import process
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


COUNT = 'probe func("work") { n++ }'


@pytest.fixture
def debugged(program, tmp_path):
    """debugged(pid, gdb's commands...) -> a gdb that does them; `WAIT` among them waits for `go` (tmp_path)."""
    def start(pid, *commands):
        script = tmp_path / "commands"
        wait = f"shell while [ ! -e {tmp_path}/go ]; do sleep 0.01; done"
        script.write_text("\n".join(wait if command == "WAIT" else command for command in commands) + "\n")
        debugger = program("gdb", "-nx", "-batch", "-p", str(pid), "-x", str(script))
        debugger.wait_for("^ready$")
        return debugger

    return start


@pytest.mark.parametrize("mode", ["jump"])
@pytest.mark.parametrize("djtap_first", [False, True])
def test_a_breakpoint_on_a_probes_place(attach, program, djtap, debugged, tmp_path, djtap_first):
    """Hit five times of ten. Who ends djtap while gdb is there is told so, and takes the probes out later."""
    target = program(victim("relay"))
    target.wait_for("pid: ")
    before = process.text_of(target.pid)
    tracer = attach(target.pid, COUNT)
    debugger = debugged(target.pid, "break *work", "ignore 1 4", "echo ready\\n", "continue", "info breakpoints", "echo five\\n",
                        "WAIT", "delete", "detach")
    target.tell("call 10")
    debugger.wait_for("^five$")
    result = None
    if djtap_first:
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert result.returncode == 5 and f"already traced by process {debugger.pid}" in result.stderr, result
        assert f"djtap clean {target.pid}" in result.stderr, result
    (tmp_path / "go").touch()
    assert "already hit 5 times" in debugger.finish().stdout, debugger
    target.wait_for("called: 10$")
    if djtap_first:
        assert result.globals == {"n": 4} and djtap("clean", str(target.pid)).returncode == 0  # the fifth was just about to come
    else:
        tracer.signal(signal.SIGINT)
        result = tracer.finish()
        assert result.returncode == 0 and result.globals == {"n": 10}, result
    assert process.differences(before, process.text_of(target.pid)) == []
    target.call(10)


@pytest.mark.parametrize("mode", ["int3"])
def test_int3_probes_where_gdb_passes_sigtrap_on(attach, program, debugged):
    """As the man page says."""
    target = program(victim("relay"))
    target.wait_for("pid: ")
    tracer = attach(target.pid, COUNT)
    debugger = debugged(target.pid, "echo ready\\n", "continue", "echo first\\n", "handle SIGTRAP nostop noprint pass", "signal SIGTRAP")
    target.tell("call 10")
    debugger.wait_for("^first$")
    target.wait_for("called: 10$")
    debugger.signal(signal.SIGINT)
    debugger.finish()
    target.call(100)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.globals == {"n": 110}, result
