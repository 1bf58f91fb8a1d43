// SPDX-License-Identifier: Apache-2.0
// FileCache keeps on disk what djtap has computed, for later sessions: files in
// $XDG_CACHE_HOME/djtap or ~/.cache/djtap. When they are more than kMostKept bytes or kMostFiles
// files, trim() removes those that no session has used for longest.
//
// load() gives a file back only if djtap's user alone can have written it (own_folder.h), if it is
// whole (checksum), and if save() wrote it for the very key that load() is asked for. Any other
// file counts as absent, and the next save() replaces it. A key says all that the content depends
// on, djtap's own build-id first.
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

// CachedBytes: the content of a file, mapped into djtap.
struct CachedBytes {
  std::span<const char> bytes;
  std::shared_ptr<const void> mapping;  // `bytes` stay mapped as long as this lives
};

class FileCache {
 public:
  // The cache in the user's folder; without such a folder it keeps nothing. `tell` gets a sentence,
  // once, for each file or folder that is there and that djtap does not believe.
  static FileCache of_user(std::function<void(const std::string&)> tell);
  // From now on of_user() keeps files for the djtap that works with the rights of user `uid`. They
  // lie in a folder of that user inside djtap's own, so that what that djtap writes there means
  // nothing to another user. Call it while djtap still has its own rights.
  static void work_as(uid_t uid, gid_t gid);
  // From now on of_user() keeps nothing.
  static void work_without();
  static FileCache none() { return FileCache("", ""); }
  // A cache in `folder`, for djtap's build `version`. If either is empty, it keeps nothing.
  FileCache(std::string folder, std::string version,
            std::function<void(const std::string&)> tell = {});

  // A cache in a folder that the caller has opened. Takes over `fd`.
  FileCache(std::string path, int fd, std::string version,
            std::function<void(const std::string&)> tell);

  // The folder's path; empty: it keeps nothing.
  const std::string& path() const { return path_; }
  // Why it can keep nothing there; empty: it can. Makes the folder.
  std::string why_not() const;
  bool keeps() const { return !path_.empty() && !version_.empty(); }
  // Returns what save() was given for this name and key; empty: there is no such file. The name is
  // a file's name, without "/".
  std::optional<CachedBytes> load(const std::string& name, const std::string& key) const;
  // Writes a temporary file beside, and renames it. The caller calls trim(). It reports no error: a
  // lost file costs time only.
  void save(const std::string& name, const std::string& key, std::span<const char> bytes) const;

  static constexpr uint64_t kMostKept = 256 << 20;  // bytes
  static constexpr size_t kMostFiles = 1000;        // trim() looks through all each time
  // Removes from the folder the files that no session has used for longest, until the others are at
  // most `most_files` files with `most` bytes in all.
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

// Returns what tells a file from others: its build-id, size, inode and times of change. Empty:
// djtap cannot read it, or it names no build-id.
std::string file_identity(const std::string& path);
// Returns 16 hexadecimal digits, the checksum of a key, to make a file's name of.
std::string short_name(const std::string& key);

}  // namespace dj
