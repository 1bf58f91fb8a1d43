# SPDX-License-Identifier: Apache-2.0
"""Probes of tapsets/ on the real libraries, against what the traced programs did and say themselves."""
import hashlib
import os
import pathlib
import re
import subprocess

import pytest

from support import paths, run

PYTHON = ["--", "/usr/bin/python3", "-I", "-S", "-c"]
UNISTD = pathlib.Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
SHELL = ["--", "sqlite3", ":memory:"]


def traced(script, *words):
    result = run.run(["-e", script, *[str(word) for word in words]])
    assert result.returncode == 0, result
    return result


def test_file_calls_are_decoded(tmp_path):
    path = tmp_path / "file"
    program = f"""import os
fd = os.open({str(path)!r}, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o640)
os.write(fd, b'abc'); os.lseek(fd, 1, 0); print(os.read(fd, 10)); os.pwrite(fd, b'xy', 5); os.fsync(fd); os.close(fd)
import ctypes; libc = ctypes.CDLL(None); text = ctypes.create_string_buffer(b'4', 9); room = (ctypes.c_size_t * 2)(ctypes.addressof(text), 1)
fd = os.open({str(path)!r}, os.O_RDWR); os.writev(fd, [b'1', b'23']); libc.pwritev64(fd, room, 1, 2); room[1] = 9
os.readv(fd, [bytearray(1)] * 3); libc.preadv64(fd, room, 1, 1)
os.rename({str(path)!r}, {str(path)!r} + '2'); os.unlink({str(path)!r} + '2'); os.mkdir({str(path)!r}, 0o700); os.rmdir({str(path)!r})
try: os.open('/no/where', os.O_RDONLY)
except OSError: pass"""
    text = traced('probe syscall.*.return { printf("%s(%s) = %s\\n", name, argstr, retstr) }', *PYTHON, program).stdout
    text = re.sub("0x[0-9a-f]+", "ADDR", text)
    name = f'"{path}"'
    for line in (f"openat(AT_FDCWD, {name}, O_RDWR|O_CREAT|O_EXCL|O_CLOEXEC, 0640) = 3", 'write(3, "abc", 3) = 3', "lseek(3, 1, SEEK_SET) = 1",
                 "read(3, ADDR, 10) = 2", 'pwrite(3, "xy", 2, 5) = 2', "fsync(3) = 0", "writev(3, ADDR, 2) = 3",
                 "pwritev(3, ADDR, 1, ADDR) = 1", "readv(3, ADDR, 3) = 3", "preadv(3, ADDR, 1, ADDR) = 6", "close(3) = 0", f'rename({name}, "{path}2") = 0',
                 f'unlink("{path}2") = 0', f"mkdir({name}, 0700) = 0", f"rmdir({name}) = 0", 'openat(AT_FDCWD, "/no/where", O_RDONLY|O_CLOEXEC) = -2 (ENOENT)'):
        assert line in text.splitlines(), (line, text)


