# SPDX-License-Identifier: Apache-2.0
"""process.syscall, and process.begin and the like alone, without -c and -p mean every process that there is: of any C library and
of none, those that run, what they execute, and what others execute. Each test has a pid namespace of its own."""
import os
import re
import shutil
import subprocess
import textwrap

import pytest

from support import paths, run
from test_everywhere import as_root, may_watch

SPACE = ["unshare", *(["-pf"] if os.geteuid() == 0 else ["-Urpf"]), "--mount-proc", "--kill-child"]
pytestmark = pytest.mark.skipif(subprocess.run([*SPACE, "true"], capture_output=True, check=False).returncode != 0,
                                reason=f"{' '.join(SPACE)} is not allowed here")
over_all = pytest.mark.skipif(not may_watch(all_files=True), reason="the kernel gives this user no permission events for a file system (FAN_MARK_FILESYSTEM)")
SOURCE = paths.ROOT / "tests" / "targets" / "parents.c"
GO = textwrap.dedent("""\
    package main
    import ("fmt"; "os"; "strconv"; "syscall"; "time")
    func main() {
        calls, _ := strconv.Atoi(os.Args[1])
        for len(os.Args) > 2 {
            if _, err := os.Stat(os.Args[2]); err == nil { break }
            time.Sleep(10 * time.Millisecond)
        }
        for i := 0; i < calls; i++ { syscall.Getppid() }
        fmt.Printf("getppid calls: %d\\n", calls)
    }
    """)
FORMS = {"pa_dynamic": ["gcc"], "pa_static": ["gcc", "-static", "-fno-pie"], "pa_static_pie": ["gcc", "-static-pie"], "pa_stripped": ["gcc", "-static", "-s"],
         "pa_musl": ["musl-gcc"], "pa_musl_static": ["musl-gcc", "-static"], "pa_go": ["go", "build"]}
SCRIPT = """probe syscall.getppid { if (execname() =~ "^pa_") n[execname()]++ }
probe process.begin { if (execname() =~ "^pa_") b[execname()]++ }
probe process.end { if (execname() =~ "^pa_") e[execname()]++ }
 probe timer.ms(50) { if (!told) { told = 1; println("armed") } }"""


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    """Paths of the same program in all forms that can be built here."""
    folder, built = tmp_path_factory.mktemp("parents"), []
    (folder / "parents.go").write_text(GO)
    for name, words in FORMS.items():
        source = [folder / "parents.go"] if words[0] == "go" else ["-O2", SOURCE]
        if shutil.which(words[0]) and subprocess.run([*words, "-o", folder / name, *source], capture_output=True, check=False,
                                                     env={**os.environ, "GOCACHE": str(folder / "cache"), "HOME": str(folder)}).returncode == 0:
            built.append(folder / name)
    assert len(built) >= 4
    return built


def traced(lines, script, *options):
    """What djtap and a shell say in the same pid namespace. lines: what the shell does; in them `$djtap` is djtap with the script."""
    djtap = " ".join(f"'{word}'" for word in run.command([*options, "-e", script]))
    return subprocess.run([*SPACE, "sh", "-c", lines.replace("$djtap", djtap)], capture_output=True, text=True, timeout=run.PATIENCE, check=False)


def session(before, after, folder, script=SCRIPT):
    """before: commands that run when djtap comes; they may wait for the file `go`. after: commands of a shell that djtap has not
    probed, its parent."""
    go = folder / "go"
    lines = before + f"\n$djtap > {folder}/out 2> {folder}/err & tracer=$!\n" + textwrap.dedent(f"""\
        while ! grep -q ^armed {folder}/out; do kill -0 $tracer || exit 9; sleep 0.05; done
        touch {go}
        {after}
        sleep 0.2; kill -INT $tracer; wait $tracer; echo code $?
        """)
    told = traced(lines, script)
    out, err = (folder / "out").read_text(), (folder / "err").read_text()
    assert "code 0" in told.stdout, (told, out, err)
    return run.Result([], out, err, 0), told.stdout


def calls_of(text):
    return sum(map(int, re.findall(r"^getppid calls: (\d+)$", text, re.M)))


def counted(result, name):
    return {each.strip("\""): int(count) for each, count in result.array(name)}


def test_those_that_run(forms, tmp_path):
    """Whatever C library they have, or none."""
    before = "".join(f"{file} {10 + i} {tmp_path}/go &\n" for i, file in enumerate(forms)) + "sleep 0.3"
    result, said = session(before, "sleep 0.5", tmp_path)
    assert counted(result, "n") == {file.name: 10 + i for i, file in enumerate(forms)}, (result, said)
    assert counted(result, "b") == counted(result, "e") == {file.name: 1 for file in forms}, (result, said)
    assert calls_of(said) == sum(counted(result, "n").values()), (result, said)
    assert ("DJ5917" in result.stderr) == (not may_watch()), result


def test_what_they_execute(forms, tmp_path):
    """A shell that runs when djtap comes, and what it executes then, twice."""
    run_all = "".join(f"{file} {20 + i}; ( exec {file} 1 );" for i, file in enumerate(forms))
    before = f"sh -c 'while ! [ -e {tmp_path}/go ]; do sleep 0.05; done; {run_all}' & shell=$!\nsleep 0.3"
    result, said = session(before, "wait $shell", tmp_path)
    assert counted(result, "n") == {file.name: 21 + i for i, file in enumerate(forms)}, (result, said)
    assert counted(result, "b") == counted(result, "e") == {file.name: 2 for file in forms}, (result, said)


