// CallWords: words of GOTs through which linkage stubs jump to probed functions. While a session's
// jumps stand these words lead to their detours, so that a call from another module, or to an
// exported function of its own, is spared one jump. Each is a PatchSite like others
// (PatchSite::word): looked at before it is written, journaled, put back. The entry's own jump
// stands all the same.
#pragma once
#include <cstddef>
#include <vector>

#include "runtime/control/patch.h"
#include "runtime/control/process.h"
#include "runtime/control/site_text.h"

namespace dj {

class CallWords {
 public:
  CallWords() = default;  // none
  // Words of `modules`, as mapped by `pid`, that hold the first byte's address of a plain jump
  // among `sites`. Only those that nothing but a linkage stub reads (R_X86_64_JUMP_SLOT): what a
  // program compares stays. Nobody need be stopped: words that change later are left alone.
  CallWords(const std::vector<MappedModule>& modules, pid_t pid,
            const std::vector<PatchSite>& sites);
  // `sites` have their detours now.
  void aim(const std::vector<PatchSite>& sites);
  // Words whose site will not be patched become Skipped.
  void follow(const std::vector<PatchSite>& sites);
  SiteList all();

 private:
  std::vector<PatchSite> words_;
  std::vector<size_t> targets_;  // by word: index of its site
};

}  // namespace dj
