// SPDX-License-Identifier: Apache-2.0
// Sites whose text is written while the program runs: all threads stand only to be moved out of the
// bytes of jumps, and one stands meanwhile to serialize the processors.
#include <algorithm>

#include "runtime/install/install.h"
#include "runtime/process/permanent.h"
#include "runtime/process/remote_call.h"
#include "runtime/text/live_text.h"
#include "runtime/text/thread_moves.h"

namespace dj {

// Until the detours are built, nothing is known of the instructions inside.
void Installation::find_live_sites() {
  if (!patches().live) {
    return;
  }
  const std::vector<bool> permanent = permanent_modules(modules());
  for (PatchSite& site : patches().sites) {
    if (detours_->is_own(site)) continue;  // alone it is not worth it
    site.live =
        site.state == SiteState::Registered && permanent[site.module] && can_write_live(site);
  }
}

SiteList Installation::live_ones(const SiteList& sites, bool live) const {
  if (!patches().live) return live ? SiteList() : sites;
  SiteList out;
  std::copy_if(sites.begin(), sites.end(), std::back_inserter(out),
               [&](const PatchSite* s) { return s->live == live; });
  return out;
}

Status Installation::write_live(Stopped& stopped, const SiteList& sites) {
  DJ_TRY(pid_t keep, RemoteCall::best_thread(stopped));
  stopped.release_others(keep);
  LiveText text(stopped, sites);
  Detouring detouring;
  detouring.add_waiting(sites);
  Status written = text.prepare();
  if (written.ok()) {
    written = text.write(sites, [&]() -> Status {
      DJ_TRY_DO(stopped.stop_others());
      DJ_TRY_DO(traps_.take_back(stopped));
      DJ_TRY(MoveCounts moved, move_threads(stopped, detouring, restorers_, false));
      static_cast<void>(moved);
      stopped.release_others(keep);
      return ok_status();
    });
  }
  times_.live_ns += text.write_ns();
  if (!written.ok()) DJ_TRY_DO(abandon_live(stopped, sites));
  return written;
}

Status Installation::write_stopped(Stopped& stopped, const SiteList& sites) {
  for (PatchSite* site : sites) site->live = false;
  Detouring detouring;
  detouring.add_waiting(sites);
  DJ_TRY_DO(stopped.stop_others());
  DJ_TRY(MoveCounts moved, move_threads(stopped, detouring, restorers_, false));
  static_cast<void>(moved);
  TextImage text(sites);
  text.read(stopped);
  return write_sites(stopped, text, sites, patches_of(sites));
}

Status Installation::restore_live(Stopped& stopped, const SiteList& sites, std::string& damage) {
  LiveText text(stopped, sites);
  Status restored = text.restore(sites, damage);
  if (!restored.ok()) DJ_TRY_DO(abandon_live(stopped, sites));
  return restored;
}

// What cannot be put back now disarm() tries once more, as the sites that it knows to be half
// written.
Status Installation::abandon_live(Stopped& stopped, const SiteList& sites) {
  for (PatchSite* site : sites) site->live = false;
  DJ_TRY_DO(stopped.stop_others());
  DJ_TRY_DO(traps_.take_back(stopped));
  return LiveText::abandon(stopped, sites);
}

}  // namespace dj
