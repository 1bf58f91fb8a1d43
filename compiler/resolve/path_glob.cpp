// SPDX-License-Identifier: Apache-2.0
// Walks the folders below the part of the pattern that has no wildcard.
#include "compiler/resolve/path_glob.h"

#include <algorithm>
#include <filesystem>

#include "compiler/base/target_file.h"

namespace dj {

namespace fs = std::filesystem;

namespace {

bool is_elf(const fs::path& path) {
  char magic[4] = {};
  const int fd = open_regular(path);
  if (fd < 0) return false;
  const TargetFile file(fd);  // one of many: not held
  return file.read(magic, sizeof magic, 0) && std::string_view(magic, sizeof magic) == "\177ELF";
}

}  // namespace

bool path_glob(std::string_view pattern, std::string_view path) {
  if (pattern.empty()) {
    return path.empty();
  }
  if (pattern.starts_with("/**/") && path_glob(pattern.substr(3), path)) {
    return true;
  }
  if (!pattern.starts_with('*')) {
    const bool one =
        !path.empty() && (pattern[0] == path[0] || (pattern[0] == '?' && path[0] != '/'));
    return one && path_glob(pattern.substr(1), path.substr(1));
  }
  const bool across = pattern.starts_with("**");
  const std::string_view rest = pattern.substr(across ? 2 : 1);
  const size_t end = across ? path.size() : std::min(path.find('/'), path.size());
  for (size_t skipped = 0; skipped <= end; skipped++) {
    if (path_glob(rest, path.substr(skipped))) {
      return true;
    }
  }
  return false;
}

std::vector<std::string> object_files(const std::string& pattern) {
  const std::string fixed = pattern.substr(0, pattern.find_first_of("*?"));
  const std::string folder = fixed.substr(0, fixed.rfind('/') + 1);
  const auto parts = std::count(pattern.begin() + long(folder.size()), pattern.end(), '/');
  const bool deep = pattern.find("**") != std::string::npos;
  std::vector<std::string> found;
  std::error_code failed;
  fs::recursive_directory_iterator at(folder.empty() ? "." : folder,
                                      fs::directory_options::skip_permission_denied, failed);
  for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
    std::string path = at->path().string();
    if (folder.empty()) {
      path.erase(0, 2);  // "./"
    }
    if (!deep && at.depth() >= parts) {
      at.disable_recursion_pending();
    }
    std::error_code unknown;
    if (path_glob(pattern, path) && at->is_regular_file(unknown) && is_elf(path)) {
      found.push_back(fs::canonical(path, unknown).string());
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace dj
