# SPDX-License-Identifier: Apache-2.0
"""Scripts with more than a thousand probes: their handlers are compiled with less effort, and do the same."""
import re
import resource
import shutil
import subprocess

import pytest

from support import run
from support.paths import victim

LIBC = "/lib/x86_64-linux-gnu/libc.so.6"
USE = """global sizes, names
function twice:long(n:long) { return n * 2 }
probe func("work") { n++; sum += $n; keys[$n % 3, "k"]++; sizes <<< $n; half += $n / 2.0; if (sprintf("%d", $n) =~ "^(1.*)0$") tens[matched(1)]++ }
probe func("work").return { doubled += twice($return) - 2 * @entry($n); try { println(user_string(8)) } catch (why) { bad[why]++ } }
probe end { foreach ([k, t] in keys+ limit 2) println(k, t, keys[k, t]); printf("%d %d %d\\n", @count(sizes), @max(sizes), @p90(sizes)); delete keys[0, "k"] }
"""


@pytest.fixture(scope="module")
def crowd():
    """A thousand probes of other functions, which this program does not call."""
    listed = subprocess.run(["nm", "-D", "--defined-only", LIBC], capture_output=True, text=True, check=True).stdout
    names = sorted(set(re.findall(r" T ((?:wc|mb|argp|key|svc|get|set|put|if|inet)[a-z_0-9]*)@@", listed)))
    return "".join(f'probe func("libc.so.6!{name}") ? {{ crowd[{i}]++ }}\n' for i, name in enumerate((names * 9)[:1100]))


def test_handlers_of_a_crowd_do_the_same(djtap, crowd):
    alone = djtap("-e", USE, "-c", victim("count"))
    among = djtap("-e", USE + crowd, "-c", victim("count"))
    told = [line for line in among.stdout.splitlines() if not line.startswith("crowd[")]
    assert alone.globals["n"] == alone.facts["work calls"] and alone.globals["doubled"] != 0 and alone.array("bad"), alone
    assert told == alone.stdout.splitlines(), among


def seconds_to_arm(folder, count):
    """Of a processor, for so many probes, each with a function of its own, and measured (-t)."""
    (folder / "many.s").write_text(".text\n" + "".join(f".globl f{i}\n.type f{i}, @function\nf{i}: lea {i}(%rdi), %rax\nnop\nret\n.size f{i}, . - f{i}\n"
                                                        for i in range(count)) + '.section .note.GNU-stack,"",@progbits\n')
    (folder / "main.c").write_text("long f3(long);\nint main(void) { return f3(1) != 4; }\n")
    subprocess.run(["gcc", "-O1", "-o", "many", "main.c", "many.s"], cwd=folder, check=True)
    (folder / "many.djt").write_text("".join(f'probe func("f{i}") {{ a{i}++ }}\n' for i in range(count)))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    result = run.run(["-t", "--no-cache", folder / "many.djt", "-c", folder / "many"])
    assert result.globals["a3"] == 1 and sum(result.globals.values()) == 1 and len(result.globals) == count, result.stderr
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_thousands_of_probes_are_armed_in_seconds(tmp_path):
    """5,000 took 11 seconds when the time grew faster than their number. A slow machine may need 6, but not for that reason."""
    quarter, whole = seconds_to_arm(tmp_path, 1250), seconds_to_arm(tmp_path, 5000)
    assert whole < 6 or whole < 7 * quarter, (quarter, whole)
