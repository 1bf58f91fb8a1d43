# SPDX-License-Identifier: Apache-2.0
"""Examples against programs whose numbers are known."""
import re

from support import paths, run

EXAMPLES = paths.ROOT / "examples"


def test_leaks_are_told_by_stack(tmp_path):
    """Blocks that are kept, given back, and moved, of sizes that nobody else asks for."""
    program = """import ctypes
libc = ctypes.CDLL(None)
for f in (libc.malloc, libc.realloc): f.restype = ctypes.c_void_p
kept = [libc.malloc(ctypes.c_size_t(7654321)) for i in range(3)]
for i in range(5): libc.free(ctypes.c_void_p(libc.malloc(ctypes.c_size_t(9654321))))
moved = libc.realloc(ctypes.c_void_p(libc.malloc(ctypes.c_size_t(8654321))), ctypes.c_size_t(12654321))"""
    output = tmp_path / "out"
    result = run.run([EXAMPLES / "leaks.djt", "-D", "MAXMAPENTRIES=100000", "-o", output, "--", "/usr/bin/python3", "-I", "-S", "-c", program])
    heads = re.findall(r"^(\d+) bytes in (\d+) blocks$", output.read_text(), re.M)
    assert heads[:2] == [(str(3 * 7654321), "3"), ("12654321", "1")], (result, output.read_text())
