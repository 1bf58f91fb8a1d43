# SPDX-License-Identifier: Apache-2.0
"""What compilers, linkers and debug information's own tools make of one program: the values are the same in all of these encodings, those that it
prints itself."""
import re
import shutil
import subprocess

import pytest

HEADER = r"""
#include <stdio.h>
enum color { RED, GREEN = 5, BLUE = -3 };
struct inner { unsigned low : 3; int mid : 5; char name[8]; };
struct base { long first, second; };
struct node { struct base base; struct inner in; union { int i; float f; } u; double weight; short grid[2][3]; enum color color; struct node* next; };
struct hidden;
extern struct hidden* volatile hidden;
extern long total;
long visit(struct node* p, int depth, struct base by_value);
long other(struct hidden* h, struct node* n);
"""
PROGRAM = r"""
#include "p.h"
static inline __attribute__((always_inline)) int small(int n) { __asm__ volatile("" ::"r"(n)); return n * n; }
__attribute__((noinline)) int outer(int a) { return small(a) + small(a + 1); }
int (*volatile pointer)(int);
static int lonely(int v) { return small(v) - 1; }
long total;
__attribute__((noinline)) long visit(struct node* p, int depth, struct base by_value) {
  __asm__ volatile("" ::"r"(p), "r"(depth), "m"(by_value) : "memory");
  if (__builtin_expect(depth > 1000, 0)) { puts("too deep"); puts("for anybody"); }
  total += p->u.i;
  return p->u.i + by_value.first;
}
int main(void) {
  int s = 0;
  for (int i = 0; i < 10; i++) s += outer(i) + small(i + 100);
  pointer = lonely;
  s += pointer(3) == 12345;
  for (int i = 0; i < 4; i++) {
    struct node last = {{i, -i}, {i, -i, "last"}, {7 * i}, i + 0.5, {{0, 1, 2}, {3, 4, 5 + i}}, RED, 0};
    struct node n = {{10 * i, 11 * i}, {i + 1, i - 3, "name"}, {100 + i}, i + 0.25, {{0, i, 2}, {3, 4, -7 - i}}, i % 2 ? GREEN : BLUE, &last};
    struct base value = {i * 1000, i};
    printf("%ld %ld %u %d %s %d %.2f %d %d %ld %d %d %ld %ld\n", n.base.first, n.base.second, n.in.low, n.in.mid, n.in.name, n.u.i, n.weight,
           n.grid[1][2], n.color, n.next->base.second, n.next->grid[1][2], i * 3, value.first, total);
    printf("returns %ld\n", visit(&n, i * 3, value));
    other(hidden, &n);
  }
  return s == 1;
}
"""
OTHER = r"""
#include "p.h"
struct hidden { char before[3]; long value; };
static struct hidden it = {"ab", 40};
struct hidden* volatile hidden = &it;
__attribute__((noinline)) long other(struct hidden* h, struct node* n) {
  __asm__ volatile("" ::"r"(h), "r"(n) : "memory");
  printf("other %ld %ld %s\n", h->value++, n->base.second, n->in.name);
  return 0;
}
long unused(struct node* n) { return n->u.i; }
"""
PRINT = ('probe func("visit") { printf("= %d %d %d %d %s %d %.2f %d %d %d %d %d %d %d\\n", $p->base->first, $p->base->second, $p->in->low, $p->in->mid, '
         'user_string(&$p->in->name[0]), $p->u->i, $p->weight, $p->grid[1][2], $p->color, $p->next->base->second, $p->next->grid[1][2], $depth, '
         '$by_value->first, @var("total")) } '
         'probe func("visit").return { printf("= returns %d\\n", $return) } '
         'probe func("other") { printf("= other %d %d %s\\n", $h->value, @cast($n, "struct node")->base->second, '
         'user_string(&$n->in->name[0])) } '
         'probe func("small") { n++ } probe func("small").inline { m++ } probe func("main").callee("small") { c++ } ')
SMALL_LINE = next(number for number, text in enumerate(PROGRAM.split("\n"), 1) if "int small" in text)
# small() runs 10 times in a loop that clang unrolls and may leave no instruction of it, twice in each call of outer(), and once more.
COPIES = {"n": 10 * 2 + 10 + 1, "m": 10 * 2 + 10 + 1, "c": 10, "l": 10 * 2 + 10 + 1}

SEPARATE = "objcopy --only-keep-debug p p.debug && strip -g p && objcopy --add-gnu-debuglink=p.debug p"
# Compiler and its options | those of linking | what is done with the program then
ENCODINGS = [f"{compiler} -gdwarf-{version}" for compiler in ("gcc -O0", "gcc -O2", "clang-14 -O0", "clang-14 -O2", "clang-19 -O2")
             for version in (2, 3, 4, 5)]
