# SPDX-License-Identifier: Apache-2.0
"""`cmake --install`: djtap from a prefix has all its parts, wherever the prefix is moved, and says what is missing where it has not."""
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from support import paths, run

ONE_LINER = ["-e", 'probe func("libc.so.6!malloc") < n++ >', "-c", "ls /"]
VERSION = (paths.ROOT / "VERSION").read_text().strip()
pytestmark = pytest.mark.skipif(not (paths.BUILD / "CMakeCache.txt").exists(), reason="this is no build folder of CMake")


def install(destdir, *words):
    """Installs below destdir, for the prefix that a package has."""
    subprocess.run(["cmake", "--install", paths.BUILD, "--prefix", "/usr", *words], check=True, capture_output=True, text=True,
                   env={**os.environ, "DESTDIR": str(destdir)})
    return destdir / "usr"


@pytest.fixture(scope="module")
def prefix():
    """An installed tree that any user may read, outside of the source tree."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="djtap-install-"))
    folder.chmod(0o755)
    yield install(folder)
    shutil.rmtree(folder)


@pytest.fixture
def copy(prefix, tmp_path):
    """One that a test may spoil."""
    return shutil.copytree(prefix, tmp_path / "usr", symlinks=True)


def installed(tree, *args, **options):
    """djtap of an installed tree, in a folder that is no part of the project."""
    return run.run(args, binary=tree / "bin" / "djtap", cwd="/", **options)


def test_what_is_installed(prefix):
    files = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()}
    for name in ("bin/djtap", "share/djtap/VERSION", "share/man/man1/djtap.1.gz", "share/man/man7/djtap-probes.7.gz", "share/doc/djtap/LICENSE",
                 "share/man/man7/djtap-language.7.gz", "share/bash-completion/completions/djtap", "share/zsh/site-functions/_djtap",
                 "share/fish/vendor_completions.d/djtap.fish", "share/doc/djtap/README.md", "share/doc/djtap/lua.md"):
        assert name in files, name
    assert [name for name in files if name.endswith("/djtap/libdjtap_lower.so")], files
    for folder, own in (("share/djtap/tapsets", "tapsets"), ("share/doc/djtap/examples", "examples")):
        assert {name.rpartition("/")[2] for name in files if name.startswith(folder + "/")} == \
            {path.name for path in (paths.ROOT / own).iterdir() if path.is_file() and path.name != "CMakeLists.txt"}
    module = {name.rpartition("/")[2] for name in files if name.startswith(f"src/djtap-{VERSION}/")}
    assert module == {"dkms.conf", "GPL-2.0-only.txt", *(path.name for path in (paths.ROOT / "kernel").iterdir()
                                                         if path.name == "Kbuild" or path.suffix in (".c", ".h"))}


def test_other_folders_of_a_prefix(tmp_path):
    """The prefix of the build's own, without DESTDIR."""
    subprocess.run(["cmake", "--install", paths.BUILD, "--prefix", tmp_path / "a b"], check=True, capture_output=True)
    result = installed(tmp_path / "a b", *ONE_LINER)
    assert result.returncode == 0 and result.globals["n"] > 0, result


def test_it_counts(prefix):
    result = installed(prefix, *ONE_LINER)
    assert result.returncode == 0 and result.globals["n"] > 0 and result.stderr == "", result


def test_an_ordinary_user(prefix, as_nobody):
    result = installed(prefix, *ONE_LINER, prefix=[*as_nobody, "env", "-u", "XDG_CACHE_HOME", "HOME=/nowhere"])
    assert result.returncode == 0 and result.globals["n"] > 0 and result.stderr == "", result


def test_tapsets_and_plugins(prefix, tmp_path):
    """Functions and probes in the language and in Lua, a probe without a body, an output plugin."""
    script = 'probe syscall.openat { opened++ } probe begin { println(errno_str(2), thread_indent(1)) }'
    result = installed(prefix, "-e", script, "-c", "ls /")
    assert result.returncode == 0 and "ENOENT" in result.stdout and result.globals["opened"] > 0, result
    result = installed(prefix, "-e", 'probe func("main")', "-c", str(paths.TINYFS))
    assert result.returncode == 0 and "main" in result.stdout, result
    result = installed(prefix, "-f", "plugin:json", "-e", 'probe begin { println("one") exit() }')
    assert result.returncode == 0 and '"one' in result.stdout, result


def test_a_folder_that_was_moved(copy):
    """The prefix is found from the program's place, not remembered."""
    there = copy.rename(copy.parent / "elsewhere")
    result = installed(there, "-e", "probe begin { println(errno_str(2)) exit() }")
    assert result.returncode == 0 and "ENOENT" in result.stdout, result
    (there.parent / "link").symlink_to(there / "bin" / "djtap")
    assert "ENOENT" in run.run(["-e", "probe begin { println(errno_str(2)) exit() }"], binary=there.parent / "link").stdout


