// SPDX-License-Identifier: Apache-2.0
// DetourWriter: the code that patched places lead to. Links the handlers into code areas and builds
// detours there. Bytes out: no process is needed.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/image.h"
#include "runtime/detours/code_areas.h"
#include "runtime/detours/detour_cache.h"
#include "runtime/detours/detour_notes.h"
#include "runtime/patch/patch_plan.h"
#include "runtime/patch/site_list.h"

namespace dj {

// Links handlers and agent for `base` into `working` (compiler/stages/image.h, link()).
using LinkCode = std::function<Result<Linked>(uint64_t base, std::span<uint8_t> working)>;

class DetourWriter {
 public:
  // Links the code, `code_bytes` of it, into each code area of `areas`, which are empty.
  static Result<DetourWriter> link_all(CodeAreas areas, uint64_t code_bytes, const LinkCode& link);
  // What unwinders need of the code areas (runtime/shared/own_code.h): once, before build(). Takes
  // at most AreaNotes::bytes_for() of each.
  Status give_notes();
  // Behind all build(): from then on detours are known to unwinders, those that are built later,
  // too. `head`: the word of the arena's header that leads to the notes.
  Status finish_notes(uint64_t* head);
  // Addresses of the OwnAreas that tell of all of it.
  std::vector<uint64_t> own_code() const;
  // Of a site's detour.
  std::span<const uint8_t> note_of(const PatchSite& site) const;
  // switch_slots.cpp. Each call of a Registered site gets a slot in the code area that will have
  // its detour, by which turn() switches it; before build(). Takes at most slot_bytes().
  Status give_slots(const SiteList& sites);
  // From now on whoever comes to this call finds it on or off, as it says: one store, no thread
  // need stop. Nothing for a call without a slot.
  void turn(const PatchSite& site, const PatchCall& call) const;
  // Builds a detour of `site` with all its calls. Fails when there is no room, or the bytes cannot
  // be moved there.
  Status build(PatchSite& site, const std::vector<HandlerAbi>& abis);
  // The same for one whose stub is not in these areas, if it has one.
  Status build_detour(PatchSite& site, const std::vector<HandlerAbi>& abis);
  // The same from what an earlier session has kept, for a module loaded at `bias`. Fails when
  // something is out of reach.
  Status build_cached(PatchSite& site, const CachedDetour& kept, uint64_t bias);
  // Where the handler of a call begins that is made at `site`.
  uint64_t entry(const PatchSite& site, const PatchCall& call) const;
  // Points the stub of a jump that has one at the site's detour; nobody is in the stub.
  Status write_stub(const PatchSite& site);
  // Code of arch::build_sample() in the first code area; its address.
  Result<uint64_t> write_sample(HandlerId handler, SiteId site, const HandlerAbi& abi,
                                uint64_t done);
  // Address of an agent entry in some code area; 0: there is none of this name.
  uint64_t symbol(const std::string& name) const;
  CodeAreas& areas() { return areas_; }
  const CodeAreas& areas() const { return areas_; }

 private:
  DetourWriter() = default;
  Status build_in(size_t index, PatchSite& site, const std::vector<HandlerAbi>& abis);
  CodeAreas areas_;
  std::vector<Linked> linked_;    // by code area
  std::vector<AreaNotes> notes_;  // by code area
  arch::DetourRequest request_;   // these two: of the detour that is being built
  arch::Detour detour_;
};

// Where the handler of a call begins in `code`.
uint64_t entry_of(const PatchCall& call, const Linked& code);
// An upper bound of what give_slots() takes from a code area.
uint64_t slot_bytes(const SiteList& sites);
// An upper bound of what one build() takes from a code area.
uint64_t detour_room(const PatchSite& site, const std::vector<HandlerAbi>& abis);

}  // namespace dj
