# SPDX-License-Identifier: Apache-2.0
"""Object files and debug information that no compiler writes: djtap may refuse them, and does not crash, hang or take much memory."""
import os
import re
import resource
import subprocess
import sys
import zlib

import pytest

from support import paths, run

RUNS, SECONDS = os.environ.get("DJTAP_MUTANTS", "250"), os.environ.get("DJTAP_FUZZ_SECONDS", "40")
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


def section_begin(file, name):
    """Its offset in the file."""
    said = subprocess.run(["readelf", "-SW", file], capture_output=True, text=True, check=True).stdout
    row = next(line for line in said.splitlines() if f" {name} " in line).split("]")[1].split()
    return int(row[3], 16)


def test_types_that_are_their_own(library):
    """Each pointer and member is of the type that the first pointer is."""
    data = bytearray(library.read_bytes())
    begin = section_begin(library, ".debug_info")
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


CIRCLES = "typedef long row[3]; typedef const row again; struct box { long first; again rows[8]; };\n" \
          "__attribute__((noinline)) long work(struct box *box) { return box->first; }\n" \
          "int main(void) { static struct box one = {1}; return work(&one) != 1; }\n"


@pytest.mark.parametrize("kind", ["array", "const"])
def test_types_that_lead_back_to_themselves(tmp_path, kind):
    """An array whose elements are that array, at once or by other names: `[[[...` ends, and soon."""
    (tmp_path / "circle.c").write_text(CIRCLES)
    subprocess.run(["gcc", "-g", "-O1", "-o", "circle", "circle.c"], cwd=tmp_path, check=True)
    data = bytearray((tmp_path / "circle").read_bytes())
    begin = section_begin(tmp_path / "circle", ".debug_info")
    info = subprocess.run(["readelf", "--debug-dump=info", tmp_path / "circle"], capture_output=True, text=True, check=True).stdout
    array, tag, changed = int(re.findall(r"^ <1><(\w+)>: .*\(DW_TAG_array_type\)", info, re.M)[-1], 16), "", 0
    for line in info.splitlines():
        tag = (re.findall(r"\(DW_TAG_(\w+?)(?:_type)?\)", line) or [tag])[0]
        at = re.match(r" +<(\w+)> +DW_AT_type ", line)
        if at and tag == kind:  # its type is the last array, which it is or belongs to
            data[begin + int(at[1], 16):begin + int(at[1], 16) + 4] = array.to_bytes(4, "little")
            changed += 1
    (tmp_path / "circle").write_bytes(data)
    words = ["-e", 'probe func("work") { println($box$, " ", $box$$) }', "-c", tmp_path / "circle"]
    done = subprocess.run([paths.DJTAP, *words], capture_output=True, timeout=run.PATIENCE, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10)))
    assert changed > 0 and done.returncode in DOCUMENTED, done
