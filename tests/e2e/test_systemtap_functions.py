# SPDX-License-Identifier: Apache-2.0
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
    """Each failed mkdir() leaves its number in errno, once it returns; the system call's probe tells it before."""
    program = """import os
for path in ("/no/where", "/etc/passwd/x", "/" + "a" * 300):
    try: os.mkdir(path)
    except OSError as e: print("failed", e.errno)"""
    script = """probe syscall.mkdir.return { printf("%d %s ", retval, retstr) }
    probe func("libc.so.6!mkdir").return { printf("%d %s\\n", user_errno(), return_str(3, 8)) }
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
    assert lines[2].split("|")[1] == r'"\u00E9\u20AC"', result


def test_overloads_of_built_in_functions():
    text = said('println(user_string(8, "none"), " ", user_string_n(8, 3, "nothing")) '
                'println(tokenize("a b,c", " "), tokenize(" ,"), tokenize(","), tokenize(","), "|")')
    assert text == "none nothing\nabc|\n"


def test_limits_of_a_process():
    program = """import os, resource
names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
for name in names: print("limit", name, getattr(resource, name), resource.getrlimit(getattr(resource, name))[0])
os.umask(0)"""
    calls = """task_rlimit_cpu( task_rlimit_fsize( task_rlimit_data( task_rlimit_stack( task_rlimit_core( task_rlimit_rss( task_rlimit_nproc(
        task_rlimit_nofile( task_rlimit_memlock( task_rlimit_as( task_rlimit_locks( task_rlimit_sigpending( task_rlimit_msgqueue(
        task_rlimit_nice( task_rlimit_rtprio( task_rlimit_rttime(""".split()
    names = {call: call.replace("task_rlimit", "RLIMIT").rstrip("(").upper() for call in calls}
    body = " ".join(f'printf("mine {name} %d %d %d\\n", rlimit_from_str("{name}"), task_rlimit(tid(), "{name}"), {call}tid()))'
                    for call, name in names.items())
    body += ' println(rlimit_from_str("RLIMIT_NO"), task_rlimit(tid(), "x"))'
    result = run.run(["-e", "probe syscall.exit_group { %s }" % body, *PYTHON, program])
    theirs = {name: (int(number), int(limit)) for name, number, limit in re.findall(r"^limit (\w+) (\d+) (-?\d+)$", result.stdout, re.M)}
    mine = {name: tuple(map(int, rest)) for name, *rest in re.findall(r"^mine (\w+) (\d+) (-?\d+) (-?\d+)$", result.stdout, re.M)}
    assert len(mine) == 16 and "\n-1-1\n" in result.stdout, result
    for name, (number, limit) in theirs.items():
        if name != "RLIMIT_OFILE":  # another word for RLIMIT_NOFILE
            assert mine[name] == (number, limit, limit), (name, result)


def test_families_of_processes_and_signals():
    program = """import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, 40, 64])
print("me", os.getpid(), os.getppid(), [line for line in open("/proc/self/status") if line.startswith("FDSize")][0].split()[1], flush=True)"""
    script = """probe syscall.exit_group { task = tid()
      printf("%d%d%d%d", is_sig_blocked(task, 12), is_sig_blocked(task, 40), is_sig_blocked(task, 64), is_sig_blocked(task, 10))
      printf(" %d %d\\n", task_max_file_handles(task), task_parent(task))
      println(pstrace(task)) println(task_ancestry(task, 0)) println(task_ancestry(task, 1))
      printf("%d%d\\n", registers_valid(), is_myproc()) println(probe_type()) asmlinkage() fastcall() }
    probe end { println(probe_type(), registers_valid()) target_set_report() }"""
    result = run.run(["-e", script, *PYTHON, program])
    pid, parent, handles = re.search(r"^me (\d+) (\d+) (\d+)$", result.stdout, re.M).groups()
    lines = result.stdout.splitlines()
    assert f"1110 {handles} {parent}" in lines and f"target set:\n0 begat {pid}\n" in result.stdout, result
    assert re.search(rf"^ python3\({pid}\) \w+\({parent}\)( |$)", result.stdout, re.M), result
    assert re.search(r"^[^\n]*=>djtap=>python3$", result.stdout, re.M) and re.search(r"python3\(\d+m\d+\.\d{9}s\)$", result.stdout, re.M), result
    assert "11\nuprobe\n" in result.stdout and "begin_end0\n" in result.stdout, result


def test_names_of_socket_numbers():
    body = """println(sock_prot_num2str(6), sock_prot_str2num("UDP"), sock_fam_num2str(10), sock_fam_str2num("INET"), sock_type_num2str(1))
      println(sock_type_str2num("DGRAM"), sock_state_num2str(3), sock_state_str2num("FREE"), sock_prot_num2str(250),
        sock_fam_str2num("INE"), tcp_sockstate_str(10), tcp_sockopt_str(1))
      println(msg_flags_num2str(0x4042), "|", msg_flags_num2str(0), "|", format_ipaddr(0x0100007f, 2), " ", ip_ntop(0x08080404), " ", format_ipaddr(0, 3))
      println(syscall_num("openat"), syscall_num("no_such"), sa_handler_str(0), sa_handler_str(1), sa_handler_str(-1), sa_handler_str(4096))"""
    assert said(body).splitlines() == ["TCP17INET62STREAM", "2CONNECTED0UNDEF-1TCP_LISTENTCP_NODELAY",
                                       "PEEK|DONTWAIT|NOSIGNAL||127.0.0.1 4.4.8.8 *unknown address family*",
                                       "257-1defaultignorederror0x1000"]


def test_an_ipv6_address_in_memory():
    program = """import ctypes, socket
room = ctypes.create_string_buffer(socket.inet_pton(socket.AF_INET6, "2001:db8::ff00:42:8329"))
ctypes.CDLL(None).lldiv(ctypes.c_longlong(ctypes.addressof(room)), ctypes.c_longlong(1))"""
    result = run.run(["-e", 'probe func("libc.so.6!lldiv") { println(format_ipaddr(long_arg(1), 10)) }', *PYTHON, program])
    assert result.stdout == "2001:0db8:0000:0000:0000:ff00:0042:8329\n", result


def test_an_address_within_its_object():
    """The first mapping of the C library, by /proc/self/maps."""
    program = """import ctypes
print("base", min(int(line.split("-")[0], 16) for line in open("/proc/self/maps") if line.rstrip().endswith("libc.so.6")), flush=True)
ctypes.CDLL(None).lldiv(ctypes.c_longlong(7), ctypes.c_longlong(1))"""
    script = 'probe func("libc.so.6!lldiv") { printf("%d %d\\n", uaddr(), umodaddr(uaddr())) try { umodaddr(8) } catch (e) { println(e) } }'
    result = run.run(["-e", script, *PYTHON, program])
    base = int(re.search(r"^base (\d+)$", result.stdout, re.M)[1])
    address, offset = re.search(r"^(\d+) (\d+)$", result.stdout, re.M).groups()
    assert int(address) - base == int(offset) and "no object of the program is at 0x8\n" in result.stdout, result


def test_lines_of_proc_files():
    script = """probe syscall.exit_group { println(strlen(proc_line(pid(), "status", "SigBlk:")), proc_line(pid(), "status", "no such"),
      proc_line(0, "meminfo", "MemTotal:")) }"""
    result = run.run(["-e", script, *PYTHON, "pass"])
    total = re.search(r"^MemTotal:(.*)$", open("/proc/meminfo").read(), re.M)[1]
    assert f"17{total}\n" in result.stdout, result


def test_strings_that_never_fail():
    assert said('println(user_string_nofault(8), user_string_n_nofault(8, 3), "|")') == "|\n"


def test_strings_that_warn_and_have_a_text_instead():
    result = run.run(["-e", """probe begin { println(user_string_warn(8, "first"), user_string_n_warn(8, 3, "second"), user_string2_n_warn(8, 3, "third"))
      try { user_buffer_quoted_error(8, 3, 3) } catch (e) { println(e) } exit() }""", "-c", "/bin/true"])
    assert result.stderr.count("WARNING: read fault at address 0x0000000000000008") == 3, result
    assert result.stdout == "firstsecondthird\nread fault at address 0x0000000000000008\n", result
