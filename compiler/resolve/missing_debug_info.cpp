// SPDX-License-Identifier: Apache-2.0
// Names the package by dpkg's lists, and the server by the distribution. A file that is not what
// the package has installed is told from it by its sum: the package's debug information would not
// fit.
#include "compiler/resolve/missing_debug_info.h"

#include <fmt/format.h>
#include <md5.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "compiler/base/found_files.h"
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

// The name means another file by now.
bool is_replaced(const ObjectFile& elf) {
  struct stat now = {};
  if (stat(elf.path().c_str(), &now) != 0) return true;
  const FileVersion& then = elf.file().version();
  return now.st_dev != then.device || now.st_ino != then.inode;
}

// By libmd, with which dpkg makes its lists.
std::string md5(std::span<const uint8_t> bytes) {
  char text[MD5_DIGEST_STRING_LENGTH];
  return MD5Data(bytes.data(), bytes.size(), text);
}

std::string with_package(const ObjectFile& elf, const DebugPackage& package) {
  const std::string archive = package.name.ends_with("-dbgsym") ? " (archive debian-debug)" : "";
  const bool is_owners = package.sum.empty() || md5(elf.all()) == package.sum;
  if (!is_owners && is_replaced(elf))
    return fmt::format(
        "{}{}: {} has another file of that name by now; start the program anew, which {}{} fits",
        kSign, elf.path(), package.owner, package.name, archive);
  if (!is_owners)
    return fmt::format(
        "{}{}: it is not the file that {} has installed, so {} does not fit; compile it with -g",
        kSign, elf.path(), package.owner, package.name);
  if (package.is_installed)
    return fmt::format(
        "{}{} comes with a version of the package {} that fits; the installed one does not", kSign,
        elf.path(), package.name);
  return fmt::format("{}{} comes with the package {}{}", kSign, elf.path(), package.name, archive);
}

}  // namespace

std::string where_to_get_debug_info(const Module& object, const Diags& told) {
  if (std::any_of(told.all().begin(), told.all().end(), says_where)) return "";
  const std::optional<DebugPackage> package = debug_package_of(name_in_targets_root(object.path()));
  if (!package) return "";
  std::string text = with_package(object.elf(), *package);
  const char* servers = std::getenv(kServers);
  if (servers == nullptr || *servers == 0)
    text += fmt::format(", or from a server: {}={}", kServers, server_of_distribution());
  return text;
}

void help_to_debug_info(Diags& diags, Module* object) {
  const std::string unreadable = object != nullptr ? object->why_unreadable() : "";
  const std::string where =
      object != nullptr && unreadable.empty() ? where_to_get_debug_info(*object, diags) : "";
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
