// SPDX-License-Identifier: Apache-2.0
// ModuleWatch: the modules of a process, looked at again and again. A look costs what has come
// since the one before, where the kernel answers for single mappings (map_query.h); else it reads
// all mappings, but no file again unless some of its code came or went.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/process/map_query.h"
#include "runtime/process/process.h"

namespace dj {

class ModuleWatch {
 public:
  ModuleWatch() = default;  // of nobody
  explicit ModuleWatch(pid_t pid) : pid_(pid) {}
  // Looks; errors are those of mapped_modules(). Returns whether modules() may be others now.
  Result<bool> look();
  // The modules that have come since the last look, if all that was done since is mapping and they
  // are where the kernel maps, below those before them; they are among modules() then. Costs the
  // same however many there are. Nothing: all is as before, and takes a look().
  std::optional<std::vector<MappedModule>> look_below();
  // Whether the process has as much code mapped as at the last look: nothing can have come if all
  // that was done since is mapping, or all is unmapping. Costs little.
  bool has_as_much_code() const;
  // Counts code that djtap has mapped itself since the last look as seen.
  void take_for_known() { code_kb_ = code_kb(); }
  // What mapped_modules() would have given at the last look.
  const std::vector<MappedModule>& modules() const { return modules_; }

 private:
  // Adds the modules of these mappings, which are new, and gives them. Nothing: this takes a look
  // at all.
  std::optional<std::vector<MappedModule>> add(const MapQuery& query,
                                               const std::vector<Mapping>& fresh);
  Result<bool> look_now();
  uint64_t code_kb() const;  // 0: not known
  pid_t pid_ = 0;
  uint64_t code_kb_ = 0;       // at the last look
  uint64_t lowest_ = 0;        // where the modules begin that came last
  std::vector<Mapping> code_;  // executable mappings of files at the last look, ascending
  std::vector<MappedModule> modules_;
};

}  // namespace dj
