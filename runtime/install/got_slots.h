// SPDX-License-Identifier: Apache-2.0
// GotSlots holds words of GOTs through which linkage stubs jump to probed functions. While a
// session's jumps stand these words lead to the detours. So a call from another module, or a call
// to an exported function of the module itself, is spared one jump. Each word is a PatchSite like
// others (PatchSite::word): djtap looks at it before it writes it, enters it in the journal, and
// puts it back. The entry's own jump stands all the same.
#pragma once
#include <cstddef>
#include <vector>

#include "runtime/patch/patch.h"
#include "runtime/process/mapped_module.h"
#include "runtime/process/running_memory.h"
#include "runtime/text/site_text.h"

namespace dj {

// GotSlot: a word of a GOT, by its ELF address, and what it holds.
struct GotSlot {
  uint64_t address = 0, value = 0;
};
// Returns the words of `module` that only linkage stubs jump through, as they are in `memory`;
// ascending. Empty where the module has none or they cannot be read.
std::vector<GotSlot> read_got_slots(const MappedModule& module, const RunningMemory& memory);

// Whether the site is a jump at the very byte that its handlers precede: a thread that comes by the
// detour then misses none of them.
bool is_plain_jump(const PatchSite& site);

class GotSlots {
 public:
  GotSlots() = default;  // none
  // Takes the words of `modules`, as mapped by `pid`, that hold the first byte's address of a plain
  // jump among `sites`. It takes only words that nothing but a linkage stub reads
  // (R_X86_64_JUMP_SLOT): what a program compares stays. The process may run; a word that changes
  // later is left alone when it is to be written. pid 0: no words.
  GotSlots(const std::vector<MappedModule>& modules, pid_t pid,
           const std::vector<PatchSite>& sites);
  // Points the words at the detours that `sites` have now, and then does what follow() does.
  void aim(const std::vector<PatchSite>& sites);
  // Makes Skipped each word whose site djtap will not patch.
  void follow(const std::vector<PatchSite>& sites);
  SiteList all();
  // How many words the modules have, wherever they lead.
  size_t words_seen() const { return words_seen_; }

 private:
  std::vector<PatchSite> words_;
  std::vector<size_t> targets_;  // by word: index of its site
  size_t words_seen_ = 0;
};

}  // namespace dj
