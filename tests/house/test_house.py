# SPDX-License-Identifier: Apache-2.0
"""House rules: who includes whom, sizes, first lines, what the agent may contain. Runs in seconds."""
import re
import subprocess

import pytest

import cxx
from support import paths

MAX_FILE_LINES, MAX_FUNCTION_LINES, MAX_COLUMNS = 500, 70, 160

# Files and functions that are too long for now. An entry that is no longer needed fails the test.
LONG_FILES: set = set()
LONG_FUNCTIONS: set = set()  # "path:name"

CODE = ("arch", "compiler", "grammar", "runtime", "stdlib", "tapsets", "examples", "tests", "scripts", "docs", "packaging", ".ci", "kernel")


def project_files(*endings):
    """Tracked or new files of the project, with one of the endings."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *CODE], cwd=paths.ROOT,
                            capture_output=True, text=True, check=False).stdout.split()
    if not listed:  # no git here
        listed = [str(path.relative_to(paths.ROOT)) for part in CODE for path in (paths.ROOT / part).rglob("*") if path.is_file()]
    return sorted({name for name in listed if name.endswith(endings) and (paths.ROOT / name).is_file()})


LICENCE = "SPDX-License-Identifier: "
TOP_FILES = ("CHANGELOG.md", "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md", "README.md", "SECURITY.md", ".clang-format", ".clang-tidy",
             ".gitignore", "pytest.ini")


def licence_of(name):
    """The kernel takes modules of its own licence only; djtap itself reads the one header that both have."""
    if name == "kernel/device_abi.h":
        return "GPL-2.0-only OR Apache-2.0"
    return "GPL-2.0-only" if name.startswith(("kernel/", "tests/bench/register_kprobes/")) else "Apache-2.0"


CXX_FILES = project_files(".h", ".cpp", ".c", ".S")
OWN_CXX = [name for name in CXX_FILES if not name.startswith(("tests/", "examples/", "kernel/"))]
SOURCES = project_files(".h", ".cpp", ".c", ".S", ".py", ".djt", ".g4", ".sh", ".def", ".lua", "CMakeLists.txt")


def read(name):
    return (paths.ROOT / name).read_text()


# Room: the folders and single headers its files may include, besides its own.
MODEL = ["compiler/base", "compiler/diag", "compiler/stages"]  # what the stages hand on, and what all use
ROOMS = {
    "runtime/shared": [],
    "stdlib": ["runtime/shared", "runtime/agent"],
    "runtime/agent": ["runtime/shared"],
    "arch/x86_64": ["compiler/base", "runtime/shared"],
    "compiler/base": [],
    "compiler/diag": ["compiler/base"],
    "compiler/stages": ["compiler/base", "compiler/diag/source.h", "runtime/shared", "stdlib/builtins.h", "arch/x86_64/registers.h"],
    "compiler/editor": [],
    "compiler/parse": [*MODEL],
    "compiler/tapset": [*MODEL, "compiler/parse", "stdlib/builtins.h"],
    "compiler/regex": ["runtime/shared"],
    "compiler/check": [*MODEL, "compiler/regex", "arch/x86_64/registers.h", "runtime/shared", "stdlib/builtins.h", "stdlib/builtins.def"],
    "compiler/debuginfo": [*MODEL, "arch/x86_64/registers.h", "arch/x86_64/text.h", "arch/x86_64/calls.h", "arch/x86_64/reach.h",
                           "arch/x86_64/entry_place.h"],
    "compiler/btf": ["compiler/base"],
    "compiler/resolve": [*MODEL, "compiler/debuginfo", "compiler/btf", "arch/x86_64/registers.h", "arch/x86_64/calls.h", "arch/x86_64/text.h",
                         "arch/x86_64/decode.h", "arch/x86_64/entry_place.h", "runtime/shared", "stdlib/builtins.h"],
    "compiler/lower": [*MODEL, "arch/x86_64/registers.h", "arch/x86_64/detour.h", "runtime/shared", "stdlib/builtins.h",
                       "stdlib/builtins.def"],
    "runtime/process": ["compiler/base", "arch/x86_64", "runtime/shared"],
    "runtime/output": [*MODEL, "runtime/process", "runtime/shared", "runtime/agent", "stdlib/builtins.h"],
    "runtime/command": [*MODEL, "arch/x86_64/safety.h", "runtime/process/named_processes.h", "runtime/output"],
    "runtime/patch": [*MODEL, "arch/x86_64", "runtime/process", "runtime/shared"],
    "runtime/detours": [*MODEL, "arch/x86_64", "runtime/process", "runtime/patch", "runtime/shared"],
    "runtime/text": ["compiler/base", "arch/x86_64", "runtime/process", "runtime/patch", "runtime/shared"],
    "runtime/memory": [*MODEL, "arch/x86_64", "runtime/process", "runtime/patch", "runtime/detours", "runtime/text", "runtime/shared",
                       "stdlib/builtins.h"],
    "runtime/install": [*MODEL, "arch/x86_64", "runtime/process", "runtime/patch", "runtime/detours", "runtime/text", "runtime/memory",
                        "runtime/target", "runtime/shared"],
    "runtime/clean": ["compiler/base", "runtime/process", "runtime/output", "runtime/text", "runtime/memory", "runtime/install", "runtime/shared"],
    "runtime/target": [*MODEL, "runtime/process/mapped_module.h", "runtime/process/session_processes.h", "runtime/output", "runtime/patch", "runtime/detours",
                       "runtime/memory/arena_format.h",
                       "runtime/shared"],
    "runtime/target/fake": [*MODEL, "runtime/process", "runtime/patch", "runtime/detours", "runtime/text", "runtime/target"],
    "runtime/target/process": [*MODEL, "arch/x86_64/sample.h", "runtime/process", "runtime/output", "runtime/patch", "runtime/detours",
                               "runtime/text",
                               "runtime/memory", "runtime/install", "runtime/clean", "runtime/target", "runtime/shared"],
    "runtime/kernel": [*MODEL, "arch/x86_64/decode.h", "kernel/device_abi.h", "runtime/process", "runtime/output/progress.h", "runtime/patch",
                       "runtime/detours", "runtime/memory", "runtime/target", "runtime/shared"],
    "runtime/session": [*MODEL, "compiler/debuginfo/pattern.h", "runtime/process", "runtime/output", "runtime/patch", "runtime/detours",
                        "runtime/memory",
                        "runtime/target", "runtime/shared"],
    "runtime/lua": [*MODEL, "runtime/output"],
    "runtime/run": [*MODEL, "compiler/editor", "compiler/parse", "compiler/tapset", "compiler/check", "compiler/debuginfo/call_frames.h",
                    "compiler/debuginfo/libdw_version.h", "compiler/debuginfo/text.h", "compiler/resolve", "runtime/process", "runtime/output",
                    "runtime/command", "runtime/patch", "runtime/detours", "runtime/memory/arena_place.h", "runtime/clean", "runtime/target",
                    "runtime/target/process", "runtime/kernel", "runtime/session", "runtime/lua", "runtime/shared", "stdlib/builtins.h"],
    "runtime/run/doctor": [*MODEL, "compiler/tapset", "compiler/debuginfo", "compiler/resolve", "runtime/process", "runtime/output", "runtime/command",
                       "runtime/patch", "runtime/detours", "runtime/memory", "runtime/clean", "runtime/target/process", "runtime/kernel", "runtime/session",
                       "runtime/run",
                       "runtime/shared"],
}
TOP = {"runtime/main.cpp": ["compiler", "runtime/command", "runtime/run"]}  # the map: what it shows are faces of these, and of rooms inside of them
BESIDE_TOP = ["compiler/base"]  # what other files of no room may
GENERATED = ("DjtLexer.h", "DjtParser.h", "DjtBaseVisitor.h", "DjtVisitor.h", "lua_plugins.inc")

# Headers of others, and the only rooms (or files) that may include them.
THIRD_PARTY = {
    r"antlr4": ["compiler/parse"],
    r"(elfutils/|dwarf\.h|libelf|gelf|libdw)": ["compiler/debuginfo"],
    r"(llvm|llvm-c|clang)/(?!Demangle/)": ["compiler/lower"],
    r"llvm/Demangle/": ["compiler/debuginfo"],
    r"bpf/": ["compiler/btf"],
    r"Zydis": ["arch/x86_64"],
    r"CLI/": ["runtime/command/options.cpp", "runtime/command/help.cpp"],
    r"nlohmann/": ["compiler/diag", "compiler/editor", "runtime/output", "runtime/lua", "runtime/run/doctor"],
    r"fmt/": [*MODEL, "compiler/editor", "compiler/parse", "compiler/tapset", "compiler/check", "compiler/debuginfo", "compiler/btf", "compiler/resolve",
              "compiler/lower", "arch/x86_64", "runtime/process", "runtime/output", "runtime/command", "runtime/patch", "runtime/detours", "runtime/text",
              "runtime/memory", "runtime/install", "runtime/clean", "runtime/target", "runtime/target/process", "runtime/kernel", "runtime/session",
              "runtime/lua", "runtime/run", "runtime/run/doctor", "runtime/main.cpp"],
    r"sys/ptrace": ["runtime/process"],
    r"md5\.h": ["compiler/resolve"],
    r"lua": ["runtime/lua"],
}
# What writes to terminals, and the only files that may: each escapes what is not djtap's own (printable.h), or has nothing else.
WRITERS = re.compile(r"\bfmt::(print|vprint)\b|\bstd::(cout|cerr|clog|wcout|wcerr|print|println)\b|"
                     r"\b(f?printf|v?dprintf|vf?printf|f?puts|f?putc|putchar|fwrite|perror|psignal|write_whole)\(|"
                     r"(?<![\w.>])(::)?write\(STD\w+|\"/dev/tty\"")
MAY_WRITE = {
    "compiler/base/printable.cpp": "log_lines()",
    "compiler/base/result.h": "CHECK: its own text",
    "runtime/output/messages.cpp": "diagnostics, rendered with escapes",
    "runtime/output/progress.cpp": "its own sequences, and a text that is escaped",
    "runtime/output/output.cpp": "what scripts print",
    "runtime/output/write_whole.cpp": "for the others",
    "runtime/output/write_whole.h": "its declaration",
    "runtime/output/terminal.cpp": "--monitor's screen, with escapes",
    "runtime/run/show.cpp": "show(), and show_script() for scripts' own text",
}
FREESTANDING = ("runtime/shared", "runtime/agent", "stdlib")
HOSTED = {"stdlib/builtins.h"}  # the table's compile-time side
FREESTANDING_HEADERS = re.compile(r"^(std(int|def|bool|arg|atomic|align)\.h|c?std(int|def)|type_traits|(linux|asm|asm-generic)/.*)$")


def room_of(name):
    folder = name.rpartition("/")[0]
    while folder and folder not in ROOMS:
        folder = folder.rpartition("/")[0]
    return folder


def may_include(room, target):
    if room_of(target) == room:
        return True
    for rule in ROOMS[room] if room else BESIDE_TOP:
        if target == rule or (rule in ROOMS and room_of(target) == rule):
            return True
    return False


# Headers and rooms that only tests include; djtap itself has nothing of them.
TEST_HEADERS = {
    "arch/x86_64/test_fuzz.h", "arch/x86_64/test_machine.h", "arch/x86_64/test_patched.h", "arch/x86_64/test_sandbox.h", "arch/x86_64/test_victim.h",
    "compiler/check/check_support.h", "compiler/debuginfo/victim_support.h",
    "compiler/lower/session_test.h", "runtime/agent/arena_support.h", "runtime/install/trial.h", "runtime/kernel/fake_kernel.h",
    "runtime/process/exec_programs.h", "runtime/process/victim.h",
}
TEST_ROOMS = ("runtime/target/fake",)


def is_test(name):
    return name.endswith("_test.cpp") or name in TEST_HEADERS or room_of(name) in TEST_ROOMS


def test_rooms_include_each_other_in_no_circle():
    below = {room: set() for room in ROOMS}
    for name in OWN_CXX:
        if not is_test(name) and room_of(name):
            below[room_of(name)].update(room_of(target) for target in cxx.includes(read(name))[0] if room_of(target) not in ("", None, room_of(name)))
    while leaves := [room for room, others in below.items() if not others]:
        for room in leaves:
            del below[room]
        for others in below.values():
            others.difference_update(leaves)
    assert below == {}, "rooms of a circle, and those above it"


def test_djtap_includes_nothing_of_tests():
    wrong, used = [], set()
    for name in OWN_CXX:
        own, others = cxx.includes(read(name))
        of_tests = [target for target in own if target in TEST_HEADERS or room_of(target) in TEST_ROOMS]
        used.update(of_tests)
        if not is_test(name):
            wrong += [f"{name} includes {target}" for target in of_tests]
            wrong += [f"{name} includes <{header}>" for header in others if header.startswith(("gtest/", "gmock/"))]
    assert wrong == []
    assert sorted(TEST_HEADERS - used) == [], "headers of tests that no test includes"


def test_includes_go_downwards():
    wrong = []
    for name in OWN_CXX:
        if is_test(name):
            continue
        for target in cxx.includes(read(name))[0]:
            allowed = target.startswith(tuple(f"{room}/" for room in TOP[name])) if name in TOP else may_include(room_of(name), target)
            if not target.startswith(GENERATED) and not allowed:
                wrong.append(f"{name} includes {target}")
    assert wrong == []


def test_only_the_command_line_knows_all_options():
    """Others take single concerns (runtime/command/choices.h), so a signature says what a function looks at."""
    above = [name for name in OWN_CXX if "runtime/command" in ROOMS.get(room_of(name), ())]  # the rooms below cannot know it
    assert above != [] and [name for name in above if re.search(r"\bOptions\b", cxx.code_only(read(name)))] == []
    assert [name for name in above if "runtime/command/options.h" in cxx.includes(read(name))[0]] == []


def test_every_room_stands_in_the_readme():
    rows = re.findall(r"^\| `([\w/*.]+)` \|", read("README.md"), re.M)
    assert [room for room in ROOMS if room not in rows] == []


def test_third_party_headers_stay_in_their_room():
    wrong = []
    for name in OWN_CXX:
        if is_test(name):
            continue
        for header in cxx.includes(read(name))[1]:
            for pattern, allowed in THIRD_PARTY.items():
                if re.match(pattern, header) and name not in allowed and room_of(name) not in allowed:
                    wrong.append(f"{name} includes <{header}>")
    assert wrong == []


def test_what_is_written_to_terminals_is_escaped():
    """Whoever has something to say calls log_line(), tell(), show() or Output; nobody else writes."""
    using = {}
    for name in OWN_CXX:
        if not is_test(name) and room_of(name) not in FREESTANDING:
            using[name] = {match[0] for match in WRITERS.finditer(cxx.TOKEN.sub(lambda m: m[0] if m[0] == '"/dev/tty"' else '""', read(name)))}
    assert {name: found for name, found in using.items() if found and name not in MAY_WRITE} == {}
    assert [name for name in MAY_WRITE if not using.get(name)] == []


def test_freestanding_rooms_include_no_libc():
    wrong = []
    for name in OWN_CXX:
        if room_of(name) in FREESTANDING and name not in HOSTED and not is_test(name):
            wrong += [f"{name} includes <{header}>" for header in cxx.includes(read(name))[1]
                      if not FREESTANDING_HEADERS.match(header)]
    assert wrong == []


# What djtap reads of the arena goes through runtime/process/untrusted.h. These files have an address there as a type: they write, or read what is
# sealed against the target or is djtap's own copy.
ARENA_TYPES = {
    "runtime/output/drain.cpp": {"Ring"},
    "runtime/output/stack_names.cpp": {"StackTables"},
    "runtime/output/stat_value.cpp": {"Stat"},
    "runtime/memory/arena_format.cpp": {"Captures", "Header", "Map", "SiteInfo", "StatShape", "Strings"},
    "runtime/memory/joined_constants.cpp": {"Header"},
    "runtime/memory/thread_rows.cpp": {"Header"},
    "runtime/detours/detour_notes.cpp": {"OwnArea"},
    "runtime/target/process/process_code.cpp": {"OwnArea"},
    "runtime/session/stack_tables.cpp": {"StackIndex", "StackTables"},
    "runtime/session/session.cpp": {"Header", "SiteInfo"},
    "runtime/install/traps.cpp": {"Header"},
    "runtime/install/traps.h": {"TrapTable", "TrapWords"},
    "runtime/text/trap_setup.cpp": {"TrapTable"},
}
# The same by a reference of the Header: the member that is followed.
FOLLOWED = {
    "runtime/output/stack_names.cpp": {"stack_tables"},
    "runtime/memory/arena_format.cpp": {"captures", "counters", "sites", "strings"},
    "runtime/run/session_run.cpp": {"stack_tables"},
}
ARENA_WALKS = re.compile(r"abi::(map_each|map_value|map_is_linked|map_used|counter_rows|thread_rows|stat_total|capture_count|take_thread_row|ring_of_row)\(")


def test_the_arena_is_read_in_one_way():
    """Whatever stands there, a traced program may have written."""
    wrong = []
    for name in OWN_CXX:
        if is_test(name) or not name.startswith("runtime/") or room_of(name) in FREESTANDING:
            continue
        code = cxx.code_only(read(name))
        used = set(re.findall(r"(?:reinterpret_cast|\bat)<(?:const )?(?:volatile )?abi::(\w+)", code)) - ARENA_TYPES.get(name, set())
        followed = set(re.findall(r"\b(\w+)\.get(?:_or_null)?\((?:\w+[.>-]+)?(?:abi::)?(?:arena|place|arena_of)\(", code)) - FOLLOWED.get(name, set())
        wrong += [f"{name}: {kind}" for kind in sorted(used | followed)]
        wrong += [f"{name}: {walk}" for walk in ARENA_WALKS.findall(code) if (name, walk) != ("runtime/output/drain.cpp", "ring_of_row")]
    assert wrong == []


# Members of the shared structs that hold addresses, by why they may. What refers to the arena is an ArenaRef (runtime/shared/arena_ref.h).
SHARED_ADDRESSES = {
    "of no word of the arena: values that functions hand on": "FormatArg.text Label.counts_ MapForm.shape Path.code_ Text.data",
    "of the program's memory, or of code areas": "Capture.returns Capture.slot ExecWish.path Header.own_code SiteInfo.pc Task.arguments",
    "in memory that each process has of its own": "Context.error_text Context.match_text FaultGates.begin FrameHeader.frames OwnArea.ends OwnArea.next "
    "OwnArea.stubs OwnStackRecord.code OwnStackTop.record OwnStackTop.taken ThreadTable.task",
}


def addresses_of(text):
    """Members of structs that are pointers, or numbers whose comment speaks of an address: {"Struct.member"}."""
    found, struct = set(), None
    for line in text.splitlines():
        if begin := re.match(r"\s*(?:struct|class)(?: alignas\(\d+\))? (\w+)(?: : \w+)? \{", line):
            struct = begin.group(1)
        elif line == "};":
            struct = None
        pointer = re.match(r"  [\w:<> ]+\* ?(?:const )?(\w+)(?: = nullptr)?;", line)
        number = re.match(r"  u?int\d+_t (\w+)[\w ,:]*;\s*//.*\b[Aa]ddress", line)
        if struct and (pointer or number):
            found.add(f"{struct}.{(pointer or number).group(1)}")
    return found


def test_what_refers_to_the_arena_is_an_offset():
    found = set().union(*(addresses_of(read(name)) for name in project_files(".h") if name.startswith("runtime/shared/")))
    listed = [name for names in SHARED_ADDRESSES.values() for name in names.split()]
    assert found - set(listed) == set(), "an ArenaRef, or a reason"
    assert set(listed) - found == set(), "no longer an address: take it off the list"
    assert addresses_of("struct A {\n  uint64_t at;  // address of B\n  const B* b = nullptr;\n};") == {"A.at", "A.b"}


def test_no_header_is_dead():
    used = {target for name in [*OWN_CXX, *project_files(".g4")] for target in cxx.includes(read(name))[0]}
    assert [name for name in OWN_CXX if name.endswith(".h") and name not in used] == []


def test_files_are_short():
    long = {name for name in SOURCES if read(name).count("\n") - 1 > MAX_FILE_LINES}  # without the licence's line
    assert long == LONG_FILES


def test_functions_are_short():
    long = {f"{name}:{function}" for name in CXX_FILES if not name.endswith(".S")
            for function, _, lines in cxx.functions(read(name)) if lines > MAX_FUNCTION_LINES}
    assert long == LONG_FUNCTIONS


def test_the_function_counter_can_count():
    text = "namespace a {\nstruct B {\n  int f() const {\n    if (1) {\n    }\n    return 0;\n  }\n};\n" \
           "int g(int x)\n{\n  auto l = [] { return '{'; };\n  return l();\n}\n}\n"
    assert cxx.functions(text) == [("f", 3, 5), ("g", 9, 5)]


def test_lines_are_not_endless():
    wrong = [f"{name}:{number}" for name in SOURCES for number, line in enumerate(read(name).splitlines(), 1)
             if len(line) > MAX_COLUMNS]
    assert wrong == []


def test_every_file_says_its_purpose_first():
    wrong = []
    for name in SOURCES + [name for name in project_files("") if name.startswith("scripts/")]:
        lines = read(name).splitlines()
        lines = [line for line in lines[:3] if not line.startswith(("#!", "#compdef")) and LICENCE not in line]
        first = lines[0] if lines else ""
        if not re.match(r'(//|#|"""|/\*|--)\s*\S', first) or len(first.split()) < 4 or first.startswith("#pragma"):
            wrong.append(f"{name}: {first!r}")
    assert wrong == []


