// SPDX-License-Identifier: Apache-2.0
// /proc/*/maps, until nobody new is found.
#include "runtime/process/session_processes.h"

#include <dirent.h>
#include <fmt/format.h>
#include <linux/kcmp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "runtime/process/map_query.h"
#include "runtime/process/os_error.h"
#include "runtime/process/tracer.h"

namespace dj {

namespace {

// Of all memfds. A mapping's path proves nothing: a file system of the target's own may have such a
// file, too.
uint64_t device_of_memory() {
  const int fd = memfd_create("djtap", MFD_CLOEXEC);
  struct stat info = {};
  const bool known = fd >= 0 && fstat(fd, &info) == 0;
  if (fd >= 0) close(fd);
  return known ? info.st_dev : 0;
}

}  // namespace

bool is_session_memory(const Mapping& mapping) {
  static const uint64_t device = device_of_memory();
  static const std::string begin = fmt::format("/memfd:{}", kMemoryName);
  return mapping.shared && mapping.device == device && mapping.path.starts_with(begin);
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> all;
  DIR* dir = opendir("/proc");
  while (dirent* entry = dir != nullptr ? readdir(dir) : nullptr) {
    if (const pid_t pid = atoi(entry->d_name); pid > 0) all.push_back(pid);
  }
  if (dir != nullptr) closedir(dir);
  return all;
}

namespace {

bool shares_memory(const std::vector<Mapping>& maps, uint64_t inode) {
  return std::any_of(maps.begin(), maps.end(), [inode](const Mapping& m) {
    return m.inode == inode && is_session_memory(m);
  });
}

}  // namespace

bool has_memory(pid_t pid, uint64_t inode) {
  const Result<std::vector<Mapping>> maps = read_maps(pid);
  return maps.ok() && shares_memory(maps.value(), inode);
}

bool has_memory_at(pid_t pid, uint64_t inode, uint64_t address) {
  const Result<std::optional<Mapping>> found = MapFinder(pid).at(address);
  return found.ok() && found.value() && shares_memory({*found.value()}, inode);
}

bool has_session_memory(pid_t pid) {
  const Result<std::vector<Mapping>> maps = read_maps(pid);
  return maps.ok() && std::ranges::any_of(maps.value(), is_session_memory);
}

pid_t process_of(pid_t tid) {
  std::ifstream status("/proc/" + std::to_string(tid) + "/status");
  for (std::string line; std::getline(status, line);) {
    const bool has_ended = line.starts_with("State:") && line.find_first_of("ZX") != line.npos;
    if (has_ended) return 0;
    if (line.starts_with("Tgid:")) return std::stoi(line.substr(5));
  }
  return 0;
}

std::set<uint64_t> mapped_session_files() {
  std::set<uint64_t> files;
  for (const pid_t pid : all_processes()) {
    if (pid == getpid()) continue;
    const Result<std::vector<Mapping>> maps = read_maps(pid);
    if (!maps.ok()) continue;
    for (const Mapping& mapping : maps.value()) {
      if (is_session_memory(mapping)) files.insert(mapping.inode);
    }
  }
  return files;
}

namespace {

// Whether both run in the same memory; empty: the kernel does not tell.
std::optional<bool> share_memory(pid_t one, pid_t other) {
  const long order = syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0);
  return order >= 0 ? std::optional(order == 0) : std::nullopt;
}

}  // namespace

bool shares_parents_memory(pid_t pid) {
  const pid_t parent = parent_of(pid);
  if (parent <= 0) return false;
  if (const std::optional<bool> share = share_memory(pid, parent)) return *share;
  const Result<ProcessStatus> status = read_status(parent);
  return status.ok() && status.value().state == 'D';
}

namespace {

bool descends(pid_t pid, pid_t target) {
  constexpr int kMostGenerations = 1000;
  for (int i = 0; i < kMostGenerations && pid > 1; i++) {
    const Result<ProcessStatus> status = read_status(pid);
    if (!status.ok()) return false;
    pid = status.value().parent;
    if (pid == target) return true;
  }
  return false;
}

}  // namespace

bool is_session_process(pid_t pid, pid_t target) {
  if (pid <= 0) return false;
  if (descends(pid, target)) return true;
  const Result<std::vector<Mapping>> theirs = read_maps(pid), own = read_maps(0);
  if (!theirs.ok() || !own.ok()) return false;
  return std::any_of(own.value().begin(), own.value().end(), [&](const Mapping& m) {
    return is_session_memory(m) && shares_memory(theirs.value(), m.inode);
  });
}

