// SPDX-License-Identifier: Apache-2.0
// FileCache: what djtap computes and keeps on disk between sessions: files in $XDG_CACHE_HOME/djtap
// or ~/.cache/djtap. When they are more than kMostKept or kMostFiles, those go that were not used
// for longest.
//
// A file counts only if djtap's user alone can have written it (own_folder.h), if it is whole
// (checksum), and if it was written for the very key that it is asked for; any other is as good as
// none, and is replaced. A key says all that the content depends on, djtap's own build-id first.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "runtime/patch/own_folder.h"

namespace dj {

// The content of a file, where it is mapped.
struct CachedBytes {
  std::span<const char> bytes;
  std::shared_ptr<const void> mapping;  // `bytes` are there as long as this is
};

class FileCache {
 public:
  // The user's; keeps nothing where there is no such place. `tell` is told what is there and does
  // not count, once each.
  static FileCache of_user(std::function<void(const std::string&)> tell);
  // From now on of_user() keeps things for the djtap that works with the rights of user `uid`: in a
  // folder of that user inside of djtap's own, so that what it writes there means nothing to
  // anybody else. To be called with the own rights.
  static void work_as(uid_t uid, gid_t gid);
  // From now on of_user() keeps nothing.
  static void work_without();
  static FileCache none() { return FileCache("", ""); }
  // In `folder`, for djtap's build `version`. One of them empty: keeps nothing.
  FileCache(std::string folder, std::string version,
            std::function<void(const std::string&)> tell = {});

  // In a folder that is open; takes over `fd`.
  FileCache(std::string path, int fd, std::string version,
            std::function<void(const std::string&)> tell);

  // Where; empty: nowhere.
  const std::string& path() const { return path_; }
  // Why nothing can be kept there; empty: it can. Makes the folder.
  std::string why_not() const;
  bool keeps() const { return !path_.empty() && !version_.empty(); }
  // What save() was given for this name and key. The name is a file's name, without "/".
  std::optional<CachedBytes> load(const std::string& name, const std::string& key) const;
  // Writes a file beside and renames it; trim() is the caller's. Never fails: it is only a cache.
  void save(const std::string& name, const std::string& key, std::span<const char> bytes) const;

  static constexpr uint64_t kMostKept = 256 << 20;  // bytes
  static constexpr size_t kMostFiles = 1000;        // few enough to be looked through each time
  // Removes the files in the folder that were not used for longest, until the others are at most
  // `most_files` with `most` bytes in all.
  void trim(uint64_t most = kMostKept, size_t most_files = kMostFiles) const;

 private:
  std::string full_key(const std::string& key) const { return version_ + "\n" + key; }
  std::string file_name(const std::string& name) const;
  int folder(bool create) const;  // -1: none
  std::optional<CachedBytes> map_own(const std::string& name) const;
  void tell(const std::string& what) const;

  std::string path_, version_;
  std::function<void(const std::string&)> tell_;
  std::shared_ptr<OwnFolder> folder_;
};

// What a file is known by: build-id, size, inode, and times of change; empty: it cannot be read, or
// names no build-id.
std::string file_identity(const std::string& path);
// 16 hexadecimal digits for a key, to make a name of.
std::string short_name(const std::string& key);

}  // namespace dj
