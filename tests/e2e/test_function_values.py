# SPDX-License-Identifier: Apache-2.0
"""Functions on random and odd arguments: what they give is what C, or Python, computes of the same."""
import ctypes
import os
import random
import re
import subprocess
import time

from support import paths, run

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.strtoll.restype = ctypes.c_longlong
LIBC.strtok.restype = ctypes.c_char_p


def literal(data):
    """Bytes as a string of a script."""
    return '"' + "".join(f"\\{byte:03o}" for byte in data) + '"'


def values(calls):
    """The texts that expressions give, as bytes."""
    body = "\n".join(f'printf("%s\\001\\n", sprint({call}))' for call in calls)
    options = ["-D", "MAXACTION_HOST=10000000", "-D", "STRINGBYTES=16777216", "-D", "RINGBYTES=8388608"]
    result = subprocess.run([paths.DJTAP, *options, "-e", f"probe begin {{ {body}\nexit() }}"], capture_output=True, check=False, timeout=300)
    assert result.returncode == 0 and result.stderr == b"", result.stderr[-2000:]
    return result.stdout.split(b"\x01\n")[:-1]


def check(pairs):
    """[(expression, truth)], the truth bytes, or a number."""
    got = values([call for call, _ in pairs])
    truth = [value if isinstance(value, bytes) else str(int(value)).encode() for _, value in pairs]
    wrong = [(call, mine, theirs) for (call, _), mine, theirs in zip(pairs, got, truth) if mine != theirs]
    assert len(got) == len(pairs) and not wrong, wrong[:5]


def texts(source, count, alphabet=b"aabbc ,\t\"\\%\xc3\xa9\x7f\xff", longest=12):
    return [bytes(source.choices(alphabet, k=source.randrange(longest))) for _ in range(count)]


def c_strtol(text, base):
    return LIBC.strtoll(ctypes.c_char_p(text), None, base)


def test_numbers_from_texts():
    source = random.Random(1)
    words = [b"", b" ", b"-", b"+", b"0", b"0x", b"0x1f", b"-0X1F", b"08", b"077", b" \t\n+12x", b"9223372036854775807", b"9223372036854775808",
             b"-9223372036854775808", b"-9223372036854775809", b"99999999999999999999999", b"zz", b"0xg", b"0b11", b"1_000", b"- 5", b"--5"]
    words += texts(source, 60, b"0123456789abcxyzXZ+- ")
    check([(f"strtol({literal(word)}, {base})", c_strtol(word, base)) for word in words for base in (0, 2, 8, 10, 16, 36)])


def test_parts_of_texts():
    source = random.Random(2)
    pairs = []
    for text in texts(source, 60):
        part, other = texts(source, 2, longest=4)
        start, length = source.randrange(-3, 15), source.randrange(-3, 15)
        pairs += [(f"strlen({literal(text)})", len(text)),
                  (f"substr({literal(text)}, {start}, {length})", text[start:start + length] if start >= 0 and length > 0 else b""),
                  (f"isinstr({literal(text)}, {literal(part)})", part in text),
                  (f"strpos({literal(text)}, {literal(part)})", text.find(part)),
                  (f"stringat({literal(text)}, {start})", text[start] if 0 <= start < len(text) else 0),
                  (f"isdigit({literal(text)})", text[:1].isdigit()),
                  (f"str_replace({literal(text)}, {literal(part)}, {literal(other)})", text.replace(part, other) if part else text),
                  (f"{literal(text)} . {literal(part)}", text + part), (f"{literal(text)} < {literal(part)}", text < part),
                  (f"{literal(text)} == {literal(part)}", text == part)]
    check(pairs + [("substr(\"abc\", 1, 9223372036854775807)", b"bc"), ("substr(\"abc\", -9223372036854775807, 5)", b"")])


def character_at(text, at):
    """That begins there in UTF-8 and is none of ASCII, and its bytes; None: none does."""
    for length in (2, 3, 4):
        try:
            return text[at:at + length].decode()[0], length
        except UnicodeDecodeError:
            pass
    return None


