// SPDX-License-Identifier: Apache-2.0
// Compares inodes of /proc/PID/fd.
#include "runtime/process/output_readers.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace dj {

// A link of /proc/PID/fd may be read if its descriptor may (proc_pid_fd(5)).
bool reads_pipe(pid_t pid, int fd) {
  struct stat pipe = {}, link = {}, file = {};
  if (fstat(fd, &pipe) != 0 || !S_ISFIFO(pipe.st_mode)) return false;
  std::error_code error;
  const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const char* const name = entry.path().c_str();
    if (lstat(name, &link) != 0 || (link.st_mode & S_IRUSR) == 0) continue;
    if (stat(name, &file) == 0 && file.st_dev == pipe.st_dev && file.st_ino == pipe.st_ino)
      return true;
  }
  return false;
}

bool reads_output(pid_t pid) {
  return reads_pipe(pid, STDOUT_FILENO) || reads_pipe(pid, STDERR_FILENO);
}

}  // namespace dj
