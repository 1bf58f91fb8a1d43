// SPDX-License-Identifier: Apache-2.0
// Puts folder and path together.
#include "compiler/debuginfo/source_path.h"

#include <filesystem>

namespace dj {

bool source_path_matches(std::string_view pattern, std::string_view path, std::string_view folder) {
  if (path_matches(pattern, path)) return true;
  if (!pattern.starts_with('/') || path.starts_with('/') || folder.empty()) return false;
  const std::filesystem::path whole = std::filesystem::path(folder) / path;
  return path_matches(pattern, whole.lexically_normal().string());
}

}  // namespace dj
