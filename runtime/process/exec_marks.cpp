// SPDX-License-Identifier: Apache-2.0
// fanotify_mark(2) on inodes and on file systems.
#include "runtime/process/exec_marks.h"

#include <fcntl.h>
#include <sys/fanotify.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "runtime/process/mount_list.h"
#include "runtime/process/os_error.h"

namespace dj {
namespace {

// The kernel's own, which hold no programs.
constexpr std::string_view kNoPrograms[] = {
    "binfmt_misc", "bpf",    "cgroup", "cgroup2", "configfs",   "debugfs",   "devpts", "efivarfs",
    "fusectl",     "mqueue", "proc",   "pstore",  "securityfs", "selinuxfs", "sysfs",  "tracefs",
};
// Begins of the types whose files another machine, or a process, has.
constexpr std::string_view kRemote[] = {"afs",  "autofs", "ceph", "cifs", "fuse",
                                        "gfs2", "nfs",    "ocfs", "smb"};

bool can_have_programs(const Mount& mount) {
  return std::ranges::find(kNoPrograms, mount.type) == std::end(kNoPrograms) &&
         !has_word(mount.options, "noexec");
}

bool is_remote(const Mount& mount) {
  return std::ranges::any_of(kRemote,
                             [&](std::string_view begin) { return mount.type.starts_with(begin); });
}

}  // namespace

ExecMarks::~ExecMarks() {
  if (group_ >= 0) close(group_);
  if (mounts_ >= 0) close(mounts_);
}

Status ExecMarks::open() {
  constexpr unsigned kHow =
      FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK | FAN_REPORT_TID | FAN_UNLIMITED_QUEUE;
  group_ = fanotify_init(kHow, O_RDONLY | O_CLOEXEC | O_LARGEFILE);
  return group_ >= 0 ? ok_status() : os_error("cannot watch who executes files");
}

Status ExecMarks::mark(MarkedFile& file) {
  file.marked = file_number(file.path);
  if (fanotify_mark(group_, FAN_MARK_ADD, file.event, AT_FDCWD, file.path.c_str()) == 0)
    return ok_status();
  return os_error("cannot watch who uses " + file.path);
}

Status ExecMarks::add_file(const std::string& path, uint64_t event) {
  const auto is_it = [&](const MarkedFile& known) {
    return known.path == path && known.event == event;
  };
  if (std::ranges::any_of(files_, is_it)) return ok_status();
  files_.push_back({path, event});
  return mark(files_.back());
}

std::vector<std::string> ExecMarks::add_file_systems() {
  has_file_systems_ = true;
  mounts_ = ::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  return mark_file_systems();
}

std::vector<std::string> ExecMarks::mark_file_systems() {
  std::vector<std::string> left_out;
  for (const Mount& mount : mount_list()) {
    if (!can_have_programs(mount) || !marked_.insert(mount.device).second) continue;
    if (is_remote(mount) || fanotify_mark(group_, FAN_MARK_ADD | FAN_MARK_FILESYSTEM,
                                          FAN_OPEN_EXEC_PERM, AT_FDCWD, mount.place.c_str()) != 0)
      left_out.push_back(mount.place);
  }
  return left_out;
}

// A package's upgrade puts another file at the path.
void ExecMarks::mark_replaced() {
  for (MarkedFile& file : files_) {
    const std::optional<FileNumber> now = file_number(file.path);
    if (now && now != file.marked) static_cast<void>(mark(file));
  }
}

void ExecMarks::mark_mounted() {
  if (has_file_systems_) mark_file_systems();
}

void ExecMarks::flush() {
  for (MarkedFile& file : files_) file.marked.reset();
  marked_.clear();
  fanotify_mark(group_, FAN_MARK_FLUSH, 0, AT_FDCWD, nullptr);
  fanotify_mark(group_, FAN_MARK_FLUSH | FAN_MARK_FILESYSTEM, 0, AT_FDCWD, nullptr);
}

}  // namespace dj
