# SPDX-License-Identifier: Apache-2.0
"""Names of code that a program compiles while it runs: perf's maps and dumps, honest and broken ones."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

from support.paths import NODE, victim
from support.run import PATIENCE, Background, command

JITTED = victim("jitted")
STACKS = 'probe begin { println("ready") } probe func("leaf") { n++ println(sprint_ubacktrace_brief(), usymdata(ustack(1)), "|", usymname(ustack(2))) }'


class Traced:
    """A program that compiles code, and djtap, which is attached to it."""

    def __init__(self, how, *options, script=STACKS, cwd=None, prepare=None):
        self.program = Background([JITTED, *how], cwd=cwd)
        self.places = {}
        self.map = pathlib.Path(f"/tmp/perf-{self.program.pid}.map")
        self.prepared = prepare
        try:
            for name in ("spin", "inner", "outer"):
                found = self.program.wait_for(rf"^(py::{name}:\S+) at (\w+) of (\w+)$")
                self.places[found[1]] = (found[2], found[3])
            if prepare:
                prepare(self)
        except BaseException:  # a skip, too
            self.program.__exit__()
            raise
        self.djtap = Background(command([*options, "-e", script, "-p", self.program.pid]))

    def __enter__(self):
        try:
            self.djtap.wait_for("^ready$")
        except BaseException:
            self.__exit__()
            raise
        return self

    def until(self, pattern):
        """What djtap has printed when the pattern stands there; the program calls its code meanwhile."""
        while not re.search(pattern, self.djtap.stdout, re.M):
            self.program.order("call 1", "called: 1")
            self.djtap.wait_for("py::|main", PATIENCE)
            self.djtap.stderr_so_far()
        return self.djtap.stdout

    def ended(self):
        """djtap's result when the program has ended, which has said how often it has called leaf()."""
        self.program.process.stdin.close()
        result = self.djtap.finish()
        self.leaf_calls = int(self.program.wait_for(r"^leaf calls: (\d+)$")[1])
        return result

    def __exit__(self, *_):
        self.djtap.__exit__()
        self.program.__exit__()
        if self.prepared and (self.map.exists() or self.map.is_symlink()):
            shutil.rmtree(self.map) if self.map.is_dir() and not self.map.is_symlink() else self.map.unlink()

    def lines(self):
        """The map that an honest program would write."""
        return "".join(f"{at} {size} {name}\n" for name, (at, size) in self.places.items())


def stack(outer="py::outer:/x/script.py"):
    return rf"^leaf\+\S+\npy::inner:/x/script.py\+0x10\n{re.escape(outer)}\+0x10\n(obey\+\S+\n)?main\+"


def warnings(text):
    return re.findall(r"DJ5913\]: (.*)", text)


@pytest.mark.parametrize("how", ["map", "dump"])
def test_stacks_through_compiled_code(tmp_path, how):
    """Frame pointers lead through it; what is compiled later, or moved, has its name soon."""
    with Traced([how], cwd=tmp_path) as traced:
        traced.until(stack())
        file = f"/tmp/perf-{traced.program.pid}.map" if how == "map" else f"{tmp_path}/jit-{traced.program.pid}.dump"
        assert f"py::inner:/x/script.py+0x10/0x12 [{file}]|py::outer:/x/script.py\n" in traced.djtap.stdout
        traced.program.order("more", "more: 1")
        traced.until(stack("py::later:/x/script.py"))
        traced.program.order("move", "moved: 1")
        if how == "dump":  # a map knows nothing of moves
            traced.until(stack("py::outer:/x/moved.py"))
        result = traced.ended()
    assert result.returncode == 0 and result.stderr == "", result
    assert result.globals["n"] == traced.leaf_calls, result


def test_compiled_code_without_frame_pointers():
    """As CPython's trampolines: what comes behind the call leads to the caller."""
    with Traced(["bare"]) as traced:
        traced.until(r"^leaf\+\S+\npy::inner:/x/script.py\+0x10\npy::outer:/x/script.py\+0x18\n(obey\+\S+\n)?main\+")
        result = traced.ended()
    assert result.returncode == 0 and result.stderr == "", result


def test_samples_of_compiled_code():
    script = 'probe begin { println("ready") } probe timer.profile { n[usymname(uaddr())]++ } probe timer.s(1) { foreach (s in n) println("in ", s) }'
    with Traced(["map"], script=script) as traced:
        while "in py::spin:/x/script.py\n" not in traced.djtap.stdout:
            traced.program.order("spin 300000000", "spun: 300000000")
            traced.djtap.stderr_so_far()
        result = traced.ended()
    assert result.returncode == 0 and result.stderr == "", result


