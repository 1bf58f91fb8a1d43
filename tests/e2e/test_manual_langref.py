# SPDX-License-Identifier: Apache-2.0
"""Sentences of SystemTap's Language Reference (chapters 1, 3 and 5 to 9), a small script each. The first word of a row is the
section. What djtap refuses stands in docs/compatibility.md."""
import pytest

from support.histograms import drawn

# Statements of a `probe begin`, and what they print.
BODIES = [
    # 1.4.1 Variables are initialized: to 0, and to the empty string.
    ("1.4.1", 'n = n + 1; s = s . "x"; print(n, s)', "1x"),
    # 3.3 Identifiers: alphanumeric, with underscores and dollar signs.
    ("3.3", "_a1 = 3; B_2 = 4; print(_a1 * B_2)", "12"), ("3.3", "a$b = 5; c$ = 6; print(a$b + c$)", "11"),
    # 5.2.1, 5.2.2 Integers: decimal, octal, hexadecimal; values from 2**63 up to 2**64 wrap around.
    ("5.2.1", "print(017, 0x1f, 0X1F, 10)", "15313110"), ("5.2.2", "print(9223372036854775808)", "-9223372036854775808"),
    ("5.2.2", "print(18446744073709551615, 0xffffffffffffffff)", "-1-1"),
    # 5.2.3 Strings: C's escape codes; pieces are glued together.
    ("5.2.3", r'print("a\tb\n\"\\\101\x42\a" == "a	b\n\"\\AB\007")', "1"), ("5.2.3", 'print("foo" "bar")', "foobar"),
    ("5.2.3", 'print("a good way to do a multi-line\\n"\n"string literal")', "a good way to do a multi-line\nstring literal"),
    ("5.2.3", 'print("a" /* glue */ "b" # and\n "c")', "abc"), ("5.2.3", 'printf("%d" "-" "%s", 1, "2" "3")', "1-23"),
    # 5.3 Semicolons are null statements.
    ("5.3", ";;; print(1);; ; print(2) print(3)", "123"), ("5.3", "for (i = 0; i < 4; i++) ; print(i)", "4"),
    # 5.4, 5.5 Comments of three kinds, and whitespace.
    ("5.4", "# shell\n print(1) // C++\n /* C\n more */ print(/* in */ 2)", "12"), ("5.5", "print\r\n\t (\f 1 )", "1"),
    # 5.6.1 Binary operators on numbers, with C's precedence.
    ("5.6.1", "print(7 * 3, 7 / 2, -7 / 2, -7 % 3, 7 + 2, 7 - 9)", "213-3-19-2"), ("5.6.1", "print(-16 >> 2, 1 << 4, 12 & 10, 12 ^ 10, 12 | 10)", "-4168614"),
    ("5.6.1", "print(-1 >>> 60, -16 >>> 1, 16 >>> 2)", "1592233720368547758004"), ("5.6.1", "print(2 && 3, 0 && 1, 0 || 5, 0 || 0)", "1010"),
    ("5.6.1", "print(1 + 2 * 3, 1 << 2 + 1, 6 & 3 == 3, 1 | 6 ^ 3 & 5, 10 - 4 - 3, 2 * 7 % 4)", "780732"),
    ("5.6.1", "print(0x7fffffffffffffff + 1)", "-9223372036854775808"),
    # 5.6.2 to 5.6.4 Strings are put together; assignments.
    ("5.6.2", 'print("a" . "b" . sprint(1 + 2))', "ab3"),
    ("5.6.3", "a = 6; a *= 7; print(a); a /= 4; print(a); a %= 4; print(a); a += 9; print(a); a -= 1; print(a)", "42102" "1110"),
    ("5.6.3", "a = -9; a >>= 1; print(a); a = 3; a <<= 2; print(a); a &= 10; print(a); a ^= 3; print(a); a |= 4; print(a)", "-5128" "1115"),
    ("5.6.3", "a = b = 4; print(a, b); a += b += 1; print(a, b)", "4495"), ("5.6.4", 's = "a"; s .= "b"; s .= s; print(s)', "abab"),
    # 5.6.5 Unary operators.
    ("5.6.5", "a = 5; print(-a, +a, !a, ~a, !!a, - -a)", "-550-615"), ("5.6.5", "a = 5; print(a++, a, ++a, a--, --a)", "56775"),
    ("5.6.5", "a = 5; a ++; ++ a; a --; print(a)", "6"),
    # 5.6.6 Comparisons of numbers and strings; regular expressions.
    ("5.6.6", 'print("a" < "b", "b" <= "b", "ab" > "abc", "b" >= "a", "a" == "a", "a" != "a")', "110110"),
    ("5.6.6", "print(-1 < 1, 2 <= 1, 2 > 1, 1 >= 2, 1 == 1, 1 != 1)", "101010"),
    ("5.6.6", 'print("kernel" =~ "^k.*l$", "kernel" =~ "^l", "kernel" !~ "^l", "kernel" !~ "nel")', "1010"),
    ("5.6.6", 'if ("an example string" =~ "e(x|y)(a.)(z?)") print(matched(0), "|", matched(1), "|", matched(2), "|", matched(3), "|", ngroups())',
     "exam|x|am||4"),
    ("5.6.6", r'print("a.b" =~ "a\\.b", "axb" =~ "a\\.b", "x[1]" =~ "\\[[0-9]+\\]", "aaa" =~ "^a{2,3}$", "a" =~ "[[:alpha:]]", "-" =~ "[[:alnum:]]")',
     "101110"),
    ("5.6.6", 'print("ab" =~ "(a|b)+$", "" =~ "^$", "abc" =~ "b|z", "tab\\t" =~ "[\\t]")', "1111"),
    # 5.6.7, 5.6.8 Ternary operator and grouping.
    ("5.6.7", 'print(1 ? 2 : 3, 0 ? "a" : "b", 0 ? 1 : 0 ? 2 : 3)', "2b3"), ("5.6.8", "print((1 + 2) * 3)", "9"),
    # 5.6.9 A call of a function.
    ("5.6.9", 'print(strlen("four"), substr("string", 1, 3))', "4tri"),
    # 6.1 break and continue act on the innermost loop.
    ("6.1", "for (i = 0; i < 3; i++) { for (j = 0; j < 5; j++) { if (j == 1) continue; if (j == 3) break; print(i, j) } }", "000210122022"),
    ("6.1", "while (1) { if (++n > 3) break; if (n == 2) continue; print(n) }", "13"),
    # 6.2 try and catch: nested; the error's text is optional; error() and division by zero.
    ("6.2", 'try { error("foo") } catch (msg) { print("caught ", msg) } print("+")', "caught foo+"),
    ("6.2", 'try { try { print(1 / zero) } catch { print("in "); error("again") } print("not") } catch (e) { print(e) }', "in again"),
    ("6.2", "try { print(1 % zero) } catch (e) { print(e) }", "division by 0"), ("6.2", 'try { print("x") } catch { print("y") }', "x"),
    ("6.2", "try { user_int(0) print(1) } catch { print(2) }", "2"), ("6.2", "try { error(sprint(1, 2)) } catch (e) { print(strlen(e)) }", "2"),
    # 6.4 An expression's value is discarded.
    ("6.4", '1 + 2; "text"; n++; print(n)', "1"),
    # 6.5 for, as in C.
    ("6.5", "for (i = 0; i < 3; i++) print(i)", "012"), ("6.5", "for (; n < 2; ) n++; print(n); for (;;) { break } print(n)", "22"),
    # 6.7 if and else; the nearest if has the else.
    ("6.7", "if (0) print(1) else print(2); if (-1) print(3)", "23"), ("6.7", "if (1) if (0) print(1); else print(2)", "2"),
    ("6.7", "if (2 < 1) print(1) else if (1) { print(2) print(3) } else print(4)", "23"),
    # 6.8 next leaves the handler.
    ("6.8", "exit(); if (1) next; print(1)", ""), ("6.9", "print(1) ; print(2)", "12"),
    # 6.11, 6.12 Blocks and while.
    ("6.11", "{ print(1) { print(2) {} } print(3) }", "123"), ("6.12", "while (n < 3) print(n++)", "012"), ("6.12", "while (0) print(1); print(2)", "2"),
    # 9.1 print, of values of any type.
    ("9.1", 'print(1); print("a"); print(1, "b", 2)', "1a1b2"),
    # 9.2 printf's specifiers.
    ("9.2", 'printf("%d %i %u %o %x %X %s %p %%", -392, 392, 7235, 0610, 0x7fa, 0x7fa, "sample", 0xbc614e)', "-392 392 7235 610 7fa 7FA sample 0xbc614e %"),
    ("9.2", 'printf("%u %o %x", -1, -1, -1)', "18446744073709551615 1777777777777777777777 ffffffffffffffff"),
    # Its flags.
    ("9.2", 'printf("[%-5d][%5d][%05d][%+d][% d][%+d][% d]", 42, 42, 42, 42, 42, -42, -42)', "[42   ][   42][00042][+42][ 42][-42][-42]"),
    # (Its text says that a 0 has no prefix; SystemTap writes "0x0".)
    ("9.2", 'printf("%#o %#x %#X %#o %#x", 8, 255, 255, 0, 0)', "010 0xff 0XFF 0 0x0"), ("9.2", 'printf("[%-6s][%6s]", "ab", "ab")', "[ab    ][    ab]"),
    ("9.2", 'printf("[%#06x][%-+5d][%+05d]", 255, 7, 7)', "[0x00ff][+7   ][+0007]"),
    # Its width and precision.
    ("9.2", 'printf("[%2d][%2s]", 12345, "abc")', "[12345][abc]"), ("9.2", 'printf("[%.3d][%.2d][%.5x][%.3o]", 7, 12345, 255, 8)', "[007][12345][000ff][010]"),
    ("9.2", 'printf("[%.0d][%.d][%.0x]", 0, 0, 0)', "[][][]"),
    ("9.2", 'printf("[%.2s][%5.1s][%-4.2s][%.s]", "abcd", "abcd", "abcd", "abcd")', "[ab][    a][ab  ][]"),
    ("9.2", 'printf("[%6.3d][%-6.3d]", 5, 5)', "[   005][005   ]"), ("9.2", 'printf("[%*d][%-*d][%.*s]", 5, 42, 5, 42, 2, "abcd")', "[   42][42   ][ab]"),
    ("9.2", 'printf("%ld %lld %hd %lu", 1, 2, 3, 4)', "1 2 3 4"),
    # Binary values, as in its examples.
    ("9.2", 'for (i = 97; i < 110; i++) printf("%3d: %1b%1b%1b\\n", i, i, i-32, i-64)', "".join(f"{i:3d}: {chr(i)}{chr(i - 32)}{chr(i - 64)}\n" for i in range(
     97, 110))),
    ("9.2", 'printf("%1b%1b%1blo %1b%1brld\\n", 72,101,108,87,111)', "Hello World\n"),
    ("9.2", 'printf("%2b%4b|%b", 0x6261, 0x66656463, 0x3837363534333231)', "abcdef|12345678"),
    # 9.3 to 9.7
    ("9.3", 'printd("/", "one", "two", "three", 4, 5, 6)', "one/two/three/4/5/6"), ("9.4", 'printdln(":", 1, "b")', "1:b\n"),
    ("9.5", 'println("x"); println(1, 2)', "x\n12\n"), ("9.6", 's = sprint("a", 1); print(s, strlen(s))', "a12"),
    ("9.7", 's = sprintf("%04d|%s", 7, "x"); print(s)', "0007|x"), ("9.6", 'print(sprintln("a") . sprintd(",", 1, 2) . sprintdln(",", 3, 4))', "a\n1,23,4\n"),
]


