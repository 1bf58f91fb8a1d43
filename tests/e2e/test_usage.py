# SPDX-License-Identifier: Apache-2.0
"""A wrong command line: its code, the word that is wrong and what helps, as text and as JSON."""
import os
import re
import shlex
import subprocess

import pytest

from support import paths, run
from support.json_diagnostics import diagnostics

EXIT = "probe begin { exit() }"
ALL = "djtap --help lists all options"
LIMITS = "MAXMAPENTRIES, MAXSTRINGLEN, MAXACTION, MAXACTION_HOST, MAXNESTING, MAXBACKTRACE, MAXERRORS, TRAPCACHE, RINGBYTES, STRINGBYTES, CONTEXTS"
PLUGINS = "chrome, csv, flame, json, prometheus, and any file NAME.lua"
LONG = "/tmp/" + "x" * 120
DUMPS = "tokens, ast, program, plan, ir, asm, patches, detours, probes"

# Words behind -e, code, message, what of the line is marked, help.
WRONG = {
    "nobody's option": (["-Z"], "DJ0001", "djtap has no option -Z", "-Z", ALL),
    "nobody's value": (["--rows=5"], "DJ0001", "neither djtap nor the script has an option --rows", "--rows=5", ALL),
    "misspelt": (["--stop-afer=parse"], "DJ0001", "neither djtap nor the script has an option --stop-afer", "--stop-afer=parse",
                 'did you mean "--stop-after=parse"?'),
    "misspelt flag": (["--prbes"], "DJ0001", "djtap has no option --prbes", "--prbes", 'did you mean "--probes"?'),
    "misspelt with a quote": (["-w", "it's", "--tymes"], "DJ0001", "djtap has no option --tymes", "--tymes", 'did you mean "--times"?'),
    "a script's without a value": (["--rows"], "DJ0001", "djtap has no option --rows", "--rows", "one of the script is written --rows=VALUE"),
    "no value": (["-f", "json", "--control"], "DJ0002", "--control needs a value behind it", "--control", ALL),
    "twice": (["-T", "1", "-T", "2"], "DJ0002", "-T is given more than once", "-T", ALL),
    "twice, by two names": (["-f", "json", "--format=csv"], "DJ0002", "--format is given more than once", "--format=csv", ALL),
    "folder of tapsets": (["-I", "/no/such"], "DJ0003", "-I takes a folder of tapsets; /no/such is none", "-I /no/such", ALL),
    "no time": (["-T", "0"], "DJ0003", "-T takes a number of seconds above 0, not 0", "-T 0", ALL),
    "no time, glued": (["-T0"], "DJ0003", "-T takes a number of seconds above 0, not 0", "-T0", ALL),
    "no time before a good one": (["-T", "x", "-T", "0.2"], "DJ0003", "-T takes a number of seconds above 0, not x", "-T x", ALL),
    "no time of three": (["-T1", "-T0", "-T10"], "DJ0003", "-T takes a number of seconds above 0, not 0", "-T0", ALL),
    "no limit before a good one": (["-DMAXACTION=x", "-D", "MAXERRORS=1"], "DJ0003", "MAXACTION takes a number from 1 to 1073741824",
                                   "-DMAXACTION=x", ALL),
    "form of diagnostics": (["--diagnostics=xml"], "DJ0003", "--diagnostics takes json, text; not xml", "--diagnostics=xml", ALL),
    "guards": (["--guards", "al"], "DJ0003", "--guards takes all, needed, none; not al", "--guards al", 'did you mean "--guards=all"?'),
    "no stage": (["--stop-after=chekc"], "DJ0003", "--stop-after takes check, lower, parse, patch, resolve; not chekc", "--stop-after=chekc",
                 'did you mean "--stop-after=check"?'),
    "no number of megabytes": (["-s", "5x"], "DJ0003", "-s takes 1 to 64 megabytes, as -D RINGBYTES does bytes", "-s 5x", ALL),
    "a shell's command": (["-c", "ls | cat"], "DJ0003", "the command needs a shell; say so: -- sh -c '...'", "-c 'ls | cat'", ALL),
    "unbalanced quotes": (["-c", 'ls "a'], "DJ0003", "the command cannot be split into words (unbalanced quotes?)", "-c 'ls \"a'", ALL),
    "an unset variable": (["-c", "ls $DJTAP_UNSET"], "DJ0003", "an undefined variable stands in the command", "-c 'ls $DJTAP_UNSET'", ALL),
    "no command": (["-c", " "], "DJ0003", "the command is empty", "-c ' '", ALL),
    "no limit": (["-D", "MAXACTION=x"], "DJ0003", "MAXACTION takes a number from 1 to 1073741824", "-D MAXACTION=x", ALL),
    "another's limit": (["-DNOSUCH=5"], "DJ0003", "no limit is named NOSUCH", "-DNOSUCH=5", f"there are {LIMITS}"),
    "misspelt limit": (["-D", "MAXACTON=5"], "DJ0003", "no limit is named MAXACTON", "-D MAXACTON=5",
                       'did you mean "-D MAXACTION=5" or "-D MAXACTION_HOST=5"?'),
    "no stage's data": (["--dump=fo"], "DJ0003", f"--dump takes {DUMPS}; not fo", "--dump=fo", ALL),
    "misspelt data": (["--dump=plna"], "DJ0003", f"--dump takes {DUMPS}; not plna", "--dump=plna", 'did you mean "--dump=plan"?'),
    "no form of globals": (["-f", "jsno"], "DJ0003", "-f takes text, json, csv or plugin:NAME; not jsno", "-f jsno", 'did you mean "-f json"?'),
    "no files": (["-S", "5,0", "-o", "x"], "DJ0003", "-S takes MEGABYTES or MEGABYTES,FILES; not 5,0", "-S 5,0", ALL),
    "some colour": (["--color=nver"], "DJ0003", "--color takes always, never or auto; not nver", "--color=nver", 'did you mean "--color=never"?'),
    "a pass": (["-p", "4000000000"], "DJ0003", "-p takes processes, by a number above 0 or by name; not 4000000000", "-p 4000000000", ALL),
    "no process": (["-x", ", "], "DJ0003", "-p takes processes, and this word is empty", "-x ', '",
                   "$(pidof NAME) is empty where no process has that name; -p NAME says so"),
    "a process below 0": (["-p", "-5"], "DJ0003", "-p takes processes, by a number above 0 or by name; not -5", "-p -5", ALL),
    "places": (["--many=x"], "DJ0003", "--many takes a whole number, not x", "--many=x", ALL),
    "no function's source": (["--source", 'a"b'], "DJ0003", '--source takes a function, as in func("...")', "--source 'a\"b'", ALL),
    "a flag's value": (["--probes=maybe"], "DJ0003", "--probes takes no value", "--probes=maybe", ALL),
    "a flag's number": (["--probes=99999999999999999999"], "DJ0003", "--probes takes no value", "--probes=99999999999999999999", ALL),
    "a no's number": (["--no-cache=99999999999999999999"], "DJ0003", "--no-cache takes no value", "--no-cache=99999999999999999999", ALL),
    "a flag's no": (["--times=false"], "DJ0003", "--times takes no value", "--times=false", ALL),
    "sizes alone": (["-S", "5"], "DJ0004", "-S goes with -o FILE", "-S", ALL),
    "two scripts": (["--stress"], "DJ0004", "--stress goes with neither a script nor -l", "--stress", ALL),
    "coverage alone": (["--coverage", "/bin/ls"], "DJ0004", "--coverage goes with --stress", "--coverage", ALL),
    "two targets": (["-x", "1", "-c", "ls"], "DJ0004", "-p goes with neither -c nor --", "-x", ALL),
    "a monitor and a plugin": (["--monitor", "-f", "plugin:flame"], "DJ0004", "--monitor goes with neither -f plugin: nor --stress", "--monitor", ALL),
    "a prompt and a script": (["-i"], "DJ0004", "-i takes the script at its prompt: load FILE", "-i", ALL),
    "SystemTap's": (["-k"], "DJ0005", "SystemTap's option -k is not djtap's", "-k",
                    "djtap keeps no working folder; --dump=ir,asm,plan prints what it makes"),
    "long path": (["--control", LONG], "DJ0007", f"the path of the control socket is too long: {LONG}", "--control", ALL),
    "no folder": (["--control", "/no/such"], "DJ0007", "cannot make the control socket /no/such: No such file or directory", "--control", ALL),
    "no terminal": (["--monitor"], "DJ0007", "--monitor needs a terminal", "--monitor", ALL),
    "no plugin": (["-f", "plugin:nosuch"], "DJ0007", f"there is no output plugin nosuch; there are {PLUGINS}", "-f", ALL),
    "no report": (["--report", "/no/such.lua"], "DJ0007", "cannot read /no/such.lua: No such file or directory", "--report", ALL),
    "no output": (["-o", "/no/such/file"], "DJ0007", "cannot write /no/such/file: No such file or directory", "-o", ALL),
}

