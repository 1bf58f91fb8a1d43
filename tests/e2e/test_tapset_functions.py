# SPDX-License-Identifier: Apache-2.0
"""Functions and macros of tapsets/, against Python's tables, the terminal standard and the victim's counts."""
import collections
import errno
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess

import pytest

from support import paths, run
from support.paths import victim

TINYFS = ["-c", str(paths.TINYFS)]


def said(body, *words):
    result = run.run(["-e", "probe begin { %s }" % body, *(words or ["-c", "/bin/true"])])
    assert result.returncode == 0, result
    return result.stdout


def test_error_numbers_have_their_names():
    numbers = [number for number in errno.errorcode if number not in (11, 35, 95)]  # these have two
    text = said(" ".join(f"println(errno_str({number}))" for number in numbers))
    assert text.split() == [errno.errorcode[number] for number in numbers]
    text = said("println(errno_str(-2)) println(errno_str(3333)) println(errno_str(-41)) println(errno_str(0), \"|\") "
                "println(return_str(1, -13)) println(return_str(2, 255)) println(return_str(1, -4000))")
    assert text.splitlines() == ["ENOENT", "E#3333", "E#41", "|", "-13 (EACCES)", "0xff", "-4000"]


def test_signals_have_their_names():
    numbers = [s for s in signal.Signals if s < 32]
    text = said(" ".join(f"println(signal_name({int(number)}))" for number in numbers) + "println(signal_name(35))")
    assert text.split() == [s.name for s in numbers] + ["SIGRT3"]


def test_what_wait_says_of_a_child():
    def ended(command):
        child = os.posix_spawn("/bin/sh", ["sh", "-c", command], {})
        return os.waitpid(child, 0)[1]
    left, killed = ended("exit 3"), ended("kill -9 $$")
    values = said("".join(f'printf("%d %d %d %d %d %d\\n", WIFEXITED({s}), WEXITSTATUS({s}), WIFSIGNALED({s}), WTERMSIG({s}), '
                          f"WCOREDUMP({s}), WIFSTOPPED({s}))\n" for s in (left, killed)))
    assert values.splitlines() == ["1 3 0 0 0 0", "0 0 1 9 0 0"]
    assert said('printf("%d %d %d", WIFSTOPPED(0x137f), WSTOPSIG(0x137f), WIFCONTINUED(0xffff))') == "1 19 1"


def test_device_numbers():
    device = os.makedev(259, 70000)
    assert said(f'd = usrdev2kerndev({device}) printf("%d %d %d", MAJOR(d), MINOR(d), d == MKDEV(259, 70000))') == "259 70000 1"


def test_terminal_sequences():
    text = said("ansi_clear_screen() ansi_set_color(31) ansi_set_color(31, 42) ansi_set_color(31, 42, 1) ansi_set_color2(32, 43) "
                "ansi_set_color3(32, 43, 0) ansi_reset_color() ansi_new_line() ansi_cursor_move(3, 5) ansi_cursor_hide() "
                "ansi_cursor_show() ansi_cursor_save() ansi_cursor_restore()")
    assert text == ("\033[1;1H\033[J" "\033[31m" "\033[42;31m" "\033[42;31;1m" "\033[43;32m" "\033[43;32m" "\033[0;0m" "\n"
                    "\033[5;3H" "\033[?25l" "\033[?25h" "\033[s" "\033[u")


def test_assertions_can_be_caught():
    assert said('assert(1) try { assert(0) } catch (e) { println(e) } try { assert(0, "no") } catch (e) { println(e) }') == "Assertion failed\nno\n"


def test_reads_that_warn():
    result = run.run(["-e", 'probe begin { printf("%s %s %d", user_string_warn(0), user_string_n_warn(0, 4), user_int_warn(0) + user_char_warn(0) '
                      '+ user_short_warn(0) + user_ushort_warn(0) + user_long_warn(0) + user_ulong_warn(0)) '
                      'println(user_string2_warn(0, "mine")) }', "-c", "/bin/true"])
    assert result.stdout == "  0mine\n", result
    assert result.stderr.count("WARNING: read fault at address 0x0000000000000000") == 9, result