@pytest.mark.parametrize("section, body, printed", BODIES, ids=[f"{section}-{body[:40]}" for section, body, _ in BODIES])
def test_statements(djtap_once, section, body, printed):
    result = djtap_once("-e", f"probe begin {{ {body}; exit() }}")
    assert (result.returncode, result.stdout) == (0, printed), (section, result)

# Whole scripts that end by themselves, and what they print.
SCRIPTS = [
    ("1.4.1", """global odds, evens
     probe begin {
         # "no" and "ne" are local integers
         for (i = 0; i < 10; i++) {
             if (i % 2) odds [no++] = i
                 else evens [ne++] = i
         }
         delete odds[2]
         delete evens[3]
         exit()
     }
     probe end {
         foreach (x+ in odds)
             printf ("odds[%d] = %d", x, odds[x])
         foreach (x in evens-)
             printf ("evens[%d] = %d", x, evens[x])
     }""", "odds[0] = 1odds[1] = 3odds[3] = 7odds[4] = 9evens[4] = 8evens[2] = 4evens[1] = 2evens[0] = 0"),
    ("1.4.2", """function isprime (x) {
         if (x < 2) return 0
         for (i = 2; i < x; i++) {
             if (x % i == 0) return 0
             if (i * i > x) break
         }
         return 1
     }
     probe begin {
         for (i = 0; i < 50; i++)
             if (isprime (i)) printf("%d\\n", i)
         exit()
     }""", "".join(f"{n}\n" for n in range(2, 50) if all(n % k for k in range(2, n)))),
    # (Its text says 118; with these beginnings the 11th number is 144.)
    ("1.4.3", """function fibonacci(i) {
         if (i < 1) error ("bad number")
         if (i == 1) return 1
         if (i == 2) return 2
         return fibonacci (i-1) + fibonacci (i-2)
     }
     probe begin {
         printf ("11th fibonacci number: %d", fibonacci (11))
         exit ()
     }""", "11th fibonacci number: 144"),
    # 3.1 Several points, and no statements.
    ("3.1", "probe begin, end { print(1) } probe begin { exit() } probe end {}", "11"),
    # 3.2 Aliases: of several points, of aliases, for points that others have too; what they are for.
    ("3.2", "probe a = begin { n = 1 } probe b = end { n = 2 } probe c = a, b { n += 10 } probe c { print(n, ' ') } probe a { exit() }".replace("' '", '" "'),
     "11 12 "),
    ("3.2", "global on probe a = begin, end { if (!on++) next; name = \"foo\" } probe a { print(name) } probe begin { exit() }", "foo"),
    # 3.2.1, 3.2.2 Prologues and epilogues; an alias may have one of each, as the examples have.
    ("3.2.1", "probe a = begin { var = 7 } probe a { print(var) exit() }", "7"),
    ("3.2.2", 'global traceme = 1 probe a += begin { if (traceme) println("tracing me") } probe a { print("in ") exit() }', "in tracing me\n"),
    ("3.2.2", 'probe a = begin { x = 5 } probe a += end { println("late ", x) } probe a { x++ exit() }', "late 1\n"),
    # 3.3 Types are inferred; globals are shared and may stand anywhere; what nothing reads is shown at the end.
    ("3.3", "probe begin { n = 3; exit() } probe end { n = n + 1; print(n) }", "1"),
    ("3.3", "probe begin { g = 3; exit() } global g probe end { print(g) }", "3"),
    ("3.3", 'global var1 = 4, var2 = "x" probe begin { print(var1, var2); exit() }', "4x"),
    ("3.3", "global written probe begin { written = 3; exit() }", "written=3\n"),
    ("3.3", "private global var1 = 5 private var2 = 6 private var3, var4 probe begin { var3 = 1 var4 = 2 print(var1, var2, var3, var4); exit() }", "5612"),
    ("3.3", 'private var[3] private var6%[2] probe begin { var["a"] = 1 var6[2] = 2 print(var["a"], var6[2]); exit() }', "12"),
    # 3.3.1 Globals that nothing uses, and locals that nothing reads.
    ("3.3.1", "global unused probe begin { a = 1; exit() }", ""), ("3.3.1", "probe a = begin { unused = 1 } probe a { exit() }", ""),
    # 3.4 Functions.
    ("3.4", "function thisfn (arg1, arg2) { return arg1 + arg2 } probe begin { print(thisfn(1, 2)) exit() }", "3"),
    ("3.4", 'function thatfn:string(arg1:long, arg2) { return sprintf("%d%s", arg1, arg2) } probe begin { print(thatfn(1, "b")) exit() }', "1b"),
    ("3.4", "function down(n) { if (n) return 1 + down(n - 1) return 0 } probe begin { print(down(9)) exit() }", "9"),
    ("3.4", "function even(n) { return n ? odd(n - 1) : 1 } function odd(n) { return n ? even(n - 1) : 0 } probe begin { print(even(6), odd(6)) exit() }",
     "10"),
    ("3.4", "private function three:long () { return 3 } probe begin { print(three()) exit() }", "3"),
    ("3.4", 'function n(x) { if (x) return 5 } function s(x) { if (x) return "t" } probe begin { print(n(0), s(0), n(1), s(1)) exit() }', "05t"),
    ("3.4", "function f() { if (condition()) next; print(\"first\") } function f() { print(\"third\") } function condition() { return c++ ? 0 : 1 }"
     " global c probe begin { f(); f(); exit() }", "thirdfirst"),
    ("3.4", "function g() { print(\"first\") } function g(x) { print(\"second\") } probe begin { g(); g(1); exit() }", "firstsecond"),
    ("3.4", "function f():3 { print(1) } function f():1 { if (v) next; print(2) } function f():2 { if (v > 1) next; print(3) } global v"
     " probe begin { f(); v = 1; f(); v = 2; f(); exit() }", "231"),
    ("3.4", "function f(x:long):1 { print(x) } function f:long(x:long):0 { if (x > 1) next; return 7 } probe begin { print(f(1)); f(2); exit() }", "72"),
    ("3.4", 'function f() { next } probe begin { try { f() } catch { print("no more") } exit() }', "no more"),
    # 4.12 (here because they need no program) The order of begin, end and error probes.
    ("4.12.4", "probe begin { print(0) } probe begin(-1000) { print(-1000) } probe begin(5) { print(5) exit() } probe begin { print(1) }"
     " probe end(1) { print(7) } probe end(-1) { print(6) }", "-10000" "1567"),
    ("4.12.5", "probe never { print(1) } probe begin { print(2) exit() }", "2"),
    ("4.12.5", "probe no.such.thing!, never { print(1) } probe begin { print(2) exit() }", "2"),
    # 5.6.12, 5.6.13 Membership.
    ("5.6.12", "global a, b probe begin { a[1] = 0; b[1, \"x\"] = 0; print(1 in a, 2 in a, [1] in a, [1, \"x\"] in b, [1, \"y\"] in b, !(2 in a)) exit() }",
     "101101"),
    ("5.6.12", "global a probe begin { a[1]; x = a[2]; print(2 in a, 1 in a, x) exit() }", "000"),
    # 5.8 Conditional compilation.
    *(("5.8.3", f'probe begin {{ %( kernel_v {op} "2.6.5" %? print(1) %: print(0) %) exit() }}', printed) for op, printed in [("<", "0"), ("<=", "0"), ("==",
     "0"), ("!=", "1"), (">", "1"), (">=", "1")]),
    ("5.8.3", 'probe begin { %( kernel_vr == "2.6.13-1.8273FC3smp" %? print(1) %) %( kernel_vr >= "2.6" %? print(2) %) exit() }', "2"),
    ("5.8.4", 'probe begin { %( arch == "x86_64" %? print(1) %: print(0) %) %( arch != "i686" %? print(2) %) exit() }', "12"),
    ("5.8.5", 'probe begin { %( systemtap_privilege == "stapusr" %? print("u") %: print("p") %) exit() }', "u"),
    ("5.8.6", '%( kernel_v <= "2.6.5" %? **ERROR** %) probe begin { exit() }', ""),
    ("5.8.6", 'probe begin { print(%( kernel_v <= "2.6.12" %? "old" %: %( kernel_vr == "2.6.13-1.8273FC3smp" %? "smp" %: "new" %) %)) exit() }', "new"),
    ("5.8.6", '%( arch == "ia64" %? probe syscall.vliw = kernel.function("vliw_widget") {} %) probe begin { exit() }', ""),
    ("5.8.6", '%( CONFIG_UTRACE == "y" %? probe process.syscall {} %) probe begin { exit() }', ""),
    ("5.8.6", '%( 1 == 1 && "a" != "b" %? %( 2 > 3 || 3 >= 3 %? probe begin { print(1) exit() } %) %: non sense ] %)', "1"),
    # 5.9.1 Macros.
    ("5.9.1", "@define foo %( x %) @define add(a,b) %( ((@a)+(@b)) %) probe begin { @foo = @add(2,2) print(x) exit() }", "4"),
    ("5.9.1", '@define foo %( %( CONFIG_UTRACE == "y" %? process.syscall %: begin %) %) probe @foo { print(1) exit() }', "1"),
    # (Where SystemTap finds a conflict, the condition decides.)
    ("5.9.1", '%( CONFIG_UTRACE == "y" %? @define foo %( process.syscall %) %: @define foo %( begin %) %) probe @foo { print(1) exit() }', "1"),
    ("5.9.1", "@define one %( 1 %) @define two %( (@one + @one) %) probe begin { print(@two * @two) exit() }", "4"),
    ("5.9.1", "@define both(a, b) %( print(@b, @a) %) probe begin { @both(sprint(1, 2), 3) exit() }", "312"),
    ("5.9.1", '@define say(w) %( print(@w) %) probe begin { @say("a,b)") @say(sprint(1, 2)) exit() }', "a,b)12"),
    # 6.3 delete, of elements, arrays and scalars.
    ("6.3", "global a probe begin { a[1] = 1 a[2] = 2 delete a[1] delete a[9] print(1 in a, 2 in a) delete a print(2 in a) exit() }", "010"),
    ("6.3", 'global n = 3, s = "x", x probe begin { x <<< 4 delete n delete s delete x print(n, s, @count(x)) exit() }', "00"),
    ("6.3", "global a probe begin { a[1, 2] = 3 delete a[1, 2] print([1, 2] in a) exit() }", "0"),
    ("6.3", "probe begin { n = 4 delete n print(n) exit() }", "0"),
    # 6.6 foreach: unsorted, by keys and by values, of tuples, with values, with limits.
    ("6.6", "global a probe begin { a[3] = 1 a[1] = 3 a[2] = 2 foreach (k+ in a) print(k) foreach (k- in a) print(k) foreach (k in a+) print(k)"
     " foreach (k in a-) print(k) exit() }", "123321321123"),
    ("6.6", "global a probe begin { a[1, \"b\"] = 5 a[2, \"a\"] = 4 foreach ([i, s+] in a) print(i, s) foreach ([i-, s] in a) print(i, s)"
     " foreach (v = [i, s] in a+) print(v, i, s) exit() }", "2a1b2a1b42a51b"),
    ("6.6",
     "global a probe begin { for (i = 0; i < 9; i++) a[i] = i foreach (k+ in a limit 3) print(k) n = 2 foreach (k- in a limit n) { n = 9 print(k) } exit() }",
     "01287"),
    ("6.6", "global a probe begin { a[1] = 5 foreach (v = k in a) print(v, k) exit() }", "51"),
    ("6.6", 'global a probe begin { a["b"] = 1 a["a"] = 2 foreach (k+ in a) { print(k) if (k == "a") continue print("!") } exit() }', "ab!"),
    ("6.6", "global a probe begin { foreach (k in a) print(k) a[1] = 1 foreach (k in a limit 0) print(2) exit() }", ""),
    # (SystemTap forbids to change the array; here a loop goes over the elements that it began with.)
    ("6.6", "global a probe begin { for (i = 0; i < 3; i++) a[i] = i foreach (k+ in a) { a[k + 10] = 1 delete a[k + 1] print(k) } exit() }", "02"),
    # 6.10 return, also without a value.
    ("6.10", "function f(x) { if (x) return; print(1) } probe begin { f(0) f(1) exit() }", "1"),
    ("6.10", "function f() { print(1) } probe begin { f() exit() }", "1"),
    # 7, 7.1 Arrays: up to nine indexes of fixed types.
    ("7", "global a probe begin { a[1,2,3,4,5,6,7,8,9] = 10 foreach ([b,c,d,e,f,g,h,i,j] in a) print(b,c,d,e,f,g,h,i,j) exit() }", "123456789"),
    ("7.1", 'global foo, processusage, times probe begin { foo [4,"hello"] ++ processusage [uid(),execname()] ++ times [tid()] = get_cycles()'
     ' delta = get_cycles() - times [tid()] print(foo[4,"hello"], processusage[uid(),execname()], delta >= 0) exit() }', "111"),
    # 7.2 Unset elements are null and no members.
    ("7.2", 'global n, s, x probe begin { print(n[1], s[1] . "", @count(x[1]), 1 in n) if (0) { n[1] = 1 s[1] = "" x[1] <<< 1 } exit() }', "000"),
    # 7.3, 7.4 Sizes and wrapping.
    ("7.3", "global a[3] probe begin { a[1] = a[2] = a[3] = 1 foreach (k+ in a) print(k) exit() }", "123"),
    ("7.4", "global a%[3], b% probe begin { for (i = 0; i < 5; i++) a[i] = i foreach (k+ in a) print(k) b[1] = 1 print(b[1]) exit() }", "2341"),
    ("7.4", "global x%[2] probe begin { for (i = 0; i < 5; i++) x[i] <<< i foreach (k+ in x) print(k, @sum(x[k])) exit() }", "3344"),
    # 7.5 Iteration, as its examples.
    ("7.5", "global foo function fuss_with(x) { print(x) } probe begin { foo[1,2] = 3 foreach ([a,b] in foo) fuss_with(foo[a,b]) foo[2,1] = 2"
     " foreach ([a,b] in foo+) { print(a) } foreach ([a-,b] in foo) { print(a) } exit() }", "32121"),
    ("7.5", 'global foo probe begin { foo[1,"x"] = 5 foo[2,"y"] = 7 foreach (v = [i,j] in foo- limit 10) printf("foo[%d,%s] = %d\\n", i, j, v) exit() }',
     "foo[2,y] = 7\nfoo[1,x] = 5\n"),
    # 8 Aggregates.
    ("8.1",
     'global a, writes probe begin { a <<< 3 a <<< -7 writes["x"] <<< 4 print(@count(a), @sum(a), @min(a), @max(a), @avg(a), @sum(writes["x"])) exit() }',
     "2-4-73-24"),
    ("8.3", "global a probe begin { print(@count(a), @sum(a)) try { print(@min(a)) } catch (e) { print(\"|\", e) } exit() a <<< 1 }",
     "00|the aggregate is empty"),
    ("8.5", "global a probe begin { a <<< 1 a <<< 2 delete a print(@count(a)) a <<< 5 print(@count(a), @min(a), @max(a)) exit() }", "0155"),
]


