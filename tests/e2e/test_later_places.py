# SPDX-License-Identifier: Apache-2.0
"""Places in objects that come later: where another object was before, more than a table takes, in a session without int3."""
import re
import signal
import subprocess

import pytest

from support import process
from support.paths import victim

WORK = """
volatile long kept;
__attribute__((noinline)) long twin(long n) { kept = n; return n + 1; }
long lib_work(long n) { return twin(n); }
"""


def build(source, path, *options):
    path.with_suffix(".c").write_text(source)
    subprocess.run(["gcc", "-O1", "-fPIC", "-shared", "-o", path, path.with_suffix(".c"), *options], check=True)
    return path


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    """Libraries that are alike but for their names: mapped where the other one was, all their places are where its were."""
    folder = tmp_path_factory.mktemp("twins")
    return [build(WORK, folder / f"lib{name}.so", f"-Wl,-soname,lib{name}.so") for name in ("first", "second", "third")]


def place_of(target, library):
    return min(begin for begin, _, _, path in process.mappings(target.pid) if path == str(library))


@pytest.mark.parametrize("options", [[], ["-D", "TRAPCACHE=1"], ["--guards=all"]], ids=["plain", "cache", "guarded"])
def test_one_library_where_another_was(attach, program, twins, options):
    """One was there before the session, one came during it. A trap where both have one goes to the detour of who is there."""
    target = program(victim("plugin"), *twins)
    target.wait_for("pid: ")
    target.order("open 1", "opened: 1")
    places = [place_of(target, twins[0])]
    script = " ".join(f'probe func("lib{name}.so!twin")? {{ {name}++ }} probe func("lib{name}.so!twin").return? {{ {name}_r++ }}'
                      for name in ("first", "second", "third"))
    tracer = attach(target.pid, script + ' probe process.library("libnever*").function("*") { n++ }', *options)
    expected = {}
    for number, name in enumerate(("first", "second", "third", "second", "first")):
        if number > 0:
            target.order(f"open {['first', 'second', 'third'].index(name) + 1}", "opened: 1")
            places.append(place_of(target, twins[["first", "second", "third"].index(name)]))
        calls = 100 + number
        target.order(f"call {calls}", f"called: {calls}$")
        for counter in (name, f"{name}_r"):
            expected[counter] = expected.get(counter, 0) + calls
        target.order("close", "closed: 0")
    tracer.signal(signal.SIGINT)
    result = tracer.finish()
    assert len(set(places)) == 1, f"not at one address: {places}"
    assert {name: count for name, count in result.globals.items() if count} == expected, result
    assert result.returncode == 0 and "warning[DJ4" not in result.stderr, result
    target.tell("quit")
    assert target.finish().facts["total"] == 510


# 1,500 functions of which every tenth loops back into its first bytes: of a plain jump's five, no place there.


def many_source(count):
    rows = [f"f_{i}: {'xor %eax,%eax; 1: inc %eax; cmp %edi,%eax; jb 1b; ret' if i % 10 == 0 else 'lea 1(%rdi,%rdi),%rax; ret'}" for i in range(count)]
    assembly = "\n".join(f'  ".globl f_{i}\\n.type f_{i},@function\\n.p2align 4\\n{row}\\n.size f_{i},.-f_{i}\\n"' for i, row in enumerate(rows))
    names = ", ".join(f"f_{i}" for i in range(count))
    return f"""__asm__(".text\\n"
{assembly}
);
extern long {", ".join(f"f_{i}(long)" for i in range(count))};
static long (*const all[])(long) = {{{names}}};
long lib_work(long n) {{
  for (int i = 0; i < {count}; i++) all[i](2);
  return n + 1;
}}
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    return build(many_source(1500), tmp_path_factory.mktemp("many") / "libmany.so")


def test_more_than_a_thousand_places_where_no_trap_may_be(djtap_once, many):
    """The session has not taken SIGTRAP: plain jumps are made, what needs more is told; nothing is planned for a SIGTRAP that is not there."""
    script = 'probe func("main") { m++ } probe func("lib*!f_*")? { hits[probefunc()]++ }'
    result = djtap_once("--probes", "-D", "MAXMAPENTRIES=4000", "-e", script, "--", victim("plugin"), many, stdin="open\ncall 7\nquit\n")
    sites = [site for site in result.sites if site.symbol.startswith("f_")]
    assert len(sites) == 1500 and result.facts["called"] == 7, result
    hits = dict(result.array("hits"))
    for site in sites:
        name = site.symbol.partition("+")[0]
        if int(name[2:]) % 10 == 0:
            assert site.state == "SKIPPED" and "has not set SIGTRAP up" in site.reason and f'"{name}"' not in hits, site
        else:
            assert site.state == "OPTIMIZED" and hits[f'"{name}"'] == "7", site


FUNCTIONS = 22_500  # with three exits each: the look-up table has room for 65,536, so of one function for a part of them only


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crowd")
    (folder / "crowd.s").write_text(f""".text
