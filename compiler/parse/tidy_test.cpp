// SPDX-License-Identifier: Apache-2.0
// The formatter: what it changes, what it keeps, and that it is stable.
#include "compiler/parse/tidy.h"

#include <gtest/gtest.h>

namespace dj {

namespace {

std::string tidied(const std::string& text) {
  Sources sources;
  uint32_t file = sources.add("test", text);
  Diags diags;
  std::string once = tidy(sources, file, diags);
  EXPECT_TRUE(diags.ok());
  EXPECT_EQ(tidy(sources, sources.add("again", once), diags), once);
  return once;
}

}  // namespace

TEST(Tidy, AngleBodiesBecomeBraces) {
  EXPECT_EQ(tidied("probe func(\"f\")<n++>\n"), "probe func(\"f\") { n++ }\n");
  EXPECT_EQ(tidied("probe a < if ((b>c)) d = 1 >"), "probe a { if ((b > c)) d = 1 }\n");
}

TEST(Tidy, IndentsByBracketsAndKeepsLinesAndComments) {
  EXPECT_EQ(
      tidied("#! x  \n\n\n\nglobal a,b // two   \nprobe begin{\nif(a){\nb=a+\n1\n/* why */ c++\n}\n"
             "\n}\n\n"),
      "#! x\n\nglobal a, b // two\nprobe begin {\n  if (a) {\n    b = a+\n        1\n"
      "    /* why */ c++\n  }\n}\n");
}

TEST(Tidy, BlanksAroundOperatorsAndNotInBrackets) {
  EXPECT_EQ(tidied("probe a { x=f( 1,-2 )[ 3 ] ; y+=$p -> q; z = !w&&~ v; foreach([k+]in a){} }"),
            "probe a { x = f(1, -2)[3]; y += $p->q; z = !w && ~v; foreach ([k+] in a) {} }\n");
}

TEST(Tidy, BlanksBeforeTheStatementOfAHead) {
  EXPECT_EQ(
      tidied("probe a{if(b)c++;else if(d)$p;while(e)f(1)g(2)foreach(k in h)\"x\";try{}catch(m)-1}"),
      "probe a { if (b) c++; else if (d) $p; while (e) f(1) g(2) foreach (k in h) \"x\"; "
      "try {} catch (m) -1 }\n");
  EXPECT_EQ(tidied("probe a { b = (c)[1]; d = @cast(e, \"t\")->f$ + (g)*2 }\n"),
            "probe a { b = (c)[1]; d = @cast(e, \"t\")->f$ + (g)*2 }\n");
}

TEST(Tidy, BodiesWithoutBracesAreIndented) {
  EXPECT_EQ(tidied("probe a {\nif (b)\nc = 1\nelse\nd = 2\ne = 3\n}\n"),
            "probe a {\n  if (b)\n    c = 1\n  else\n    d = 2\n  e = 3\n}\n");
  EXPECT_EQ(tidied("probe a {\nforeach (k in b)\nif (k)\n// why\nf(k,\n1)\nelse\ng()\nh()\n}\n"),
            "probe a {\n  foreach (k in b)\n    if (k)\n      // why\n      f(k,\n            1)\n"
            "    else\n      g()\n  h()\n}\n");
  EXPECT_EQ(tidied("probe a {\nwhile (b)\nif (c) {\nd\n}\nelse {\ne\n}\nif (f) g\nh\n}\n"),
            "probe a {\n  while (b)\n    if (c) {\n      d\n    }\n    else {\n      e\n    }\n"
            "  if (f) g\n  h\n}\n");
  EXPECT_EQ(tidied("function f() {\nif (a)\nreturn 1\n}\nprobe b { c }\n"),
            "function f() {\n  if (a)\n    return 1\n}\nprobe b { c }\n");
}

TEST(Tidy, ProbePointsKeepWhatGluesThem) {
  EXPECT_EQ(tidied("probe process(\"x\").{function(\"a\"),mark(\"*\")}?,sys*open=b{ }"),
            "probe process(\"x\").{function(\"a\"),mark(\"*\")}?, sys*open = b { }\n");
}

TEST(Tidy, MacrosAndConditionalsStay) {
  EXPECT_EQ(tidied("@define f(x) %( @x %)\n%( 1==1 %?\nprobe a { b = @f(1) }\n%)\n"),
            "@define f(x) %( @x %)\n%( 1 == 1 %?\n  probe a { b = @f(1) }\n%)\n");
}

}  // namespace dj
