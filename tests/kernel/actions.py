# SPDX-License-Identifier: Apache-2.0
"""What the tests of the module do in the guest: actions.py ACTION [ARGUMENT…] prints a line of JSON."""
import errno
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True

from support import kernel_device as kd  # noqa: E402 (the path comes first)

READS = 100_000


class Plan:
    """Sites of functions whose first instructions can be moved, and the code of their detours: all count in word 0."""

    def __init__(self, device, names=None, most=1 << 17):
        facts, kcore = device.hello(), kd.Kcore()
        self.found = kd.movable_entries(facts, names, most)
        base = device.alloc_code(len(self.found) * 64)
        block, self.sites = bytearray(), []
        for address, code, _ in self.found:
            at = base + len(block)
            detour = kd.counting_detour(at, code, address + len(code), facts.counter_offset)
            block += detour.ljust(64, b"\xcc")
            self.sites.append(kd.site(address, at, code, len(code)))
        device.write(0, bytes(block))
        device.seal()
        self.kcore = kcore

    def text(self):
        """The bytes of all sites, now."""
        return [self.kcore.read(address, 32).hex() for address, _, _ in self.found]


def read_zeros(count):
    with open("/dev/zero", "rb", buffering=0) as zeros:
        for _ in range(count):
            zeros.read(1)


def counts(name):
    """Counts a function while it is called READS times."""
    with kd.Device() as device:
        plan = Plan(device, [name])
        before = plan.text()
        answers = device.arm(plan.sites)
        armed = plan.text()
        read_zeros(READS)
        count, = device.counts()
        kept, removed = device.disarm(1)
        return {"answers": answers, "count": count, "changed": armed != before, "same": plan.text() == before, "kept": kept, "removed": removed}


def refusals():
    """The answer to each of some sites that are wrong in one way."""
    with kd.Device() as device:
        known, facts, kcore = kd.symbols(), device.hello(), kd.Kcore()
        plan = Plan(device, ["vfs_read", "vfs_write"])
        good, code_begin = plan.sites[0], plan.sites[0].detour
        size = plan.found[0][1]

        def but(**changes):
            changed = kd.Site.from_buffer_copy(good)
            for name, value in changes.items():
                setattr(changed, name, value)
            return changed
        bugs = known["__start___bug_table"]
        traps = (at + int.from_bytes(kcore.read(at, 4), "little", signed=True) for at in range(bugs, known["__stop___bug_table"], 12))
        trap = next(at for at in traps if known["vfs_read"] < at < known["vfs_read"] + (1 << 20))
        tried = {
            "not text": (but(address=facts.text_end + 4096), kd.NOT_TEXT),
            "user's address": (but(address=0x1000), kd.NOT_TEXT),
            "past the text": (but(address=facts.text_end - 2), kd.NOT_TEXT),
            "int3's own handler": (kd.site(known["exc_int3"], code_begin, kcore.read(known["exc_int3"], 5), 5), kd.FORBIDDEN),
            "end of a function": (kd.site(known["vfs_read"] - 2, code_begin, kcore.read(known["vfs_read"] - 2, 5), 5), kd.TWO_FUNCTIONS),
            "bug": (kd.site(trap, code_begin, kcore.read(trap, 5), 5), kd.FIXED_PLACE),
            "detour in text": (but(detour=known["vfs_write"]), kd.BAD_DETOUR),
            "detour before the block": (but(detour=code_begin - 1), kd.BAD_DETOUR),
            "detour of the user": (but(detour=0x400000), kd.BAD_DETOUR),
            "other bytes": (kd.site(good.address, code_begin, b"\x90" * len(size), len(size)), kd.OTHER_BYTES),
            "no length": (but(length=0), kd.BAD_FORM),
            "too long": (but(length=33), kd.BAD_FORM),
            "unknown form": (but(form=2), kd.BAD_FORM),
            "guard on the first byte": (but(guards=1), kd.BAD_FORM),
            "guard behind": (but(guards=1 << good.length), kd.BAD_FORM),
            "too many prefixes": (but(prefixes=11), kd.BAD_FORM),
            "guard without a way": (but(guards=2), kd.BAD_DETOUR),
        }
        wrong = {}
        for name, (site, expected) in tried.items():
            answer, = device.arm([site])
            if answer != expected:
                wrong[name] = answer
        both = device.arm([good, good])
        again = device.arm([good])
        return {"tried": len(tried), "wrong": wrong, "twice": both, "again": again, "kept": device.disarm()[0], "end": device.arm([good])}


def error_of(action):
    try:
        action()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "none"


def sessions():
    """Errors of opens and calls that come at the wrong time."""
    found = {"mode": oct(os.stat("/dev/djtap").st_mode & 0o777)}

    def as_nobody():
        child = os.fork()
        if child == 0:
            os.chmod("/dev/djtap", 0o666)
            os.setgid(65534)
            os.setuid(65534)
            os._exit(getattr(errno, error_of(kd.Device), 255))
        status = os.waitpid(child, 0)[1]
        os.chmod("/dev/djtap", 0o600)
        return os.waitstatus_to_exitcode(status)
    found["nobody"] = as_nobody()
    with kd.Device() as device:
        found["second"] = error_of(kd.Device)
        found["arm unsealed"] = error_of(lambda: device.arm([kd.Site()]))
        found["write nowhere"] = error_of(lambda: device.write(0, b"x"))
        found["no code"] = error_of(lambda: device.alloc_code(0))
        found["too much code"] = error_of(lambda: device.alloc_code((64 << 20) + 1))
        device.alloc_code(4096)
        found["second block"] = error_of(lambda: device.alloc_code(4096))
        found["write behind"] = error_of(lambda: device.write(4090, b"1234567"))
        found["write far behind"] = error_of(lambda: device.write(2**64 - 1, b"12"))
        device.seal()
        found["write sealed"] = error_of(lambda: device.write(0, b"x"))
        found["seal again"] = error_of(device.seal)
        found["unknown call"] = error_of(lambda: device.call(kd.command(2, 99, kd.Hello)))
        found["counters"] = error_of(lambda: device.counts(250, 7))
    with kd.Device():
        found["after"] = "none"
    return found


def kprobe_on_top():
    """A kprobe event on our jump that outlives the session."""
    events = "/sys/kernel/tracing/kprobe_events"

    def echo(text, path):
        file = os.open(path, os.O_WRONLY | (os.O_APPEND if text[0] in "p-" else 0))
        os.write(file, text.encode())
        os.close(file)

    def use():
        os.symlink("x", "/run/x")
        os.rename("/run/x", "/run/y")
        os.unlink("/run/y")
    found, device = {}, kd.Device()
    plan = Plan(device, ["vfs_symlink", "vfs_rename", "vfs_unlink"], most=1)
    before = plan.text()
    found["armed"] = device.arm(plan.sites)
    address, _, name = plan.found[0]
    echo(f"p:on_top {name}+{address - kd.symbols()[name]}", events)
    echo("1", "/sys/kernel/tracing/events/kprobes/on_top/enable")
    use()
    found["count"] = device.counts()[0]
    found["kept"], found["answer"] = device.disarm(1)
    device.close()
    found["next"] = error_of(kd.Device)
    use()
    echo("0", "/sys/kernel/tracing/events/kprobes/on_top/enable")
    echo("-:on_top", events)
    for _ in range(100):
        time.sleep(0.1)
        if error_of(lambda: kd.Device().close()) == "none":
            break
    use()
    found["same"] = plan.text() == before
    found["after"] = error_of(lambda: kd.Device().close())
    return found


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
