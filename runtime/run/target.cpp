// SPDX-License-Identifier: Apache-2.0
// Finding the target.
#include "runtime/run/target.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>

#include "compiler/base/counted.h"
#include "compiler/base/found_files.h"
#include "compiler/resolve/probe_kind.h"
#include "runtime/kernel/live_kernel.h"
#include "runtime/kernel/running_kernel.h"
#include "runtime/output/messages.h"
#include "runtime/process/file_reader.h"
#include "runtime/process/process.h"
#include "runtime/run/give_up_rights.h"
#include "runtime/run/show.h"

namespace dj {

std::string lost_rights(pid_t pid, const std::string& command) {
  const std::string exe = fmt::format("/proc/{}/exe", pid);
  struct stat info = {};
  if (geteuid() == 0 || stat(exe.c_str(), &info) != 0) return "";
  const bool user = (info.st_mode & S_ISUID) != 0 && info.st_uid != geteuid();
  const bool group = (info.st_mode & S_ISGID) != 0 && info.st_gid != getegid();
  const bool capable = getxattr(exe.c_str(), "security.capability", nullptr, 0) > 0;
  if (!user && !group && !capable) return "";
  const char* right = capable ? "file capabilities" : user ? "the setuid bit" : "the setgid bit";
  return fmt::format("{} has {}: traced from its start, it runs without these rights", command,
                     right);
}

std::string lost_file_text(pid_t pid, const LostFile& file) {
  return file.in_memory
             ? fmt::format(
                   "the file of {} cannot be opened any more; of what process {} has in "
                   "its memory djtap knows the code and what is exported: no debug info, "
                   "no other names",
                   file.path, pid)
             : fmt::format(
                   "the file of {} cannot be opened any more, and what process {} has in "
                   "its memory is not enough: nothing in it is probed",
                   file.path, pid);
}

namespace {

void warn_of_lost_rights(pid_t pid, const std::string& command) {
  const std::string lost = lost_rights(pid, command);
  if (!lost.empty()) report_warning("DJ4902", lost);
}

void warn_of_lost_files(pid_t pid) {
  for (const LostFile& file : lost_files(pid)) report_warning("DJ4904", lost_file_text(pid, file));
}

}  // namespace

void find_names_as(int pid) {
  read_found_names_as(reader_of(pid));
  set_targets_root_name(root_name_of(pid));
}

Result<ForkedChild> fork_target(const std::vector<std::string>& command,
                                const sigset_t& child_mask) {
  return ForkedChild::fork(command, {child_mask});
}

Result<TracedProcess> open_process(int pid, bool trusted, bool writable_text) {
  DJ_TRY(TracedProcess process, TracedProcess::open(pid));
  if (!trusted) DJ_TRY_DO(check_rights(pid));
  if (writable_text) trust_writable(process.modules);
  return process;
}

Result<FoundTarget> find_target(const TargetChoices& target, TargetUse use,
                                const sigset_t& child_mask,
                                std::optional<Result<ForkedChild>> child) {
  FoundTarget found;
  forget_target_files();
  if (!target.command.empty()) {
    if (!child) child.emplace(fork_target(target.command, child_mask));
    if (!child->ok()) return child->error();
    DJ_TRY(TracedProcess process, TracedProcess::launch(child->take()));
    find_names_as(process.pid);
    if (target.writable_text) trust_writable(process.modules);
    if (use != TargetUse::List && use != TargetUse::Examine)
      warn_of_lost_rights(process.pid, target.command.front());
    found.process.emplace(std::move(process));
  } else if (!target.pids.empty()) {
    const int pid = target.pids.front();
    find_names_as(pid);
    Result<TracedProcess> opened = open_process(pid, target.trusted, target.writable_text);
    // With -p, djtap gives up its rights before it reads the script.
    if (!opened.ok() && opened.error().kind == Fail::Permission && target.is_by_script)
      return Error{
          fmt::format("{}, and so does -p {}, with its rights", opened.error().message, pid),
          Fail::Permission};
    if (!opened.ok()) return opened.error();
    TracedProcess process = opened.take();
    if (use != TargetUse::Examine) warn_of_lost_files(pid);
    found.process.emplace(std::move(process));
    found.more_pids.assign(target.pids.begin() + 1, target.pids.end());
  }
  found.trusted = target.trusted;
  found.follows_execs = found.process && target.follow;
  return found;
}

MeantTarget meant_target(const Program& program, const TargetChoices& target, Diags& diags) {
  MeantTarget meant(target.is_given());
  for (const Probe& probe : program.probes) meant.add(probe.points);
  for (const Probe& probe : program.probes) {
    for (const ast::ProbePoint& point : probe.points) {
      // Says what is wrong before the kernel is read.
      if (names_kernel(point) && !point.wild) find_kind(point, diags);
    }
  }
  meant.check(diags);
  return meant;
}

Result<FoundTarget> find_kernel_target(const MeantTarget& meant,
                                       std::optional<Result<ForkedChild>> child) {
  forget_target_files();
  FoundTarget found;
  if (child && !child->ok()) return child->error();
  if (child) found.command.emplace(child->take());
  DJ_TRY(found.kernel,
         running_kernel([&](const std::string& name) { return meant.means_module(name); }));
  return found;
}

int command_exit_code(const Error& error) {
  if (error.kind == Fail::NotFound) return kExitNotFound;
  const bool refused = error.kind == Fail::Permission || error.kind == Fail::Unsupported;
  return refused ? kExitNotExecutable : kExitAttach;
}

int target_exit_code(const TargetChoices& target, const Error& error) {
  return target.command.empty() ? kExitAttach : command_exit_code(error);
}

int target_failure(const TargetChoices& target, const Error& error) {
  fail_attach(error);
  return target_exit_code(target, error);
}

std::string summary_of(const FoundTarget& target) {
  if (!target.is_there()) return "none";
  const std::string modules = counted(target.modules().size(), "module");
  return target.kernel ? "the kernel, " + modules
                       : fmt::format("pid {}, {}", target.pid(), modules);
}

namespace {

TargetFiles files_of(const std::vector<MappedModule>& modules) {
  TargetFiles files;
  files.modules = module_paths(modules);
  files.open_paths = files.modules;
  for (const MappedModule& module : modules) {
    auto found = std::find(files.modules.begin(), files.modules.end(), module.path);
    if (module.is_vdso || found == files.modules.end()) continue;
    size_t index = static_cast<size_t>(found - files.modules.begin());
    files.open_paths[index] = module.open_path;
    files.mapped.push_back({index, module.begin, module.end, module.bias});
  }
  return files;
}

}  // namespace

TargetFiles files_of_process(const std::vector<MappedModule>& modules) {
  TargetFiles files = files_of(modules);
  files.has_target = true;
  files.is_in_kernel = is_kernel_function;
  return files;
}

TargetFiles target_files(const FoundTarget& target) {
  if (target.process) return files_of_process(target.process->modules);
  TargetFiles files = files_of(target.modules());
  files.has_target = target.is_there();
  files.is_kernel = target.kernel.has_value();
  if (files.is_kernel) files.kernel_types = KernelFiles().types;
  return files;
}

}  // namespace dj