def test_indentation_follows_the_calls():
    script = """probe func("vfs_*") { println(thread_indent(1), "->", ppfunc()) deepest[ppfunc()] <<< thread_indent_depth(0) }
                probe func("vfs_*").return { println(thread_indent(-1), "<-", ppfunc()) if (++calls == 20) exit() } global calls"""
    result = run.run(["-e", script, *TINYFS])
    threads = collections.defaultdict(list)  # the calls that each is in
    lines = [line for line in result.stdout.splitlines() if re.match(r" *\d+ tinyfs\(\d+\):", line)]
    assert len(lines) >= 20, result
    for line in lines[:20]:
        thread, blanks, arrow, name = re.match(r" *\d+ tinyfs\((\d+)\):( *)(->|<-)(\w+)", line).groups()
        open_calls = threads[thread]
        if arrow == "->":
            assert len(blanks) == len(open_calls), line
            open_calls.append(name)
        else:
            assert open_calls.pop() == name and len(blanks) == len(open_calls), line
    assert said("indent(1) indent(1) printf(\"[%s]%d\", substr(indent(1), 7, 9), indent_depth(-1))") == "[:  ]2"


def test_stopwatches_add_up():
    script = """probe func("work") { start_stopwatch("work") } probe func("work").return { stop_stopwatch("work") calls++ }
                probe end { all = read_stopwatch_ns("work") printf("%d %d %d\\n", all > 0, read_stopwatch_us("work") == all / 1000,
                            read_stopwatch_ms("work") + read_stopwatch_s("work") <= all)
                            delete_stopwatch("work") println(read_stopwatch_ns("work")) }"""
    result = run.run(["-e", script, "-c", str(paths.BUILD / "targets" / "count_static")])
    assert result.stdout.splitlines()[-3:-1] == ["1 1 1", "0"] and result.globals["calls"] == result.facts["work calls"], result


def test_queues_are_measured():
    """Three requests: one waits for good, one runs for good, one is done; the clock is the script's own."""
    script = """global now = 1000
                function qs_time:long () { return now }
                probe begin {
                  qsq_start("q") qs_wait("q") qs_wait("q") qs_wait("q")
                  now += 100 qs_run("q") qs_run("q")
                  now += 300 qs_done("q")
                  now += 600
                  printf("%d %d %d %d %d %d\\n", qsq_utilization("q", 100), qsq_blocked("q", 100), qsq_wait_queue_length("q", 1000),
                         qsq_service_time("q", 1), qsq_wait_time("q", 1), qsq_throughput("q", 1000000))
                  qsq_print("q")
                }"""
    text = run.run(["-e", script, "-c", "/bin/true"]).stdout.splitlines()
    # In 1000 us: served from 100 on; waiting 3 for 100, 1 for 900; running 2 for 300, 1 for 600.
    assert text[0] == "90 100 1200 1200 2400 1000"
    assert text[1] == "q: 1000.000 ops/s, 1.200 qlen, 2400 await, 1200 svctm, 100% wait, 90% util"


def test_macros_and_the_target_set():
    script = """global sizes probe func("vfs_read") { @try_assign(n, user_int(0), 7) a = @choose_defined($nothing, n)
                sizes["x"] <<< a  if (target_set_pid(pid()) && !target_set_pid(1)) mine++ calls++ } probe end { @prints1(sizes) @prints(sizes["x"]) }"""
    result = run.run(["-e", script, *TINYFS])
    n = result.facts["vfs_read calls"]
    line = f"@count={n} @min=7 @max=7 @sum={7 * n} @avg=7"
    assert f"[x] {line}\n{line}\n" in result.stdout and result.globals["mine"] == result.globals["calls"] == n, result


def test_aggregates_of_many_keys_are_printed():
    """@prints3 to @prints9, by one element that has its keys' numbers."""
    for keys in range(3, 10):
        numbers = ", ".join(str(n) for n in range(1, keys + 1))
        script = f"global a probe begin {{ a[{numbers}] <<< 5; a[{numbers}] <<< 7; @prints{keys}(a) exit() }}"
        result = run.run(["-e", script])
        assert result.stdout == f"[{numbers.replace(' ', '')}] @count=2 @min=5 @max=7 @sum=12 @avg=6\n", result


