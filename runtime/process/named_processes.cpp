// SPDX-License-Identifier: Apache-2.0
// Reads /proc/PID/comm, /proc/PID/exe and /proc/PID/maps of all processes.
#include "runtime/process/named_processes.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <iterator>
#include <utility>

#include "runtime/process/process.h"
#include "runtime/process/session_processes.h"

namespace dj {
namespace {

// TASK_COMM_LEN of linux/sched.h, without the zero behind it.
constexpr size_t kCommBytes = 15;

// The name may have spaces and line feeds. Empty: there is no such process.
std::string comm_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::set<pid_t> djtap_and_ancestors() {
  std::set<pid_t> found;
  for (pid_t pid = getpid(); pid > 0 && found.insert(pid).second;) pid = parent_of(pid);
  return found;
}

bool is_plain_word(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_@%+:.-").find(char(c)) != std::string::npos;
  });
}

}  // namespace

bool is_called(std::string_view name, std::string_view comm, std::string_view program) {
  if (name == comm || name == program) return true;
  // A script's name that the kernel has cut off. A program's own name is not cut off.
  return name.size() > kCommBytes && comm == name.substr(0, kCommBytes) &&
         !program.starts_with(comm);
}

namespace {

// The processes that are meant, without djtap itself, its ancestors, and those that it holds now.
NamedProcesses processes_where(const std::function<bool(pid_t)>& is_meant) {
  NamedProcesses found;
  std::vector<std::pair<uint64_t, pid_t>> begun;
  const std::set<pid_t> own = djtap_and_ancestors();
  for (const pid_t pid : all_processes()) {
    if (own.contains(pid) || is_traced_by_djtap(pid) || !is_meant(pid)) continue;
    const std::optional<uint64_t> start = start_time(pid);
    if (start) begun.emplace_back(*start, pid);
  }
  std::ranges::sort(begun);
  for (const auto& [start, pid] : begun) {
    Status traceable = check_traceable(pid);
    if (traceable.ok()) {
      found.pids.push_back(pid);
    } else if (start_time(pid) == start) {
      found.left_out.emplace(pid, traceable.error());
    }
  }
  return found;
}

}  // namespace

std::optional<FileNumber> program_of(pid_t pid) {
  return file_number("/proc/" + std::to_string(pid) + "/exe");
}

bool has_file(pid_t pid, const std::set<FileNumber>& files) {
  const std::optional<FileNumber> program = program_of(pid);
  if (!program) return false;
  if (files.contains(*program)) return true;
  const Result<std::vector<Mapping>> maps = read_maps(pid);
  return maps.ok() && std::ranges::any_of(maps.value(), [&](const Mapping& each) {
           return each.exec && each.inode != 0 && files.contains({each.device, each.inode});
         });
}

NamedProcesses find_named_processes(const std::string& name) {
  return processes_where(
      [&](pid_t pid) { return is_called(name, comm_of(pid), base_name(program_path(pid))); });
}

NamedProcesses find_processes_of(const std::set<FileNumber>& files) {
  return processes_where([&](pid_t pid) { return has_file(pid, files); });
}

NamedProcesses find_every_process() {
  return processes_where(
      [](pid_t pid) { return program_of(pid).has_value() && !descends_from_djtap(pid); });
}

std::map<FileNumber, std::string> mapped_files() {
  std::map<FileNumber, std::string> files;
  const std::set<pid_t> own = djtap_and_ancestors();
  for (const pid_t pid : all_processes()) {
    const Result<std::vector<Mapping>> maps = read_maps(pid);
    if (own.contains(pid) || !maps.ok()) continue;
    for (const Mapping& each : maps.value()) {
      if (each.exec && each.inode != 0)
        files.emplace(FileNumber{each.device, each.inode}, each.path);
    }
  }
  return files;
}

std::vector<std::string> process_names() {
  std::set<std::string> known;
  const std::set<pid_t> own = djtap_and_ancestors();
  for (const pid_t pid : all_processes()) {
    const std::string program = own.contains(pid) ? "" : base_name(program_path(pid));
    if (program.empty()) continue;  // a thread of the kernel, or another user's process
    known.insert(program);
    known.insert(comm_of(pid));
  }
  std::erase_if(known, [](const std::string& each) { return !is_plain_word(each); });
  return {known.begin(), known.end()};
}

}  // namespace dj
