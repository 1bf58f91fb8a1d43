// PatchSite: one place in the text of the target that djtap changes, with all that is needed to change it and to
// put it back. Data only; patch_plan.cpp makes them, install.cpp uses them.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "arch/x86_64/detour.h"
#include "compiler/plan.h"

namespace dj {

enum class SiteState : uint8_t { Planned, Optimized, Int3, Skipped, Disabled, Gone };
const char* site_state_name(SiteState state);  // "OPTIMIZED" ...

// Handlers that run at a site on behalf of one Plan site.
struct PatchCall {
  SiteId site = 0;
  HandlerId handler = 0;
  arch::Form form = arch::Form::Boundary;
};

struct PatchSite {
  uint64_t address = 0;             // runtime address of the first patched byte (IA)
  size_t module = 0;                // index into the session's modules
  std::vector<uint8_t> original;    // bytes of the region in the file: whole DCR, or the one instruction
  uint32_t handlers_at = 0;         // see arch::DetourRequest
  bool jump = false;                // 5-byte jump, else int3
  bool hook = false;                // system call hook: calls the agent, no handlers
  std::vector<PatchCall> calls;     // in registration order
  std::vector<std::pair<SiteId, SiteKind>> owners;  // Plan sites that have calls here
  SiteState state = SiteState::Planned;
  std::string reason;               // of Int3 and Skipped
  // filled by place()
  uint64_t detour = 0;              // where jump or trap go
  std::vector<std::pair<uint32_t, uint64_t>> copies;  // (offset in region, address of the copy)
  std::vector<uint8_t> patched() const;  // the bytes that go over the first ones of `original`
};

// TrapAgent: the agent's entry points for int3 sites, and what the application had before.
struct TrapAgent {
  uint64_t handler = 0, restorer = 0, syscall_hook = 0;
  bool installed = false;
  uint64_t old_action[4] = {};  // kernel's struct sigaction: handler, flags, restorer, mask
  std::vector<std::pair<int, uint64_t>> cleared_masks;  // (signal, its old sa_mask)
};

}  // namespace dj