.altmacro
.macro one i
.globl g_\\i
.type g_\\i,@function
.p2align 4
g_\\i: test %edi,%edi
 jz 1f
 jns 2f
 xor %eax,%eax
 ret
1: inc %eax
 ret
2: dec %eax
 ret
.size g_\\i,.-g_\\i
.endm
.set i,0
.rept {FUNCTIONS}
one %i
.set i,i+1
.endr
.section .data.rel.ro,"aw"
.globl crowd
.p2align 3
crowd:
.macro word i
.quad g_\\i
.endm
.set i,0
.rept {FUNCTIONS}
word %i
.set i,i+1
.endr
""")
    source = f"""typedef long (*function)(long);
__attribute__((visibility("hidden"))) extern const function crowd[];
long lib_work(long n) {{
  for (long i = 0; i < {FUNCTIONS}; i++) crowd[i](n & 1);
  return n + 1;
}}"""
    return build(source, folder / "libcrowd.so", folder / "crowd.s")


def test_more_exits_than_the_table_has_room_for(djtap_once, crowd):
    """A function of which one exit has no room is not probed at any: its returns are all counted, or none is, and a warning says so."""
    script = 'probe process.library("libcrowd*").function("g_*").return { n++; which[probefunc()]++ }'
    result = djtap_once("--no-optimize", "--probes", "-D", "MAXMAPENTRIES=100000", "-D", "STRINGBYTES=16000000", "-e", script, "--",
                        victim("plugin"), crowd, stdin="open\ncall 2\nquit\n")
    states = {}
    for site in result.sites:
        states.setdefault(site.symbol.partition("+")[0], set()).add(site.state)
    armed = {name for name, found in states.items() if found == {"INT3"}}
    skipped = {name for name, found in states.items() if found == {"SKIPPED"}}
    assert len(armed) + len(skipped) == FUNCTIONS and len(skipped) > 100 and len(armed) > 20_000, (len(armed), len(skipped), result.stderr[-500:])
    assert result.globals["n"] == 2 * len(armed) and result.facts["called"] == 2, (result.globals, len(armed))
    assert {name.strip('"'): count for name, count in result.array("which")} == dict.fromkeys(armed, "2")
    assert "no room left in the session's look-up table" in result.stderr and re.search(r"warning\[DJ4901\]", result.stderr), result.stderr[-500:]


@pytest.mark.parametrize("options", [[], ["--no-optimize"], ["-e", 'probe func("*!twin").return? { r++ }']], ids=["jump", "int3", "return"])
def test_code_that_mono_reads(djtap_once, tmp_path, options):
    """Images that mono compiles ahead are left alone: it knows calls and stubs in them by their bytes. Their name alone does not make them one."""
    script = 'probe func("lib*!twin")? { n++ } probe func("main") { m++ }'
    orders = "open 1\ncall 10\nclose\nopen 2\ncall 10\nclose\nquit\n"
    images = [build(WORK + extra, tmp_path / name) for extra, name in (("long mono_aot_file_info = 1;", "libimage.dll.so"), ("", "libplain.dll.so"))]
    result = djtap_once("--probes", *options, "-e" if options[:1] != ["-e"] else "-E", script, "--", victim("plugin"), *images, stdin=orders)
    assert result.returncode == 0 and result.globals["n"] == 10 and result.globals.get("r", 10) == 10, result
    of_image = [site for site in result.sites if site.module.endswith("libimage.dll.so")]
    assert of_image and {(site.state, site.reason) for site in of_image} == {("SKIPPED", "mono reads and changes this code itself")}, result
