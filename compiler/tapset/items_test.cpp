// SPDX-License-Identifier: Apache-2.0
// Cutting tapset files: what is found in them without the grammar.
#include "compiler/tapset/items.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace dj {

namespace {

// "begin..: names" of each item, by the text it begins with.
std::string shown(std::string_view text) {
  std::string out;
  for (const TapsetItem& item : items_of(text)) {
    out += std::string(text.substr(item.part.begin, item.part.end - item.part.begin));
    out += "[" + item.function + (item.is_private ? " private" : "");
    for (const std::string& name : item.aliases) out += " " + name;
    out += "]";
  }
  return out;
}

}  // namespace

TEST(Items, HaveTheNamesThatTheyDefine) {
  EXPECT_EQ(shown("function f:long (a) { }"), "function f:long (a) { }[f]");
  EXPECT_EQ(shown("private function f() { }"), "private function f() { }[f private]");
  EXPECT_EQ(shown("probe a.b = begin { }"), "probe a.b = begin { }[ a.b]");
  EXPECT_EQ(shown("probe a,\n b.c += x { }"), "probe a,\n b.c += x { }[ a b.c]");
  EXPECT_EQ(shown("probe begin { }"), "probe begin { }[]");
  EXPECT_EQ(shown("global a, b"), "global a, b[]");
  EXPECT_EQ(shown("private global a"), "private global a[]");
  EXPECT_EQ(shown("probe a{b,c} = begin { }"), "probe a{b,c} = begin { }[]") << "may be anything";
}

TEST(Items, EndWhereTheNextBegins) {
  EXPECT_EQ(shown("# x\nglobal n probe a = b { } function f() { } /* y */"),
            "global n []probe a = b { } [ a]function f() { } /* y */[f]");
  EXPECT_EQ(shown("// x.\nglobal n // y.\nfunction f() { }"),
            "global n // y.\n[]function f() { }[f]");
  EXPECT_EQ(shown("probe a = process.function(\"x\") < p->function > function f() { }"),
            "probe a = process.function(\"x\") < p->function > [ a]function f() { }[f]");
}

TEST(Items, AreNotFoundInsideOthers) {
  for (const char* inside :
       {"{ probe }", "/* } probe */", "// } probe\n", "# } probe\n", "{ \"} probe\" }",
        "{ \"\\\"} probe\" }", "{ $#; } # } probe", "%{ } probe %}", "{ x_probe }"}) {
    const std::string text = std::string("function f() ") + inside;
    EXPECT_EQ(shown(text), text + "[f]");
  }
}

TEST(Items, EmbeddedCBetweenItemsIsNobodys) {
  EXPECT_EQ(shown("%{ int x; } %}\nfunction f() { }"), "function f() { }[f]");
  EXPECT_EQ(shown("function f() { }\n%{ int x; %}\nglobal a"), "function f() { }\n[f]global a[]");
}

TEST(Items, OneForAllWhereTheTextCannotBeCut) {
  for (const char* text :
       {"%( 1 == 1 %? function f() { } %)", "@define m %( 1 %)", "function f() { } }",
        "function f() { ", "function f() { \"x }", "function f() { } /* ", "function f() { } %{",
        "nothing function f() { }"}) {
    EXPECT_EQ(shown(text), std::string(text) + "[]");
  }
}

}  // namespace dj
