# SPDX-License-Identifier: Apache-2.0
"""SystemTap's options: each is taken, or answered by what to use instead."""
import subprocess

import pytest

from support import paths

EXIT = 'probe begin { println("ok") exit() }'

# All of stap(1), SystemTap 4.8.
TAKEN = [
    ["-h"], ["--help"], ["-V"], ["--version"], ["-v"], ["-vvv"], ["--vp", "00010"], ["-w"], ["-u"], ["-b"], ["-g"], ["-P"], ["-t"], ["-s", "1"], ["-I", "/"],
    ["-D", "MAXACTION=50"], ["-DMAXSKIPPED=9"], ["-DSTP_NO_OVERLOAD"], ["-G", "g=3"], ["-E", "probe begin { }"], ["-T", "5"], ["-d", "/bin/ls"],
    ["--ldd"], ["--all-modules"], ["--disable-cache"], ["--poison-cache"], ["--color=never"], ["--colour"], ["--color=auto"],
    ["--prologue-searching"], ["--prologue-searching=never"], ["--suppress-handler-errors"], ["--suppress-time-limits"], ["--compatible", "4.8"],
    ["--compatible=stap"], ["--check-version"], ["--unprivileged"], ["--privilege=stapusr"], ["--runtime=dyninst"], ["--dyninst"],
    ["--no-global-var-display"],
]
# What djtap says instead, and of which options.
ANSWERS = {
    "let the session run behind the shell: setsid djtap -o FILE -S MB,FILES ... &": ["-F"],
    "djtap keeps no working folder; --dump=ir,asm,plan prints what it makes": ["-k"],
    "leave it out: djtap prints no warnings of tapsets": ["-q"],
    "nothing is built for a kernel: leave it out": ["-m", "-r", "-R", "-a", "-B", "--modinfo=a=b", "--sign-module"],
    "--stop-after=lower makes the machine code and runs nothing": ["--compile-only"],
    "djtap probes processes: -c 'command' or -p PID": ["--runtime=kernel", "--runtime=bpf", "--bpf"],
    "rm -r ~/.cache/djtap": ["--clean-cache"],
    "run djtap on the other machine: ssh HOST djtap ...": ["--remote=host", "--remote-prefix"],
    "scripts are compiled in djtap itself: leave it out": ["--use-server", "--use-server-on-error=yes", "--list-servers", "--trust-servers=all"],
    "ask @defined($x), or write @choose_defined($x, 0)": ["--skip-badvars"],
    "--dump=probes prints every site": ["--save-uprobes"],
    "the program's own files are read, as they are mapped: leave it out": ["--sysroot=/"],
    "set it in the shell, before djtap": ["--sysenv=A=b"],
    "TMPDIR=FOLDER djtap ...": ["--tmpdir=/tmp"],
    "start djtap inside the container: nsenter -t PID -a djtap ...": ["--target-namespaces=1"],
    "set it in the shell: ulimit, or prlimit for a running djtap": [
        "--rlimit-as=1", "--rlimit-cpu=1", "--rlimit-nproc=1", "--rlimit-stack=1", "--rlimit-fsize=1"],
    "man djtap-probes lists all probe points": ["--dump-probe-types"],
    "djtap -l '**' -- command": ["--dump-probe-aliases"],
    "man djtap-language names all functions, tapsets/ defines them": ["--dump-functions"],
    "djtap reads the -dbg and -dbgsym packages that are installed, and asks no server": ["--download-debuginfo=yes"],
    "examples/ are djtap's; SystemTap's lie in /usr/share/systemtap/examples": ["--example"],
    "tests/bench/hit.py measures djtap's probes": ["--benchmark-sdt-loops=1", "--benchmark-sdt-threads=1"],
    "setsid djtap -o FILE -S MB,FILES ... &": ["--flight-recorder"],
}
ANSWERED = {word: answer for answer, words in ANSWERS.items() for word in words}


@pytest.mark.parametrize("words", TAKEN, ids=" ".join)
def test_it_is_taken(djtap_once, words):
    result = djtap_once(*words, "-e", f"global g = 1 {EXIT}")
    assert result.returncode == 0, result
    if words[0] not in ("-h", "--help", "-V", "--version"):
        assert "ok\n" in result.stdout, result


@pytest.mark.parametrize("word", ANSWERED)
def test_it_is_answered(djtap_once, word):
    result = djtap_once(word, "-e", EXIT)
    assert result.returncode == 1 and result.stdout == "", result
    lines = result.stderr.splitlines()
    assert lines[0] == f"error[DJ0005]: SystemTap's option {word.split('=')[0]} is not djtap's" and lines[-1] == f"help: {ANSWERED[word]}", result


