// SPDX-License-Identifier: Apache-2.0
// Looks for the path in dpkg's lists, one a package.
#include "compiler/resolve/debug_package.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace dj {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

// The path as a package may call it: /lib, /bin and /sbin have become links to those in /usr.
std::vector<std::string> names_of(const std::string& path) {
  constexpr std::string_view kMerged[] = {"/lib/", "/lib64/", "/bin/", "/sbin/"};
  constexpr std::string_view kUsr = "/usr";
  std::vector<std::string> names = {path};
  const bool is_below = path.starts_with(kUsr);
  const std::string rest = is_below ? path.substr(kUsr.size()) : path;
  for (std::string_view folder : kMerged) {
    if (rest.starts_with(folder)) names.push_back(is_below ? rest : std::string(kUsr) + rest);
  }
  return names;
}

// A list has a path a line.
bool has_line(const std::string& list, const std::string& line) {
  for (size_t at = list.find(line); at != std::string::npos; at = list.find(line, at + 1)) {
    const size_t end = at + line.size();
    if ((at == 0 || list[at - 1] == '\n') && (end == list.size() || list[end] == '\n')) return true;
  }
  return false;
}

// "libc6" of "libc6:amd64.list".
std::string package_of(const fs::path& list) {
  const std::string name = list.stem().string();
  return name.substr(0, name.find(':'));
}

// Packages with debug symbols are made by debhelper, and called *-dbgsym, but for some older ones.
std::string debug_name(const std::string& package) {
  constexpr std::string_view kMinimal = "-minimal", kPython = "python3.";
  if (package == "libc6" || package == "libc6-i386" || package == "libc6-x32") return "libc6-dbg";
  const size_t python = package.find(kPython);
  if (python == std::string::npos) return package + "-dbgsym";
  const size_t end = package.find_first_not_of("0123456789", python + kPython.size());
  const std::string behind = end == std::string::npos ? "" : package.substr(end);
  const bool is_interpreter = behind.empty() || behind == kMinimal || behind == "-stdlib";
  if (package.starts_with(kPython) && is_interpreter) return package.substr(0, end) + "-dbg";
  if (package.starts_with("lib" + std::string(kPython)) && is_interpreter)
    return package.substr(0, end) + "-dbg";
  return package + "-dbgsym";
}

}  // namespace

std::optional<DebugPackage> debug_package_of(const std::string& path, const std::string& folder) {
  std::error_code error;
  std::string package;
  const std::vector<std::string> names = names_of(path);
  std::vector<std::string> installed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".list") continue;
    installed.push_back(package_of(entry.path()));
    if (!package.empty()) continue;
    const std::string list = content_of(entry.path());
    for (const std::string& name : names) {
      if (has_line(list, name)) package = installed.back();
    }
  }
  if (package.empty()) return std::nullopt;
  DebugPackage found = {debug_name(package)};
  for (const std::string& name : installed) found.is_installed |= name == found.name;
  return found;
}

std::string server_of_distribution(const std::string& os_release) {
  constexpr std::pair<std::string_view, std::string_view> kServers[] = {
      {"debian", "https://debuginfod.debian.net"},
      {"ubuntu", "https://debuginfod.ubuntu.com"},
      {"fedora", "https://debuginfod.fedoraproject.org"},
      {"arch", "https://debuginfod.archlinux.org"},
      {"opensuse-tumbleweed", "https://debuginfod.opensuse.org"},
  };
  const std::string text = content_of(os_release);
  for (const auto& [id, url] : kServers) {
    if (has_line(text, "ID=" + std::string(id)) || has_line(text, "ID=\"" + std::string(id) + "\""))
      return std::string(url);
  }
  return "https://debuginfod.elfutils.org";
}

}  // namespace dj
