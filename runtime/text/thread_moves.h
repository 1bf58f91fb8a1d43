// SPDX-License-Identifier: Apache-2.0
// move_threads() moves threads out of bytes that are about to become a jump. It changes their
// program counters, those that the kernel saved in signal frames on their stacks, and the signal
// masks saved there.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/patch/patch.h"
#include "runtime/process/mapped_module.h"
#include "runtime/process/stopped.h"
#include "runtime/text/site_text.h"

namespace dj {

// Detouring: tells where a thread that stands inside a region must go on.
class Detouring {
 public:
  // Adds the moves of a jump's bytes, and the addresses of the site's int3s. An int3 alone has no
  // moves: no thread stands in the middle of it.
  void add(const PatchSite& site);
  void add_waiting(const SiteList& sites);  // those that are to be patched now
  // Adds the way back, for a site whose text is the original again: a thread that stands at an
  // instruction's copy goes on at the instruction.
  void add_home(const PatchSite& site);
  // Whether an int3 of djtap's is at `address`. The agent changes a SIGTRAP frame that came from
  // there.
  bool traps_at(uint64_t address) const;
  bool empty() const { return moves_.empty(); }
  // Returns where a thread at `pc` must go on; 0: it may stay. Instruction starts within the jump's
  // bytes, but not the first one, move to their copies.
  uint64_t moved(uint64_t pc) const;
  // As moved(), for a thread that djtap called out of a system call, behind which it stands. The
  // kernel lets it go on there, with EINTR, or two bytes before, to make the call again; djtap
  // cannot know which, as signals may still come. So the thread goes behind another `syscall` that
  // the same code follows. Where the jump leaves the call its bytes, the thread stays: the handlers
  // stand before the call.
  uint64_t moved_interrupted(uint64_t pc) const;

 private:
  using Move = std::pair<uint64_t, uint64_t>;  // from, to
  using Moves = std::vector<Move>;
  uint64_t found(const Moves& moves, uint64_t pc) const;
  void sort() const;
  // Sorted only when a question comes: there is a move for every instruction in every jump's bytes,
  // and there are few questions.
  mutable Moves moves_;
  mutable Moves calls_;  // of threads behind the system calls there
  mutable std::vector<uint64_t> traps_;
  mutable bool sorted_ = true;
};

// Returns the program's stack pointer, where `address` is on one of djtap's own stacks
// (own_stack.h); empty: it is on another stack.
std::optional<uint64_t> stack_left_for_own(const Stopped& stopped, uint64_t address);

struct MoveCounts {
  size_t threads = 0, frames = 0, masks = 0;
};

// Moves all threads of `stopped`, and says how many. `restorers`: addresses of the rt_sigreturn
// code that signal frames return to (find_restorers). clear_trap: also take SIGTRAP out of the
// masks that these frames restore.
Result<MoveCounts> move_threads(const Stopped& stopped, const Detouring& detouring,
                                const std::vector<uint64_t>& restorers, bool clear_trap);

// Returns the runtime addresses, sorted, of the code that signal frames return to, in the text of
// the given modules: mov $15,%rax (or %eax); syscall.
struct MappedModule;
class ModuleCodes;
std::vector<uint64_t> find_restorers(const std::vector<MappedModule>& modules, ModuleCodes& codes);

}  // namespace dj
