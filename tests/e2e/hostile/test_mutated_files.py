"""Object files and debug information that no compiler writes: djtap may refuse them, and does not crash, hang or take much memory."""
import os
import resource
import subprocess
import sys
import zlib

import pytest

from support import paths, run

RUNS, SECONDS = os.environ.get("DJTAP_MUTANTS", "400"), os.environ.get("DJTAP_FUZZ_SECONDS", "40")
DOCUMENTED = {0, 1, 2, 3, 4, 5, 125, 126, 127}
SOURCE = "struct node { struct node *next; long value; };\n" \
         "__attribute__((noinline)) long work(struct node *list, long n) { return list->value + n; }\n" \
         "int main(void) { struct node one = {0, 1}; return work(&one, -1); }\n"
# A unit whose entries lie in each other, as deep as there are bytes.
DEEP = """
.text
.globl work
.type work, @function
work: ret
.size work, .-work
.section .debug_abbrev
.uleb128 1; .uleb128 0x11; .byte 1; .uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 7; .byte 0, 0
.uleb128 2; .uleb128 0x0b; .byte 1; .byte 0, 0
.uleb128 3; .uleb128 0x2e; .byte 1; .uleb128 0x11; .uleb128 1; .uleb128 0x12; .uleb128 7; .byte 0, 0
.byte 0
.section .debug_info
.long end - begin
begin: .value 4; .long 0; .byte 8
.uleb128 1; .quad work; .quad 1
.uleb128 3; .quad work; .quad 1
.rept 500000
.byte 2
.endr
end:
"""


def listed(library, *more):
    """What djtap does with it; its memory must stay within a limit of addresses."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    for what in ("-L", "-l"):
        result = run.run([what, f'process("{library}").function("work")', *more], timeout=60)
        assert result.returncode in DOCUMENTED, result
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss - before, result


@pytest.fixture
def library(tmp_path):
    (tmp_path / "t.c").write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O1", "-fPIC", "-shared", "-o", "lib.so", "t.c"], cwd=tmp_path, check=True)
    return tmp_path / "lib.so"


@pytest.mark.timeout(int(SECONDS) + 300)
def test_random_changes():
    """The long form: tests/fuzz/mutate_elf.py --runs 20000."""
    script = paths.ROOT / "tests" / "fuzz" / "mutate_elf.py"
    words = [sys.executable, script, "--djtap", paths.DJTAP, "--runs", RUNS, "--seconds", SECONDS]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_entries_that_lie_deep_in_each_other(tmp_path):
    (tmp_path / "deep.s").write_text(DEEP)
    subprocess.run(["gcc", "-shared", "-o", "lib.so", "deep.s"], cwd=tmp_path, check=True)
    listed(tmp_path / "lib.so")
    result = run.run(["-e", f'probe process("{tmp_path}/lib.so").function("work").inline {{ n++ }}', "-n"], timeout=60)
    assert result.returncode in DOCUMENTED, result


def attributes(program, name):
    """Offsets in .debug_info of attributes of this name, and what they refer to."""
    said = subprocess.run(["readelf", "--debug-dump=info", program], capture_output=True, text=True, check=True).stdout
    for line in said.splitlines():
        words = line.split()
        if len(words) >= 4 and words[1] == name:
            yield int(words[0].strip("<>"), 16), int(words[-1].strip("<>"), 16)


def test_types_that_are_their_own(library):
    """Each pointer and member is of the type that the first pointer is."""
    data = bytearray(library.read_bytes())
    said = subprocess.run(["readelf", "-SW", library], capture_output=True, text=True, check=True).stdout
    row = next(line for line in said.splitlines() if " .debug_info " in line).split("]")[1].split()
    begin = int(row[3], 16)
    pointers = [target for _, target in attributes(library, "DW_AT_type")]
    assert pointers
    for pointer in set(pointers):
        changed = bytearray(data)
        for at, _ in attributes(library, "DW_AT_type"):
            changed[begin + at:begin + at + 4] = pointer.to_bytes(4, "little")
        library.write_bytes(changed)
        listed(library)


@pytest.mark.parametrize("name", [".zdebug_info", ".gnu_debugdata"])
def test_a_section_that_unpacks_to_gigabytes(library, tmp_path, name):
    many = bytes(1 << 20)
    if name == ".gnu_debugdata":
        with subprocess.Popen(["xz", "-c"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as packer:
            content, _ = packer.communicate(many * 2048)
    else:
        packer = zlib.compressobj()
        content = b"ZLIB" + (1 << 31).to_bytes(8, "big") + b"".join(packer.compress(many) for _ in range(2048)) + packer.flush()
    (tmp_path / "content").write_bytes(content)
    subprocess.run(["objcopy", "--strip-all", library], check=True)
    subprocess.run(["objcopy", "--add-section", f"{name}=content", library], cwd=tmp_path, check=True)
    grown, _ = listed(library)
    assert grown < 300 << 10, f"{grown} KB"
