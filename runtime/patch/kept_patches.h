// SPDX-License-Identifier: Apache-2.0
// KeptPatches keeps the PatchPlan of a process in memory, for the next processes that have mapped
// the same files: a shell's loop executes one program a thousand times.
#pragma once
#include <optional>
#include <vector>

#include "runtime/patch/patch_plan.h"

namespace dj {

class KeptPatches {
 public:
  // Returns what find_patches() gives. All calls for one object have the same plan, options and
  // counting handlers. Where modules and facts are those of the call before, up to the addresses of
  // the modules, this moves what that call has found. A plan for which words of the target were
  // read (TargetFacts::read_word) is not kept: the next process may have others.
  PatchPlan find(const PatchInput& input, ModuleCodes& codes);

 private:
  bool fits(const PatchInput& input) const;
  std::optional<PatchPlan> patches_;
  std::vector<MappedModule> modules_;  // of the process that patches_ were planned for
  TargetFacts facts_;                  // without read_word
};

// Moves a place whose code has not been built yet.
void move_place(PatchSite& site, uint64_t distance);

}  // namespace dj
