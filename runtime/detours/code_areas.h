// SPDX-License-Identifier: Apache-2.0
// CodeAreas holds the addresses that a target has given to djtap's code, with djtap's view of the
// bytes there: one code area for each cluster of modules, and pages for stubs. SessionMemory fills
// it when it maps them into a process. Detours need nothing else of the target.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "runtime/detours/code_area.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// StubPages: a range of pages for stubs, and its offset in the memory that all stub pages have
// together. Several ranges may have the same offset there, if their stubs lie at different offsets
// in their pages.
struct StubPages {
  AddressRange range;
  uint64_t at = 0;
};

class CodeAreas {
 public:
  // Adds a code area at `base` for the code of modules in `served`. `view`: djtap's view of its
  // bytes, which outlives this object. shared: so many bytes at the begin are linked code already,
  // and cannot be written.
  void add_area(const AddressRange& served, uint64_t base, std::span<uint8_t> view,
                uint64_t shared = 0);
  // Sets the pages of stubs. `pages`: ascending. `view`: djtap's view of the memory that they have
  // together.
  void set_stubs(std::vector<StubPages> pages, std::span<uint8_t> view);

  size_t size() const { return areas_.size(); }
  CodeArea& area(size_t index) { return areas_[index]; }
  const CodeArea& area(size_t index) const { return areas_[index]; }
  // Returns how many bytes at the begin of each code area cannot be written.
  uint64_t shared_bytes() const { return shared_bytes_; }
  // Returns the index of the code area that serves code at `address`; empty: none is near.
  std::optional<size_t> index_near(uint64_t address) const;
  // Returns the code area in whose bytes `address` lies; null: it lies in none.
  CodeArea* area_at(uint64_t address);
  // Returns how many bytes are free in all code areas together.
  uint64_t bytes_left() const;
  // Returns djtap's view of [address, address + bytes); empty: they do not lie in one code area.
  std::span<const uint8_t> view(uint64_t address, uint64_t bytes) const;

  // Adds the addresses of all code areas, and of the pages of stubs.
  void add_ranges(std::vector<AddressRange>& ranges) const;

  std::span<const StubPages> stubs() const { return stubs_; }
  // Returns djtap's view of [address, address + bytes) of the stubs' pages.
  std::span<uint8_t> stub_view(uint64_t address, uint64_t bytes) const;

 private:
  std::deque<CodeArea> areas_;
  std::vector<AddressRange> served_;  // by code area: span of its modules
  uint64_t shared_bytes_ = 0;
  std::vector<StubPages> stubs_;  // ascending
  std::span<uint8_t> stubs_view_;
};

}  // namespace dj
