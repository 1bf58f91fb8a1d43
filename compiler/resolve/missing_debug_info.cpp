// SPDX-License-Identifier: Apache-2.0
// Names the package by dpkg's lists, and the server by the distribution.
#include "compiler/resolve/missing_debug_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "compiler/resolve/debug_package.h"

namespace dj {
namespace {

constexpr const char* kServers = "DEBUGINFOD_URLS";
// What only where_to_get_debug_info() says.
constexpr const char* kSign = "debug information of ";

bool says_where(const Diag& diag) {
  const auto has = [](const std::string& text) { return text.starts_with(kSign); };
  return has(diag.help) || std::any_of(diag.notes.begin(), diag.notes.end(), has);
}

}  // namespace

std::string where_to_get_debug_info(const std::string& path, const Diags& told) {
  if (path.empty() || std::any_of(told.all().begin(), told.all().end(), says_where)) return "";
  const std::optional<DebugPackage> package = debug_package_of(path);
  if (!package) return "";
  std::string text = fmt::format("{}{} comes with ", kSign, path);
  text += package->is_installed
              ? fmt::format("a version of the package {} that fits; the installed one does not",
                            package->name)
              : fmt::format("the package {}{}", package->name,
                            package->name.ends_with("-dbgsym") ? " (archive debian-debug)" : "");
  const char* servers = std::getenv(kServers);
  if (servers == nullptr || *servers == 0)
    text += fmt::format(", or from a server: {}={}", kServers, server_of_distribution());
  return text;
}

void help_to_debug_info(Diags& diags, const std::string& path, const std::string& unreadable) {
  const std::string where = unreadable.empty() ? where_to_get_debug_info(path, diags) : "";
  Diag& diag = diags.last();
  diag.help =
      !where.empty() ? where : "compile with -g, or install the package with its debug symbols";
  if (unreadable.empty()) return;
  diag.notes.push_back(unreadable);
  diag.help =
      "pack them with zlib (gcc -gz=zlib), unpack them (objcopy --decompress-debug-sections), or "
      "give djtap an elfutils of 0.189 or later";
}

}  // namespace dj
