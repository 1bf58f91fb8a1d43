// SPDX-License-Identifier: Apache-2.0
// /proc/PID/status and /proc/PID/ns; setresuid() and the like.
#include "runtime/process/rights.h"

#include <dirent.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "runtime/process/call_list.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/process/view.h"

extern char** environ;

namespace dj {
namespace {

namespace fs = std::filesystem;

std::string of_process(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

// 0: it may not be looked at.
uint64_t space_of(pid_t pid, const char* name) {
  struct stat info = {};
  return stat(of_process(pid, name).c_str(), &info) == 0 ? info.st_ino : 0;
}

Error may_not_be_looked_at(pid_t pid) {
  return Error{"the rights of process " + std::to_string(pid) + " may not be looked at",
               Fail::Permission};
}

void read_line(const std::string& line, Credentials& rights) {
  std::istringstream words(line);
  std::string key;
  words >> key;
  if (key == "Tgid:") {
    words >> rights.process;
  } else if (key == "Uid:") {
    for (uid_t& uid : rights.uids) words >> uid;
  } else if (key == "Gid:") {
    for (gid_t& gid : rights.gids) words >> gid;
  } else if (key == "Groups:") {
    for (gid_t group; words >> group;) rights.groups.push_back(group);
  } else if (key == "CapPrm:") {
    words >> std::hex >> rights.capabilities;
  }
}

bool has(const Rights& rights, int capability) {
  return (rights.capabilities >> capability & 1) != 0;
}

bool same_users(const Rights& a, const Rights& b) { return a.uids == b.uids && a.gids == b.gids; }

bool within(const std::vector<gid_t>& few, const std::vector<gid_t>& many) {
  return std::includes(many.begin(), many.end(), few.begin(), few.end());
}

// Whatever of the users of `theirs` has the least rights: a setuid program that runs for a user was
// started by him.
Status take_users(const Rights& theirs) {
  const uid_t uid = theirs.uids[0];
  const gid_t gid = theirs.gids[0];
  if (setgroups(theirs.groups.size(), theirs.groups.data()) != 0 || setresgid(gid, gid, gid) != 0 ||
      setresuid(uid, uid, uid) != 0)
    return os_error("cannot become user " + std::to_string(uid));
  return ok_status();
}

Status drop_capabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capset, &header, none) != 0) return os_error("cannot give up capabilities");
  return ok_status();
}

// Secrets of the user's shell are none of a command's that runs as another one.
void clear_environment() {
  constexpr std::string_view kKept[] = {"PATH",
                                        "TERM",
                                        "LANG",
                                        "LANGUAGE",
                                        "TZ",
                                        "COLUMNS",
                                        "LINES",
                                        "NO_COLOR",
                                        "TMPDIR",
                                        "CC",
                                        "DJTAP_LOG",
                                        "DEBUGINFOD_URLS",
                                        "DEBUGINFOD_TIMEOUT",
                                        "DEBUGINFOD_MAXTIME",
                                        "DEBUGINFOD_MAXSIZE"};
  std::vector<std::string> kept;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry = *each;
    const std::string_view name = entry.substr(0, entry.find('='));
    if (name.starts_with("LC_") || std::ranges::find(kKept, name) != std::end(kKept))
      kept.emplace_back(entry);
  }
  clearenv();
  for (const std::string& entry : kept) {
    const size_t equals = entry.find('=');
    setenv(entry.substr(0, equals).c_str(), entry.c_str() + equals + 1, 1);
  }
}

}  // namespace

Result<Credentials> credentials_of(pid_t tid) {
  Credentials found;
  std::ifstream status(of_process(tid, "status"));
  if (!status) return Error{"there is no process " + std::to_string(tid), Fail::NotFound};
  for (std::string line; std::getline(status, line);) read_line(line, found);
  std::sort(found.groups.begin(), found.groups.end());
  found.user_space = space_of(tid, "ns/user");
  if (found.user_space == 0) return may_not_be_looked_at(tid);
  return found;
}

Result<Rights> rights_of(pid_t pid) {
  Rights rights;
  DJ_TRY(static_cast<Credentials&>(rights), credentials_of(pid));
  rights.mount_space = space_of(pid, "ns/mnt");
  rights.pid_space = space_of(pid, "ns/pid");
  rights.network_space = space_of(pid, "ns/net");
  rights.ipc_space = space_of(pid, "ns/ipc");
  std::error_code error;
  rights.root = fs::read_symlink(of_process(pid, "root"), error).string();
  if (rights.mount_space == 0 || error) return may_not_be_looked_at(pid);
  return rights;
}

bool exceed(const Rights& mine, const Rights& theirs) {
  return !same_users(mine, theirs) || !within(mine.groups, theirs.groups) ||
         (mine.capabilities & ~theirs.capabilities) != 0 || mine.user_space != theirs.user_space;
}

bool share_view(const Rights& mine, const Rights& theirs) {
  return mine.user_space == theirs.user_space && mine.mount_space == theirs.mount_space &&
         mine.root == theirs.root && mine.pid_space == theirs.pid_space &&
         mine.network_space == theirs.network_space && mine.ipc_space == theirs.ipc_space;
}

bool can_take(const Rights& mine, const Rights& theirs) {
  const bool same = same_users(mine, theirs) && mine.groups == theirs.groups;
  return same || (has(mine, CAP_SETUID) && has(mine, CAP_SETGID));
}

Status become_equal(const Rights& mine, const Rights& theirs) {
  CHECK(live_threads(getpid()).size() == 1);
  if (close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
    return os_error("cannot close descriptors on exec");
  clear_environment();
  if (can_take(mine, theirs)) DJ_TRY_DO(take_users(theirs));
  DJ_TRY_DO(drop_capabilities());
  if (prctl(PR_SET_DUMPABLE, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return os_error("cannot give up rights");
  return deny_calls(is_in_view());
}

}  // namespace dj
