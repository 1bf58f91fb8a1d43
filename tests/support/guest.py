# SPDX-License-Identifier: Apache-2.0
"""Guest: a Debian kernel booted in QEMU, with the host's / read-only below it, that runs commands one at a time."""
import base64
import lzma
import pathlib
import re
import select
import shutil
import socket
import subprocess
import tempfile
import time

from support import paths

SERIES = ("6.1", "6.12")
QEMU = "qemu-system-x86_64"
FILES = paths.ROOT / "tests" / "kernel"
# In the order of their dependencies. Later kernels have some of them in others (fscache in netfs).
MODULES = ("drivers/virtio/virtio_ring", "drivers/virtio/virtio", "drivers/virtio/virtio_pci_modern_dev", "drivers/virtio/virtio_pci_legacy_dev",
           "drivers/virtio/virtio_pci", "fs/netfs/netfs", "fs/fscache/fscache", "net/9p/9pnet", "net/9p/9pnet_virtio", "fs/9p/9p")
# What a healthy kernel never prints. A warning with an address of the manual is about the processor.
COMPLAINT = re.compile(r"BUG:|Oops|WARNING: (?!See https:)|lockup|Kernel panic|general protection|rcu.*stall|Call Trace:|insmod .* failed")
BOOT_SECONDS = 300  # 5 on an idle machine; a machine with a load of 10 takes eight times as long


class Unavailable(Exception):
    """This machine cannot boot a guest; the text says why."""


class GuestDied(Exception):
    """QEMU ended, or the guest stopped answering; the text is the end of the console."""


def complaints(console):
    """Lines of a console's text that a healthy kernel never prints."""
    return [line.strip() for line in console.splitlines() if COMPLAINT.search(line)]


def kernel(series):
    """Folder of Debian's kernel of that series; downloads it at first use."""
    for program in (QEMU, "busybox", "cpio", "apt-get", "setpriv", "flock", "make", "gcc-12"):
        if not shutil.which(program):
            raise Unavailable(f"no {program} here: scripts/setup tests")
    try:
        made = subprocess.run([paths.ROOT / "scripts" / "kernels", series], env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "DJTAP_BUILD": str(paths.BUILD)},
                              capture_output=True, text=True, timeout=500, check=False)
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"scripts/kernels {series} took more than {error.timeout:.0f} s") from None
    if made.returncode:
        raise Unavailable(f"scripts/kernels {series}: {(made.stderr.strip().splitlines() or ['failed'])[-1]}")
    return pathlib.Path(made.stdout.split(maxsplit=1)[1].strip())


def build_module(tree, folder):
    """Builds the module of a folder with a Kbuild file, for the kernel of that tree; gives the compiler's words and the status."""
    # BTF of a module would need pahole, and nothing here reads it.
    made = subprocess.run(["make", "-C", tree / "headers", f"M={folder}", "CONFIG_DEBUG_INFO_BTF_MODULES=", "modules"],
                          capture_output=True, text=True, timeout=300, check=False)
    return made.returncode, made.stdout + made.stderr


def write_module(tree, name, to):
    """Writes a module of the kernel of that tree, by its path below kernel/, unpacked; False: that kernel has none."""
    plain = next((tree / "lib" / "modules").iterdir()) / "kernel" / f"{name}.ko"
    packed = plain.with_suffix(".ko.xz")
    if not plain.exists() and not packed.exists():
        return False
    to.write_bytes(plain.read_bytes() if plain.exists() else lzma.decompress(packed.read_bytes()))
    return True


def built_module(tree, sources, folder):
    """Builds the module of a folder in a copy of it; gives the file."""
    shutil.copytree(sources, folder)
    status, output = build_module(tree, folder)
    if status or "warning" in output:
        raise Unavailable(f"the module of {sources} is not built: {output}")
    return next(folder.glob("*.ko"))


def djtap_module(tree, folder):
    """Builds djtap's module in a folder of that folder; gives the file."""
    return built_module(tree, paths.ROOT / "kernel", folder / "module")


