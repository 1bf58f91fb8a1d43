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

// Takes over `root`, or AT_FDCWD.
int open_as(const FileReader& reader, int root, const std::string& path, uint64_t flags) {
  int fd = -1, why = EACCES;
  if (const ReaderRights rights(reader); rights.ok()) {
    fd = reopen_regular(open_below(root, path, root != AT_FDCWD, flags));
    why = errno;
  }
  if (root != AT_FDCWD) close(root);
  errno = why;
  return fd;
}

int open_as(const FileReader& reader, const std::string& path, uint64_t flags) {
  const int root = reader.root.empty() ? AT_FDCWD : open_root(reader.root);
  return root < 0 && root != AT_FDCWD ? -1 : open_as(reader, root, path, flags);
}

}  // namespace

int open_found_name(const std::string& path, const std::optional<FileReader>& reader) {
  return reader ? open_as(*reader, path, 0) : open_regular(path);
}

int open_unlinked_name(const std::string& root, const std::string& path,
                       const std::optional<FileReader>& reader) {
  if (reader) return open_as(*reader, path, O_NOFOLLOW);
  const int folder = open_root(root);
  const int fd =
      reopen_regular(open_below(folder >= 0 ? folder : AT_FDCWD, path, folder >= 0, O_NOFOLLOW));
  const int why = errno;
  if (folder >= 0) close(folder);
  errno = why;
  return fd;
}

}  // namespace dj