@pytest.mark.parametrize("section, script, printed", SCRIPTS, ids=[f"{section}-{script[:40]}" for section, script, _ in SCRIPTS])
def test_scripts(djtap_once, section, script, printed):
    result = djtap_once("-e", script)
    assert (result.returncode, result.stdout) == (0, printed), (section, result)


# Words of the command line, a script, and what it prints.
FIVE = "function down(n) { return n ? 1 + down(n - 1) : 0 } probe begin { try { print(down(5)) } catch { print(\"deep\") } exit() }"
ROOM = "global a probe begin { try { for (i = 0; i < 4; i++) a[i] = 1 } catch {} foreach (k in a) n++ print(n) exit() }"
LONG = 'probe begin { s = "0123456789abcdef"; s = s . s; print(strlen(s)) exit() }'
TWO = "global a probe begin { a <<< 20 a <<< 31 print(@hist_linear(a, 0, 40, 1)) exit() }"
LINEAR = ("global reads probe begin { for (i = 0; i < 1650; i++) reads <<< 9 for (i = 0; i < 8; i++) reads <<< 300 reads <<< 1450"
          " print(@hist_linear(reads, 0, 10240, 200)) exit() }")
LOG = ("global reads function add(value, times) { for (i = 0; i < times; i++) reads <<< value }"
       " probe begin { add(40, 254) add(70, 3) add(200, 2) add(300, 2) add(600, 4) add(1500, 16689) print(@hist_log(reads)) exit() }")
