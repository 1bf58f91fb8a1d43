# SPDX-License-Identifier: Apache-2.0
"""Each preset of CMakePresets.json configures, into a folder of its own, and says what it promises; building them takes too long here."""
import json
import re
import subprocess

import pytest

from support import paths

PRESETS = json.loads((paths.ROOT / "CMakePresets.json").read_text())
NAMES = [preset["name"] for preset in PRESETS["configurePresets"] if not preset.get("hidden")]
# What the compiler is told, and what it is not.
FLAGS = {"release": (["-O1"], ["-fsanitize"]), "debug": (["-g"], ["-fsanitize", "-ffile-prefix-map", "-O1"]),
         "asan": (["-fsanitize=address,undefined"], ["-fsanitize=thread"]), "tsan": (["-fsanitize=thread"], ["-fsanitize=address"])}


def test_each_can_be_built_and_tested():
    assert NAMES and [[preset["name"] for preset in PRESETS[part]] for part in ("buildPresets", "testPresets")] == [NAMES, NAMES]
    assert set(NAMES) == set(FLAGS)


@pytest.mark.parametrize("name", NAMES)
def test_each_is_named_where_one_looks(name):
    assert re.search(rf"--preset {name}\b", (paths.ROOT / "CONTRIBUTING.md").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_each_configures(name, tmp_path):
    done = subprocess.run(["cmake", "--preset", name, "-B", tmp_path], cwd=paths.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    own = next(entry["command"].split() for entry in commands  # by itself or joined with others of its room
               if entry["file"].endswith("compiler/base/printable.cpp") or "dj_base.dir/Unity/" in entry["file"])
    agent = (tmp_path / "build.ninja").read_text().partition("agent/context.bc:")[2].partition("\nbuild ")[0]
    wanted, unwanted = FLAGS[name]
    assert set(wanted) <= {word.partition("=/")[0] for word in own}, own
    assert not [word for word in own if word.startswith(tuple(unwanted))], own
    assert "-ffreestanding" in agent and "-fsanitize" not in agent, agent
