# SPDX-License-Identifier: Apache-2.0
"""Sizes that mean something, and words of one process that belong in few rooms: naughty.py lists what is beyond, and can only become shorter.

How it counts, by patterns over the text without comments and strings (cxx.py; no compiler, so it takes seconds):

* parameters: pieces between the brackets of each function that has its body there, cut at commas outside of brackets and templates.
  What only a declaration shows is counted where the function is.
* data members: what the statements of a class's own body declare, `int a, b;` two; no static ones, functions and types. A structure in
  it counts for itself if it has a name, and as one member if it has none.
* words: files of a folder whose code has the word, or whose strings begin with "/proc. Tests do not count.
* mutable state of compiler/lower: `static` variables of functions and variables of namespaces, unless they are const or constexpr.

The last lines of a run say how long the lists are (conftest.py). A failing test says what to write into naughty.py when a list has become
shorter, and what is new when it has become longer.
"""
import pathlib
import re

import cxx
import naughty
from test_house import OWN_CXX, is_test, read, room_of

MAX_PARAMETERS, MAX_MEMBERS = 6, 12
PRODUCT = [name for name in OWN_CXX if name.endswith((".h", ".cpp")) and not is_test(name)]
# The floor of processes (docs/design.md, "How a probe is placed"), and where a process is named to people; the others get what they need to know
# from these.
OF_PROCESSES = ("runtime/process", "runtime/text", "runtime/memory", "runtime/install", "runtime/clean", "runtime/target/process", "runtime/command",
                "runtime/output")
# Where the kernel shows itself: no process is meant.
OF_THE_KERNEL = {"runtime/kernel": '"/proc'}
WORDS = {"pid_t": r"\bpid_t\b", "Stopped": r"\bStopped\b", "user_regs_struct": r"\buser_regs_struct\b", '"/proc': r'"/proc\b'}


def compare(found, listed, what):
    """Fails where there is more than the list has, and where the list has what is gone."""
    more, gone = sorted(set(found) - set(listed)), sorted(set(listed) - set(found))
    assert more == [], f"new {what}: make them smaller"
    assert gone == [], f"no longer {what}: take them out of naughty.py"


def test_few_parameters():
    found = [f"{name}:{function}" for name in PRODUCT for function, count in cxx.parameters(read(name)) if count > MAX_PARAMETERS]
    compare(found, naughty.PRESCRIBED_PARAMETERS, f"functions with more than {MAX_PARAMETERS} parameters")


def test_few_members():
    found = [f"{name}:{each}" for name in PRODUCT for each, count in cxx.members(read(name)) if count > MAX_MEMBERS]
    compare(found, [*naughty.MANY_MEMBERS, *naughty.PRESCRIBED_MEMBERS], f"classes with more than {MAX_MEMBERS} data members")


def without_comments(text):
    return cxx.TOKEN.sub(lambda match: cxx.blank(match) if match[0].startswith("/") else match[0], text)


def test_processes_are_known_in_few_rooms():
    found = {}
    for name in PRODUCT:
        if room_of(name) in OF_PROCESSES:
            continue
        text = without_comments(read(name))
        for word, pattern in WORDS.items():
            if re.search(pattern, text) and OF_THE_KERNEL.get(room_of(name)) != word:
                folders = found.setdefault(word, {})
                folder = str(pathlib.PurePath(name).parent)
                folders[folder] = folders.get(folder, 0) + 1
    for word in WORDS:
        now, listed = found.get(word, {}), naughty.WORDS.get(word, {})
        more = {folder: count for folder, count in now.items() if count > listed.get(folder, 0)}
        assert more == {}, f"more files than naughty.py says name {word}: {listed}"
        assert now == listed, f"fewer files name {word}: write into naughty.py what there is now"


def mutable_state(text):
    """Names of the variables that live as long as the program and are not constant."""
    code = cxx.code_only(text)
    found = re.findall(r"^\s*(?:inline\s+)?(?:static|thread_local)\s+(?!const\b|constexpr\b|constinit const\b)[^;(){}=]*?(\w+)\s*(?:=|;|\{|\()", code, re.M)
    # Of namespaces: statements that no bracket but those of namespaces is around.
    depth, begin = [], 0
    for match in re.finditer(r"[{};]", code):
        head = code[begin:match.start()]
        if match[0] == "{":
            depth.append("namespace" if re.search(r"\bnamespace\b[^()=]*$", head) else "other")
            begin = match.end() if depth[-1] == "namespace" else begin
        elif match[0] == "}":
            if depth and depth.pop() == "namespace":
                begin = match.end()
            elif "other" not in depth and not re.match(r"\s*;", code[match.end():]):
                begin = match.end()
        elif "other" not in depth:
            plain = cxx.without_templates(head).split("=")[0].split("{")[0]
            if "(" not in plain and len(re.findall(r"\w+", plain)) > 1 and not re.search(
                    r"\b(const|constexpr|using|typedef|struct|class|enum|union|namespace|extern|template|friend|static)\b", plain):
                found.append(re.findall(r"\w+", plain)[-1])
            begin = match.end()
    return found


def test_lower_has_no_mutable_state():
    found = [f"{name}:{variable}" for name in PRODUCT if name.startswith("compiler/lower/") for variable in mutable_state(read(name))]
    assert found == [], "Backend, which the caller of lower() owns, is the place for them"


def test_the_counters_can_count():
    """On text that has each form."""
    text = """
namespace a { int counter; const int kSize = 3; std::map<int, int> all{{1, 2}}; constexpr int kTable[] = {1, 2};
struct Row { int x, y; std::function<void(int, int)> f; static int n; void g(); int h() const { return x; } enum { kA, kB };
  std::map<std::string, std::vector<int>> rows{{}}; struct In { int z; } in; struct Named { int q; int r; };
  Row(int a, std::map<int, int> b = {}, int c = f(1, 2)) : x(a), y{c} { rows.clear(); } int (*pointer)(int); bool operator==(const Row&) const = default;
  union { int one; long two; }; uint8_t bytes[4] = {1, 2}; private: int last_ = 1; };
void none() {} void old(void) { static int calls; static const int kept = 1; } 
int eight(int a, int b, const std::pair<int, int>& c, int d[2], int e, int f, int g, int h) { return 0; }
}
"""
    assert cxx.parameters(text) == [("h", 0), ("Row", 3), ("none", 0), ("old", 0), ("eight", 8)]
    assert dict(cxx.members(text)) == {"In": 1, "Named": 2, "Row": 9}
    assert sorted(mutable_state(text.replace(" static", "\nstatic"))) == ["all", "calls", "counter", "n"]