WITH_WORDS = [
    # 1.6 Limits.
    ("1.6", ["-D", "MAXNESTING=9"], FIVE, "5"), ("1.6", ["-DMAXNESTING=3"], FIVE, "deep"), ("1.6", ["-D", "MAXMAPENTRIES=3"], ROOM, "3"),
    ("1.6", [], ROOM, "4"), ("1.6", ["-D", "MAXSTRINGLEN=20"], LONG, "20"),
    ("1.6", ["-D", "MAXTRYLOCK=50", "-D", "MAXSKIPPED=9", "-D", "MINSTACKSPACE=2048"], LONG, "32"),
    # 5.2.3, 5.7 Words behind the script: as tokens and as texts.
    ("5.7.3", ["5+5", "mystring"], 'probe begin { printf("%d, %s\\n", $1, @2) exit() }', "10, mystring\n"),
    ("5.2.3", ["foo"], 'probe begin { print("also a good way to " @1 " splice command line args") exit() }', "also a good way to foo splice command line args"),
    ("5.7.1", ["begin", "print", "(3"], "probe $1 { $2$3) exit() }", "3"), ("5.7.2", ['a"b\\'], "probe begin { print(@1) exit() }", 'a"b\\'),
    ("5.7", ["7", "8"], "probe begin { print($1, $2, $#, @#) exit() }", "7822"),
    # 8.4.1, 8.4.2 Histograms, as in its examples, and how many empty rows they show.
    ("8.4.1", ["-D", "MAXACTION_HOST=99999"], LINEAR, drawn((0, 1650), (200, 8), (400, 0), (600, 0), "~", (1000, 0), (1200, 0), (1400, 1), (1600, 0), (1800,
     0))),
    ("8.4.2", ["-D", "MAXACTION_HOST=99999"], LOG, drawn((8, 0), (16, 0), (32, 254), (64, 3), (128, 2), (256, 2), (512, 4), (1024, 16689), (2048, 0), (4096,
     0))),
    ("8.4.1", [], TWO, drawn((18, 0), (19, 0), (20, 1), (21, 0), (22, 0), "~", (29, 0), (30, 0), (31, 1), (32, 0), (33, 0))),
]


