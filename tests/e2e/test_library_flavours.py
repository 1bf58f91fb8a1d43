# SPDX-License-Identifier: Apache-2.0
"""Containers of the C++ library in its flavours: the old ABI, debug mode, and what compilers write of templates. The program prints its own values."""
import re
import shutil
import subprocess

import pytest

PROGRAM = r"""
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>
namespace app { struct Item { int id; }; template <typename T, int N> struct Box { T value; static constexpr int kSize = N; }; }
struct All {
  std::string name, empty, longer;
  std::vector<int> numbers;
  std::vector<std::string> words;
  std::vector<app::Item> items;
  std::map<std::string, int> map;
  std::unordered_map<int, std::string> hashed;
  std::set<int> set;
  std::deque<int> deque;
  std::list<int> list, none, many, endless;
  std::list<std::string> texts;
  std::optional<std::string> optional;
  std::unique_ptr<int> unique;
  std::shared_ptr<std::string> shared;
  std::tuple<int, std::string> tuple;
  std::pair<int, std::string> pair;
  std::vector<bool> bits;
  app::Box<int, 3> box;
};
static std::string show(int value) { return std::to_string(value); }
static std::string show(const app::Item&) { return "{...}"; }
static std::string show(const std::string& value) { return '"' + value + '"'; }
template <typename A, typename B> std::string show(const std::pair<A, B>& p) { return "{" + show(p.first) + ", " + show(p.second) + "}"; }
template <typename C> std::string show_all(const C& all) {
  const bool is_known = _GLIBCXX_USE_CXX11_ABI || all.size() < 4000;  // lists of the old ABI are counted
  std::string text = "{size=" + (is_known ? std::to_string(all.size()) : "4000 or more") + ", [";
  int n = 0;
  for (const auto& each : all)
    if (n++ < 8) text += (n > 1 ? ", " : "") + show(each);
  return text + (n > 8 ? ", ...]}" : "]}");
}
static void tell(const char* name, const std::string& text) { std::printf("%s %s\n", name, text.c_str()); }
__attribute__((noinline)) long take(All* all, std::string by_value, const std::vector<std::string>& reference) {
  asm volatile("" ::"r"(all) : "memory");
  return long(by_value.size() + reference.size());
}
int main() {
  All a;
  a.name = "a name"; a.longer = "a text that is too long to lie in the string itself";
  a.numbers = {1, -2, 3}; a.words = {"x", "yy"}; a.items = {{1}, {2}};
  a.map = {{"one", 1}, {"two", 2}}; a.hashed = {{7, "seven"}}; a.set = {3, 1}; a.deque = {9, 8};
  a.list = {4, 5}; a.texts = {"first", "second"};
  for (int i = 0; i < 20; i++) a.many.push_back(i);
  for (int i = 0; i < 5000; i++) a.endless.push_back(i);
  a.optional = "opt"; a.unique = std::make_unique<int>(5); a.shared = std::make_shared<std::string>("owned");
  a.tuple = {6, "six"}; a.pair = {7, "seven"}; a.bits = {true, false, true}; a.box.value = 11;
  std::string value = "by value";
  std::vector<std::string> reference = {"r"};
  tell("name", show(a.name)); tell("empty", show(a.empty)); tell("longer", show(a.longer));
  tell("numbers", show_all(a.numbers)); tell("words", show_all(a.words)); tell("items", show_all(a.items));
  tell("map", show_all(a.map)); tell("hashed", show_all(a.hashed)); tell("set", show_all(a.set)); tell("deque", show_all(a.deque));
  tell("list", show_all(a.list)); tell("none", show_all(a.none)); tell("many", show_all(a.many)); tell("endless", show_all(a.endless));
  tell("texts", show_all(a.texts)); tell("optional", show(*a.optional)); tell("unique", show(*a.unique));
  tell("shared", "{uses=1, " + show(*a.shared) + "}"); tell("tuple", show(std::make_pair(std::get<0>(a.tuple), std::get<1>(a.tuple))));
  tell("pair", show(a.pair)); tell("bits", "{size=" + std::to_string(a.bits.size()) + "}"); tell("value", show(value));
  tell("reference", show_all(reference)); tell("box", "{.value=11}"); tell("cast", "11");
  std::fflush(stdout);
  return take(&a, value, reference) != 9;
}
"""
MEMBERS = ("name empty longer numbers words items map hashed set deque list none many endless texts optional unique shared tuple pair bits box").split()

