// SPDX-License-Identifier: Apache-2.0
// There are few code areas: one for each 2 GB of modules.
#include "runtime/detours/code_areas.h"

#include <algorithm>
#include <utility>

namespace dj {

void CodeAreas::add_area(const AddressRange& served, uint64_t base, std::span<uint8_t> view,
                         uint64_t shared) {
  shared_bytes_ = shared;
  areas_.emplace_back(base, view);
  served_.push_back(served);
}

void CodeAreas::set_stubs(std::vector<StubPages> pages, std::span<uint8_t> view) {
  stubs_ = std::move(pages);
  stubs_view_ = view;
}

std::optional<size_t> CodeAreas::index_near(uint64_t address) const {
  for (size_t i = 0; i < served_.size(); i++) {
    if (served_[i].contains(address)) return i;
  }
  return std::nullopt;
}

CodeArea* CodeAreas::area_at(uint64_t address) {
  for (CodeArea& area : areas_) {
    if (area.contains(address)) return &area;
  }
  return nullptr;
}

uint64_t CodeAreas::bytes_left() const {
  uint64_t sum = 0;
  for (const CodeArea& area : areas_) sum += area.bytes_left();
  return sum;
}

std::span<const uint8_t> CodeAreas::view(uint64_t address, uint64_t bytes) const {
  for (const CodeArea& area : areas_) {
    if (area.contains(address)) return area.view(address, bytes);
  }
  return {};
}

std::span<uint8_t> CodeAreas::stub_view(uint64_t address, uint64_t bytes) const {
  auto pages = std::upper_bound(stubs_.begin(), stubs_.end(), address,
                                [](uint64_t at, const StubPages& p) { return at < p.range.end; });
  CHECK(pages != stubs_.end());
  const AddressRange& range = pages->range;
  CHECK(range.contains(address) && address + bytes <= range.end);
  const uint64_t at = pages->at + (address - range.begin);
  CHECK(at + bytes <= stubs_view_.size());
  return stubs_view_.subspan(at, bytes);
}

void CodeAreas::add_ranges(std::vector<AddressRange>& ranges) const {
  for (const CodeArea& area : areas_) ranges.push_back({area.base(), area.end()});
  for (const StubPages& pages : stubs_) ranges.push_back(pages.range);
}

}  // namespace dj
