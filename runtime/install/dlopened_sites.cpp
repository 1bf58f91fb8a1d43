// SPDX-License-Identifier: Apache-2.0
// What an installation does otherwise when its objects came after the session had begun, or go
// before it ends.
#include <algorithm>

#include "runtime/install/install.h"
#include "runtime/process/running_memory.h"
#include "runtime/text/site_text.h"

namespace dj {
namespace {

// Stands the file's own text where this site was armed? Also when nothing is there any more.
bool is_as_in_file(const PatchSite& site, const RunningMemory& memory) {
  const arch::JumpBytes ours = site.patched();
  std::vector<uint8_t> now(ours.size());
  return !memory.read(site.address, now.data(), now.size()) ||
         std::equal(now.begin(), now.end(), site.original.begin());
}

}  // namespace

// The table is in use: entries are only added.
void Installation::share_trap_table() {
  for (PatchSite& site : patches().sites) {
    if (site.state != SiteState::Registered) {
      continue;
    }
    for (auto [address, detour] : trap_entries_of(site)) {
      if (!traps_.insert(address, detour)) {
        site.skip(kNoTrapRoom);
        break;
      }
    }
  }
  detours_->skip_dependents(kNoTrapRoom);
}

// Of each module that has sites one that is armed, if there is any: those that are off have nothing
// in the text.
std::vector<const PatchSite*> Installation::armed_samples() {
  if (samples_by_module_.empty()) {
    std::map<uint32_t, size_t> first;
    for (size_t i = 0; i < patches().sites.size(); i++) first.emplace(patches().sites[i].module, i);
    samples_by_module_.assign(first.begin(), first.end());
  }
  std::vector<const PatchSite*> samples;
  for (auto& [module, index] : samples_by_module_) {
    for (size_t i = 0; i < patches().sites.size() && !patches().sites[index].armed(); i++) {
      if (patches().sites[i].module == module && patches().sites[i].armed()) index = i;
    }
    if (patches().sites[index].armed()) samples.push_back(&patches().sites[index]);
  }
  return samples;
}

std::set<uint64_t> Installation::find_gone_sites(const RunningMemory& memory,
                                                 const std::vector<MappedModule>& now) {
  std::set<uint64_t> anew;
  std::set<uint32_t> gone;
  for (uint32_t i = 0; i < modules().size(); i++) {
    if (!is_mapped(modules()[i], now)) gone.insert(i);
  }
  for (const PatchSite* site : armed_samples()) {
    if (gone.contains(site->module) || !is_as_in_file(*site, memory)) continue;
    gone.insert(site->module);
    anew.insert(modules()[site->module].begin);
  }
  if (gone.empty()) return anew;
  for (const SiteList& places : {detours_->places(), all_others()}) {
    for (PatchSite* place : places) {
      if (gone.contains(place->module) && is_legal_step(place->state, SiteState::Gone))
        set_state(*place, SiteState::Gone, "its module was unmapped");
    }
  }
  return anew;
}

}  // namespace dj
