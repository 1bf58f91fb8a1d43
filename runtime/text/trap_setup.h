// SPDX-License-Identifier: Apache-2.0
// TrapSetup makes int3 sites possible: it sets the agent's SIGTRAP action and takes SIGTRAP out of
// all masks. A session needs it only when some site is an int3, and only after the system call
// hooks stand (hooks.h), which keep it that way.
#pragma once
#include <signal.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/base/result.h"
#include "runtime/patch/patch.h"
#include "runtime/process/remote_call.h"
#include "runtime/process/stopped.h"
#include "runtime/shared/trap.h"
#include "runtime/text/site_text.h"

namespace dj {

class Journal;

constexpr uint64_t kTrapBit = uint64_t{1} << (SIGTRAP - 1);  // of a mask of signals

// TrapBefore: what the program had of SIGTRAP before djtap took it.
struct TrapBefore {
  abi::AppAction app;
  std::vector<std::pair<int, uint64_t>> masks;  // (signal, handler) whose sa_mask had SIGTRAP
  std::vector<pid_t> blocked;                   // threads that had SIGTRAP blocked
};

// Returns what the process wants done with SIGTRAP, as its ThreadTable at `threads` has it.
Result<abi::AppAction> own_trap_action(const Stopped& stopped, uint64_t threads);

// Gives SIGTRAP back to the program. `handler`: of the agent's action. Leaves alone what the
// program has changed since. Call it after the last int3 is restored.
Status give_back_trap(Stopped& stopped, uint64_t handler, const TrapBefore& before);

class TrapSetup {
 public:
  TrapSetup() = default;
  // `trap_table`: the formatted TrapTable in the arena. `threads`: address of the ThreadTable,
  // which takes the application's own action. `handler`, `restorer`: the agent's entries.
  TrapSetup(uint64_t trap_table, uint64_t threads, uint64_t handler, uint64_t restorer)
      : table_(trap_table), threads_(threads), handler_(handler), restorer_(restorer) {}
  // Sets the action and takes SIGTRAP out of the masks of all threads. Call it before the first
  // int3 is written.
  Status install(Stopped& stopped, Journal& journal);
  // Gives SIGTRAP back to the application. Call it after the last int3 is restored.
  Status remove(Stopped& stopped);
  bool installed() const { return installed_; }
  uint64_t threads() const { return threads_; }

 private:
  Status clear_action_masks(RemoteCall& call, Journal& journal);
  uint64_t table_ = 0, threads_ = 0, handler_ = 0, restorer_ = 0;
  bool installed_ = false;
  TrapBefore before_ = {};  // all but the action, which the ThreadTable has
};

// Returns the addresses of this site where a SIGTRAP may come from, if only for a moment, each with
// the address where the thread goes on.
std::vector<std::pair<uint64_t, uint64_t>> trap_entries_of(const PatchSite& site);
// TrapRoom: where a TrapTable stands.
struct TrapRoom {
  uint64_t arena = 0;             // its base
  uint64_t table = 0, bytes = 0;  // arena address; 0: there is none
  uint64_t data = 0;              // arena address of its data
  uint64_t dlopened = 0;  // entries that remain free for objects that the target opens later
  uint64_t view = 0;      // address of djtap's view of the table; Traps::fill() sets it
};
// The reason of sites that are Skipped because they find no room in the session's TrapTable.
constexpr const char* kNoTrapRoom = "no room left in the session's look-up table";
// Returns how many of these sites, the first ones, find room in the table.
size_t sites_with_room(const TrapRoom& room, const SiteList& sites);
// Enters every int3 and guard byte of Registered sites, which must all find room, into the table.
void fill_trap_table(const TrapRoom& room, const SiteList& sites);

}  // namespace dj
