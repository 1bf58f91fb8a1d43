// SPDX-License-Identifier: Apache-2.0
// openat() below the folder, whose owner and mode say who else may put names into it.
#include "runtime/process/own_files.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "runtime/process/os_error.h"

namespace dj {
namespace {

constexpr mode_t kMode = 0644;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

// Only the user and root make files there.
bool is_own_folder(const struct stat& folder) {
  return (folder.st_uid == geteuid() || folder.st_uid == 0) &&
         (folder.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// What is at `name` already. It is looked at before it is opened: to open a FIFO waits, a device
// may do anything.
Result<int> open_existing(const Descriptor& folder, const char* name, const std::string& path) {
  const Descriptor there(openat(folder.get(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat info = {};
  if (there.get() < 0 || fstat(there.get(), &info) != 0) return os_error("cannot write " + path);
  const char* why = S_ISLNK(info.st_mode)                         ? "it is a symbolic link"
                    : info.st_uid != geteuid()                    ? "it belongs to another user"
                    : S_ISREG(info.st_mode) && info.st_nlink != 1 ? "it has more than one name"
                                                                  : nullptr;
  if (why != nullptr)
    return Error{"cannot write " + path + ": others may make files in that folder, and " + why,
                 Fail::Permission};
  const int fd = open(there.path().c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (fd < 0) return os_error("cannot write " + path);
  return fd;
}

}  // namespace

Result<int> create_file(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder_name = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const Descriptor folder(open(folder_name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat info = {};
  if (name.empty() || folder.get() < 0 || fstat(folder.get(), &info) != 0 || is_own_folder(info)) {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
    if (fd < 0) return os_error("cannot write " + path);
    return fd;
  }
  const int fd = openat(folder.get(), name.c_str(),
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
  if (fd >= 0) return fd;
  if (errno != EEXIST) return os_error("cannot write " + path);
  return open_existing(folder, name.c_str(), path);
}

Result<int> OwnFiles::next_output() {
  const uint32_t number = made_;
  const auto numbered = [&](uint32_t n) { return paths_.output + "." + std::to_string(n); };
  if (paths_.kept > 0 && number >= paths_.kept) unlink(numbered(number - paths_.kept).c_str());
  DJ_TRY(int fd, create_file(number > 0 || paths_.numbered ? numbered(number) : paths_.output));
  ++made_;
  return fd;
}

Result<int> OwnFiles::open_read(const std::string& path) const {
  const bool named = std::ranges::find(paths_.read, path) != paths_.read.end();
  const int fd = named ? open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return os_error("cannot read " + path, named ? errno : EPERM);
  return fd;
}

Result<int> listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return Error{"the path of the control socket is too long: " + path};
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const mode_t mask = umask(0177);
  const bool bound =
      fd >= 0 && bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int number = errno;
  umask(mask);
  if (bound && ::listen(fd, 8) == 0) return fd;
  if (fd >= 0) close(fd);
  return bound ? os_error("cannot listen on the control socket " + path)
               : os_error("cannot make the control socket " + path, number);
}

}  // namespace dj
