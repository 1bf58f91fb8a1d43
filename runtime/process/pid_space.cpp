// SPDX-License-Identifier: Apache-2.0
// The NS lines of /proc/PID/status, and /proc/PID/ns/pid.
#include "runtime/process/pid_space.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/process/tracer.h"

namespace dj {
namespace {

namespace fs = std::filesystem;

// Of "NSpid:\t4711\t1" the last: from outermost to innermost.
pid_t innermost(const std::string& line) {
  return atoi(line.c_str() + line.find_last_of(" \t") + 1);
}

// Its inode; 0: it may not be looked at.
uint64_t space_of(pid_t pid) {
  struct stat seen = {};
  if (stat(("/proc/" + std::to_string(pid) + "/ns/pid").c_str(), &seen) == 0) return seen.st_ino;
  const int fd = open_process_file(pid, ProcessFile::PidSpace);
  struct stat info = {};
  const bool known = fd >= 0 && fstat(fd, &info) == 0;
  if (fd >= 0) close(fd);
  return known ? info.st_ino : 0;
}

// From outermost to innermost: one for each pid namespace that the process is in.
std::vector<pid_t> numbers_of(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::vector<pid_t> numbers;
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    for (pid_t number; words >> number;) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

// The numbers in djtap's own namespace are those by which it knows the process.
pid_t own_number(pid_t pid) {
  static const uint64_t djtaps = space_of(getpid());
  if (djtaps != 0 && space_of(pid) == djtaps) return pid;
  const std::vector<pid_t> numbers = numbers_of(pid);
  return numbers.empty() ? 0 : numbers.back();
}

OwnNumbers own_numbers(pid_t pid) {
  OwnNumbers own = {pid, 0, getpgid(pid), getsid(pid)};
  pid_t parent = 0;
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("PPid:")) parent = innermost(line);
    if (line.starts_with("NSpid:")) own.pid = innermost(line);
    if (line.starts_with("NSpgid:")) own.pgrp = innermost(line);
    if (line.starts_with("NSsid:")) own.sid = innermost(line);
  }
  // A parent in another pid namespace is in one further out (pid_namespaces(7)).
  const std::vector<pid_t> of_parent = numbers_of(parent);
  if (!of_parent.empty() && of_parent.size() == numbers_of(pid).size()) own.ppid = of_parent.back();
  return own;
}

pid_t number_seen(pid_t own, pid_t processes) {
  if (own_number(processes) == processes) return own;
  const uint64_t space = space_of(processes);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const pid_t pid = atoi(entry.path().filename().c_str());
    if (pid > 0 && own_number(pid) == own && space != 0 && space_of(pid) == space) return pid;
  }
  return 0;
}

}  // namespace dj
