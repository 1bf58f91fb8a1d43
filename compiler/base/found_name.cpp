// SPDX-License-Identifier: Apache-2.0
// The rights are those of the file system alone (fsuid, fsgid, groups), and of the calling thread
// alone: system calls, since the C library would change all threads.
#include "compiler/base/found_name.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace dj {
namespace {

// ReaderRights: this thread opens files as another user does, as long as this object lives.
class ReaderRights {
 public:
  explicit ReaderRights(const FileReader& reader) : dumpable_(prctl(PR_GET_DUMPABLE)) {
    const int count = getgroups(0, nullptr);
    groups_.resize(count > 0 ? static_cast<size_t>(count) : 0);
    ok_ = getgroups(count, groups_.data()) == count && set_groups(reader.groups);
    user_ = setfsuid(reader.uid);  // takes CAP_DAC_OVERRIDE away
    group_ = setfsgid(reader.gid);
    ok_ = ok_ && static_cast<uid_t>(setfsuid(reader.uid)) == reader.uid &&
          static_cast<gid_t>(setfsgid(reader.gid)) == reader.gid;
  }
  ~ReaderRights() {
    setfsuid(static_cast<uid_t>(user_));
    setfsgid(static_cast<gid_t>(group_));
    set_groups(groups_);
    prctl(PR_SET_DUMPABLE, dumpable_);  // which a change of rights takes away
  }
  ReaderRights(const ReaderRights&) = delete;
  bool ok() const { return ok_; }

 private:
  static bool set_groups(const std::vector<gid_t>& groups) {
    return syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
  }
  int dumpable_, user_ = 0, group_ = 0;
  std::vector<gid_t> groups_;
  bool ok_ = false;
};

// No link of /proc: those would lead to what djtap has open.
int open_below(int folder, const std::string& path, bool is_root, uint64_t flags = 0) {
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC | flags;
  how.resolve = RESOLVE_NO_MAGICLINKS | (is_root ? RESOLVE_IN_ROOT : 0);
  return static_cast<int>(syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
}

int open_root(const std::string& path) {
  return open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

// Takes over a descriptor of O_PATH.
int reopen_folder(int path_fd) {
  if (path_fd < 0) return -1;
  const int fd = openat(path_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int why = errno;
  close(path_fd);
  errno = why;
  return fd;
}

// Only root takes other rights; another djtap has a reader for the root's sake alone.
bool has_own_rights() { return geteuid() != 0; }

using Reopen = int (*)(int path_fd);

// Takes over `root`, or AT_FDCWD.
int open_as(const FileReader& reader, int root, const std::string& path, uint64_t flags,
            Reopen reopen) {
  int fd = -1, why = EACCES;
  std::optional<ReaderRights> rights;
  if (!has_own_rights()) rights.emplace(reader);
  if (!rights || rights->ok()) {
    fd = reopen(open_below(root, path, root != AT_FDCWD, flags));
    why = errno;
  }
  rights.reset();
  if (root != AT_FDCWD) close(root);
  errno = why;
  return fd;
}

int open_as(const FileReader& reader, const std::string& path, uint64_t flags,
            Reopen reopen = reopen_regular) {
  const int root = reader.root.empty() ? AT_FDCWD : open_root(reader.root);
  return root < 0 && root != AT_FDCWD ? -1 : open_as(reader, root, path, flags, reopen);
}

// Whether djtap's own root may be looked into for what is not in the target's.
bool may_be_of_own_root(const FileReader& reader, const std::string& path) {
  const bool is_by_build_id =
      path.starts_with("/usr/lib/debug/.build-id/") && path.find("..") == std::string::npos;
  return !reader.root.empty() && (has_own_rights() || is_by_build_id);
}

}  // namespace

int open_targets_name(const std::string& path, const std::optional<FileReader>& reader) {
  return reader ? open_as(*reader, path, 0) : open_regular(path);
}

int open_found_name(const std::string& path, const std::optional<FileReader>& reader) {
  const int fd = open_targets_name(path, reader);
  if (fd >= 0 || !reader || !may_be_of_own_root(*reader, path)) return fd;
  return open_as(*reader, AT_FDCWD, path, 0, reopen_regular);
}

int open_found_folder(const std::string& path, const std::optional<FileReader>& reader) {
  constexpr uint64_t kFolder = O_DIRECTORY;
  if (!reader) return reopen_folder(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return open_as(*reader, path, kFolder, reopen_folder);
}

int open_unlinked_name(const std::string& root, const std::string& path,
                       const std::optional<FileReader>& reader) {
  if (reader && !has_own_rights()) return open_as(*reader, path, O_NOFOLLOW);
  const int folder = open_root(root);
  const int fd =
      reopen_regular(open_below(folder >= 0 ? folder : AT_FDCWD, path, folder >= 0, O_NOFOLLOW));
  const int why = errno;
  if (folder >= 0) close(folder);
  errno = why;
  return fd;
}

}  // namespace dj
