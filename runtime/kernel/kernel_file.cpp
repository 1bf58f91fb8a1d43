// SPDX-License-Identifier: Apache-2.0
// Tells by errno what keeps djtap from reading a kernel's file.
#include "runtime/kernel/kernel_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace dj {

Error cannot_read(const std::string& path, int number) {
  if (number == EACCES)
    return Error{"only root may read the running kernel (" + path + ")", Fail::Permission};
  // The file's rights allow it: the kernel itself does not.
  if (number == EPERM)
    return Error{"the kernel is locked down and lets not even root read " + path +
                     " (/sys/kernel/security/lockdown)",
                 Fail::Permission};
  if (number == ENOENT) return Error{"this kernel is built without " + path, Fail::NotFound};
  return Error{"cannot read " + path + ": " + strerror(number)};
}

Result<int> open_kernel_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cannot_read(path, errno);
  return fd;
}

// Such files have no size, and give a page or so at a time.
Result<std::vector<char>> read_kernel_file(const std::string& path) {
  DJ_TRY(const int fd, open_kernel_file(path));
  std::vector<char> text, piece(1 << 20);
  ssize_t count = 0;
  do {
    count = ::read(fd, piece.data(), piece.size());
    if (count > 0) text.insert(text.end(), piece.begin(), piece.begin() + count);
  } while (count > 0 || (count < 0 && errno == EINTR));
  const int number = errno;
  ::close(fd);
  if (count < 0) return cannot_read(path, number);
  return text;
}

}  // namespace dj