@over_all
def test_what_others_execute(forms, tmp_path):
    """The shell that has started djtap is not in the session. A script's interpreter and the loader ask the gate, too."""
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\nexec {forms[0]} 1000\n")
    script.chmod(0o755)
    after = "".join(f"{file} {30 + i} & {file} 2; wait $!;" for i, file in enumerate(forms)) + str(script)
    result, said = session("", after, tmp_path)
    want = {file.name: 32 + i for i, file in enumerate(forms)}
    want[forms[0].name] += 1000
    assert counted(result, "n") == want and calls_of(said) == sum(want.values()), (result, said)
    assert "DJ5915" not in result.stderr, result


@over_all
def test_what_is_mounted_later(forms, tmp_path):
    """In a mount namespace of the test's own."""
    place = tmp_path / "mounted"
    place.mkdir()
    static = next(file for file in forms if file.name == "pa_static")
    after = f"mount -t tmpfs none {place} && sleep 0.5 && cp {static} {place} && {place}/pa_static 17; umount {place}"
    lines = after if os.geteuid() else f"unshare -m --propagation unchanged sh -c '{after}'"
    result, said = session("", lines, tmp_path)
    assert counted(result, "n") == {"pa_static": 17}, (result, said)


@as_root
def test_those_with_fewer_rights_are_told_of_once(tmp_path):
    """Root's djtap does not believe them (test_everywhere)."""
    before = "".join("setpriv --reuid 65534 --regid 65534 --clear-groups sleep 5 &\n" for _ in range(13)) + "sleep 0.3"
    result, _ = session(before, "true", tmp_path)
    warnings = [line for line in result.stderr.splitlines() if "DJ5914" in line]
    assert len(warnings) == 1 and "--trust-target probes it; the same for 12 others: " in warnings[0] and warnings[0].endswith(" ..."), result


def test_a_script_that_names_a_program_means_its_processes(forms, tmp_path):
    """process.begin beside process("file") is for the processes of the file."""
    script = SCRIPT.replace("syscall.getppid", f'process("{forms[0]}").function("main")')
    before = "".join(f"{file} 1 {tmp_path}/go &\n" for file in forms) + "sleep 0.3"
    result, said = session(before, "sleep 0.5", tmp_path, script)
    assert counted(result, "b") == {forms[0].name: 1}, (result, said)


def test_without_the_rights_of_root(forms, tmp_path):
    """In a user namespace nobody asks djtap who executes: it says so, and follows what its processes execute."""
    user_space = ["unshare", "-Urpf", "--mount-proc", "--kill-child"]
    if subprocess.run([*user_space, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip(f"{' '.join(user_space)} is not allowed here")
    file = forms[0]
    script = f'probe process("{file}").begin, process("/bin/sh").begin {{ b[execname()]++ }}' + SCRIPT.splitlines()[-1]
    djtap = " ".join(f"'{word}'" for word in run.command(["-e", script]))
    lines = textwrap.dedent(f"""\
        sh -c 'while ! [ -e {tmp_path}/go ]; do sleep 0.05; done; {file} 5; /bin/true; sh -c "{file} 6; /bin/true"' & shell=$!
        sleep 0.3
        {djtap} > {tmp_path}/out 2> {tmp_path}/err & tracer=$!
        while ! grep -q ^armed {tmp_path}/out; do kill -0 $tracer || exit 9; sleep 0.05; done
        touch {tmp_path}/go; wait $shell; sleep 0.2; kill -INT $tracer; wait $tracer; echo code $?
        """)
    told = subprocess.run([*user_space, "sh", "-c", lines], capture_output=True, text=True, timeout=run.PATIENCE, check=False)
    result = run.Result([], (tmp_path / "out").read_text(), (tmp_path / "err").read_text(), 0)
    assert "code 0" in told.stdout and calls_of(told.stdout) == 11, (told, result)
    assert counted(result, "b") == {file.name: 2, "sh": 2}, (told, result)
    assert "later are not probed, except what the probed ones execute: " in result.stderr, result


def test_who_reads_the_output_is_left_alone(tmp_path):
    """djtap waits for it when the pipe is full. Its children read the same pipe."""
    script = ('probe syscall_any { if (n++ % 20 == 0) println(execname()) } probe process.begin { b[execname()]++ } probe process.end { e++ } '
              'probe timer.ms(400) { exit() } probe end { delete n; delete e }')
    reader = "while read line; do echo $line; /usr/bin/env true; done | sort | uniq -c"
    lines = f"sh -c 'while :; do /bin/true; done' & sleep 0.3; $djtap 2> {tmp_path}/err | {reader}"
    told = traced(lines, script)
    warning = re.search(r"DJ5914\]: process \d+ is not probed: process \d+ reads what djtap writes, .*", (tmp_path / "err").read_text())
    assert warning and told.returncode == 0, (told, (tmp_path / "err").read_text())
    assert re.search(r"^ *\d+ true$", told.stdout, re.M) and 'b["true"]' in told.stdout and "env" not in told.stdout, told


def test_pid_namespaces_that_have_the_same_numbers(tmp_path):
    """As containers have. Each of their processes begins and ends once, with its own name."""
    script = re.sub(r' if \(execname\(\) =~ "\^pa_"\)', "", SCRIPT)
    inner = "/bin/cat /dev/null; ( : ); /bin/sleep 0.3; exit"
    before = f"sh -c 'while ! [ -e {tmp_path}/go ]; do sleep 0.05; done; for i in 1 2 3 4; do unshare -pf sh -c \"{inner}\" & done; wait' & all=$!; sleep 0.3"
    result, said = session(before, "wait $all", tmp_path, script)
    begun, ended = counted(result, "b"), counted(result, "e")
    assert [begun[name] for name in ("unshare", "cat")] == [8, 4] == [ended[name] for name in ("unshare", "cat")], (result, said)
    assert ended["sleep"] == begun["sleep"] >= 4, (result, said)
    assert ended["sh"] == begun["sh"] >= 9, (result, said)