ENCODINGS += [f"{compiler} -gdwarf-{version} -fdebug-types-section" for compiler in ("gcc -O0", "clang-14 -O0", "clang-19 -O2") for version in (4, 5)]
ENCODINGS += [f"{compiler} -gdwarf-{version} -gsplit-dwarf{more}" for compiler in ("gcc -O1", "clang-19 -O2") for version in (4, 5)
              for more in ("", " -fdebug-types-section")]
ENCODINGS += [f"{compiler} -gdwarf-{version} -gsplit-dwarf=single{more}" for compiler, version, more in (
    ("clang-14 -O0", 4, ""), ("clang-14 -O2", 5, ""), ("clang-19 -O2", 4, " -fdebug-types-section"), ("clang-19 -O2", 5, " -fdebug-types-section"))]
ENCODINGS += [
    "gcc -O0 -gdwarf-2 -gstrict-dwarf", "gcc -O2 -gdwarf-5 -gstrict-dwarf", "gcc -O2 -gdwarf-3 -gdwarf64", "gcc -O2 -gdwarf-5 -gdwarf64",
    "clang-19 -O2 -gdwarf-5 -gdwarf64", "gcc -O2 -gz=zlib | -gz=zlib", "gcc -O2 -gz=zlib-gnu | -gz=zlib-gnu", "clang-19 -O2 -gz=zlib | -gz=zlib",
    "gcc -O1 -gsplit-dwarf -gz=zlib", "clang-19 -O1 -gsplit-dwarf=single -fdebug-types-section -gz=zlib",
    "gcc -O2 || dwz p", "gcc -O2 -gdwarf-4 || dwz p", "clang-19 -O2 -gdwarf-4 || dwz p", "gcc -O2 || cp p p2 && dwz -m p.alt p p2",
    f"gcc -O2 || {SEPARATE}", f"clang-19 -O2 -gz=zlib | -gz=zlib | {SEPARATE}", f"gcc -O2 || dwz p && {SEPARATE}",
    "gcc -O2 -flto | -O2 -flto", "gcc -O2 -gdwarf-4 -flto | -O2 -flto", "clang-19 -O2 -flto | -O2 -flto -fuse-ld=lld",
    "clang-19 -O2 -flto=thin | -O2 -flto=thin -fuse-ld=lld", "gcc -O2 | -static", "gcc -O2 -fPIE | -static-pie", "gcc -O2 -fno-pie | -no-pie",
    "clang-19 -O2 -gsimple-template-names", "gcc -O0 -femit-struct-debug-baseonly", "gcc -O2 -femit-struct-debug-reduced",
    "gcc -O2 -gno-column-info", "clang-19 -O2 -gno-column-info", "gcc -O2 -gno-variable-location-views -gno-statement-frontiers",
    "gcc -O2 -ffunction-sections | -Wl,--gc-sections", "gcc -O2 -gdwarf-4 -ffunction-sections | -Wl,--gc-sections -fuse-ld=gold",
    "clang-19 -O0 -gdwarf-4 -ffunction-sections | -Wl,--gc-sections -fuse-ld=lld", "clang-19 -O2 -gdwarf-4 -ffunction-sections | -Wl,--gc-sections",
    "clang-19 -O2 -fbasic-block-sections=all", "gcc -O2 -freorder-blocks-and-partition -fno-guess-branch-probability", "gcc -O2 -fcf-protection=full",
    "clang-19 -O2 -fcf-protection=full", "gcc -O2 || objcopy -R .debug_aranges p", "gcc -O2 -gpubnames -fdebug-types-section | -fuse-ld=gold -Wl,--gdb-index",
    "clang-19 -O2 -ggnu-pubnames | -fuse-ld=lld -Wl,--gdb-index", "gcc -Os -g3", "gcc -Og -fno-dwarf2-cfi-asm",
    "gcc -O2 -fdebug-prefix-map=.=/nowhere | -Wl,--build-id=none", "clang-19 -O2 -fno-standalone-debug -fdebug-default-version=4",
    "gcc -O2 -fno-asynchronous-unwind-tables", "gcc -O2 || objcopy --compress-debug-sections=zlib p", "gcc -O2 -gno-as-loc-support -gno-as-locview-support",
    "gcc -O2 | -fuse-ld=mold", "clang-19 -O2 -gdwarf-4 -ffunction-sections | -Wl,--gc-sections -fuse-ld=mold",
    "gcc -O2 -gdwarf-4 -fdebug-types-section | -fuse-ld=mold -Wl,--compress-debug-sections=zlib", "gcc -O2 -static | -static -fuse-ld=mold",
    "clang-19 -O1 -gsplit-dwarf -ggnu-pubnames | -fuse-ld=mold -Wl,--gdb-index", "gcc -O1 -gsplit-dwarf -gdwarf-4 || dwp -e p && rm *.dwo",
    "gcc -O1 -gsplit-dwarf -gdwarf-4 || dwp -e p && rm *.dwo && objcopy --compress-debug-sections=zlib p.dwp",
    "clang-19 -O1 -gsplit-dwarf -gdwarf-5 || llvm-dwp-19 -e p -o p.dwp && rm *.dwo && objcopy --compress-debug-sections=zlib p.dwp",
    "gcc -O1 -gsplit-dwarf -gdwarf-4 || dwp -e p && rm *.dwo && objcopy --compress-debug-sections=zlib-gnu p.dwp",
]