def test_every_file_names_its_licence():
    """In a line of its own: the first one (after #!), or the last where tests count the lines; LICENSES/ has the text."""
    wrong = []
    for name in [*project_files(""), *TOP_FILES]:
        lines = read(name).splitlines()
        if sum(line.strip().rstrip('",->*/').rstrip().endswith(f"{LICENCE}{licence_of(name)}") for line in lines) != 1:
            wrong.append(name)
    assert wrong == []
    assert {path.stem for path in (paths.ROOT / "LICENSES").iterdir()} == {part for name in project_files("") for part in licence_of(name).split(" OR ")}


def test_nothing_is_left_to_do():
    word = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")
    assert [name for name in SOURCES if word.search(read(name))] == []


def test_no_path_of_the_machine():
    places = re.compile("/wo" r"rk/|/ro" r"ot/")
    assert [name for name in project_files("") if name.endswith(("py", "h", "cpp", "c", "md", "djt", "sh", "txt", "S"))
            and places.search(read(name))] == []


def test_every_diagnostic_code_is_listed_and_used():
    listed = set(re.findall(r"DJ_CODE\((DJ\d{4})", read("compiler/diag/codes.def")))
    used = {code for name in OWN_CXX if not is_test(name) for code in re.findall(r'"(DJ\d{4})"', read(name))}
    assert used - listed == set(), "not in codes.def"
    assert listed - used == set(), "never given"