@pytest.mark.parametrize("section, words, script, printed", WITH_WORDS, ids=[f"{section}-{' '.join(words)}" for section, words, _, _ in WITH_WORDS])
def test_words(djtap_once, section, words, script, printed):
    options, behind = ([], words) if not words or words[0][0] != "-" else (words, [])
    result = djtap_once(*options, "-e", script, *behind)
    assert (result.returncode, result.stdout) == (0, printed), (section, result)


# What its text says is an error, and the code that djtap gives it.
ERRORS = [
    ("1.4.3", 'function f(n) { return f(n + 1) } probe begin { f(1) }', "DJ5005"), ("1.6", "probe begin { while (1) n++ }", "DJ5004"),
    ("3.3", 'probe begin { n = 1; n = "x" }', "DJ2101"), ("3.3", 'global a probe begin { a[1] = 1; a["x"] = 2 }', "DJ2101"),
    ("3.3", 'function f(x) { return x + 1 } probe begin { f("a") }', "DJ2101"), ("3.2", "probe a = a { } probe a { }", "DJ1029"),
    ("3.4", "function f(x) { return x } probe begin { f() }", "DJ2007"), ("3.4", 'function f(x) { if (x) return 1; return "" } probe begin { f(1) }', "DJ2101"),
    ("3.4", "function f() { next } probe begin { f() }", "DJ5002"), ("3.5", "%{ #include <linux/in.h> %} probe begin {}", "DJ1024"),
    ("3.5", "function f:long(addr:long) %{ STAP_RETURN(1); %} probe begin { f(1) }", "DJ1024"), ("3.5", "probe begin { print(%{ IPPROTO_TCP %}) }", "DJ1024"),
    ("4.1.5", "probe {begin,end?}.x {}", "DJ3001"), ("4.1.4", "probe no_such {}", "DJ3001"),
    ("4.12.5", 'probe never { n = 1; n = "x" } probe begin {}', "DJ2101"), ("4.12.5", "probe never { f() } probe begin {}", "DJ2001"),
    ("5.1", "probe begin { 1a = 2 }", "DJ1004"), ("5.2", 'probe begin { n = 1 + "2" }', "DJ2101"),
    ("5.2.2", "probe begin { n = 18446744073709551616 }", "DJ1005"), ("5.2.1", "probe begin { n = 10L }", "DJ1004"),
    ("5.6", "probe begin { print(1 / zero) }", "DJ5003"), ("5.6", "probe begin { print(1 % zero) }", "DJ5003"),
    ("5.6.2", 'probe begin { s = "x" . 1 }', "DJ2101"), ("5.6.6", 'probe begin { "a" =~ "(" }', "DJ2301"),
    ("5.6.6", 's = "x" probe begin { "a" =~ s }', "DJ1011"), ("5.6.6", 'probe begin { s = "x"; "a" =~ s }', "DJ1013"),
    ("5.6.6", 'probe begin { "a" =~ "(a)\\\\1" }', "DJ2301"), ("5.6.6", 'probe begin { print("a" < 1) }', "DJ2101"),
    ("5.6.13", "global a probe begin { a[1, 2] = 3; print([1] in a) }", "DJ2020"), ("5.7", "probe begin { print($1) }", "DJ1006"),
    ("5.7", "probe begin { print(@2) }", "DJ1006"), ("5.8", '%( kernel_v <= %? 1 %) probe begin {}', "DJ1028"),
    ("5.8.4", '%( arch < "x86_64" %? %) probe begin {}', "DJ1028"), ("5.8.1", '%( 1 %? %) probe begin {}', "DJ1028"),
    ("5.9.1", "probe begin { @foo }", "DJ1013"), ("5.9.1", "@define f(a) %( @a %) probe begin { @f(1, 2) }", "DJ1026"),
    ("6.1", "probe begin { break }", "DJ2005"), ("6.1", "function f() { continue } probe begin { f() }", "DJ2005"),
    ("6.2", 'probe begin { error("foo") }', "DJ5002"), ("6.6", "global a probe begin { a[1, 2] = 1 foreach ([x+, y+] in a) {} }", "DJ2025"),
    ("6.6", "global a probe begin { a[1, 2] = 1 foreach ([x+, y] in a+) {} }", "DJ2025"),
    ("6.6", "global a probe begin { a[1, 2] = 1 foreach (x in a) {} }", "DJ2020"), ("6.7", 'probe begin { if ("x") print(1) }', "DJ2101"),
    ("6.10", "probe begin { return 1 }", "DJ2004"), ("6.12", 'probe begin { while ("") {} }', "DJ2101"),
    ("7", "global a probe begin { a[1,2,3,4,5,6,7,8,9,10] = 1 }", "DJ2026"), ("7.2", 'global a probe begin { a[1] = 1; a[1] = "x" }', "DJ2101"),
    ("7.2", "global a probe begin { a[1] = 1; a[1] <<< 2 }", "DJ2103"), ("7.3", "global a[0] probe begin { a[1] = 1 }", "DJ1018"),
    ("8.1", "global a probe begin { a <<< \"x\" }", "DJ2101"), ("8.2", "global a probe begin { a <<< 1; print(a) }", "DJ2103"),
    ("8.2", "global a probe begin { a <<< 1; n = a + 1 }", "DJ2103"), ("8.4.1", "global a probe begin { a <<< 1 print(@hist_linear(a, 10, 0, 1)) }", "DJ2106"),
    ("8.4.1", "global a probe begin { a <<< 1 print(@hist_linear(a, 0, 10, 0)) }", "DJ2106"), ("9.2", 'probe begin { printf("%d", "x") }', "DJ2101"),
    ("9.2", 'probe begin { printf("%s", 1) }', "DJ2101"), ("9.2", 'probe begin { printf("%d %d", 1) }', "DJ2203"),
    ("9.2", 'probe begin { printf("%d", 1, 2) }', "DJ2203"), ("9.2", 'probe begin { f = "x"; printf(f) }', "DJ2201"),
    ("9.2", 'probe begin { printf("%q", 1) }', "DJ2202"), ("9.3", "probe begin { d = \",\"; printd(d, 1, 2) }", "DJ2204"),
    ("9.3", 'probe begin { printd(",") }', "DJ2204"),
]


@pytest.mark.parametrize("section, script, code", ERRORS, ids=[f"{section}-{script[:50]}" for section, script, _ in ERRORS])
def test_errors(djtap_once, section, script, code):
    result = djtap_once("-T", "5", "-e", script)
    assert result.returncode != 0 and f"[{code}]" in result.stderr, (section, result)
