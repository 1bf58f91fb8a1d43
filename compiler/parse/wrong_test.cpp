// SPDX-License-Identifier: Apache-2.0
// Wrong scripts: each gives exactly the errors listed, at exactly the marked bytes.
#include <gtest/gtest.h>

#include "compiler/parse/parse.h"

namespace dj {

namespace {

struct Wrong {
  const char* script;  // «» stand around the bytes that the first error underlines
  const char* code;
  const char* message;
  const char* help = "";
};

void remove(std::string& text, const std::string& mark, size_t& at) {
  at = text.find(mark);
  if (at != std::string::npos) {
    text.erase(at, mark.size());
  }
}

const char kEmptyHelp[] = "a script is made of probes: probe func(\"name\") { statements }";
const char kStringHelp[] =
    "close it with \"; inside a string, \\\" writes a quote and \\n ends a line";
const char kBodyHelp[] = "write the statements in braces: { count++ }";
const char kAngleHelp[] = "inside a < ... > body, write (a > b) to compare";

const char kConditionHelp[] = "write %( condition %? text %: other text %)";
const char kCompareHelp[] =
    "compare kernel_v, kernel_vr, arch, systemtap_v, a number or a string with a literal";
const char kDefineHelp[] = "write @define name(parameter, ...) %( text %)";

const Wrong kWrong[] = {
    // bytes to tokens
    {"probe a { x = «`»b }", "DJ1001", "no part of a script begins with the character '`'",
     "strings stand in double quotes: \"text\""},
    {"probe a { x = «\xc3\xa9» }", "DJ1001",
     "no part of a script begins with the character '\xc3\xa9'"},
    {"probe a { «@»[1] = 2 }", "DJ1001", "no part of a script begins with the character '@'",
     "arrays have names: calls[execname()]++; a point is written func(\"name\"), a body belongs to "
     "`probe POINT { ... }`"},
    {"probe a { x = «\x01» }", "DJ1001", "no part of a script begins with the control character"},
    {"probe a { print(«\"x) }»\n}", "DJ1002", "this string has no closing quote on its line",
     kStringHelp},
    {"probe a { «/*» x }", "DJ1003", "this comment is never closed", "close it with */"},
    {"probe a { x = «0xzoopoo» }", "DJ1004", "malformed number 0xzoopoo",
     "numbers are 10, 0x1f or 017; a name begins with a letter"},
    {"probe a { «0var»++ }", "DJ1004", "malformed number 0var",
     "a number that begins with 0 has octal digits, 0 to 7"},
    {"probe a { x = «089» }", "DJ1004", "malformed number 089",
     "a number that begins with 0 has octal digits, 0 to 7"},
    {"global x[«2015a»]", "DJ1004", "malformed number 2015a",
     "numbers are 10, 0x1f or 017; a name begins with a letter"},
    {"probe a { x = «18446744073709551616» }", "DJ1005",
     "the number 18446744073709551616 does not fit in 64 bits"},
    {"probe a { x = «$1» }", "DJ1006", "the script uses $1, but no arguments were given",
     "give it behind the script: djtap script.djt ARG"},
    {"probe a { x = «@0» }", "DJ1006", "the script uses @0, but no arguments were given",
     "the first argument is $1"},
    // brackets
    {"probe a { if (b «}» ", "DJ1007", "expected ')', found '}'", "write ')' behind 'b'"},
    {"probe a { if (b «{» x } }", "DJ1007", "expected ')', found '{'", "write ')' behind 'b'"},
    {"probe a { print(b«;» x }", "DJ1007", "expected ')', found ';'", "write ')' behind 'b'"},
    {"probe a { x = b[1«;» }", "DJ1007", "expected ']', found ';'", "write ']' behind '1'"},
    {"probe a(\"x\" «{» }", "DJ1007", "expected ')', found '{'", "write ')' behind '\"x\"'"},
    {"probe a { b[1«)» }", "DJ1007", "expected ']', found ')'", "write ']' for it"},
    {"probe a «{» x++", "DJ1007", "this '{' is never closed", "write '}' behind '++'"},
    {"probe a «{» x++\nprobe b { }", "DJ1007", "this '{' is never closed", "write '}' behind '++'"},
    {"probe a { } «}»", "DJ1008", "this '}' closes nothing",
     "it is one too many, or the bracket that opens is missing before it"},
    {"probe a «<» x++", "DJ1009", "the body that begins here is never closed",
     "close it with '>'; inside a < ... > body, write (a > b) to compare"},
    {"probe a < x = b > «c» >", "DJ1009", "unexpected the name \"c\" behind a probe's body",
     kAngleHelp},
    {"probe a < x = b > «5» probe b { }", "DJ1009", "unexpected the number 5 behind a probe's body",
     kAngleHelp},
    // items
    {"«»", "DJ1010", "the script is empty", kEmptyHelp},
    {"«» # only this\n", "DJ1010", "the script is empty", kEmptyHelp},
    {"«porbe» begin { }", "DJ1011",
     "expected \"probe\", \"function\" or \"global\", found the name \"porbe\"",
     "did you mean \"probe\"?"},
    {"probe a { } «fucntion» f() { return 1 }", "DJ1011",
     "expected \"probe\", \"function\" or \"global\", found the name \"fucntion\"",
     "did you mean \"function\"?"},
    {"«count»++", "DJ1011",
     "expected \"probe\", \"function\" or \"global\", found the name \"count\"", kEmptyHelp},
    {"«if» (x) { }", "DJ1011",
     "expected \"probe\", \"function\" or \"global\", found the keyword \"if\"",
     "statements stand in a probe: probe begin { ... }"},
    {"probe a, «timer.s(1)»", "DJ1012", "a probe needs a body", kBodyHelp},
    {"probe a «b» { }", "DJ1012", "expected the probe's body, found the name \"b\"", kBodyHelp},
    {"probe a «*» b { }", "DJ1012", "expected the probe's body, found '*'", kBodyHelp},
    {"probe begin «print»(1)", "DJ1012", "expected the probe's body, found the name \"print\"",
     kBodyHelp},
    {"probe «{» x++ }", "DJ1013", "expected the name of a probe point, found '{'",
     "say where to probe: probe func(\"name\") { statements }"},
    {"probe a, «{» }", "DJ1013", "expected the name of a probe point, found '{'",
     "say where to probe: probe func(\"name\") { statements }"},
    {"probe process(«foo») { }", "DJ1013", "expected a number or a string, found the name \"foo\"",
     "names of the target are strings here: \"foo\""},
    {"probe timer.s(«)» { }", "DJ1013", "expected a number or a string, found ')'"},
    {"global «5»", "DJ1013", "expected a name, found the number 5"},
    {"global «next»", "DJ1014", "\"next\" is a keyword and cannot be a name"},
    {"global x «=»", "DJ1013", "expected a number or a string, found the end of the script"},
    {"global x[«n»]", "DJ1013", "expected a number, found the name \"n\""},
    {"global x[«0»]", "DJ1018", "an array needs room for at least one element"},
    {"global x[3] = «1»", "DJ1019", "an array has no initial value",
     "fill it in a probe begin { ... }"},
    {"function «(»x) { }", "DJ1013", "expected a name, found '('"},
    {"function f «{» }", "DJ1013", "expected '(' or ':', found '{'"},
    {"function f(a:«int») { }", "DJ1013",
     "expected \"string\" or \"long\", found the name \"int\""},
    {"function f(a «b») { }", "DJ1013", "expected ')', ',' or ':', found the name \"b\""},
    // statements
    {"probe a { if «x» { } }", "DJ1013", "expected '(', found the name \"x\"",
     "write if (...) with parentheses"},
    {"probe a { while («)» x }", "DJ1013", "expected an expression, found ')'"},
    {"probe a { for (i = 0; i < 3«)» x }", "DJ1013", "expected ';', found ')'",
     "for (i = 0; i < n; i++) counts, foreach (key in array) visits elements"},
    {"probe a { foreach (a «b») { } }", "DJ1013",
     "expected \"in\", '+', '-' or '=', found the name \"b\""},
    {"probe a { foreach («[k, l]» = v in b) { } }", "DJ1013",
     "expected one name for the value before '='", "foreach (value = [key1, key2] in array)"},
    {"probe a { foreach (k in b«@sum») { } }", "DJ1023", "sorting by @sum needs a direction",
     "write b@sum- for the largest first, + for the smallest"},
    {"probe a { x;; «else» y }", "DJ1013", "\"else\" without an \"if\" before it",
     "the statement before it has one ';' too many, or needs braces"},
    {"probe a { x = 1«,» y = 2 }", "DJ1013", "expected a statement or '}', found ','",
     "statements are separated by ';' or nothing at all"},
    {"probe a { «retrun» x }", "DJ1015", "unknown statement \"retrun\"",
     "did you mean \"return\"?"},
    {"probe a { «wihle» (x) { } }", "DJ1015", "unknown statement \"wihle\"",
     "did you mean \"while\"?"},
    {"probe a { delete «5» }", "DJ1021",
     "only a variable, an array or an array element can be deleted"},
    // expressions
    {"probe a { x = «=» 1 }", "DJ1013", "expected an expression, found '='"},
    {"probe a { x = «}»", "DJ1013", "expected an expression, found '}'"},
    {"probe a { x = b + «*» c }", "DJ1013", "expected an expression, found '*'"},
    {"probe a { f(b «c») }", "DJ1013", "expected ')' or ',', found the name \"c\""},
    {"probe a { b[1 «2»] }", "DJ1013", "expected ']' or ',', found the number 2"},
    {"probe a { x = «in» }", "DJ1014", "\"in\" is a keyword and cannot be a value"},
    {"probe a { x = «$» }", "DJ1013", "expected an expression, found '$'"},
    {"probe a { «f()» = 1 }", "DJ1017", "this cannot be assigned to",
     "only a variable or an array element can be changed"},
    {"probe a { «5»++ }", "DJ1020", "++ needs a variable before it",
     "only a variable or an array element can be changed"},
    {"probe a { --«f()» }", "DJ1020", "-- needs a variable behind it",
     "only a variable or an array element can be changed"},
    {"probe a { x = «&y» }", "DJ1020", "only the address of a target variable can be taken",
     "target variables are written with a dollar: &$variable"},
    {"probe a { x = b[1]«[2]» }", "DJ1013", "an array element has no parts",
     "several keys stand in one pair of brackets: b[1, 2]"},
    {"probe a { x = «@count» }", "DJ1013", "@count needs an argument in parentheses",
     "write @count(variable)"},
    // known, not built
    // macros and conditionals
    {"«%(» kernel_v > \"2\" %? global x", "DJ1028", "this '%(' is never closed", kConditionHelp},
    {"probe a { x = b«%(»c) }", "DJ1028", "this '%(' has no '%?' behind it",
     "for a remainder, write a blank between % and ("},
    {"probe a { } «%)»", "DJ1028", "'%)' without a '%(' before it"},
    {"%( «foo» > 2 %? global x %)", "DJ1028", "cannot compare this in the condition of %( ... %?",
     kCompareHelp},
    {"%( 1 == «\"1\"» %? global x %)", "DJ1028",
     "a number and a string cannot be compared in the condition of %( ... %?", kCompareHelp},
    {"@define «f» probe a { }", "DJ1027", "the text of the macro @f is missing or not closed",
     kDefineHelp},
    {"«@define» 1 %( %)", "DJ1027", "expected the name of a macro behind @define", kDefineHelp},
    {"@define f(«1») %( %)", "DJ1027", "expected the name of a macro's parameter", kDefineHelp},
    {"@define f %( 1 %) @define «f» %( 2 %)", "DJ1027", "the macro @f is defined twice"},
    {"@define f(x) %( @x %) probe a { x = «@f» }", "DJ1026",
     "the macro @f needs arguments in parentheses"},
    {"@define f(x) %( @x %) probe a { x = «@f(1, 2)» }", "DJ1026",
     "the macro @f takes 1 argument, got 2"},
    {"@define f %( 1 + «@f» %) probe a { x = @f }", "DJ1026", "the macro @f uses itself"},
    {"function f() «%{ if ('a') %}»", "DJ1024", "embedded C is not part of djtap",
     "what it would read, a $variable or a built-in function can read"},
    {"probe timer.s(«1.5») {}", "DJ1013", "expected a number or a string, found the number 1.5",
     "numbers are whole here: timer.ms(500) is half a second"},
    {"probe a { x = «1e999» }", "DJ1005", "the number 1e999 does not fit in a double", ""},
    {"probe a { x = $y$«->z» }", "DJ1013", "nothing can follow a '$' that asks for the whole value",
     "the '$' stands at the very end: $pointer->member$"},
    {"probe «a?» = b { }", "DJ1025", "the name of an alias is plain: no '?', '!' or \"if\"",
     "they may stand behind the points of the alias, and where it is used"},
    {"probe «a*» = b { }", "DJ1025", "the name of an alias has no '*'"},
    {"probe a += b { }, «{ }»", "DJ1025", "an alias with += has one body, the epilogue",
     "probe name = point { prologue }, { epilogue }"},
};

class WrongScript : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongScript, GivesOneExactError) {
  const Wrong& wrong = GetParam();
  std::string text = wrong.script;
  size_t begin = 0, end = 0;
  remove(text, "«", begin);
  remove(text, "»", end);
  Sources sources;
  sources.add("test", text);
  Diags diags;
  parse(sources, 0, {}, diags);
  ASSERT_EQ(diags.all().size(), 1u) << text;
  const Diag& diag = diags.all()[0];
  SCOPED_TRACE(render(diag, sources, false));
  EXPECT_EQ(diag.code, wrong.code);
  EXPECT_EQ(diag.message, wrong.message);
  EXPECT_EQ(diag.help, wrong.help);
  EXPECT_EQ(diag.span.begin, begin);
  EXPECT_EQ(diag.span.end, end);
}

INSTANTIATE_TEST_SUITE_P(All, WrongScript, ::testing::ValuesIn(kWrong));

}  // namespace

