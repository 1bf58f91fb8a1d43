# SPDX-License-Identifier: Apache-2.0
"""Sessions of the kernel: counts that the calls' own number confirms, listings, clear refusals; every function at once, and the text as it was."""
import os
import re
import shlex

import pytest

from support import guest as guests
from support import kernel_stress as stress
from support import paths

LONG = os.environ.get("DJTAP_STRESS") == "long"
ROUNDS = 10 if LONG else 1  # of probing everything
KILLS = 20 if LONG else 2
READS = 100_000
DD = f"dd if=/dev/zero of=/dev/null bs=1 count={READS}"
# Where the kernels do not differ, one is enough.
LAST = pytest.mark.parametrize("guest", guests.SERIES[-1:], indirect=True)


@pytest.fixture(name="djtap")
def in_guest(guest, loaded):
    """djtap(ARGUMENT…) runs djtap in the guest, with the module loaded: its exit code and all that it printed."""
    del loaded

    def run(*arguments, timeout=300):
        return guest.run(f"cd {paths.ROOT} && {paths.DJTAP} {shlex.join(map(str, arguments))}", timeout)
    return run


def count_in(output):
    return int(re.search(r"^count=(\d+)$", output, re.M)[1])


def test_the_one_liner_counts_each_read_of_a_command(djtap):
    status, output = djtap("-e", 'probe kernel.function("vfs_read") < count++ >', "-c", DD)
    assert status == 0 and READS <= count_in(output) <= READS + 300, output


@LAST
def test_the_one_liner_without_a_target(guest, djtap):
    """Ctrl-C ends it; the reads of a program that starts once all is armed are counted."""
    status, output = djtap("-e", 'probe func("vfs_read") < count++ >', "-T", 0.01)
    assert status == 0 and count_in(output) >= 0, output
    command = (f"cd /run && {{ {paths.DJTAP} -v -e 'probe func(\"vfs_read\") < count++ >' >told 2>&1 & }}; "
               f"until grep -q ' arm ' told; do sleep 0.1; done; {DD} 2>/dev/null; kill -INT $!; wait $!; echo \"status $?\"; cat told")
    status, output = guest.run(command, timeout=300)
    assert "status 0" in output and READS <= count_in(output) <= READS + 2000, output


@LAST
def test_returns_are_as_many_as_calls(djtap):
    script = 'global calls, returns probe kernel.function("vfs_read").call { calls++ } probe kprobe.function("vfs_read").return { returns++ }'
    status, output = djtap("-e", script, "-c", DD)
    calls, returns = (int(re.search(rf"^{name}=(\d+)$", output, re.M)[1]) for name in ("calls", "returns"))
    assert status == 0 and READS <= calls <= READS + 300 and abs(calls - returns) <= 3, output


@LAST
def test_reports_while_it_counts(djtap):
    """begin, timers and end run in djtap; what they print of a counter grows."""
    script = ('probe kernel.function("vfs_[rw]*e*") { count++ } probe begin { println("begins") } '
              'probe timer.ms(300) { println("so far ", count) } probe end { println("ends") println("count=", count) }')
    status, output = djtap("-e", script, "-c", "sh -c 'sleep 1; head -c 10000 /dev/zero >/dev/null'")
    assert status == 0 and output.startswith("begins\n") and "ends\n" in output, output
    told = [int(text) for text in re.findall(r"^so far (\d+)$", output, re.M)]
    assert len(told) >= 2 and told == sorted(told) and count_in(output) >= told[-1] > 0, output


@LAST
def test_lists_and_dry_runs(guest, djtap):
    status, output = djtap("-l", 'kernel.function("vfs_rea*")')
    assert status == 0 and {'kernel.function("vfs_read")', 'kernel.function("vfs_readv")'} <= set(output.splitlines()), output
    status, output = djtap("-l", 'kernel.function("vfs_*").exported')
    exported = {f'kernel.function("{name}")' for name in guest.run("sed -n 's/.* __ksymtab_\\(vfs_.*\\)/\\1/p' /proc/kallsyms")[1].split()}
    assert status == 0 and len(exported) > 20 and set(output.splitlines()) == exported, output
    status, output = djtap("-n", "-e", 'probe kernel.function("vfs_read") { count++ }')
    assert status == 0 and re.search(r"^ffffffff\w+ e vfs_read\+\S+ kernel \[OPTIMIZED\]$", output, re.M) and "the kernel was not changed" in output, output
    status, output = djtap("--probes", "-e", 'probe func("vfs_read") { count++ }', "-T", 0.01)
    assert status == 0 and "vfs_read" in output and "[OPTIMIZED]" in output, output