@pytest.mark.parametrize("started", [f"{JITTED} map", f"sh -c '{JITTED} map; exit $?'"], ids=["first", "further"])
def test_a_program_that_djtap_starts(started):
    """Its map is not there before it runs."""
    words = command(["-e", STACKS.replace("func(", f'process("{JITTED}").function('), "-c", started])
    with Background(words) as djtap:
        djtap.wait_for("^py::outer.* at ")
        while not re.search(stack(), djtap.stdout, re.M):
            djtap.order("call 1", "called: 1")
        djtap.process.stdin.close()
        result = djtap.finish()
    assert result.returncode == 0 and result.stderr == "", result


def put_fifo(traced):
    os.mkfifo(traced.map)


def put_link(traced):
    honest = traced.map.with_suffix(".honest")
    honest.write_text(traced.lines())
    traced.map.symlink_to(honest)
    traced.prepared_more = honest


def put_folder(traced):
    traced.map.mkdir()


def put_strangers(traced):
    if os.geteuid() != 0:
        pytest.skip("only root gives files to others")
    traced.map.write_text(traced.lines())
    os.chown(traced.map, 65534, 65534)


@pytest.mark.parametrize("put, why", [(put_fifo, "is no regular file"), (put_link, "is a link"), (put_folder, "is no regular file"),
                                      (put_strangers, "belongs to user 65534")], ids=["fifo", "link", "folder", "stranger's"])
def test_what_is_no_map_of_the_programs_user(put, why):
    with Traced(["quiet"], prepare=put) as traced:
        traced.program.call(3)
        result = traced.ended()
        if hasattr(traced, "prepared_more"):
            traced.prepared_more.unlink()
    assert result.globals["n"] == 3 and "py::" not in result.stdout and result.returncode == 0, result
    assert len(warnings(result.stderr)) == 1 and why in warnings(result.stderr)[0], result


@pytest.mark.parametrize("how", ["in place", "by another file"])
@pytest.mark.parametrize("longer", [False, True], ids=["shorter", "longer"])
def test_a_map_that_is_written_anew(how, longer):
    """As java does each time that it is asked for one; names of the first one were padded, or are now."""
    def put(traced, text=None):
        traced.map.write_text(text or "".join(f"{0x10000 + i:x} 1 padding {'x' * 50}\n" for i in range(0 if longer else 1000)) + traced.lines())

    with Traced(["quiet"], prepare=put) as traced:
        traced.until(stack())
        anew = traced.lines().replace("py::outer:/x/script.py", "py::outer:/x/anew.py")
        anew = "".join(f"{0x20000 + i:x} 1 other {'y' * 50}\n" for i in range(1000 if longer else 0)) + anew
        if how == "by another file":
            put_elsewhere = traced.map.with_suffix(".new")
            put_elsewhere.write_text(anew)
            put_elsewhere.rename(traced.map)
        else:
            put(traced, anew)
        traced.until(stack("py::outer:/x/anew.py"))
        result = traced.ended()
    assert result.returncode == 0 and result.stderr == "", result


def put_garbage(traced):
    traced.map.write_bytes(b"what is this\n\x00\xff\xfe\n1000\n1000 zz f\n-1 -1 f\n" + traced.lines().encode() + b"ffffffffffffffff 10 f\n" + b"x" * 1_000_000)


def put_terabyte(traced):
    traced.map.write_text(traced.lines())
    os.truncate(traced.map, 1 << 40)


def put_many(traced):
    with open(traced.map, "w") as file:
        file.write(traced.lines())
        file.writelines(f"{0x10000000 + i * 16:x} 10 f{i}\n" for i in range(200_000))


@pytest.mark.parametrize("put, why", [(put_garbage, "START SIZE name"), (put_terabyte, "first 64 MB"), (put_many, "more than 131072 functions")],
                         ids=["garbage", "terabyte", "many"])
def test_a_map_that_is_not_right_everywhere(put, why):
    """What is right in it counts."""
    with Traced(["quiet"], prepare=put) as traced:
        traced.until(stack())
        traced.djtap.wait_for("DJ5913")
        result = traced.ended()
    assert result.returncode == 0, result
    assert len(warnings(result.stderr)) == 1 and why in warnings(result.stderr)[0], result


def put_commands(traced):
    traced.map.write_text(traced.lines().replace("inner", "in\x1b]0;owned\x07\u202ener"))


