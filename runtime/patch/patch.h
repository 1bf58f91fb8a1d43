// SPDX-License-Identifier: Apache-2.0
// PatchSite holds one place in the text of the target that djtap changes, with all that djtap needs
// to change it and to put it back. It is data only: patch_plan.cpp makes PatchSites;
// runtime/detours and runtime/install use them.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arch/x86_64/detour.h"
#include "arch/x86_64/placement.h"
#include "compiler/stages/plan.h"
#include "runtime/patch/site_state.h"

namespace dj {

// OffBy: bits that say what has switched a handler off.
enum OffBy : uint8_t { kOffByCommand = 1, kOffByCondition = 2 };

// PatchCall: a handler that runs at a site on behalf of one Plan site.
struct PatchCall {
  SiteId site = 0;
  HandlerId handler = 0;
  arch::Form form = arch::Form::Boundary;
  uint8_t off = 0;       // bits of OffBy; 0: it is called when the site is hit
  bool at_exit = false;  // runs when the function is left here
  // What the code does here. Body: the handler's body. Leave, Land: it follows a call through a
  // tail call (compiler/lower/tail_calls.h). Object: it is no handler's code, but the hook of
  // _dl_find_object() (runtime/shared/own_code.h).
  enum Kind : uint8_t { Body, Leave, Land, Object } kind = Body;
  uint32_t exit = 0;  // kExit bits (runtime/shared/capture.h) for handlers that follow calls
  // The place lies in a function that may return for probed ones. The call is on while the handler
  // is on at one of those.
  bool shared = false;
  // Address in the target of the word through which the detour calls the handler; 0: the detour
  // calls it directly, and always.
  uint64_t slot = 0;
};

// Makes the call of a handler's body at a site.
PatchCall body_call(const Plan& plan, SiteId site, HandlerId handler, bool at_exit);

// JumpForm: how djtap writes a jump that is not simply e9 rel32 to its detour. The jump's
// displacement must fit a pattern (arch/x86_64/placement.h). So the jump leads to a stub whose
// address fits that pattern, and the stub jumps to the detour. Addresses are runtime addresses.
struct JumpForm {
  arch::Region region;
  std::vector<arch::Placement> placements;  // what is possible, best first
  arch::Placement placement;                // the one that choose_stubs() has taken
  uint64_t stub = 0;                        // 0: none chosen yet
  // The instruction that an int3 overwrites if no placement is possible: its offset in the region,
  // and its length.
  uint8_t int3_at = 0, int3_length = 0;
};

// PatchSite: a session has tens of thousands of them, and each of its steps goes over all. So the
// members that each step reads stand together, in front.
struct PatchSite {
  uint64_t address = 0;                     // runtime address of the first patched byte (IA)
  std::shared_ptr<JumpForm> form;           // of a jump that is not plain
  uint32_t module = 0;                      // index into the session's modules
  SiteState state = SiteState::Registered;  // changed by set_state() alone
  bool jump = false;                        // 5-byte jump, else int3
  bool word = false;  // no text, but a word of a GOT that leads there (got_slots.h)
  bool hook = false;  // system call hook: calls the agent, behind the handlers of a probe there
  bool live = false;  // its text may be written while threads run (live_text.h)
  uint32_t displaced = 0;    // bytes of `original` that go into the detour
  uint32_t rest = 0;         // the last ones of these, not of the DCR (whole_function_relocation.h)
  uint32_t handlers_at = 0;  // see arch::DetourRequest
  // Bytes in the file: the whole DCR (jump) or the one instruction (int3), and the other bytes that
  // patched() covers or the detour takes.
  std::vector<uint8_t> original;
  std::vector<PatchCall> calls;  // in the order of order_calls()
  std::vector<SiteId> owners;    // Plan sites that this place belongs to

  // Filled by build_detours():
  uint64_t detour = 0;  // address to which the jump or the trap leads
  // Bytes of the detour; place and bytes of its note (AreaNotes::note()). 0: there is none.
  uint32_t detour_bytes = 0, note_at = 0, note_bytes = 0;
  std::vector<std::pair<uint32_t, uint64_t>>
      copies;  // (offset in region, address of that instruction's copy)
  // Address of the copy of the instruction at handlers_at, behind the handlers that the copy begins
  // with. 0: there is no copy, or it does not begin with them.
  uint64_t probe_copy = 0;

  uint64_t off_since_ns = 0;             // armed, but none of its calls is enabled; 0: one is
  BoxedText reason;                      // of Int3 and Skipped
  BoxedOptional<arch::Leaving> leaving;  // of its at_exit calls, if not always; runtime addresses
  BoxedOptional<arch::JumpBytes>
      led;         // of a jump of the program's own that is led elsewhere: its bytes
  BoxedText name;  // of the function or system call, if steps are logged

  // Bit i: the jump keeps an int3 at address + i; a thread that traps there goes on in the detour.
  uint32_t guards() const { return jump && form ? form->placement.guards : 0; }
  // The guards among these that stand only in case djtap has read a jump table wrong.
  uint32_t doubts() const { return form ? guards() & form->region.doubts : 0; }
  // Bit i: another site begins at address + i, in the jump's displacement.
  uint8_t overlapped() const { return jump && form ? form->region.others : 0; }
  bool traps() const { return !jump || guards() != 0; }
  // Makes the place an int3 because no jump is possible; `why` becomes its reason.
  void fall_back_to_int3(std::string why);
  uint64_t probe_address() const { return address + handlers_at; }
  bool any_enabled() const;
  // The site waits to be patched: the text has its original bytes.
  bool is_waiting() const { return state == SiteState::Registered || state == SiteState::Disarmed; }
  // The target's text has the bytes of patched() now.
  bool armed() const { return state == SiteState::Int3 || state == SiteState::Optimized; }
  // The text has some bytes of the jump: djtap is writing it, or a write has failed.
  bool half_written() const {
    return jump && (state == SiteState::Int3 || state == SiteState::Optimizing);
  }
  void skip(std::string why);
  // Returns the bytes that overwrite the first ones of `original`.
  arch::JumpBytes patched() const;
};

struct ModuleCode;  // module_code.h

// Makes the place for a region that the checks have judged: a jump, or an int3 on the instruction
// that the handlers precede. `code`: of its module, which is loaded `bias` above its ELF addresses.
// Fails when the module has no such bytes or they do not decode.
Result<PatchSite> make_place(const ModuleCode& code, const arch::Region& region, bool jump,
                             uint64_t bias);

}  // namespace dj
