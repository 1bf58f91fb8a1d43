# SPDX-License-Identifier: Apache-2.0
"""The bed of the kernel tests: commands run in the guest, and a kernel that complains is seen."""
import pytest

from support import guest as guests
from support import paths


def test_boots_the_kernel_that_was_asked_for(guest, request):
    series = request.node.callspec.params["guest"]
    status, output = guest.run("uname -r")
    assert (status, output.strip()) == (0, guest.release)
    assert guest.release.startswith(f"{series}.")


def test_the_boot_is_without_complaints(guest):
    assert "Linux version" in guest.console() or guest.run("dmesg | grep -c 'Linux version'")[1].strip() == "1"
    assert guest.new_complaints() == []


def test_gives_status_and_output(guest):
    assert guest.run("echo out; echo err >&2; exit 7") == (7, "out\nerr\n")
    assert guest.run("printf 'DONE 0 3\\nno end'") == (0, "DONE 0 3\nno end")
    assert guest.run("for i in 1 2\ndo echo $i; done") == (0, "1\n2\n")
    status, output = guest.run("head -c 100000 /dev/zero | tr '\\0' x")
    assert status == 0 and output == "x" * 100000


def test_a_command_that_takes_too_long_is_ended(guest):
    assert guest.run("sleep 100", timeout=2)[0] == 124
    assert guest.run("echo again") == (0, "again\n")


def test_sees_the_tree_read_only(guest):
    assert guest.run(f"cat {paths.ROOT}/pytest.ini") == (0, (paths.ROOT / "pytest.ini").read_text())
    status, output = guest.run(f"touch {paths.ROOT}/new")
    assert status != 0 and "Read-only" in output


MODULE = """#include <linux/module.h>
static int __init hello(void) { pr_info("djtap_hello: in\\n"); return 0; }
static void __exit bye(void) { pr_info("djtap_hello: out\\n"); }
module_init(hello);
module_exit(bye);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Says that it was loaded");
"""


def test_a_module_built_with_the_headers_loads(guest, tmp_path):
    (tmp_path / "hello.c").write_text(MODULE)
    (tmp_path / "Kbuild").write_text("obj-m := hello.o\n")
    status, output = guests.build_module(guest.tree, tmp_path)
    assert status == 0, output
    assert guest.run(f"busybox insmod {tmp_path}/hello.ko && grep -c ^hello /proc/modules && busybox rmmod hello") == (0, "1\n")
    assert guest.run("dmesg | grep -o 'djtap_hello: .*'") == (0, "djtap_hello: in\ndjtap_hello: out\n")
    assert guest.new_complaints() == []


@pytest.mark.parametrize("line, level", [("BUG: unable to handle page fault for address: 8", 1), ("Oops: 0002 [#1] PREEMPT SMP", 1),
                                         ("WARNING: CPU: 0 PID: 1 at kernel/x.c:1 f+0x1/0x2", 4), ("watchdog: BUG: soft lockup - CPU#0 stuck for 22s!", 0)])
def test_complaints_are_seen(guest, line, level):
    assert guest.new_complaints() == []
    assert guest.run(f"echo '<{level}>{line}' > /dev/kmsg; sleep 0.5")[0] == 0
    found = guest.new_complaints()
    assert len(found) == 1 and line in found[0]


def test_a_guest_that_dies_is_an_error():
    try:
        with guests.Guest(guests.SERIES[0]) as guest:
            with pytest.raises(guests.GuestDied):
                guest.run("echo c > /proc/sysrq-trigger", timeout=20)
            assert any("Kernel panic" in line for line in guest.new_complaints())
    except guests.Unavailable as why:
        pytest.skip(str(why))
    assert guest.qemu.poll() is not None


def test_skips_with_a_reason(monkeypatch):
    monkeypatch.setattr(guests, "QEMU", "qemu-that-is-missing")
    with pytest.raises(guests.Unavailable, match="no qemu-that-is-missing here"):
        guests.kernel(guests.SERIES[0])