def initramfs(tree, folder):
    """Writes the first file system: busybox, the modules that 9p needs, init and agent."""
    root = folder / "root"
    for name in ("bin", "m", "proc", "sys", "dev", "r"):
        (root / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), root / "bin" / "busybox")
    for name, mode in (("init.sh", 0o755), ("agent.sh", 0o644)):
        to = root / name.replace("init.sh", "init")
        shutil.copy(FILES / name, to)
        to.chmod(mode)
    for number, name in enumerate(MODULES, 10):
        write_module(tree, name, root / "m" / f"{number}.ko")
    image = folder / "initramfs"
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    with image.open("wb") as to:
        subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=root, input=names.encode(), stdout=to, check=True)
    return image


class Guest:
    """A booted kernel. Use it in a with statement: its end is QEMU's. append: more of the kernel's command line; cpu: one of QEMU's models."""

    def __init__(self, series, append="", cpu="max"):
        self.tree = kernel(series)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="djtap-guest-"))
        self.log = self.folder / "console"
        self.checked = 0
        self.received = b""
        self.socket = socket.socket(socket.AF_UNIX)
        self.qemu = None
        try:
            self._boot(append, cpu)
            self.release = self._line(time.monotonic() + BOOT_SECONDS).split()[1]
        except BaseException:
            self.close()
            raise

    def _boot(self, append, cpu):
        channel = self.folder / "channel"
        image = next((self.tree / "boot").glob("vmlinuz-*"))
        # thread=multi loses invalidations of changed code, and /dev/kvm of some machines emulates kernel mode: neither is used.
        command = ["setpriv", "--pdeathsig", "KILL", QEMU, "-accel", "tcg,thread=single", "-cpu", cpu, "-smp", "2", "-m", "1024",
                   "-display", "none", "-monitor", "none", "-nic", "none", "-no-reboot",
                   "-kernel", image, "-initrd", initramfs(self.tree, self.folder), "-append", f"console=ttyS0 panic=-1 loglevel=5 {append}",
                   "-serial", f"file:{self.log}", "-serial", f"unix:{channel},server=on,wait=off",
                   "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"]
        with (self.folder / "qemu").open("wb") as errors:
            self.qemu = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
        end = time.monotonic() + BOOT_SECONDS
        while True:
            try:
                return self.socket.connect(str(channel))
            except OSError:
                self._check(end)
                time.sleep(0.05)

    def is_running(self):
        return self.qemu.poll() is None

    def _check(self, end):
        if not self.is_running():
            raise GuestDied(f"QEMU ended with {self.qemu.returncode}\n{(self.folder / 'qemu').read_text()}{self.console()[-3000:]}")
        if time.monotonic() > end:
            raise GuestDied(f"the guest does not answer\n{self.console()[-3000:]}")

    def _fill(self, end):
        self._check(end)
        if select.select([self.socket], [], [], 0.5)[0]:
            self.received += self.socket.recv(1 << 16)

    def _line(self, end):
        while b"\n" not in self.received:
            self._fill(end)
        line, self.received = self.received.split(b"\n", 1)
        return line.decode(errors="replace").strip()

    def run(self, command, timeout=120):
        """Runs a command of bash as root; gives its status (124: it took more than timeout seconds) and all that it printed."""
        self.socket.sendall(f"{timeout} {base64.b64encode(command.encode()).decode()}\n".encode())
        end = time.monotonic() + timeout * 3 + 60  # the guest's clock counts first
        word, status, size = self._line(end).split()
        assert word == "DONE"
        while len(self.received) < int(size):
            self._fill(end)
        output, self.received = self.received[:int(size)], self.received[int(size):]
        return int(status), output.decode(errors="replace")

    def console(self):
        """What the kernel has printed so far."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def new_complaints(self):
        """Complaints that the kernel has printed since the last call."""
        text = self.console()
        found = complaints(text[self.checked:])
        self.checked = len(text)
        return found

    def close(self):
        """Ends QEMU: kindly, then by force. The console is read before."""
        if self.qemu and self.qemu.poll() is None:
            try:
                self.socket.sendall(b"QUIT\n")
                self.qemu.wait(20)
            except (OSError, subprocess.TimeoutExpired):
                self.qemu.kill()
                self.qemu.wait()
        self.socket.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.close()
