// SPDX-License-Identifier: Apache-2.0
// SystemTap's own examples and tapsets, read where Debian's packages systemtap-doc and
// systemtap-common put them: every file is read, but those with embedded C, and what the printer
// writes reads as the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/parse/parse.h"
#include "compiler/parse/tidy.h"
#include "compiler/stages/print_ast.h"
#include "compiler/tapset/library.h"

namespace dj {

namespace {

namespace fs = std::filesystem;

const char kTapsets[] = "/usr/share/systemtap/tapset";

std::vector<std::string> folders_below(const std::string& root) {
  std::vector<std::string> folders = {root};
  for (const char* below : {"/linux", "/linux/x86_64", "/x86_64"}) folders.push_back(root + below);
  return folders;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// One file read; `canonical` is empty when it is wrong.
struct Reading {
  std::string canonical, code, shown;
};

// All files of a test share one index of macros.
class Reader {
 public:
  Reading read(const std::string& name, const std::string& text) {
    // Some scripts paste a probe point where others paste a number.
    Reading first = read(name, text, "1");
    return first.code == "DJ1013" ? read(name, text, "begin") : first;
  }

 private:
  Reading read(const std::string& name, const std::string& text, const std::string& argument) {
    uint32_t file = sources_.add(name, text);
    Diags diags;
    ParseOptions options;
    options.args.assign(9, argument);
    options.macro_file = [&](const std::string& macro) { return library_.macro_file(macro); };
    ast::Script script = parse(sources_, file, options, diags);
    if (diags.ok()) return {print(script), "", ""};
    return {"", diags.all()[0].code, render(diags.all()[0], sources_, false)};
  }

  Sources sources_;
  TapsetLibrary library_{sources_, {folders_below(kTapsets), ""}};
};

struct Count {
  size_t read = 0, embedded_c = 0;
};

Count read_all(const std::string& root) {
  Count count;
  Reader reader;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    std::string name = entry.path().stem();
    // A form with gaps to fill in, and a script that pastes a point and a number.
    bool apart = name.ends_with("-template") || name == "watchdog";
    if (entry.path().extension() != ".stp" || apart) continue;
    std::string text = text_of(entry.path());
    Reading once = reader.read(entry.path(), text);
    if (once.code == "DJ1024") {
      ++count.embedded_c;
      continue;
    }
    if (once.code == "DJ1010") continue;  // everything in it is for another machine
    ++count.read;
    EXPECT_EQ(once.code, "") << once.shown;
    if (once.code.empty()) {
      EXPECT_EQ(reader.read("printed", once.canonical).canonical, once.canonical) << entry.path();
      Sources sources;
      Diags diags;
      std::string tidied = tidy(sources, sources.add("tidy", text), diags);
      EXPECT_EQ(reader.read("tidied", tidied).canonical, once.canonical) << entry.path();
    }
  }
  return count;
}

}  // namespace

TEST(SystemTap, AllExamplesAreRead) {
  if (!fs::exists("/usr/share/systemtap/examples")) GTEST_SKIP() << "no package systemtap-doc";
  Count count = read_all("/usr/share/systemtap/examples");
  EXPECT_GT(count.read, 150u);
  std::printf("%zu read, %zu with embedded C\n", count.read, count.embedded_c);
}

TEST(SystemTap, AllTapsetsAreRead) {
  if (!fs::exists(kTapsets)) GTEST_SKIP() << "no package systemtap-common";
  Count count = read_all(kTapsets);
  EXPECT_GT(count.read, 300u);
  std::printf("%zu read, %zu with embedded C\n", count.read, count.embedded_c);
}

}  // namespace dj
