// SPDX-License-Identifier: Apache-2.0
// The processes that have the files, else the first exec.
#include "runtime/run/running_programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/base/printable.h"
#include "compiler/resolve/program_files.h"
#include "runtime/output/messages.h"
#include "runtime/process/child_wait.h"
#include "runtime/process/elf_file.h"
#include "runtime/process/exec_tracee.h"
#include "runtime/process/loader_cache.h"
#include "runtime/process/named_processes.h"
#include "runtime/process/os_error.h"
#include "runtime/process/process.h"
#include "runtime/run/give_up_rights.h"
#include "runtime/run/openers.h"
#include "runtime/run/target.h"

namespace dj {
namespace {

std::string names_of(const std::vector<std::string>& files) {
  return printable(fmt::format("{}", fmt::join(files, ", ")));
}

std::string names_of(const FilesEverywhere& files) {
  if (files.every_process) return "any program";
  std::vector<std::string> names = files.programs;
  names.insert(names.end(), files.library_names.begin(), files.library_names.end());
  return names_of(names);
}

// One that has ended meanwhile is none that djtap could have probed.
bool is_gone(const Error& error) {
  return error.kind == Fail::TargetGone || error.kind == Fail::NotFound;
}

// Whether a process will be there a moment later, and can be stopped: it has run for a second, and
// does not wait in the kernel for a child (vfork) or a device.
bool is_settled(int pid) {
  constexpr double kSeconds = 1;
  const std::optional<double> age = seconds_since_start(pid);
  const Result<ProcessStatus> status = read_status(pid);
  return age && *age >= kSeconds && status.ok() && status.value().state != 'D';
}

// The first of the processes that can be probed becomes the target, the others are left for the
// session to join. Of processes that have just started, most end soon: they are no target unless
// `any` says so.
void take_running(const TargetChoices& choices, bool any, FoundTarget& found) {
  found.more_pids.clear();
  const NamedProcesses running = found.everywhere->find();
  for (const auto& [pid, why] : running.left_out) found.unprobed.add(pid, why);
  for (const int pid : running.pids) {
    if (found.unprobed.has(pid)) continue;
    if (found.process || !(any || is_settled(pid))) {
      found.more_pids.push_back(pid);
      continue;
    }
    find_names_as(pid);
    Result<TracedProcess> process = open_process(pid, choices.trusted, choices.writable_text);
    if (process.ok()) {
      found.process.emplace(process.take());
      if (found.gate) found.gate->let_through(pid, true);  // until it is probed
    } else if (!is_gone(process.error())) {
      found.unprobed.add(pid, process.error());
    }
  }
}

// Follows a thread that waits in execve() to the start of its program. Empty: the exec has failed,
// or the process has ended.
Result<std::optional<TracedProcess>> follow_exec(ExecGate& gate, int tid, bool trusted) {
  constexpr uint64_t kPatienceNs = 1'000'000'000;
  constexpr useconds_t kMomentUs = 50;
  if (!trusted) DJ_TRY_DO(check_rights(tid));
  DJ_TRY(ExecTracee thread, ExecTracee::seize(tid));
  gate.let_pass(tid);
  const uint64_t end = now_ns() + kPatienceNs;
  while (thread.poll() == ExecTracee::State::Running && now_ns() < end) usleep(kMomentUs);
  if (thread.state() != ExecTracee::State::AtExec) return std::optional<TracedProcess>();
  DJ_TRY(Launched launched, lead_to_start(&gate, thread));
  DJ_TRY(TracedProcess process, TracedProcess::executed(std::move(launched)));
  if (!trusted) DJ_TRY_DO(check_rights(process.pid));  // a setuid program has other rights
  return std::optional<TracedProcess>(std::move(process));
}

// Waits for the first process that can be probed, and returns it as it stands at its start.
Result<TracedProcess> await_first(const FilesEverywhere& files, bool trusted,
                                  std::optional<double> seconds, FoundTarget& found) {
  constexpr int kRoundMs = 50;
  const uint64_t end = seconds ? now_ns() + static_cast<uint64_t>(*seconds * 1e9) : ~uint64_t{0};
  ExecGate& gate = *found.gate;
  while (!is_told_to_end() && now_ns() < end) {
    pollfd bell = {gate.fd(), POLLIN, 0};
    poll(&bell, 1, kRoundMs);
    const std::optional<ExecGate::Visitor> visitor = gate.next();
    if (!visitor) continue;
    Result<std::optional<TracedProcess>> process = visitor->opens_library
                                                       ? lead_opener(gate, visitor->tid, trusted)
                                                       : follow_exec(gate, visitor->tid, trusted);
    gate.let_pass(visitor->tid);
    if (process.ok() && process.value()) return std::move(*process.take());
    if (!process.ok() && !is_gone(process.error())) {
      found.unprobed.add(visitor->tid, process.error());
      found.unprobed.report();
    }
  }
  return Error{fmt::format("no process has executed {}", names_of(files)), Fail::NotFound};
}

void take_begun(TracedProcess process, const TargetChoices& choices, FoundTarget& found) {
  find_names_as(process.pid);
  if (choices.writable_text) trust_writable(process.modules);
  std::erase(found.more_pids, process.pid);
  found.process.emplace(std::move(process));
}

// Where all processes have just started: one that has stayed for a second, or one that starts
// meanwhile, which stands until it is probed.
void take_young(const FilesEverywhere& files, const TargetChoices& choices, FoundTarget& found) {
  constexpr double kRound = 0.05;
  constexpr int kRounds = 20;
  for (int i = 0; i < kRounds && !found.process; ++i) {
    if (found.gate) {
      Result<TracedProcess> begun = await_first(files, choices.trusted, kRound, found);
      if (begun.ok()) return take_begun(begun.take(), choices, found);
    } else {
      usleep(static_cast<useconds_t>(kRound * 1e6));
    }
    take_running(choices, false, found);
  }
  if (!found.process) take_running(choices, true, found);
}

// The files that the script names as libraries. In containers several have one path.
LibraryFiles libraries_of(const Program& program) {
  std::map<FileNumber, std::string> known = mapped_files();
  std::vector<std::string> unmapped = cached_libraries();
  for (const std::string& name : library_names(program)) unmapped.push_back(find_library(name));
  for (const std::string& path : unmapped) {
    if (const std::optional<FileNumber> number = file_number(path)) known.emplace(*number, path);
  }
  std::vector<std::string> paths;
  for (const auto& [number, path] : known) paths.push_back(path);
  const std::vector<std::string> meant = library_files(program, paths);
  LibraryFiles libraries;
  for (const auto& [number, path] : known) {
    if (std::ranges::find(meant, path) != meant.end()) libraries.emplace(number, path);
  }
  return libraries;
}

// What the session will miss.
void warn_of_later(const FilesEverywhere& files, const Error& no_gate) {
  const auto warn = [&](const std::string& which) {
    report_warning("DJ5917", fmt::format("processes that {} later are not probed, except what the "
                                         "probed ones execute: {}",
                                         which, no_gate.message));
  };
  if (files.every_process) return warn("others start");
  if (!files.programs.empty()) warn("execute " + names_of(files.programs));
  if (!files.library_names.empty()) warn("map " + names_of(files.library_names));
}

// A file of `programs` that is none: a process maps it, and executes another. A static program may
// be of the same type.
bool is_library(const std::string& path) {
  const Result<ElfFile> elf = read_elf(path);
  return elf.ok() && elf.value().header.e_type == ET_DYN && elf.value().header.e_entry == 0 &&
         elf.value().interpreter.empty();
}

std::vector<std::string> paths_here(const LibraryFiles& libraries) {
  std::vector<std::string> paths;
  for (const auto& [number, path] : libraries) {
    if (file_number(path) == number) paths.push_back(path);
  }
  return paths;
}

MachineProcesses meant_by(const FilesEverywhere& files) {
  MachineProcesses meant;
  meant.every = files.every_process;
  meant.libraries = files.libraries;
  for (const std::string& path : files.programs) {
    const std::optional<FileNumber> number = file_number(path);
    if (!number) continue;
    meant.programs.insert(*number);
    if (is_library(path)) meant.libraries.emplace(*number, path);
  }
  return meant;
}

// Which execs the gate holds.
void watch_execs(const FilesEverywhere& files, ExecGate& gate) {
  if (!files.every_process) return;
  const std::vector<std::string> left_out = gate.watch_all_programs();
  if (!left_out.empty())
    report_warning("DJ5917",
                   fmt::format("programs of these file systems that unprobed processes execute "
                               "later are not probed: {}",
                               names_of(left_out)));
}

}  // namespace

FilesEverywhere files_everywhere(const Program& program, const MeantTarget& meant,
                                 const TargetChoices& choices) {
  FilesEverywhere files;
  if (choices.is_given() || meant.is_kernel()) return files;
  files.every_process = means_every_process(program);
  files.programs = program_files(program);
  files.library_names = library_names(program);
  if (!files.library_names.empty()) files.libraries = libraries_of(program);
  return files;
}

Result<FoundTarget> find_everywhere(const FilesEverywhere& files, const TargetChoices& choices,
                                    std::optional<double> seconds) {
  forget_target_files();
  FoundTarget found;
  found.everywhere = meant_by(files);
  found.trusted = choices.trusted;
  Error no_gate;
  const std::vector<std::string> held =
      files.every_process ? std::vector<std::string>() : files.programs;
  Result<std::unique_ptr<ExecGate>> gate = ExecGate::open(held);
  if (gate.ok()) {
    found.gate = gate.take();
    watch_execs(files, *found.gate);
  } else {
    no_gate = gate.error();
  }
  // Where the gate holds each exec that is meant, what these processes execute need not be
  // followed.
  found.follows_execs = files.every_process || !found.gate;
  take_running(choices, false, found);
  if (!found.process && !found.more_pids.empty()) take_young(files, choices, found);
  found.unprobed.report();
  if (found.process) {
    if (!found.gate) warn_of_later(files, no_gate);
    return found;
  }
  const LibraryFiles& libraries = found.everywhere->libraries;
  if (!files.every_process && files.programs.empty() && libraries.empty())
    return Error{"no process that djtap may trace has mapped " + names_of(files) +
                     ", and the loader knows no such library; -c starts one",
                 Fail::NotFound};
  if (!found.gate)
    return Error{fmt::format("no process that djtap may trace runs {}, and djtap may not wait for "
                             "one: {}; -c starts one",
                             names_of(files), no_gate.message),
                 no_gate.kind};
  if (!files.every_process) DJ_TRY_DO(found.gate->watch_libraries(paths_here(libraries)));
  log_line("djtap: no process runs {}; waiting for one", names_of(files));
  DJ_TRY(TracedProcess process, await_first(files, choices.trusted, seconds, found));
  take_begun(std::move(process), choices, found);
  return found;
}

}  // namespace dj