def test_names_are_texts_for_terminals():
    with Traced(["quiet"], prepare=put_commands) as traced:
        traced.until(r"py::in\\x1b\]0;owned\\x07\\u202ener")
        result = traced.ended()
    assert "\x1b" not in result.stdout + result.stderr and "\x07" not in result.stdout, result


def put_lies(traced):
    """A map that names the code of objects, and of all that is between them."""
    with open(f"/proc/{traced.program.pid}/maps") as maps:
        ranges = [line.split()[0].split("-") for line in maps if "r-xp" in line]
    traced.map.write_text("".join(f"{begin} {int(end, 16) - int(begin, 16):x} lie\n" for begin, end in ranges) + traced.lines())


def test_objects_keep_their_names():
    with Traced(["quiet"], prepare=put_lies) as traced:
        traced.until(stack())
        result = traced.ended()
    assert "lie" not in result.stdout, result


def put_old(traced):
    traced.map.write_text(traced.lines())
    os.utime(traced.map, (1, 1))


def test_a_map_of_an_earlier_process_of_that_number():
    with Traced(["quiet"], prepare=put_old) as traced:
        traced.program.call(3)
        result = traced.ended()
    assert result.globals["n"] == 3 and "py::" not in result.stdout and result.stderr == "", result


def test_a_dump_that_breaks_off(tmp_path):
    with Traced(["dump"], cwd=tmp_path) as traced:
        traced.until(stack())
        with open(tmp_path / f"jit-{traced.program.pid}.dump", "ab") as dump:
            dump.write(b"\x01" * 4 + b"\x00" * 100)  # a record of no bytes
        traced.djtap.wait_for("DJ5913")
        result = traced.ended()
    assert len(warnings(result.stderr)) == 1 and "is no dump" in warnings(result.stderr)[0] and result.returncode == 0, result


@pytest.fixture
def elsewhere():
    """A folder that is not below /tmp."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield folder


def test_a_pid_namespace_and_a_tmp_of_its_own(elsewhere):
    """The program's own number stands in the name, and its own /tmp is looked at."""
    if os.geteuid() != 0:
        pytest.skip("only root makes namespaces and looks into them")
    inside = f"mount -t tmpfs none /tmp && exec {shutil.copy(JITTED, elsewhere)} map"
    with Background(["unshare", "--pid", "--fork", "--mount", "--propagation", "private", "sh", "-c", inside]) as program:
        program.wait_for("^py::outer.* at ")
        pid = int(pathlib.Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text().split()[0])
        with Background(command(["-e", STACKS, "-p", pid])) as djtap:
            djtap.wait_for("^ready$")
            program.call(2)
            djtap.wait_for(r"\[/tmp/perf-1.map\]")
            program.process.stdin.close()
            result = djtap.finish()
    assert re.search(stack(), result.stdout, re.M), result


# V8 writes its dump in large pieces: new functions all the time push out what it has said of the hot one. Inlined into the timer's,
# that would have no samples of its own.
LOOP = """
function hot(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i) * i % 7; return s }
let sum = 0;
const timer = setInterval(() => { for (let i = 0; i < 50; i++) sum += hot(10000);
  for (let i = 0; i < 20; i++) new Function("return " + sum + i)();
  process.stdout.write("") }, 1);
process.stdin.on("data", () => {}).on("end", () => clearInterval(timer));
"""


@pytest.mark.parametrize("option, form", [("--perf-basic-prof", r"/tmp/perf-\d+\.map"), ("--perf-prof", r"\S*/jit-\d+\.dump")])
def test_node(tmp_path, option, form):
    """Samples of V8's own compiled code have JavaScript's names."""
    if not os.path.exists(NODE):
        pytest.skip("there is no node")
    (tmp_path / "loop.js").write_text(LOOP)
    script = 'probe timer.profile { println("in ", usymdata(uaddr())) }'
    with Background(command(["-e", script, "-c", f"{NODE} --no-turbo-inlining {option} {tmp_path}/loop.js"]), cwd=tmp_path) as djtap:
        djtap.wait_for(rf"^in JS:\S?hot .*loop\.js:2.* \[{form}\]$")
        djtap.process.stdin.close()
        result = djtap.finish()
    for file in re.findall(r"/tmp/perf-\d+\.map", result.stdout)[:1]:
        pathlib.Path(file).unlink(missing_ok=True)
    assert "DJ5913" not in result.stderr, result


