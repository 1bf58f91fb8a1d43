// SPDX-License-Identifier: Apache-2.0
// Each place may take what lies before the next one.
#include "runtime/patch/whole_function_relocation.h"

#include <algorithm>

#include "arch/x86_64/whole_function.h"
#include "compiler/base/parallel.h"
#include "compiler/base/sort_runs.h"

namespace dj {
namespace {

bool only_counts(const PatchSite& site, const std::vector<bool>& counting) {
  return !site.calls.empty() &&
         std::all_of(site.calls.begin(), site.calls.end(), [&](const PatchCall& call) {
           return call.kind == PatchCall::Body && call.form == arch::Form::Boundary &&
                  !call.at_exit && counting[call.handler];
         });
}

bool is_plain_entry(const PatchSite& site) {
  return site.state == SiteState::Registered && site.jump && !site.form && !site.hook &&
         site.handlers_at == 0;
}

// `end`: where the next place begins; runtime address.
void take_rest(PatchSite& site, const ModuleCode& code, uint64_t bias, uint64_t end) {
  std::span<const uint8_t> bytes;
  const uint64_t most = std::min<uint64_t>(arch::kWholeMost, end - site.address);
  for (uint64_t room = most; room > site.displaced && bytes.empty(); room--) {
    bytes = code.at(site.address - bias, room);
  }
  const uint32_t whole = arch::whole_function(bytes, site.address, site.displaced);
  if (whole == 0) return;
  const uint64_t entry = site.address - bias;
  if (code.checker->must_stay(entry + site.displaced, entry + whole)) return;
  site.rest = whole - site.displaced;
  site.displaced = whole;
  site.original.assign(bytes.begin(), bytes.begin() + whole);
}

}  // namespace

void relocate_whole_functions(std::vector<PatchSite>& sites,
                              const std::vector<MappedModule>& modules, ModuleCodes& codes,
                              const std::vector<bool>& counting) {
  if (std::find(counting.begin(), counting.end(), true) == counting.end()) return;
  std::vector<PatchSite*> order;  // those that were skipped stand among the others in no order
  for (PatchSite& site : sites) {
    if (site.state != SiteState::Skipped) order.push_back(&site);
  }
  sort_runs(order.begin(), order.end(),
            [](const PatchSite* a, const PatchSite* b) { return a->address < b->address; });
  std::vector<const ModuleCode*> code(modules.size());
  for (const PatchSite* site : order) {
    if (code[site->module] != nullptr) continue;
    const Result<ModuleCode*> found = codes.get(modules[site->module]);
    if (found.ok()) code[site->module] = found.value();
  }
  parallel(order.size(), [&](size_t i) {
    PatchSite& site = *order[i];
    if (!is_plain_entry(site) || !only_counts(site, counting)) return;
    const uint64_t end = i + 1 < order.size() ? order[i + 1]->address : ~uint64_t{0};
    if (code[site.module] != nullptr)
      take_rest(site, *code[site.module], modules[site.module].bias, end);
  });
}

}  // namespace dj
