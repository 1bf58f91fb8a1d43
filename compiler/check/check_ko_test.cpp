// SPDX-License-Identifier: Apache-2.0
// Wrong scripts: each has exactly one mistake, reported once, with its code, its exact bytes
// (between « and ») and its words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <span>

#include "compiler/check/check_support.h"

namespace dj {
namespace {

struct Wrong {
  const char* code;
  const char* script;
  const char* message;    // part of the message
  const char* also = "";  // part of the help, a note or a label
  bool strict = false;
};

const Wrong kNames[] = {
    {"DJ2001", "probe begin { «prnt»(\"x\") }", "there is no function `prnt`",
     "\"print\", \"printf\""},
    {"DJ2001", "probe func(\"f\") { println(«user_strng»($p)) }", "`user_strng`", "user_string"},
    {"DJ2001", "function work() { return 1 } probe begin { println(«wrok»()) }", "`wrok`", "work"},
    {"DJ2001", "probe begin { «qqqqqqq»(1) }", "there is no function"},
    {"DJ2002", "global a, «a» probe begin { a = 1; println(a) }", "declared twice",
     "first declared here"},
    {"DJ2002", "function f(x, «x») { return x } probe begin { println(f(1, 2)) }", "two parameters",
     "first declared here"},
    {"DJ2003", "function «printf»() { } probe begin { exit() }", "cannot be redefined"},
    {"DJ2004", "probe begin { «return 1» }", "outside of a function", "next"},
    {"DJ2005", "probe begin { «break» }", "`break` outside of a loop"},
    {"DJ2005", "function f() { if (1) «continue» } probe begin { f() }", "`continue` outside"},
    {"DJ2007", "probe begin { println(«pid(1)») }", "takes no arguments, got 1", "pid()"},
    {"DJ2007", "probe begin { println(«substr(\"a\", 1)») }", "takes 3 arguments, got 2",
     "substr(string, number, number)"},
    {"DJ2007", "function f(a, b) { return a + b } probe begin { println(«f(1)») }",
     "takes 2 arguments, got 1", "defined here"},
    {"DJ2007", "probe func(\"f\") { s <<< 1; println(«@count(s, 2)») }", "takes 1 argument, got 2"},
    {"DJ2007", "probe func(\"f\") { s <<< 1; print(«@hist_linear(s, 1)») }",
     "takes 4 arguments, got 2"},
    {"DJ2007", "probe begin { «print()» }", "takes at least 1 value"},
    {"DJ2008", "probe func(\"f\") { s <<< 1; println(«@cuont»(s)) }",
     "there is no operator `@cuont`", "@count"},
    {"DJ2009", "probe func(\"f\") { println(«@perf»(\"x\")) }", "does not have SystemTap's `@perf`"},
    {"DJ2032", "probe end { println(snapshot(«2 + 3»)) }", "only globals and elements"},
    {"DJ2031", "probe func(\"f\") { println(«@entry($x)») }", "only where a function returns",
     ".return"},
    {"DJ2009", "probe func(\"f\") { println(«@choose_defined(1, 2)») }", "a target variable"},
    {"DJ2014", "probe func(\"f\") { println(«&$y$») }", "an address has no text form"},
    {"DJ2027", "probe func(\"f\") { println(register(«\"rxa\"»)) }", "no general register \"rxa\""},
    {"DJ2027", "probe func(\"f\") { println(uint_arg(«0»)) }", "the number of an argument, 1 to"},
    {"DJ2028", "probe func(\"f\") { println(«@cast($y)») }", "@cast takes a pointer"},
    {"DJ2028", "probe func(\"f\") { println(«@var(1)->z») }", "@var takes a variable's name"},
    {"DJ2009", "probe begin { y = 1; x = «y->c» }", "have members and elements", "$y->..."},
    {"DJ2106", "probe func(\"f\") { s <<< 1; println(@variance(s, «63»)) }", "from 0 to 62"},
    {"DJ2030", "probe func(\"f\") if («x» > 1) { n++ }", "`x` is not a global", "declare it: global x"},
    {"DJ2030", "probe func(\"f\") if («$x») { n++ }", "cannot look at the program"},
    {"DJ2030", "global a probe func(\"f\") if («a++» > 1) { n++ }", "cannot change anything"},
    {"DJ2030", "global a probe func(\"f\") if (a && «pid()») { n++ }", "cannot call functions"},
    {"DJ2301", "probe begin { x = \"b\" =~ \"a*«*»\" }", "nothing to repeat"},
    {"DJ2029", "probe func(\"f\") { a[1, 2]++; println(«a[*, 1]») }", "it has no value"},
    {"DJ2029", "probe func(\"f\") { «a[*, 2]»++ }", "it has no value"},
    {"DJ2009", "probe begin { printf(\"ab «%n»\", 1) }", "`%n` is not built yet"},
    {"DJ2202", "probe begin { printf(\"ab «%3b»\", 1) }", "1, 2, 4 or 8 bytes"},
    {"DJ2202", "probe begin { printf(\"ab «%.2b»\", 1) }", "1, 2, 4 or 8 bytes"},
    {"DJ2009", "probe func(\"f\") { println(«@defined(pid())») }", "with a target variable",
     "@defined($name)"},
    {"DJ2011", "probe func(\"f\") { «$x» = 1 }", "does not write target variables"},
    {"DJ2011", "probe func(\"f\") { «$p->n»++ }", "does not write target variables"},
    {"DJ2012", "probe begin { println(«$x») }", "begin has no target variables"},
    {"DJ2012", "probe timer.s(1) { println(«$p->x») }", "timer.s has no target variables"},
    {"DJ2012", "probe process.end { println(«$$vars») }", "process.end has no target variables"},
    {"DJ2012", "probe func(\"f\"), end { println(«$x») }", "end has no target variables",
     "this runs in djtap"},
    {"DJ2012", "function f() { return «$x» } probe begin { println(f()) }",
     "begin has no target variables", "called here"},
    {"DJ2012", "function f() { return $x + «f()» } probe func(\"g\") { println(f()) }",
     "cannot call itself", "arguments"},
    {"DJ2013", "probe func(\"f\") { println(«$return») }", "only where a function returns",
     ".return"},
    {"DJ2014", "probe func(\"f\") { println(«$$prams») }", "there is no `$$prams`", "$$parms"},
    {"DJ2016", "probe begin { println(«a»[1]) }", "there is no array `a`", "global a"},
    {"DJ2016",
     "probe func(\"f\") { count[tid()]++ } probe end { foreach (k in «cuont») println(k) }",
     "there is no array `cuont`", "count"},
    {"DJ2016", "probe func(\"f\") { «a»[1]++ }", "there is no array `a`", "global a", true},
    {"DJ2016", "probe func(\"f\") { «s» <<< 1 }", "aggregates are global", "global s", true},
};

const Wrong kArrays[] = {
    {"DJ2020", "global a probe func(\"f\") { a[1, 2] = 1; println(«a»[1]) }",
     "has 2 keys, but 1 is given", "first indexed here"},
    {"DJ2020", "probe func(\"f\") { a[1]++ } probe end { foreach ([k, v] in «a») println(k, v) }",
     "has 1 key, but 2 are given"},
    {"DJ2020", "probe func(\"f\") { a[1]++; println([1, 2] in «a») }",
     "has 1 key, but 2 are given"},
    {"DJ2021", "global a probe func(\"f\") { a[1] = 2; println(«a») }", "used without them",
     "first indexed here"},
    {"DJ2021", "global a probe func(\"f\") { a[1]++; «a» = 2; a += 1 }", "used without them"},
    {"DJ2022", "probe func(\"f\") { x = 1; println(«x»[2]) }",
     "is a local variable, but arrays are global"},
    {"DJ2022", "function f(p) { return «p»[1] } probe begin { println(f(1)) }",
     "is a local variable"},
    {"DJ2023", "global s = «5» probe func(\"f\") { s <<< 1 }", "`s` is an aggregate",
     "made an aggregate"},
    {"DJ2024", "global «a»% probe func(\"f\") { a++ }", "is not used as an array"},
    {"DJ2023", "global a = «5» probe func(\"f\") { a[1]++ }", "`a` is an array",
     "first indexed here"},
    {"DJ2024", "global «a»[9999999999] probe func(\"f\") { a[1]++ }",
     "must be at least 1 and at most"},
    {"DJ2024", "global «a»[10] probe func(\"f\") { a = 1; println(a) }", "not used as an array",
     "used as a plain variable here"},
    {"DJ2025",
     "probe func(\"f\") { a[1, 2]++ } probe end { foreach ([i+, «j»-] in a) println(i, j) }",
     "one thing only", "sorted by this already"},
    {"DJ2026", "probe func(\"f\") { «a»[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]++ }", "at most 9"},
    {"DJ2103",
     "probe func(\"f\") { a[1] <<< 2 } probe end { foreach («v» = [k] in a) println(k, v) }",
     "which no variable can hold", "@count(a[...])"},
    {"DJ2104", "probe func(\"f\") { a[1]++ } probe end { foreach (k in «a» @sum-) println(k) }",
     "does not hold aggregates"},
};

const Wrong kTypes[] = {
    {"DJ2101", "global x probe begin { x = 1; x = «\"a\"»; println(x) }",
     "`x` is a number, but this is a string", "first used as a number here"},
    {"DJ2101", "global x = \"a\" probe begin { «x»++ }",
     "`x` is a string, but `++` needs a number"},
    {"DJ2101", "probe begin { println(«\"a\"» + 1) }", "this is a string, but `+` needs a number",
     "by `.`"},
    {"DJ2101", "probe begin { println(\"a\" . «1») }", "`.` needs a string", "sprint"},
    {"DJ2101", "probe begin { x = \"a\"; «x» += \"b\"; println(x) }", "`+=` needs a number",
     "`.=`"},
    {"DJ2101", "probe begin { println(execname() == «1») }", "left side of `==` is a string"},
    {"DJ2101", "probe begin { if («execname()») exit() }",
     "`execname()` is a string, but a condition needs"},
    {"DJ2101", "probe func(\"f\") { println(«$p».count) }", "`.` needs a string",
     "$variable->member"},
    {"DJ2101", "probe begin { println(strlen(«5»)) }", "argument 1 of `strlen` needs a string"},
    {"DJ2101", "function f(a) { return strlen(a) } probe begin { println(f(«7»)) }",
     "argument 1 (`a`) of `f` is a string, but this is a number", "first used as a string here"},
    {"DJ2101", "function f(a) { if (a) return 1; return «\"x\"» } probe begin { println(f(1)) }",
     "the result of `f` is a number, but this is a string", "first used as a number here"},
    {"DJ2101", "function f:long() { return «\"x\"» } probe begin { println(f()) }",
     "the result of `f` is a number"},
    {"DJ2101", "probe func(\"f\") { a[1]++; a[«\"x\"»]++ }",
     "the key of `a` is a number, but this is a string", "first used as a number here"},
    {"DJ2101", "probe func(\"f\") { a[\"x\", 1]++; a[\"y\", «\"z\"»]++ }",
     "key 2 of `a` is a number"},
    {"DJ2101", "probe func(\"f\") { a[1] = 2; a[2] = «\"x\"» }", "an element of `a` is a number"},
    {"DJ2101", "probe begin { println(1 ? 2 : «\"x\"») }", "the value before `:` is a number"},
    {"DJ2101", "probe begin { printf(\"%d\", «\"x\"») }",
     "this is a string, but `%d` needs a number", "this needs a number"},
    {"DJ2101", "probe begin { x = 5; printf(\"a %s\", «x») }",
     "`x` is a number, but `%s` needs a string", "first used as a number here"},
    {"DJ2101", "probe begin { printf(\"%*d\", «\"x\"», 1) }", "the `*` of `%*d` needs a number"},
    {"DJ2101", "probe func(\"f\") { s <<< «\"x\"» }", "`<<<` needs a number"},
    {"DJ2101", "probe func(\"f\") { println($a[«\"x\"»]) }", "an index or an address needs a number"},
    {"DJ2101",
     "probe func(\"f\") { a[1]++ } probe end { k = \"x\"; foreach («k» in a) println(k) }",
     "`k` is a string, but the key of `a` is a number"},
    {"DJ2101",
     "probe func(\"f\") { a[1]++ } probe end { foreach (k in a limit «\"x\"») println(k) }",
     "a limit needs a number"},
    {"DJ2102", "probe begin { x = «exit()»; println(x) }", "`exit()` has no value"},
    {"DJ2102", "function f() { } probe begin { println(«f()» + 1) }", "`f()` has no value",
     "returns nothing"},
    {"DJ2102", "probe begin { x = «printf(\"a\")»; println(x) }", "has no value"},
    {"DJ2103", "probe func(\"f\") { s <<< 1; println(«s» + 1) }", "no value of its own",
     "@count(x)"},
    {"DJ2103", "probe func(\"f\") { s <<< 1 } probe end { printf(\"%d\", «s») }",
     "no value of its own", "made an aggregate here"},
    {"DJ2103", "global s probe func(\"f\") { s <<< 1; «s» = 5 }", "no value of its own", "<<<"},
    {"DJ2103", "probe func(\"f\") { a[1] <<< 1; println(«a[1]») }", "no value of its own"},
    {"DJ2104", "global n probe func(\"f\") { n++; println(@count(«n»)) }",
     "`n` is not an aggregate", "it holds a plain value here"},
    {"DJ2104", "probe begin { println(@sum(«5»)) }", "takes an aggregate"},
    {"DJ2104", "probe begin { x = 1; println(@sum(«x»)) }", "`x` is not an aggregate",
     "x <<< value"},
    {"DJ2105", "probe func(\"f\") { s <<< 1; x = «@hist_log(s)»; println(x) }",
     "can only be printed"},
    {"DJ2106", "probe func(\"f\") { s <<< 1 } probe end { print(@hist_linear(s, «9, 1, 1»)) }",
     "upper bound"},
    {"DJ2106", "probe func(\"f\") { s <<< 1 } probe end { print(@hist_linear(s, «0, 9, 0»)) }",
     "positive"},
    {"DJ2106", "probe func(\"f\") { s <<< 1 } probe end { print(@hist_linear(s, «0, 99999, 1»)) }",
     "more than"},
    {"DJ2106", "probe func(\"f\") { s <<< 1 } probe end { print(@hist_linear(s, 0, «pid()», 1)) }",
     "literal"},
    {"DJ2106",
     "probe func(\"f\") { s <<< 1 } probe end { print(@hist_linear(s, 0, 9, 1)); "
     "print(@hist_linear(s, «0, 9, 3»)) }",
     "other bounds already", "first asked here"},
};

const Wrong kAlone[] = {
    {"DJ2035", "probe begin { «int» x = 1; println(x) }", "`int` alone does nothing",
     "not declared"},
    {"DJ2035", "probe begin { «do» { x++ } while (x < 3); println(x) }", "`do` alone does nothing",
     "while"},
    {"DJ2035", "probe func(\"f\") { if (tid() == 1) «nxt»; println(1) }",
     "`nxt` alone does nothing", "next"},
    {"DJ2035", "probe begin { «exit» }", "`exit` alone does nothing", "exit()"},
};

const Wrong kPrints[] = {
    {"DJ2201", "probe begin { x = \"%d\"; printf(«x», 1) }", "must be a literal string"},
    {"DJ2201", "probe begin { «printf»() }", "must be a literal string"},
    {"DJ2202", "probe begin { printf(\"a «%q» b\", 1) }", "unknown conversion `%q`"},
    {"DJ2101", "probe begin { printf(\"a %d\", «1.5») }", "needs a whole one", "%f"},
    {"DJ2202", "probe begin { printf(\"100«%»\") }", "ends inside a conversion", "%%"},
    {"DJ2202", "probe begin { printf(\"\\t\\\"«%q»\\n\", 1) }", "unknown conversion `%q`"},
    {"DJ2202", "probe begin { printf(«\"\\x41%q\"», 1) }", "unknown conversion `%q`"},
    {"DJ2202", "probe begin { printf(«\"a\" \"%q\"», 1) }", "unknown conversion `%q`"},
    {"DJ2202", "probe begin { printf(\"«%99999»d\", 1) }", "beyond 4096"},
    {"DJ2203", "probe begin { printf(\"%d «%s»\", 1) }",
     "no argument for `%s`: the format takes 2, got 1"},
    {"DJ2203", "probe begin { printf(\"%d\\n\", 1, «2») }", "takes 1 argument, got 2",
     "this format"},
    {"DJ2203", "probe begin { printf(\"«%*d»\", 1) }", "no argument for `%*d`"},
    {"DJ2204", "probe begin { «printd(\",\", 1)» }", "at least 2 values"},
    {"DJ2204", "probe begin { printdln(«execname()», 1, 2) }", "must be a literal string"},
    {"DJ2205",
     "probe begin { "
     "println(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,"
     "30,31,32,«33») }",
     "33 values"},
};

const Wrong kWarnings[] = {
    {"DJ2107", "probe begin { println(1 / «0») }", "division by zero"},
    {"DJ2107", "probe begin { x = 5; x %= «0»; println(x) }", "division by zero"},
    {"DJ2901", "probe func(\"f\") { x = 0; if («x = 1») println(x) }",
     "this condition is an assignment", "`==`"},
    {"DJ2902", "probe begin { println(«pid») }", "`pid` is never set", "pid()"},
    {"DJ2902", "probe begin { total = 1; println(«totla», total) }", "`totla` is never set",
     "total"},
    {"DJ2903", "probe func(\"f\") { «last» = tid() }", "`last` is set but never read",
     "global last"},
    {"DJ2903", "probe func(\"f\") { «count»++ }", "`count` is set but never read", "global count",
     true},
    {"DJ2904", "«probe begin { }»", "has no effect"},
    {"DJ2905",
     "function f(a) { return 1 } function «f»(a) { return 2 } probe begin { println(f(1)) }",
     "never called"},
    {"DJ2906", "probe func(\"f\") { if («n»++ == 0) println(1) }", "starts at 0 in every hit",
     "global n"},
};

std::string everything(const Diag& diag) {
  std::string all = diag.help;
  for (const Label& label : diag.labels) all += "\n" + label.text;
  for (const std::string& note : diag.notes) all += "\n" + note;
  return all;
}

void expect_one(const Wrong& wrong, Severity severity) {
  SCOPED_TRACE(wrong.script);
  Checked checked = check_text(wrong.script, wrong.strict);
  ASSERT_EQ(checked.diags.all().size(), 1u) << checked.rendered();
  const Diag& diag = checked.diags.all()[0];
  EXPECT_EQ(diag.severity, severity);
  EXPECT_EQ(diag.code, wrong.code) << checked.rendered();
  EXPECT_THAT(diag.message, testing::HasSubstr(wrong.message));
  EXPECT_THAT(everything(diag), testing::HasSubstr(wrong.also));
  EXPECT_EQ(checked.sources.text(diag.span), checked.sources.text(checked.marked));
  EXPECT_EQ(diag.span.begin, checked.marked.begin);
}

TEST(CheckKo, Names) {
  for (const Wrong& wrong : kNames) expect_one(wrong, Severity::Error);
}
TEST(CheckKo, Arrays) {
  for (const Wrong& wrong : kArrays) expect_one(wrong, Severity::Error);
}
TEST(CheckKo, Types) {
  for (const Wrong& wrong : kTypes) expect_one(wrong, Severity::Error);
}
TEST(CheckKo, NamesAlone) {
  for (const Wrong& wrong : kAlone) expect_one(wrong, Severity::Error);
}
TEST(CheckKo, Prints) {
  for (const Wrong& wrong : kPrints) expect_one(wrong, Severity::Error);
}
TEST(CheckKo, Warnings) {
  for (const Wrong& wrong : kWarnings) expect_one(wrong, Severity::Warning);
}

// Independent mistakes are all reported, in one run, each once.
TEST(CheckKo, SeveralMistakes) {
  Checked checked = check_text(
      "probe begin { prnt(1); x = 1; x = \"a\"; x = \"b\"; y = @cuont(z); println(strlen(5), x, y) "
      "}");
  std::vector<std::string> codes;
  for (const Diag& diag : checked.diags.all()) codes.push_back(diag.code);
  EXPECT_THAT(codes, testing::UnorderedElementsAre("DJ2001", "DJ2101", "DJ2008", "DJ2101"))
      << checked.rendered();
}

// The arguments of a call that was refused are gone when formats are finished.
TEST(CheckKo, PrintInsideOfAMistake) {
  Checked checked =
      check_text("probe begin { println(pid(sprintf(\"%d\", 1))); println(sprint(2)) }");
  ASSERT_EQ(checked.diags.all().size(), 1u) << checked.rendered();
  EXPECT_EQ(checked.diags.all()[0].code, "DJ2007");
}

// Every code of this stage is provoked above.
TEST(CheckKo, EveryCodeIsProvoked) {
  std::set<std::string> provoked;
  for (const auto& table : {std::span<const Wrong>(kNames), std::span<const Wrong>(kArrays),
                            std::span<const Wrong>(kTypes), std::span<const Wrong>(kPrints),
                            std::span<const Wrong>(kWarnings), std::span<const Wrong>(kAlone)}) {
    for (const Wrong& wrong : table) provoked.insert(wrong.code);
  }
  provoked.insert("DJ2033");  // by -G: tests/e2e/test_options.py
  provoked.insert("DJ2036");  // by probes that are added: grown_program_test.cpp
  provoked.insert("DJ2037");  // by such: tests/e2e/test_added_probes.py
  provoked.insert("DJ2034");  // by -W: tests/e2e/test_coded_errors.py
  std::vector<std::string> missing;
#define DJ_CODE(code, explanation) \
  if (std::string(#code).starts_with("DJ2") && !provoked.contains(#code)) missing.push_back(#code);
#include "compiler/diag/codes.def"
#undef DJ_CODE
  EXPECT_THAT(missing, testing::IsEmpty());
}

}  // namespace
}  // namespace dj