@pytest.mark.skipif(not shutil.which("gdb"), reason="needs gdb")
def test_sizes_and_places_of_types_are_gdbs():
    script = """probe func("list") { printf("is %d %d %d %d %d\\n", @cast_sizeof("node"), @cast_module_sizeof("args", "point"), @offsetof("node", at),
                @module_offsetof("args", "node", at->y), @module_offsetof("<sys/stat.h>", "stat", st_size))
                printf("found %d %d\\n", @container_of(&$head->at, "node", at)->value == $head->value,
                @module_container_of(&$head->at->y, "args", "node", at->y)->value == $head->value)
                printf("defined %d%d %d%d %d%d\\n", @type_defined("node"), @type_defined("nod"), @type_member_defined("node", at),
                @module_type_member_defined("args", "node", att), @module_type_defined("args", "point"), @module_type_defined("args", "points")) exit() }"""
    result = run.run(["-e", script, "-c", victim("args")])
    asked = ["sizeof(struct node)", "sizeof(struct point)", "(long)&((struct node*)0)->at", "(long)&((struct node*)0)->at.y"]
    told = subprocess.run(["gdb", "-batch", *(word for each in asked for word in ("-ex", f"p {each}")), victim("args")], capture_output=True, text=True).stdout
    numbers = " ".join(line.split("= ")[1] for line in told.splitlines() if line.startswith("$"))
    assert f"is {numbers} 48\nfound 1 1\ndefined 10 10 10\n" in result.stdout, (told, result)  # 48: the x86-64 ABI's st_size


def test_a_threads_own_variables_reach_the_return(djtap):
    script = """probe func("work") { @this1 = $n @this8 = sprint("n", $n) }
                probe func("work").return { n++ wrong += @this1 != @entry($n) || @this8 != sprint("n", @entry($n)) }"""
    result = djtap("-e", script, "-c", victim("count"))
    assert result.globals["n"] == result.facts["work calls"] and result.globals["wrong"] == 0, result


def test_pn_and_user_mode(djtap):
    result = djtap("-e", 'probe func("work") { if (pn() == pp() && user_mode() && !probing_32bit_app()) n++ }', "-c", victim("count"))
    assert result.globals["n"] == result.facts["work calls"], result


def test_numbers_with_a_fraction_by_systemtaps_names():
    text = said('a = string_to_fp("-12.25") b = long_to_fp(3) println(fp_to_string(fp_add(a, b), 3)) println(fp_to_string(fp_sub(a, b), 2)) '
                "println(fp_to_string(fp_mul(a, b), 2)) println(fp_to_string(fp_div(b, 2), 1)) println(fp_to_string(fp_rem(7, 4), 1)) "
                "println(fp_to_string(fp_sqrt(2), 5)) printf(\"%d%d%d\\n\", fp_lt(a, b), fp_le(b, a), fp_eq(b, 3)) "
                "printf(\"%d %d %d %d\\n\", fp_to_long(a, 0, 0), fp_to_long(a, 1, 0), fp_to_long(a, 2, 0), fp_to_long(a, 3, 0))")
    assert text.split("\n")[:-1] == [f"{-12.25 + 3:.3f}", f"{-12.25 - 3:.2f}", f"{-12.25 * 3:.2f}", "1.5", "-1.0", f"{2 ** 0.5:.5f}", "101", "-12 -12 -13 -12"]


def test_a_threads_own_variables_in_a_strict_script(djtap_once):
    """The macros bring their arrays along."""
    script = 'probe func("vfs_read") { @this1 = $count } probe func("vfs_read").return { n += @this1; delete @this1 }'
    sums = {djtap_once(*words, "-e", "global n " + script, *TINYFS).stdout.splitlines()[-1] for words in ([], ["--strict"])}
    truth = djtap_once("-e", 'probe func("vfs_read") { n += $count }', *TINYFS).stdout.splitlines()[-1]
    assert sums == {truth}, sums


def test_floats_are_widened():
    """As Python's own: normal and denormal ones, the largest, what is no number."""
    numbers = [1.5, -123.456, 0.1, 2.0 ** -149, 2.0 ** -126, 3.4028234663852886e38, -0.0, 1e30]
    bits = [struct.unpack("I", struct.pack("f", number))[0] for number in numbers]
    text = said(" ".join(f'printf("%.17g\\n", fp32_to_fp64({each}));' for each in bits))
    assert [float(line) for line in text.split()] == [struct.unpack("f", struct.pack("I", each))[0] for each in bits]
    assert said('printf("%g %g %g", fp32_to_fp64(0x7f800000), fp32_to_fp64(0xff800000), fp32_to_fp64(0x7fc00001))').replace("-nan", "nan") == "inf -inf nan"


def test_the_tracer_itself(djtap_once):
    """Its process is the parent of a command that it runs."""
    result = djtap_once("-e", 'probe begin { printf("%d %s|%d|%s|", stp_pid(), module_name(), remote_id(), remote_uri()); system("echo $PPID"); exit() }')
    number = result.stdout.split("|")[-1].strip()
    assert int(number) > 1 and result.stdout == f"{number} djtap_{number}|-1||{number}\n", result


