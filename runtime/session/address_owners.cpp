// SPDX-License-Identifier: Apache-2.0
// Parts of the address space that no two overlap.
#include "runtime/session/address_owners.h"

#include <algorithm>
#include <iterator>

namespace dj {

// The first part that ends behind the address.
AddressOwners::Parts::const_iterator AddressOwners::first_behind(uint64_t address) const {
  const auto next = parts_.upper_bound(address);
  if (next == parts_.begin()) return next;
  const auto before = std::prev(next);
  return before->second.end > address ? before : next;
}

void AddressOwners::split_at(uint64_t address) {
  const auto found = parts_.upper_bound(address);
  if (found == parts_.begin()) return;
  auto& [begin, part] = *std::prev(found);
  if (begin == address || part.end <= address) return;
  parts_[address] = part;
  part.end = address;
}

void AddressOwners::add(const AddressRange& range, const Owner& owner) {
  split_at(range.begin);
  split_at(range.end);
  std::vector<AddressRange> gaps;
  uint64_t at = range.begin;
  for (auto part = parts_.lower_bound(range.begin); part != parts_.end() && part->first < range.end;
       ++part) {
    if (part->first > at) gaps.push_back({at, part->first});
    std::shared_ptr<const Owner>& known = part->second.owner;
    if (known && *known != owner) known.reset();
    at = part->second.end;
  }
  if (at < range.end) gaps.push_back({at, range.end});
  if (gaps.empty()) return;
  const auto added = std::make_shared<const Owner>(owner);
  for (const AddressRange& gap : gaps) parts_[gap.begin] = {gap.end, added};
}

bool AddressOwners::has_others(const AddressRange& range, const Owner& owner) const {
  for (auto part = first_behind(range.begin); part != parts_.end() && part->first < range.end;
       ++part) {
    if (!part->second.owner || *part->second.owner != owner) return true;
  }
  return false;
}

std::vector<AddressOwners::Owned> AddressOwners::outside(
    const std::vector<AddressRange>& taken) const {
  std::vector<Owned> found;
  auto next = taken.begin();
  for (const auto& [begin, part] : parts_) {
    if (!part.owner) continue;
    uint64_t at = begin;
    while (next != taken.end() && next->end <= at) ++next;
    for (auto each = next; each != taken.end() && each->begin < part.end; ++each) {
      if (at < each->begin) found.push_back({{at, each->begin}, part.owner.get()});
      at = std::max(at, each->end);
    }
    if (at < part.end) found.push_back({{at, part.end}, part.owner.get()});
  }
  return found;
}

}  // namespace dj