@pytest.mark.skipif(not UNISTD.exists(), reason="needs linux-libc-dev")
def test_all_system_calls_have_the_kernels_names():
    numbers = {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", UNISTD.read_text())}
    text = traced('probe begin { for (i = 0; i < 500; i++) println(syscall_name(i)) exit() }', "-c", "/bin/true").stdout.split()
    for name, number in numbers.items():
        assert text[number] in (name, str(number)), (name, number)  # those that came after Debian 12's headers have none
    assert text[400] == "400"


def test_all_system_calls_are_seen():
    script = """probe syscall_any { if (syscall_name(syscall_nr) == name) calls[name]++ }
                probe syscall_any.return { if (retval < 0) failed[name, errno_str(retval)]++ }
                probe end { printf("%d %d %d\\n", calls["getppid"], calls["umask"], failed["rmdir", "ENOENT"]) }"""
    program = "import os\nfor i in range(1000): os.getppid()\nfor i in range(70): os.umask(0o22)\ntry: os.rmdir('/no/where')\nexcept OSError: pass"
    assert "1000 70 1\n" in traced(script, *PYTHON, program).stdout


def test_sockets_are_decoded(tmp_path):
    program = f"""import socket
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(5); port = s.getsockname()[1]
c = socket.socket(); c.connect(('127.0.0.1', port)); d, _ = s.accept(); c.send(b'hello'); print(d.recv(100)); c.shutdown(1)
u = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); u.bind({str(tmp_path / 'u')!r})
print('PORT', port)"""
    script = 'probe syscall.*.return { printf("%s(%s) = %s\\n", name, argstr, retstr) }'
    text = re.sub("0x[0-9a-f]{4,}", "ADDR", traced(script, *PYTHON, program).stdout)
    port = re.search(r"PORT (\d+)", text).group(1)
    for line in ("socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_IP) = 3",
                 "bind(3, {AF_INET, 127.0.0.1, 0}, 16) = 0", "listen(3, 5) = 0",
                 f"connect(4, {{AF_INET, 127.0.0.1, {port}}}, 16) = 0",
                 'sendto(4, "hello", 5, 0x0, NULL, 0) = 5', "recvfrom(5, ADDR, 100, 0x0, 0x0, 0x0) = 5", "shutdown(4, SHUT_WR) = 0",
                 "socket(AF_UNIX, SOCK_DGRAM|SOCK_CLOEXEC, 0) = 6", f'bind(6, {{AF_UNIX, "{tmp_path / "u"}"}}, {len(str(tmp_path / "u")) + 3}) = 0'):
        assert line in text.splitlines(), (line, text)


def test_memory_and_processes():
    program = """import mmap, os, signal
signal.signal(signal.SIGUSR1, signal.SIG_IGN); os.kill(os.getpid(), signal.SIGUSR1)
m = mmap.mmap(-1, 8192, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); m.close()
if os.fork() == 0: os._exit(3)
os.wait(); print('PID', os.getpid())"""
    result = traced('probe syscall.kill, syscall.mmap2, syscall.munmap { printf("%s(%s)\\n", name, argstr) } probe syscall.clone { forks++ }',
                    *PYTHON, program)
    pid = re.search(r"PID (\d+)", result.stdout).group(1)
    assert f"kill({pid}, SIGUSR1)" in result.stdout, result
    assert re.search(r"mmap2\((0x)?0, 8192, PROT_READ\|PROT_WRITE, MAP_PRIVATE\|MAP_ANONYMOUS, -1, 0\)", result.stdout), result
    assert re.search(r"munmap\(0x[0-9a-f]+, 8192\)", result.stdout) and result.globals["forks"] == 1, result


def test_memory_that_is_asked_for(tmp_path):
    """A block of an odd size, three times, from each function of the family."""
    program = """import ctypes
c = ctypes.CDLL(None)
for f in (c.malloc, c.calloc, c.realloc, c.free): f.restype = ctypes.c_void_p; f.argtypes = None
for n in range(3):
    p = c.malloc(ctypes.c_size_t(700001)); p = c.realloc(ctypes.c_void_p(p), ctypes.c_size_t(800001))
    q = c.calloc(ctypes.c_size_t(3), ctypes.c_size_t(300001)); c.free(ctypes.c_void_p(p)); c.free(ctypes.c_void_p(q))"""
    script = """probe libc.allocate { if (size == 700001 || size == 800001 || size == 900003) n[name, size]++ }
                probe libc.malloc.return { if (size == 700001) ours[address] = 1 }
                probe libc.realloc { if (old in ours) moved++ } global ours probe libc.free { frees++ }"""
    result = traced(script, *PYTHON, program)
    counts = {re.sub('"', "", key): value for key, value in result.array("n")}
    assert counts == {"malloc,700001": "3", "realloc,800001": "3", "calloc,900003": "3"}, result
    assert result.globals["moved"] == 3 and result.globals["frees"] >= 6, result


def test_streams_and_the_environment(tmp_path):
    (tmp_path / "in").write_text("x" * 5000)
    program = f"""import ctypes
c = ctypes.CDLL(None); c.fopen.restype = ctypes.c_void_p; b = ctypes.create_string_buffer(6000)
f = c.fopen({str(tmp_path / 'in')!r}.encode(), b'r'); c.fread(b, 10, 600, ctypes.c_void_p(f)); c.fclose(ctypes.c_void_p(f))
c.fopen(b'/no/where', b'w'); c.getenv(b'SOME_NAME')"""
    script = """probe libc.fopen { println(path, " ", mode) } probe libc.getenv { g[variable]++ }
                probe libc.fread.return { if (size == 6000) printf("fread %d\\n", done) } probe libc.fclose { closed++ }"""
    result = traced(script, *PYTHON, program)
    lines = result.stdout.splitlines()
    assert f"{tmp_path / 'in'} r" in lines and "/no/where w" in lines and "fread 500" in lines, result
    assert '"SOME_NAME"' in dict(result.array("g")) and result.globals["closed"] >= 1, result


def test_locks_and_threads():
    program = """import ctypes, threading
c = ctypes.CDLL(None); m = ctypes.create_string_buffer(64); r = ctypes.create_string_buffer(64); s = ctypes.create_string_buffer(64)
for n in range(7): c.pthread_mutex_lock(m); print('BUSY', c.pthread_mutex_trylock(m)); c.pthread_mutex_unlock(m)
for n in range(3): c.pthread_rwlock_rdlock(r); c.pthread_rwlock_unlock(r); c.pthread_rwlock_wrlock(r); c.pthread_rwlock_unlock(r)
c.sem_init(s, 0, 2); c.sem_wait(s); c.sem_post(s); print('ADDRESSES', ctypes.addressof(m), ctypes.addressof(r), ctypes.addressof(s))
t = [threading.Thread(target=print) for n in range(4)]; [x.start() for x in t]; [x.join() for x in t]"""
    script = """probe pthread.mutex.lock.return { locked[mutex]++ } probe pthread.mutex.unlock { unlocked[mutex]++ }
                probe pthread.mutex.trylock.return { if (error == 16) busy[mutex]++ } probe pthread.create { threads++ }
                probe pthread.rwlock.read.return, pthread.rwlock.write.return { if (!error) rw[lock]++ } probe pthread.rwlock.unlock { un[lock]++ }
                probe pthread.sem.wait, pthread.sem.post { sem[semaphore]++ }"""
    result = traced(script, *PYTHON, program)
    mutex, rwlock, semaphore = re.search(r"ADDRESSES (\d+) (\d+) (\d+)", result.stdout).groups()
    assert "BUSY 16" in result.stdout and result.globals["threads"] == 4, result
    for array, key, count in (("locked", mutex, 7), ("unlocked", mutex, 7), ("busy", mutex, 7), ("rw", rwlock, 6), ("un", rwlock, 6), ("sem", semaphore, 2)):
        got = {int(key, 0): int(value) for key, value in result.array(array)}
        assert got.get(int(key)) == count, (array, result)


def test_statements_of_sqlite():
    sql = ["create table t(a)", "insert into t values(1),(2)", "select a from t where a > 1"]
    script = """probe sqlite.prepare.return { printf("[%s] %d\\n", sql, error) text[statement] = sql } global text
                probe sqlite.step { steps[text[statement]]++ } probe sqlite.finalize { done++ }"""
    result = traced(script, *SHELL, *sql)
    for text in sql:
        assert f"[{text}] 0" in result.stdout.splitlines(), result
    # A select gives its row, and then says that there are no more.
    steps = dict(result.array("steps"))
    assert steps[f'"{sql[2]}"'] == "2" and steps[f'"{sql[1]}"'] == "1" and result.globals["done"] >= 3, result
    assert "[selec] 1" in run.run(["-e", script, *SHELL, "selec"]).stdout


def test_digests_of_openssl(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(os.urandom(100_000))
    result = traced("probe openssl.digest { if (size > 100) bytes += size }", "--", "openssl", "sha256", path)
    assert hashlib.sha256(path.read_bytes()).hexdigest() in result.stdout
    assert result.globals["bytes"] == 100_000, result


def test_exceptions_of_cxx():
    result = traced("probe cxx.throw { t[type]++ } probe cxx.catch { c++ } probe cxx.new { n++ } probe cxx.delete { d++ }",
                    "-c", paths.victim("exceptions"))
    thrown = result.facts["leaf calls"] - result.facts["leaf returns"]
    assert result.array("t") == [('"std::runtime_error"', str(thrown))], result
    assert result.globals["c"] >= result.facts["caught"] and result.globals["n"] >= 0, result


THROWS = """#include <cxxabi.h>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <typeinfo>
struct plain {};
namespace shop { struct failure : std::exception {}; namespace { struct hidden {}; } }
namespace shop::inner { template <typename T> struct box {}; struct lid { struct hinge {}; }; }
template <typename T> void throws(T value) {
  int status; std::printf("class: %s\\n", abi::__cxa_demangle(typeid(value).name(), nullptr, nullptr, &status));
  try { throw value; } catch (const T&) { }
}
int main() { throws(plain()); throws(shop::failure()); throws(shop::inner::lid::hinge()); throws(shop::hidden()); throws(std::out_of_range("x"));
  throws(shop::inner::box<std::pair<const char *, shop::inner::box<std::string>>>()); throws(static_cast<int (*)(char)>(nullptr)); throws(1);
  struct local {}; throws(local()); }
"""


def test_classes_of_exceptions(tmp_path):
    """As the program itself demangles them: namespaces, templates, functions' own classes."""
    (tmp_path / "throws.cpp").write_text(THROWS)
    subprocess.run(["g++", "-o", tmp_path / "throws", tmp_path / "throws.cpp"], check=True)
    result = traced('probe cxx.throw { println("type: ", type) }', "-c", tmp_path / "throws")
    truth = re.findall(r"^class: (.*)$", result.stdout, re.M)
    assert len(set(truth)) == 9 and re.findall(r"^type: (.*)$", result.stdout, re.M) == truth, result


def test_class_names_as_a_function():
    names = ["3foo", "St6vectorIiSaIiEE", "N4shop3boxILb1ELi5EEE", "PFivE", "what"]
    calls = " ".join(f'println(cxx_class("{name}"))' for name in names)
    truth = subprocess.run(["c++filt", "-t", *names], capture_output=True, text=True, check=True).stdout
    assert run.run(["-e", "probe begin { %s exit() }" % calls]).stdout == truth


def test_what_python_does():
    program = """import gc, sys
gc.disable(); seen = []; Rare = type("Rare", (Exception,), {})
sys.addaudithook(lambda name, args: seen.append(name))
for n in range(5):
    try: raise Rare(n)
    except Rare: pass
class Circle: pass
for n in range(9): c = Circle(); c.me = c
del c; print('COLLECTED', gc.collect(1)); sys.audit('mine'); sys.audit('mine')"""
    script = """probe python.raise { r[exception]++ } probe python.audit { a[event]++ }
                probe python.gc.start { if (generation == 1) generations++ } probe python.gc.done { if (collected == 18 || collected == 9) found++ }"""
    result = traced(script, *PYTHON, program)
    assert dict(result.array("r"))['"Rare"'] == "5" and dict(result.array("a"))['"mine"'] == "2", result
    assert result.globals["generations"] >= 1 and result.globals["found"] == 1, result


def test_functions_and_imports_of_python(tmp_path):
    """Against what the program counts itself, by sys.setprofile()."""
    (tmp_path / "mine.py").write_text("""import collections, sys
counts = collections.Counter()
def leaf(n): return n + 1
def recurse(n): return 0 if n == 0 else recurse(n - 1)
def fails(): raise ValueError
def gen():
    yield 1
    yield 2
def work():
    sum(map(leaf, range(7))); recurse(5); list(gen())
    try: fails()
    except ValueError: pass
def profile(frame, event, argument):
    if event == "return": counts[frame.f_code.co_name, frame.f_lineno] += 1
sys.setprofile(profile); work(); sys.setprofile(None)
import this_is_nowhere_1 if False else None
""".replace("import this_is_nowhere_1 if False else None", "try: import nowhere_at_all\nexcept ImportError: pass")
        + "work(); import colorsys\nfor (name, line), count in counts.items(): print('SELF', name, line, count)\n")
    script = """probe python.function.return { if (file =~ "/mine.py$") r[function_name, line]++ }
                probe python.function.entry { if (file =~ "/mine.py$") e[function_name]++ }
                probe python.import { i[module]++ } probe python.import.done { d[module, found]++ }"""
    result = traced(script, *PYTHON[:-1], tmp_path / "mine.py")
    ours = {re.sub('"', "", key): int(value) for key, value in result.array("r")}
    truth = {f"{name},{line}": int(count) for name, line, count in re.findall(r"^SELF (\w+) (\d+) (\d+)$", result.stdout, re.M)}
    # work() ran once with its own count and once without.
    assert truth and {key: ours.get(key) for key in truth} == {key: 2 * count for key, count in truth.items()}, result
    entered = {name.strip('"') for name, _ in result.array("e")}
    assert entered and entered <= {"gen", "leaf", "recurse", "fails", "work", "profile", "<module>"}, result
    assert dict(result.array("i")).get('"colorsys"') == "1", result
    done = dict(result.array("d"))
    assert done.get('"colorsys",1') == "1" and done.get('"nowhere_at_all",0') == "1", result


def test_encrypted_connections(tmp_path):
    """Python's ssl module on both ends, in one process and in memory; the library is there from the start."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", tmp_path / "key", "-out", tmp_path / "cert",
                    "-subj", "/CN=x", "-days", "2"], check=True, capture_output=True)
    program = f"""import ssl
s = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); s.load_cert_chain({str(tmp_path / 'cert')!r}, {str(tmp_path / 'key')!r})
c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT); c.check_hostname = False; c.verify_mode = ssl.CERT_NONE
a, b = ssl.MemoryBIO(), ssl.MemoryBIO(); server = s.wrap_bio(a, b, True); client = c.wrap_bio(b, a)
for n in range(4):
    for end in (client, server):
        try: end.do_handshake()
        except ssl.SSLWantReadError: pass
