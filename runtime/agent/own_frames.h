// SPDX-License-Identifier: Apache-2.0
// own_frames.h tells unwinders what the agent knows of djtap's own code: of detours by their notes
// (detour_note.h), of itself and the handlers by call frame information.
#pragma once
#include "runtime/shared/detour_note.h"

namespace dj::agent {

// False: pc is in no detour, or in one that nothing is known of.
bool find_in_detours(uint64_t pc, abi::DetourPlace* place);
// Where the copy of the program's instruction at `original` begins, in the detour that pc is in; 0:
// it has none, or it is the first, which the jump to the detour is written over.
uint64_t copy_in_detour(uint64_t pc, uint64_t original);

// Is this djtap's own code: code area or stub?
bool is_own_code(uint64_t pc);
// Where the stub at pc leads; pc itself where there is none.
uint64_t behind_stub(uint64_t pc);
// Call frame information of the agent's or a handler's function that pc is in: address of the
// description; 0: there is none.
uint64_t find_description(uint64_t pc);
// Where the jump at pc leads; 0: there is none.
uint64_t jump_target(uint64_t pc);

}  // namespace dj::agent
