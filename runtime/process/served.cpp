// SPDX-License-Identifier: Apache-2.0
// A process is known by a pidfd that is held, so that its number cannot become another's unnoticed.
#include "runtime/process/served.h"

#include <linux/capability.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/process/process.h"
#include "runtime/process/session_processes.h"

namespace dj {

pid_t parent_of(pid_t pid) {
  constexpr std::string_view kParent = "PPid:";
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kParent)) return atoi(line.c_str() + kParent.size());
  }
  return 0;
}

bool descends_from_djtap(pid_t pid) {
  constexpr int kMostAncestors = 100;  // numbers may be given anew meanwhile
  for (int i = 0; i < kMostAncestors && pid > 0; ++i, pid = parent_of(pid)) {
    if (pid == getpid()) return true;
  }
  return false;
}

namespace {

std::optional<FileNumber> program_of(pid_t id) {
  return file_number("/proc/" + std::to_string(id) + "/exe");
}

bool is_alive(int pidfd) {
  pollfd entry = {pidfd, POLLIN, 0};
  return poll(&entry, 1, 0) == 0;
}

// The memory of sessions that both have mapped: forks keep it, and nobody else has it.
bool share_session(pid_t a, pid_t b) {
  const Result<std::vector<Mapping>> ours = read_maps(a), theirs = read_maps(b);
  if (!ours.ok() || !theirs.ok()) return false;
  return std::ranges::any_of(ours.value(), [&](const Mapping& mine) {
    return is_session_memory(mine) &&
           std::ranges::any_of(theirs.value(), [&](const Mapping& other) {
             return is_session_memory(other) && other.inode == mine.inode &&
                    other.device == mine.device;
           });
  });
}

}  // namespace

Served::Served(pid_t target, int pidfd, Rights rights)
    : target_(target),
      rights_(std::move(rights)),
      program_(program_of(target)),
      known_{{target, pidfd}} {}

pid_t Served::process_of(pid_t id) {
  const Result<Credentials> now = credentials_of(id);
  if (!now.ok() || !has_no_more_rights(now.value()) || program_of(id) != program_) return 0;
  const pid_t pid = now.value().process;
  if (!is_known(pid)) {
    const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    if (pidfd < 0) return 0;
    if (!is_session_process(pid)) return close(pidfd), 0;
    known_[pid] = pidfd;
  }
  return is_alive(known_[pid]) ? pid : 0;
}

bool Served::is_known(pid_t pid) const {
  const auto found = known_.find(pid);
  return found != known_.end() && is_alive(found->second);
}

bool Served::is_session_process(pid_t pid) const {
  pid_t ancestor = pid;
  for (int generation = 0; generation < 64 && ancestor > 1; ++generation) {
    ancestor = parent_of(ancestor);
    if (ancestor == target_ && is_known(target_)) return true;
  }
  return std::ranges::any_of(known_,
                             [&](const auto& each) { return share_session(each.first, pid); });
}

bool Served::has_no_more_rights(const Credentials& now) const {
  const bool may_change_user = (rights_.capabilities >> CAP_SETUID & 1) != 0;
  const bool same_user = now.uids == rights_.uids && now.gids == rights_.gids;
  const bool same_space = now.user_space == rights_.user_space;
  return (same_user || may_change_user) && same_space && program_.has_value() &&
         (now.capabilities & ~rights_.capabilities) == 0;
}

}  // namespace dj
