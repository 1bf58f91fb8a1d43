// SPDX-License-Identifier: Apache-2.0
// Moving threads out of bytes that are about to become a jump: their program counters, those that
// wait in signal frames on their stacks, and signal masks saved there.
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

// Detouring: where a thread that stands inside a region must go on.
class Detouring {
 public:
  // Only jumps: an int3 leaves nobody in the middle of it.
  void add(const PatchSite& site);
  void add_waiting(const SiteList& sites);  // those that are to be patched now
  // The way back, for a site whose text is the original again: who stands at an instruction's copy
  // goes on at the instruction.
  void add_home(const PatchSite& site);
  // Is an int3 of ours at `address`? A SIGTRAP frame that came from there is the agent's to change.
  bool traps_at(uint64_t address) const;
  bool empty() const { return moves_.empty(); }
  // 0: may stay. Instruction starts within the jump's bytes, but not the first one, move to their
  // copies.
  uint64_t moved(uint64_t pc) const;
  // As moved(), for a thread that was called out of a system call, behind which it stands. The
  // kernel lets it go on there, with EINTR, or two bytes before, to make the call again: not known
  // which, as signals may still come. So it goes behind another `syscall` that the same code
  // follows. Where the jump leaves the call its bytes, it stays: the handlers stand before it.
  uint64_t moved_interrupted(uint64_t pc) const;

 private:
  using Move = std::pair<uint64_t, uint64_t>;  // from, to
  using Moves = std::vector<Move>;
  uint64_t found(const Moves& moves, uint64_t pc) const;
  void sort() const;
  // Ascending once it is asked: one for every instruction in every jump's bytes, and few questions.
  mutable Moves moves_;
  mutable Moves calls_;  // of threads behind the system calls there
  mutable std::vector<uint64_t> traps_;
  mutable bool sorted_ = true;
};

// The program's stack pointer, where `address` is on an own stack of djtap's (own_stack.h); empty:
// it is on another one.
std::optional<uint64_t> stack_left_for_own(const Stopped& stopped, uint64_t address);

struct MoveCounts {
  size_t threads = 0, frames = 0, masks = 0;
};

// `restorers`: addresses of the rt_sigreturn code that signal frames return to (find_restorers).
// clear_trap: also take SIGTRAP out of the masks that these frames restore.
Result<MoveCounts> move_threads(const Stopped& stopped, const Detouring& detouring,
                                const std::vector<uint64_t>& restorers, bool clear_trap);

// mov $15,%rax (or %eax); syscall: in the text of the given modules, runtime addresses, sorted.
struct MappedModule;
class ModuleCodes;
std::vector<uint64_t> find_restorers(const std::vector<MappedModule>& modules, ModuleCodes& codes);

}  // namespace dj
