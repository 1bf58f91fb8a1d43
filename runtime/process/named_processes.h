// SPDX-License-Identifier: Apache-2.0
// find_named_processes() finds the processes of a name, find_processes_of() those of a file,
// find_every_process() all; process_names() gives the names that running programs have,
// mapped_files() the files of all.
#pragma once
#include <sys/types.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/file_number.h"

namespace dj {

// Whether a process is called `name`. comm: what the kernel calls it, cut off behind 15 bytes.
// program: the base name of its executable file; empty: not known.
bool is_called(std::string_view name, std::string_view comm, std::string_view program);

// NamedProcesses holds the processes of one name or file, without djtap itself, its ancestors, and
// those that are on their way into execve() and that it follows.
struct NamedProcesses {
  std::vector<pid_t> pids;          // those that djtap may trace, the oldest first
  std::map<pid_t, Error> left_out;  // the others, and why it may not trace them
};
NamedProcesses find_named_processes(const std::string& name);
// Those that run one of these files or have mapped its code.
NamedProcesses find_processes_of(const std::set<FileNumber>& files);
// The file of the program that a process runs; empty: none, or djtap may not know.
std::optional<FileNumber> program_of(pid_t pid);
bool has_file(pid_t pid, const std::set<FileNumber>& files);
// All of which djtap may know the program, but what djtap has started; so no threads of the kernel.
NamedProcesses find_every_process();

// Returns the files whose code processes have mapped, with the path that one of these has it by;
// without those of djtap itself, of its ancestors, and of processes whose maps djtap may not read.
// Opens none of them: a file system of the process's own might never answer.
std::map<FileNumber, std::string> mapped_files();

// Returns the names of processes of which djtap may know the program, without djtap itself and its
// ancestors. Leaves out names that a shell does not take as they stand.
std::vector<std::string> process_names();

}  // namespace dj
