# SPDX-License-Identifier: Apache-2.0
"""Runs in a guest: compares each loaded section of an ELF file with the kernel's memory at its address, by /proc/kcore.
Prints "NAME BYTES bytes, N differ" for each, and the addresses of what differs outside of the places that the kernel patches."""
import struct
import sys


def headers(elf, offset, count, size):
    """The records of a table of headers."""
    elf.seek(offset)
    table = elf.read(count * size)
    return [table[at:at + size] for at in range(0, len(table), size)]


def segments_of(core):
    """(address, bytes, offset) of each segment."""
    core.seek(0)
    head = core.read(64)
    loads = [struct.unpack("<IIQQQQQQ", raw) for raw in headers(core, struct.unpack_from("<Q", head, 32)[0], struct.unpack_from("<H", head, 56)[0], 56)]
    return [(load[3], load[5], load[2]) for load in loads if load[0] == 1]


def read(core, segments, address, count):
    """The kernel's bytes."""
    for begin, size, offset in segments:
        if begin <= address < begin + size:
            core.seek(offset + address - begin)
            found = b""
            while len(found) < count:
                found += core.read(count - len(found))
            return found
    raise ValueError(hex(address))


def sections_of(elf):
    """(name, address, bytes) of each section with an address."""
    head = elf.read(64)
    offset, (count, names) = struct.unpack_from("<Q", head, 40)[0], struct.unpack_from("<HH", head, 60)
    rows = [struct.unpack("<IIQQQQIIQQ", raw) for raw in headers(elf, offset, count, 64)]
    elf.seek(rows[names][4])
    texts = elf.read(rows[names][5])
    for name, _, _, address, at, size, *_ in rows:
        if address:
            elf.seek(at)
            yield texts[name:texts.index(b"\0", name)].decode(), address, elf.read(size)


def patched(sections):
    """Addresses that the kernel's tables of static keys and calls name: it may change them while nobody asked."""
    for name, size in (("__jump_table", 16), (".static_call_sites", 8)):
        for _, address, data in (row for row in sections if row[0] == name):
            for at in range(0, len(data), size):
                code = address + at + struct.unpack_from("<i", data, at)[0]
                yield from range(code, code + 6)


def main():
    with open(sys.argv[1], "rb") as elf:
        sections = list(sections_of(elf))
    allowed = set(patched(sections))
    with open("/proc/kcore", "rb", buffering=0) as core:
        segments = segments_of(core)
        for name, address, data in sections:
            now = read(core, segments, address, len(data))
            differ = []
            if now != data:
                differ = [address + i for i, (one, other) in enumerate(zip(now, data)) if one != other and address + i not in allowed]
            print(f"{name} {len(data)} bytes, {len(differ)} differ")
            for at in differ[:20]:
                print(f"  {at:#x}")


main()
