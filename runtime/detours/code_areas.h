// SPDX-License-Identifier: Apache-2.0
// CodeAreas: the addresses that a target has given to djtap's code, with djtap's view of the bytes
// there: one code area for each cluster of modules, and pages for stubs. SessionMemory fills it
// when it maps them into a process. Detours need nothing else of the target.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "runtime/detours/code_area.h"
#include "runtime/process/mapped_module.h"

namespace dj {

// StubPages: pages to map for stubs, and where they lie in the memory that all such pages have
// together: several may have the same there, with their stubs at different offsets.
struct StubPages {
  AddressRange range;
  uint64_t at = 0;
};

class CodeAreas {
 public:
  // A code area at `base` for code of modules in `served`; `view`: djtap's view of its bytes, which
  // outlives this object.
  void add_area(const AddressRange& served, uint64_t base, std::span<uint8_t> view);
  // `pages`: ascending; `view`: of the memory that they have together.
  void set_stubs(std::vector<StubPages> pages, std::span<uint8_t> view);

  size_t size() const { return areas_.size(); }
  CodeArea& area(size_t index) { return areas_[index]; }
  const CodeArea& area(size_t index) const { return areas_[index]; }
  // The code area that serves code at `address`, by index; empty: none is near.
  std::optional<size_t> index_near(uint64_t address) const;
  // The code area in whose bytes `address` lies; null: in none.
  CodeArea* area_at(uint64_t address);
  // Bytes that are free in all code areas together.
  uint64_t bytes_left() const;
  // djtap's view of [address, address + bytes), which lie in one code area; empty: they do not.
  std::span<const uint8_t> view(uint64_t address, uint64_t bytes) const;

  std::span<const StubPages> stubs() const { return stubs_; }
  // djtap's view of [address, address + bytes) of the stubs' pages.
  std::span<uint8_t> stub_view(uint64_t address, uint64_t bytes) const;

 private:
  std::deque<CodeArea> areas_;
  std::vector<AddressRange> served_;  // by code area: span of its modules
  std::vector<StubPages> stubs_;      // ascending
  std::span<uint8_t> stubs_view_;
};

}  // namespace dj