def test_a_target_with_fewer_rights(prefix, program):
    """djtap becomes the process's equal before it reads its own files."""
    if os.getuid() != 0:
        pytest.skip("only root has rights to give up")
    target = program("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
                     "sh", "-c", "while :; do /bin/true; done", cwd="/")
    result = installed(prefix, "-T", "2", "-e", 'probe syscall.wait4 { n++ } probe begin { println(errno_str(2)) }', "-p", str(target.pid))
    assert result.returncode == 0 and "ENOENT" in result.stdout and result.globals["n"] > 0, result


def test_a_target_that_sees_other_files(prefix, program, tmp_path):
    """A chroot without djtap's files: it takes them along into the view."""
    if os.getuid() != 0:
        pytest.skip("only root may make a chroot")
    libraries = re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", "/bin/sh"], capture_output=True, text=True, check=True).stdout)
    for file in ["/bin/sh", *libraries]:
        place = tmp_path / file.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath(file), place)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(0o755)
    target = program("chroot", "--userspec=65534:65534", tmp_path, "/bin/sh", "-c", "echo ready; read word")
    target.wait_for("ready")
    result = installed(prefix, "-T", "1", "-e", "probe begin { println(errno_str(2)) }", "-p", str(target.pid))
    assert result.returncode == 0 and "ENOENT" in result.stdout, result


# --- parts that are missing or of another version

NEEDS_TAPSETS = ["-e", "probe begin { println(errno_str(2)) exit() }"]
NEEDS_MACROS = ["-e", "probe begin { @prometheus_dump_array1(a, \"b\") exit() }"]
NEEDS_NONE = ["-e", "probe begin { println(1) exit() }"]


@pytest.mark.parametrize("words, status", [(NEEDS_TAPSETS, 5), (NEEDS_MACROS, 3), (["-e", 'probe func("main")', "-c", "/bin/true"], 5),
                                           (["-l", "syscall.*", "--", "/bin/true"], 3)])
def test_without_tapsets(copy, words, status):
    shutil.rmtree(copy / "share" / "djtap")
    result = installed(copy, *words)
    assert result.returncode == status and "error[DJ5013]: djtap's tapsets are missing: there is neither " in result.stderr, result
    assert f"{copy}/bin/tapsets" in result.stderr and f"{copy}/share/djtap/tapsets" in result.stderr, result
    assert "install the package again" in result.stderr, result
    result = installed(copy, *NEEDS_NONE)
    assert (result.returncode, result.stdout, result.stderr) == (0, "1\n", ""), result


@pytest.mark.parametrize("version, said", [("0.1.2\n", "of djtap 0.1.2"), (None, "of an unknown version")])
def test_tapsets_of_another_version(copy, version, said):
    file = copy / "share" / "djtap" / "VERSION"
    file.unlink() if version is None else file.write_text(version)
    result = installed(copy, *NEEDS_TAPSETS)
    assert result.returncode == 5 and result.stderr == (f"error[DJ5013]: the tapsets in {copy}/share/djtap/tapsets are {said}, this is djtap {VERSION}: "
                                                        "install the package again, or keep djtap with its files\n"), result
    assert installed(copy, *NEEDS_NONE).returncode == 0


def test_without_the_compiler(copy):
    library = next(copy.rglob("libdjtap_lower.so"))
    library.unlink()
    result = installed(copy, *NEEDS_NONE)
    assert result.returncode == 5 and result.stderr.startswith("error[DJ5013]: djtap's compiler of handlers is missing: there is neither "), result
    assert str(library) in result.stderr and result.stderr.count("\n") == 1, result
    result = installed(copy, "--version")
    assert result.returncode == 0 and f"djtap {VERSION}\n" in result.stdout and "LLVM cannot be told: " in result.stdout, result


def test_a_compiler_of_another_version(copy):
    """Its first word is all that is read of it."""
    library = next(copy.rglob("libdjtap_lower.so"))
    source = copy / "other.c"
    source.write_text('const struct { const char* version; void* rest[6]; } dj_lowering = {"0.1.2"};\n')
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", library], check=True)
    result = installed(copy, *NEEDS_NONE)
    assert result.returncode == 5 and f"libdjtap_lower.so is of djtap 0.1.2, this is djtap {VERSION}: " in result.stderr, result


# --- versions, the manual, completion

