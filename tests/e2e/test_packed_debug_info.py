# SPDX-License-Identifier: Apache-2.0
"""Debug information packed with zstd: read, or a message that says what cannot read it."""
import re
import shutil
import subprocess

import pytest

SOURCE = '#include <stdio.h>\n__attribute__((noinline)) int work(int n) { __asm__ volatile(""); return n + 1; }\n' \
         'int main(void) { int s = 0; for (int i = 0; i < 5; i++) s += work(i); printf("sum: %d\\n", s); }\n'


def pack(path, form):
    tool = shutil.which("llvm-objcopy-19")
    done = tool and subprocess.run([tool, f"--compress-debug-sections={form}", path], capture_output=True, check=False)
    if not done or done.returncode != 0:
        pytest.skip(f"nothing here packs with {form}")


@pytest.fixture
def program(tmp_path):
    (tmp_path / "p.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O1", "-o", tmp_path / "p", tmp_path / "p.c"], check=True)
    return tmp_path / "p"


def test_zlib_is_read(djtap_once, program):
    pack(program, "zlib")
    result = djtap_once("-e", 'probe func("work") { n += $n }', "-c", program)
    assert result.globals == {"n": 10}, result


@pytest.mark.parametrize("script", ['probe func("work") { n += $n }', 'probe func("work@p.c:2") { n++ }', 'probe func("work@p.c") { n++ }'])
@pytest.mark.parametrize("separate", [False, True])
def test_zstd_is_read_or_named(djtap_once, program, script, separate):
    if separate:
        debug = program.parent / "p.debug"
        subprocess.run(["objcopy", "--only-keep-debug", program, debug], check=True)
        pack(debug, "zstd")
        subprocess.run(["strip", program], check=True)
        subprocess.run(["objcopy", f"--add-gnu-debuglink={debug}", program], cwd=program.parent, check=True)
    else:
        pack(program, "zstd")
    result = djtap_once("-e", script, "-c", program)
    if result.returncode == 0:
        assert "n" in result.globals, result
        return
    assert "DJ3010" in result.stderr and re.search(r"\.debug_info.*zstd, which elfutils [0-9.]+ here does not read", result.stderr), result
    assert "objcopy --decompress-debug-sections" in result.stderr, result


def test_names_are_read_anyway(djtap_once, program):
    pack(program, "zstd")
    result = djtap_once("-e", 'probe func("work") { n++ } probe func("work").return { r += register("rax") }', "-c", program)
    assert result.globals == {"n": 5, "r": result.facts["sum"]}, result
