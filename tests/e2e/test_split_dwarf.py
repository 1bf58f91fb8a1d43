# SPDX-License-Identifier: Apache-2.0
"""Debug info in .dwo files (-gsplit-dwarf) and packed ones: read where they are; where they are gone, the message names them."""
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


PACKED = {"a": """#include "t.h"
#include <stdio.h>
int main(void) {
  for (int i = 0; i < 3; i++) {
    T first = {{i, -i}, 0, "first"}, second = {{10 * i, 100}, &first, "second"};
    printf("one %ld %ld %s\\n", first.pair.low, second.pair.low, second.text);
    one(&second);
    printf("two %ld %s\\n", second.pair.high, first.text);
    two(&second, second.pair);
  }
}
""", "b": """#include "t.h"
long one(T* t) { struct mine { long value; } m = {t->pair.low}, *my = &m; asm volatile("" ::"r"(my), "r"(t) : "memory"); return my->value; }
""", "c": """#include "t.h"
long two(T* other, P by_value) { asm volatile("" ::"r"(other) : "memory"); return by_value.high; }
"""}
TYPES = """#include <string.h>
typedef struct pair { long low, high; } P;
typedef struct tee { P pair; struct tee* next; char text[12]; } T;
#ifdef __cplusplus
extern "C" {
#endif
long one(T* t) __attribute__((noinline)); long two(T* other, P by_value) __attribute__((noinline));
#ifdef __cplusplus
}
#endif
"""


@pytest.mark.parametrize("packer, compiler", [("dwp", "gcc -gdwarf-4"), ("dwp", "gcc -gdwarf-4 -fdebug-types-section"),
                                              ("llvm-dwp-19", "gcc -gdwarf-4 -fdebug-types-section"), ("llvm-dwp-19", "clang-19 -gdwarf-5"),
                                              ("llvm-dwp-19", "clang-19 -gdwarf-4"), ("llvm-dwp-14", "clang-14 -gdwarf-5"),
                                              ("llvm-dwp-19", "clang++-19 -x c++ -gdwarf-5 -fdebug-types-section"),
                                              ("llvm-dwp-19", "clang++-19 -x c++ -gdwarf-4 -fdebug-types-section")])
def test_packed(djtap_once, tmp_path, packer, compiler):
    """Types that several units have stand in one of them only."""
    words = compiler.split()
    if shutil.which(packer) is None or shutil.which(words[0]) is None:
        pytest.skip(f"there is no {packer}, or no {words[0]}")
    (tmp_path / "t.h").write_text(TYPES)
    for name, text in PACKED.items():
        (tmp_path / f"{name}.c").write_text(text)
        subprocess.run([*words, "-O1", "-g", "-gsplit-dwarf", "-c", f"{name}.c"], cwd=tmp_path, check=True)
    subprocess.run([words[0], *(f"{name}.o" for name in PACKED), "-o", "split"], cwd=tmp_path, check=True)
    subprocess.run([packer, *(f"{name}.dwo" for name in PACKED), "-o", "split.dwp"], cwd=tmp_path, check=True)
    script = ('probe func("one") { printf("= one %d %d %s\\n", $t->next->pair->low, $t->pair->low, user_string(&$t->text[0])) } '
              'probe func("two") { printf("= two %d %s\\n", $by_value->high, user_string(&$other->next->text[0])) }')
    with_files = djtap_once("-e", script, "-c", tmp_path / "split")
    for name in PACKED:
        (tmp_path / f"{name}.dwo").unlink()
    for result in (with_files, djtap_once("-e", script, "-c", tmp_path / "split")):
        lines = result.stdout.splitlines()
        truth = [line for line in lines if not line.startswith("=")]
        assert len(truth) == 6 and [line[2:] for line in lines if line.startswith("= ")] == truth, result


def test_of_another_program(djtap_once, folder):
    """A packed file without the unit is named."""
    (folder / "split.dwo").rename(folder / "split.dwp")
    result = djtap_once("-e", READS, "-c", folder / "split")
    assert f"{folder}/split.dwp does not have it" in result.stderr, result
