// SPDX-License-Identifier: Apache-2.0
// The notes behind detours (runtime/shared/detour_note.h), and what a code area says of itself
// (runtime/shared/own_code.h).
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

// Room for the longest note that can be begun; one of more than kNoteBytesMax is not kept.
using Note = ShortVector<uint8_t, 10 + 2 * abi::kNotePieces>;
// A detour for the region at `original`, as it is at the address `at`: its note. Empty: it needs
// more than a note can say.
Note make_note(const arch::Detour& detour, uint64_t at, uint64_t original);
// The same note for a detour at another address.
void place_note(std::span<uint8_t> note, uint64_t at, uint64_t original);

// AreaNotes: the OwnArea of a code area.
class AreaNotes {
 public:
  // Bytes of a code area of so many, besides the notes, for so many stub ranges.
  static uint64_t bytes_for(uint64_t area, uint64_t stubs);
  // Bytes of tables that so many bytes of detours touch.
  static uint64_t index_bytes(uint64_t detours);
  // Takes room from the code area. frames: addresses of agent's and handlers' call frame
  // information; 0: none.
  static Result<AreaNotes> make(CodeArea& area, std::span<const StubPages> stubs,
                                uint64_t agent_frames, uint64_t handler_frames);
  // Notes the detour of `whole` bytes at `at`, which a stub at `stub` (0: none) leads to; returns
  // where note() finds the note again. Nothing for an empty one.
  uint32_t add(uint64_t at, uint64_t whole, std::span<const uint8_t> note, uint64_t stub);
  // Addresses of the OwnAreas that are written so far.
  const std::vector<uint64_t>& own_code() const { return written_; }
  std::span<const uint8_t> note(uint32_t place, uint32_t bytes) const;
  // Writes all into the code area, and puts it in front of those that *own_code leads to. Once. A
  // detour that is noted later takes kLateBytes of room for an OwnArea of its own.
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
