// SPDX-License-Identifier: Apache-2.0
// All bytes lie in one buffer, in the order in which they came.
#include "runtime/output/held_records.h"

#include <algorithm>

namespace dj {

std::string_view Record::text(uint64_t packed) const {
  const uint64_t offset = packed & 0xffffffff, length = packed >> 32;
  if (offset + length > bytes.size()) return "";
  return {reinterpret_cast<const char*>(bytes.data()) + offset, length};
}

Record HeldRecords::at(const Place& place) const {
  Record record{place.tsc, std::span(bytes_).subspan(place.offset, place.size)};
  std::memcpy(&record.header, record.bytes.data(), sizeof record.header);
  return record;
}

Record HeldRecords::copy(const abi::EventHeader* in_ring, uint32_t size) {
  const auto* from = reinterpret_cast<const uint8_t*>(in_ring);
  bytes_.insert(bytes_.end(), from, from + size);
  Record record = at({0, static_cast<uint32_t>(end_), size});
  record.tsc = record.header.tsc;
  return record;
}

void HeldRecords::hold(uint64_t tsc) {
  const size_t size = bytes_.size() - end_;
  places_.push_back({tsc, static_cast<uint32_t>(end_), static_cast<uint32_t>(size)});
  end_ = bytes_.size();
}

void HeldRecords::sort() {
  std::stable_sort(places_.begin() + static_cast<ptrdiff_t>(next_), places_.end(),
                   [](const Place& a, const Place& b) { return a.tsc < b.tsc; });
}

Record HeldRecords::take() { return at(places_[next_++]); }

void HeldRecords::forget_taken() {
  places_.erase(places_.begin(), places_.begin() + static_cast<ptrdiff_t>(next_));
  next_ = 0;
  std::vector<uint8_t> kept;
  for (Place& place : places_) {
    const auto from = bytes_.begin() + place.offset;
    place.offset = static_cast<uint32_t>(kept.size());
    kept.insert(kept.end(), from, from + place.size);
  }
  if (places_.empty()) {
    bytes_.clear();  // and its memory is used again
  } else {
    bytes_ = std::move(kept);
  }
  end_ = bytes_.size();
}

}  // namespace dj
