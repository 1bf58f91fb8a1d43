// SPDX-License-Identifier: Apache-2.0
// read_maps(), mapped_modules(), check_traceable() and others read what the kernel tells about a
// process: its mappings, the modules in them, and whether djtap may trace it. They do not touch the
// process.
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

// Mapping is one line of /proc/PID/maps.
struct Mapping {
  uint64_t begin = 0, end = 0;  // [begin, end)
  bool read = false, write = false, exec = false, shared = false;
  uint64_t offset = 0;             // in the file
  uint64_t device = 0, inode = 0;  // 0: no file
  std::string
      path;  // as the target sees it, without " (deleted)"; "[heap]", "[vdso]"; may be empty
  bool deleted = false;
};

// Reads the mappings of a process; pid 0: of djtap itself.
Result<std::vector<Mapping>> read_maps(pid_t pid);
// Parses the text of /proc/PID/maps.
std::vector<Mapping> parse_maps(const std::string& text);
// Sets path and `deleted` of a mapping whose inode is set. shown: its name as the kernel shows it.
void set_path(Mapping& mapping, std::string_view shown);
// Returns the file of a process's program as the kernel shows it, without " (deleted)". Empty:
// djtap may not know it, or the process has none.
std::string program_path(pid_t pid);
// Returns all modules that djtap can read, ascending; the vdso is one of them.
Result<std::vector<MappedModule>> mapped_modules(pid_t pid);
// Returns the modules of a process among its mappings `maps`.
std::vector<MappedModule> modules_among(pid_t pid, const std::vector<Mapping>& maps);
class MapQuery;
// Returns the modules that these executable mappings of files belong to, in any order. Empty: that
// takes a look at all mappings.
std::optional<std::vector<MappedModule>> modules_of_code(pid_t pid,
                                                         const std::vector<Mapping>& code,
                                                         const MapQuery& query);

// LostFile is a mapped object whose file djtap cannot open: the file was removed or replaced, never
// had a name, or is not readable for djtap.
struct LostFile {
  std::string path;
  bool in_memory = false;  // memory_image.h can make the file from memory
};
// Returns the lost files of a process that hold code.
std::vector<LostFile> lost_files(pid_t pid);

// ProcessStatus holds facts from /proc/PID/status and stat.
struct ProcessStatus {
  char state = '?';
  pid_t tracer = 0, parent = 0;
  uid_t uid = 0;
  std::string name;
  uint64_t size_kb = 0, data_kb = 0, locked_kb = 0;  // of its memory (VmSize, VmData, VmLck)
  uint64_t code_kb = 0;                              // mapped outside of the program (VmLib)
  bool is_kernels = false;                           // a thread of the kernel
};
// Reads the status of a process. Fails if there is no such process.
Result<ProcessStatus> read_status(pid_t pid);
// Whether djtap traces the thread now.
bool is_traced_by_djtap(pid_t tid);
// Returns when a process started, in clock ticks since boot: this tells it from a later process
// with its pid. Empty: there is no such process.
std::optional<uint64_t> start_time(pid_t pid);
// How long it has run, to a hundredth of a second.
std::optional<double> seconds_since_start(pid_t pid);
// Returns where the heap of a process begins (start_brk); 0: there is no such process.
uint64_t heap_begin(pid_t pid);

// AuxiliaryVector is what the kernel has told a program at its begin (getauxval(3)).
class AuxiliaryVector {
 public:
  explicit AuxiliaryVector(pid_t pid);
  uint64_t operator[](uint64_t key) const;  // AT_BASE ..; 0: absent

 private:
  struct Entry {
    uint64_t key, value;
  };
  std::vector<Entry> entries_;
};
// The same of one key.
uint64_t auxiliary(pid_t pid, uint64_t key);

// Checks that djtap can trace this process now. Fails with a message that says why not: no such
// process, a zombie, another tracer (its pid), another user's process, not dumpable.
Status check_traceable(pid_t pid);

// Return the processor time in nanoseconds that all threads of a process have used, and that of its
// children that it has waited for; 0: there is no such process.
uint64_t processor_ns(pid_t pid);
uint64_t ended_children_ns(pid_t pid);

// Returns the threads of a process that still run (no zombies), ascending.
std::vector<pid_t> live_threads(pid_t pid);
// Whether a thread has ended, or is about to (PF_EXITING of linux/sched.h): the kernel lets nobody
// trace it any more.
bool is_ending(pid_t tid);

// Returns the number under which /proc shows the process's memory: its own, or that of a thread
// that still runs after the first one has ended (pthread_exit).
pid_t living_thread(pid_t pid);

}  // namespace dj