# The same without a script.
ALONE = {
    "nothing": ([], "DJ0006", "a script is needed: a file, or -e 'probe ...'", "djtap", ALL),
    "misspelt and nothing": (["--prbes"], "DJ0001", "djtap has no option --prbes", "--prbes", 'did you mean "--probes"?'),
    "only a target": (["-c", "ls"], "DJ0006", "a script is needed: a file, or -e 'probe ...'", "djtap", ALL),
    "no file": (["/no/such.djt", "5"], "DJ0006", "cannot read script /no/such.djt: No such file or directory", "/no/such.djt", ALL),
    "no -e": (["probe begin { exit() }"], "DJ0006", "cannot read script probe begin { exit() }: No such file or directory", "'probe begin { exit() }'",
              "the text of a script goes behind -e: djtap -e 'probe ...'"),
    "a list of no points": (["-La=b"], "DJ0003", "what is to be listed is no list of probe points", "-La=b", ALL),
    "a list of more": (["-l", "begin {} probe end"], "DJ0003", "what is to be listed is no list of probe points", "-l 'begin {} probe end'", ALL),
    "no target": (["--stress"], "DJ0004", '--stress needs a process (-c, -p or --) or "kernel", or --coverage FILE without a process', "--stress", ALL),
    "no pattern": (["--stress", 'a"b', "--", "ls"], "DJ0003", '--stress takes a pattern of functions: "libc.so.6!*"', "--stress 'a\"b'", ALL),
    "no code": (["--explain", "DJ9999"], "DJ0003", "there is no code DJ9999; near it are DJ5915, DJ5916, DJ5917", "--explain DJ9999", ALL),
    "clean what": (["clean", "0"], "DJ0003", "clean takes processes, by a number above 0 or by name; not 0", "0", ALL),
    "a doctor for a script": (["doctor", "-e", EXIT], "DJ0004", "doctor takes no script, and nothing else that one may ask for", "doctor", ALL),
    "a doctor for a list": (["doctor", "-l", 'func("*")'], "DJ0004", "doctor takes no script, and nothing else that one may ask for", "doctor", ALL),
    "a doctor for two": (["doctor", "-c", "ls", "ls"], "DJ0004", "doctor takes one target: a program, -p PID, -c or --", "doctor", ALL),
    "a doctor for nobody": (["doctor", "-p", "0"], "DJ0003", "-p takes processes, by a number above 0 or by name; not 0", "-p 0", ALL),
    "a doctor's option": (["doctor", "--jsno"], "DJ0001", "djtap has no option --jsno", "--jsno", 'did you mean "--json"?'),
    "no kernel": (["kernel-build", "a/b"], "DJ0003", "kernel-build takes a kernel's release, as uname -r names it; not a/b", "kernel-build a/b", ALL),
    "a kernel and a program": (["kernel-build", "-c", "ls"], "DJ0004", "kernel-build takes a kernel, and no program", "kernel-build", ALL),
    "a kernel and a script": (["kernel-build", "-e", EXIT], "DJ0004", "kernel-build takes no script, and nothing else that one may ask for", "kernel-build",
                              ALL),
    "kernel-build's option": (["--headers"], "DJ0001", "djtap has no option --headers", "--headers", "djtap kernel-build has it"),
    "the doctor's option": (["--json"], "DJ0001", "djtap has no option --json", "--json", "djtap doctor has it"),
}
CASES = {**{name: (["-e", EXIT, *row[0]], *row[1:]) for name, row in WRONG.items()}, **ALONE}


