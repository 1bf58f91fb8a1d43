# SPDX-License-Identifier: Apache-2.0
"""-l and -L with the probe points of tapsets."""
import gzip
import pathlib
import re

import pytest

from support import paths

TAPSETS = paths.ROOT / "tapsets"


def aliases():
    """Name: the text behind it, up to the next alias; as the files are written."""
    found = {}
    for path in TAPSETS.glob("*.djt"):
        parts = re.split(r"^probe ([\w.]+) \+?= ?", path.read_text(), flags=re.M)
        found |= dict(zip(parts[1::2], parts[2::2]))
    return found


ALIASES = aliases()


def listed(djtap, *words):
    result = djtap(*words)
    assert result.returncode == 0 and result.stderr == "", result
    return result.stdout.splitlines()


@pytest.mark.parametrize("pattern, expression", {
    "syscall.*": r"syscall\.\w+",
    "syscall.*.return": r"syscall\.\w+\.return",
    "syscall.op*": r"syscall\.op\w*",
    "libc.**": r"libc\..*",
    "*.open": r"\w+\.open",
    "**.return": r".*\.return",
    "sqlite.{prepare,step}": r"sqlite\.(prepare|step)",
    "sqlite.prepare": r"sqlite\.prepare",
}.items())
def test_names(djtap_once, pattern, expression):
    """Without a program: all that the files define."""
    names = sorted(name for name in ALIASES if re.fullmatch(expression, name))
    assert names and sorted(listed(djtap_once, "-l", pattern)) == names


def test_own_points(djtap_once):
    """Wildcards in the names of djtap's own points: the kinds that the manual lists."""
    timers = {f"timer.{unit}(n)" for unit in "s sec ms msec us usec ns nsec hz jiffies".split()} | {"timer.profile"}
    assert set(listed(djtap_once, "-l", "timer.*")) == timers
    assert set(listed(djtap_once, "-l", "timer.m*.randomize(1)")) == {"timer.ms(n).randomize(n)", "timer.msec(n).randomize(n)"}
    shown = listed(djtap_once, "-l", 'process("/bin/true").*', "-c", "/bin/true")
    assert {"process(s).function(s)", "process(s).mark(s)", "process(s).syscall"} <= set(shown) and "process.syscall" not in shown
    assert djtap_once("-l", "timer.x*").returncode == 3


def test_only_what_the_program_has(djtap_once):
    shown = listed(djtap_once, "-l", "**", "-c", "/bin/true")
    assert len(shown) > 100 and not [name for name in shown if name.startswith(("sqlite.", "openssl."))]
    names = [name for name in ALIASES if name.startswith("libc.")]
    for name in names:
        result = djtap_once("-n", "-e", f"probe {name} {{ n++ }}", "-c", "/bin/true")
        assert (result.returncode == 0) == (name in shown), result
    result = djtap_once("-l", "sqlite.*", "-c", "/bin/true")
    assert result.returncode and result.stdout == "" and "nothing of this program" in result.stderr, result


def test_variables_and_types(djtap_once):
    """The names are those that the file sets; a text prints as %s, a number as %d."""
    for line in listed(djtap_once, "-L", "{libc,syscall}.**", "-c", "/bin/true"):
        name, *variables = line.split()
        body = ALIASES[name].split("\n}\n")[0]
        if "func(" not in body.split("{")[0]:
            continue  # it stands for other names
        assert {each.split(":")[0] for each in variables} == set(re.findall(r"^  ([a-z]\w*) =[^=]", body, re.M)) | \
            set(re.findall(r"[{;] ([a-z]\w*) =[^=]", body)), line
    shown = dict(line.split(" ", 1) for line in listed(djtap_once, "-L", "syscall.{open,write.return}", "-c", "/bin/true"))
    assert shown["syscall.open"].split() == ["name:string", "filename:string", "filename_unquoted:string", "flags:long", "flags_str:string",
                                           "mode:long", "argstr:string"]
    for name, variables in shown.items():
        forms = [("%s" if each.endswith(":string") else "%d", each.split(":")[0]) for each in variables.split()]
        text = f'probe {name} {{ printf("{" ".join(form for form, _ in forms)}", {", ".join(each for _, each in forms)}) }}'
        assert djtap_once("--stop-after=check", "-e", text).returncode == 0, text
        wrong = text.replace("%s", "%n").replace("%d", "%s").replace("%n", "%d")
        assert djtap_once("--stop-after=check", "-e", wrong).returncode != 0, wrong


SYSTEMTAPS = pathlib.Path("/usr/share/man/man3/tapset::syscalls.3stap.gz")


@pytest.mark.skipif(not SYSTEMTAPS.exists(), reason="Debian's systemtap-doc is not here")
def test_system_calls_have_systemtaps_variables(djtap_once):
    """Its manual's list, of each call that is here; but what describes the kernel's function, texts of siginfo_t, and a slip (of mkdirat)."""
    page = gzip.decompress(SYSTEMTAPS.read_bytes()).decode()
    wanted = {name: set(re.findall(r"(?<![\w$*])[a-z_]\w*(?![\w*])", text)) - {"int", "pt_regs", "uinfo_str", "pahtname_unquoted"}
              for name, text in re.findall(r"^\.B syscall\.(\w+)\n(.*?)\n\.P", page, re.M | re.S)}
    lines = listed(djtap_once, "-L", "syscall.*", "-c", "/bin/true")
    here = {line.split()[0].removeprefix("syscall."): {each.split(":")[0] for each in line.split()[1:]} for line in lines}
    both = set(here) & set(wanted)
    assert len(both) > 100
    assert not {name: wanted[name] - here[name] for name in both if wanted[name] - here[name]}
    assert all({"name", "argstr"} <= variables for variables in here.values())


def test_an_own_tapset(djtap_once, tmp_path):
    (tmp_path / "shop.djt").write_text('probe shop.buy = func("vfs_read") { price = 1.5; item = "x"; _own = 2 }\nprobe shop.sell = shop.buy { count = 3 }\n')
    assert listed(djtap_once, "-I", tmp_path, "-L", "shop.*", "-c", paths.TINYFS) == [
        "shop.buy price:double item:string", "shop.sell price:double item:string count:long"]
    assert listed(djtap_once, "-I", tmp_path, "-l", "shop.*.return", "-c", paths.TINYFS) == ["shop.buy.return", "shop.sell.return"]
    assert djtap_once("-I", tmp_path, "-l", "shop.*.nosuch", "-c", paths.TINYFS).returncode != 0
