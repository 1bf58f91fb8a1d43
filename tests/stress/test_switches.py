# SPDX-License-Identifier: Apache-2.0
"""A program switches a probe of its own a million times, from one of its threads while two others run through the probe."""
import pytest

import workloads
from support.paths import victim

pytestmark = [pytest.mark.stress, pytest.mark.timeout(7200 if workloads.LONG else 1800)]

SWITCHES = 1_000_000 if workloads.LONG else 20_000


@pytest.mark.parametrize("script", ['probe func("asked")', 'probe func("asked").return'])
def test_no_hit_is_lost_and_none_extra(djtap, tmp_path, script):
    path = tmp_path / "control"
    body = "{ if ($id == 0) mine++; else others++ }"
    command = f"{victim('switcher')} {SWITCHES // 2} asked {path}"
    result = djtap("--control", str(path), "-e", f"{script} {body}", "-c", command, timeout=7200 if workloads.LONG else 900)
    truth = result.facts
    assert result.returncode == 0 and truth["asked off"] >= SWITCHES - 2, result
    assert result.globals["mine"] == truth["asked on"] and 0 < result.globals["others"] <= truth["others"], result
    print(f"{truth['us a switch']} us a switch with its answer")
