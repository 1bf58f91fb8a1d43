"""-l and -L with the probe points of tapsets."""
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
    assert shown["syscall.open"].split() == ["name:string", "filename:string", "flags:long", "mode:long", "argstr:string"]
    for name, variables in shown.items():
        forms = [("%s" if each.endswith(":string") else "%d", each.split(":")[0]) for each in variables.split()]
        text = f'probe {name} {{ printf("{" ".join(form for form, _ in forms)}", {", ".join(each for _, each in forms)}) }}'
        assert djtap_once("--stop-after=check", "-e", text).returncode == 0, text
        wrong = text.replace("%s", "%n").replace("%d", "%s").replace("%n", "%d")
        assert djtap_once("--stop-after=check", "-e", wrong).returncode != 0, wrong


def test_an_own_tapset(djtap_once, tmp_path):
    (tmp_path / "shop.djt").write_text('probe shop.buy = func("vfs_read") { price = 1.5; item = "x"; _own = 2 }\nprobe shop.sell = shop.buy { count = 3 }\n')
    assert listed(djtap_once, "-I", tmp_path, "-L", "shop.*", "-c", paths.TINYFS) == [
        "shop.buy price:double item:string", "shop.sell price:double item:string count:long"]
    assert listed(djtap_once, "-I", tmp_path, "-l", "shop.*.return", "-c", paths.TINYFS) == ["shop.buy.return", "shop.sell.return"]
    assert djtap_once("-I", tmp_path, "-l", "shop.*.nosuch", "-c", paths.TINYFS).returncode != 0
