// SPDX-License-Identifier: Apache-2.0
// CodeArea is a piece of a session's file that is code in the target (r-x) and data in djtap (rw-):
// agent, handlers and detours for the modules around it. It also allocates addresses in that piece.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "compiler/base/result.h"

namespace dj {

// DisplacementPattern: what the four bytes of a jump's rel32 must be: (rel32 & mask) == value. A
// guarded jump fixes the bytes that start an original instruction to 0xCC.
struct DisplacementPattern {
  uint64_t jump = 0;  // address of the e9
  uint32_t value = 0, mask = 0;
};

// Returns the lowest address >= from to which a jump with this pattern may lead. It takes distances
// modulo 4 GB: the caller checks whether the address is in reach.
uint64_t next_fitting(const DisplacementPattern& pattern, uint64_t from);

class CodeArea {
 public:
  // `base`: address of the piece in the target. `working`: djtap's view of the same pages; the
  // CodeArea does not own it (in a process SessionMemory does).
  CodeArea(uint64_t base, std::span<uint8_t> working);
  uint64_t base() const { return base_; }
  uint64_t end() const { return base_ + working_.size(); }
  bool contains(uint64_t address) const { return address >= base_ && address < end(); }
  // Takes `bytes` bytes that are free, at an address aligned to 16. Empty: the code area is full.
  std::optional<uint64_t> reserve(uint64_t bytes);
  // As reserve(), at the first free address (any alignment) that fits the pattern and that its jump
  // reaches.
  std::optional<uint64_t> reserve(uint64_t bytes, const DisplacementPattern& pattern);
  // Makes [address, address + bytes) free again. No thread may be there, or come there.
  void give_back(uint64_t address, uint64_t bytes);
  // Returns djtap's view of [address, address + bytes).
  std::span<uint8_t> view(uint64_t address, uint64_t bytes) const;
  uint64_t bytes_left() const;

 private:
  // end -> begin. take() mostly takes the begin of a range, which leaves the key as it is.
  using Ranges = std::map<uint64_t, uint64_t>;
  uint64_t take(Ranges::iterator range, uint64_t address, uint64_t bytes);  // from that range
  uint64_t base_;
  std::span<uint8_t> working_;
  Ranges free_;
};

}  // namespace dj
