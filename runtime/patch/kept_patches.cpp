// SPDX-License-Identifier: Apache-2.0
// A plan's addresses are those of its modules: only these change.
#include "runtime/patch/kept_patches.h"

#include <algorithm>

#include "runtime/patch/patch_cache.h"

namespace dj {
namespace {

// Whether the ranges are the same, each seen from its module's bias.
bool same_ranges(const std::vector<AddressRange>& a, uint64_t bias_a,
                 const std::vector<AddressRange>& b, uint64_t bias_b) {
  return std::ranges::equal(a, b, [&](const AddressRange& one, const AddressRange& other) {
    return one.begin - bias_a == other.begin - bias_b && one.end - bias_a == other.end - bias_b;
  });
}

bool same_file(const MappedModule& a, const MappedModule& b) {
  return a.path == b.path && a.version == b.version && (a.version || a.is_vdso) &&
         a.is_vdso == b.is_vdso && a.is_executable_file == b.is_executable_file;
}

bool same_but_moved(const MappedModule& a, const MappedModule& b) {
  return same_file(a, b) && a.partial == b.partial && a.shared == b.shared &&
         a.awaits_relocation == b.awaits_relocation &&
         same_ranges(a.text, a.bias, b.text, b.bias) &&
         same_ranges(a.writable, a.bias, b.writable, b.bias);
}

bool same_facts(const TargetFacts& a, const TargetFacts& b) {
  return a.has_rseq == b.has_rseq && a.makes_system_calls == b.makes_system_calls &&
         a.keeps_calls == b.keeps_calls && a.is_running == b.is_running &&
         a.has_trap == b.has_trap && a.no_int3 == b.no_int3;
}

}  // namespace

void move_place(PatchSite& site, uint64_t distance) {
  site.address += distance;
  if (site.form) {
    site.form = std::make_shared<JumpForm>(*site.form);
    arch::Region& region = site.form->region;
    region.address += distance;
    if (region.probe_address != 0) region.probe_address += distance;
    for (arch::Placement& placement : site.form->placements) placement.jump += distance;
  }
  if (!site.leaving) return;
  for (arch::FunctionRange& range : site.leaving->inside)
    range = {range.begin + distance, range.end + distance};
}

bool KeptPatches::fits(const PatchInput& input) const {
  return patches_ && same_facts(facts_, input.facts) &&
         std::ranges::equal(modules_, input.modules, same_but_moved);
}

PatchPlan KeptPatches::find(const PatchInput& input, ModuleCodes& codes) {
  if (!fits(input)) {
    bool has_read = false;
    PatchInput watched = input;
    watched.facts.read_word = [&](uint64_t address, uint64_t& word) {
      has_read = true;
      return input.facts.read_word && input.facts.read_word(address, word);
    };
    PatchPlan found = find_patches(watched, codes);
    patches_.reset();
    if (has_read) return found;
    modules_ = input.modules;
    facts_ = input.facts;
    facts_.read_word = {};
    patches_ = found;
    return found;
  }
  PatchPlan moved = *patches_;
  for (std::vector<PatchSite>* places : {&moved.sites, &moved.hooks}) {
    for (PatchSite& site : *places)
      move_place(site, input.modules[site.module].bias - modules_[site.module].bias);
  }
  return moved;
}

}  // namespace dj
