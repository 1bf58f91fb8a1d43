# SPDX-License-Identifier: Apache-2.0
"""Programs of the build, for benchmarks: what the first use of scripts/djtap has not built is built when it is asked for."""
import subprocess

from support import paths


def program(name, target):
    """Path of build/NAME, which the target makes, as text."""
    path = paths.BUILD / name
    if not path.exists():
        own = paths.BUILD == paths.ROOT / "build"
        words = [paths.ROOT / "scripts" / "build", target] if own else ["ninja", "-C", paths.BUILD, target]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return str(path)


def victim(name):
    """The same of a program of tests/targets."""
    return program(f"targets/{name}", f"victim_{name}")
