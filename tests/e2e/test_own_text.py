# SPDX-License-Identifier: Apache-2.0
"""Programs that have done something to their own text: may write it, hid it, sealed it, moved it elsewhere; and what they see of it."""
import re
import signal
import struct
import subprocess

import pytest

from support import process, run

SCRIPT = 'probe func("work") { n++ } probe func("work").return { r++ } probe func("other") { o++ }'


@pytest.fixture
def started(program, public_build, as_nobody):
    """started(how): the victim, of an ordinary user."""
    def start(how):
        target = program(*as_nobody, public_build / "targets" / "own_text", how, cwd="/tmp")
        target.wait_for("pid: ")
        return target

    return start


@pytest.fixture
def probed(program, public_build, as_nobody, mode_options):
    """probed(target, options...): djtap, of the same user, when its probes are armed."""
    def start(target, *options):
        words = run.command([*mode_options, "--probes", *options, "-e", SCRIPT, "-p", target.pid], as_nobody, public_build / "djtap")
        tracer = program(*words, cwd="/tmp")
        tracer.wait_for(r"\[(OPTIMIZED|INT3)")
        return tracer

    return start


def ask(target, calls):
    target.tell("")
    target.wait_for(f"calls: {calls}$")


@pytest.mark.parametrize("how", ["plain", "hidden", "sealed", "moved", "memfd"])
def test_it_is_probed(started, probed, how):
    """With and without probes it computes the same; but while they stand it finds them in its text, as a checksum does."""
    target = started(how)
    ask(target, 1000)
    tracer = probed(target)
    ask(target, 2000)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals == {"n": 1000, "r": 1000, "o": 1000}, result
    assert "SKIPPED" not in result.stderr, result
    ask(target, 3000)
    target.process.stdin.close()
    end = target.finish()
    sums = re.findall(r"^sum: (\d+)$", end.stdout, re.M)
    assert end.returncode == 0 and (how == "hidden" or sums[0] == sums[2] != sums[1]), end


@pytest.mark.parametrize("how, reason", [("writable", "writable-text"), ("shared", "mapped shared")])
def test_what_is_left_out(started, public_build, as_nobody, mode_options, how, reason):
    target = started(how)
    ask(target, 1000)
    result = run.run([*mode_options, "--probes", "-e", SCRIPT, "-p", target.pid], prefix=as_nobody, binary=public_build / "djtap", cwd="/tmp")
    assert result.returncode == 3 and {(site.state, site.reason) for site in result.sites} == {("SKIPPED", reason)}, result
    ask(target, 2000)
    target.process.stdin.close()
    sums = re.findall(r"^sum: (\d+)$", target.finish().stdout, re.M)
    assert sums[0] == sums[1]


def test_writable_text_by_option(started, probed):
    target = started("writable")
    tracer = probed(target, "--writable-text")
    ask(target, 1000)
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert result.returncode == 0 and result.globals == {"n": 1000, "r": 1000, "o": 1000}, result


def writable_copy(source, path):
    """A program whose code and data are one to the loader: the flags of its executable segment, as `ld -N` makes them."""
    data = bytearray(source.read_bytes())
    [table], [count] = struct.unpack_from("<Q", data, 32), struct.unpack_from("<H", data, 56)
    for at in range(table, table + 56 * count, 56):
        kind, flags = struct.unpack_from("<II", data, at)
        if kind == 1 and flags & 1:
            struct.pack_into("<I", data, at + 4, 7)
    path.write_bytes(data)
    path.chmod(0o755)
    return str(path)


def test_a_program_that_is_writable_from_its_start(djtap, public_build, tmp_path):
    program = writable_copy(public_build / "targets" / "count_static", tmp_path / "count")
    said = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
    assert "RWE" in said
    script = 'probe func("work") { n++ }'
    result = djtap("-e", script, "-c", program)
    assert result.returncode == 3 and "work calls" not in result.stdout, result
    assert re.search(r"^warning\[DJ4901\]: 1 site not probed \[SKIPPED: writable-text\]: work\+0x0; the program may write to its code "
                     r"\(--writable-text trusts it not to\)$", result.stderr, re.M), result
    result = djtap("--writable-text", "-e", script, "-c", program)
    assert result.returncode == 0 and result.globals["n"] == result.facts["work calls"] == 4000, result


def test_node_on_huge_pages(djtap_once):
    """It moves its code into anonymous memory when it starts; attached to then, it is probed as ever."""
    node = subprocess.run(["which", "node"], capture_output=True, text=True, check=False).stdout.strip()
    if not node:
        pytest.skip("node is not installed")
    script = ("process.stdout.write('pid: ' + process.pid + '\\n'); process.stdin.on('data', d => process.stdout.write('seen: ' + d.length + '\\n'))")
    with run.Background([node, "--use-largepages=on", "-e", script]) as target:
        target.wait_for("pid: ")
        moved = [row for row in process.mappings(target.pid) if "x" in row[2] and not row[3]]
        with run.Background(run.command(["--probes", "-e", 'probe func("uv_read_start"), func("uv__read*") { n++ }', "-p", target.pid])) as tracer:
            tracer.wait_for(r"\[(OPTIMIZED|INT3|SKIPPED)")
            target.tell("x")
            target.wait_for("seen: 2")
            tracer.signal(signal.SIGINT)
            result = tracer.finish()
        assert moved and result.returncode == 0 and result.globals["n"] > 0, result
