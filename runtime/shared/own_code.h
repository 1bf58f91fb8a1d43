// SPDX-License-Identifier: Apache-2.0
// OwnCode says where djtap's own code lies in the target, and what unwinders must know of it, so
// that a stack can be walked from the middle of a detour, a handler or the agent: by a signal
// handler that calls backtrace(), by an exception that it throws, by a thread that is cancelled.
#pragma once
#include "runtime/shared/abi.h"

namespace dj::abi {

struct CodeRange {
  uint64_t begin, end;
};

// A header of call frame information (.eh_frame_hdr, Linux Standard Base) without a search table.
struct FrameHeader {
  uint8_t version;  // 1; 0: there is none
  uint8_t pointer_form, count_form, table_form;
  int32_t frames;  // address of the information less that of this field
};
constexpr uint8_t kFormRelative = 0x1b, kFormNone = 0xff;  // pc-relative in four bytes; absent

// OwnArea: one code code area. Lies in it; written by the controller before the first detour is
// reached.
struct OwnArea {
  uint64_t next;  // address of another one; 0: none
  CodeRange area;
  CodeRange detours;  // where they may be; before them agent and handlers
  uint64_t ends;      // address of words: bit i: a detour that has a note ends with unit i
  // Address of the notes (detour_note.h), ascending as their detours, and of an offset there for
  // each word of `ends`: of the first one that it means.
  uint64_t notes, offsets;
  uint64_t stubs, stub_count;  // address of CodeRanges, ascending: pages of jumps to detours
  FrameHeader frames[2];       // of the agent; of the handlers
};
constexpr uint32_t kUnitsInWord = 64;

// FrameText: call frame information of a place in a detour. The agent makes it when an unwinder
// first asks for it; it stays as it is then.
struct FrameText {
  uint64_t pc;  // 0: free. kBeingWritten: set
  FrameHeader header;
  uint8_t text[80];
};
constexpr uint64_t kBeingWritten = uint64_t{1} << 63;
constexpr uint32_t kFrameTextBits = 13;

// DebugEntry: djtap's code as debuggers find it (runtime/memory/debug_list.h): glibc's struct
// r_debug_extended, and the one link map that it leads to (<link.h>). In private memory.
struct DebugEntry {
  uint64_t version, map, breakpoint, state, loader, next;
  uint64_t load_bias, name, dynamic, next_map, map_before;
  char path[40];
};

// OwnFrames: what the agent tells unwinders. In private memory (thread_table.h): what another
// process wrote here would lead this one's unwinder anywhere.
struct OwnFrames {
  uint64_t object[6];  // a link map (<link.h>) without a name, and that name's end
  FrameText slots[1 << kFrameTextBits];
};

}  // namespace dj::abi
