// A guard byte where many threads arrive (a loop's head) costs a trap each time: such a site goes
// back to an int3, which traps once a hit, while the program runs.
#include "runtime/control/install.h"
#include "runtime/shared/trap.h"

namespace dj {

std::vector<size_t> Installation::hot_guards(uint64_t limit) {
  std::vector<size_t> hot;
  if (!trap_.installed()) {
    return hot;
  }
  for (auto& [index, seen] : seen_traps_) {
    const PatchSite& site = patches_.sites[index];
    const uint64_t now = site.armed() ? guard_traps(site) : seen;
    if (now - seen > limit) {
      hot.push_back(index);
    }
    seen = now;
  }
  return hot;
}

Status Installation::cool_guards(Stopped& stopped, SessionMemory& memory,
                                 const std::vector<size_t>& hot) {
  SiteList sites;
  for (size_t index : hot) {
    sites.push_back(&patches_.sites[index]);
    seen_traps_.erase(index);
  }
  DJ_TRY_DO(find_gone(stopped, sites, modules_));
  std::string damage;
  DJ_TRY_DO(restore_sites(stopped, sites, damage));
  for (PatchSite* site : sites) {
    if (site->state != SiteState::Disarmed) {
      continue;
    }
    site->fall_back_to_int3("hot-guard");
    DJ_TRY_DO(code_->build(memory, *site, abis_));
    auto* table = reinterpret_cast<abi::TrapTable*>(trap_table_);
    if (!abi::trap_table_insert(table, site->address, site->detour)) {
      return Error{"the look-up table of int3 sites is full"};
    }
  }
  TextImage text(sites);
  text.read(stopped);
  check_text(text, sites);
  DJ_TRY_DO(journal_->enter(sites));
  DJ_TRY_DO(write_sites(stopped, text, sites, patches_of(sites)));
  return damage.empty() ? ok_status() : Status(Error{damage});
}

}  // namespace dj