TEST(WrongScripts, EachItemHasItsOwnError) {
  Sources sources;
  sources.add("test", "probe a { x = }\nprobe b { y = 1 }\nprobe c { z ) }");
  Diags brackets;
  parse(sources, 0, {}, brackets);
  EXPECT_EQ(brackets.all().size(), 1u);  // brackets come first
  sources.files[0].text = "probe a { x = }\nprobe b { y = 1 }\nprobe c { z = / }";
  Diags diags;
  ast::Script script = parse(sources, 0, {}, diags);
  ASSERT_EQ(diags.all().size(), 2u);
  EXPECT_EQ(sources.files[0].line_col(diags.all()[0].span.begin).line, 1u);
  EXPECT_EQ(sources.files[0].line_col(diags.all()[1].span.begin).line, 3u);
  EXPECT_EQ(script.probes.size(), 1u);
}

TEST(WrongScripts, DeclaredFunctionsAreNoTypingMistakes) {
  Sources sources;
  sources.add("test", "function iff(x) { return x } probe a { iff(1) { } }");
  Diags diags;
  parse(sources, 0, {}, diags);
  EXPECT_TRUE(diags.ok());
}

TEST(WrongScripts, ArgumentsAreNamedInErrors) {
  Sources sources;
  sources.add("test", "probe timer.s($1) { }");
  Diags diags;
  parse(sources, 0, {{"abc"}}, diags);
  ASSERT_EQ(diags.all().size(), 1u);
  EXPECT_EQ(render(diags.all()[0], sources, false),
            "error[DJ1013]: expected a number or a string, found the name \"abc\"\n"
            " --> test:1:15\n"
            "  |\n"
            "1 | probe timer.s($1) { }\n"
            "  |               ^^\n"
            "  = this script argument is abc\n"
            "help: @1 pastes the first argument as a string, $1 as it is\n");
}

