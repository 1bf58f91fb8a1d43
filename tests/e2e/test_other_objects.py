# SPDX-License-Identifier: Apache-2.0
"""@var and @cast that name an object, a file or headers: variables and types from outside the probed object."""
import os
import re
import shutil
import subprocess

import pytest

from support.paths import victim

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")

PROGRAM = """#include <stdio.h>
#include <sys/time.h>
#include "shape.h"
extern int lib_level; extern void raise_level(void);
__attribute__((noipa)) void *passed(void *p) { return p; }
__attribute__((noipa)) void checked(void) { asm(""); }
int main(void) {
  struct timeval t = {1234567, 89}; struct shape s = {3, {40, 50}, "round"};
  passed(&t); passed(&s); raise_level(); checked(); printf("level: %d\\n", lib_level);
}
"""
HEADER = "struct shape { int kind; struct { short w, h; } box; const char *name; }; enum kind { FLAT, ROUND };\n"
LIBRARY = "int lib_level = 7; static struct { int hits; char word[8]; } tally = {0, \"abc\"};\n" \
          "void raise_level(void) { lib_level += 10; tally.hits++; }\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A program without debug info and its library with it."""
    folder = tmp_path_factory.mktemp("objects")
    for name, text in {"main.c": PROGRAM, "shape.h": HEADER, "level.c": LIBRARY}.items():
        (folder / name).write_text(text)
    compiler = COMPILER or pytest.skip("there is no C compiler")
    for words in (["-g", "-O1", "-shared", "-fPIC", "level.c", "-o", "liblevel.so"],
                  ["-O1", "main.c", "-o", "main", "-L.", "-llevel", f"-Wl,-rpath,{folder}"]):
        subprocess.run([compiler, *words], cwd=folder, check=True)
    return folder


@pytest.fixture
def says(djtap_once, built):
    """says(script) runs it in the folder of the sources."""
    def call(script, **options):
        return djtap_once("-e", script, "-c", "./main", cwd=built, **options)
    return call


def test_variables_of_a_library(says):
    script = ('probe func("passed") { printf("%d ", @var("lib_level", "liblevel.so")) } probe func("checked") '
              '{ printf("%d %s\\n", @var("lib_level@level.c", "liblevel.so"), @var("tally", "liblevel")$) }')
    result = says(script)
    told = result.stdout.replace("level: 17\n", "")  # what the program prints may come in the middle of djtap's line
    assert told == '7 7 17 {.hits=1, .word="abc"}\n' and "level: 17\n" in result.stdout, result


def test_the_copy_in_the_program_counts(says):
    """lib_level lies in the program, which uses it without a GOT; the library's own code asks the loader's word."""
    result = says('probe func("raise_level").return { printf("<%d %d>", @entry($lib_level), @var("lib_level", "liblevel.so")) }')
    assert "<7 7>" in result.stdout, result
    result = says('probe func("raise_level") { printf("<%d>", &$lib_level == &@var("lib_level", "liblevel.so")) }')
    assert "<1>" in result.stdout, result


def test_the_address_is_the_variables(says):
    result = says('probe func("checked") { printf("<%d>", user_int(&@var("lib_level", "liblevel.so"))) }')
    assert "<17>" in result.stdout, result