def build(encoding, folder):
    """The program in that encoding."""
    compiling, linking, then = (encoding.split("|", 2) + ["", ""])[:3]
    words = compiling.split()
    for tool in (words[0], *re.findall(r"\b(dwz|dwp|gold|lld|mold)\b", linking + then)):
        if shutil.which({"gold": "ld.gold", "lld": "ld.lld-19", "mold": "ld.mold"}.get(tool, tool)) is None:
            pytest.skip(f"{tool} is not here")
    for name, text in (("p.h", HEADER), ("p.c", PROGRAM), ("q.c", OTHER)):
        (folder / name).write_text(text)
    commands = [f"{words[0]} -g {' '.join(words[1:])} -c {each}.c -o {each}.o" for each in "pq"]
    commands += [f"{words[0]} -g {linking} p.o q.o -o p", then or "true"]
    for command in commands:
        done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False)
        if re.search("unknown argument|unrecognized command-line option|unsupported", done.stderr):
            pytest.skip(f"{words[0]} does not know {encoding}")
        assert done.returncode == 0, done
    return folder / "p"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding(djtap_once, tmp_path, encoding):
    script = PRINT + f'probe func("small@p.c:{SMALL_LINE}") {{ l++ }}'
    result = djtap_once("-e", script, "-c", build(encoding, tmp_path))
    lines = result.stdout.splitlines()
    truth = [line for line in lines if re.match(r"\d|returns|other", line)]
    assert len(truth) == 12 and [line[2:] for line in lines if line.startswith("= ")] == truth, result
    assert result.globals == COPIES and not re.search(r"error|warning", result.stderr), result


@pytest.mark.parametrize("compiler", [f"{clang} -O2 -gdwarf-{version}" for clang in ("clang-14", "clang-19") for version in (2, 3, 4, 5)])
def test_constants(djtap_once, tmp_path, compiler):
    """Before DWARF 4 no expression says that it gives a value and no place: constants are values."""
    script = 'probe func("main").callee("small") { s += $n }'
    result = djtap_once("-e", script, "-c", build(compiler, tmp_path))
    assert result.globals == {"s": sum(range(100, 110))} and result.stderr == "", result


COMPUTED = r"""
struct pair { int a, b; };
__attribute__((noinline)) int use(int v) { __asm__ volatile("" ::"r"(v) : "memory"); return v; }
__attribute__((noinline)) int parts(int n) {
  struct pair p = {5, n};
  int sum = use(n);
  use(sum); /* here */
  p.b = 11;
  use(p.a + n); /* there */
  return sum;
}
static inline __attribute__((always_inline)) int step(int j) {
  int four = j * 4, more = j + 3;
  use(j); /* step */
  return four + more;
}
int main(void) {
  int all = 0;
  for (int i = 0; i < 3; i++) {
    all += step(i);
    parts(i + 7);
  }
  return all == 1;
}
"""