@pytest.mark.parametrize("name", CASES)
def test_it_is_told(name):
    """The line as a shell takes it, the wrong part of it marked; and the same for programs."""
    words, code, message, marked, help_ = CASES[name]
    line = shlex.join(["djtap", *words])
    at = re.search(rf"(?<!\S){re.escape(marked)}(?!\S)(?!.*(?<!\S){re.escape(marked)}(?!\S))", line).start()
    told = run.run(words)
    assert (told.returncode, told.stdout) == (1, ""), told
    assert told.stderr == (f"error[{code}]: {message}\n --> <arguments>:1:{at + 1}\n  |\n1 | {line}\n"
                           f"  | {' ' * at}{'^' * len(marked)}\nhelp: {help_}\n"), told
    if "--diagnostics=xml" in words:
        return
    told = run.run(["--diagnostics=json", *words])
    [one] = diagnostics(told)
    assert (one["code"], one["severity"], one["message"], one["help"]) == (code, "error", message, help_) and told.returncode == 1, told
    [span] = one["spans"]
    line = shlex.join(["djtap", *told.args[1:]])
    assert (span["file"], span["line"], line[span["column"] - 1:span["end_column"] - 1]) == ("<arguments>", 1, marked), told
    for fix in one["fixits"]:
        fixed = line[:fix["column"] - 1] + fix["text"] + line[fix["end_column"] - 1:]
        again = subprocess.run(fixed, shell=True, env={**os.environ, "PATH": f"{paths.DJTAP.parent}:{os.environ['PATH']}"}, stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=300, check=False)
        may_end = (0,) if "-e" in words else (0, 6) if "doctor" in words else (1,)
        assert code not in again.stderr and again.returncode in may_end, (fixed, again)