def test_every_diagnostic_code_is_provoked_by_a_test():
    listed = set(re.findall(r"DJ_CODE\((DJ\d{4})", read("compiler/diag/codes.def")))
    tests = [name for name in project_files(".py", ".djt", ".cpp") if name.startswith(("tests/e2e", "tests/golden", "tests/kernel")) or is_test(name)]
    named = set(re.findall(r"DJ\d{4}", "".join(read(name) for name in [*tests, "compiler/diag/examples.def"])))
    assert listed - named == set()


def test_every_builtin_is_used_in_a_test():
    names = re.findall(r"^DJ_BUILTIN\((\w+),", read("stdlib/builtins.def"), re.M)
    text = "".join(read(name) for name in project_files(".py", ".djt") if name.startswith(("tests/e2e", "tests/golden", "examples")))
    assert names and [name for name in names if not re.search(rf"\b{name}\(", text)] == []


def test_every_tapset_function_is_used_in_a_test_or_a_tapset():
    texts = {name: read(name) for name in project_files(".py", ".djt", ".djtm") if name.startswith(("tests/e2e", "examples", "tapsets"))}
    used = re.sub(r"^function \w+", "", "\n".join(texts.values()), flags=re.M)
    names = [name for path, text in texts.items() if path.startswith("tapsets") for name in re.findall(r"^function (\w+)", text, re.M)]
    assert names and [name for name in names if not re.search(rf"\b{name}\(", used)] == []


