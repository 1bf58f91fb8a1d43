// SPDX-License-Identifier: Apache-2.0
// ModuleWatch keeps the list of a process's modules up to date, look by look. Where the kernel
// answers for single mappings (map_query.h), the cost of a look depends on what has come since the
// last one. Elsewhere a look reads all mappings; it reads a file again only if code of it came or
// went.
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
  ModuleWatch() = default;  // of no process; the list is empty
  explicit ModuleWatch(pid_t pid) : pid_(pid) {}
  // Looks. Returns whether modules() may have changed. Errors: those of mapped_modules().
  Result<bool> look();
  // Returns the modules that have come since the last look, and adds them to modules(). This works
  // if the process has only mapped since, and the modules lie where the kernel maps: below those
  // before them. The cost does not depend on how many modules there are. Empty: modules() is
  // unchanged, and the caller needs look().
  std::optional<std::vector<MappedModule>> look_below();
  // Whether the process has as much code mapped as at the last look. If so, and the process has
  // only mapped or only unmapped since then, no module has come. Costs little.
  bool has_as_much_code() const;
  // Counts code that djtap itself has mapped since the last look as seen.
  void take_for_known() { code_kb_ = code_kb(); }
  // The modules that mapped_modules() would have given at the last look.
  const std::vector<MappedModule>& modules() const { return modules_; }

 private:
  // Adds the modules of these mappings, which are new, and returns them. Empty: that takes a look
  // at all mappings.
  std::optional<std::vector<MappedModule>> add(const MapQuery& query,
                                               const std::vector<Mapping>& fresh);
  Result<bool> look_now();
  uint64_t code_kb() const;  // 0: unknown
  pid_t pid_ = 0;
  uint64_t code_kb_ = 0;       // at the last look
  uint64_t lowest_ = 0;        // where the modules that came last begin
  std::vector<Mapping> code_;  // executable mappings of files at the last look, ascending
  std::vector<MappedModule> modules_;
};

}  // namespace dj
