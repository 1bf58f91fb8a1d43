# SPDX-License-Identifier: Apache-2.0
"""Places inside of functions: inlined copies, labels, calls, ranges of lines, addresses; and exports."""
import re
import subprocess

import pytest

from support.paths import line_of, symbol_address, victim


def traced(djtap, script):
    result = djtap("-e", script, "-c", victim("inside"))
    assert result.returncode == 0 and not result.stderr, result
    return result


def counts(result, name):
    return {key.strip('"'): int(value) for key, value in result.array(name)}


def test_inlined_copies_have_their_own_parameters(djtap):
    result = traced(djtap, 'probe func("triple").inline { n++; sum += $value; by[$bias, $$parms != ""]++ }')
    assert result.globals["n"] == result.facts["triple calls"]
    assert result.globals["sum"] == result.facts["triple sum"]


def test_a_function_without_entries_means_its_copies(djtap):
    result = traced(djtap, 'probe process.function("triple") { n++; name[probefunc()]++ }')
    assert result.globals["n"] == result.facts["triple calls"]
    assert counts(result, "name") == {"triple": result.globals["n"]}


LAST = line_of("inside.c", "tripled")


@pytest.mark.parametrize("place", [f"triple@inside.c:{LAST}", f"triple@inside.c:{LAST - 2}", "triple@inside.c+2", f"triple@*:{LAST}",
                                   f"triple@inside.c:{LAST - 1}-{LAST - 1}"])
@pytest.mark.parametrize("form", ['process.statement("{}")', 'func("{}")'])
def test_lines_of_inlined_copies(djtap, place, form):
    """Each copy has its place, however the optimizer mixed it with the caller's code."""
    result = traced(djtap, f"probe {form.format(place)} {{ n++; name[probefunc()]++ }}")
    assert result.globals["n"] == result.facts["triple calls"]
    assert counts(result, "name") == {"triple": result.globals["n"]}


def test_all_lines_of_inlined_copies_are_the_functions_own(djtap):
    every = traced(djtap, 'probe process.statement("triple@inside.c:*") { n[pp()]++ }')
    found = {int(re.search(r":(\d+)", key).group(1)): n for key, n in counts(every, "n").items()}
    assert set(found) <= set(range(LAST - 4, LAST + 2)) and found[LAST - 4] == every.facts["triple calls"], found
    value = traced(djtap, f'probe func("triple@inside.c:{LAST - 3}") {{ sum += @choose_defined($value, 0) }}')
    assert 0 < value.globals["sum"] <= value.facts["triple sum"]


def test_the_nearest_line_of_inlined_copies(djtap):
    result = traced(djtap, f'probe process.statement("triple@inside.c:{LAST + 6}").nearest {{ n[pp()]++ }}')
    ((place, n),) = counts(result, "n").items()
    assert f":{LAST}" in place and n == result.facts["triple calls"], result
    result = djtap("-e", f'probe process.statement("triple@inside.c:{LAST + 6}") {{ n++ }}', "-c", victim("inside"))
    assert re.search(rf"DJ3007.*: no code for inside.c:{LAST + 6} in triple\(\)(.|\n)*nearest lines with code: {LAST}", result.stderr), result


def test_optional_points_mean_inlined_copies_too(djtap):
    result = traced(djtap, 'probe func("triple")? { n++ }')
    assert result.globals["n"] == result.facts["triple calls"]


def test_label(djtap):
    result = traced(djtap, 'probe func("by_hand").label("ag*") { n++ }')
    assert result.globals == {"n": result.facts["retries"]}


@pytest.mark.parametrize("pattern", ["[a-b]gain", "[!x]gain", "again", "ag[a][i]n"])
def test_label_with_sets_of_letters(djtap, pattern):
    """As SystemTap's LPATTERN."""
    result = traced(djtap, f'probe func("by_hand").label("{pattern}") {{ n++ }}')
    assert result.globals == {"n": result.facts["retries"]}


def test_callee_call_is_no_inlined_copy(djtap):
    result = traced(djtap, """probe func("uses").callee("*").call { c[probefunc()]++; if (probefunc() == "helper") sum += $a }""")
    assert counts(result, "c") == {"helper": result.facts["helper calls"] - result.facts["other calls"]}
    assert result.globals == {"sum": sum(range(50))}
    every = traced(djtap, 'probe func("main").callees(2).call { c[probefunc()]++ }')
    assert counts(every, "c")["helper"] == every.facts["helper calls"] and "triple" not in counts(every, "c")


def test_callee_return_is_of_one_caller(djtap):
    """helper() returns the sum of its arguments; only its calls in uses() are meant."""
    result = traced(djtap, """probe func("uses").callee("helper").return { n++; sum += $return; first += $a; last += $g; t <<< @entry(tid()) == tid() }
                              probe func("helper").return { all++; total += $return }""")
    calls = result.facts["helper calls"] - result.facts["other calls"]
    total = sum(n + 2 + 3 + 4 + 5 + 6 + 7 for n in range(50))
    others = sum(n + 1 for n in range(0, 50, 5))
    found = result.globals
    assert (found["n"], found["sum"], found["first"], found["last"]) == (calls, total, sum(range(50)), 7 * calls), result
    assert (found["all"], found["total"]) == (result.facts["helper calls"], total + others), result
    assert f"t @count={calls} @min=1 @max=1" in result.stdout, result


