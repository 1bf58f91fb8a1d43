// SPDX-License-Identifier: Apache-2.0
// Traps holds SIGTRAP for one installation. It owns the look-up table in which the agent's SIGTRAP
// action finds detours, sets that action and gives it back, and tells how often threads have
// trapped at each address.
#pragma once
#include <cstdint>

#include "compiler/base/result.h"
#include "compiler/stages/layout.h"
#include "runtime/memory/session_memory.h"
#include "runtime/process/stopped.h"
#include "runtime/shared/trap.h"
#include "runtime/text/trap_setup.h"

namespace dj {

class Traps {
 public:
  Traps() = default;
  // has_cache: the per-CPU cache stands in front of the table. is_shared: the installation is of
  // dlopened objects; the target's first installation has set SIGTRAP up and owns the action.
  Traps(const TrapRoom& room, bool has_cache, bool is_shared)
      : room_(room), has_cache_(has_cache), is_shared_(is_shared) {}

  bool is_shared() const { return is_shared_; }
  // This installation has set the action.
  bool is_installed() const { return setup_.installed(); }
  // SIGTRAP is the session's.
  bool is_set() const { return is_installed() || is_shared_; }
  // Whether more sites may be an int3.
  bool may_trap() const;
  const TrapRoom& room() const { return room_; }
  // The table in the arena. There must be one: a layout with handlers in the target has it.
  abi::TrapTable& table() const { return *reinterpret_cast<abi::TrapTable*>(room_.view); }
  abi::TrapWords& words() const { return *reinterpret_cast<abi::TrapWords*>(room_.data); }

  // Fills the table with the int3 and guard bytes of Registered sites, which must all find room,
  // and tells the agent of the table. handler, restorer: addresses of the agent's entries.
  void fill(const SessionMemory& memory, const SiteList& sites, uint64_t handler,
            uint64_t restorer);
  // Enters one more address and its detour; false: the table is full.
  bool insert(uint64_t address, uint64_t detour);
  // Leaves SIGTRAP to the program. Call it after fill() and instead of install().
  void refuse();
  // Makes the program wait for withdraw_traps() of the installation. `why`: kNoSigreturn, kTraced
  // ...
  void want_none(uint64_t why);
  // Returns what want_none() or the agent has written; 0: neither has, or all traps are out
  // already.
  uint64_t wanted_none() const;

  // Address of the ThreadTable that holds the program's own action.
  uint64_t threads() const { return setup_.threads(); }
  Status install(Stopped& stopped, Journal& journal) { return setup_.install(stopped, journal); }
  Status remove(Stopped& stopped) { return setup_.remove(stopped); }
  // Sends threads that have hit an int3, and have not got their SIGTRAP, to the detour, as if they
  // had got it; also at an int3 that was switched off since.
  Status take_back(Stopped& stopped) const;

  // The same, but sends them to the place again, as if they had not hit it yet.
  Status rewind(Stopped& stopped) const;

  // Returns how often threads have trapped at an address; 0 where there is no table.
  uint64_t hits(uint64_t address) const;
  // The same for these guards of the site (bits of PatchSite::guards()).
  uint64_t hits(const PatchSite& site, uint32_t guards) const;
  // Returns the bytes of the look-up table for the sites that were there when the session began.
  uint64_t bytes() const;

 private:
  TrapRoom room_;
  bool has_cache_ = false;
  bool is_shared_ = false;
  abi::ArenaRef<abi::TrapTable>* header_word_ =
      nullptr;  // Header::trap_table; null: fill() was not called
  TrapSetup setup_;
};

}  // namespace dj
