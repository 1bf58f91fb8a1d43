// SPDX-License-Identifier: Apache-2.0
// What a diagnostic looks like, byte for byte, and which names are near.
#include "compiler/diag/diag.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace dj {

namespace {

// The span of the n-th `needle` (0 = first) in file 0.
Span find(const Sources& sources, const std::string& needle, int n = 0) {
  size_t at = sources.files[0].text.find(needle);
  for (; n > 0; --n) {
    at = sources.files[0].text.find(needle, at + 1);
  }
  return {0, static_cast<uint32_t>(at), static_cast<uint32_t>(at + needle.size())};
}

}  // namespace

TEST(Render, HasTheDocumentedShape) {
  Sources sources;
  sources.add("trace.djt", "# one\n\nprobe process(\"./t\").function(\"wrok\") { }\n");
  Diags diags;
  Diag& diag =
      diags.error("DJ2104", find(sources, "\"wrok\""), "no function matches \"wrok\" in ./t");
  diag.notes.push_back("searched: ./t (10 functions, DWARF), libc.so.6 (4494)");
  diag.help = "did you mean \"work\" (t.c:7)?";
  EXPECT_EQ(render(diag, sources, false),
            "error[DJ2104]: no function matches \"wrok\" in ./t\n"
            " --> trace.djt:3:31\n"
            "  |\n"
            "3 | probe process(\"./t\").function(\"wrok\") { }\n"
            "  |                               ^^^^^^\n"
            "  = searched: ./t (10 functions, DWARF), libc.so.6 (4494)\n"
            "help: did you mean \"work\" (t.c:7)?\n");
}

TEST(Render, LabelsOnTheSameLineAndOnOthers) {
  Sources sources;
  sources.add("a", "x = 1\ny = 2\n\nx = \"s\" + 2\n");
  Diag diag;
  diag.code = "DJ2001";
  diag.span = find(sources, "\"s\"");
  diag.message = "bad";
  diag.labels = {{find(sources, "x"), "first here"}, {find(sources, "2", 1), "a number"}};
  EXPECT_EQ(render(diag, sources, false),
            "error[DJ2001]: bad\n"
            " --> a:4:5\n"
            "  |\n"
            "1 | x = 1\n"
            "  | - first here\n"
            "...\n"
            "4 | x = \"s\" + 2\n"
            "  |     ^^^   - a number\n");
  diag.labels.push_back({diag.span, "a string"});
  EXPECT_NE(render(diag, sources, false).find("  |     ^^^   - a number\n"
                                              "  |     a string\n"),
            std::string::npos);
}

TEST(Render, LabelInAnotherFile) {
  Sources sources;
  sources.add("a", "f(1)");
  sources.add("b", "\nfunction f() {}");
  Diag diag;
  diag.severity = Severity::Warning;
  diag.span = {0, 0, 1};
  diag.message = "odd";
  diag.labels = {{{1, 10, 11}, "declared here"}};
  EXPECT_EQ(render(diag, sources, false),
            "warning: odd\n"
            " --> a:1:1\n"
            "  |\n"
            "1 | f(1)\n"
            "  | ^\n"
            " ::: b:2:10\n"
            "  |\n"
            "2 | function f() {}\n"
            "  |          - declared here\n");
}

TEST(Render, TabsUtf8AndTheEndOfTheFile) {
  Sources sources;
  sources.add("a", "\t\"\xc3\xa9\" x");
  Diag diag;
  diag.span = find(sources, "x");
  diag.message = "m";
  EXPECT_NE(render(diag, sources, false).find("1 |     \"\xc3\xa9\" x\n  |         ^\n"),
            std::string::npos);
  uint32_t size = static_cast<uint32_t>(sources.files[0].text.size());
  diag.span = {0, size, size};
  EXPECT_NE(render(diag, sources, false).find("  |          ^\n"), std::string::npos);
}

TEST(Render, WiderLineNumbersMoveTheBorder) {
  Sources sources;
  sources.add("a", std::string(11, '\n') + "bad");
  Diag diag;
  diag.span = {0, 11, 14};
  diag.message = "m";
  diag.notes = {"n"};
  EXPECT_EQ(render(diag, sources, false),
            "error: m\n  --> a:12:1\n   |\n12 | bad\n   | ^^^\n   = n\n");
}

TEST(Render, NothingToShow) {
  Diag diag;
  diag.code = "DJ4001";
  diag.no_span = true;
  diag.message = "no process 12";
  diag.help = "look again";
  EXPECT_EQ(render(diag, {}, false), "error[DJ4001]: no process 12\nhelp: look again\n");
  EXPECT_NE(render(diag, {}, true).find("\x1b["), std::string::npos);
}

TEST(Render, JsonIsOneObjectPerLine) {
  Sources sources;
  sources.add("a", "one\ntwo \xff");
  Diag diag;
  diag.code = "DJ1001";
  diag.span = {0, 8, 9};
  diag.message = "bad byte \xff";
  diag.labels = {{{0, 0, 3}, "here"}};
  std::string text = render_json(diag, sources);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(json["code"], "DJ1001");
  EXPECT_EQ(json["spans"].size(), 2u);
  EXPECT_EQ(json["spans"][0]["line"], 2);
  EXPECT_EQ(json["spans"][0]["column"], 5);
  EXPECT_EQ(json["spans"][0]["primary"], true);
  EXPECT_EQ(json["spans"][1]["label"], "here");
}

using Names = std::vector<std::string>;

TEST(NearNames, MistypedOnes) {
  EXPECT_EQ(near_names("wrok", {"main", "work", "add"}), Names{"work"});
  EXPECT_EQ(near_names("retrun", {"call", "return"}), Names{"return"});
  EXPECT_EQ(near_names("beginn", {"begin", "end"}), Names{"begin"});
  EXPECT_EQ(near_names("Count", {"count"}), Names{"count"});
  EXPECT_EQ(near_names("user_strng", {"user_string_n", "user_string"}),
            (Names{"user_string", "user_string_n"}));
  EXPECT_EQ(near_names("prnt", {"pp", "pn", "printf", "HZ", "print"}), (Names{"print", "printf"}));
  EXPECT_EQ(near_names("getti", {"gettimeofday_ns", "pid"}), Names{"gettimeofday_ns"});
}

TEST(NearNames, FarOnesAreLeftOut) {
  EXPECT_EQ(near_names("x", {"y", "z"}), Names{});
  EXPECT_EQ(near_names("foo", {"bar", "foo"}), Names{});
  EXPECT_EQ(near_names("mgs", {"c", "d", "i", "msg", "p"}), Names{"msg"});
  EXPECT_EQ(near_names("ab1", {"ab2", "ab3", "ab4", "ab5"}).size(), 3u);
}

TEST(NearNames, Sentence) {
  EXPECT_EQ(did_you_mean({}), "");
  EXPECT_EQ(did_you_mean({"a"}), "did you mean \"a\"?");
  EXPECT_EQ(did_you_mean({"a", "b", "c"}), "did you mean \"a\", \"b\" or \"c\"?");
}

}  // namespace dj
