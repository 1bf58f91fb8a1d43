# SPDX-License-Identifier: Apache-2.0
"""Scripts as users of SystemTap and bpftrace write them, on real programs, against what these programs did."""
import collections
import re
import subprocess

import pytest

from support import paths

PYTHON = ["--", "/usr/bin/python3", "-I", "-S", "-c"]


@pytest.fixture
def traced(djtap_once, tmp_path):
    """traced(script, words...) runs a script file; words before "--" or "-c" are its arguments."""
    def call(script, *words):
        file = tmp_path / "script.djt"
        file.write_text(script)
        result = djtap_once(str(file), *[str(word) for word in words])
        assert result.returncode == 0 and not re.search(r"^(ERROR|error)\b", result.stderr, re.M), result
        return result
    return call


def test_the_busiest_functions_sorted_by_sum_and_by_average(traced):
    result = traced("""#!/usr/bin/env stap
        # bytes by function, two orders
        global bytes
        probe process.function("vfs_read"), process.function("vfs_write") { bytes[ppfunc()] <<< $count }
        probe end {
          foreach (f in bytes @sum- limit 1) printf("most %s %d\\n", f, @sum(bytes[f]))
          foreach (f in bytes @avg+ limit 1) printf("small %s %d\\n", f, @avg(bytes[f]))
          foreach (f in bytes @count-) printf("%s %d %d %d %d\\n", f, @count(bytes[f]), @sum(bytes[f]), @min(bytes[f]), @max(bytes[f]))
        }""", "-c", paths.TINYFS)
    rows = {name: [int(value) for value in values] for name, *values in
            re.findall(r"^(vfs_\w+) (\d+) (\d+) (\d+) (\d+)$", result.stdout, re.M)}
    assert rows["vfs_read"][0] == result.facts["vfs_read calls"] and len(rows) == 2, result
    most = max(rows, key=lambda name: rows[name][1])
    small = min(rows, key=lambda name: rows[name][1] // rows[name][0])
    assert f"most {most} {rows[most][1]}\n" in result.stdout, result
    assert f"small {small} {rows[small][1] // rows[small][0]}\n" in result.stdout, result


def test_arguments_conditionals_and_macros(traced):
    script = """
        @define add(array, key, n) %( @array[@key] += @n %)
        global by
        %( $# > 1 %? probe process.function(@1), process.function(@2) { @add(by, ppfunc(), 1) }
                  %: probe process.function(@1) { @add(by, ppfunc(), 10) } %)
        %( systemtap_v >= "1.0" && arch == "x86_64" %? probe begin { println("new") } %: probe begin { println("old") } %)"""
    calls = 0
    for words, factor in ((["vfs_read"], 10), (["vfs_read", "vfs_open"], 1)):
        result = traced(script, *words, "-c", paths.TINYFS)
        counts = dict(result.array("by"))
        calls = result.facts["vfs_read calls"]
        assert int(counts['"vfs_read"']) == factor * calls and len(counts) == len(words), result
        assert "new\n" in result.stdout and "old" not in result.stdout, result


def test_arming_conditions_switch_probes(traced):
    """The probe of reads is armed by the hundredth write and disarmed by the two hundredth."""
    result = traced("""global writes, reads, all, on
        probe process.function("vfs_write") { writes++; on = writes > 100 && writes <= 200 }
        probe process.function("vfs_read") if (on) { reads++ }
        probe process.function("vfs_read") { all++ }
        probe end { printf("%d %d %d\\n", writes, reads, all) }""", "-c", paths.TINYFS)
    writes, reads, everything = map(int, re.search(r"^(\d+) (\d+) (\d+)$", result.stdout, re.M).groups())
    assert (writes, everything) == (801, result.facts["vfs_read calls"]) and 0 < reads < everything, result


def test_wildcards_through_the_families_of_tapsets(traced):
    program = "import os; f = os.open('/dev/null', os.O_WRONLY); os.write(f, b'abc'); os.close(f)"
    result = traced("""probe syscall.{openat,write,close}.return { seen[name, retval > 2] ++ } global seen
                       probe syscall.nothing_has_this_name ? { never++ } probe nobody.has.this ? { never++ }""", *PYTHON, program)
    counts = collections.Counter({key.split('"')[1]: int(value) for key, value in result.array("seen") for _ in "x"})
    assert {"openat", "write", "close"} == set(counts) and '"write",1' in dict(result.array("seen")), result
    assert result.globals.get("never", 0) == 0, result


def test_a_histogram_as_text_and_its_line(traced):
    result = traced("""global s probe process.function("vfs_read") { s <<< $count }
                       probe end { println(@hist_log(s)) print(sprintln("done ", @count(s) == @hist_log(s)[0] + @sum(t))) } global t
                       probe process.function("vfs_read") { t <<< ($count != 0) }""", "-c", paths.TINYFS)
    assert "done 1\n" in result.stdout, result
    drawn = sum(int(count) for count in re.findall(r"^ *\d+ \|@* +(\d+)$", result.stdout, re.M))
    assert drawn == result.facts["vfs_read calls"], result


def test_all_variables_and_elements_by_an_index_that_varies(traced):
    result = traced("""probe process.function("table") {
          for (i = 0; i < 3; i++) printf("%d ", $matrix[$row][i])
          println("") println($$vars) println($nodes[1]->value)
        }""", "-c", paths.victim("args"))
    assert re.search(r"^(-?\d+ ){3}$", result.stdout, re.M) and re.search(r"^matrix=0x[0-9a-f]+ nodes=0x[0-9a-f]+ row=0x1", result.stdout, re.M), result
    last = int(re.search(r"^((?:-?\d+ )+)$", result.stdout, re.M).group(1).split()[-1])
    value = int(re.search(r"^(-?\d+)$", result.stdout, re.M).group(1))
    text = (paths.ROOT / "tests/targets/args.c").read_text()
    static = int(re.search(r"static_number = (-?\d+)", text).group(1))
    assert last + value + static == result.facts["table"], result


def test_latency_by_thread_with_associative_arrays(traced):
    """The classic: time stamps by thread, and percentiles of what passed."""
    result = traced("""global start, lat
        probe process.function("vfs_read") { start[tid()] = gettimeofday_ns() }
        probe process.function("vfs_read").return {
          if (tid() in start) { lat[execname()] <<< gettimeofday_ns() - start[tid()]; delete start[tid()] }
        }
        probe end {
          foreach (name in lat) printf("%s %d %d\\n", name, @count(lat[name]), @p50(lat[name]) <= @p99(lat[name])
                                                                           && @p99(lat[name]) <= @max(lat[name]) * 33 / 32)
          foreach (t in start) left++
          printf("left %d\\n", left)
        }""", "-c", paths.TINYFS)
    assert f"tinyfs {result.facts['vfs_read calls']} 1\nleft 0\n" in result.stdout, result


def test_recursion_and_mutual_calls_of_functions(traced):
    result = traced("""function even:long(n) { return n == 0 ? 1 : odd(n - 1) }
        function odd:long(n) { if (n == 0) return 0; return even(n - 1) }
        function shown:string(n:long) { if (n > 9) next; return sprintf("digit %d", n) }
        function shown:string(n:long) { if (n % 2) next; return "even" }
        function shown:string(n:long) { return "odd" }
        probe begin { printf("%d%d %s,%s,%s\\n", even(8), odd(8), shown(3), shown(12), shown(13)) exit() }""")
    assert result.stdout == "10 digit 3,even,odd\n", result


def test_files_by_descriptor(traced, tmp_path):
    """Names of descriptors through an array; bytes by name, as SystemTap's iotop does."""
    (tmp_path / "data").write_bytes(b"x" * 12345)
    program = f"import os; f = os.open({str(tmp_path / 'data')!r}, 0); a = os.read(f, 10000); b = os.read(f, 10000); os.close(f)"
    result = traced("""global name_of, got
        probe syscall.openat.return { if (retval >= 0) name_of[retval] = filename }
        probe syscall.read.return { if (retval > 0 && name_of[fd] != "") got[name_of[fd]] += retval }
        probe syscall.close { delete name_of[fd] }
        probe end { foreach ([f] in got-) if (f =~ "/data\\"$") printf("%s %d\\n", f, got[f]) delete got }""", *PYTHON, program)
    assert f'"{tmp_path}/data" 12345\n' in result.stdout, result


def test_errors_are_caught_and_counted(traced):
    result = traced("""global bad, good
        probe process.function("vfs_read") { try { good += user_long($count) } catch (what) { bad++; last = what } }
        probe process.function("vfs_read") { try { good += 10 / ($count - $count) } catch { zero++ } }
        probe end { printf("%d %d %d %s\\n", bad, good, zero, last) } global zero, last""", "-c", paths.TINYFS)
    calls = result.facts["vfs_read calls"]
    assert re.search(rf"^{calls} 0 {calls} .*address", result.stdout, re.M), result


def test_wrapping_arrays_and_slices_keep_the_newest(traced):
    result = traced("""global last%[4], sums
        probe begin {
          for (i = 0; i < 10; i++) { last[i, i % 2] = i * i; sums[i % 3, i] <<< i }
          foreach ([n+, odd] in last) printf("%d ", n)
          foreach ([n, odd] in last[*, 1]) odds += last[n, odd]
          delete sums[1, *]
          printf("| %d | %d\\n", odds, @sum(sums[*, *]))
          exit()
        }""")
    assert result.stdout == f"6 7 8 9 | {49 + 81} | {45 - (1 + 4 + 7)}\n", result


def test_the_programs_that_a_shell_starts(traced):
    result = traced("""probe syscall.execve ? { printf("%s\\n", filename) } global forks probe syscall.clone { forks++ }""",
                    "--", "bash", "-c", "/bin/true; /bin/echo said; exit 0")
    assert "said\n" in result.stdout, result


def test_lines_of_sqlite_queries_that_are_slow(traced):
    sql = "with recursive c(x) as (select 1 union all select x + 1 from c where x < 50000) select count(*) from c"
    result = traced("""global text, spent
        probe sqlite.prepare.return { text[statement] = sql }
        probe sqlite.step { t[tid()] = gettimeofday_us() } global t
        probe sqlite.step.return { spent[text[statement]] += gettimeofday_us() - t[tid()] }
        probe end { foreach (q in spent- limit 1) println("slowest: ", q) }""", "--", "sqlite3", ":memory:", "select 1", sql, "select 2")
    assert f"slowest: {sql}\n" in result.stdout and "50000\n" in result.stdout, result


def test_what_the_compiler_asks_for(traced, tmp_path):
    """cc1 on a real file: allocations through aliases, and that its output is what it is without probes."""
    (tmp_path / "a.c").write_text("int f(int n) { return n * 3 + 1; }\n")
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run([cc1, "-quiet", "-O2", str(tmp_path / "a.c"), "-o", str(tmp_path / "plain.s")], check=True)
    result = traced("""probe libc.allocate { if (size >= 4096) big[name]++; total++ } global big
                       probe libc.free { if (address) freed++ } probe end { printf("%d %d\\n", total > 1000, freed > 100) }""",
                    "--", cc1, "-quiet", "-O2", tmp_path / "a.c", "-o", tmp_path / "probed.s")
    assert "1 1\n" in result.stdout and (tmp_path / "probed.s").read_text() == (tmp_path / "plain.s").read_text(), result


def test_words_of_the_command_line(djtap_once, tmp_path):
    """All of SystemTap's names of them; a script's own names stay its own."""
    script = tmp_path / "words.djt"
    script.write_text("""probe begin { println(argc, "|", $#, "|", @#, "|", argv[1], "|", argv[2], "|", argv_1, "|", argv_2, "|", argv_3, "|", @1, "|", @2)
        foreach (i+ in argv) print(i, "=", argv[i], ";") println(3 in argv) exit() }""")
    result = djtap_once(str(script), "5", 'two "words"\n')
    assert result.stdout == '2|2|2|5|two "words"\n|5|two "words"\n||5|two "words"\n\n1=5;2=two "words"\n;0\n' and result.stderr == "", result
    assert djtap_once("-e", 'probe begin { println(argc, "[", argv[1], argv_1, "]") exit() }').stdout == "0[]\n"
    own = 'global argv probe begin { argc = 7 argv[1] = 8 argv_1 = "nine" println(argc, argv[1], argv_1) exit() } function f(argc) { return argc }'
    assert djtap_once("-e", own, "5").stdout == "78nine\n"