@pytest.fixture(scope="module")
def agent():
    path = paths.BUILD / "agent" / "agent.o"
    assert path.exists(), "the agent is not built"
    return str(path)


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_agent_needs_nobody(agent):
    undefined = set(output("nm", "-u", agent).split()) - {"U", "w"}
    assert undefined <= {"dj_arena_base", "dj_has_rseq", "dj_rseq", "dj_stack_block", "dj_own_stacks", "dj_own_stack_words", "dj_denied_calls"}
    assert "NEEDED" not in output("readelf", "-d", agent)


def test_agent_has_no_state_of_its_own(agent):
    """No writable data, no thread-local data, no constructors."""
    rows = re.findall(r"^\s*\[\s*\d+\] (\S+)\s+(\S+)\s+\w+ \w+ (\w+) \w+\s+(\w*)\s", output("readelf", "-SW", agent), re.M)
    assert rows and [row for row in rows if "W" in row[3] and int(row[2], 16) > 0] == []


def test_agent_leaves_vector_registers_alone(agent):
    code = output("objdump", "-d", "--no-show-raw-insn", agent)
    assert "<dj_" in code and not re.search(r"%(xmm|ymm|zmm|mm|st)\d?\b", code)


def test_agent_has_string_instructions_in_one_place(agent):
    """What they do is up to the direction flag, which is the program's: bytes.S looks at it."""
    code = output("objdump", "-d", "--no-show-raw-insn", agent)
    functions = re.findall(r"^[0-9a-f]+ <(\w+)>:\n((?:.+\n?)*)", code, re.M)
    using = {name for name, body in functions if re.search(r"\t(rep\w* )|\t(movs|stos|lods|scas|cmps)[bwlq]? .*%[de]s:", body)}
    assert len(functions) > 100 and using == {"memcpy", "memset"}


