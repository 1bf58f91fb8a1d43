// SPDX-License-Identifier: Apache-2.0
// The program of a process is what /proc/PID/exe leads to.
#include "runtime/process/exec_watch.h"

#include <sys/stat.h>

#include "runtime/process/tracer.h"

namespace dj {

ExecWatch::ExecWatch(pid_t pid) : pid_(pid), memory_(pid) {
  struct stat info;
  if (!stat_program(pid_, &info)) return;
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

std::string ExecWatch::poll() {
  struct stat info;
  const bool gone = memory_.is_gone();  // asked first: of a process that has ended there is no link
  std::string path;
  if (reported_ || inode_ == 0 || !stat_program(pid_, &info, &path)) return "";
  if (!gone && info.st_dev == device_ && info.st_ino == inode_) return "";
  reported_ = true;
  return path.empty() ? "another program" : path;
}

}  // namespace dj
