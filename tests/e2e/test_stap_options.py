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
ANSWERED = {
    "-F": "setsid", "-k": "--dump", "-q": "leave it out", "-m": "leave it out", "-r": "leave it out",
    "-R": "leave it out", "-a": "leave it out", "-B": "leave it out", "--modinfo=a=b": "leave it out", "--compile-only": "--stop-after",
    "--runtime=kernel": "-p PID", "--runtime=bpf": "-p PID", "--bpf": "-p PID", "--clean-cache": "~/.cache/djtap", "--remote=host": "ssh",
    "--remote-prefix": "ssh", "--use-server": "leave it out", "--use-server-on-error=yes": "leave it out", "--list-servers": "leave it out",
    "--trust-servers=all": "leave it out", "--sign-module": "leave it out", "--skip-badvars": "@defined", "--save-uprobes": "--dump=probes",
    "--sysroot=/": "leave it out", "--sysenv=A=b": "shell", "--tmpdir=/tmp": "TMPDIR", "--target-namespaces=1": "nsenter",
    "--rlimit-as=1": "ulimit", "--rlimit-cpu=1": "ulimit", "--rlimit-nproc=1": "ulimit", "--rlimit-stack=1": "ulimit", "--rlimit-fsize=1": "ulimit",
    "--dump-probe-types": "man djtap-probes", "--dump-probe-aliases": "-l", "--dump-functions": "man djtap-language",
    "--download-debuginfo=yes": "-dbgsym", "--example": "examples/",
    "--benchmark-sdt-loops=1": "tests/bench", "--benchmark-sdt-threads=1": "tests/bench",
}


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
    assert result.stderr.startswith(f"djtap: SystemTap's option {word.split('=')[0]} is not djtap's; ") and ANSWERED[word] in result.stderr, result


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
                            capture_output=True, text=True, check=False, timeout=60)
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