# As the kernel's headers declare them, with the names of the definitions.
PROTOTYPES = """
kernel.function("vfs_read") $file:struct file* $buf:char* $count:size_t $pos:loff_t*
kernel.function("vfs_write").return $return:ssize_t $file:struct file* $buf:const char* $count:size_t $pos:loff_t*
kernel.function("ksys_read") $fd:unsigned int $buf:char* $count:size_t
kernel.function("do_sys_openat2").return $return:long int $dfd:int $filename:const char* $how:struct open_how*
kernel.function("vfs_getattr") $path:const struct path* $stat:struct kstat* $request_mask:u32 $query_flags:unsigned int
kernel.function("filp_open").return $return:struct file* $filename:const char* $flags:int $mode:umode_t
kernel.function("on_each_cpu_cond_mask") $cond_func:smp_cond_func_t $func:smp_call_func_t $info:void* $wait:bool $mask:const struct cpumask*
kernel.function("_printk").return $return:int $fmt:const char*
kernel.function("do_exit").return $code:long int
kernel.function("schedule").return
module("9p").function("v9fs_file_open").return $return:int $inode:struct inode* $file:struct file*
"""
OF_RELEASE = {
    "6.1": """kernel.function("kmem_cache_alloc").return $return:void* $s:struct kmem_cache* $gfpflags:gfp_t
kernel.function("bus_for_each_dev") $bus:struct bus_type* $start:struct device* $data:void* $fn:int (*)(struct device*, void*)
""",
    "6.12": """kernel.function("kmem_cache_alloc_noprof").return $return:void* $s:struct kmem_cache* $gfpflags:gfp_t
kernel.function("bus_for_each_dev") $bus:const struct bus_type* $start:struct device* $data:void* $fn:int (*)(struct device*, void*)
""",
}


def test_lists_what_functions_take_and_return(guest):
    """One reading of the kernel for all of them; the module is not needed."""
    series = next(name for name in guests.SERIES if guest.release.startswith(f"{name}."))
    expected = (PROTOTYPES + OF_RELEASE[series]).strip().splitlines()
    points = ", ".join(line.partition(" $")[0] for line in expected)
    status, output = guest.run(f"cd {paths.ROOT} && {paths.DJTAP} -L {shlex.quote(points)}")
    assert status == 0 and output.splitlines() == expected, output


WRONG = {
    "a name that it has not": (['probe kernel.function("vfs_raed") { n++ }'], 3, "DJ3004", 'did you mean "vfs_read"'),
    "code in the kernel": (['probe kernel.function("vfs_read") { println(1) }'], 3, "DJ3024", "< count++ >"),
    "two counters": (['global a, b probe kernel.function("vfs_read") { a++; b++ }'], 3, "DJ3024", "can only count"),
    "a condition": (['global on probe kernel.function("vfs_read") if (on) { n++ } probe timer.s(1) { on = !on }'], 3, "DJ3024", "can only count"),
    "what --control switches": (['probe kernel.function("vfs_read") { n++ }', "--control", "/run/c"], 3, "DJ3024", "switched"),
    "samples": (['probe kernel.function("vfs_read") { n++ } probe timer.profile { m++ }'], 3, "DJ3024", "sample"),
    "no module of that name": (['probe module("nosuch").function("f") { n++ }'], 3, "DJ3005", "no module"),
    "the program's function": (['probe func("vfs_read") { n++ }', "-c", "ls /"], 3, "DJ3004", 'the kernel has it: kernel.function("vfs_read")'),
    "both": (['probe process.function("main"), kernel.function("vfs_read") { n++ }', "-c", "ls /"], 3, "DJ3023", "two sessions"),
    "what kprobes refuse": (['probe kernel.function("exc_int3") { n++ }'], 3, "DJ3022", "cannot be probed"),
    "no command": (['probe kernel.function("vfs_read") { n++ }', "-c", "nosuch"], 127, "DJ4001", "$PATH"),
    "a process": (['probe kernel.function("vfs_read") { n++ }', "-p", "1"], 4, "DJ4004", "leave -p out"),
}


