// SPDX-License-Identifier: Apache-2.0
// Detours holds a PatchPlan whose sites have their code. plan_detours() says what code is needed.
// build_detours() writes it into the code areas that a target has mapped. Both take values and give
// values, so neither needs a process. A target takes the Detours and leads its text there.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/image.h"
#include "runtime/detours/code_areas.h"
#include "runtime/detours/detour_cache.h"
#include "runtime/detours/detour_writer.h"
#include "runtime/detours/stubs.h"
#include "runtime/patch/installed_site.h"
#include "runtime/patch/module_code.h"
#include "runtime/patch/patch_plan.h"
#include "runtime/patch/site_list.h"

namespace dj {

// ChooseStubs: chooses where stubs will lie, when the code areas have their places. Takes the free
// address ranges, the number of mappings that it may make, and for each code area the range that it
// serves and the range that it has. Returns the pages to map, ascending.
using ChooseStubs = std::function<std::vector<StubPages>(
    std::vector<AddressRange> free, uint64_t most,
    const std::vector<std::pair<AddressRange, AddressRange>>& areas)>;

// SampleCall: a timer.profile probe, whose handler runs in sampled threads (arch/x86_64/sample.h).
struct SampleCall {
  size_t host_probe = 0;  // its index in Plan::host_probes
  HandlerId handler = 0;
  SiteId site = 0;    // its row of the SiteInfos
  uint64_t done = 0;  // address of the word that is not 0 until the sampled thread has come back
};

// DetourPlan: a PatchPlan with all that its code depends on.
struct DetourPlan {
  PatchPlan patches;
  std::vector<MappedModule> modules;  // of the patches, by PatchSite::module
  std::vector<HandlerAbi> abis;       // by handler
  std::vector<SampleCall> samples;
  std::vector<uint64_t> semaphores;  // that marks need raised (runtime/patch/semaphores.h)
  uint64_t code_bytes = 0;           // handlers and agent in each code area: link_bytes(image)
  bool switched = false;             // handlers will be switched on and off
  uint64_t stub_bytes = 0;           // of the stubs that stub_chooser() has chosen
  DetourCache cache;

  // Makes each counter a handler that detours call, because no thread counts in a row of its own.
  // Call it before build_detours().
  void count_by_calls();
  // Returns the address ranges of the modules that need a code area near.
  std::vector<AddressRange> area_modules() const;
  // Returns the bytes that a code area must have: an upper bound of what build_detours() takes.
  uint64_t area_bytes();
  // Returns the function that gives every guarded or punned jump a stub to lead to. It refers to
  // this plan.
  ChooseStubs stub_chooser();
  SiteList sites() { return list_of(patches.sites); }
  // Sites, then hooks: some hooks have handlers, too.
  SiteList places();

 private:
  static SiteList list_of(std::vector<PatchSite>& places);
};

// DetourInput: what a plan of detours depends on, besides its PatchPlan.
struct DetourInput {
  const Plan& plan;
  const std::vector<HandlerAbi>& abis;
  const std::vector<MappedModule>& modules;  // that the patches were planned for
  size_t first_module = 0;                   // as in PatchInput: those before have no place
  uint64_t code_bytes = 0;                   // link_bytes(image)
  bool switched = false;
  std::vector<SampleCall> samples = {};
};

// Makes the plan of the detours for `patches`. `files`: has the detours of earlier sessions.
DetourPlan plan_detours(PatchPlan patches, const DetourInput& input, const FileCache& files);

struct Detours {
  DetourPlan plan;  // its sites have their detours
  DetourWriter writer;
  std::vector<uint64_t> samples;  // by DetourPlan::samples: address of the code
  uint64_t detour_bytes = 0;      // of all detours, with their index
  uint64_t link_ns = 0, build_ns = 0;

  SiteList sites() { return plan.sites(); }
  SiteList hooks();
  SiteList places() { return plan.places(); }
  // Whether the site is djtap's alone: the hook of _dl_find_object(), or the probe of the loader.
  bool is_own(const PatchSite& site) const;
  // Makes Skipped the Registered sites that need other sites (site_list.h) of which at least one
  // was skipped.
  void skip_dependents(const std::string& reason);
  // Hands the code to codes.keep(); codes.remember() then saves it for later sessions.
  void keep(ModuleCodes& codes) const;
  // Lists the places: one entry for each place and listed Plan site, by SiteId, then address.
  std::vector<InstalledSite> list() const { return list_sites(plan.patches, plan.modules); }
  // The number of those entries.
  size_t count() const;
};

// Links the code into each of `areas`, builds the detour of every Registered site there, and makes
// Skipped each site that gets no detour. `head`: the word that leads code that walks stacks to the
// notes (runtime/shared/own_code.h); it changes only when all is built. Fails when a hook has no
// detour, or the code cannot be linked.
Result<Detours> build_detours(DetourPlan plan, CodeAreas areas, const LinkCode& link,
                              uint64_t* head);

// Prints one line for each place, with ELF addresses (--dump=detours).
std::string dump(const Detours& detours);

}  // namespace dj
