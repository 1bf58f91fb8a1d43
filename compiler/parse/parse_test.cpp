// SPDX-License-Identifier: Apache-2.0
// Right scripts: what they mean, seen through the printer, which must be stable.
#include "compiler/parse/parse.h"

#include <gtest/gtest.h>

#include <chrono>

#include "compiler/stages/print_ast.h"

namespace dj {

namespace {

// The script as printed, after checking that printing and parsing it again changes nothing.
std::string canonical(const std::string& text, const std::vector<std::string>& args = {}) {
  auto once = [](const std::string& script, const std::vector<std::string>& script_args) {
    Sources sources;
    sources.add("test", script);
    Diags diags;
    ast::Script parsed = parse(sources, 0, {script_args}, diags);
    for (const Diag& diag : diags.all()) {
      ADD_FAILURE() << render(diag, sources, false);
    }
    return print(parsed);
  };
  std::string printed = once(text, args);
  EXPECT_EQ(once(printed, {}), printed);
  return printed;
}

// The one expression statement of `probe begin { TEXT }`, printed.
std::string expression(const std::string& text) {
  std::string printed = canonical("probe begin { " + text + " }");
  size_t begin = printed.find("{\n  ") + 4;
  return printed.substr(begin, printed.rfind("\n}") - begin);
}

}  // namespace

TEST(Parse, TheOneLiner) {
  const char* wanted = "probe func(\"vfs_read\") {\n  count++\n}\n";
  EXPECT_EQ(canonical("probe func(\"vfs_read\") < count++ >"), wanted);
  EXPECT_EQ(canonical("probe func(\"vfs_read\")<count++>"), wanted);
  EXPECT_EQ(canonical("probe func(\"vfs_read\") { count++ }"), wanted);
}

TEST(Parse, AngleBodies) {
  EXPECT_EQ(canonical("probe a < if (b > c) d = e >> 1 >"),
            "probe a {\n  if (b > c)\n    d = e >> 1\n}\n");
  EXPECT_EQ(canonical("probe a < b[c > d] <<< $e->f >= 1 >"),
            "probe a {\n  b[c > d] <<< $e->f >= 1\n}\n");
  EXPECT_EQ(canonical("probe a, b.c(\"<\")? < > probe d < x-- >"),
            "probe a, b.c(\"<\")? {\n}\n\nprobe d {\n  x--\n}\n");
  EXPECT_EQ(canonical("probe a < { x = b > c } >"), "probe a {\n  {\n    x = b > c\n  }\n}\n");
}

// stap(1), "expressions": the table of operators from high to low.
TEST(Parse, PrecedenceOfTheManual) {
  EXPECT_EQ(expression("x = (a * b) + c"), "x = a * b + c");
  EXPECT_EQ(expression("x = a * (b + c)"), "x = a * (b + c)");
  EXPECT_EQ(expression("x = (a + b) . (c - d)"), "x = a + b . c - d");
  EXPECT_EQ(expression("x = a + (b . c)"), "x = a + (b . c)");
  EXPECT_EQ(expression("x = (a . b) << c"), "x = a . b << c");
  EXPECT_EQ(expression("x = (a << b) < c"), "x = a << b < c");
  EXPECT_EQ(expression("x = (a == b) in c"), "x = a == b in c");
  EXPECT_EQ(expression("x = (a in c) & b"), "x = a in c & b");
  EXPECT_EQ(expression("x = ((a & b) ^ c) | d"), "x = a & b ^ c | d");
  EXPECT_EQ(expression("x = a & (b ^ (c | d))"), "x = a & (b ^ (c | d))");
  EXPECT_EQ(expression("x = ((a | b) && c) || d"), "x = a | b && c || d");
  EXPECT_EQ(expression("x = (a || b) ? c : (d ? e : f)"), "x = a || b ? c : d ? e : f");
  EXPECT_EQ(expression("x = (a ? b : c) ? d : e"), "x = (a ? b : c) ? d : e");
  EXPECT_EQ(expression("x = (y += (z <<< 1))"), "x = y += z <<< 1");
  EXPECT_EQ(expression("x = -(-a) - (-b)"), "x = - -a - -b");
  EXPECT_EQ(expression("x = !(~a) + !(b == c)"), "x = ! ~a + !(b == c)");
  EXPECT_EQ(expression("x = (a - b) - c - (d - e)"), "x = a - b - c - (d - e)");
  EXPECT_EQ(expression("x = a >>> b >> c"), "x = a >>> b >> c");
}

// Separators are optional: operators and calls win over a new statement.
TEST(Parse, StatementsWithoutSeparators) {
  EXPECT_EQ(expression("a = b c = d"), "a = b\n  c = d");
  EXPECT_EQ(expression("a = b\n-c"), "a = b - c");
  EXPECT_EQ(expression("f\n(x)"), "f(x)");
  EXPECT_EQ(expression("a\n[x] = 1"), "a[x] = 1");
  EXPECT_EQ(expression("a; -b"), "a;\n  -b");
  EXPECT_EQ(expression("if (a) ++b; if (c) -d"), "if (a)\n    ++b\n  if (c)\n    -d");
  EXPECT_EQ(expression("a++ b--"), "a++\n  b--");
  EXPECT_EQ(expression("if (a) b; else c;; d"), "if (a)\n    b\n  else\n    c;\n  ;\n  d");
  EXPECT_EQ(expression("return; x++"), "return;\n  x++");
  EXPECT_EQ(expression("(a == 1) ? f() : g()"), "a == 1 ? f() : g()");
}

TEST(Parse, TargetVariables) {
  EXPECT_EQ(expression("print($a->b[c + 1]->next, &$d->e, $$parms, @defined($x))"),
            "print($a->b[c + 1]->next, &$d->e, $$parms, @defined($x))");
  EXPECT_EQ(expression("x = a & &$b"), "x = a & &$b");
}

TEST(Parse, Loops) {
  EXPECT_EQ(expression("foreach (v- = [a, b] in c limit n + 1) break"),
            "foreach (v- = [a, b] in c limit n + 1)\n    break");
  EXPECT_EQ(expression("foreach ([a] in c@count-) { next }"),
            "foreach (a in c@count-) {\n    next\n  }");
  EXPECT_EQ(expression("for (;;) continue"), "for (; ; )\n    continue");
  EXPECT_EQ(expression("while ([a, b] in c) delete c[a, b]"),
            "while ([a, b] in c)\n    delete c[a, b]");
}

TEST(Parse, DeclarationsAndPoints) {
  EXPECT_EQ(canonical("global a, b[10]; private global c%[5], d = -9223372036854775808\n"
                      "global e = \"x\" \"y\" private f"),
            "global a\nglobal b[10]\nprivate global c%[5]\n"
            "private global d = -9223372036854775808\nglobal e = \"xy\"\nprivate global f\n");
  EXPECT_EQ(canonical("private function f:string (a:long, b) { return a . b }"),
            "private function f:string(a:long, b) {\n  return a . b\n}\n");
  EXPECT_EQ(canonical("probe a.{return, next.b, return.c(1), return?} { return }"),
            "probe a.return, a.next.b, a.return.c(1), a.return? {\n  return\n}\n");
  EXPECT_EQ(canonical("probe process(\"/bin/x\").function(\"*@f.c:1\").return?, sys.*open**!, "
                      "timer.ms(-1) {}"),
            "probe process(\"/bin/x\").function(\"*@f.c:1\").return?, sys.*open**!, timer.ms(-1) "
            "{\n}\n");
}

TEST(Parse, CommentsAreOfThreeKinds) {
  EXPECT_EQ(expression("a # ' \"\n // }\n /* { \n */ = 1"), "a = 1");
}

TEST(Parse, StringsAndNumbers) {
  EXPECT_EQ(expression(R"(x = "a\x41\102\n\"\\\q\x4" "b")"), "x = \"aAB\\n\\\"\\\\q\\004b\"");
  EXPECT_EQ(expression("x = 0x1F + 017 + 0 + 18446744073709551615"),
            "x = 31 + 15 + 0 + 18446744073709551615");
}

TEST(Parse, ScriptArguments) {
  EXPECT_EQ(canonical("probe timer.s($1) { x = $2 . @2; n = $# + strlen(@#) }", {"5", "a + 1"}),
            "probe timer.s(5) {\n  x = a + 1 . \"a + 1\"\n  n = 2 + strlen(\"2\")\n}\n");
  EXPECT_EQ(canonical("probe begin { x = @1 }", {"\"\\\n"}),
            "probe begin {\n  x = \"\\\"\\\\\\n\"\n}\n");
}

TEST(Parse, MacrosAndConditionals) {
  EXPECT_EQ(canonical("@define two %( 2 %) @define add(a, b) %( (@a + @b * @two) %)\n"
                      "probe begin { x = @add(y, f(1, 2)) }"),
            "probe begin {\n  x = y + f(1, 2) * 2\n}\n");
  EXPECT_EQ(canonical("%( $# > 1 %? global a = $2 %: global b = $1 %)", {"7"}), "global b = 7\n");
  EXPECT_EQ(canonical("%( arch == \"x86_*\" && kernel_v >= \"2.6.10\" %? global a %)\n"
                      "%( \"b\" < \"a\" || 1 != 1 %? global c %: %( 1 == 1 %? global d %) %)\n"
                      "%( CONFIG_UTRACE == \"y\" %? %{ C code %} %)"),
            "global a\nglobal d\n");
  EXPECT_EQ(canonical("probe begin { x = \"a\" @1 %( systemtap_v < \"4.10\" %? \"b\" %) }", {"z"}),
            "probe begin {\n  x = \"azb\"\n}\n");
}

TEST(Parse, AMistakeInAMacroShowsItsUses) {
  Sources sources;
  sources.add("test", "@define in %( x = %)\n@define out %( @in %)\nprobe begin { @out }");
  Diags diags;
  parse(sources, 0, {}, diags);
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(render(diags.last(), sources, false),
            "error[DJ1013]: expected an expression, found '}'\n"
            " --> test:3:20\n"
            "  |\n"
            "1 | @define in %( x = %)\n"
            "  |                 - behind this\n"
            "2 | @define out %( @in %)\n"
            "  |                --- expanded from this @in\n"
            "3 | probe begin { @out }\n"
            "  |               ---- ^\n"
            "  |               expanded from this @out\n");
}

TEST(Parse, SpansPointAtTheText) {
  Sources sources;
  sources.add("test", "probe func(\"f\").return { count[pid()] += $x->y }");
  Diags diags;
  ast::Script script = parse(sources, 0, {}, diags);
  ASSERT_TRUE(diags.ok());
  const ast::ProbePoint& point = script.probes[0].points[0];
  EXPECT_EQ(sources.text(point.span), "func(\"f\").return");
  EXPECT_EQ(sources.text(point.components[0].argument_span), "\"f\"");
  EXPECT_EQ(sources.text(point.components[1].name_span), "return");
  const auto& body = std::get<ast::Block>(script.probes[0].body->node);
  const ast::ExprPtr& expr = std::get<ast::ExprStmt>(body.body[0]->node).expr;
  EXPECT_EQ(sources.text(expr->span), "count[pid()] += $x->y");
  const auto& assign = std::get<ast::Assign>(expr->node);
  EXPECT_EQ(sources.text(assign.op_span), "+=");
  EXPECT_EQ(sources.text(assign.right->span), "$x->y");
  EXPECT_EQ(sources.text(std::get<ast::Target>(assign.right->node).path[0].span), "->y");
}

TEST(Parse, TokensAreDumpedAsTheParserSeesThem) {
  Sources sources;
  sources.add("test", "probe a <\n b = -$1 >");
  EXPECT_EQ(dump_tokens(sources, 0, {{"7"}}),
            "1:1 PROBE probe\n1:7 ID a\n1:9 ANGLE_OPEN <\n2:2 ID b\n2:4 ASSIGN =\n"
            "2:6 SIGN_MINUS -\n2:7 NUMBER 7\n2:10 ANGLE_CLOSE >\n2:11 EOF\n");
}

TEST(Parse, AThousandLinesAreQuick) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text +=
        "probe func(\"f\").return {\n  if (a > 1 && b[pid(), 2] == \"x\") {\n"
        "    b[tid(), execname()] <<< a * 3 + $x->y[2]\n    printf(\"%d\\n\", a)\n  } else\n"
        "    a = a ? b : c\n  foreach ([k, v-] in b limit 10)\n    print(k)\n  delete b\n}\n";
  }
  Sources sources;
  sources.add("test", text);
  Diags diags;
  auto start = std::chrono::steady_clock::now();
  parse(sources, 0, {}, diags);
  auto took = std::chrono::steady_clock::now() - start;
  EXPECT_TRUE(diags.ok());
  // 18 ms when measured alone; the bound leaves room for sanitizers and busy machines.
  EXPECT_LT(took, std::chrono::milliseconds(500));
}

}  // namespace dj