SIZES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "i128": 16, "ptr": 8}
ACCESS = re.compile(r"(?:= load|\bstore)(?: atomic| volatile)* (i\d+|ptr)\b.*, align (\d+)")
COPY = re.compile(r"@llvm\.mem(?:cpy|move|set)\.\S+\((.*), i64 (\d+), i1")


def is_unaligned(line):
    """Whether this line of LLVM code may access memory that is not aligned; copies of a constant size are made of words."""
    access, copy = ACCESS.search(line), COPY.search(line)
    if access:
        return int(access[2]) < SIZES[access[1]]
    words = copy and int(copy[2]) % 8 == 0 and all(int(n) >= 8 for n in re.findall(r"\balign (\d+)", copy[1]))
    return bool(copy) and int(copy[2]) > 1 and not words


def test_agent_accesses_are_aligned():
    """The program may have set the alignment check flag. LLVM notes of each access how far it is sure (shared/unaligned.h)."""
    files = sorted((paths.BUILD / "agent").glob("*.bc"))
    found = [(file.name, line.strip()) for file in files for line in output("llvm-dis-19", "-o", "-", file).splitlines() if is_unaligned(line)]
    assert len(files) > 40 and found == []


def phrases(text):
    """String literals of C++ that hold a phrase for people; those that stand side by side are one. Not those of code that djtap writes."""
    code = cxx.TOKEN.sub(lambda match: "" if match[0].startswith("/") else match[0], re.sub(r"^\s*#\s*include.*$", "", text, flags=re.M))
    for match in re.finditer(r'"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*', code):
        literal = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', match.group(0))).replace('\\"', '"').replace("\\\\", "\\")
        if re.search(r"[a-z]{2,} [a-z]", literal) and "{\\n" not in literal and "}\\n" not in literal:
            yield literal


def test_every_message_of_the_early_stages_is_in_a_test():
    """What parse and check say depends on scripts alone, so a script can show it; their words stand in goldens and tests."""
    said = "".join(read(name) for name in project_files(".djt", ".py", ".cpp", ".def")
                   if name.startswith("tests/") or is_test(name) or name == "compiler/diag/other_words.cpp")
    said = re.sub(r'["\']\s*\n\s*f?["\']', "", said.replace('\\"', '"').replace("\\\\", "\\").replace("\\'", "'"))
    never = [(name, phrase) for name in OWN_CXX if name.startswith(("compiler/parse/", "compiler/check/", "compiler/regex/", "compiler/tapset/"))
             if not is_test(name) for phrase in phrases(read(name))
             if any(part.strip() not in said for part in re.split(r"\{[^{}]*\}|\\n", phrase) if len(part.strip()) > 3)]
    assert never == []
