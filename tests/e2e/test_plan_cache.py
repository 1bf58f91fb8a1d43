# SPDX-License-Identifier: Apache-2.0
"""Analyses kept between sessions: the second one arms the same sites in the same way, whatever lies in the cache."""
import os
import re
import shutil
import subprocess

import pytest

from support import run

SCRIPT = 'probe process("/bin/bash").function("*") { n++ } probe func("libc.so.6!mem*") { n++ }'


def sites(*options):
    result = run.run([*options, "--probes", "-e", SCRIPT, "-c", "/bin/bash -c :"])
    assert result.returncode == 0, result.stderr
    return sorted((site.symbol, site.state, site.reason) for site in result.sites)


def test_kept_analyses_give_the_same_sites(own_cache):
    fresh = sites("--no-cache")
    assert len(fresh) > 1000 and not own_cache.exists()
    assert sites() == fresh
    assert len(list(own_cache.iterdir())) >= 2
    assert {name.name.split("-")[0] for name in own_cache.iterdir()} >= {"plan", "patches"}
    assert sites() == fresh
    for file in own_cache.iterdir():
        file.write_bytes(file.read_bytes()[:-9] + b"nonsense!")
    assert sites() == fresh


def test_a_cache_that_cannot_be_written_does_no_harm(own_cache):
    own_cache.write_text("this is no folder")
    assert len(sites()) > 1000


def resolved(*options):
    result = run.run(["-v", *options, "-c", "/bin/bash -c :"])
    assert result.returncode == 0, result.stderr
    return re.search(r"resolve .*", result.stderr).group()


def test_a_plan_is_kept_for_its_script_and_options(own_cache):
    script = 'probe process("/bin/bash").function("*") { n++ }'
    assert "kept" not in resolved("-e", script)
    assert "kept" in resolved("-e", script)
    assert "kept" in resolved("-e", script.replace("n++", "n += 2"))  # its places are the same
    assert "kept" not in resolved("-e", script.replace("n++", "println(pp())"))
    assert "kept" not in resolved("-e", script.replace('("*")', '("*").return'))
    assert "kept" not in resolved("-e", script.replace('("*")', '("r*")'))  # few are not worth it
    assert "kept" not in resolved("-e", script.replace('("*")', '("r*")'))
    assert "kept" not in resolved("--no-cache", "-e", script)


def in_bash(path, pid=None):
    """Sites of every function, by symbol."""
    script = f'probe process("{path}").function("*") {{ n++ }} probe timer.ms(1) {{ exit() }}'
    target = ["-p", pid] if pid else ["-c", f"{path} -c :"]
    result = run.run(["--probes", "-e", script, *target])
    assert result.returncode == 0, result.stderr
    return {site.symbol: site for site in result.sites}


def test_a_kept_plan_is_not_used_for_other_bytes_in_memory(own_cache, program):
    bash = program("/bin/bash", "-c", "echo ready; read line; echo $line")
    bash.wait_for("ready")
    before = in_bash("/bin/bash", bash.pid)
    assert any(file.name.startswith("patches-") for file in own_cache.iterdir())
    symbol, site = next((s, site) for s, site in before.items() if (site.state, site.reason) == ("OPTIMIZED", ""))
    with open(f"/proc/{bash.pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(site.address + 4)
        other = bytes([memory.read(1)[0] ^ 1])  # as if another tool had been there
        memory.seek(site.address + 4)
        memory.write(other)
        after = in_bash("/bin/bash", bash.pid)
        memory.seek(site.address + 4)
        assert memory.read(1) == other
    assert (after[symbol].state, after[symbol].reason) == ("SKIPPED", "text differs from the file")
    assert [s for s in before if (before[s].state, before[s].reason) != (after[s].state, after[s].reason)] == [symbol]


def test_a_kept_plan_is_not_used_for_another_file(own_cache, tmp_path):
    """The file keeps its name, size, build-id and time of change; one function in it is another."""
    path = tmp_path / "bash"
    shutil.copy("/bin/bash", path)
    before = in_bash(path)
    assert in_bash(path).keys() == before.keys()
    symbol = "rl_set_paren_blink_timeout"  # nobody calls it here
    assert before[f"{symbol}+0x0"].state == "OPTIMIZED"
    names = subprocess.run(["nm", "-D", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    start = int(re.search(f"^([0-9a-f]+) . {symbol}$", names, re.M).group(1), 16)
    times = path.stat()
    data = bytearray(path.read_bytes())
    data[start:start + 16] = b"\x06" * 16  # no instruction
    path.write_bytes(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    now = in_bash(path)
    fresh = run.run(["--no-cache", "--probes", "-e", f'probe process("{path}").function("*") {{ n++ }}', "-c",
                     f"{path} -c :"])
    assert {s: (site.state, site.reason) for s, site in now.items()} == \
        {site.symbol: (site.state, site.reason) for site in fresh.sites}
    assert now[f"{symbol}+0x0"].state != "OPTIMIZED"


def test_kept_detours_count_what_the_program_does(own_cache):
    """Bash lies elsewhere each time, and so do the handlers."""
    script = 'probe process("/bin/bash").function("*") { n[probefunc()]++ }'
    for kept in (False, True, True, True):
        assert any(file.name.startswith("detours-") for file in own_cache.glob("*")) == kept
        result = run.run(["-e", script, "--", "/bin/bash", "-c", "for ((i = 0; i < 1234; i++)); do echo line; done"])
        assert result.returncode == 0, result.stderr
        calls = dict(result.array("n"))
        assert int(calls['"echo_builtin"']) == result.stdout.count("line\n") == 1234
        assert len(calls) > 200


@pytest.mark.parametrize("asked", ["pp", "probefunc", "ppfunc", "probemod"])
def test_names_are_there_for_those_who_ask(own_cache, asked):
    script = f'probe process("/bin/bash").function("*") {{ n[{asked}()]++ }}'
    for _ in range(2):
        result = run.run(["-e", script, "-c", "/bin/bash -c :"])
        assert result.returncode == 0, result.stderr
        names = [name for name, _ in result.array("n")]
        assert any("bash" in name if asked == "probemod" else "execute_command" in name for name in names)