client.write(b'a secret word'); print(server.read(100))"""
    script = """probe openssl.write { println("sent ", user_string_n(buffer, size)) }
                probe openssl.handshake { shakes++ } probe openssl.read.return { if (done == 1) got++ }
                probe openssl.read { asked += size }"""
    result = run.run(["-e", script, *PYTHON, program], env={**os.environ, "LD_PRELOAD": "libssl.so.3"})
    assert "sent a secret word" in result.stdout and "b'a secret word'" in result.stdout, result
    assert result.globals["shakes"] == 8 and result.globals["got"] == 1 and result.globals["asked"] == 100, result


# What ctypes is to call, and what the probe of its return says; the kernel's answers are those of bad descriptors and names.
DECODED = {
    "nanosleep(ts, None)": "clock_nanosleep(CLOCK_REALTIME, 0x0, [0.000001000], 0x0) = 0",
    "clock_nanosleep(1, 0, ts, None)": "clock_nanosleep(CLOCK_MONOTONIC, 0x0, [0.000001000], 0x0) = 0",
    "clock_nanosleep(1, 0, (L * 2)(0, -1), None)": "clock_nanosleep(CLOCK_MONOTONIC, 0x0, [0.-00000001], 0x0) = -22 (EINVAL)",
    "setitimer(1, (L * 4)(), None)": "setitimer(ITIMER_VIRTUAL, [0.000000,0.000000], 0x0) = 0",
    "setrlimit(7, (L * 2)(30, 20))": "prlimit64(0, RLIMIT_NOFILE, [30,20], 0x0) = -22 (EINVAL)",
    "pthread_sigmask(0, (L * 16)(1 << 9 | 1 << 11), None)": "rt_sigprocmask(SIG_BLOCK, [SIGUSR1|SIGUSR2], 0x0, 8) = 0",
    "pthread_sigmask(1, (L * 16)(), None)": "rt_sigprocmask(SIG_UNBLOCK, [EMPTY], 0x0, 8) = 0",
    "sigaction(10, (L * 19)(1), None)": "rt_sigaction(SIGUSR1, SIG_IGN, 0x0, 8) = 0",
    "sigaction(9, None, None)": "rt_sigaction(SIGKILL, NULL, 0x0, 8) = 0",
    "sigaction(12, (L * 19)(0x1234, 2, *([0] * 15), 0x10000000), None)":
        "rt_sigaction(SIGUSR2, 0x1234, SA_RESTART|SA_RESTORER, [SIGINT], 0x0, 8) = 0",
    "dup3(-1, 9, 0x80000)": "dup3(-1, 9, O_CLOEXEC) = -9 (EBADF)",
    "fcntl(-1, 3, 0)": "fcntl(-1, F_GETFL, 0x0) = -9 (EBADF)",
    "flock(-1, 6)": "flock(-1, LOCK_EX|LOCK_NB) = -9 (EBADF)",
    "utimensat(-100, b'/no/where', (L * 4)(1, 0x3fffffff, 2, 3), 0x100)":
        'utimensat(AT_FDCWD, "/no/where", [UTIME_NOW][2.000000003], AT_SYMLINK_NOFOLLOW) = -2 (ENOENT)',
    "unlinkat(-100, b'/no/where', 0x200)": 'unlinkat(AT_FDCWD, "/no/where", AT_REMOVEDIR) = -2 (ENOENT)',
    "epoll_ctl(-1, 1, 5, None)": "epoll_ctl(-1, EPOLL_CTL_ADD, 5, 0x0) = -14 (EFAULT)",
    "eventfd(3, 0x4000)": "eventfd2(3, 0x4000) = -22 (EINVAL)",
    "inotify_add_watch(-1, b'/', 0x28)": 'inotify_add_watch(-1, "/", IN_CLOSE_WRITE|IN_OPEN) = -9 (EBADF)',
    "timerfd_create(99, 0x800)": "timerfd_create(99, TFD_NONBLOCK) = -22 (EINVAL)",
    "setsockopt(-1, 1, 9, None, 4)": "setsockopt(-1, SOL_SOCKET, SO_KEEPALIVE, 0x0, 4) = -9 (EBADF)",
    "setsockopt(-1, 6, 1, None, 4)": "setsockopt(-1, SOL_TCP, TCP_NODELAY, 0x0, 4) = -9 (EBADF)",
    "connect(-1, b'\\n\\0\\0\\x50' + bytes(19) + b'\\1' + bytes(4), 28)":
        "connect(-1, {AF_INET6, 0000:0000:0000:0000:0000:0000:0000:0001, 80}, 28) = -9 (EBADF)",
    "connect(-1, b'\\1\\0\\0abc', 6)": r'connect(-1, {AF_UNIX, "\000abc"}, 6) = -9 (EBADF)',
    "sendto(-1, b'a\\0b', 3, 0x4000, b'\\2\\0\\0\\x35\\x7f\\0\\0\\1', 8)": r'sendto(-1, "a\000b", 3, MSG_NOSIGNAL, {AF_INET, 127.0.0.1, 53}, 8) = -9 (EBADF)',
    "execve(b'/no/where', (P * 3)(b'a', b'b c'), (P * 2)(b'X=1'))": 'execve("/no/where", ["a", "b c"], ["X=1"]) = -2 (ENOENT)',
    "wait4(-1, None, 1, None)": "wait4(-1, 0x0, WNOHANG, 0x0) = -10 (ECHILD)",
    "select(0, None, None, None, (L * 2)(0, 5))": "pselect6(0, 0x0, 0x0, 0x0, [0.000000000], 0x0) = 0",  # the kernel has put there what is left
    "mremap(None, L(0), L(0), 1)": "mremap(0x0, 0, 0, MREMAP_MAYMOVE, 0x0) = -22 (EINVAL)",
    "memfd_create(b'x', 129)": 'memfd_create("x", MFD_CLOEXEC|0x80) = -22 (EINVAL)',
    "getcwd(room, L(1))": "getcwd(ADDR, 1) = -34 (ERANGE)",
    "getcwd(room, L(999))": f"getcwd(ADDR, 999) = {len(os.getcwd()) + 1}",
    "pipe(None)": "pipe2(0x0) = -14 (EFAULT)",
}


def test_arguments_are_texts(tmp_path):
    """Before and behind each of the calls a mark is written, so that those which Python makes itself are told apart."""
    calls = "\n".join(f"libc.write(-1, b'<', 1); libc.{call}" for call in DECODED)
    program = ("import ctypes\nL, P = ctypes.c_long, ctypes.c_char_p\nlibc = ctypes.CDLL(None, use_errno=True)\n"
               f"ts = (L * 2)(0, 1000)\nroom = ctypes.create_string_buffer(1000)\n{calls}\nlibc.write(-1, b'<', 1)\n")
    script = 'probe syscall.*.return { printf("%s(%s) = %s\\n", name, argstr, retstr) }'
    output = tmp_path / "out"
    result = run.run(["-o", output, "-e", script, *PYTHON, program])
    parts = output.read_text().split('write(-1, "<", 1) = -9 (EBADF)\n')[1:-1]
    said = [[re.sub(r"0x[0-9a-f]{5,}", "ADDR", line) for line in part.splitlines()] for part in parts]
    assert len(said) == len(DECODED), (result, output.read_text())
    assert {call: lines for (call, line), lines in zip(DECODED.items(), said) if line not in lines} == {}
