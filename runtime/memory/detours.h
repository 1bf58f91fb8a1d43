// SPDX-License-Identifier: Apache-2.0
// Linking the handlers into the islands and building the detour of every patched place there.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "compiler/base/result.h"
#include "compiler/stages/image.h"
#include "runtime/memory/detour_notes.h"
#include "runtime/memory/session_memory.h"
#include "runtime/patch/kept_detours.h"
#include "runtime/patch/patch.h"
#include "runtime/text/site_text.h"

namespace dj {

// Links handlers and agent for `base` into `working` (compiler/stages/image.h, link()).
using LinkCode = std::function<Result<Linked>(uint64_t base, std::span<uint8_t> working)>;

// CodeIslands: the islands of a session with the code linked into each.
class CodeIslands {
 public:
  static Result<CodeIslands> link_all(SessionMemory& memory, uint64_t code_bytes,
                                      const LinkCode& link);
  // What unwinders need of the islands (runtime/shared/own_code.h): once, before build(). Takes at
  // most IslandNotes::bytes_for() of each.
  Status give_notes(SessionMemory& memory);
  // Behind all build(): from then on detours are known to unwinders, those that are built later,
  // too.
  Status finish_notes(SessionMemory& memory);
  // Addresses of the OwnIslands that tell of all of it.
  std::vector<uint64_t> own_code() const;
  // Of a site's detour.
  std::span<const uint8_t> note_of(SessionMemory& memory, const PatchSite& site) const;
  // switch_slots.cpp. Each call of a Registered site gets a slot in the island that will have its
  // detour, by which turn() switches it; before build(). Takes at most slot_bytes().
  Status give_slots(SessionMemory& memory, const SiteList& sites) const;
  // From now on whoever comes to this call finds it on or off, as it says: one store, no thread
  // need stop. Nothing for a call without a slot.
  void turn(SessionMemory& memory, const PatchSite& site, const PatchCall& call) const;
  // Builds a detour of `site` with all its calls. Fails when there is no room, or the bytes cannot
  // be moved there.
  Status build(SessionMemory& memory, PatchSite& site, const std::vector<HandlerAbi>& abis);
  // The same for one whose stub is not in this memory, if it has one.
  Status build_detour(SessionMemory& memory, PatchSite& site, const std::vector<HandlerAbi>& abis);
  // The same from what an earlier session has kept, for a module loaded at `bias`. Fails when
  // something is out of reach.
  Status build_kept(SessionMemory& memory, PatchSite& site, const KeptDetour& kept, uint64_t bias);
  // Where the handler of a call begins that is made at `site`.
  uint64_t entry(SessionMemory& memory, const PatchSite& site, const PatchCall& call) const;
  // Points the stub of a jump that has one at the site's detour; nobody is in the stub.
  static Status write_stub(SessionMemory& memory, const PatchSite& site);
  // Code of arch::build_sample() in the first island; its address.
  Result<uint64_t> write_sample(SessionMemory& memory, HandlerId handler, SiteId site,
                                const HandlerAbi& abi, uint64_t done) const;
  // Address of an agent entry in some island; 0: there is none of this name.
  uint64_t symbol(const std::string& name) const;

 private:
  CodeIslands() = default;
  const Linked& linked_in(SessionMemory& memory, const Island& island) const;
  size_t index_of(SessionMemory& memory, const Island& island) const;
  Status build_in(Island& island, const Linked& code, IslandNotes& notes, PatchSite& site,
                  const std::vector<HandlerAbi>& abis);
  std::vector<Linked> linked_;      // by island
  std::vector<IslandNotes> notes_;  // by island
  arch::DetourRequest request_;     // these two: of the detour that is being built
  arch::Detour detour_;
};

// Where the handler of a call begins in `code`.
uint64_t entry_of(const PatchCall& call, const Linked& code);
// An upper bound of what give_slots() takes from an island.
uint64_t slot_bytes(const SiteList& sites);
// An upper bound of what one build() takes from an island.
uint64_t detour_room(const PatchSite& site, const std::vector<HandlerAbi>& abis);

}  // namespace dj
