# SPDX-License-Identifier: Apache-2.0
"""Stacks that a script has kept are named in its end probes and timers whatever process they are of, though that has ended: where
two programs have had an address, by neither's name."""
import re
import signal
import subprocess

import pytest

from support.paths import victim

COUNT = victim("count")
AT_END = """
probe end {
  foreach (stack in kept) {
    printf("%d of\\n", @count(kept[stack]))
    print_ustack(stack)
  }
}"""


def names(result):
    """{hits: [function of each frame]} of the stacks that AT_END has printed."""
    stacks = {}
    for line in result.stdout.splitlines():
        if hits := re.fullmatch(r"(\d+) of", line):
            frames = stacks.setdefault(int(hits[1]), [])
        elif frame := re.match(r" 0x[0-9a-f]+ : ([^ +]+)", line):
            frames.append(frame[1])
    return stacks


def test_of_programs_that_a_shell_has_run(djtap):
    """Each is elsewhere in memory each time."""
    script = f'global kept probe process("{COUNT}").function("work") {{ kept[ubacktrace()] <<< 1 }}' + AT_END
    result = djtap("-e", script, "-c", f"sh -c '{COUNT} 3; {COUNT} 5 & wait; {COUNT} 7; true'")
    found = names(result)
    assert sorted(found) == [12, 20, 28] and all(frames[:3] == ["work", "run", "start_thread"] for frames in found.values()), result


def test_a_timer_names_them_too(djtap):
    script = (f'global at, said probe process("{COUNT}").function("work") {{ at = uaddr() }} '
              'probe timer.ms(1) { if (at && !said++) println("in ", usymname(at), " of ", umodname(at)) }')
    result = djtap("-e", script, "-c", f"sh -c '{COUNT} 3; sleep 1'")
    assert "in work of count\n" in result.stdout, result


def test_of_several_processes(target, background):
    """Two ended before the session did."""
    some = [target() for _ in range(3)]
    script = 'global kept probe process.function("work") { kept[ubacktrace()] <<< 1 }' + AT_END
    tracer = background("--probes", "-e", script, "-p", ",".join(str(each.pid) for each in some))
    for each in some:
        tracer.wait_for(f"pid {each.pid}$")
    for i, each in enumerate(some):
        each.call(100 * (i + 1))
    for each in some[:2]:
        each.tell("quit")
        each.finish()
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    found = names(result)
    assert result.returncode == 0 and sorted(found) == [100, 200, 300], result
    assert all(frames[:3] == ["work", "worker", "start_thread"] for frames in found.values()), result


@pytest.fixture(scope="module")
def fixed(tmp_path_factory):
    """Two programs at one address, of which one is longer."""
    folder = tmp_path_factory.mktemp("fixed")
    source = "void {0}(void) {{ __asm__ volatile(\"\"); }}\n{1}void far(void) {{ __asm__ volatile(\"\"); }}\nint main(void) {{ {0}(); {2}; }}\n"
    filler = 'void filler(void) {{ __asm__ volatile(".skip 1000000, 0x90"); }}\n'.replace("{{", "{").replace("}}", "}")
    for name, between, rest in (("short", "", ""), ("long", filler, "far()")):
        (folder / f"{name}.c").write_text(source.format(f"near_{name}", between, rest))
        subprocess.run(["gcc", "-O1", "-fno-inline", "-no-pie", "-fno-pie", "-fcf-protection=none", "-o", folder / name, folder / f"{name}.c"],
                       check=True)
    return folder


def test_one_address_in_two_programs(djtap, fixed):
    near = [f'process("{fixed}/{name}").function("near_{name}")' for name in ("short", "long")]
    script = f'global at probe {", ".join(near)}, process("{fixed}/long").function("far") {{ at[uaddr()] = usymname(uaddr()) }} ' \
             'probe end { foreach (a in at) println(at[a], " is ", usymname(a)) }'
    alone = djtap("-e", script, "-c", f"sh -c '{fixed}/long; true'")
    assert {"near_long is near_long", "far is far"} <= set(alone.stdout.splitlines()), alone
    both = djtap("-e", script, "-c", f"sh -c '{fixed}/short; {fixed}/long; {fixed}/short'")
    assert "far is far\n" in both.stdout and re.search(r"^near_\w+ is 0x[0-9a-f]+$", both.stdout, re.M), both
    assert not re.search(r"^\w+ is near_", both.stdout, re.M), both


def test_of_the_first_process_that_another_resembles(djtap, fixed):
    """What the first process's own handlers are given is its own."""
    script = f'global at probe process("{fixed}/long").function("near_long"), process("{fixed}/short").function("near_short") ' \
             '{ println(pp(), " at ", usymname(uaddr())); at[uaddr()]++ } probe end { foreach (a in at) println("kept ", usymname(a)) }'
    result = djtap("-e", script, "-c", f"sh -c 'exec {fixed}/long'")
    assert " at near_long\n" in result.stdout and "kept near_long\n" in result.stdout, result


def test_of_what_a_further_process_opens(djtap, tmp_path):
    (tmp_path / "lib.c").write_text("void opened(void) { __asm__ volatile(\"\"); }\n")
    (tmp_path / "main.c").write_text("""
        #include <dlfcn.h>
        int main(int count, char** words) { void* lib = dlopen(words[1], RTLD_NOW); ((void (*)(void))dlsym(lib, "opened"))(); dlclose(lib); }""")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", tmp_path / "lib.so", tmp_path / "lib.c"], check=True)
    subprocess.run(["gcc", "-o", tmp_path / "main", tmp_path / "main.c"], check=True)
    point = f'process("{tmp_path}/lib.so").function("opened")'
    script = f'global kept probe {point} {{ kept[ubacktrace()] <<< 1; println(pp(), " is ", ppfunc(), " at ", usymname(uaddr())) }}' + AT_END
    result = djtap("-e", script, "-c", f"sh -c '{tmp_path}/main {tmp_path}/lib.so; true'")
    assert f"{point} is opened at opened\n" in result.stdout and "DJ5916" not in result.stderr, result
    assert [frames[:2] for frames in names(result).values()] == [["opened", "main"]], result


def test_lua_names_them(djtap, tmp_path):
    (tmp_path / "report.lua").write_text(
        'dj.on_end(function() for _, row in ipairs(dj.rows("n")) do print("stack " .. table.concat(dj.stack_names(row[1]), " ")) end end)')
    script = f'global n probe process("{COUNT}").function("work") {{ n[ubacktrace()]++ }}'
    result = djtap("--report", tmp_path / "report.lua", "-e", script, "-c", f"sh -c '{COUNT} 2; true'")
    assert re.search(r"^stack work run start_thread", result.stdout, re.M), result
