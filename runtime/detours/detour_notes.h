// SPDX-License-Identifier: Apache-2.0
// AreaNotes holds the notes of the detours of one code area (runtime/shared/detour_note.h), and
// writes what the code area says of itself (runtime/shared/own_code.h).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "arch/x86_64/detour.h"
#include "compiler/base/short_vector.h"
#include "runtime/detours/code_area.h"
#include "runtime/detours/code_areas.h"
#include "runtime/shared/detour_note.h"

namespace dj {

// Note: has room for the longest note that can be begun; make_note() drops one of more than
// kNoteBytesMax.
using Note = ShortVector<uint8_t, 10 + 2 * abi::kNotePieces>;
// Returns the note of a detour at the address `at` for the region at `original`. Empty: the detour
// needs more than a note can say.
Note make_note(const arch::Detour& detour, uint64_t at, uint64_t original);
// Changes a note, so that it is that of the same detour at the address `at` for the region at
// `original`.
void place_note(std::span<uint8_t> note, uint64_t at, uint64_t original);

// AreaNotes: makes the OwnArea of a code area.
class AreaNotes {
 public:
  // Returns an upper bound of what the OwnArea takes, besides the notes, in a code area of `area`
  // bytes with `stubs` ranges of stubs.
  static uint64_t bytes_for(uint64_t area, uint64_t stubs);
  // Returns how many bytes of the OwnArea's tables `detours` bytes of detours touch.
  static uint64_t index_bytes(uint64_t detours);
  // Takes room from the code area; fails when there is none. `agent_frames`, `handler_frames`:
  // addresses of the call frame information of the agent and the handlers; 0: none.
  static Result<AreaNotes> make(CodeArea& area, std::span<const StubPages> stubs,
                                uint64_t agent_frames, uint64_t handler_frames);
  // Notes the detour of `whole` bytes at `at`, to which a stub at `stub` leads (0: there is no
  // stub). Returns the place by which note() finds the note again. It ignores an empty note.
  uint32_t add(uint64_t at, uint64_t whole, std::span<const uint8_t> note, uint64_t stub);
  // Addresses of the OwnAreas that it has written so far.
  const std::vector<uint64_t>& own_code() const { return written_; }
  std::span<const uint8_t> note(uint32_t place, uint32_t bytes) const;
  // Writes all into the code area, and puts the OwnArea in front of those that *own_code leads to.
  // Call it once. A detour that is noted later takes kLateBytes of room for an OwnArea of its own.
  static constexpr uint64_t kLateBytes = 512;
  Status finish(CodeArea& area, uint64_t* own_code);

 private:
  struct Noted {
    uint64_t end;
    uint32_t place, bytes;  // in bytes_
    bool operator<(const Noted& other) const { return end < other.end; }
  };
  void add_late(const AddressRange& detour, std::span<const uint8_t> note, uint64_t stub);
  uint64_t at_ = 0;
  CodeArea* area_ = nullptr;  // from finish() on
  uint64_t* own_code_ = nullptr;
  std::vector<uint64_t> written_;
  std::vector<Noted> noted_;
  std::vector<uint8_t> bytes_;
};

}  // namespace dj