def new_python():
    """A CPython that tells perf of what it runs (-X perf), from version 3.12 on."""
    versions = [f"python3.{minor}" for minor in range(12, 20)]
    found = [path for path in map(shutil.which, versions) if path]
    found += sorted(map(str, pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3")))
    for path in found:
        tried = subprocess.run([path, "-X", "perf", "-c", "import sys, os; print(sys.is_stack_trampoline_active(), os.getpid())"],
                               capture_output=True, text=True, check=False).stdout.split()
        if len(tried) == 2:
            pathlib.Path(f"/tmp/perf-{tried[1]}.map").unlink(missing_ok=True)
        if tried[:1] == ["True"]:
            return os.path.realpath(path)
    pytest.skip("there is no CPython of version 3.12 or later")


PYTHON_SCRIPT = """
import os, sys, threading
def inner(n): return os.getppid() + n
def outer(n): return inner(n) + 1
reader = threading.Thread(target=sys.stdin.read)
reader.start()
while reader.is_alive():
    outer(1)
    reader.join(0.01)
"""


def test_python(tmp_path):
    """Each function of Python has a trampoline, by whose name its frames of C are told apart."""
    path = tmp_path / "script.py"
    path.write_text(PYTHON_SCRIPT)
    script = 'probe func("libc.so.6!getppid") { println(sprint_ubacktrace_brief()) }'
    frames = [rf"py::{name}:{path}\+0x\w+\n(?:(?!py::).*\n)*" for name in ("inner", "outer", "<module>")]
    with Background(command(["-D", "MAXBACKTRACE=100", "-e", script, "-c", f"{new_python()} -X perf {path}"])) as djtap:
        try:
            djtap.wait_for(rf"^{''.join(frames)}.*_start\+")
        finally:
            for child in pathlib.Path(f"/proc/{djtap.pid}/task/{djtap.pid}/children").read_text().split():
                pathlib.Path(f"/tmp/perf-{child}.map").unlink(missing_ok=True)
        djtap.process.stdin.close()
        result = djtap.finish()
    assert result.returncode == 0 and "DJ5913" not in result.stderr, result


JAVA = """
public class Spin {
  static double hot(int n) { double s = 0; for (int i = 0; i < n; i++) s += Math.sqrt(i) * i % 7; return s; }
  static double other(int n) { double s = 0; for (int i = 0; i < n; i++) s += Math.sqrt(i) * i % 5; return s; }
  static volatile boolean ends, is_other;
  public static void main(String[] words) throws Exception {
    Thread reader = new Thread(() -> {
      try { while (System.in.read() >= 0) is_other = true; } catch (Exception e) { }
      ends = true;
    });
    reader.setDaemon(true);
    reader.start();
    System.out.println("pid: " + ProcessHandle.current().pid());
    double sum = 0;
    while (!ends) sum += is_other ? other(10000) : hot(10000);
    System.out.println("sum: " + (long) sum % 1000);
  }
}
"""


def test_java(tmp_path):
    """jcmd has the machine write a map; a second time the same file is written anew."""
    missing = [name for name in ("java", "javac", "jcmd") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"there is no {missing[0]} (default-jdk-headless)")
    (tmp_path / "Spin.java").write_text(JAVA)
    subprocess.run(["javac", "-d", tmp_path, tmp_path / "Spin.java"], check=True)
    with Background(["java", "-Xmx64m", "-cp", tmp_path, "Spin"]) as program:
        pid = int(program.wait_for(r"^pid: (\d+)$")[1])
        map_file = pathlib.Path(f"/tmp/perf-{pid}.map")

        def written():
            said = subprocess.run(["jcmd", str(pid), "Compiler.perfmap"], capture_output=True, text=True, check=False)
            if "Command executed successfully" not in said.stdout:
                pytest.skip(f"this java writes no map: {said.stdout + said.stderr}")
            return map_file.read_text()

        while "Spin.hot(int)" not in written():
            time.sleep(0.1)
        with Background(command(["-e", 'probe timer.profile { println("in ", usymdata(uaddr())) }', "-p", pid])) as djtap:
            djtap.wait_for(rf"^in double Spin\.hot\(int\)\+0x\w+/0x\w+ \[{map_file}\]$")
            program.tell("o")
            while "Spin.other(int)" not in written():
                time.sleep(0.1)
            djtap.wait_for(rf"^in double Spin\.other\(int\)\+0x\w+/0x\w+ \[{map_file}\]$")
            djtap.signal(signal.SIGINT)
            result = djtap.finish()
        program.process.stdin.close()
        program.finish()
    map_file.unlink(missing_ok=True)
    assert result.returncode == 0 and "DJ5913" not in result.stderr, result
