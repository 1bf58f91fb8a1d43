// SPDX-License-Identifier: Apache-2.0
// A file is opened in two steps: O_PATH, which has no effect on whatever is there, then, if that is
// a regular file, the same inode by /proc. O_NONBLOCK keeps the second step from waiting for the
// holder of a lease.
#include "compiler/base/target_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "compiler/base/found_name.h"
#include "compiler/base/mapped_bytes.h"
#include "compiler/base/written_file.h"

namespace dj {
namespace {

constexpr uint64_t kMostCopied = uint64_t{2} << 30;  // bytes of all copies in one run
constexpr int kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;

// A file system of a program can give any owner, and take bytes back.
bool is_of_a_program(int fd) {
  constexpr long kFuse = 0x65735546;
  struct statfs info = {};
  return fstatfs(fd, &info) != 0 || info.f_type == kFuse;
}

std::atomic<bool> trusts_own_user = true;

bool is_stable(int fd, const struct stat& info) {
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals >= 0 && (seals & kSeals) == kSeals) return true;
  const bool ours = info.st_uid == 0 || (trusts_own_user && info.st_uid == geteuid());
  return ours && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0 && !is_of_a_program(fd);
}

// A sealed copy of the first `size` bytes; -1: it cannot be made.
int sealed_copy(int from, uint64_t size) {
  static std::atomic<uint64_t> copied = 0;
  if (copied + size > kMostCopied) return -1;
  copied += size;
  const int to = memfd_create("djtap copy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  off_t at = 0;
  while (to >= 0 && static_cast<uint64_t>(at) < size &&
         sendfile(to, from, &at, size - static_cast<uint64_t>(at)) > 0) {
  }
  if (to >= 0 && static_cast<uint64_t>(at) == size && fcntl(to, F_ADD_SEALS, kSeals) == 0) {
    return to;
  }
  if (to >= 0) close(to);
  return -1;
}

// Descriptors are held for the whole session: a target may have more objects than the soft limit.
// Whether djtap has enough others left beside `fd`; the kernel gives the lowest number that is
// free.
bool leaves_others(int fd) {
  constexpr rlim_t kOthers = 256;
  const auto is_within = [&](rlim_t limit) {
    return static_cast<rlim_t>(fd) + std::min(kOthers, limit / 4) < limit;
  };
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || is_within(limit.rlim_cur)) return true;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  return is_within(limit.rlim_cur);
}

// Closes a descriptor that leaves too few others; -1 then.
int keep_if_others_are_left(int fd) {
  if (fd < 0 || leaves_others(fd)) return fd;
  close(fd);
  errno = EMFILE;
  return -1;
}

// Registry: what each name means.
struct Registry {
  std::mutex mutex;
  std::map<std::string, TargetFilePtr> given, found;                        // by name
  std::map<std::tuple<std::string, uint64_t, uint64_t>, std::string> held;  // path, device, inode
  std::optional<FileReader> reader;
};

Registry& registry() {
  static Registry all;
  return all;
}

Error cannot_open(const std::string& path) {
  const Fail kind = errno == EACCES || errno == EPERM ? Fail::Permission
                    : errno == ENOENT                 ? Fail::NotFound
                                                      : Fail::Other;
  const char* why = errno == EISDIR  ? "it is a folder"
                    : errno == ENXIO ? "it is a device, pipe or socket"
                                     : std::strerror(errno);
  return Error{fmt::format("cannot open {}: {}", path, why), kind};
}

// With `names` locked.
template <typename Open>
Result<TargetFilePtr> of_name(std::map<std::string, TargetFilePtr>& names, const std::string& path,
                              const Open& open_file) {
  TargetFilePtr& file = names[path];
  if (file == nullptr) {
    const int fd = keep_if_others_are_left(open_file());
    if (fd < 0) {
      const Error error = cannot_open(path);
      names.erase(path);
      return error;
    }
    file = std::make_shared<TargetFile>(fd);
  }
  return file;
}

}  // namespace

// Content: the bytes, where they are mapped; `copy` is the sealed file that holds them, or -1.
struct TargetFile::Content {
  int copy;
  MappedBytes mapped;
  ~Content() {
    if (copy >= 0) close(copy);
  }
};

FileVersion version_in(const struct stat& info) {
  return {info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size), info.st_mtim.tv_sec,
          info.st_mtim.tv_nsec};
}