def escaped(text):
    """As printf's escapes, \\u or \\U for other characters, octal for what is none."""
    known = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
    out, at = "", 0
    while at < len(text):
        byte, found = text[at], character_at(text, at) if text[at] >= 128 else None
        code = ord(found[0]) if found else 0
        if found:
            out += f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
        else:
            out += known.get(byte, chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
        at += found[1] if found else 1
    return out.encode()


def test_escapes():
    words = texts(random.Random(3), 100, bytes(range(1, 256)))
    check([(f"text_str({literal(word)})", escaped(word)) for word in words]
          + [(f"text_strn({literal(word)}, 300, 1)", b'"' + escaped(word) + b'"') for word in words]
          + [(f"string_quoted({literal(word)})", b'"' + escaped(word) + b'"') for word in words])


def c_tokens(text, delimiters):
    room, found = ctypes.create_string_buffer(text), []
    token = LIBC.strtok(room, delimiters)
    while token is not None:
        found.append(token)
        token = LIBC.strtok(None, delimiters)
    return found


def test_tokens():
    source = random.Random(4)
    words = [(word, delimiters) for word in texts(source, 80, b"ab, ;") for delimiters in (b",", b", ;")]
    loops = [f't = ""; for (w = tokenize({literal(word)}, {literal(by)}); w != ""; w = tokenize("", {literal(by)})) t .= "<" . w . ">"; println(t)'
             for word, by in words]
    result = run.run(["-D", "MAXACTION_HOST=1000000", "-e", "probe begin { %s exit() }" % "\n".join(loops)])
    truth = ["".join(f"<{token.decode()}>" for token in c_tokens(word, by)) for word, by in words]
    assert result.stdout.split("\n")[:-1] == truth, result.stderr


def test_the_time_is_between_before_and_after():
    before = time.time_ns()
    result = run.run(["-e", 'probe begin { printf("%d %d %d %d %s\\n", gettimeofday_ns(), gettimeofday_us(), gettimeofday_ms(), gettimeofday_s(), '
                      "ctime(gettimeofday_s())) exit() }"])
    ns, us, ms, s, date = result.stdout.strip().split(" ", 4)
    after = time.time_ns()
    for text, unit in ((ns, 1), (us, 10**3), (ms, 10**6), (s, 10**9)):
        # The clock of a session is a straight line through two readings of the kernel's.
        assert (before - 10**7) // unit <= int(text) <= (after + 10**7) // unit, result
    assert date in (time.asctime(time.gmtime(int(s))), time.asctime(time.gmtime(int(s) - 1))), result


def test_the_local_time():
    """tz_ctime() in zones on both sides of UTC."""
    for zone in ("UTC", "EST5", "<+0530>-5:30", "NZST-12"):
        result = run.run(["-e", "probe begin { println(tz_ctime(951782400)) println(tz_gmtoff()) exit() }"], env={**os.environ, "TZ": zone})
        code = "import time; t = time.localtime(951782400); print(time.strftime('%a %b %e %H:%M:%S %Y %Z', t)); print(time.timezone)"
        truth = subprocess.run([paths.PYTHON, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "TZ": zone}).stdout
        assert result.stdout == truth, zone


HEADERS = """#define _GNU_SOURCE
#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <linux/ioprio.h>
#include <linux/kcmp.h>
#include <linux/kexec.h>
#include <linux/landlock.h>
#include <linux/membarrier.h>
#include <linux/mempolicy.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/reboot.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/quota.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#define SA_RESTORER 0x04000000 // <asm/signal.h>
#define SOL_TCP 6
#define SOL_UDP 17
#ifndef SOL_IPV6
#define SOL_IPV6 41
#endif
int main(void) {
"""


def test_flags_are_the_headers(tmp_path):
    """Each name in tapsets/flags*.djt has the value that the C headers give it."""
    found = []
    files = "".join(path.read_text() for path in sorted((paths.ROOT / "tapsets").glob("flags*.djt")))
    for text in re.split(r"^function ", files, flags=re.M)[1:]:
        if text.startswith(("sockaddr_part", "sigaction_str")):  # not of a number
            continue
        name, body = text.partition(":")[0], re.split(r"\n\}| \}\n", text)[0]
        prefix, word = ("FUTEX_", r'(?<=\? ")([A-Z_0-9]+)"') if name == "futex_op_str" else ("", r'"\|?([A-Z][A-Z0-9]*_[A-Z0-9_]+)"')
        found += [(name, prefix + constant) for constant in dict.fromkeys(re.findall(word, body))]
    assert len(found) > 200 and {name for name, _ in found} >= {"open_flags_str", "mmap_flags_str", "whence_str", "family_str"}
    lines = "".join(f'printf("%ld\\n", (long){constant});\n' for _, constant in found)
    (tmp_path / "constants.c").write_text(HEADERS + lines + "}\n")
    subprocess.run(["gcc", "-o", tmp_path / "constants", tmp_path / "constants.c"], check=True)
    numbers = subprocess.run([tmp_path / "constants"], capture_output=True, text=True, check=True).stdout.split()
    first = {"protocol_str": "2, ", "sockopt_name_str": "1, "}  # AF_INET, SOL_SOCKET
    got = values([f"{name}({first.get(name, '')}{number})" for (name, _), number in zip(found, numbers)])
    wrong = [(name, constant, number, text) for (name, constant), number, text in zip(found, numbers, got) if constant not in text.decode().split("|")]
    assert not wrong, wrong
