// SPDX-License-Identifier: Apache-2.0
// Reads what open_targets_name() opens: what the target's root has not is not there.
#include "compiler/base/found_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "compiler/base/found_name.h"
#include "compiler/base/target_file.h"

namespace dj {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr size_t kMostNames = 100'000;

struct RootName {
  std::mutex mutex;
  std::string text;
};

RootName& root_name() {
  static RootName name;
  return name;
}

}  // namespace

void set_targets_root_name(std::string root) {
  const std::lock_guard lock(root_name().mutex);
  root_name().text = root == "/" ? "" : std::move(root);
}

std::string name_in_targets_root(const std::string& path) {
  const std::lock_guard lock(root_name().mutex);
  const std::string& root = root_name().text;
  return !root.empty() && path.starts_with(root + "/") ? path.substr(root.size()) : path;
}

std::string read_found_file(const std::string& path) {
  const int fd = open_targets_name(path, found_names_reader());
  if (fd < 0) return "";
  const std::unique_ptr<const int, void (*)(const int*)> closer(&fd,
                                                                [](const int* f) { close(*f); });
  struct stat info = {};
  if (fstat(fd, &info) != 0 || static_cast<uint64_t>(info.st_size) > kMostBytes) return "";
  std::string text(static_cast<size_t>(info.st_size), '\0');
  size_t size = 0;
  for (ssize_t got;
       size < text.size() && (got = read(fd, text.data() + size, text.size() - size)) > 0;)
    size += static_cast<size_t>(got);
  text.resize(size);
  return text;
}

std::vector<std::string> names_in_found_folder(const std::string& path) {
  const int fd = open_found_folder(path, found_names_reader());
  DIR* folder = fd >= 0 ? fdopendir(fd) : nullptr;
  if (folder == nullptr) {
    if (fd >= 0) close(fd);
    return {};
  }
  std::vector<std::string> names;
  while (const dirent* entry = names.size() < kMostNames ? readdir(folder) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(folder);
  return names;
}

std::optional<FolderId> found_folder_id(const std::string& path) {
  const int fd = open_found_folder(path, found_names_reader());
  struct stat info = {};
  const bool is_there = fd >= 0 && fstat(fd, &info) == 0;
  if (fd >= 0) close(fd);
  return is_there ? std::optional(FolderId{info.st_dev, info.st_ino}) : std::nullopt;
}

}  // namespace dj
