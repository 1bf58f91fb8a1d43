# SPDX-License-Identifier: Apache-2.0
"""Probes in the kernel's own modules: counted under work, written as files, and gone with a module that is removed (device_actions runs in the guest)."""
import re

import pytest

from support import guest as guests
from support import kernel_device as kd
from support import paths

ARMED, FORBIDDEN, FIXED_PLACE, REMOVED, GONE = map(str, (kd.ARMED, kd.FORBIDDEN, kd.FIXED_PLACE, kd.REMOVED, kd.GONE))
# In the order of their dependencies; what a kernel has built in is missing.
MODULES = ("lib/crc16", "crypto/crc32c_generic", "fs/mbcache", "fs/jbd2/jbd2", "fs/ext4/ext4", "drivers/block/loop")
LIVE_KERNEL = paths.BUILD / "kernel" / "live_kernel"
WORK = """for i in $(seq 50); do mkdir /run/mnt/$i; echo x > /run/mnt/$i/f; done; sync; rm -r /run/mnt/[0-9]*; sync"""


@pytest.fixture(scope="module", name="files")
def module_files(guest, tmp_path_factory):
    """Folder with ext4's modules, which are loaded; an ext4 file system is at /run/mnt."""
    folder = tmp_path_factory.mktemp("modules")
    for name in MODULES:
        path = folder / f"{name.rsplit('/', 1)[1]}.ko"
        if guests.write_module(guest.tree, name, path):
            assert guest.run(f"busybox insmod {path}") == (0, "")
    status, output = guest.run("cd /run && truncate -s 24M disk && mkfs.ext4 -q disk && mkdir mnt && mount -o loop disk mnt")
    assert status == 0, output
    yield folder
    assert guest.run("umount /run/mnt; rm -r /run/mnt /run/disk; busybox rmmod ext4 && busybox rmmod jbd2 && busybox rmmod loop") == (0, "")


def test_counts_each_call(heavy, files):
    del files
    assert heavy("counts", "ext4", "ext4_mkdir", WORK) == {"armed": 1, "status": 0, "count": 50, "kept": 0, "different": []}


@pytest.mark.parametrize("module, most", [("ext4", 300), ("jbd2", 50)])
def test_a_whole_module_under_work(heavy, files, module, most):
    del files
    found = heavy("module", module, WORK)
    assert found["sites"] > most and found["answers"].pop(ARMED) >= 0.9 * found["sites"]
    assert set(found["answers"]) <= {FORBIDDEN, FIXED_PLACE}
    assert found["count"] > 1000
    assert (found["status"], found["different"]) == (0, [])


def test_wrong_sites_are_refused(heavy, files):
    """By the module's own tables, text and functions."""
    del files
    found = heavy("refused", "ext4")
    assert found["tried"] >= 8 and found["wrong"] == {}


def test_a_module_that_is_removed_takes_its_places_along(heavy, guest, files):
    """Those of the kernel itself stay, and come out later."""
    assert guest.run("umount /run/mnt")[0] == 0
    found = heavy("removed", "ext4")
    assert found["status"] == 0 and found["kept"] == 0
    assert set(found["kernel"]) <= {REMOVED, FORBIDDEN, FIXED_PLACE} and found["kernel"][REMOVED] > 10
    assert set(found["module"]) <= {GONE, FORBIDDEN, FIXED_PLACE} and found["module"][GONE] > 300
    assert guest.run(f"busybox insmod {files}/ext4.ko && mount -o loop /run/disk /run/mnt") == (0, "")
    assert heavy("module", "ext4", WORK)["different"] == []


def test_a_module_comes_and_goes_meanwhile(heavy, files, guest):
    assert guest.run("umount /run/mnt")[0] == 0
    found = heavy("churn", "ext4", files / "ext4.ko", 6, timeout=600)
    assert found["status"] == 0
    assert set(found["after"]) <= {str(number) for number in (kd.NOT_TEXT, kd.FORBIDDEN, kd.FIXED_PLACE, kd.OTHER_BYTES, kd.REMOVED, kd.GONE, 255)}
    assert found["after"].get(REMOVED, 0) > 0 and str(kd.KEPT) not in found["after"]
    assert guest.run("mount -o loop /run/disk /run/mnt") == (0, "")


def test_traps_of_a_removed_module_are_forgotten(heavy, guest, files):
    """Its memory may be the same module's again: an int3 there leads to the new detour."""
    assert guest.run("umount /run/mnt")[0] == 0
    work = "mount -o loop /run/disk /run/mnt && mkdir /run/mnt/a /run/mnt/b && rmdir /run/mnt/a /run/mnt/b"
    found = heavy("stale", "ext4", files / "ext4.ko", "ext4_mkdir", work)
    assert found["status"] == 0 and found["old"] == 0
    assert not found["same"] or (found["answers"], found["new"]) == ({ARMED: 2}, 2)


def test_files_of_modules(guest, files):
    """Each function that is no trampoline and no part of another has known exits, also by jumps into the kernel."""
    del files
    status, output = guest.run(f"mkdir -p /run/files && {LIVE_KERNEL} modules /run/files")
    assert status == 0 and {"ext4", "jbd2", "9p"} <= set(output.split()), output
    for module, least in (("ext4", 1200), ("jbd2", 200)):
        status, output = guest.run(f"python3 {paths.ROOT}/tests/kernel/read_kernel.py /run/files/{module}.elf", timeout=300)
        assert status == 0 and re.search(r"^\.text \d+ bytes, 0 differ$", output, re.M), output
        entries = [line.split(None, 5) for line in guest.run(f"{LIVE_KERNEL} places /run/files/{module}.elf | grep ^entry")[1].splitlines()]
        known = [entry for entry in entries if entry[5] == "known"]
        assert len(known) >= least
        assert {entry[5] for entry in entries if entry not in known} <= {"a piece of another function"}
        assert sum(entry[3] == "plain" for entry in known) >= 0.99 * len(known)
        listed = set(guest.run(f"readelf -sW /run/files/{module}.elf | awk '$4 == \"FUNC\" && $7 != \"ABS\" {{print $2}}'")[1].split())
        named = guest.run(f"grep -P '\\t\\[{module}\\]$' /proc/kallsyms | grep -i ' t ' | grep -v __pfx_ | cut -d' ' -f1")[1].split()
        assert listed == set(named)
    guest.run("rm -r /run/files")
