"""What older and other compilers write for the same thing: values and counts are the ones that the program prints itself."""
import re
import shutil
import subprocess

import pytest

MEMBERS = r"""
#include <stdio.h>
struct inner { unsigned low : 3; int mid : 5; char name[8]; };
struct base { long first, second; };
struct node { struct base base; struct inner in; union { int i; float f; } u; double weight; short grid[2][3]; struct node* next; };
__attribute__((noinline)) long visit(struct node* p) { __asm__ volatile("" ::"r"(p)); return p->u.i; }
int main(void) {
  for (int i = 0; i < 4; i++) {
    struct node last = {{i, -i}, {i, -i, "last"}, {7 * i}, i + 0.5, {{0, 1, 2}, {3, 4, 5 + i}}, 0};
    struct node n = {{10 * i, 11 * i}, {i + 1, i - 3, "name"}, {100 + i}, i + 0.25, {{0, i, 2}, {3, 4, -7 - i}}, &last};
    printf("%ld %ld %u %d %s %d %.2f %d %ld %d\n", n.base.first, n.base.second, n.in.low, n.in.mid, n.in.name, n.u.i, n.weight, n.grid[1][2],
           n.next->base.second, n.next->grid[1][2]);
    visit(&n);
  }
}
"""
PRINT = ('probe func("visit") { printf("= %d %d %d %d %s %d %.2f %d %d %d\\n", $p->base->first, $p->base->second, $p->in->low, $p->in->mid, '
         'user_string(&$p->in->name[0]), $p->u->i, $p->weight, $p->grid[1][2], $p->next->base->second, $p->next->grid[1][2]) }')

# small() runs 10 times in a loop that clang unrolls and may leave no instruction of it, twice in each call of outer(), and once more.
COPIES = r"""
#include <stdio.h>
static inline __attribute__((always_inline)) int small(int n) { __asm__ volatile("" ::"r"(n)); return n * n; }
__attribute__((noinline)) int outer(int a) { return small(a) + small(a + 1); }
int (*volatile pointer)(int);
static int lonely(int v) { return small(v) - 1; }
int main(void) {
  int s = 0;
  for (int i = 0; i < 10; i++) s += outer(i) + small(i + 100);
  pointer = lonely;
  return s + pointer(3) == 12345;
}
"""
CALLED = 10 * 2 + 10 + 1


def built(compiler, source, folder):
    words = compiler.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not here")
    (folder / "p.c").write_text(source)
    done = subprocess.run([*words, "-g", "-o", "p", "p.c"], cwd=folder, capture_output=True, text=True, check=False)
    if "unknown argument" in done.stderr:
        pytest.skip(f"{words[0]} does not know {compiler}")
    assert done.returncode == 0, done
    return folder / "p"


@pytest.mark.parametrize("compiler", [f"{compiler} {version}" for compiler in ("gcc -O0", "gcc -O2", "clang-14 -O0", "clang-19 -O2")
                                      for version in ("-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5")] + ["gcc -O0 -gdwarf-2 -gstrict-dwarf"])
def test_members(djtap_once, tmp_path, compiler):
    """Until DWARF 3 a member's place is an expression."""
    check_members(djtap_once, tmp_path, compiler)


@pytest.mark.parametrize("compiler", [f"{compiler} -O0 -gdwarf-{version}" for compiler in ("gcc", "clang-14", "clang-19") for version in (4, 5)])
def test_type_units(djtap_once, tmp_path, compiler):
    """Types stand in units of their own; gcc leaves an entry without a name in their place."""
    check_members(djtap_once, tmp_path, f"{compiler} -fdebug-types-section")


def check_members(djtap_once, tmp_path, compiler):
    result = djtap_once("-e", PRINT, "-c", built(compiler, MEMBERS, tmp_path))
    lines = result.stdout.splitlines()
    truth = [line for line in lines if not line.startswith("= ")]
    assert len(truth) == 4 and [line[2:] for line in lines if line.startswith("= ")] == truth, result


@pytest.mark.parametrize("compiler", ["gcc -O1", "gcc -O2", "gcc -O3", "gcc -O2 -gdwarf-2", "clang-14 -O1", "clang-14 -O2 -gdwarf-5", "clang-19 -O1",
                                      "clang-19 -O2", "clang-19 -O3"])
def test_inlined_copies(djtap_once, tmp_path, compiler):
    """clang gives copies that are not contiguous ranges and no entry, and one copy to all rounds of a loop that it has unrolled. (In
    DWARF 4 the ranges of outer()'s first copy begin with an empty one at the unit's base, which is how a list ends: it is lost.)"""
    line = 1 + COPIES.split("\n").index(next(text for text in COPIES.split("\n") if "int small" in text))
    script = (f'probe func("small") {{ n++ }} probe func("small").inline {{ m++ }} probe func("small@p.c:{line}") {{ l++ }} '
              'probe func("main").callee("small") { c++ }')
    result = djtap_once("-e", script, "-c", built(compiler, COPIES, tmp_path))
    assert result.globals == {"n": CALLED, "m": CALLED, "l": CALLED, "c": 10}, result
    assert not re.search(r"error|warning", result.stderr), result