def test_labels_have_names(djtap_once):
    result = djtap_once("-e", 'probe process.function("*").label("*") { n[pnlabel(), pp()]++ } probe func("triple") { regparm(3); n[pnlabel(), ppfunc()]++ }',
                        "-c", victim("inside"))
    assert re.search(rf'^n\["again","process\(\\"{victim("inside")}\\"\)\.function\(\\"by_hand\\"\)\.label\(\\"again\\"\)"\]=\d', result.stdout, re.M), result
    assert re.search(r'^n\["","triple"\]=\d', result.stdout, re.M), result


def test_numbers_as_bytes():
    result = subprocess.run([paths.DJTAP, "-e", "probe begin { stp_print_binary(3, 1, 0x4142, -2, 9) exit() }"], capture_output=True, check=True, timeout=300)
    assert result.stdout == struct.pack("3q", 1, 0x4142, -2)


def test_speculative_output():
    text = said('a = speculation() b = speculation() speculate(a, "one\\n") speculate(b, "no\\n") speculate(a, "two\\n") commit(a) discard(b) '
                "commit(b) println(a, b)")
    assert text == "one\ntwo\n12\n"


def test_speculative_output_of_one_moment():
    """Threads may speculate in the same nanosecond: the script's own clock stands still."""
    script = """function gettimeofday_ns:long () { return 7 }
    probe begin { a = speculation() for (i = 0; i < 20; i++) speculate(a, sprintf("%d ", i)) commit(a) exit() }"""
    assert run.run(["-e", script]).stdout == "".join(f"{i} " for i in range(20))


def test_sets_of_signals_and_error_numbers():
    assert said('println(signal_str(2)) println(sigset_mask_str(0x4002)) println(sa_flags_str(0x14000000)) '
                'printf("%d%d%d", errno_p(-2), errno_p(2), errno_p(-41))') == (
        "INT\n2,15\nRESTART|RESTORER\n220")


TAPSETS = pathlib.Path("/usr/share/systemtap/tapset")


@pytest.mark.skipif(not TAPSETS.exists(), reason="Debian's systemtap is not here")
def test_names_of_numbers_are_systemtaps():
    """Its tables, read where they are installed; what they do not have, too."""
    tables = {"signal_str": (r'__sig\[(\d+)\] = "(.*?)"', "linux/signal.stp", ""),
              "sock_prot_num2str": (r'_prot_num2str\[(\d+)\]\s*= "(.*?)"', "linux/socket.stp", "UNDEF"),
              "sock_fam_num2str": (r'_fam_num2str\[(\d+)\]\s*= "(.*?)"', "linux/socket.stp", "UNDEF"),
              "sock_type_num2str": (r'_type_num2str\[(\d+)\]\s*= "(.*?)"', "linux/socket.stp", "UNDEF"),
              "sock_state_num2str": (r'_state_num2str\[(\d+)\]\s*= "(.*?)"', "linux/socket.stp", "UNDEF"),
              "tcp_sockstate_str": (r'sockstate\[(\d+)\]\s*= "(.*?)"', "linux/tcp.stp", "UNDEF")}
    for function, (pattern, file, nothing) in tables.items():
        names = dict(re.findall(pattern, (TAPSETS / file).read_text()))
        text = said(f'for (i = 0; i < 200; i++) println({function}(i), "|")')
        assert len(names) > 4 and text.split("|\n")[:-1] == [names.get(str(number), nothing) for number in range(200)], function
        if "num2str" in function:
            back = said(" ".join(f'println({function.replace("num2str", "str2num")}("{name}"))' for name in names.values()))
            assert back.split() == list(names), function
    options = dict(re.findall(r'__sockopt\[@const\("(TCP_\w+)"\)\]\s*=\s*"(\w+)"', (TAPSETS / "linux/tcp.stp").read_text()))
    numbers = {number: name for name in options if (number := getattr(socket, name, None)) is not None}
    text = said("for (i = 0; i < 20; i++) println(tcp_sockopt_str(i))").split()
    assert len(numbers) > 10 and all(text[number] == name for number, name in numbers.items()) and text[0] == "UNDEF_SOCKOPT(0)", text
    flags = re.findall(r'ARG_flags & MSG_(\w+)\)\s*strlcat\(STAP_RETVALUE, "(\w+)\|"', (TAPSETS / "linux/socket.stp").read_text())
    assert len(flags) > 10 and said("println(msg_flags_num2str(-1))") == "|".join(name for _, name in flags) + "\n"
    flags = re.findall(r'sa_flags & 0x(\w+?)u?\) strlcat\(str, "(\w+)\|"', (TAPSETS / "linux/signal.stp").read_text())
    assert len(flags) == 8 and said("println(sa_flags_str(-1))") == "|".join(name for _, name in flags) + "\n"


