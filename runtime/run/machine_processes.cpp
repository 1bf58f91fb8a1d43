// SPDX-License-Identifier: Apache-2.0
// Asks for the files of processes.
#include "runtime/run/machine_processes.h"

namespace dj {
namespace {

std::set<FileNumber> all_files(const MachineProcesses& meant) {
  std::set<FileNumber> files = meant.programs;
  for (const auto& [number, path] : meant.libraries) files.insert(number);
  return files;
}

}  // namespace

NamedProcesses MachineProcesses::find() const {
  return every ? find_every_process() : find_processes_of(all_files(*this));
}

bool MachineProcesses::has(int pid) const { return every || has_file(pid, all_files(*this)); }

}  // namespace dj
