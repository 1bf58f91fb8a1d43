// PatchSite: one place in the text of the target that djtap changes, with all that is needed to
// change it and to put it back. Data only: patch_plan.cpp makes them, detours.cpp and install.cpp
// use them.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "arch/x86_64/detour.h"
#include "compiler/plan.h"
#include "runtime/control/site_state.h"

namespace dj {

// A handler that runs at a site on behalf of one Plan site.
struct PatchCall {
  SiteId site = 0;
  HandlerId handler = 0;
  arch::Form form = arch::Form::Boundary;
  bool enabled = true;  // else the detour leaves it out
};

struct PatchSite {
  uint64_t address = 0;  // runtime address of the first patched byte (IA)
  size_t module = 0;     // index into the session's modules
  std::vector<uint8_t>
      original;              // bytes of the region in the file: whole DCR, or the one instruction
  uint32_t handlers_at = 0;  // see arch::DetourRequest
  bool jump = false;         // 5-byte jump, else int3
  bool hook = false;         // system call hook: calls the agent, no handlers
  std::vector<PatchCall> calls;             // in registration order
  std::vector<SiteId> owners;               // Plan sites that this place belongs to
  std::string name;                         // of the function or system call, for the log
  SiteState state = SiteState::Registered;  // changed by set_state() alone
  std::string reason;                       // of Int3 and Skipped

  // Filled by build_detours():
  uint64_t detour = 0;  // where jump or trap go
  std::vector<std::pair<uint32_t, uint64_t>>
      copies;  // (offset in region, address of that instruction's copy)

  uint64_t pivot() const { return address + handlers_at; }
  // The target's text has patched() now.
  bool armed() const { return state == SiteState::Int3 || state == SiteState::Optimized; }
  void skip(std::string why);
  // The bytes that go over the first ones of `original`.
  std::vector<uint8_t> patched() const;
};

}  // namespace dj