def test_callees_return_through_the_plt(djtap):
    """malloc's result is what free is called with; both are called in other(). $return of another object is rax."""
    result = traced(djtap, """global block probe func("other").callee("malloc").return { block = $return; if (block > 4096) n++ }
                              probe func("other").callee("free").call { same += pointer_arg(1) == block }
                              probe func("other").callees.return { c[probefunc()]++ }""")
    calls = result.facts["other calls"]
    assert result.globals["n"] == result.globals["same"] == calls, result
    found = counts(result, "c")
    assert found["malloc"] == found["free"] == calls and "triple" not in found, found


def test_a_jump_behind_a_call_is_no_return(djtap, tmp_path):
    """The place behind the call is also reached by a loop: only what has come back counts."""
    (tmp_path / "loop.s").write_text(".globl leaf\n.type leaf, @function\nleaf:\n  mov %edi, %eax\n  nop\n  nop\n  nop\n  nop\n  ret\n.size leaf, . - leaf\n"
                                     ".globl work\n.type work, @function\nwork:\n  push %rbx\n  mov $5, %ebx\n  mov $7, %edi\n  call leaf\n"
                                     ".Lagain:\n  dec %ebx\n  nop\n  nop\n  nop\n  jnz .Lagain\n  pop %rbx\n  ret\n.size work, . - work\n"
                                     ".section .note.GNU-stack\n")
    (tmp_path / "main.c").write_text("int work(void);\nint main(void) { for (int i = 0; i < 10; i++) work(); return 0; }\n")
    subprocess.run(["cc", "-g", "-o", "loop", "loop.s", "main.c"], cwd=tmp_path, check=True)
    result = djtap("-e", 'probe func("work").callee("leaf").return { n++; sum += register("rax") }', "-c", tmp_path / "loop")
    assert result.returncode == 0 and result.globals == {"n": 10, "sum": 70}, result


def test_callee_counts_one_caller_and_sees_its_arguments(djtap):
    result = traced(djtap, """probe func("uses").callee("helper") { n++; first += $a; on_stack += $g }
                              probe func("helper") { all++ }""")
    calls = result.facts["helper calls"] - result.facts["other calls"]
    assert result.globals == {"n": calls, "first": sum(range(50)), "on_stack": 7 * calls, "all": result.facts["helper calls"]}


def test_callees_are_called_by_name_through_the_plt_or_inlined(djtap):
    result = traced(djtap, 'probe func("other").callees { c[probefunc()]++ }')
    assert counts(result, "c") == dict.fromkeys(["malloc", "free", "helper", "triple"], result.facts["other calls"])
    deeper = traced(djtap, 'probe func("main").callees(2) { c[probefunc()]++ }')
    found = counts(deeper, "c")
    assert found["helper"] == deeper.facts["helper calls"] and found["triple"] == deeper.facts["triple calls"], found


def test_line_ranges(djtap):
    line = line_of("inside.c", "tries")
    every = traced(djtap, 'probe func("by_hand@inside.c:*") { n[pp()]++ }')
    found = {int(re.search(r":(\d+)", key).group(1)): n for key, n in counts(every, "n").items()}
    assert found[line] == every.facts["retries"] and found[line - 5] == 50, found
    some = traced(djtap, f'probe func("by_hand@inside.c:{line}-{line + 9}") {{ n++ }}')
    assert some.globals["n"] >= every.facts["retries"]
    relative = traced(djtap, 'probe func("by_hand@inside.c+5") { n++ }')
    assert relative.globals == {"n": every.facts["retries"]}


@pytest.mark.parametrize("form", ['process.statement("{}")', 'func("{}")'])
@pytest.mark.parametrize("name", ["by_hand", "*"])
def test_lists_of_lines(djtap, form, name):
    """As each line or range of them alone."""
    line = line_of("inside.c", "tries")

    def places(*lines):
        points = ", ".join(form.format(f"{name}@inside.c:{each}") for each in lines)
        result = traced(djtap, f"probe {points} {{ n[pp()]++ }}")
        return {int(re.search(r":(\d+)", key).group(1)): count for key, count in counts(result, "n").items()}
    found = places(f"{line - 2},{line}-{line + 1},{line + 3}")
    assert found == places(line - 2, f"{line}-{line + 1}", line + 3) and {line - 2, line, line + 3} <= set(found), found


def test_every_line_of_a_list_must_be_there(djtap_once):
    line = line_of("inside.c", "tries")
    for form in ('process.statement("by_hand@inside.c:{},{}")', 'func("by_hand@inside.c:{},{}")', 'func("*@inside.c:{},{}")'):
        point = form.format(line, 8)
        result = djtap_once("-e", f"probe {point} {{ n++ }}", "-c", victim("inside"))
        assert re.search(r"DJ3007.*: no code for inside.c:8\b", result.stderr), result
        result = djtap_once("-e", f"probe {point}? {{ n++ }}", "-c", victim("inside"))
        assert result.returncode == 0 and result.globals["n"] == result.facts["retries"], result
    result = djtap_once("-e", 'probe func("by_hand@inside.c:9,") { n++ }', "-c", victim("inside"))
    assert "several like 12,14-20" in result.stderr, result


