// SPDX-License-Identifier: Apache-2.0
// The way out of a detour for threads that stand in it when the session ends: a copy of an
// instruction and the instruction are the same to them.
#include <algorithm>

#include "runtime/install/install.h"

namespace dj {

Status Installation::send_home(const Stopped& stopped, const std::vector<uint64_t>& inside) {
  Detouring home;
  for (const PatchSite* site : detours_->places()) {
    const AddressRange detour = {site->detour, site->detour + site->detour_bytes};
    const bool is_in =
        std::ranges::any_of(inside, [&](uint64_t at) { return detour.contains(at); });
    if (is_in && site->state == SiteState::Disarmed) home.add_home(*site);
  }
  if (home.empty()) return ok_status();
  DJ_TRY(const MoveCounts moved, move_threads(stopped, home, restorers_, false));
  static_cast<void>(moved);
  return ok_status();
}

}  // namespace dj
