// SPDX-License-Identifier: Apache-2.0
// GotSlots: words of GOTs through which linkage stubs jump to probed functions. While a session's
// jumps stand these words lead to their detours, so that a call from another module, or to an
// exported function of its own, is spared one jump. Each is a PatchSite like others
// (PatchSite::word): looked at before it is written, journaled, put back. The entry's own jump
// stands all the same.
#pragma once
#include <cstddef>
#include <vector>

#include "runtime/patch/patch.h"
#include "runtime/process/mapped_module.h"
#include "runtime/process/running_memory.h"
#include "runtime/text/site_text.h"

namespace dj {

// A word of a GOT, by its ELF address, and what it holds.
struct GotSlot {
  uint64_t address = 0, value = 0;
};
// Those of `module` that only linkage stubs jump through, as they are in `memory`; ascending. Empty
// where there are none or they cannot be read.
std::vector<GotSlot> read_got_slots(const MappedModule& module, const RunningMemory& memory);

// A jump at the first byte that its handlers precede, so that who comes by the detour misses none.
bool is_plain_jump(const PatchSite& site);

class GotSlots {
 public:
  GotSlots() = default;  // none
  // Words of `modules`, as mapped by `pid`, that hold the first byte's address of a plain jump
  // among `sites`. Only those that nothing but a linkage stub reads (R_X86_64_JUMP_SLOT): what a
  // program compares stays. The process may run: words that change later are left alone. pid 0: no
  // words.
  GotSlots(const std::vector<MappedModule>& modules, pid_t pid,
           const std::vector<PatchSite>& sites);
  // `sites` have their detours now.
  void aim(const std::vector<PatchSite>& sites);
  // Words whose site will not be patched become Skipped.
  void follow(const std::vector<PatchSite>& sites);
  SiteList all();
  // Words that there are, wherever they lead.
  size_t words_seen() const { return words_seen_; }

 private:
  std::vector<PatchSite> words_;
  std::vector<size_t> targets_;  // by word: index of its site
  size_t words_seen_ = 0;
};

}  // namespace dj
