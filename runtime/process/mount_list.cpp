// SPDX-License-Identifier: Apache-2.0
// /proc/self/mountinfo, line by line.
#include "runtime/process/mount_list.h"

#include <fstream>
#include <sstream>
#include <utility>

namespace dj {
namespace {

// The kernel writes a space as "\040", and so a tab, a line feed and a backslash.
std::string unescaped(const std::string& text) {
  constexpr size_t kDigits = 3;
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + kDigits < text.size();
    plain +=
        is_escape ? static_cast<char>(std::stoi(text.substr(i + 1, kDigits), nullptr, 8)) : text[i];
    if (is_escape) i += kDigits;
  }
  return plain;
}

}  // namespace

bool has_word(std::string_view list, std::string_view word) {
  for (size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || list[at - 1] == ',') && (end == list.size() || list[end] == ',')) return true;
  }
  return false;
}

std::optional<Mount> parse_mount(const std::string& line) {
  const size_t dash = line.find(" - ");
  if (dash == std::string::npos) return std::nullopt;
  std::istringstream head(line), tail(line.substr(dash + 3));
  Mount mount;
  std::string number, parent, source;
  head >> number >> parent >> mount.device >> mount.root >> mount.place >> mount.options;
  tail >> mount.type >> source >> mount.super_options;
  mount.root = unescaped(mount.root);
  mount.place = unescaped(mount.place);
  return mount;
}

std::vector<Mount> mount_list() {
  std::vector<Mount> mounts;
  std::ifstream file("/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    if (std::optional<Mount> mount = parse_mount(line)) mounts.push_back(std::move(*mount));
  }
  return mounts;
}

}  // namespace dj