TEST(WrongScripts, TheLengthIsLimited) {
  auto message_of = [](size_t statements) {
    std::string text = "probe a { ";
    for (size_t i = 0; i < statements; ++i) text += "x;";
    Sources sources;
    sources.add("test", text + " }");
    Diags diags;
    parse(sources, 0, {}, diags);
    return diags.all().empty() ? std::string() : diags.all()[0].code + " " + diags.all()[0].message;
  };
  EXPECT_EQ(message_of(1'000'100),
            "DJ1016 a script has at most 2000000 words and marks, this one has 2000204");
}

TEST(WrongScripts, EndlessNestingIsRefused) {
  auto code_of = [](const std::string& text) {
    Sources sources;
    sources.add("test", "probe a { x = " + text + "y }");
    Diags diags;
    parse(sources, 0, {}, diags);
    return diags.all().empty() ? std::string() : diags.all()[0].code;
  };
  auto repeat = [](const std::string& text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) {
      out += text;
    }
    return out;
  };
  EXPECT_EQ(code_of(repeat("a + ", 900)), "");
  EXPECT_EQ(code_of(repeat("!", 900)), "");
  EXPECT_EQ(code_of(repeat("a + ", 100000)), "DJ1022");
  EXPECT_EQ(code_of(repeat("!", 100000)), "DJ1022");
  EXPECT_EQ(code_of(repeat("(", 100000)), "DJ1022");
  EXPECT_EQ(code_of("1 " + repeat("if (a) ", 100000)), "DJ1022");
  EXPECT_EQ(code_of("1 " + repeat("if (a) b; else ", 100000)), "DJ1022");
}

}  // namespace dj
