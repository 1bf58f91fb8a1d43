# SPDX-License-Identifier: Apache-2.0
"""Stripped programs in Go: the table of Go's runtime (pclntab) names all functions; truth: nm of the program that is not stripped."""
import re
import shutil
import struct
import subprocess

import pytest

from support import golang

SOURCE = """
package main

import "fmt"

type total struct{ n int }

//go:noinline
func work(n int) int { return n*2 + 1 }

//go:noinline
func (t *total) add(n int) { t.n += work(n) }

func main() {
	t := &total{}
	for i := 0; i < 100; i++ {
		t.add(i)
	}
	fmt.Printf("sum: %d\\n", t.n)
}
"""
GO_12, GO_116, GO_118, GO_120 = 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1


def go(folder, output, *words):
    (folder / "m.go").write_text(SOURCE)
    return golang.build(folder / "m.go", folder / output, *words, cache=folder.parent / "gocache", HOME=str(folder))


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The same program with and without symbols."""
    folder = tmp_path_factory.mktemp("go")
    return go(folder, "full", "-ldflags=-w"), go(folder, "stripped", "-ldflags=-s -w")


def functions(path):
    """Address by name, of Go's own functions."""
    table = subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout
    return {name: int(address, 16) for address, name in re.findall(r"^([0-9a-f]+) [tT] (main\..*)$", table, re.M)}


def listed(djtap, path, pattern="main.*"):
    return re.findall(r'function\("(.*?)"\)', djtap("-l", f'process("{path}").function("{pattern}")').stdout)


def test_calls_and_returns(djtap, programs):
    script = ('probe func("main.work") { n++ } probe func("main.work").return { r += register("rax") } probe func("main.(*total).add") { m++ } '
              'probe func("main.main") { main++ }')
    result = djtap("-e", script, "-c", programs[1])
    counted = result.globals
    begun = counted.pop("m")
    assert 100 <= begun <= 110, result  # on a busy machine Go takes the processor away at an entry, where the function begins anew
    assert counted == {"n": 100, "main": 1, "r": result.facts["sum"]}, result


def test_all_functions_are_named(djtap_once, programs):
    full, stripped = programs
    assert listed(djtap_once, stripped) == sorted(functions(full), key=functions(full).get)
    names = {name.removesuffix(".abi0") for name in listed(djtap_once, full, "runtime.*")} - {"runtime.text"}
    names = {name for name in names if name.startswith("runtime.")}  # of runtime.clone.abi0 the list shows less
    assert len(names) > 500 and names <= set(listed(djtap_once, stripped, "runtime*"))


def test_a_position_independent_program(djtap_once, tmp_path):
    full, stripped = go(tmp_path, "full", "-buildmode=pie", "-ldflags=-w"), go(tmp_path, "stripped", "-buildmode=pie", "-ldflags=-s -w")
    assert listed(djtap_once, stripped) == sorted(functions(full), key=functions(full).get)


def test_stacks_are_named(djtap_once, programs):
    result = djtap_once("-e", 'probe func("main.work") { print_ubacktrace() exit() }', "-c", programs[1])
    assert re.search(r": main\.work\+.*\n.*: main\.\(\*total\)\.add\+.*\n.*: main\.main\+.*\n.*: runtime\.main\+", result.stdout), result


def parts(table):
    """The functions of a table of Go 1.18 or later: (offset of the code, name), and where the code begins and ends."""
    form, count = struct.unpack_from("<I4xQ", table)
    assert form in (GO_118, GO_120)
    text, names, *_, rows = struct.unpack_from("<6Q", table, 24)
    found = []
    for row in range(count):
        begin, at = struct.unpack_from("<II", table, rows + 8 * row)
        name = names + struct.unpack_from("<i", table, rows + at + 4)[0]
        found.append((begin, table[name:table.index(b"\0", name)]))
    return text, found, struct.unpack_from("<I", table, rows + 8 * count)[0]


def rewritten(table, form):
    """A table in another form, as Go's linkers of that time have laid it out."""
    text, found, end = parts(table)
    header = struct.pack("<IBBBB", form, 0, 0, 1, 8)
    names, at = b"", []
    for _, name in found:
        at.append(len(names))
        names += name + b"\0"
    names += bytes(-len(names) % 8)
    if form == GO_12:
        rows, described = 16, 16 + 16 * len(found) + 16
        name_base = described + 16 * len(found)
        body = b"".join(struct.pack("<QQ", text + begin, described + 16 * i) for i, (begin, _) in enumerate(found)) + struct.pack("<QQ", text + end, 0)
        body += b"".join(struct.pack("<QiI", text + begin, name_base + at[i], 0) for i, (begin, _) in enumerate(found))
        return header + struct.pack("<Q", len(found)) + body + names
    if form == GO_116:
        name_base, described = 64, 16 * len(found) + 16
        rows = name_base + len(names)
        body = b"".join(struct.pack("<QQ", text + begin, described + 16 * i) for i, (begin, _) in enumerate(found)) + struct.pack("<QQ", text + end, 0)
        body += b"".join(struct.pack("<QiI", text + begin, at[i], 0) for i, (begin, _) in enumerate(found))
        return header + struct.pack("<7Q", len(found), 0, name_base, 0, 0, 0, rows) + names + body
    name_base, described = 72, 8 * len(found) + 8
    rows = name_base + len(names)
    body = b"".join(struct.pack("<II", begin, described + 8 * i) for i, (begin, _) in enumerate(found)) + struct.pack("<II", end, 0)
    body += b"".join(struct.pack("<Ii", begin, at[i]) for i, (begin, _) in enumerate(found))
    return header + struct.pack("<8Q", len(found), 0, text, name_base, 0, 0, 0, rows) + names + body


@pytest.mark.parametrize("form", [GO_12, GO_116, GO_118, GO_120])
def test_forms_of_other_versions(djtap_once, programs, tmp_path, form):
    """The table of a program, written anew in each form: such files can only be listed."""
    full, program = programs
    subprocess.run(["objcopy", "-O", "binary", "--only-section=.gopclntab", program, tmp_path / "table"], check=True)
    (tmp_path / "other").write_bytes(rewritten((tmp_path / "table").read_bytes(), form))
    other = tmp_path / "rewritten"
    subprocess.run(["objcopy", f"--update-section=.gopclntab={tmp_path / 'other'}", program, other], capture_output=True, check=False)
    assert other.exists() and listed(djtap_once, other) == sorted(functions(full), key=functions(full).get)


def test_without_section_headers(djtap_once, programs, tmp_path):
    tool = shutil.which("llvm-objcopy-19")
    if tool is None:
        pytest.skip("llvm-objcopy is not here")
    subprocess.run([tool, "--strip-sections", programs[1], tmp_path / "p"], check=True)
    result = djtap_once("-e", 'probe func("main.work") { n++ }', "-c", tmp_path / "p")
    assert result.globals == {"n": 100}, result
