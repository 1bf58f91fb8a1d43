"""Values that only debug info computes: variables of optimized code that are nowhere, but follow from others."""
import shutil
import subprocess

import pytest

DEAD = """__attribute__((noinline)) void sink(long x) { __asm__ volatile("" : : "r"(x) : "memory"); }
__attribute__((noinline)) long f(long a, long b, unsigned long u) {
  long least = a < b ? a : b;
  long most = a > b ? a : b;
  unsigned long high = u > 7 ? u : 7;
  long size = a < 0 ? -a : a;
  sink(a + b + u);
  return a - b - u;
}
int main(void) {
  for (long a = -2; a < 3; a++)
    for (long b = -3; b < 5; b += 6) f(a, b, a * b);
  return 0;
}
"""


def built(tmp_path, source, compiler):
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip("not installed")
    (tmp_path / "program.c").write_text(source)
    subprocess.run([*compiler.split(), "-g", "-w", "-o", "program", "program.c"], cwd=tmp_path, check=True)
    return tmp_path / "program"


def test_minima_maxima_and_magnitudes(djtap_once, tmp_path):
    """gcc describes them by branches (DW_OP_bra) and DW_OP_abs."""
    program = built(tmp_path, DEAD, "gcc -O2")
    info = subprocess.run(["readelf", "--debug-dump=loc", program], capture_output=True, text=True, check=True).stdout
    if "DW_OP_bra" not in info or "DW_OP_abs" not in info:
        pytest.skip("this compiler describes them otherwise")
    script = 'probe process.statement("f@program.c:7") { println($a, " ", $b, ": ", $least, " ", $most, " ", $high, " ", $size) }'
    result = djtap_once("-e", script, "-c", program)
    pairs = [(a, b) for a in range(-2, 3) for b in (-3, 3)]
    wanted = [f"{a} {b}: {min(a, b)} {max(a, b)} {a * b if a * b < 0 else max(a * b, 7)} {abs(a)}" for a, b in pairs]
    assert result.stdout.splitlines() == wanted, result