def test_nearest(djtap):
    line = line_of("inside.c", "tries") + 2
    result = djtap("-e", f'probe process.statement("by_hand@inside.c:{line}") {{ n++ }}', "-c", victim("inside"))
    assert "DJ3007" in result.stderr, result
    result = traced(djtap, f'probe process.statement("by_hand@inside.c:{line}").nearest {{ n++ }}')
    assert result.globals["n"] > 0


def test_addresses_of_the_file(djtap):
    address = symbol_address(victim("inside"), "helper")
    result = traced(djtap, f"probe process.function({address + 1}) {{ f++ }} probe process.statement({address}) {{ s++ }}")
    assert result.globals == {"f": result.facts["helper calls"], "s": result.facts["helper calls"]}
    result = djtap("-e", f"probe process.statement({address + 1}) {{ s++ }}", "-c", victim("inside"))
    assert "DJ3019" in result.stderr or result.globals == {"s": 60}, result


def test_address_inside_an_instruction_names_its_borders(djtap):
    begins = [int(place, 16) for place in re.findall(
        r"^ +([0-9a-f]+):", subprocess.run(["objdump", "-dw", "--disassemble=main", victim("inside")], capture_output=True, text=True,
                                           check=True).stdout, re.M)]
    before, after = next((a, b) for a, b in zip(begins, begins[1:]) if b - a > 1 and a > begins[0])
    result = djtap("-e", f"probe process.statement({before + 1}) {{ s++ }}", "-c", victim("inside"))
    assert f"no instruction of main() begins at {before + 1:#x}" in result.stderr, result
    assert f"instructions begin at {before:#x} and {after:#x}" in result.stderr, result


def test_addresses_of_the_process(djtap):
    address = symbol_address(victim("count_nopie"), "work")
    result = djtap("-e", f"probe process.statement({address}).absolute {{ n++ }}", "-c", victim("count_nopie"))
    assert result.globals == {"n": 4000}, result


def test_an_optional_address_that_is_refused(djtap_once):
    """The others of the probe count, as where no instruction begins."""
    program = victim("count_static")
    work, trampoline = symbol_address(program, "work"), symbol_address(program, "__restore_rt")
    result = djtap_once("-e", f"probe process.statement({trampoline})?, process.statement({work}) {{ n++ }}", "-c", program)
    assert result.returncode == 0 and result.globals == {"n": 4000}, result
    result = djtap_once("-e", f"probe process.statement({trampoline}) {{ n++ }}", "-c", program)
    assert "DJ3009" in result.stderr, result


def test_exported(djtap):
    result = traced(djtap, 'probe process("libc.so.6").function("mall*").exported { n[probefunc()]++ }')
    assert "malloc" in counts(result, "n")
    result = djtap("-e", 'probe func("helper").exported { n++ }', "-c", victim("inside"))
    assert "DJ3018" in result.stderr and "not exported" in result.stderr, result


@pytest.mark.parametrize("script, words", [
    ('probe func("by_hand").label("agin") { n++ }', 'did you mean "again"?'),
    ('probe func("helper").inline { n++ }', "helper is not inlined anywhere in inside"),
    ('probe func("triple").return { n++ }', "it is inlined wherever it is called"),
    ('probe func("uses").callee("helpr") { n++ }', 'did you mean "helper"?'),
    ('probe func("uses").callees(0) { n++ }', "a depth of 1 or more"),
    ("probe process.function(1) { n++ }", "no code at 0x1"),
    ("probe process.statement(1).absolute { n++ }", "no object at 0x1"),
    ('probe func("by_hand@inside.c:9-3") { n++ }', "a range like 10-20"),
])
def test_what_is_not_there(djtap, script, words):
    result = djtap("-e", script, "-c", victim("inside"))
    assert result.returncode != 0 and words in result.stderr, result


def test_listing(djtap):
    lines = djtap("-l", 'func("triple").inline', "-c", victim("inside")).stdout.splitlines()
    assert len(lines) == 3 and all(".inline" in line and "triple@" in line for line in lines), lines
    shown = djtap("-L", 'func("uses").callee("helper")', "-c", victim("inside")).stdout
    assert '.function("uses").callee("helper") $a:long int $b:long int' in shown
    shown = djtap("-L", 'func("uses").callee("helper").return', "-c", victim("inside")).stdout
    assert '.function("uses").callee("helper").return $return:long int $a:long int' in shown
    copies = djtap("-l", 'func("uses").callee("*")', "-c", victim("inside")).stdout.splitlines()
    inlined = [line for line in copies if '"triple' in line]
    assert len(inlined) == 2 and all(line.endswith('.function("uses").callee("triple")') for line in inlined), copies
    again = djtap("-l", inlined[0], "-c", victim("inside")).stdout.splitlines()
    assert again == inlined, "what is listed can be probed"
