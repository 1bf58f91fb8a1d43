# SPDX-License-Identifier: Apache-2.0
"""Probes of the session and the target itself: begin, end, error, never, oneshot, process.*, threads, timers."""
import signal
import subprocess
import time

import pytest

from support import paths, process, run
from support.paths import victim


def test_order_of_a_session(djtap):
    script = """probe begin { println("begin") } probe begin(-1) { println("first") } probe process.begin { println("process") }
                probe never { println("never") } probe error { println("error") }
                probe process.end { println("gone") } probe end(2) { println("last") } probe end { println("end") }"""
    result = djtap("-e", script, "-c", "/bin/true")
    assert result.stdout.split() == ["first", "begin", "process", "gone", "end", "last"], result


def test_oneshot_ends_the_session(djtap):
    result = djtap("-e", 'probe begin { println("begin") } probe oneshot { println("once") } probe end { println("end") }')
    assert result.returncode == 0 and result.stdout.split() == ["begin", "once", "end"], result


def test_an_error_in_begin_runs_the_error_probes(djtap):
    script = """probe begin { error("nothing to do") } probe begin(1) { println("second") } probe func("main") { println("main") }
                probe error { println("error ", @choose_defined($x, 5)) } probe end { println("end") }"""
    result = djtap("-e", script, "-c", victim("count"))
    assert "error[DJ5002]: nothing to do" in result.stderr and "error 5" in result.stdout and "main" not in result.stdout, result
    assert "end" not in result.stdout and result.returncode != 0, result


def test_begin_and_timers_read_the_targets_memory(djtap, tmp_path):
    """Python's first page lies where djtap has none."""
    read = tmp_path / "read"
    script = f"""probe begin {{ println("begin ", user_string_n(0x400001, 3)) }}
                 probe timer.ms(100) {{ println("later ", user_string_n(0x400001, 3), user_int8(0x400000)); system("touch {read}"); exit() }}"""
    wait = f"import os, time\nwhile not os.path.exists({str(read)!r}): time.sleep(0.01)"
    result = djtap("-e", script, "--", "/usr/bin/python3", "-c", wait)
    assert result.returncode == 0 and result.stdout.splitlines() == ["begin ELF", "later ELF127"], result


def test_process_begin_needs_a_process(djtap):
    result = djtap("-e", 'probe process.begin { println("never") } probe oneshot { println("once") }')
    assert result.stdout.split() == ["once"], result


def test_threads(djtap):
    result = djtap("-e", "probe process.thread.begin { b++; tids[tid()]++ } probe process.thread.end { e++ }",
                   "-c", victim("tids"))
    assert result.globals["b"] == len(result.array("tids")) > 0 and result.globals["e"] == result.globals["b"], result


@pytest.mark.parametrize("point", ["timer.ms(20)", "timer.ns(20000000)", "timer.jiffies(2)", "timer.hz(50)",
                                   "timer.ms(20).randomize(10)", "timer.us(20000).randomize(20000)"])
def test_timers(djtap, point):
    result = djtap("-e", f'global n probe {point} {{ if (++n == 5) exit() }} probe end {{ println("n is ", n) }}')
    assert result.returncode == 0 and "n is 5" in result.stdout, result


@pytest.mark.parametrize("script, words", [
    ("probe timer.ms(5).randomize(6) { n++ }", "not larger than the interval"),
    ("probe error { println($x) }", "error has no target variables"),
    ("probe timer.ns(50) { n++ }", "100 us or more"),
])
def test_wrong_use(djtap, script, words):
    result = djtap("-e", script, "-c", "/bin/true")
    assert result.returncode != 0 and words in result.stderr, result


def test_a_signal_at_any_time_ends_the_session():
    """Sent while djtap starts, compiles, patches or traces: the process keeps no probe and goes on."""
    with run.Background([paths.PYTHON, "-c", "import time\nprint('ready', flush=True)\nwhile True: time.sleep(0.001)"]) as target:
        target.wait_for("ready")
        before, codes = process.text_of(target.pid), set()
        for step in range(12):
            words = [paths.DJTAP, "--no-cache", "-p", str(target.pid), "-e", 'probe func("*") { n++ } probe end { println("ended") }']
            with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as session:
                time.sleep(0.05 * step)
                session.send_signal(signal.SIGTERM)
                out, err = session.communicate(timeout=300)
            codes.add(session.returncode)
            assert session.returncode == -signal.SIGTERM and out == err == "" or session.returncode == 0 and "ended\n" in out, (step, out, err)
            assert process.text_of(target.pid) == before, f"a probe is left after {0.05 * step} s"
        assert 0 in codes and process.status_field(target.pid, "State")[0] in "SR"


def test_behind_exit_only_the_probes_of_the_end_fire(djtap):
    """As SystemTap says of it: who runs may complete, nobody else begins."""
    script = """global n probe func("work") { if (++n == 5) { exit() behind++ } } probe func("work") { later++ } probe func("work").return { returned++ }
        probe end { println("n ", n) }"""
    result = djtap("-e", script, "-c", f"{victim('count')} 1000 1")
    assert "n 5\n" in result.stdout and result.globals == {"behind": 1, "later": 4, "returned": 4}, result


def test_exit_in_begin(djtap_once):
    script = """probe begin { println("begin") exit() println("completes") } probe begin(1) { println("second") } probe oneshot { println("once") }
        probe timer.ms(1) { println("timer") } probe process.begin { println("process") } probe end { println("end") } probe end(1) { println("ends") }"""
    result = djtap_once("-e", script, "-c", "/bin/true")
    assert result.stdout.split() == ["begin", "completes", "end", "ends"], result


AGAIN = """
import os, signal, sys, time
def again(*_):
    os.execv(sys.executable, [sys.executable, "-uc", "import time; print('again'); time.sleep(0.1); print('well'); time.sleep(60)"])
signal.signal(signal.SIGUSR1, again)
print("ready", flush=True)
while True:
    time.sleep(0.01)
"""


def test_a_target_that_executes_itself_just_before_it_is_probed():
    """The same program at the same addresses: nothing of the session is in it."""
    with run.Background([paths.PYTHON, "-c", AGAIN]) as target:
        target.wait_for("ready")
        itself = f"shell kill -USR1 {target.pid}; sleep 0.5"
        result = run.interrupted("dj::Session::arm", itself, ["-e", 'probe process.function("Py*") { n++ }', "-p", target.pid])
        assert "the target has executed another program" in result.stderr, result
        target.wait_for("well")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_told_to_end_while_a_program_is_being_loaded(tmp_path, number):
    """Its loader waits for ever; djtap ends at once, and leaves nothing behind."""
    loader, program = tmp_path / "loader", tmp_path / "program"
    subprocess.run(["gcc", "-O1", "-static-pie", "-nostdlib", "-o", loader, paths.TARGETS / "waiting_loader.c"], check=True)
    (tmp_path / "program.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", f"-Wl,--dynamic-linker={loader}", "-o", program, tmp_path / "program.c"], check=True)
    with run.Background([paths.DJTAP, "-e", 'probe func("main") { n++ }', "--", program]) as tracer:
        time.sleep(0.5)
        tracer.signal(number)
        result = tracer.finish(10)
    assert result.returncode == -number and "told to end while the program was being loaded" in result.stderr, result
