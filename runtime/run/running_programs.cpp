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
#include "runtime/run/give_up_rights.h"
#include "runtime/run/openers.h"
#include "runtime/run/target.h"

namespace dj {
namespace {

std::string names_of(const std::vector<std::string>& files) {
  return printable(fmt::format("{}", fmt::join(files, ", ")));
}

// One that has ended meanwhile is none that djtap could have probed.
void warn_of_unprobed(const Error& error) {
  if (error.kind == Fail::TargetGone || error.kind == Fail::NotFound) return;
  report_warning("DJ5914", "a process is not probed: " + error.message);
}

// The first of the processes that can be probed becomes the target, the others are left for the
// session to join.
void take_running(const FilesEverywhere& files, const TargetChoices& choices, FoundTarget& found) {
  std::set<FileNumber> numbers;
  for (const auto& [number, path] : files.libraries) numbers.insert(number);
  for (const std::string& program : files.programs) {
    if (const std::optional<FileNumber> number = file_number(program)) numbers.insert(*number);
  }
  const NamedProcesses running = find_processes_of(numbers);
  for (const Error& why : running.left_out) warn_of_unprobed(why);
  for (const int pid : running.pids) {
    if (found.process) {
      found.more_pids.push_back(pid);
      continue;
    }
    find_names_as(pid);
    Result<TracedProcess> process = open_process(pid, choices.trusted, choices.writable_text);
    if (process.ok()) {
      found.process.emplace(process.take());
    } else {
      warn_of_unprobed(process.error());
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

// Waits for the first process that can be probed. Warns of the first that cannot: many may come.
Result<TracedProcess> await_first(const std::vector<std::string>& files, ExecGate& gate,
                                  bool trusted, std::optional<double> seconds) {
  constexpr int kRoundMs = 50;
  const uint64_t end = seconds ? now_ns() + static_cast<uint64_t>(*seconds * 1e9) : ~uint64_t{0};
  bool is_told = false;
  log_line("djtap: no process runs {}; waiting for one", names_of(files));
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
    const bool is_refused = !process.ok() && process.error().kind != Fail::TargetGone;
    if (is_refused && !std::exchange(is_told, true)) warn_of_unprobed(process.error());
  }
  return Error{fmt::format("no process has executed {}", names_of(files)), Fail::NotFound};
}

// The files that the script names as libraries. In containers several have one path.
LibraryFiles libraries_of(const Program& program) {
  std::map<FileNumber, std::string> known = mapped_files();
  for (const std::string& path : cached_libraries()) {  // those that no process has mapped yet
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
  if (!files.programs.empty())
    report_warning("DJ5917", fmt::format("processes that execute {} later are not probed: {}",
                                         names_of(files.programs), no_gate.message));
  if (!files.library_names.empty())
    report_warning("DJ5917",
                   fmt::format("processes that map {} later are not probed, except what the "
                               "probed ones execute: {}",
                               names_of(files.library_names), no_gate.message));
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

LibraryFiles all_libraries(const FilesEverywhere& files) {
  LibraryFiles libraries = files.libraries;
  for (const std::string& path : files.programs) {
    const std::optional<FileNumber> number = file_number(path);
    if (number && is_library(path)) libraries.emplace(*number, path);
  }
  return libraries;
}

}  // namespace

FilesEverywhere files_everywhere(const Program& program, const MeantTarget& meant,
                                 const TargetChoices& choices) {
  FilesEverywhere files;
  if (choices.is_given() || meant.is_kernel()) return files;
  files.programs = program_files(program);
  files.library_names = library_names(program);
  if (!files.library_names.empty()) files.libraries = libraries_of(program);
  return files;
}

Result<FoundTarget> find_everywhere(const FilesEverywhere& files, const TargetChoices& choices,
                                    std::optional<double> seconds) {
  forget_target_files();
  FoundTarget found;
  found.is_everywhere = true;
  found.trusted = choices.trusted;
  Error no_gate;
  Result<std::unique_ptr<ExecGate>> gate = ExecGate::open(files.programs);
  if (gate.ok())
    found.gate = gate.take();
  else
    no_gate = gate.error();
  found.libraries = all_libraries(files);
  take_running(files, choices, found);
  if (found.process) {
    if (!found.gate) warn_of_later(files, no_gate);
    return found;
  }
  std::vector<std::string> names = files.programs;
  names.insert(names.end(), files.library_names.begin(), files.library_names.end());
  if (files.programs.empty() && found.libraries.empty())
    return Error{"no process that djtap may trace has mapped " + names_of(names) +
                     ", and the loader knows no such library; -c starts one",
                 Fail::NotFound};
  if (!found.gate)
    return Error{fmt::format("no process that djtap may trace runs {}, and djtap may not wait for "
                             "one: {}; -c starts one",
                             names_of(names), no_gate.message),
                 no_gate.kind};
  DJ_TRY_DO(found.gate->watch_libraries(paths_here(found.libraries)));
  DJ_TRY(TracedProcess process, await_first(names, *found.gate, choices.trusted, seconds));
  find_names_as(process.pid);
  if (choices.writable_text) trust_writable(process.modules);
  found.process.emplace(std::move(process));
  return found;
}

}  // namespace dj
