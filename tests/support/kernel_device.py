# SPDX-License-Identifier: Apache-2.0
"""Device: /dev/djtap of djtap's kernel module, as kernel/device_abi.h describes it; and a kernel's text, by /proc/kcore. Runs in a guest."""
import ctypes
import fcntl
import marshal
import os
import pathlib
import re
import struct

PATH = "/dev/djtap"
WINDOW = 32
INT3, JUMP = 0, 1
(ARMED, BAD_FORM, NOT_TEXT, FORBIDDEN, TWO_FUNCTIONS, FIXED_PLACE, BAD_DETOUR, BAD_JUMP, OVERLAPS, OTHER_BYTES, LEFT_INT3, KEPT, REMOVED, GONE) = range(14)


class Hello(ctypes.Structure):
    _fields_ = [("abi", ctypes.c_uint32), ("counters", ctypes.c_uint32), ("counter_offset", ctypes.c_uint64),
                ("text_begin", ctypes.c_uint64), ("text_end", ctypes.c_uint64)]


class Code(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint64), ("address", ctypes.c_uint64)]


class Write(ctypes.Structure):
    _fields_ = [("offset", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("source", ctypes.c_uint64)]


class Site(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("detour", ctypes.c_uint64), ("guards", ctypes.c_uint32), ("first_copy", ctypes.c_uint32),
                ("length", ctypes.c_uint8), ("form", ctypes.c_uint8), ("prefixes", ctypes.c_uint8), ("reserved", ctypes.c_uint8 * 5),
                ("original", ctypes.c_uint8 * WINDOW)]


class Arm(ctypes.Structure):
    _fields_ = [("sites", ctypes.c_uint64), ("copies", ctypes.c_uint64), ("answers", ctypes.c_uint64), ("site_count", ctypes.c_uint32),
                ("copy_count", ctypes.c_uint32), ("armed", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class Disarm(ctypes.Structure):
    _fields_ = [("answers", ctypes.c_uint64), ("answer_count", ctypes.c_uint32), ("kept", ctypes.c_uint32)]


class Counts(ctypes.Structure):
    _fields_ = [("to", ctypes.c_uint64), ("first", ctypes.c_uint32), ("count", ctypes.c_uint32)]


def command(direction, number, structure):
    """The number of an ioctl, as the macros _IOR (2), _IOW (1), _IOWR (3) and _IO (0) make it."""
    return direction << 30 | (ctypes.sizeof(structure) if structure else 0) << 16 | ord("j") << 8 | number


HELLO, ALLOC_CODE, WRITE, SEAL = command(2, 0, Hello), command(3, 1, Code), command(1, 2, Write), command(0, 3, None)
ARM, DISARM, COUNTS = command(3, 4, Arm), command(3, 5, Disarm), command(1, 6, Counts)


def site(address, detour, original, length, form=JUMP, guards=0, first_copy=0, prefixes=0):
    """A site; original: the old bytes."""
    made = Site(address, detour, guards, first_copy, length, form, prefixes)
    made.original[:len(original)] = original
    return made


class Device:
    """An open session. Errors of its calls are OSError."""

    def __init__(self):
        self.fd = os.open(PATH, os.O_RDWR | os.O_CLOEXEC)

    def call(self, number, argument=None):
        return fcntl.ioctl(self.fd, number, argument if argument is not None else 0)

    def hello(self):
        facts = Hello()
        self.call(HELLO, facts)
        return facts

    def alloc_code(self, size):
        code = Code(size)
        self.call(ALLOC_CODE, code)
        return code.address

    def write(self, offset, code):
        buffer = ctypes.create_string_buffer(code, len(code))
        self.call(WRITE, Write(offset, len(code), ctypes.addressof(buffer)))

    def seal(self):
        self.call(SEAL)

    def arm(self, sites, copies=()):
        """Gives an answer for each site."""
        array, ways, answers = (Site * len(sites))(*sites), (ctypes.c_uint64 * len(copies))(*copies), (ctypes.c_uint8 * len(sites))()
        arm = Arm(ctypes.addressof(array), ctypes.addressof(ways), ctypes.addressof(answers), len(sites), len(copies))
        self.call(ARM, arm)
        assert arm.armed == sum(answer in (ARMED, LEFT_INT3) for answer in answers)
        return list(answers)

    def disarm(self, count=0):
        """Gives how many places were kept, and the answers of the first `count`."""
        answers = (ctypes.c_uint8 * max(count, 1))()
        disarm = Disarm(ctypes.addressof(answers), count)
        self.call(DISARM, disarm)
        return disarm.kept, list(answers)[:count]

    def counts(self, first=0, count=1):
        sums = (ctypes.c_uint64 * max(count, 1))()
        self.call(COUNTS, Counts(ctypes.addressof(sums), first, count))
        return list(sums)[:count]

    def close(self):
        os.close(self.fd)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.close()


class Kcore:
    """The running kernel's memory, as /proc/kcore gives it."""

    def __init__(self):
        self.file = open("/proc/kcore", "rb", buffering=0)
        head = self.file.read(64)
        offset, = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        self.parts = []
        for index in range(count):
            kind, _, at, address, _, length, _, _ = struct.unpack("<IIQQQQQQ", os.pread(self.file.fileno(), size, offset + index * size))
            if kind == 1:
                self.parts.append((address, length, at))

    def read(self, address, size):
        for begin, length, at in self.parts:
            if begin <= address and address + size <= begin + length:
                read = bytearray()  # a page at a time, in some kernels
                while len(read) < size:
                    read += os.pread(self.file.fileno(), size - len(read), at + address - begin + len(read))
                return bytes(read)
        raise ValueError(f"{address:#x} is not in /proc/kcore")


def kept(name, make):
    """What make() gives; a guest's first call keeps it for the others, since Python is slow there."""
    path = pathlib.Path("/run") / name
    if not path.exists():
        path.write_bytes(marshal.dumps(make()))
    return marshal.loads(path.read_bytes())


def read_symbols():
    found = {}
    with open("/proc/kallsyms", encoding="utf8") as lines:
        for line in lines:
            parts = line.split()
            if len(parts) == 3:
                found.setdefault(parts[2], int(parts[0], 16))
    return found


def symbols():
    """All symbols of the kernel itself, by name; of several of a name the first."""
    return kept("symbols", read_symbols)


FENTRY_NOP = bytes.fromhex("0f1f440000")
ENDBR = (bytes.fromhex("f30f1efa"), bytes.fromhex("660f1f00"))  # as built, and sealed
# push of a register, or a move between two: these mean the same anywhere.
MOVABLE = re.compile(rb"(?:\x41?[\x50-\x57]|[\x48\x49\x4c\x4d]\x89[\xc0-\xff]|\x89[\xc0-\xff])")


def entry(code):
    """Where a function's own instructions begin, behind its fentry nop; None: it has none."""
    at = 4 if code[:4] in ENDBR else 0
    return at + 5 if code[at:at + 5] == FENTRY_NOP else None


def movable(code):
    """The length of the first instructions that can be moved and have at least five bytes; None: they cannot."""
    at = 0
    while at < 5:
        found = MOVABLE.match(code, at)
        if not found:
            return None
        at = found.end()
    return at


def movable_entries(facts, names, most):
    """(address, bytes to move, name) of functions whose first instructions can be moved, ascending: of those names, or of any, `most` at most."""
    memory, known, found = Kcore(), symbols(), {}
    for name in names or known:
        if facts.text_begin <= known[name] < facts.text_end - 64 and len(found) < most:
            code = memory.read(known[name], 64)
            at = entry(code)
            length = at and movable(code[at:])
            if length:
                found[known[name] + at] = (known[name] + at, code[at:at + length], name)
    return sorted(found.values())


def counting_detour(at, moved, back, word):
    """Code for `at`: counts in the word, does what was moved, and goes back. Flags are dead at a function's entry."""
    code = b"\x65\x48\xff\x04\x25" + struct.pack("<i", word) + moved
    return code + b"\xe9" + struct.pack("<i", back - (at + len(code) + 5))
