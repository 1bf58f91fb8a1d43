// SPDX-License-Identifier: Apache-2.0
// MachineProcesses tells which processes of the machine a script means where the command line names
// none: all, or those that have some files.
#pragma once
#include <map>
#include <set>
#include <string>

#include "runtime/process/file_number.h"
#include "runtime/process/named_processes.h"

namespace dj {

// LibraryFiles: libraries, with a path of each.
using LibraryFiles = std::map<FileNumber, std::string>;

struct MachineProcesses {
  bool every = false;
  std::set<FileNumber> programs;  // else those that run one of these,
  LibraryFiles libraries;         // or have mapped one of these

  // Those that run now (NamedProcesses).
  NamedProcesses find() const;
  // Whether this process is meant, as far as it has mapped its files.
  bool has(int pid) const;
  // The same of a process that has executed a program a moment ago and mapped no library yet.
  bool may_have(int pid) const { return !libraries.empty() || has(pid); }
};

}  // namespace dj
