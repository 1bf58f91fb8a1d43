// /proc/*/maps, until nobody new is found.
#include "runtime/control/kin.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <set>

namespace dj {

bool is_session_memory(const Mapping& mapping) {
  return mapping.shared && mapping.path == fmt::format("/memfd:{}", kMemoryName);
}

std::vector<pid_t> find_kin(uint64_t inode) {
  std::vector<pid_t> kin;
  DIR* dir = opendir("/proc");
  if (dir == nullptr) {
    return kin;
  }
  while (dirent* entry = readdir(dir)) {
    const pid_t pid = atoi(entry->d_name);
    if (pid <= 0 || pid == getpid()) {
      continue;
    }
    Result<std::vector<Mapping>> maps = read_maps(pid);
    bool shares = false;
    for (size_t i = 0; maps.ok() && i < maps.value().size() && !shares; i++) {
      shares = maps.value()[i].inode == inode && is_session_memory(maps.value()[i]);
    }
    if (shares) {
      kin.push_back(pid);
    }
  }
  closedir(dir);
  return kin;
}

size_t for_kin(uint64_t inode, pid_t except, const std::function<Result<bool>(pid_t)>& act,
               std::vector<std::string>& failures) {
  std::set<pid_t> seen = {except};
  size_t done = 0;
  for (bool found = true; found;) {
    found = false;
    for (pid_t pid : find_kin(inode)) {
      if (!seen.insert(pid).second) {
        continue;
      }
      found = true;
      Result<bool> acted = act(pid);
      if (acted.ok()) {
        done += acted.value() ? 1 : 0;
      } else if (acted.error().kind != Fail::TargetGone && acted.error().kind != Fail::NotFound) {
        failures.push_back(acted.error().message);
      }
    }
  }
  return done;
}

}  // namespace dj