# Each reads the kernel, which takes seconds in a guest: the others are for the long form.
TRIED = list(WRONG) if LONG else ["code in the kernel", "the program's function", "what kprobes refuse", "no command", "a process"]


@LAST
@pytest.mark.parametrize("name", TRIED)
def test_refuses_in_words(djtap, name):
    arguments, code, number, words = WRONG[name]
    status, output = djtap("-e", *arguments)
    assert status == code and f"[{number}]" in output and words in output, output


@LAST
def test_the_kernel_needs_root(guest, djtap):
    del djtap
    command = f"setpriv --reuid 65534 --regid 65534 --clear-groups {paths.DJTAP} -e 'probe func(\"vfs_read\") < count++ >'"
    status, output = guest.run(command)
    assert status == 4 and "the kernel needs root; or give -c or -p" in output, output


@LAST
def test_a_second_session_is_refused(guest, djtap):
    command = (f"cd /run && {{ {paths.DJTAP} -v -e 'probe func(\"vfs_read\") < count++ >' >told 2>&1 & }}; until grep -q ' arm ' told; do sleep 0.1; done; "
               f"{paths.DJTAP} -T 1 -e 'probe func(\"vfs_write\") < count++ >'; echo \"second $?\"; kill -INT $!; wait $!; echo \"first $?\"")
    status, output = guest.run(command, timeout=300)
    assert status == 0 and "another session probes the kernel" in output and "second 4" in output and "first 0" in output, output
    assert djtap("-T", 0.01, "-e", 'probe func("vfs_write") < count++ >')[0] == 0


def test_every_function_at_once(guest, djtap):
    del djtap
    stress.keep_text(guest)
    for _ in range(ROUNDS):
        stress.check_stress(guest)


@LAST
def test_every_return_at_once(djtap):
    """As many as there are calls, but for those under way, and exits that djtap does not know."""
    script = 'global calls, returns probe kernel.function("vfs_*").call { calls++ } probe kernel.function("vfs_*").return { returns++ }'
    status, output = djtap("-e", script, "-c", f"bash -c '{stress.LOAD}'", timeout=600)
    calls, returns = (int(re.search(rf"^{name}=(\d+)$", output, re.M)[1]) for name in ("calls", "returns"))
    assert status == 0 and calls > 500 and 0.98 * calls <= returns <= calls + 10, output


@LAST
def test_functions_of_a_module(guest, djtap):
    """Reads over 9p, by which the guest has the host's files."""
    command = f"bash -c 'for i in 1 2 3; do head -c 1 {paths.ROOT}/README.md; stat {paths.ROOT}/kernel; done > /dev/null'"
    status, output = djtap("-e", 'probe module("9p").function("v9fs_*") { count++ }', "-c", command)
    assert status == 0 and count_in(output) > 3, output
    status, output = djtap("-l", 'module("9pnet").function("p9_client_w*")')
    assert status == 0 and 'module("9pnet").function("p9_client_walk")' in output.splitlines(), output
    assert guest.new_complaints() == []


@LAST
def test_killed_at_any_moment(guest, djtap):
    """The kernel takes the probes out itself; the next session works."""
    stress.keep_text(guest)
    for number in range(KILLS):
        delay = 3 + 7 * number / KILLS
        guest.run(f"cd /run; {{ timeout -s KILL {delay} {paths.DJTAP} --stress kernel -T 60 >/dev/null 2>&1; }} 2>/dev/null; sleep 10", timeout=600)
    stress.check_text(guest)
    assert djtap("-T", 0.01, "-e", 'probe func("vfs_read") < count++ >')[0] == 0


@LAST
def test_coverage(djtap):
    status, output = djtap("--stress", "--coverage", "kernel")
    percents = re.findall(r"^  by jump +\d+ +([\d.]+) %$", output, re.M)
    assert status == 0 and output.startswith("kernel: ") and float(percents[0]) >= 99.2 and float(percents[2]) >= 99.4, output