namespace {

// Of the threads that there are, as djtap sees them; 0: not known (proc(5)).
pid_t last_number() {
  std::ifstream file("/proc/loadavg");
  std::string skipped;
  pid_t last = 0;
  return file >> skipped >> skipped >> skipped >> skipped >> last ? last : 0;
}

// Those that may have come since `before` was the last number: it is `now`.
std::vector<pid_t> processes_since(pid_t before, pid_t now) {
  if (now == before) return {};
  std::vector<pid_t> all = all_processes();
  if (now > before) std::erase_if(all, [before](pid_t pid) { return pid <= before; });
  return all;  // all of them where the numbers have begun anew
}

// Calls `look` for each process but djtap itself, and for those that appear meanwhile. One that has
// forked and ended before it is looked at has its child behind all that are listed.
void look_at_all(const std::function<void(pid_t)>& look) {
  constexpr int kMostRounds = 100;  // where others begin processes without end
  pid_t last = last_number();
  std::vector<pid_t> look_at = all_processes();
  for (int round = 0; round < kMostRounds && !look_at.empty(); ++round) {
    for (const pid_t pid : look_at) {
      if (pid != getpid()) look(pid);
    }
    const pid_t before = std::exchange(last, last_number());
    look_at = processes_since(before, last);
  }
}

}  // namespace

std::vector<pid_t> find_session_processes(uint64_t inode) {
  std::set<pid_t> processes;
  look_at_all([&](pid_t pid) {
    if (has_memory(pid, inode)) processes.insert(pid);
  });
  return {processes.begin(), processes.end()};
}

std::vector<pid_t> find_sharing_processes(pid_t pid, uint64_t inode) {
  std::set<pid_t> processes;
  look_at_all([&](pid_t other) {
    if (other == pid) return;
    const std::optional<bool> share = share_memory(pid, other);
    if (share ? *share : has_memory(other, inode)) processes.insert(other);
  });
  return {processes.begin(), processes.end()};
}

MemoryUsers find_memory_users() {
  MemoryUsers users;
  look_at_all([&](pid_t pid) {
    const Result<std::vector<Mapping>> maps = read_maps(pid);
    if (!maps.ok()) return;
    for (const Mapping& mapping : maps.value()) {
      if (is_session_memory(mapping)) users[mapping.inode].insert(pid);
    }
  });
  return users;
}

std::vector<pid_t> find_probed_processes() {
  struct stat own = {};
  const bool known = stat("/proc/self/exe", &own) == 0;
  std::vector<pid_t> probed;
  for (const pid_t pid : all_processes()) {
    struct stat program = {};
    const bool is_djtap = known && stat_program(pid, &program) && program.st_dev == own.st_dev &&
                          program.st_ino == own.st_ino;
    if (pid != getpid() && !is_djtap && has_session_memory(pid)) probed.push_back(pid);
  }
  std::ranges::sort(probed);
  return probed;
}

namespace {

// Has this process ended, or got other memory by an exec? One that is about to is asked again.
bool has_left(pid_t pid, uint64_t inode) {
  constexpr int kRounds = 100;
  for (int round = 0; round < kRounds; round++) {
    if (!start_time(pid)) {
      return true;
    }
    Result<std::vector<Mapping>> maps = read_maps(pid);
    if (maps.ok()) {
      return !shares_memory(maps.value(), inode);
    }
    usleep(1000);
  }
  return false;
}

}  // namespace

std::vector<pid_t> for_session_processes(uint64_t inode, pid_t except,
                                         const std::function<Result<bool>(pid_t)>& act,
                                         std::vector<std::string>& failures) {
  constexpr uint64_t kMostNs = 60'000'000'000;
  const uint64_t begin = now_ns();
  std::set<pid_t> seen = {except};
  std::vector<pid_t> done;
  for (bool acted_on = true; acted_on;) {
    acted_on = false;
    for (pid_t pid : find_session_processes(inode)) {
      if (!seen.insert(pid).second) continue;
      if (now_ns() - begin > kMostNs) {
        failures.push_back("forked processes are left: they come faster than they can be seen to");
        return done;
      }
      Result<bool> acted = act(pid);
      if (!acted.ok() && !has_left(pid, inode)) {
        acted = act(pid);
      }
      // A process that was acted on may have forked before that. So may a process that was about to
      // end: `act` found no memory in it. Other processes cannot bring new ones.
      acted_on = acted_on || !acted.ok() || acted.value() || has_left(pid, inode);
      if (acted.ok()) {
        if (acted.value()) done.push_back(pid);
      } else if (!has_left(pid, inode)) {
        failures.push_back(acted.error().message);
      }
    }
  }
  return done;
}

}  // namespace dj
