// SPDX-License-Identifier: Apache-2.0
// ExecMarks tells the kernel who must ask before a file is executed or opened: a group of
// fanotify(7) with its marks, on files and on whole file systems. It keeps up with files that are
// replaced and with what is mounted later.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/file_number.h"

namespace dj {

class ExecMarks {
 public:
  ExecMarks() = default;
  ExecMarks(const ExecMarks&) = delete;
  ~ExecMarks();

  // Makes the group, which has no marks yet. Fails with Permission without CAP_SYS_ADMIN, and with
  // Other where the kernel has no such events.
  Status open();
  int group() const { return group_; }
  // Readable (POLLPRI) when something was mounted.
  int mounts() const { return mounts_; }

  // Marks the file at `path`, and what is there later. event: FAN_OPEN_EXEC_PERM or FAN_OPEN_PERM.
  Status add_file(const std::string& path, uint64_t event);
  // Marks all file systems for FAN_OPEN_EXEC_PERM, and what is mounted later. Returns where those
  // are mounted that it leaves out: one of another machine or of a process might never answer.
  std::vector<std::string> add_file_systems();
  // Marks files that stand now at the paths of add_file(). A file that fails to be marked is not
  // watched.
  void mark_replaced();
  // Marks file systems that were mounted since. Call it when mounts() is readable.
  void mark_mounted();
  // Takes all marks out; mark_replaced() and mark_mounted() make them again.
  void flush();

 private:
  struct MarkedFile {
    std::string path;
    uint64_t event;
    std::optional<FileNumber> marked = {};  // empty: mark it at the next look
  };
  Status mark(MarkedFile& file);
  std::vector<std::string> mark_file_systems();
  int group_ = -1, mounts_ = -1;
  std::vector<MarkedFile> files_;
  bool has_file_systems_ = false;
  std::set<std::string> marked_;  // Mount::device
};

}  // namespace dj
