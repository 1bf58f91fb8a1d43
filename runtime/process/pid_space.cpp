// The NS lines of /proc/PID/status, and /proc/PID/ns/pid.
#include "runtime/process/pid_space.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace dj {
namespace {

namespace fs = std::filesystem;

// Of "NSpid:\t4711\t1" the last: from outermost to innermost.
pid_t innermost(const std::string& line) {
  return atoi(line.c_str() + line.find_last_of(" \t") + 1);
}

fs::path space_of(pid_t pid) {
  std::error_code error;
  return fs::read_symlink("/proc/" + std::to_string(pid) + "/ns/pid", error);
}

pid_t own_number(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("NSpid:")) return innermost(line);
  }
  return 0;
}

}  // namespace

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
  if (own.pid == pid) {
    own.ppid = parent;
  } else if (space_of(parent) == space_of(pid)) {
    own.ppid = own_number(parent);
  }
  return own;
}

pid_t number_seen(pid_t own, pid_t kin) {
  if (own_number(kin) == kin) return own;
  const fs::path space = space_of(kin);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const pid_t pid = atoi(entry.path().filename().c_str());
    if (pid > 0 && own_number(pid) == own && space_of(pid) == space) return pid;
  }
  return 0;
}

}  // namespace dj
