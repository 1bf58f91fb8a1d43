// KeptFiles: what djtap computes and keeps on disk between sessions: files in $XDG_CACHE_HOME/djtap
// or ~/.cache/djtap. When they are more than kMostKept or kMostFiles, those go that were not used
// for longest.
//
// A file counts only if it is ours, whole (checksum), and was written for the very key that it is
// asked for; any other is as good as none, and is replaced. A key says all that the content depends
// on, djtap's own build-id first.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace dj {

// The content of a file, where it is mapped.
struct KeptBytes {
  std::span<const char> bytes;
  std::shared_ptr<const void> mapping;  // `bytes` are there as long as this is
};

class KeptFiles {
 public:
  // The user's; keeps nothing where there is no such place.
  static KeptFiles of_user();
  static KeptFiles none() { return KeptFiles("", ""); }
  // In `folder`, for djtap's build `version`. One of them empty: keeps nothing.
  KeptFiles(std::string folder, std::string version);

  bool keeps() const { return !folder_.empty() && !version_.empty(); }
  // What save() was given for this name and key. The name is a file's name, without "/".
  std::optional<KeptBytes> load(const std::string& name, const std::string& key) const;
  // Writes a file beside and renames it; trim() is the caller's. Never fails: it is only a cache.
  void save(const std::string& name, const std::string& key, std::span<const char> bytes) const;

  static constexpr uint64_t kMostKept = 256 << 20;  // bytes
  static constexpr size_t kMostFiles = 1000;        // few enough to be looked through each time
  // Removes the files in the folder that were not used for longest, until the others are at most
  // `most_files` with `most` bytes in all.
  void trim(uint64_t most = kMostKept, size_t most_files = kMostFiles) const;

 private:
  std::string full_key(const std::string& key) const { return version_ + "\n" + key; }
  std::string path(const std::string& name) const;
  std::string folder_, version_;
};

// What a file is known by: build-id, size, inode, and times of change; empty: it cannot be read, or
// names no build-id.
std::string file_identity(const std::string& path);
// 16 hexadecimal digits for a key, to make a name of.
std::string short_name(const std::string& key);

}  // namespace dj
