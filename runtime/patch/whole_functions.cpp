// Looks at the places of each module from the highest down, so that each knows the one behind it.
#include "runtime/patch/whole_functions.h"

#include <algorithm>

#include "arch/x86_64/whole.h"

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
  site.rest = whole - site.displaced;
  site.displaced = whole;
  site.original.assign(bytes.begin(), bytes.begin() + whole);
}

}  // namespace

void take_whole_functions(std::vector<PatchSite>& sites, const std::vector<MappedModule>& modules,
                          ModuleCodes& codes, const std::vector<bool>& counting) {
  if (std::find(counting.begin(), counting.end(), true) == counting.end()) return;
  std::vector<PatchSite*> order;  // those that were skipped stand among the others in no order
  for (PatchSite& site : sites) {
    if (site.state != SiteState::Skipped) order.push_back(&site);
  }
  std::sort(order.begin(), order.end(),
            [](const PatchSite* a, const PatchSite* b) { return a->address > b->address; });
  uint64_t end = ~uint64_t{0};
  for (PatchSite* site : order) {
    if (is_plain_entry(*site) && only_counts(*site, counting)) {
      const MappedModule& module = modules[site->module];
      const Result<ModuleCode*> code = codes.get(module);
      if (code.ok()) take_rest(*site, *code.value(), module.bias, end);
    }
    end = site->address;
  }
}

}  // namespace dj
