# SPDX-License-Identifier: Apache-2.0
"""The Debian package: what is in it, what lintian says, and that it is all that a bare Debian 12 needs."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from support import paths, run

VERSION = (paths.ROOT / "VERSION").read_text().strip()
ONE_LINER = "djtap -e 'probe func(\"libc.so.6!malloc\") < n++ >' -c 'ls /'"
for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps"):
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not here", allow_module_level=True)


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """{name: file} of the packages that CPack makes of this build, without building anything."""
    folder = tmp_path_factory.mktemp("package")
    os.chmod(folder, 0o755)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    done = subprocess.run(["cpack", "-G", "DEB", "-B", folder, "--config", paths.BUILD / "CPackConfig.cmake"], capture_output=True, text=True,
                          check=False, env=environment, umask=0o022)
    assert done.returncode == 0, done
    found = {re.match(r"(\S+?)_", file.name)[1]: file for file in folder.iterdir() if re.search(r"\.d?deb$", file.name)}
    shutil.rmtree(folder / "_CPack_Packages")
    return found


@pytest.fixture(scope="module")
def unpacked(packages, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unpacked")
    for file in packages.values():
        subprocess.run(["dpkg-deb", "-x", file, folder], check=True)
    return folder


def programs(unpacked):
    return [unpacked / "usr" / "bin" / "djtap", *(unpacked / "usr" / "lib").rglob("libdjtap_lower.so")]


def test_names_and_dependencies(packages):
    assert packages["djtap"].name == f"djtap_{VERSION}_amd64.deb" and packages["djtap-dbgsym"].name == f"djtap-dbgsym_{VERSION}_amd64.ddeb"
    fields = subprocess.run(["dpkg-deb", "-f", packages["djtap"]], capture_output=True, text=True, check=True).stdout
    depends = re.search(r"^Depends: (.*)$", fields, re.M)[1]
    for library in (r"libc6 \(>= ", r"libbpf1 \(>= ", r"libdw1 \(>= ", r"libllvm\d+", r"liblua5\.4", r"libstdc\+\+6"):
        assert re.search(library, depends), depends


def test_the_maintainer_is_of_the_history(packages):
    """Not a name that was made up."""
    authors = subprocess.run(["git", "-C", paths.ROOT, "log", "--format=%an <%ae>"], capture_output=True, text=True, check=False).stdout
    if not authors:
        pytest.skip("there is no history here")
    for package in packages.values():
        named = subprocess.run(["dpkg-deb", "-f", package, "Maintainer"], capture_output=True, text=True, check=True).stdout
        assert named.strip() in authors.splitlines(), named


def test_symbols_are_in_a_package_of_their_own(unpacked):
    """gdb finds them there by the build-id."""
    for program in programs(unpacked):
        sections = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout
        assert ".debug_info" not in sections and ".symtab" not in sections, program
        identity = re.search(r"Build ID: (\w\w)(\w+)", subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True).stdout)
        symbols = unpacked / "usr/lib/debug/.build-id" / identity[1] / f"{identity[2]}.debug"
        assert ".debug_info" in subprocess.run(["readelf", "-SW", symbols], capture_output=True, text=True, check=True).stdout


def test_no_path_of_the_build_is_in_it(unpacked):
    """Nor in its symbols: the same sources have the same bytes, wherever they are built (scripts/reproduce)."""
    own = {os.fsencode(str(folder)) for folder in (paths.BUILD, paths.ROOT)}
    wrong = [str(file.relative_to(unpacked)) for file in unpacked.rglob("*") if file.is_file()
             for folder in own if folder in file.read_bytes()]
    assert len(programs(unpacked)) == 2 and wrong == []


def test_packed_twice_it_is_the_same(packages, tmp_path):
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run(["cpack", "-G", "DEB", "-B", tmp_path, "--config", paths.BUILD / "CPackConfig.cmake"], capture_output=True, check=True,
                   env=environment, umask=0o022)
    for file in packages.values():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes(), file.name


def test_lintian_has_no_error(packages):
    if shutil.which("lintian") is None:
        pytest.skip("lintian is not here")
    words = ["lintian", "--fail-on", "error", "--display-level", ">=warning", *(["--allow-root"] if os.getuid() == 0 else []), packages["djtap"]]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "E:" not in done.stdout, done


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A Debian 12 with what every Debian has, and no more."""
    if os.getuid() != 0:
        pytest.skip("only root may make a chroot")
    if shutil.which("mmdebstrap") is None:
        pytest.skip("mmdebstrap is not here")
    folder = tmp_path_factory.mktemp("bare") / "root"
    sources = [file for file in (pathlib.Path("/etc/apt/sources.list"), *sorted(pathlib.Path("/etc/apt/sources.list.d").glob("*")))
               if file.suffix in (".list", ".sources") and file.is_file() and "bookworm" in file.read_text()]
    if not sources:
        pytest.skip("apt gets no packages of Debian 12 here")
    done = subprocess.run(["mmdebstrap", "--mode=root", "--variant=apt", "--skip=cleanup/apt", "bookworm", folder, *sources], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no Debian 12 is to be had here: {done.stderr[-300:]}")
    for name in ("proc", "dev"):
        subprocess.run(["mount", "--rbind", "--make-rslave", f"/{name}", folder / name], check=True)
    yield folder
    for name in ("dev", "proc"):
        subprocess.run(["umount", "-R", "-l", folder / name], check=False)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.timeout(1800)  # it loads LLVM
def test_a_bare_debian(bare, packages):
    """As the README says it, by an ordinary user."""
    shutil.copy(packages["djtap"], bare / "tmp")
    installed = subprocess.run(["chroot", bare, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "--no-install-recommends",
                                f"/tmp/{packages['djtap'].name}"], capture_output=True, text=True, check=False)
    assert installed.returncode == 0, installed
    done = subprocess.run(["chroot", "--userspec=65534:65534", bare, "sh", "-c", f"cd / && HOME=/nonexistent {ONE_LINER}"], capture_output=True,
                          text=True, check=False, timeout=run.PATIENCE, stdin=subprocess.DEVNULL)
    assert done.returncode == 0 and int(re.search(r"^n=(\d+)$", done.stdout, re.M)[1]) > 0, done
    done = subprocess.run(["chroot", "--userspec=65534:65534", bare, "djtap", "-e", "probe begin { println(errno_str(2)) exit() }"],
                          capture_output=True, text=True, check=False, timeout=run.PATIENCE)
    assert (done.returncode, done.stderr) == (0, "") and "ENOENT" in done.stdout, done
