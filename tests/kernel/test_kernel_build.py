# SPDX-License-Identifier: Apache-2.0
"""The way to the module: built on the host by djtap kernel-build, loaded in the guest as a session loads it (open_kernel), or refused in words."""
import pathlib
import re
import shutil
import subprocess

import pytest

from support import guest as guests
from support import paths

OPEN = paths.BUILD / "open_kernel"
DJTAP = paths.DJTAP


@pytest.fixture(name="built", scope="session")
def built_modules(tmp_path_factory):
    """{series: the module for Debian's kernel of that series}, in files."""
    found = {}
    for series in guests.SERIES:
        try:
            tree = guests.kernel(series)
        except guests.Unavailable as why:
            pytest.skip(str(why))
        to = tmp_path_factory.mktemp("built") / "djtap.ko"
        release = next((tree / "lib" / "modules").iterdir()).name
        done = subprocess.run([DJTAP, "kernel-build", release, "--headers", tree / "headers", "-o", to], capture_output=True, text=True, timeout=600,
                              check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{to}\n", "")
        found[series] = to
    return found


def keep(guest, module):
    """Puts the module where the guest's djtap keeps it, in a /var/cache that has nothing else. Gives its path, and the words of open_kernel."""
    words = f"headers={guest.tree / 'headers'}"
    assert guest.run("mount -t tmpfs -o mode=755 cache /var/cache")[0] == 0
    place = guest.run(f"{OPEN} where {words}")[1].strip()
    assert place.startswith(f"/var/cache/djtap/kernel/{guest.release}-")
    assert guest.run(f"umask 077; mkdir -p {pathlib.Path(place).parent} && cp {module} {place}")[0] == 0
    return place, words


@pytest.fixture(name="kept")
def kept_module(guest, built, request):
    """What keep() gives; afterwards no module is loaded, and the kernel is content."""
    yield keep(guest, built[series_of(request)])
    guest.run("busybox rmmod djtap; rm -rf /run/modules; umount /var/cache")
    assert guest.new_complaints() == []


def series_of(request):
    return request.node.callspec.params["guest"]


def loaded(guest):
    return guest.run("grep -c '^djtap ' /proc/modules")[1].strip() == "1"


def opens(guest, words):
    assert guest.run(f"{OPEN} {words}") == (0, "interface 1\n") and loaded(guest)


def refused(guest, words):
    """Why; nothing is loaded, and /var/cache is as it was."""
    before, was = guest.run("find /var/cache /run/modules -ls 2>&1")[1], loaded(guest)
    status, said = guest.run(f"PATH=/none {OPEN} {words}")
    assert status == 1 and guest.run("find /var/cache /run/modules -ls 2>&1")[1] == before and loaded(guest) == was, said
    return re.fullmatch(r"open_kernel: (.*)\n", said)[1]


def test_the_kept_module_is_loaded_and_stays(guest, kept):
    place, words = kept
    assert guest.run(f"PATH=/none {DJTAP} kernel-build {words.replace('headers=', '--headers ')}") == (0, f"{place}\n")
    assert not loaded(guest)
    opens(guest, words)
    opens(guest, "headers=/none")  # it is there: nothing is looked for
    status, said = guest.run(f"{DJTAP} doctor")
    assert "ok      kernel module: djtap's module is loaded\n" in said and "ok      kernel probes: " in said, said
    assert "ok      kernel symbols: " in said and "ok      kernel text: " in said and "ok      kernel modules: " in said, (status, said)


def test_the_installed_module_comes_first(guest, kept, built, request):
    _, words = kept
    module = built[series_of(request)]
    folder = f"/run/modules/{guest.release}"
    assert guest.run(f"mkdir -p {folder}/updates/dkms && chmod 755 /run/modules && cp {module} {folder}/updates/dkms/ && "
                     f"echo 'updates/dkms/djtap.ko:' > {folder}/modules.dep")[0] == 0
    opens(guest, "modules=/run/modules headers=/none")
    assert guest.run("busybox rmmod djtap")[0] == 0
    # Packed, as dkms does where the kernel's own are.
    assert guest.run(f"xz -k --check=crc32 {folder}/updates/dkms/djtap.ko && echo 'updates/dkms/djtap.ko.xz:' > {folder}/modules.dep")[0] == 0
    if guest.release.startswith("6.1."):  # does not unpack modules
        assert "is packed, and this kernel does not unpack modules: modprobe djtap" in refused(guest, f"modules=/run/modules {words}")
    else:
        opens(guest, "modules=/run/modules headers=/none")


def test_a_module_of_another_version_is_exchanged(guest, kept, tmp_path):
    place, words = kept
    text = tmp_path / "older"
    shutil.copytree(paths.ROOT / "kernel", text)
    header = text / "device_abi.h"
    header.write_text(re.sub(r"(#define DJTAP_ABI) \d+", r"\1 99", header.read_text()))
    status, said = guests.build_module(guest.tree, text)
    assert status == 0, said
    # Loaded, and used: it stays, and djtap says who is in the way.
    assert guest.run(f"busybox insmod {text}/djtap.ko")[0] == 0
    assert guest.run("exec 5<>/dev/djtap; " + f"{OPEN} {words}")[1].startswith("open_kernel: another session probes the kernel")
    opens(guest, words)
    # Installed: the kept one is taken.
    assert guest.run("busybox rmmod djtap")[0] == 0
    folder = f"/run/modules/{guest.release}"
    assert guest.run(f"mkdir -p {folder} && chmod 755 /run/modules && cp {text}/djtap.ko {folder}/ && echo 'djtap.ko:' > {folder}/modules.dep")[0] == 0
    opens(guest, f"modules=/run/modules {words}")
    # Kept, by a hand: said.
    assert guest.run(f"busybox rmmod djtap && cp {text}/djtap.ko {place}")[0] == 0
    assert refused(guest, words) == f"{place} is of another version than this djtap"


def test_a_session_that_is_open(guest, kept):
    _, words = kept
    opens(guest, words)
    status, said = guest.run(f"exec 5<>/dev/djtap; {OPEN} {words}")
    assert status == 1 and said.startswith("open_kernel: another session probes the kernel")


def test_what_others_could_have_written_is_not_loaded(guest, kept):
    place, words = kept
    assert guest.run(f"chmod 666 {place}")[0] == 0
    assert refused(guest, words) == f"{place} is not loaded: others may have written it; remove it as root"
    assert guest.run(f"chmod 644 {place}; chmod 777 /var/cache/djtap")[0] == 0
    assert refused(guest, words) == f"{place} is not loaded: others may write djtap of its path; remove it as root"


def test_a_module_of_another_kernel(guest, kept, built, request, tmp_path):
    place, words = kept
    [other] = [module for series, module in built.items() if series != series_of(request)]
    assert guest.run(f"cp {other} {place}")[0] == 0
    magic = re.search(rb"vermagic=([^\0]+?) ?\0", other.read_bytes())[1].decode()
    assert refused(guest, words) == (f"{place} is a module for another kernel ({magic}); this is {guest.release}: remove it, and djtap builds one")
    half = tmp_path / "half.ko"
    half.write_bytes(other.read_bytes()[:10000])
    assert guest.run(f"cp {half} {place}")[0] == 0
    assert "module for another kernel" in refused(guest, words)


def test_nothing_to_build_with(guest, kept):
    place, words = kept
    assert f"apt-get install linux-headers-{guest.release}" in refused(guest, "")
    assert guest.run(f"rm {place}")[0] == 0
    assert "is built by make, which is not here: apt-get install make" in refused(guest, words)


def test_without_root(guest, kept):
    _, words = kept
    said = "open_kernel: the kernel needs root; or give -c or -p\n"
    assert guest.run(f"setpriv --reuid=65534 --clear-groups {OPEN} {words}") == (1, said)
    status, text = guest.run(f"setpriv --bounding-set=-sys_module --inh-caps=-sys_module {OPEN} {words}")
    assert status == 1 and "djtap is root in a container only: run djtap outside of it; or give -c or -p" in text, text
    assert not loaded(guest)


def test_a_dev_folder_of_a_container(guest, kept):
    """Which has no devices that the kernel adds."""
    _, words = kept
    status, said = guest.run(f"unshare -m sh -c 'mount -t tmpfs dev /dev && {OPEN} {words}'")
    assert status == 1 and "there is no /dev/djtap here: in a container, run djtap on the host" in said, said


NO_MORE = "this kernel loads no more modules until the next boot (kernel.modules_disabled is 1): "
LOCKED = "the kernel is locked down (integrity), so that not even root writes probes into it: "


@pytest.mark.parametrize("append, steps", [
    ("lockdown=integrity", [("true", LOCKED)]),
    ("module.sig_enforce=1", [("true", "the kernel loads signed modules only: sign "), ("echo 1 > /proc/sys/kernel/modules_disabled", NO_MORE)]),
])
def test_a_kernel_that_takes_none(built, append, steps):
    """What holds until the next boot: a guest of its own, of the later kernel alone, as the kernels answer alike."""
    series = guests.SERIES[-1]
    with guests.Guest(series, append) as own:
        _, words = keep(own, built[series])
        assert own.run("mount -t securityfs none /sys/kernel/security")[0] == 0
        for command, said in steps:
            assert own.run(command)[0] == 0
            assert refused(own, words).startswith(said)
            told = own.run(f"{DJTAP} doctor")[1]
            assert (f"note    kernel modules: {said}" in told) == (said in (LOCKED, NO_MORE)), told
