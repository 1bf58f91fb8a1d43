"""Functions by SystemTap's names, against what Python says of the same process."""
import errno
import re

from support import run

PYTHON = ["--", "/usr/bin/python3", "-I", "-S", "-c"]


def said(body, *words):
    result = run.run(["-e", "probe begin { %s exit() }" % body, *(words or ["-c", "/bin/true"])])
    assert result.returncode == 0, result
    return result.stdout


def test_errno_of_the_thread():
    """Each failed mkdir() leaves its number in errno; the wrappers' probes tell it as the kernel does."""
    program = """import os
for path in ("/no/where", "/etc/passwd/x", "/" + "a" * 300):
    try: os.mkdir(path)
    except OSError as e: print("failed", e.errno)"""
    script = """probe syscall.mkdir.return { printf("%d %s %d %s\\n", retval, retstr, user_errno(), return_str(3, 8)) }
    probe begin { println("host ", user_errno()) }"""
    result = run.run(["-e", script, *PYTHON, program])
    numbers = [int(n) for n in re.findall(r"^failed (\d+)$", result.stdout, re.M)]
    assert numbers == [errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG], result
    for number in numbers:
        assert f"-{number} -{number} ({errno.errorcode[number]}) {number} 010\n" in result.stdout, result
    assert "host 0\n" in result.stdout, result


def test_wide_strings():
    texts = ["plain", "\u00e9\u20ac", "\U0001f600\U0010ffff!", ""]
    program = f"""import ctypes, os
libc = ctypes.CDLL(None)
for text in {texts!r}:
    for width, name in ((2, "utf-16-le"), (4, "utf-32-le")):
        room = ctypes.create_string_buffer(text.encode(name) + bytes(width))
        libc.lldiv(ctypes.c_longlong(ctypes.addressof(room)), ctypes.c_longlong(width))
room = ctypes.create_string_buffer(b"\\x00\\xd8a\\x00" + bytes(4))
libc.lldiv(ctypes.c_longlong(ctypes.addressof(room)), ctypes.c_longlong(2))"""
    script = """global seen probe func("libc.so.6!lldiv") {
      at = long_arg(1)
      if (long_arg(2) == 2) println(user_string_utf16(at), "|", user_string_quoted_utf16(at))
      else println(user_string_utf32(at), "|", user_string_quoted_utf32(at))
      if (!seen++) {
        try { user_string_utf16(8) } catch (e) { println(e) }
        println(user_string_utf16(8, "a"), user_string2_utf16(8, "b"), user_string_utf32(9, "c"), user_string2_utf32(9, "d"), user_string_quoted_utf16(16))
      }
    }"""
    result = run.run(["-e", script, *PYTHON, program])
    lines = result.stdout.splitlines()
    assert lines[1] == "read fault at address 0x0000000000000008", result
    assert lines[2] == "abcd0x10", result
    del lines[1:3]
    plain = [line.split("|")[0] for line in lines]
    assert plain == [text for text in texts for _ in range(2)] + ["\ufffda"], result
    assert lines[2].split("|")[1] == '"\\303\\251\\342\\202\\254"', result


def test_overloads_of_built_in_functions():
    text = said('println(user_string(8, "none"), " ", user_string_n(8, 3, "nothing")) '
                'println(tokenize("a b,c", " "), tokenize(" ,"), tokenize(","), tokenize(","), "|")')
    assert text == "none nothing\nabc|\n"
