// The program of a process is what /proc/PID/exe leads to.
#include "runtime/process/exec_watch.h"

#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dj {

ExecWatch::ExecWatch(pid_t pid) : pid_(pid), memory_(pid) {
  struct stat info;
  if (stat(fmt::format("/proc/{}/exe", pid_).c_str(), &info) != 0) return;
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

std::string ExecWatch::poll() {
  struct stat info;
  const bool gone = memory_.is_gone();  // asked first: of a process that has ended there is no link
  std::string link = fmt::format("/proc/{}/exe", pid_);
  if (reported_ || inode_ == 0 || stat(link.c_str(), &info) != 0) return "";
  if (!gone && info.st_dev == device_ && info.st_ino == inode_) return "";
  reported_ = true;
  char path[PATH_MAX];
  ssize_t length = readlink(link.c_str(), path, sizeof path);
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : "another program";
}

}  // namespace dj
