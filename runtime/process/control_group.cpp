// SPDX-License-Identifier: Apache-2.0
// Finds the group in /proc/PID/cgroup, and its files below what is mounted here.
#include "runtime/process/control_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "runtime/process/mount_list.h"

namespace dj {
namespace {

namespace fs = std::filesystem;

// What a version of control groups calls things.
struct Form {
  const char* controller;  // null: of version 2, which has all in one hierarchy
  const char *most, *used;
  const char* reclaimable;  // a line of memory.stat; null: nothing is
};

constexpr Form kMemory[] = {
    {nullptr, "memory.max", "memory.current", "inactive_file"},
    {"memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
};
constexpr Form kTasks[] = {
    {nullptr, "pids.max", "pids.current", nullptr},
    {"pids", "pids.max", "pids.current", nullptr},
};

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The path behind the second ':' of "4:memory:/a/b", "0::/a/b"; empty: it is in no such group.
std::string group_of(pid_t pid, const char* controller) {
  for (const std::string& line : lines_of(fmt::format("/proc/{}/cgroup", pid))) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string_view names = std::string_view(line).substr(first + 1, second - first - 1);
    if (controller == nullptr ? names.empty() : has_word(names, controller))
      return line.substr(second + 1);
  }
  return "";
}

// Where such groups are mounted.
std::vector<Mount> mounts_of(const char* controller) {
  std::vector<Mount> mounts;
  for (const Mount& mount : mount_list()) {
    if (controller == nullptr
            ? mount.type == "cgroup2"
            : mount.type == "cgroup" && has_word(mount.super_options, controller))
      mounts.push_back(mount);
  }
  return mounts;
}

// Nothing: the file has no number ("max").
std::optional<uint64_t> number_in(const fs::path& path) {
  constexpr uint64_t kUnlimited = uint64_t{1} << 60;  // and more, in version 1
  uint64_t number = 0;
  std::ifstream file(path);
  if (!(file >> number) || number >= kUnlimited) return std::nullopt;
  return number;
}

uint64_t reclaimable_in(const fs::path& group, const char* name) {
  if (name == nullptr) return 0;
  for (const std::string& line : lines_of((group / "memory.stat").string())) {
    std::istringstream words(line);
    std::string found;
    uint64_t bytes = 0;
    if (words >> found >> bytes && found == name) return bytes;
  }
  return 0;
}

std::optional<GroupLimit> limit_in(const fs::path& group, const Form& form) {
  const std::optional<uint64_t> most = number_in(group / form.most);
  const std::optional<uint64_t> used = number_in(group / form.used);
  if (!most || !used) return std::nullopt;
  const uint64_t reclaimable = std::min(*used, reclaimable_in(group, form.reclaimable));
  return GroupLimit{*most, *used - reclaimable, (group / form.most).string()};
}

// From the group up to where its hierarchy is mounted.
void take_tightest(std::string group, const Mount& mount, const Form& form,
                   std::optional<GroupLimit>& tightest) {
  if (mount.root != "/") {
    const bool is_below = group.starts_with(mount.root);
    group = is_below ? group.substr(mount.root.size()) : group;
  }
  if (group.find("/..") != std::string::npos) return;  // it cannot be seen from here
  while (true) {
    const std::optional<GroupLimit> limit = limit_in(mount.place + group, form);
    if (limit && (!tightest || limit->left() < tightest->left())) tightest = limit;
    if (group.empty() || group == "/") return;
    group.resize(group.rfind('/'));
  }
}

}  // namespace

std::optional<GroupLimit> group_limit(pid_t pid, GroupResource resource) {
  std::optional<GroupLimit> tightest;
  for (const Form& form : resource == GroupResource::Memory ? kMemory : kTasks) {
    const std::string group = group_of(pid, form.controller);
    if (group.empty()) continue;
    for (const Mount& mount : mounts_of(form.controller))
      take_tightest(group, mount, form, tightest);
  }
  return tightest;
}

}  // namespace dj