def test_the_kind_of_a_probe():
    """In the words of SystemTap's context.stp."""
    kinds = {"begin": "begin_end", "timer.ms(1)": "hrtimer", "timer.jiffies(1)": "timer", "timer.profile": "profile_timer", "process.begin": "utrace",
             "process.thread.begin": "utrace", 'func("work")': "uprobe", 'func("work").return': "uretprobe"}
    script = "".join(f"probe {point} {{ n[probe_type(), {json.dumps(point)}] = 1 }}\n" for point in kinds)
    result = run.run(["-e", f"global n {script}", "-c", victim("busy")])
    found = {json.loads(point): kind.strip('"') for kind, point in re.findall(r'^n\[("\w+"),(".*")\]=1$', result.stdout, re.M)}
    missing = set(kinds) - set(found)
    assert {point: kinds[point] for point in found} == found and not missing, (missing, result)


def test_small_words_about_machine_and_text():
    text = said('println(HZ()) println(jiffies() > 0) println(arch_bytes() * 10 + uarch_bytes()) '
                'println(string_quoted("a\\tb")) println(big_endian2(0x1234)) println(big_endian4(0x12345678)) '
                'println(big_endian8(1)) println(little_endian2(0x12345)) println(little_endian4(-1)) println(little_endian8(-1))')
    assert text.splitlines() == ["100", "1", "88", '"a\\tb"', str(0x3412), str(0x78563412), str(1 << 56), str(0x2345), str((1 << 32) - 1), "-1"]


def test_words_about_the_probed_call():
    script = ("probe func(\"lib_work\").return { if (is_return()) back++; value += returnval(); raw += $return } "
              "probe func(\"lib_work\") { if (is_return()) bad++; from[caller()]++; if (caller_addr() == ustack(1)) same++ }")
    result = run.run(["-e", script, "-c", victim("ctor")])
    numbers = result.globals
    assert numbers["back"] == numbers["same"] == 160 and numbers.get("bad", 0) == 0 and numbers["value"] == numbers["raw"], result
    assert sum(int(n) for _, n in result.array("from")) == 160 and all(" 0x" in key for key, _ in result.array("from")), result


def test_buffers_are_quoted_up_to_their_room():
    """The first number is how much is read, the second how long the text may be; a buffer has zeros in it, a string ends there."""
    program = """import ctypes
room = ctypes.create_string_buffer(b"ab\\0cd\\nef" + b"x" * 30)
ctypes.CDLL(None).lldiv(ctypes.c_longlong(ctypes.addressof(room)), ctypes.c_longlong(1))"""
    calls = {"user_buffer_quoted(at, 8, 100)": r'"ab\000cd\nef"', "user_buffer_quoted(at, 2, 100)": '"ab"', "user_buffer_quoted(at, 8, 10)": '"ab"...',
             "user_buffer_quoted_error(at, 5, 100)": r'"ab\000cd"', "user_string_n_quoted(at, 8, 100)": '"ab"',
             "user_string_n2_quoted(at + 6, 20, 12)": '"efxxxxx"...',
             "user_string_n_quoted(at + 6, 20, 12)": '"efxxxxx"...', "user_buffer_quoted(8, 8, 8)": "0x8"}
    script = "probe func(\"libc.so.6!lldiv\") { at = long_arg(1) %s try { user_buffer_quoted_error(8, 8, 8) } catch (e) { println(e) } }" % "".join(
        f"println({call}) " for call in calls)
    result = run.run(["-e", script, "--", "/usr/bin/python3", "-I", "-S", "-c", program])
    assert result.stdout.splitlines() == [*calls.values(), "read fault at address 0x0000000000000008"], result


def test_what_only_the_kernel_could_tell():
    for call, words in {"kernel_string(1)": "user_string()", "set_user_int(1, 2)": "changes nothing", "d_path(1)": "out of reach",
                        "printk(1)": "log(", "set_int_arg(1, 2)": "changes nothing"}.items():
        result = run.run(["-e", "probe begin { %s }" % call, "-c", "/bin/true"])
        assert "error[DJ2001]" in result.stderr and "needs the kernel in SystemTap" in result.stderr and words in result.stderr, result
