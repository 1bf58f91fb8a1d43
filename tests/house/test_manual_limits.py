# SPDX-License-Identifier: Apache-2.0
"""The limits of -D in djtap(1): all of them, with the numbers that the source has."""
import re

from support.paths import ROOT


def test_the_manual_has_every_limit():
    fields = dict(re.findall(r'\{"(\w+)", &Limits::(\w+)', (ROOT / "runtime/command/set_limit.cpp").read_text()))
    numbers = {name: eval(value) for name, value in  # pylint: disable=eval-used
               re.findall(r"^  int64_t (\w+) = ([\d <]+);", (ROOT / "compiler/stages/layout.h").read_text(), re.M)}
    listed = re.findall(r"\b([A-Z_]{5,}) (\d+)", "\n".join(re.findall(r'^\.IP "(.*)" 4$', (ROOT / "docs/man/djtap.1").read_text(), re.M)))
    assert fields and dict(listed) == {name: str(numbers[field]) for name, field in fields.items()}