def test_versions_are_those_of_the_parts(prefix):
    """One number for all, and what each tool says of the files themselves."""
    told = dict(line.split(" ", 1) for line in installed(prefix, "--version").stdout.splitlines())
    assert told["djtap"] == VERSION and re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    notes = subprocess.run(["readelf", "-n", prefix / "bin" / "djtap"], capture_output=True, text=True, check=True).stdout
    assert told["build-id"] == re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
    libraries = subprocess.run(["ldd", prefix / "bin" / "djtap"], capture_output=True, text=True, check=True).stdout
    libdw = os.path.realpath(re.search(r"libdw\.so\.1 => (\S+)", libraries)[1])
    assert libdw.endswith(f"libdw-{told['libdw']}.so")
    lower = subprocess.run(["ldd", next(prefix.rglob("libdjtap_lower.so"))], capture_output=True, text=True, check=True).stdout
    major, minor = re.search(r"libLLVM(?:-(?=\d)|\.so\.)(\d+)(?:\.(\d+))?", lower).groups()
    assert told["LLVM"].split(".")[:2] == [major, minor or "1"]
    cache = (paths.BUILD / "CMakeCache.txt").read_text()
    assert f"CMAKE_PROJECT_VERSION:STATIC={VERSION}\n" in cache


def test_the_manual(prefix):
    pages = sorted((prefix / "share" / "man").rglob("*.gz"))
    assert len(pages) == 3
    for page in pages:
        text = gzip.decompress(page.read_bytes()).decode()
        assert re.search(rf'^\.TH DJTAP\S* [17] "" "djtap {re.escape(VERSION)}" ', text, re.M) and "@" + "version" not in text, page
    if shutil.which("man") is None:
        pytest.skip("man is not here")
    shown = subprocess.run(["man", "-M", prefix / "share" / "man", "djtap"], capture_output=True, text=True, check=False,
                           env={**os.environ, "MANPAGER": "cat", "LC_ALL": "C"})
    assert shown.returncode == 0 and "--version" in re.sub(".\b", "", shown.stdout), shown


def test_bash_completes(prefix):
    """As bash-completion loads it: a file of the program's name."""
    script = f'source {prefix}/share/bash-completion/completions/djtap; complete -p djtap; declare -F _djtap'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "-F _djtap djtap" in done.stdout, done


ZSH = r'''
fpath=($1 $fpath); autoload -Uz compinit; compinit -D -u; print -r -- "of $_comps[djtap]"; autoload +X -Uz _djtap
compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -rl -- ${(M)@:#$PREFIX*} }
_files() { print files }
words=("${(@)argv[2,-1]}"); CURRENT=$#words; PREFIX=$words[-1]; _djtap
'''


def zsh(prefix, *words):
    """What zsh would offer for the last word."""
    done = subprocess.run(["zsh", "-f", "-c", ZSH, "zsh", prefix / "share" / "zsh" / "site-functions", *map(str, words)], capture_output=True,
                          text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.stdout.startswith("of _djtap\n"), done
    return sorted(set(done.stdout.splitlines()[1:]))


def fish(prefix, *words):
    line = " ".join(word if word == words[-1] else "'" + str(word).replace("'", "\\'") + "'" for word in map(str, words))
    script = f"source {prefix}/share/fish/vendor_completions.d/djtap.fish; complete --do-complete $argv[1]"
    done = subprocess.run(["fish", "--no-config", "-c", script, line], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    return sorted({row.split("\t")[0] for row in done.stdout.splitlines()})


@pytest.mark.parametrize("shell", [zsh, fish], ids=["zsh", "fish"])
def test_other_shells_complete(prefix, shell):
    """The same words as bash does."""
    if shutil.which(shell.__name__) is None:
        pytest.skip(f"{shell.__name__} is not here")
    djtap = prefix / "bin" / "djtap"
    if shell is fish:  # it knows commands by their last name
        assert "--stop-after" in shell(prefix, djtap, "--stop")
    assert {"--stop-after", "--stress", "--strict"} <= set(shell(prefix, djtap, "--st"))
    completion = (prefix / "share" / "bash-completion" / "completions" / "djtap").read_text()
    for option in ("-f", "--guards", "--stop-after", "--diagnostics", "--dump", "-D"):
        row = re.search(rf'^ +(?:-\S+ \| )?{option}(?: \| --format)?\) echo "(.*)" ;;$', completion, re.M)[1]
        assert shell(prefix, djtap, option, "") == sorted(row.split()), option
    assert {str(os.getpid()), os.path.basename(os.readlink("/proc/self/exe"))} <= set(shell(prefix, djtap, "-p", ""))
    if os.path.isdir("/lib/modules"):
        assert shell(prefix, djtap, "kernel-build", "") == sorted(os.listdir("/lib/modules"))
    names = [f'func("{name}' for name in ("vfs_open", "vfs_read", "vfs_unlink", "vfs_write")]
    assert shell(prefix, djtap, "-c", str(paths.TINYFS), "-l", 'func("vfs_' if shell is zsh else "'func(\"vfs_") == names