@pytest.mark.parametrize("compiler", [f"{clang} -O2 -gdwarf-{version}" for clang in ("clang-14", "clang-19") for version in (2, 3, 4, 5)])
def test_computed_values(djtap_once, tmp_path, compiler):
    """What is computed of constants alone, and constant pieces of a variable, are values, too. The loop is unrolled; where clang would compute with a
    register it gives no location."""
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"{compiler.split()[0]} is not here")
    (tmp_path / "c.c").write_text(COMPUTED)
    subprocess.run(f"{compiler} -g -o c c.c", shell=True, cwd=tmp_path, check=True)
    line = {word: next(number for number, text in enumerate(COMPUTED.split("\n"), 1) if f"/* {word} */" in text) for word in ("here", "there", "step")}
    script = (f'probe func("step@c.c:{line["step"]}") {{ printf("step %d %d %d\\n", $j, @choose_defined($four, $j * 4), '
              f'@choose_defined($more, $j + 3)) }} '
              f'probe func("parts@c.c:{line["here"]}") {{ printf("here %d %d\\n", $p->a, $p->b) }} '
              f'probe func("parts@c.c:{line["there"]}") {{ printf("there %d %d\\n", $p->a, $p->b) }}')
    result = djtap_once("-e", script, "-c", tmp_path / "c")
    wanted = []
    for i in range(3):
        wanted += [f"step {i} {4 * i} {i + 3}", f"here 5 {i + 7}", "there 5 11"]
    assert result.stdout.splitlines() == wanted and result.stderr == "", result


METHODS = """#include <stdio.h>
static volatile int in = 5;
namespace shop {
struct Till {
  int rate;
  inline int taken(int n) const { in = n; return n * rate + 1; }
};
template <class T> inline T doubled(T n) { in = n; return n + n; }
inline namespace now { inline int fresh(int n) { in = n; return n ^ 3; } }
}
int main(int n, char**) {
  const shop::Till till = {n};
  long sum = 0;
  for (int i = 0; i < 5; i++) sum += till.taken(i) + shop::doubled(in) + shop::fresh(in);
  printf("%ld\\n", sum);
}
"""
NAMES = ["Till::taken", "shop::Till::taken", "shop::doubled", "doubled<int>", "shop::fresh", "shop::now::fresh"]


@pytest.mark.parametrize("compiler", [f"{compiler} -gdwarf-{version}" for compiler in ("g++", "clang++-14", "clang++-19") for version in (2, 3, 4, 5)])
def test_names_of_what_is_only_inlined(djtap_once, tmp_path, compiler):
    """Such functions have no symbol; before DWARF 4 their linkage names are an attribute of MIPS'."""
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"{compiler.split()[0]} is not here")
    (tmp_path / "m.cpp").write_text(METHODS)
    subprocess.run([*compiler.split(), "-g", "-O1", "-fno-unroll-loops", "m.cpp", "-o", "m"], cwd=tmp_path, check=True)
    script = " ".join(f'probe func("{name}") {{ n["{name}"]++ }}' for name in NAMES)
    result = djtap_once("-e", script, "-c", tmp_path / "m")
    assert result.returncode == 0, result
    counted = {name.strip('"'): int(count) for name, count in result.array("n")}
    assert set(counted) == set(NAMES) and counted["shop::Till::taken"] == 5, result


LOOPS = """#include <stdio.h>
static volatile int entered, seen;
static inline int each(int n) { entered = entered + 1; return n * 3; }
static inline long inner(int n) { long sum = 0; do { seen = n; sum += seen; } while (--n > 0); return sum; }
__attribute__((noinline)) long outer_loop(int n) { long sum = 0; for (int i = 0; i < n; i++) sum += each(i); return sum; }
__attribute__((noinline)) long inner_loop(int n) { return inner(n) + 1; }
__attribute__((noinline)) long both_loops(int n) { long sum = 0; do { sum += inner(n) ^ each(n); } while (--n > 0); return sum; }
int main(int argc, char** argv) {
  printf("%ld %ld %ld\\n", outer_loop(argc * 9), inner_loop(argc * 8), both_loops(argc * 4));
  printf("each=%d\\ninner=%d\\n", entered, 1 + 4);
}
"""


@pytest.mark.parametrize("compiler", [f"{compiler} -O{level}{more}" for compiler in ("gcc", "clang-14", "clang-19") for level in (1, 2, 3)
                                      for more in ("", " -falign-loops=32")])
def test_copies_with_which_a_loop_begins(djtap_once, tmp_path, compiler):
    """The nops that align the loop belong to the copy, and run once; a loop of the copy's own is entered once."""
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"{compiler.split()[0]} is not here")
    (tmp_path / "n.c").write_text(LOOPS)
    subprocess.run([*compiler.split(), "-g", "-w", "n.c", "-o", "n"], cwd=tmp_path, check=True)
    result = djtap_once("-e", 'probe func("each") { n["each"]++ } probe func("inner") { n["inner"]++ }', "-c", tmp_path / "n")
    assert {f'{name.strip(chr(34))}={count}' for name, count in result.array("n")} == set(re.findall(r"^(?:each|inner)=\d+", result.stdout, re.M)), result
