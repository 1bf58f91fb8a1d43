"""Debug info in .dwo files (-gsplit-dwarf): read where they are; where they are gone or packed, the message names them."""
import shutil
import subprocess

import pytest

READS = 'probe process.function("sum_node") { println("value ", $n->value) }'


@pytest.fixture(params=["gcc -gdwarf-5", "gcc -gdwarf-4", "clang-19 -gdwarf-5"])
def folder(request, tmp_path):
    words = request.param.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"there is no {words[0]}")
    source = "struct node { long before, value; } n = {1, 42};\n" \
             "__attribute__((noinline)) long sum_node(struct node *n) { return n->before + n->value; }\n" \
             "int main(void) { return sum_node(&n) != 43; }\n"
    (tmp_path / "split.c").write_text(source)
    for command in ([*words, "-O1", "-g", "-gsplit-dwarf", "-c", "split.c"], [words[0], "split.o", "-o", "split"]):
        subprocess.run(command, cwd=tmp_path, check=True)
    return tmp_path


def test_beside_the_program(djtap_once, folder):
    assert "value 42\n" in djtap_once("-e", READS, "-c", folder / "split").stdout


def test_gone(djtap_once, folder):
    (folder / "split.dwo").unlink()
    result = djtap_once("-e", READS, "-c", folder / "split")
    assert result.stderr == f"""error[DJ3010]: $n is not known: split has no debug info for sum_node()
 --> <command line>:1:56
  |
1 | {READS}
  |                                                        ^^
  = it was built with -gsplit-dwarf; its debug info is in {folder}/split.dwo, which cannot be read
help: keep the .dwo files, or build without -gsplit-dwarf
""", result
    lines = djtap_once("-e", 'probe process.statement("sum_node@split.c:2") { n++ }', "-c", folder / "split")
    assert lines.globals == {"n": 1}, lines  # line tables stay in the program


def test_packed(djtap_once, folder, request):
    """Whichever the version of elfutils: the value, or what is missing."""
    packer = {"gcc -gdwarf-4": "dwp", "clang-19 -gdwarf-5": "llvm-dwp-19"}.get(request.node.callspec.params["folder"])
    if packer is None or shutil.which(packer) is None:
        pytest.skip("no program packs this form")  # gcc's DWARF 5: dwp 2.40 crashes, llvm-dwp-19 never ends
    subprocess.run([packer, "split.dwo", "-o", "split.dwp"], cwd=folder, check=True)
    (folder / "split.dwo").unlink()
    result = djtap_once("-e", READS, "-c", folder / "split")
    assert "value 42\n" in result.stdout or f"{folder}/split.dwp is not read" in result.stderr, result
