// SPDX-License-Identifier: Apache-2.0
// How a PatchPlan gets its code: room first, then handlers, notes, slots and detours.
#include "runtime/detours/detours.h"

#include <algorithm>

#include "runtime/detours/detour_notes.h"
#include "runtime/patch/semaphores.h"
#include "runtime/process/os_error.h"

namespace dj {

SiteList DetourPlan::list_of(std::vector<PatchSite>& places) {
  SiteList list;
  list.reserve(places.size());
  for (PatchSite& place : places) list.push_back(&place);
  return list;
}

SiteList DetourPlan::places() {
  SiteList list = sites();
  for (PatchSite& hook : patches.hooks) list.push_back(&hook);
  return list;
}

DetourPlan plan_detours(PatchPlan patches, const DetourInput& input, const FileCache& files) {
  DetourPlan made;
  made.patches = std::move(patches);
  made.abis = input.abis;
  made.samples = input.samples;
  made.semaphores = semaphores_of(input.plan, input.modules);
  made.code_bytes = input.code_bytes;
  made.switched = input.switched;
  if (!made.switched) made.cache = DetourCache(made.patches.key, input.abis, input.modules, files);
  made.modules.assign(input.modules.begin() + static_cast<long>(input.first_module),
                      input.modules.end());
  for (PatchSite* place : made.places()) place->module -= static_cast<uint32_t>(input.first_module);
  return made;
}

void DetourPlan::count_by_calls() {
  for (HandlerAbi& abi : abis) {
    if (abi.count_word == 0) continue;
    abi.count_word = 0;
    cache = {};  // its detours count in rows
  }
}

std::vector<AddressRange> DetourPlan::area_modules() const {
  std::vector<bool> used(modules.size());
  for (size_t i = 0; i < modules.size() && !samples.empty(); i++) {
    used[i] = modules[i].is_executable_file && !modules[i].partial;
  }
  for (const std::vector<PatchSite>* places : {&patches.sites, &patches.hooks}) {
    for (const PatchSite& place : *places) {
      if (place.state == SiteState::Registered) used[place.module] = true;
    }
  }
  std::vector<AddressRange> ranges;
  for (size_t i = 0; i < used.size(); i++) {
    if (used[i]) ranges.push_back({modules[i].begin, modules[i].end});
  }
  return ranges;
}

uint64_t DetourPlan::area_bytes() {
  uint64_t bytes = 4096;
  for (const PatchSite& hook : patches.hooks) bytes += detour_room(hook, abis);
  for (const PatchSite& site : patches.sites) {
    // Another for the int3 that a hot guard makes of it.
    const uint64_t detours = site.form ? 2 : 1;
    if (site.state != SiteState::Registered) continue;
    bytes += detours * detour_room(site, abis) + (detours - 1) * AreaNotes::kLateBytes;
  }
  if (switched) bytes += slot_bytes(places());
  return code_bytes + bytes + AreaNotes::bytes_for(bytes, patches.sites.size());
}

ChooseStubs DetourPlan::stub_chooser() {
  return [this](std::vector<AddressRange> free, uint64_t most, const auto& areas) {
    StubSpace space(std::move(free), most);
    choose_stubs(sites(), space, areas);
    return space.shared_pages(&stub_bytes);
  };
}

SiteList Detours::hooks() {
  SiteList list;
  for (PatchSite& hook : plan.patches.hooks) list.push_back(&hook);
  return list;
}

bool Detours::is_own(const PatchSite& site) const {
  return site.owners.empty() ||
         (site.owners.size() == 1 && !plan.patches.names.is_listed(site.owners.front()));
}

void Detours::skip_dependents(const std::string& reason) {
  for (PatchSite* site : partners(sites())) {
    if (site->state == SiteState::Registered) site->skip(reason);
  }
  for (PatchSite* site : without_support(sites())) site->skip(reason);
}

void Detours::keep(ModuleCodes& codes) const {
  const DetourCache& cache = plan.cache;
  if (!cache.wants_detours()) return;
  const auto view = [this](uint64_t address, uint64_t count) {
    return writer.areas().view(address, count);
  };
  const auto entry = [this](const PatchSite& site, const PatchCall& call) {
    return writer.entry(site, call);
  };
  const auto note_of = [this](const PatchSite& site) { return writer.note_of(site); };
  codes.keep(cache.name(), cache.key(),
             pack_detours(plan.patches.sites, plan.modules, view, entry, note_of));
}

size_t Detours::count() const {
  size_t count = 0;
  for (const std::vector<PatchSite>* places : {&plan.patches.sites, &plan.patches.hooks}) {
    for (const PatchSite& place : *places) {
      count += static_cast<size_t>(std::ranges::count_if(
          place.owners, [this](SiteId id) { return plan.patches.names.is_listed(id); }));
    }
  }
  return count;
}

namespace {

Status build_hooks(Detours& detours) {
  for (PatchSite& hook : detours.plan.patches.hooks) {
    const Status built = detours.writer.build(hook, detours.plan.abis);
    if (built.ok()) continue;
    return Error{"cannot hook a system call of " + detours.plan.modules[hook.module].path + ": " +
                 built.error().message};
  }
  return ok_status();
}

// From an earlier session's detours where there are any, else anew.
Status build_site(Detours& detours, PatchSite& site) {
  const std::optional<CachedDetour> kept = detours.plan.cache.find(site);
  const uint64_t bias = detours.plan.modules[site.module].bias;
  if (kept && detours.writer.build_cached(site, *kept, bias).ok()) return ok_status();
  return detours.writer.build(site, detours.plan.abis);
}

void build_sites(Detours& detours) {
  bool all = true;
  for (PatchSite& site : detours.plan.patches.sites) {
    if (site.state != SiteState::Registered) continue;
    const Status built = build_site(detours, site);
    if (built.ok()) continue;
    site.skip(built.error().message);
    all = false;
  }
  if (!all) detours.skip_dependents("a site that it needs has no detour");
}

Status build_samples(Detours& detours) {
  for (const SampleCall& sample : detours.plan.samples) {
    DJ_TRY(const uint64_t code,
           detours.writer.write_sample(sample.handler, sample.site,
                                       detours.plan.abis[sample.handler], sample.done));
    detours.samples.push_back(code);
  }
  return ok_status();
}

}  // namespace

Result<Detours> build_detours(DetourPlan plan, CodeAreas areas, const LinkCode& link,
                              uint64_t* head) {
  uint64_t begin = now_ns();
  DJ_TRY(DetourWriter writer, DetourWriter::link_all(std::move(areas), plan.code_bytes, link));
  Detours detours{.plan = std::move(plan), .writer = std::move(writer)};
  detours.link_ns = now_ns() - begin;
  begin = now_ns();
  DJ_TRY_DO(detours.writer.give_notes());
  const uint64_t left = detours.writer.areas().bytes_left();
  if (detours.plan.switched) DJ_TRY_DO(detours.writer.give_slots(detours.places()));
  DJ_TRY_DO(build_hooks(detours));
  build_sites(detours);
  detours.plan.cache.close();
  DJ_TRY_DO(detours.writer.finish_notes(head));
  detours.detour_bytes = left - detours.writer.areas().bytes_left();
  detours.detour_bytes += AreaNotes::index_bytes(detours.detour_bytes);
  DJ_TRY_DO(build_samples(detours));
  detours.build_ns = now_ns() - begin;
  return detours;
}

}  // namespace dj