def test_a_second_script(djtap_once, tmp_path):
    file = tmp_path / "main.djt"
    file.write_text('global n = 1 function twice(x) { return 2 * x } probe begin { println("main") }')
    result = djtap_once(file, "-E", "probe begin(1) { println(twice(n), $1) }", "-E", "probe begin(2) { exit() }", "7")
    assert result.stdout == "main\n27\n" and result.stderr == "", result
    result = djtap_once(file, "-E", "probe begin { nosuch() }")
    assert result.returncode == 3 and "error[DJ2001]" in result.stderr and "--> <-E>:1:15" in result.stderr, result
    assert djtap_once("-E", EXIT).stdout == "ok\n"


def test_warnings(djtap_once):
    script = 'probe begin { x = 1; println("ok") exit() }'
    plain, quiet, strict = djtap_once("-e", script), djtap_once("-w", "-e", script), djtap_once("-W", "-e", script)
    assert "warning[DJ2903]" in plain.stderr and plain.stdout == "ok\n", plain
    assert quiet.stderr == "" and quiet.stdout == "ok\n", quiet
    assert "warning[DJ2903]" in strict.stderr and strict.stdout == "" and strict.returncode == 3, strict
    assert djtap_once("-W", "-e", EXIT).returncode == 0


def test_names_are_local_in_a_stp_file(djtap_once, tmp_path):
    text = 'probe begin { n++ } probe end { println("end ", n) } probe timer.ms(1) { exit() }'
    for name, words, says in (("a.djt", [], "end 1"), ("a.djt", ["--compatible=stap"], "end 0"), ("a.stp", [], "end 0")):
        (tmp_path / name).write_text(text)
        assert djtap_once(tmp_path / name, *words, "-w").stdout == says + "\n", (name, words)


def test_globals_may_stay_unshown(djtap_once):
    script = "global a = 5 probe begin { a++; exit() }"
    assert djtap_once("-e", script).stdout == "a=6\n"
    for words in ([], ["-f", "json"], ["-f", "csv"]):
        assert djtap_once("--no-global-var-display", *words, "-e", script).stdout == "", words


def test_suppressed_limits(djtap_once):
    script = 'probe func("vfs_unlink") { for (i = 0; i < 3000; i++) sum += i } probe end { println(sum) }'
    calls = 'probe func("vfs_unlink") { n++ } probe end { println(n) }'
    count = int(djtap_once("-e", calls, "-c", paths.TINYFS).stdout.splitlines()[-1])
    assert count > 0 and "MAXACTION exceeded" in djtap_once("-e", script, "-c", paths.TINYFS).stderr, "it is 1,000"
    result = djtap_once("--suppress-time-limits", "-e", script, "-c", paths.TINYFS)
    assert result.stdout.splitlines()[-1] == str(count * sum(range(3000))) and result.stderr == "", result


def test_colour(djtap_once):
    assert "\033[" in djtap_once("--color", "-e", "probe begin { nosuch() }").stderr
    assert "\033[" not in djtap_once("--color=never", "-e", "probe begin { nosuch() }").stderr
    assert "takes always, never or auto" in djtap_once("--color=red", "-e", EXIT).stderr


def test_larger_buffers(djtap_once):
    """A handler of djtap's own runs to its end before its ring is emptied."""
    script = 'probe begin { for (i = 0; i < 30000; i++) printf("%099d\\n", i); exit() }'
    small, large = djtap_once("-s", "1", "-e", script), djtap_once("-s", "8", "-e", script)
    assert "lost" in small.stderr and len(small.stdout) < 3_000_000, small.stderr
    assert large.stderr == "" and len(large.stdout) == 3_000_000, large.stderr
    assert "takes 1 to 64 megabytes" in djtap_once("-s", "65", "-e", EXIT).stderr


def test_a_pass_is_no_process(djtap_once):
    result = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", str(paths.DJTAP), "-p", "2", "-e", EXIT],
                            capture_output=True, text=True, check=False, timeout=300)
    if "setpriv" in result.stderr:
        pytest.skip(result.stderr.strip())
    assert result.returncode == 1 and "--stop-after=STAGE" in result.stderr, result


def test_w_undeclared_is_strict(djtap_once):
    """-W undeclared turns names that handlers only count up back into locals; -W alone stays SystemTap's."""
    script = "probe oneshot { n++ } probe end { println(n) }"
    shown = [djtap_once(*words, "-e", script) for words in ([], ["--strict"], ["-W", "undeclared"], ["-Wundeclared"])]
    assert shown[0].stdout == "1\n" and shown[1].stderr != "", shown
    for result in shown[2:]:
        assert (result.stdout, result.stderr, result.returncode) == (shown[1].stdout, shown[1].stderr, shown[1].returncode), result
    assert djtap_once("-W", "-e", "probe oneshot { println(1) }").stdout == "1\n"