FLAVOURS = ["g++", "g++ -D_GLIBCXX_USE_CXX11_ABI=0", "g++ -D_GLIBCXX_DEBUG", "g++ -D_GLIBCXX_USE_CXX11_ABI=0 -D_GLIBCXX_DEBUG", "g++ -O2",
            "g++ -D_GLIBCXX_ASSERTIONS -gdwarf-3", "g++ -fdebug-types-section", "g++ -fdebug-types-section -gdwarf-4 -gsplit-dwarf",
            "g++ -fdebug-types-section -gdwarf-5 -gsplit-dwarf", "clang++-14 -fstandalone-debug", "clang++-19 -fstandalone-debug -gdwarf-4",
            "clang++-19 -fstandalone-debug -gsimple-template-names", "clang++-19 -fstandalone-debug -gsimple-template-names -gdwarf-4",
            "clang++-19 -fstandalone-debug -gsimple-template-names -D_GLIBCXX_USE_CXX11_ABI=0",
            "clang++-19 -fstandalone-debug -gsimple-template-names -fdebug-types-section -gsplit-dwarf=single",
            "clang++-14 -fstandalone-debug -D_GLIBCXX_USE_CXX11_ABI=0 -O1"]


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_containers(djtap_once, tmp_path, flavour):
    words = flavour.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not here")
    (tmp_path / "p.cpp").write_text(PROGRAM)
    for step in (["-c", "p.cpp", "-o", "p.o"], ["p.o", "-o", "p"]):
        subprocess.run([*words, "-std=c++17", "-g", "-w", *step], cwd=tmp_path, check=True)
    prints = " ".join(f'println("= {each} ", $all->{each}$)' for each in MEMBERS)
    result = djtap_once("-e", f'probe func("take") {{ {prints} println("= value ", $by_value$) println("= reference ", $reference$) '
                        'println("= cast ", @cast(&$all->box, "app::Box<int, 3>")->value) }',
                        "-c", tmp_path / "p")
    truth = dict(re.findall(r"^(\w+) (.*)$", result.stdout, re.M))
    said = dict(re.findall(r"^= (\w+) (.*)$", result.stdout, re.M))
    assert len(truth) == len(MEMBERS) + 3 and said == truth, result

DECLARED = {"t.h": """#include <cstdio>
namespace app {
  struct Declared { Declared(int); struct Inner; Inner* inner; int value; };
  inline namespace v1 { struct Versioned; }
  template <typename T> struct Box;
}
namespace other { struct Declared; }
struct Use { app::Declared* first; other::Declared* second; app::Versioned* third; app::Box<int>* number; app::Box<other::Declared>* nested; };
extern Use use;
""", "a.cpp": """#include "t.h"
__attribute__((noinline)) int take(Use* u) { asm volatile("" ::"r"(u) : "memory"); return 0; }
int main() { return take(&use); }
""", "b.cpp": """#include "t.h"
namespace app {
  struct Declared::Inner { char before[3]; int depth; };
  Declared::Declared(int n) : inner(new Inner{"ab", n + 1}), value(n) {}
  struct v1::Versioned { short before; int value; };
  template <typename T> struct Box { T value; };
}
namespace other { struct Declared { double before; int value; }; }
static app::Declared first(7);
static other::Declared second = {0.5, 9};
static app::Versioned third = {1, 10};
static app::Box<int> number = {11};
static app::Box<other::Declared> nested = {{1.5, 12}};
Use use = {&first, &second, &third, &number, &nested};
"""}


@pytest.mark.parametrize("flavour", ["g++", "g++ -fdebug-types-section", "g++ -gsplit-dwarf", "clang++-14", "clang++-19 -gdwarf-4",
                                     "clang++-19 -gsimple-template-names"])
def test_declared_here_and_defined_elsewhere(djtap_once, tmp_path, flavour):
    """Each name in its namespace: two types are called Declared."""
    words = flavour.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]} is not here")
    for name, text in DECLARED.items():
        (tmp_path / name).write_text(text)
    for step in (["-c", "a.cpp"], ["-c", "b.cpp"], ["a.o", "b.o", "-o", "p"]):
        subprocess.run([*words, "-g", *step], cwd=tmp_path, check=True)
    values = "$u->first->value, $u->first->inner->depth, $u->second->value, $u->third->value, $u->number->value, $u->nested->value->value"
    result = djtap_once("-e", f'probe func("take") {{ printf("%d %d %d %d %d %d\\n", {values}) }}', "-c", tmp_path / "p")
    assert "7 8 9 10 11 12\n" in result.stdout, result
