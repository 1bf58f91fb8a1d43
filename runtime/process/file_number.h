// SPDX-License-Identifier: Apache-2.0
// FileNumber tells a file by what it is, not by its name: device and inode. A path means another
// file in a container, or when the file has been replaced.
#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace dj {

using FileNumber = std::pair<uint64_t, uint64_t>;

// Returns the number of the file that `path` leads to; empty: there is none that djtap may see.
inline std::optional<FileNumber> file_number(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return FileNumber{info.st_dev, info.st_ino};
}

}  // namespace dj
