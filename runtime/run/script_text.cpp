// SPDX-License-Identifier: Apache-2.0
// What is no script is told apart by its first bytes, as people mix up FILE and -c FILE.
#include "runtime/run/script_text.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace dj {
namespace {

// What the bytes of `path` are, if they are no script; else empty.
std::string mistaken(const std::string& path, const std::string& text) {
  if (text.starts_with("\177ELF"))
    return fmt::format("{0} is a program, not a script; to trace it: djtap -e 'probe ...' -c {0}",
                       path);
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return fmt::format("{0} is UTF-16 text; make it UTF-8: iconv -f UTF-16 -t UTF-8 {0}", path);
  size_t nul = text.find('\0');
  if (nul != std::string::npos)
    return fmt::format("{} is no text: its byte number {} is NUL", path, nul + 1);
  return "";
}

std::string with_plain_line_ends(const std::string& text) {
  std::string out;
  size_t begin = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  for (size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    out += text[i];
  }
  return out;
}

Result<std::string> read_file(const std::string& path) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none))
    return Error{
        fmt::format("{0} is a folder; a script is a file (-I {0} adds a folder of tapsets)", path)};
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{fmt::format("cannot read script {}: {}", path, std::strerror(errno))};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The comment that the script begins with, without its marks; a first line "#!..." is passed over.
std::string first_comment(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#!") && out.empty()) continue;
    size_t mark = line.starts_with("//") ? 2 : line.starts_with("#") ? 1 : 0;
    if (mark == 0) break;
    if (line.size() > mark && line[mark] == ' ') ++mark;
    out += line.substr(mark) + "\n";
  }
  return out;
}

}  // namespace

Result<std::string> read_script(const ScriptChoices& script) {
  if (script.text) return *script.text;
  std::string text;
  if (script.path == "-") {
    std::ostringstream in;
    in << std::cin.rdbuf();
    text = in.str();
  } else {
    DJ_TRY(text, read_file(script.path));
  }
  std::string mistake = mistaken(script.path, text);
  if (!mistake.empty()) return Error{mistake};
  return with_plain_line_ends(text);
}

UsageError no_script(const std::string& path, const Error& why) {
  UsageError wrong{"DJ0006", path, why.message, {}, ""};
  if (path.find_first_of("{(") != std::string::npos)
    wrong.help = "the text of a script goes behind -e: djtap -e 'probe ...'";
  if (path.find_first_not_of("0123456789") == std::string::npos)
    wrong.help = "several processes are one word: -p \"$(pidof NAME)\", or -p NAME";
  return wrong;
}

std::string script_help(const ScriptChoices& script, const std::string& text,
                        const ScriptOptions& script_options) {
  std::string name = script.text ? "-e 'script'" : script.path;
  std::string help = first_comment(text);
  help += fmt::format("{}usage: djtap [options] {} [arguments]\n", help.empty() ? "" : "\n", name);
  std::string own = script_options.help();
  if (!own.empty()) help += "\noptions of the script:\n" + own;
  return help + "\ndjtap's own options: djtap --help\n";
}

}  // namespace dj