@needs_compiler
def test_types_of_headers(says, tmp_path):
    script = ('global n probe func("passed") { if (n++ == 0) printf("%d %d %s|", @cast(pointer_arg(1), "timeval", "<sys/time.h>")->tv_sec, '
              '@cast(pointer_arg(1), "timeval", "<sys/time.h>")->tv_usec, @cast(pointer_arg(1), "struct timeval", "<sys/time.h>")$) '
              'else printf("%d %s %s|", @cast(pointer_arg(1), "shape", "<shape.h>")->box->h, @cast(pointer_arg(1), "struct shape", "<time.h><shape.h>")$$, '
              'user_string(@cast(pointer_arg(1), "shape", "<shape.h>")->name)) }')
    result = says(script, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert '1234567 89 {.tv_sec=1234567, .tv_usec=89}|50 {.kind=3, .box={.w=40, .h=50}, .name="round"} round|' in result.stdout, result
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


@needs_compiler
def test_headers_of_cpp(says, built):
    (built / "plus.hpp").write_text("namespace ns { class Pair { public: int a; int b; int sum() { return a + b; } }; }\n")
    result = says('global n probe func("passed") { if (n++ == 0) printf("%d %d|", @cast(pointer_arg(1), "ns::Pair", "<plus.hpp>")->a, n) }')
    assert "1234567 1|" in result.stdout, result


@needs_compiler
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_each_compiler_will_do(says, compiler):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not here")
    result = says('global n probe func("passed") { if (n++) printf("%d|", @cast(pointer_arg(1), "shape", "<shape.h>")->box->w) }',
                  env={**os.environ, "CC": compiler})
    assert "40|" in result.stdout, result


def test_types_of_another_object_and_of_a_file(djtap_once, built):
    """The first object that knows the type counts."""
    types = str(built / "types.so")
    subprocess.run([COMPILER, "-g", "-shared", "-fPIC", "-x", "c", "-", "-o", types], check=True, text=True,
                   input='#include "shape.h"\nstruct shape one;', cwd=built)
    script = f'global n probe func("passed") {{ if (n++) printf("%d|", @cast(pointer_arg(1), "shape", "liblevel.so:{types}")->kind) }}'
    result = djtap_once("-e", script, "-c", "./main", cwd=built)
    assert "3|" in result.stdout, result


SHARED = {"sembuf": ("kernel", "sys/sem.h", "sem_flg"), "timespec": ("kernel", "time.h", "tv_nsec"), "stat": ("kernel", "sys/stat.h", "st_size"),
          "iocb": ("kernel<linux/aio.h>", "linux/aio_abi.h", "aio_offset"), "iovec": ("kernel<linux/uio.h>", "sys/uio.h", "iov_len")}


def test_structures_that_programs_share_with_the_kernel(djtap_once, tmp_path):
    """Sizes and places are what the compiler says."""
    lines = "".join(f'printf("%zu %zu\\n", sizeof(struct {name}), offsetof(struct {name}, {member}));' for name, (_, _, member) in SHARED.items())
    headers = "".join(f"#include <{header}>\n" for _, header, _ in SHARED.values())
    subprocess.run([COMPILER, "-x", "c", "-", "-o", tmp_path / "truth"], check=True, text=True,
                   input=f"#include <stdio.h>\n#include <stddef.h>\n{headers}int main(void) {{ {lines} }}")
    truth = subprocess.run([tmp_path / "truth"], capture_output=True, text=True, check=True).stdout
    script = "".join(f'println(@cast_module_sizeof("{module}", "struct {name}"), " ", &@cast(0, "{name}", "{module}")->{member});'
                     for name, (module, _, member) in SHARED.items())
    result = djtap_once("-e", f"probe begin {{ {script} exit() }}", "-c", "/bin/true")
    assert result.stdout == truth and result.stderr == "", result


CAST = '@cast(pointer_arg(1), "{}", "{}")->a'
MISTAKES = [
    (CAST.format("timeval", "<no/such.h>"), "DJ3021", "headers.c:1:10: fatal error: no/such.h: No such file or directory"),
    (CAST.format("timeval", "<time.h"), "DJ3021", 'write "<name.h>"'),
    (CAST.format("task_struct", "kernel<linux/sched.h>"), "DJ3015", "the kernel's headers describe the kernel"),
    (CAST.format("task_struct", "kernel"), "DJ3015", "the kernel's headers describe the kernel"),
    (CAST.format("module", "kernel<linux/module.h>"), "DJ3015", "the kernel's headers describe the kernel"),
    ('@var("jiffies", "kernel")', "DJ3015", "the kernel's headers describe the kernel"),
    (CAST.format("no_such", "<shape.h>"), "DJ3011", "(searched: <shape.h>)"),
    (CAST.format("shape", "<shape.h>"), "DJ3012", 'struct shape has no member "a"'),
    (CAST.format("shape", "liblevle.so"), "DJ3005", "its objects: main, "),
    (CAST.format("shape", "main"), "DJ3010", "main has no debug info"),
    ('@var("lib_levl", "liblevel.so")', "DJ3011", 'did you mean "lib_level"?'),
    ('@var("lib_level", "<shape.h>")', "DJ3014", "a header has types, not variables"),
]


@pytest.mark.parametrize("expression, code, words", MISTAKES)
def test_mistakes(says, expression, code, words):
    result = says(f'probe func("passed") {{ println({expression}) }}')
    assert re.search(rf"^error\[{code}\]", result.stderr, re.M) and words in result.stderr, result
    assert result.stderr.count("error[") == 1, result


def test_without_a_compiler(says, tmp_path):
    result = says(f'probe func("passed") {{ println({CAST.format("timeval", "<sys/time.h>")}) }}', env={"PATH": str(tmp_path)})
    assert "error[DJ3021]: a header's types need a C compiler, and there is none (cc, gcc, clang)" in result.stderr, result


def test_an_undefined_one_is_not_asked(says):
    result = says('probe func("passed") { print(@defined(@var("nothing", "liblevel.so")) ? "yes" : "no") }')
    assert result.stdout.endswith("nono"), result


@needs_compiler
def test_in_an_object_that_comes_later(djtap_once):
    script = ('probe func("later_work")? { if ($n == 100) printf("<%d %d>", @var("tls_plain", "libtls.so"), '
              '@cast(&@var("tls_plain", "libtls.so"), "div_t", "<stdlib.h>")->quot) }')
    result = djtap_once("-e", script, "--", victim("tls"), victim("liblater.so"))
    assert "<1000 1000>" in result.stdout, result