TargetFile::TargetFile(int fd) : fd_(fd) {
  struct stat info = {};
  fstat(fd, &info);
  version_ = version_in(info);
  is_stable_ = is_stable(fd, info);
}

TargetFile::~TargetFile() { close(fd_); }

FileVersion TargetFile::version_now() const {
  struct stat info = {};
  fstat(fd_, &info);
  return version_in(info);
}

std::string TargetFile::times() const {
  struct stat info = {};
  fstat(fd_, &info);
  return fmt::format("{} {} {}.{:09} {}.{:09}", info.st_size, info.st_ino, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
}

const TargetFile::Content& TargetFile::content() const {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (content_ == nullptr) {
    const int copy = is_stable_ ? -1 : sealed_copy(fd_, version_.bytes);
    const size_t size = is_stable_ || copy >= 0 ? version_.bytes : 0;
    content_.reset(new Content{copy, MappedBytes(copy >= 0 ? copy : fd_, size)});
  }
  return *content_;
}

std::span<const uint8_t> TargetFile::bytes() const { return content().mapped.bytes(); }

bool TargetFile::read(void* to, size_t count, uint64_t offset) const {
  return pread(fd_, to, count, static_cast<off_t>(offset)) == static_cast<ssize_t>(count);
}

int TargetFile::duplicate() const {
  const Content& content = this->content();
  if (content.mapped.bytes().empty()) return -1;
  return fcntl(content.copy >= 0 ? content.copy : fd_, F_DUPFD_CLOEXEC, 0);
}

int reopen_regular(int path_fd) {
  struct stat info = {};
  int fd = -1;
  if (path_fd < 0 || fstat(path_fd, &info) != 0) return -1;
  if (S_ISREG(info.st_mode)) {
    const std::string self = fmt::format("/proc/self/fd/{}", path_fd);
    fd = open(self.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  } else {
    errno = S_ISDIR(info.st_mode) ? EISDIR : S_ISLNK(info.st_mode) ? ELOOP : ENXIO;
  }
  const int why = errno;
  close(path_fd);
  errno = why;
  return fd;
}

int open_regular(const std::string& path) {
  return reopen_regular(open(path.c_str(), O_PATH | O_CLOEXEC));
}

Result<TargetFilePtr> open_target_file(const std::string& path) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return of_name(all.given, path, [&] { return open_regular(path); });
}

Result<TargetFilePtr> open_found_file(const std::string& path) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return of_name(all.found, path, [&] { return open_found_name(path, all.reader); });
}

int open_written_file(const std::string& root, const std::string& path) {
  return open_unlinked_name(root, path, found_names_reader());
}

std::string hold_target_file(int fd, const std::string& path) {
  if (keep_if_others_are_left(fd) < 0) return "";
  const auto file = std::make_shared<TargetFile>(fd);
  const FileVersion& version = file->version();
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  TargetFilePtr& known = all.given[path];
  std::string name = path;
  if (known == nullptr) {
    known = file;
  } else if (known->version() != version) {
    name = fmt::format("/proc/{}/fd/{}", getpid(), fd);
    all.given[name] = file;
  }
  return all.held[{path, version.device, version.inode}] = name;
}

std::string held_target_file(const std::string& path, uint64_t device, uint64_t inode) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.held.find({path, device, inode});
  if (found == all.held.end()) return "";
  const TargetFile& file = *all.given.at(found->second);
  return file.version_now() == file.version() ? found->second : "";
}

void forget_target_files() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.given.clear();
  all.found.clear();
  all.held.clear();
}

std::optional<FileVersion> version_of(const std::string& path) {
  {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    const auto known = all.given.find(path);
    if (known != all.given.end()) return known->second->version_now();
  }
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  return version_in(info);
}

int sealed_file(std::span<const uint8_t> bytes) {
  const int fd = memfd_create("djtap image", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  const auto size = static_cast<ssize_t>(bytes.size());
  if (fd >= 0 && write(fd, bytes.data(), bytes.size()) == size &&
      fcntl(fd, F_ADD_SEALS, kSeals) == 0) {
    return fd;
  }
  if (fd >= 0) close(fd);
  return -1;
}

void read_found_names_as(std::optional<FileReader> reader) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.reader = std::move(reader);
  all.found.clear();
}

std::optional<FileReader> found_names_reader() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return all.reader;
}

void distrust_own_users_files() { trusts_own_user = false; }

}  // namespace dj
