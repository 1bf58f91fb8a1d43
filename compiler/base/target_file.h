// SPDX-License-Identifier: Apache-2.0
// TargetFile is one file of a traced program (its objects, their debug files, its source), opened
// once for the whole session. A name that was opened once means the same file until
// forget_target_files(), also when another file gets the name meanwhile.
//
// What the file's owner does harms no reader: only regular files are opened, and opening one never
// waits. The bytes that bytes() gives are mapped where only root or djtap's user may write the
// file, and are a sealed copy where others may. Whatever happens to the file, no reader meets
// SIGBUS; a copy never changes.
#pragma once
#include <sys/stat.h>
#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/result.h"

namespace dj {

// FileVersion: tells a file from another one that has, or will have, its name. Who holds one open
// or mapped keeps its inode from being used again.
struct FileVersion {
  uint64_t device = 0, inode = 0, bytes = 0;
  int64_t changed_s = 0, changed_ns = 0;  // its content: st_mtim
  auto operator<=>(const FileVersion&) const = default;
};
// Of the file that fstat() or stat() has told of.
FileVersion version_in(const struct stat& info);

class TargetFile {
 public:
  // Takes over an open descriptor of a regular file.
  explicit TargetFile(int fd);
  ~TargetFile();
  TargetFile(const TargetFile&) = delete;
  TargetFile& operator=(const TargetFile&) = delete;

  const FileVersion& version() const { return version_; }  // when it was opened
  FileVersion version_now() const;
  // Build-ids and names of caches: size, inode, times of change.
  std::string times() const;
  // The whole file; empty: it is empty, or others may write it and it is too large to be copied.
  std::span<const uint8_t> bytes() const;
  // Reads exactly so many bytes at an offset; false: the file has not as many.
  bool read(void* to, size_t count, uint64_t offset) const;
  // A descriptor of what bytes() gives, for a library that wants one; the caller closes it. -1:
  // there is none.
  int duplicate() const;

 private:
  struct Content;
  const Content& content() const;

  int fd_;
  FileVersion version_;
  bool is_stable_;  // only root and djtap's user may write it
  mutable std::unique_ptr<Content> content_;
};

using TargetFilePtr = std::shared_ptr<const TargetFile>;

// The file of a name that djtap's user gave, or that djtap knows of the target's mappings. Fails
// with NotFound or Permission as open() does, and with Other for what is no regular file. Any
// thread may call it.
Result<TargetFilePtr> open_target_file(const std::string& path);
// The same for a name that a file of the target holds (a debug file's, a source file's): opened as
// read_found_names_as() says.
Result<TargetFilePtr> open_found_file(const std::string& path);
// Opens a regular file without waiting, and for nothing but reading; -1: errno says why. Fifos,
// devices, sockets and folders are refused without being opened.
int open_regular(const std::string& path);
// Takes over `fd`, a regular file that the caller has opened by `path` and has found to be the one
// that it wants. Gives the name by which open_target_file() finds it from now on: `path`, or, where
// that means another file already, one of djtap's own descriptors; empty: djtap holds as many files
// as its limit of descriptors lets it (RLIMIT_NOFILE, less some that are left for others).
std::string hold_target_file(int fd, const std::string& path);
// The name of a file that is held already, by its device and inode; empty: none of these, or its
// content has changed since.
std::string held_target_file(const std::string& path, uint64_t device, uint64_t inode);
// Lets all names mean what they mean now. Call it before another session begins; files in use stay.
void forget_target_files();

// The version of a file now, of one that is held even when its name is another's. Nothing: there is
// no such file.
std::optional<FileVersion> version_of(const std::string& path);

// Seals bytes into a file of their own, in memory; -1: errno says why.
int sealed_file(std::span<const uint8_t> bytes);

// FileReader: whose rights and whose root the names have that are found in a target's files.
struct FileReader {
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
  std::string root;  // names begin there (/proc/PID/root); empty: as djtap's
};
// From now on what djtap's user may write counts as written by others: djtap has become the
// target's user.
void distrust_own_users_files();
// From now on open_found_file() opens what this reader may read. For a djtap that has more rights
// than its target. Nothing: what djtap itself may read.
void read_found_names_as(std::optional<FileReader> reader);

}  // namespace dj
