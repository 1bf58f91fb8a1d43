// SPDX-License-Identifier: Apache-2.0
// A trap in a signal handler puts a second signal frame onto the handler's stack. On an alternate
// stack that is too small for two the kernel kills the program, so places that trap are refused:
// when such a stack is there at arming, and as soon as the program asks for one.
#include "runtime/process/signal_stacks.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <set>

#include "runtime/install/install.h"
#include "runtime/shared/denied.h"
#include "runtime/shared/thread_table.h"
#include "runtime/shared/trap.h"

namespace dj {
namespace {

std::string reason(uint64_t bytes, uint64_t least) {
  if (bytes == abi::kNoSigreturn)
    return "SIGTRAP (the program's seccomp filter denies rt_sigreturn)";
  if (bytes == abi::kTraced) return "SIGTRAP (the program has asked to be traced)";
  return fmt::format("small-sigaltstack ({} bytes, a trap on it needs {})", bytes, least);
}

// With those whose jumps end in the bytes of these.
SiteList with_overlapping(SiteList sites, const SiteList& all) {
  std::set<uint64_t> places;
  for (const PatchSite* site : sites) {
    places.insert(site->address);
  }
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    const uint64_t address = (*it)->address;
    for (uint64_t i = 0, others = (*it)->overlapped(); others >> i != 0; i++) {
      if ((others >> i & 1) == 0 || !places.contains(address + i)) continue;
      if (places.insert(address).second) sites.push_back(*it);
    }
  }
  return sites;
}

}  // namespace

Result<bool> Installation::refuse_traps(Stopped& stopped, uint64_t denied) {
  if (!patches().needs_trap()) {
    return false;
  }
  abi::TrapTable& table = traps_.table();
  const uint64_t least = least_signal_stack(stopped);
  const uint64_t at = traps_.threads() + offsetof(abi::ThreadTable, signal_stack);
  DJ_TRY(uint64_t bytes, small_signal_stack(stopped, least, at));
  if ((denied & abi::asked_bit(SYS_rt_sigreturn)) != 0) bytes = abi::kNoSigreturn;
  table.stack_least = least;
  if (bytes == 0) {
    return false;
  }
  patches().live = false;
  for (PatchSite& site : patches().sites) {
    site.live = false;
    if (site.state == SiteState::Registered && site.traps()) {
      site.skip(reason(bytes, least));
    }
  }
  detours_->skip_dependents(reason(bytes, least));
  traps_.refuse();
  return true;
}

bool Installation::is_met_by_traps() const {
  if (!traps_.is_installed()) return false;
  return std::any_of(patches().sites.begin(), patches().sites.end(), [&](const PatchSite& site) {
    return site.armed() && site.traps() && (!site.jump || guard_traps(site) > 1);
  });
}

Status Installation::withdraw_traps(Stopped& stopped) {
  const abi::TrapTable& table = traps_.table();
  abi::TrapWords& words = traps_.words();
  const uint64_t small = abi::load(&words.stack_small);
  SiteList trapping;
  for (PatchSite& site : patches().sites) {
    site.live = false;
    if (site.traps()) {
      trapping.push_back(&site);
    }
  }
  DJ_TRY_DO(traps_.take_back(stopped));
  DJ_TRY_DO(find_gone(stopped, detours_->sites(), modules()));
  std::string damage;
  const auto take_out = [&](const SiteList& sites) -> Status {
    DJ_TRY_DO(restore_sites(stopped, sites, damage));
    for (PatchSite* site : sites) {
      if (site->state == SiteState::Disarmed) {
        site->skip(reason(small, table.stack_least));
      }
    }
    return ok_status();
  };
  DJ_TRY_DO(take_out(with_overlapping(trapping, detours_->sites())));
  DJ_TRY_DO(take_out(with_overlapping(partners(detours_->sites()), detours_->sites())));
  abi::store(&words.trapless, uint64_t{1});
  return damage.empty() ? ok_status() : Status(Error{damage});
}

}  // namespace dj
