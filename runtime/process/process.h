// SPDX-License-Identifier: Apache-2.0
// What the kernel tells about a process without touching it: its mappings, the modules in them, and
// whether djtap may trace it.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// Mapping: one line of /proc/PID/maps.
struct Mapping {
  uint64_t begin = 0, end = 0;  // [begin, end)
  bool read = false, write = false, exec = false, shared = false;
  uint64_t offset = 0;             // in the file
  uint64_t device = 0, inode = 0;  // 0: no file
  std::string
      path;  // as the target sees it, without " (deleted)"; "[heap]", "[vdso]"; may be empty
  bool deleted = false;
};

// pid 0: djtap itself.
Result<std::vector<Mapping>> read_maps(pid_t pid);
std::vector<Mapping> parse_maps(const std::string& text);
// Sets path and `deleted` of a mapping with its inode from how the kernel shows its name.
void set_path(Mapping& mapping, std::string_view shown);
// All modules that djtap can read, ascending; the vdso is one of them.
Result<std::vector<MappedModule>> mapped_modules(pid_t pid);
// The same of a process whose mappings have been read.
std::vector<MappedModule> modules_among(pid_t pid, const std::vector<Mapping>& maps);
class MapQuery;
// The modules that these executable mappings of files belong to, in no order. Nothing: that takes a
// look at all mappings.
std::optional<std::vector<MappedModule>> modules_of_code(pid_t pid,
                                                         const std::vector<Mapping>& code,
                                                         const MapQuery& query);

// LostFile: a mapped object whose file djtap cannot open: it was removed or replaced, never had a
// name, or may not be read.
struct LostFile {
  std::string path;
  bool in_memory = false;  // what the process has mapped of it will do (memory_image.h)
};
std::vector<LostFile> lost_files(pid_t pid);

// ProcessStatus: from /proc/PID/status and stat.
struct ProcessStatus {
  char state = '?';
  pid_t tracer = 0, parent = 0;
  uid_t uid = 0;
  std::string name;
  uint64_t size_kb = 0, data_kb = 0, locked_kb = 0;  // of its memory (VmSize, VmData, VmLck)
  uint64_t code_kb = 0;                              // mapped outside of the program (VmLib)
  uint64_t heap_begin = 0;                           // start_brk
  bool is_kernels = false;                           // a thread of the kernel
};
Result<ProcessStatus> read_status(pid_t pid);
// When a process started, in clock ticks since boot: tells it from a later one with its pid.
// Empty: there is no such process.
std::optional<uint64_t> start_time(pid_t pid);
// Entry `key` of the auxiliary vector (AT_BASE ...); 0: absent.
uint64_t auxiliary(pid_t pid, uint64_t key);

// Can djtap trace this process now? Fails with a message that says why not: no such process, a
// zombie, somebody else's tracer (its pid), another user's process, not dumpable.
Status check_traceable(pid_t pid);

// Nanoseconds of processor time that all threads of a process have used, and its children that it
// has waited for; 0: there is no process.
uint64_t processor_ns(pid_t pid);

// Threads of a process that still run (no zombies), ascending.
std::vector<pid_t> live_threads(pid_t pid);

// By what number /proc shows the process's memory: its own, or that of a thread that still runs
// when the first one has ended (pthread_exit).
pid_t living_thread(pid_t pid);

}  // namespace dj
