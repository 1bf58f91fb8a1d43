# SPDX-License-Identifier: Apache-2.0
"""Ada's fixed point numbers whose unit is a fraction of the program's own: what the program prints."""
import re
import shutil
import subprocess

import pytest

SOURCE = """with Ada.Text_IO; use Ada.Text_IO;
procedure Fixed is
   type Odd is delta 0.75 range -100.0 .. 100.0;
   for Odd'Small use 0.75;
   procedure Take (O, Less : Odd) is
   begin
      Put_Line ("truth" & Odd'Image (O) & Odd'Image (Less));
   end Take;
begin
   Take (2.25, -4.5);
end Fixed;
"""


def test_a_unit_that_is_no_power(djtap_once, tmp_path):
    if not shutil.which("gnatmake"):
        pytest.skip("gnatmake is not there")
    (tmp_path / "fixed.adb").write_text(SOURCE)
    subprocess.run(["gnatmake", "-q", "-g", "-O0", "fixed.adb"], cwd=tmp_path, check=True, capture_output=True)
    result = djtap_once("-e", 'probe process.statement("*@fixed.adb:7") { println("seen ", $o, " ", $less$) }', "-c", tmp_path / "fixed")
    truth = [float(text) for text in re.findall(r"-?\d+\.\d+", re.search("^truth(.*)$", result.stdout, re.M)[1])]
    seen = [float(text) for text in re.search("^seen (.*)$", result.stdout, re.M)[1].split()]
    # The image is rounded to the type's digits.
    assert seen == [2.25, -4.5] and all(abs(a - b) <= 0.06 for a, b in zip(seen, truth)), result
