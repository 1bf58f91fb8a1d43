// SPDX-License-Identifier: Apache-2.0
// DetourWriter writes the code that patched places lead to. It links the handlers into code areas
// and builds detours there. It gives bytes, and needs no process.
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

// LinkCode: links handlers and agent for the address `base` into the bytes `working`
// (compiler/stages/image.h, link()), of which the first `shared` are there already.
using LinkCode =
    std::function<Result<Linked>(uint64_t base, std::span<uint8_t> working, uint64_t shared)>;

class DetourWriter {
 public:
  // Links the code, `code_bytes` of it, into each code area of `areas`, which are empty. Fails with
  // the error of `link`.
  static Result<DetourWriter> link_all(CodeAreas areas, uint64_t code_bytes, const LinkCode& link);
  // Prepares what unwinders need to know of the code areas (runtime/shared/own_code.h). Call it
  // once, before build(). It takes at most AreaNotes::bytes_for() of each code area, and fails when
  // there is no room.
  Status give_notes();
  // Makes the detours known to unwinders: those that are built, and each later one when it is
  // built. Call it after all build(). `head`: the word of the arena's header that leads to the
  // notes.
  Status finish_notes(uint64_t* head);
  // Addresses of the OwnAreas that describe all of this code.
  std::vector<uint64_t> own_code() const;
  // Returns the note of a site's detour.
  std::span<const uint8_t> note_of(const PatchSite& site) const;
  // switch_slots.cpp. Gives each call of a Registered site a slot in the code area that will have
  // its detour; turn() switches the call by the slot. Call it before build(). It takes at most
  // slot_bytes(), and fails when there is no room.
  Status give_slots(const SiteList& sites);
  // Stores into the call's slot whether it is on: each thread that comes to the call from now on
  // finds it so. It is one store; no thread need stop. It does nothing for a call without a slot.
  void turn(const PatchSite& site, const PatchCall& call) const;
  // Builds a detour of `site` with all its calls, and its stub. Fails when there is no room, or the
  // site's instructions cannot run there.
  Status build(PatchSite& site, const std::vector<HandlerAbi>& abis);
  // Builds a detour without its stub: for a site whose stub, if it has one, is not in these areas.
  Status build_detour(PatchSite& site, const std::vector<HandlerAbi>& abis);
  // Builds a detour from what an earlier session has kept, for a module loaded at `bias`. Fails
  // when there is no room, or something is out of reach.
  Status build_cached(PatchSite& site, const CachedDetour& kept, uint64_t bias);
  // Returns the address at which the handler of `call`, made at `site`, begins.
  uint64_t entry(const PatchSite& site, const PatchCall& call) const;
  // Points the stub of the site's jump, which has one, at the site's detour. No thread may be in
  // the stub.
  Status write_stub(const PatchSite& site);
  // Writes the code of arch::build_sample() into the first code area; returns its address.
  Result<uint64_t> write_sample(HandlerId handler, SiteId site, const HandlerAbi& abi,
                                uint64_t done);
  // Returns the address of an agent entry in some code area; 0: there is none of this name.
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

// Returns the address at which the handler of a call begins in `code`.
uint64_t entry_of(const PatchCall& call, const Linked& code);
// Returns an upper bound of the bytes that give_slots() takes from a code area.
uint64_t slot_bytes(const SiteList& sites);
// Returns an upper bound of the bytes that one build() takes from a code area.
uint64_t detour_room(const PatchSite& site, const std::vector<HandlerAbi>& abis);

}  // namespace dj
