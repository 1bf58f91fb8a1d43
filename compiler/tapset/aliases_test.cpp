// SPDX-License-Identifier: Apache-2.0
// Aliases and tapset files: what a script becomes. Scripts are text, results are printed.
#include "compiler/tapset/aliases.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "compiler/parse/parse.h"
#include "compiler/stages/print_ast.h"
#include "compiler/tapset/library.h"

namespace dj {

namespace {

namespace fs = std::filesystem;

struct Expanded {
  Sources sources;
  Diags diags;
  std::string probes;  // printed, blanks and newlines folded into one blank
};

std::string folded(const std::string& text) {
  std::string out;
  for (char c : text) {
    char put = c == '\n' ? ' ' : c;
    if (put != ' ' || (!out.empty() && out.back() != ' ')) out += put;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

Expanded expand(const std::string& text, const std::vector<std::string>& folders = {}) {
  Expanded made;
  uint32_t file = made.sources.add("test", text);
  TapsetLibrary library(made.sources, {folders, ""});
  ParseOptions options;
  options.macro_file = [&](const std::string& macro) { return library.macro_file(macro); };
  ast::Script script = parse(made.sources, file, options, made.diags);
  if (made.diags.ok()) library.complete(script, made.diags);
  if (made.diags.ok())
    expand_aliases(
        script, [](const ast::ProbePoint&) { return std::vector<ast::ProbePoint>(); }, made.diags);
  script.aliases.clear();
  made.probes = folded(print(script));
  return made;
}

std::string probes(const std::string& text) {
  Expanded made = expand(text);
  for (const Diag& diag : made.diags.all()) ADD_FAILURE() << render(diag, made.sources, false);
  return made.probes;
}

// A folder of tapset files that goes away with it.
class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "djtap-tapset-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  void add(const std::string& name, const std::string& text) {
    std::ofstream(fs::path(path_) / name) << text;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

TEST(Aliases, BodiesStandAroundTheProbes) {
  EXPECT_EQ(probes("probe a = begin { x = 1 } probe a { y = x }"),
            "probe begin { { x = 1 } { y = x } }");
  EXPECT_EQ(probes("probe a += begin { x = 1 } probe a { y = 2 }"),
            "probe begin { { y = 2 } { } }");
  EXPECT_EQ(probes("probe a = begin { p = 1 }, { e = 1 } probe b = a { p = 2 }, { e = 2 }"
                   "probe b { y = p + e }"),
            "probe begin { { p = 1 } { p = 2 } { y = p + e } { e = 2 } { e = 1 } }");
}

TEST(Aliases, TheLongestNameCountsAndTheRestIsHandedOn) {
  EXPECT_EQ(probes("probe a = func(\"x\"), func(\"y\")? { v = 1 } probe a.return! { w = v }"),
            "probe func(\"x\").return!, func(\"y\").return?! { { v = 1 } { w = v } }");
  EXPECT_EQ(probes("probe a = func(\"x\") { v = 1 } probe a.return = func(\"z\").return { v = 2 }"
                   "probe a.return { w = v }"),
            "probe func(\"z\").return { { v = 2 } { w = v } }");
}

TEST(Aliases, PointsWithoutAliasesStayTogether) {
  EXPECT_EQ(probes("probe a.b = func(\"x\") { v = 1 } probe begin, end, a.b, timer.s(1) { w = v }"),
            "probe begin, end { w = v } probe func(\"x\") { { v = 1 } { w = v } } "
            "probe timer.s(1) { w = v }");
}

TEST(Aliases, WildcardsAndConditions) {
  const std::string family =
      "probe f.open = func(\"o\") { n = \"open\" } probe f.close = func(\"c\") if (a) { n = "
      "\"close\" }"
      "probe f.sub.x = func(\"s\") { n = \"x\" }";
  EXPECT_EQ(probes(family + "probe f.* { w = n }"),
            "probe func(\"o\") { { n = \"open\" } { w = n } } "
            "probe func(\"c\") if (a) { { n = \"close\" } { w = n } }");
  EXPECT_EQ(probes(family + "probe f.** if (b) { w = n }"),
            "probe func(\"o\") if (b) { { n = \"open\" } { w = n } } "
            "probe func(\"c\") if (b && a) { { n = \"close\" } { w = n } } "
            "probe func(\"s\") if (b) { { n = \"x\" } { w = n } }");
}

TEST(Aliases, WhatAProbeDoesNotUseIsNotComputed) {
  const std::string alias =
      "global g function quiet() { x = 1; return x } function busy() { g = 1; return 1 } "
      "function calls_busy() { return busy() } "
      "probe a = func(\"x\") { fd = int_arg(1); text = sprintf(\"%d\", fd); q = quiet(); "
      "b = calls_busy(); g = 2; m = text =~ \"1\"; i = j++ } ";
  auto body = [&](const std::string& own) {
    std::string printed = probes(alias + "probe a { " + own + " }");
    return printed.substr(printed.find("probe"));
  };
  EXPECT_EQ(probes("probe a = func(\"x\") { fd = int_arg(1); text = sprintf(\"%d\", fd) } "
                   "probe a { y = fd }"),
            "probe func(\"x\") { { fd = int_arg(1) } { y = fd } }");
  EXPECT_EQ(probes("probe a = func(\"x\") { fd = int_arg(1); text = sprintf(\"%d\", fd) } "
                   "probe a { n++ }"),
            "probe func(\"x\") { { } { n++ } }");
  EXPECT_EQ(body("n++").find("quiet"), std::string::npos);
  for (const char* kept :
       {"b = calls_busy()", "g = 2", "m = text =~", "i = j++", "text = sprintf"}) {
    EXPECT_NE(body("n++").find(kept), std::string::npos) << kept;
  }
}

TEST(Aliases, ALoopIsReported) {
  Expanded made = expand("probe a = b { } probe b = a { } probe a { }");
  ASSERT_EQ(made.diags.all().size(), 1u);
  EXPECT_EQ(made.diags.all()[0].code, "DJ1029");
  EXPECT_EQ(made.diags.all()[0].message, "the alias a stands for itself");
}

TEST(Tapsets, OnlyFilesThatAreNeededAreRead) {
  Folder folder;
  folder.add("one.djt", "probe one.two = func(\"x\") { v = helper() }\n");
  folder.add("two.djt", "global seen\nfunction helper() { return ++seen }\n");
  folder.add("broken.djt", "probe never.used = }\n");
  folder.add("words.djtm", "@define twice(x) %( (2 * @x) %)\n");
  Expanded made = expand("probe one.two { w = @twice(v) }", {folder.path()});
  for (const Diag& diag : made.diags.all()) ADD_FAILURE() << render(diag, made.sources, false);
  EXPECT_EQ(made.probes,
            "global seen function helper() { return ++seen } "
            "probe func(\"x\") { { v = helper() } { w = 2 * v } }");
  EXPECT_EQ(made.sources.files.size(), 4u);
  EXPECT_EQ(expand("probe begin { println(pid()) }", {folder.path()}).sources.files.size(), 1u);
}

TEST(Tapsets, PrivateNamesAreOfTheirFile) {
  Folder folder;
  folder.add(
      "one.djt",
      "private global seen = 2\nprivate function helper(x) { return x + seen }\n"
      "function known(seen) { return helper(seen) }\nprobe a.b = func(\"x\") { v = seen }\n");
  Expanded made =
      expand("global seen probe a.b { w = known(1) + seen + v } function helper() { return 7 }",
             {folder.path()});
  for (const Diag& diag : made.diags.all()) ADD_FAILURE() << render(diag, made.sources, false);
  EXPECT_EQ(made.probes,
            "global seen private global seen@one.djt = 2 function helper() { return 7 } "
            "function known(seen) { return helper@one.djt(seen) } "
            "private function helper@one.djt(x) { return x + seen@one.djt } "
            "probe func(\"x\") { { v = seen@one.djt } { w = known(1) + seen + v } }");
}

TEST(Tapsets, LocalsOfFunctionsAreTheirOwn) {
  Folder folder;
  folder.add("one.djt", "global total\nfunction step() { n = total; m = n; return m }\n");
  Expanded made = expand("probe begin { n++; println(step()) }", {folder.path()});
  EXPECT_EQ(made.probes,
            "global total function step() { n@tapset = total m = n@tapset return m } "
            "probe begin { n++ println(step()) }");
}

TEST(Tapsets, AMistakeInATapsetIsShownThere) {
  Folder folder;
  folder.add("broken.djt", "probe family.member = }\n");
  Expanded made = expand("probe family.member { }", {folder.path()});
  ASSERT_EQ(made.diags.all().size(), 1u);
  EXPECT_EQ(made.diags.all()[0].span.file, 1u);
}

}  // namespace dj
