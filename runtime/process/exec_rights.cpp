// SPDX-License-Identifier: Apache-2.0
// The rules of the kernel's cap_bprm_creds_from_file(), by what /proc and the file tell.
#include "runtime/process/exec_rights.h"

#include <endian.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>

#include "runtime/process/seen_file.h"

namespace dj {
namespace {

class SeenFile {
 public:
  explicit SeenFile(int fd) : fd_(fd) {}
  SeenFile(const SeenFile&) = delete;
  ~SeenFile() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

// Who executes: fields of /proc/TID/status.
struct Executing {
  uid_t uid = 0, euid = 0;
  gid_t gid = 0, egid = 0;
  uint64_t inheritable = 0, permitted = 0, effective = 0, bounding = 0;
  bool no_new_privs = false, is_known = false;
};

Executing executing(const std::string& process) {
  Executing found;
  std::ifstream status(process + "/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "Uid:") words >> found.uid >> found.euid;
    if (key == "Gid:") words >> found.gid >> found.egid;
    if (key == "CapInh:") words >> std::hex >> found.inheritable;
    if (key == "CapPrm:") words >> std::hex >> found.permitted;
    if (key == "CapEff:") words >> std::hex >> found.effective;
    if (key == "CapBnd:") found.is_known = static_cast<bool>(words >> std::hex >> found.bounding);
    if (key == "NoNewPrivs:") words >> found.no_new_privs;
  }
  return found;
}

bool has(uint64_t capabilities, int one) { return (capabilities >> one & 1) != 0; }

// Whether the user namespace of a process is djtap's own, or one below.
bool is_in_own_user_space(const std::string& process) {
  struct stat own = {}, theirs = {};
  if (stat("/proc/self/ns/user", &own) != 0) return false;
  int fd = open((process + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC);
  bool found = false;
  while (fd >= 0 && !found && fstat(fd, &theirs) == 0) {
    found = own.st_dev == theirs.st_dev && own.st_ino == theirs.st_ino;
    const int parent = found ? -1 : ioctl(fd, NS_GET_PARENT);  // fails above djtap's
    close(fd);
    fd = parent;
  }
  return found;
}

// capget(2); 0: the kernel does not tell.
uint64_t own_effective() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data = {};
  if (syscall(SYS_capget, &header, data.data()) != 0) return 0;
  return data[0].effective | uint64_t{data[1].effective} << 32;
}

// A tracer with this right takes nothing from its tracees.
bool may_trace_all(const std::string& process) {
  return has(own_effective(), CAP_SYS_PTRACE) && is_in_own_user_space(process);
}

// The name of a script's interpreter; empty: the file is no script, or cannot be read.
std::string script_interpreter(const SeenFile& file) {
  std::array<char, 256> text = {};
  const SeenFile readable(open(file.path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const ssize_t got = readable.ok() ? read(readable.get(), text.data(), text.size()) : 0;
  if (got < 3 || text[0] != '#' || text[1] != '!') return "";
  std::istringstream line(std::string(text.data() + 2, static_cast<size_t>(got) - 2));
  std::string first, name;
  std::getline(line, first);
  std::istringstream(first) >> name;
  return name;
}

// The file whose rights the program gets: of a script the last interpreter.
int executed_file(pid_t tid, const std::string& path, int folder) {
  constexpr int kMostInterpreters = 5;
  int fd = open_seen(tid, path, O_PATH, folder);
  for (int depth = 0; fd >= 0 && depth < kMostInterpreters; ++depth) {
    struct stat info = {};
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) break;
    const SeenFile file(dup(fd));
    const std::string name = file.ok() ? script_interpreter(file) : "";
    if (name.empty()) break;
    close(fd);
    fd = open_seen(tid, name, O_PATH);
  }
  return fd;
}

// What the file's capabilities make of those of the thread; empty: it has none.
std::optional<uint64_t> by_capabilities(const SeenFile& file, const Executing& who) {
  vfs_ns_cap_data data = {};
  const ssize_t got = getxattr(file.path().c_str(), "security.capability", &data, sizeof data);
  if (got < static_cast<ssize_t>(XATTR_CAPS_SZ_1)) return std::nullopt;
  uint64_t permitted = le32toh(data.data[0].permitted);
  uint64_t inheritable = le32toh(data.data[0].inheritable);
  if (got >= static_cast<ssize_t>(XATTR_CAPS_SZ_2)) {
    permitted |= uint64_t{le32toh(data.data[1].permitted)} << 32;
    inheritable |= uint64_t{le32toh(data.data[1].inheritable)} << 32;
  }
  return (permitted & who.bounding) | (inheritable & who.inheritable);
}

// Bits of a file that the kernel heeds.
struct FileRights {
  bool user = false, group = false;
  uid_t uid = 0;
  gid_t gid = 0;
  std::optional<uint64_t> capabilities;
};

FileRights rights_of_file(const SeenFile& file, const Executing& who) {
  struct stat info = {};
  struct statvfs mount = {};
  FileRights rights;
  if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return rights;
  if (fstatvfs(file.get(), &mount) == 0 && (mount.f_flag & ST_NOSUID) != 0) return rights;
  rights.user = (info.st_mode & S_ISUID) != 0;
  rights.group = (info.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
  rights.uid = info.st_uid;
  rights.gid = info.st_gid;
  rights.capabilities = by_capabilities(file, who);
  return rights;
}

}  // namespace

std::string lost_by_tracing(pid_t tid, const std::string& path, int folder) {
  const std::string process = "/proc/" + std::to_string(tid);
  if (may_trace_all(process)) return "";
  const Executing who = executing(process);
  if (!who.is_known || who.no_new_privs) return "";
  const SeenFile file(executed_file(tid, path, folder));
  if (!file.ok()) return "";
  const FileRights rights = rights_of_file(file, who);
  const uid_t euid = rights.user ? rights.uid : who.euid;
  const gid_t egid = rights.group ? rights.gid : who.egid;
  if (!has(who.effective, CAP_SETUID)) {  // it may take any ids itself
    if (euid != who.uid) return rights.user ? "the setuid bit" : "the user id";
    if (egid != who.gid) return rights.group ? "the setgid bit" : "the group id";
  }
  if ((rights.capabilities.value_or(0) & ~who.permitted) != 0) return "file capabilities";
  const bool is_root = euid == 0 || who.uid == 0;
  const uint64_t of_root = who.inheritable | who.bounding;
  return is_root && (of_root & ~who.permitted) != 0 ? "the capabilities of root" : "";
}

}  // namespace dj
