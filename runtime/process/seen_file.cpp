// SPDX-License-Identifier: Apache-2.0
// openat2() takes each link on the way as the thread would: from the thread's root folder.
#include "runtime/process/seen_file.h"

#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

namespace dj {
namespace {

std::string of_thread(pid_t tid, const std::string& name) {
  return "/proc/" + std::to_string(tid) + "/" + name;
}

int open_plain(const std::string& path, int flags) { return open(path.c_str(), flags | O_CLOEXEC); }

// What a link in the thread's folder of /proc says; empty: djtap may not read it.
std::string link_of(pid_t tid, const std::string& name) {
  std::error_code error;
  return std::filesystem::read_symlink(of_thread(tid, name), error).string();
}

// The path from the thread's root folder; the kernel shows its folders from djtap's.
std::string from_root(pid_t tid, const std::string& path, const std::string& start) {
  if (path.starts_with('/')) return path;
  std::string folder = link_of(tid, start);
  const std::string root = link_of(tid, "root");
  if (root.size() > 1 && folder.starts_with(root)) folder.erase(0, root.size());
  return folder + "/" + path;
}

// Names that lead to what the thread itself has open, and mean djtap where djtap uses them.
std::string own_name(pid_t tid, const std::string& path) {
  static const std::array<std::pair<std::string, std::string>, 3> kOwn = {
      {{"/proc/self/", ""}, {"/proc/thread-self/", ""}, {"/dev/fd/", "fd/"}}};
  for (const auto& [prefix, name] : kOwn) {
    if (path.starts_with(prefix)) return of_thread(tid, name + path.substr(prefix.size()));
  }
  return "";
}

int open_from_root(pid_t tid, const std::string& path, int flags) {
  constexpr int kTries = 8;  // a folder on the way is renamed meanwhile (EAGAIN)
  const std::string name = of_thread(tid, "root");
  const int root = open(name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return -1;
  open_how how = {};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT;
  int fd = -1;
  for (int round = 0; round < kTries; ++round) {
    fd = static_cast<int>(syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
    if (fd >= 0 || errno != EAGAIN) break;
  }
  const int number = errno;
  close(root);
  errno = number;
  return fd;
}

}  // namespace

int open_seen(pid_t tid, const std::string& path, int flags, int folder) {
  const std::string start = folder == AT_FDCWD ? "cwd" : "fd/" + std::to_string(folder);
  if (path.empty()) return open_plain(of_thread(tid, start), flags);
  if (const std::string own = own_name(tid, path); !own.empty()) return open_plain(own, flags);
  const std::string full = from_root(tid, path, start);
  const int fd = open_from_root(tid, full, flags);
  // Before Linux 5.6; and another process's files in /proc, which are no links that lead on.
  const bool is_refused = fd < 0 && (errno == ENOSYS || errno == ELOOP);
  return is_refused ? open_plain(of_thread(tid, "root") + full, flags) : fd;
}

}  // namespace dj
