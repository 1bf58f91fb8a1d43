# SPDX-License-Identifier: Apache-2.0
"""Functions on /proc: what task.djt, proc_mem.djt, loadavg.djt say of the target, against what /proc tells the test; abort()."""
import re

import pytest

from support import run
from support.paths import victim
from support.process import wait_until_asleep


@pytest.fixture
def told(program):
    """What the target's main thread prints for `body`, and its process id."""
    def ask(body):
        target = program(victim("asleep"))
        target.wait_for("pid")
        result = run.run(["-e", "probe begin { %s exit() }" % body.replace("(p)", "(target())"), "-p", str(target.pid)])
        assert result.returncode == 0 and result.stderr == "", result
        return result.stdout.splitlines(), target.pid
    return ask


def field(pid, name, column=1):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(rf"^{name}:\s*(.*)$", status.read(), re.M).group(1).split()[column - 1])


def stat(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(") ")[2].split()


WHO = """task_pid(p) task_tid(p) task_ns_pid(p) task_ns_tid(p) task_parent(p) task_uid(p) task_euid(p) task_gid(p) task_egid(p)
task_ns_uid(p) task_ns_euid(p) task_ns_gid(p) task_ns_egid(p) pid2task(p) task_prio(p) task_nice(p) task_start_time(p)""".split()
MEMORY = """proc_mem_size(p) proc_mem_size_pid(p) proc_mem_rss(p) proc_mem_rss_pid(p) proc_mem_shr(p) proc_mem_shr_pid(p)
proc_mem_txt(p) proc_mem_txt_pid(p) proc_mem_data(p) proc_mem_data_pid(p)""".split()


def test_who_a_task_is(told):
    names = [call.partition("(")[0] for call in WHO]
    lines, pid = told("".join(f"println({call}) " for call in WHO) + "println(task_execname(p)) println(pid2execname(p))")
    numbers = dict(zip(names, map(int, lines)))
    assert lines[len(names):] == ["asleep", "asleep"]
    assert all(numbers[name] == pid for name in ("task_pid", "task_tid", "task_ns_pid", "task_ns_tid", "pid2task"))
    for kind in ("", "ns_"):
        for name, column in (("uid", 1), ("euid", 2)):
            assert numbers[f"task_{kind}{name}"] == field(pid, "Uid", column)
        for name, column in (("gid", 1), ("egid", 2)):
            assert numbers[f"task_{kind}{name}"] == field(pid, "Gid", column)
    fields = stat(pid)
    assert numbers["task_parent"] == field(pid, "PPid")
    assert [numbers["task_prio"], numbers["task_nice"], numbers["task_start_time"]] == [int(fields[15]), int(fields[16]), int(fields[19]) * 10**7]


@pytest.fixture
def sleeper(program):
    """The process id of a process that nobody wakes up: a target is woken when a session begins, and may be seen running then."""
    sleeping = program("sleep", "1000")
    wait_until_asleep(sleeping.pid)
    return sleeping.pid


def test_what_a_task_does(told, sleeper):
    lines, _ = told(f"println(task_state({sleeper})) println(task_cpu(p)) println(task_utime(p) + task_utime_tid(p) + task_stime(p) + task_stime_tid(p)) "
                    "println(task_time_string_tid(p)) println(task_current() == tid()) println(task_utime() + task_stime() >= 0) "
                    "println(task_time_string())")
    assert lines[0] == "1" and 0 <= int(lines[1]) < 4096 and 0 <= int(lines[2]) < 1000
    assert re.fullmatch(r"usr: 0m0\.\d{3}s, sys: 0m0\.\d{3}s", lines[3]) and lines[4:6] == ["1", "1"] and lines[6].startswith("usr: 0m")


def test_times_as_texts(told):
    lines, _ = told("println(msecs_to_string(125250)) println(usecs_to_string(61000001)) println(nsecs_to_string(1000000007)) "
                    "println(cputime_to_string(250)) println(cputime_to_msecs(3)) println(cputime_to_usecs(3))")
    assert lines == ["2m5.250s", "1m1.000001s", "0m1.000000007s", "0m2.500s", "30", "30000"]


def test_memory_of_a_process(told):
    lines, pid = told("".join(f"println({call}) " for call in MEMORY) +
                      "println(mem_page_size()) println(proc_mem_string(p)) println(proc_mem_string_pid(p)) println(proc_mem_string() != \"\")")
    assert lines[0:10:2] == lines[1:10:2] and all(int(line) > 0 for line in lines[:11]), lines
    with open(f"/proc/{pid}/statm") as statm:  # the session has taken its own memory away
        assert int(lines[6]) == int(statm.read().split()[3])
    assert lines[10] == "4096" and lines[11] == lines[12] and lines[13] == "1", lines
    assert re.fullmatch(r"size: .{5}, rss: .{5}, shr: .{5}, txt: .{5}, data: .{5}", lines[11]), lines


def test_sizes_as_texts(told):
    lines, _ = told("println(bytes_to_string(1000)) println(bytes_to_string(1536)) println(bytes_to_string(20 * 1048576)) "
                    "println(bytes_to_string(300 * 1073741824)) println(pages_to_string(256))")
    assert lines == [" 1000", "1.50K", "20.0M", " 300G", "1.00M"]


def test_load_of_the_machine(told):
    lines, _ = told("print(sprint_loadavg()) for (i = 0; i < 3; i++) println(get_loadavg_index(i)) "
                    'try { get_loadavg_index(3) } catch (e) { println(e) } println(proc_text(0, "no_such_file") == "")')
    loads = lines[0].split()
    assert len(loads) == 3 and [load.partition(".")[0] for load in loads] == lines[1:4]
    assert lines[4:] == ["Invalid loadavg index 3 specified.", "1"]


def test_abort_ends_the_handler_at_once(djtap):
    """From inside functions and try blocks, too: it is no error that one could catch."""
    script = ('probe func("work") { n++ if (n == 5) { try { try { give_up() } catch { after++ } after++ } catch { after++ } after++ } } '
              'function give_up() { abort() } probe end { println(n, " hits, after ", after) } global n, after')
    result = djtap("-e", script, "-c", victim("count"))
    hits, after = re.search(r"^(\d+) hits, after (\d+)$", result.stdout, re.M).groups()
    assert int(hits) >= 5 and after == "0" and result.returncode == 0, result
