// SPDX-License-Identifier: Apache-2.0
// Reads /proc/PID: status, cmdline, environ.
#include "runtime/process/target_task.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "runtime/process/pid_space.h"
#include "runtime/process/process.h"
#include "runtime/process/tracer.h"
#include "runtime/shared/task.h"

namespace dj {

struct TargetTask::Told {
  pid_t seen = 0;  // by djtap
  abi::Task task = {};
  std::string program;
  std::set<std::string> files;  // that it had mapped
  std::shared_ptr<const std::string> arguments, environment;
};

namespace {

std::string read_text(pid_t pid, const char* name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
  constexpr std::streamsize kMost = 8 << 20;  // the kernel gives an exec 6 MB for both texts
  std::string text;
  char part[4096];
  while (std::ssize(text) < kMost && file.read(part, sizeof part).gcount() > 0)
    text.append(part, static_cast<size_t>(file.gcount()));
  return text;
}

// Leaves `task` as it is if the process goes meanwhile: its parent may reap it at any moment.
void read_ids(pid_t pid, abi::Task& task) {
  abi::Task read = task;
  std::istringstream status(read_text(pid, "status"));
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "Uid:") words >> read.uid >> read.euid;
    if (key == "Gid:") words >> read.gid >> read.egid;
  }
  const OwnNumbers own = own_numbers(pid);
  read.pid = read.tid = own.pid;
  read.ppid = own.ppid;
  read.pgrp = own.pgrp;
  read.sid = own.sid;
  const std::string name = read_text(pid, "comm");  // and a line feed
  if (own.pid == 0 || name.empty()) return;
  memset(read.name, 0, sizeof read.name);
  name.copy(read.name, std::min(sizeof read.name, name.size() - 1));
  task = read;
}

}  // namespace

TargetTask::TargetTask(pid_t pid) : told_(std::make_shared<Told>()) {
  told_->seen = pid;
  told_->program = program_path(pid);
  if (const Result<std::vector<Mapping>> maps = read_maps(pid); maps.ok()) {
    for (const Mapping& mapping : maps.value()) told_->files.insert(mapping.path);
  }
  read_ids(pid, told_->task);
  told_->arguments = std::make_shared<const std::string>(read_text(pid, "cmdline"));
  std::string environment;
  read_process_file(pid, ProcessFile::Environment, environment);
  told_->environment = std::make_shared<const std::string>(std::move(environment));
  point_to_texts();
}

void TargetTask::point_to_texts() {
  told_->task.arguments = reinterpret_cast<uint64_t>(told_->arguments->data());
  told_->task.argument_bytes = told_->arguments->size();
  told_->task.environment = reinterpret_cast<uint64_t>(told_->environment->data());
  told_->task.environment_bytes = told_->environment->size();
}

TargetTask TargetTask::forked(pid_t own, pid_t pid) const {
  TargetTask child(*this);
  child.told_ = std::make_shared<Told>(*told_);
  child.told_->seen = pid;
  child.told_->task.pid = child.told_->task.tid = own;
  child.told_->task.ppid = told_->task.pid;
  child.point_to_texts();
  if (pid != 0 && read_status(pid).ok()) read_ids(pid, child.told_->task);
  return child;
}

void TargetTask::ended() {
  if (told_->seen == 0) return;
  const Result<ProcessStatus> status = read_status(told_->seen);
  // In any other state it is another process of that number.
  if (status.ok() && status.value().state == 'Z') read_ids(told_->seen, told_->task);
}

const std::string& TargetTask::program() const { return told_->program; }
bool TargetTask::had_mapped(const std::string& file) const { return told_->files.contains(file); }
pid_t TargetTask::pid() const { return told_->seen; }
bool TargetTask::is_known_by(pid_t number) const { return told_->task.pid == number; }
uint64_t TargetTask::address() const { return reinterpret_cast<uint64_t>(&told_->task); }

}  // namespace dj
