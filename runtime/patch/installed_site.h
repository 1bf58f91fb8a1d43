// SPDX-License-Identifier: Apache-2.0
// InstalledSite holds what lists show of one probed place (--probes, -n, the monitor, reports).
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/patch/patch_plan.h"

namespace dj {

// InstalledHandler: a handler at a site.
struct InstalledHandler {
  HandlerId handler = 0;  // of the plan that the site came with
  ProbeId probe = 0;
  uint8_t off = 0;  // bits of OffBy
};

// InstalledGuards: int3 bytes that a jump keeps.
struct InstalledGuards {
  unsigned count = 0;
  uint64_t traps = 0;  // how often a thread arrived at one of them
};

// InstalledSite: one patched (or refused) place, as --probes prints it.
struct InstalledSite {
  SiteId site = 0;
  uint64_t address = 0;  // runtime address of the instruction that the handlers precede
  char letter = 'e';     // site_letter()
  std::string symbol;    // "symbol+0x12"
  std::string foreign;   // "shop.total+0x12", as its language calls it; empty: see shown_symbol()
  std::string module;    // path
  SiteState state = SiteState::Skipped;
  std::string reason;  // of Int3 and Skipped
  bool jump = false;   // of Registered: not int3
  InstalledGuards guards;
  std::vector<InstalledHandler> handlers;  // in registration order
  int pid = 0;                             // of the process, where a session has several
};

// Returns the site's name as people read it: "symbol+0x12", or `foreign`.
std::string shown_name(const InstalledSite& site);

// HandlerAt: one handler at one Plan site, as it is switched on and off.
using HandlerAt = std::pair<SiteId, HandlerId>;
// "00007f12 e symbol+0x0 /lib/libc.so.6 [OPTIMIZED]", and " pid 12" where that is known
std::string to_string(const InstalledSite& site);

// Makes the list's entry of `place` for its Plan site `id`. guards.traps stays 0: the plan does not
// know it.
InstalledSite list_site(const PatchSite& place, SiteId id, const SiteNames& names,
                        const MappedModule& module);
// Lists all places of the plan, hooks too: one entry for each place and listed Plan site, in the
// order of sort_sites(). `modules`: of the plan.
std::vector<InstalledSite> list_sites(const PatchPlan& patches,
                                      const std::vector<MappedModule>& modules);
// Sorts by SiteId, then by address.
void sort_sites(std::vector<InstalledSite>& sites);

}  // namespace dj
