// SPDX-License-Identifier: Apache-2.0
// Asks for the files of processes.
#include "runtime/run/machine_processes.h"

#include <fmt/format.h>

#include "runtime/process/output_readers.h"

namespace dj {
namespace {

std::set<FileNumber> all_files(const MachineProcesses& meant) {
  std::set<FileNumber> files = meant.programs;
  for (const auto& [number, path] : meant.libraries) files.insert(number);
  return files;
}

}  // namespace

NamedProcesses MachineProcesses::find() const {
  NamedProcesses found = every ? find_every_process() : find_processes_of(all_files(*this));
  std::erase_if(found.pids, [&](int pid) {
    if (!reads_output(pid)) return false;
    found.left_out.emplace(
        pid, Error{fmt::format("process {} reads what djtap writes, and each would wait for the "
                               "other (write to a file instead, by -o)",
                               pid),
                   Fail::Unsupported});
    return true;
  });
  return found;
}

bool MachineProcesses::has(int pid) const { return every || has_file(pid, all_files(*this)); }

}  // namespace dj