def test_what_is_suggested_is_a_fix():
    for name, (words, _, _, _, help_) in CASES.items():
        if help_.startswith("did you mean"):
            assert len(diagnostics(run.run(["--diagnostics=json", *words]))[0]["fixits"]) == help_.count('"') // 2, name


def test_a_script_of_some_lines():
    """The line is that of the wrong word."""
    told = run.run(["-e", "probe begin {\n  exit()\n}", "--prbes"])
    assert told.stderr.splitlines()[1:5] == [" --> <arguments>:3:4", "  |", "3 | }' --prbes", "  |    ^^^^^^^"], told


def test_a_command_is_none_of_djtap():
    """What stands behind -- is shown, but no word of it is meant."""
    told = run.run(["-e", EXIT, "--prbes", "--", "/bin/echo", "--prbes"])
    at = shlex.join(["djtap", "-e", EXIT]).__len__() + 1
    assert told.stderr.splitlines()[4] == "  | " + " " * at + "^^^^^^^", told


@pytest.mark.parametrize("script", [["--prbes"], ["-e", "probe begin { prnt() }"]], ids=["of the command line", "of a script"])
@pytest.mark.parametrize("words, more, red", [([], {}, True), (["--color=never"], {}, False), ([], {"NO_COLOR": "1"}, False), ([], {"NO_COLOR": ""}, True),
                                              ([], {"TERM": "dumb"}, False)])
def test_colour(words, more, red, script):
    """On a terminal."""
    leader, follower = os.openpty()
    environment = {**{name: value for name, value in os.environ.items() if name != "NO_COLOR"}, "TERM": "xterm", **more}
    more_words = [] if "-e" in script else ["-e", EXIT]
    subprocess.run([paths.DJTAP, *words, *script, *more_words], stderr=follower, stdin=subprocess.DEVNULL, timeout=300, check=False, env=environment)
    os.close(follower)
    told = os.read(leader, 4096).decode()
    os.close(leader)
    assert re.search(r"DJ0001|DJ2001", told) and ("\x1b[" in told) == red, told
