// SPDX-License-Identifier: Apache-2.0
// Those that can lie in few places first, the others beside them where they can; else first fit
// from an anchor that neighbours share: with the top byte of the displacement free, the 32 MB below
// the code area; else the one window of 16 MB that is possible.
#include "runtime/detours/stubs.h"

#include <algorithm>
#include <bit>

#include "compiler/base/page.h"

namespace dj {
namespace {

constexpr uint64_t kStubBytes = 5;
constexpr uint64_t kJoined = 4 << 10;  // bytes between pages of one mapping, at most
constexpr uint64_t kStubReach = (uint64_t{1} << 31) - (64 << 10);
constexpr uint64_t kAnchorStep = 1 << 20;
constexpr uint64_t kPrimary = 32 << 20;  // two periods of the lower three bytes

uint64_t below(uint64_t address, uint64_t bytes) { return address > bytes ? address - bytes : 0; }

// Bytes of a displacement.
constexpr uint32_t kSecondByte = 0xff00, kThirdByte = 0xff0000;
// Regions of 16 MB, and a page's place in its 64 kB.
uint64_t region_of(uint64_t address) { return address >> 24; }
uint32_t place_of(uint64_t address) { return static_cast<uint32_t>(address >> 12) & 0xf; }
constexpr uint32_t kAnyPlace = 16;

uint32_t residue_of(const DisplacementPattern& pattern) {
  return (static_cast<uint32_t>(pattern.jump + kStubBytes) + pattern.value) & pattern.mask;
}

}  // namespace

bool StubSpace::Page::is_free(uint64_t first, uint64_t last) const {
  for (uint64_t byte = first; byte <= last; byte++) {
    if (taken[byte]) return false;
  }
  return true;
}

// Of pages not far from one another what lies between is mapped, too: one mapping instead of two.
StubSpace::Neighbours StubSpace::neighbours(uint64_t page) {
  const auto room = std::upper_bound(free_.begin(), free_.end(), page,
                                     [](uint64_t at, const AddressRange& r) { return at < r.end; });
  CHECK(room != free_.end() && room->contains(page));
  Neighbours found{ranges_.end(), ranges_.end()};
  const auto after = ranges_.upper_bound(page);
  if (after != ranges_.begin()) {
    const auto before = std::prev(after);
    if (before->first >= room->begin && before->second + kJoined >= page) found.before = before;
  }
  if (after != ranges_.end() && after->first < room->end && page + kPage + kJoined >= after->first)
    found.after = after;
  return found;
}

void StubSpace::map_page(uint64_t page) {
  const Neighbours near = neighbours(page);
  uint64_t begin = page, end = page + kPage;
  if (near.after != ranges_.end()) {
    end = near.after->second;
    ranges_.erase(near.after);
  }
  if (near.before != ranges_.end()) {
    begin = near.before->first;
    end = std::max(end, near.before->second);
  }
  ranges_[begin] = end;
}

StubSpace::Page& StubSpace::page(uint64_t at) {
  const auto [known, fresh] = index_.try_emplace(at, pages_.size());
  if (fresh) {
    for (const uint32_t place : {place_of(at), kAnyPlace})
      places_[{region_of(at), place}].push_back(pages_.size());
    pages_.push_back({at, {}});
    map_page(at);
  }
  return pages_[known->second];
}

bool StubSpace::is_free(uint64_t at) const {
  for (const uint64_t part : {page_down(at), page_down(at + kStubBytes - 1)}) {
    const auto known = index_.find(part);
    if (known == index_.end()) continue;
    const uint64_t first = std::max(at, part), last = std::min(at + kStubBytes, part + kPage) - 1;
    if (!pages_[known->second].is_free(first - part, last - part)) return false;
  }
  return true;
}

bool StubSpace::may_map(uint64_t page) {
  const bool near = index_.contains(page) || ranges_.size() < most_ ||
                    neighbours(page).before != ranges_.end() ||
                    neighbours(page).after != ranges_.end();
  is_full_ = is_full_ || !near;
  return near;
}

void StubSpace::take(uint64_t at) {
  for (uint64_t byte = at; byte < at + kStubBytes; byte++) {
    page(page_down(byte)).taken.set(byte % kPage);
  }
}

std::optional<uint64_t> StubSpace::take_of(const Page& page, const DisplacementPattern& pattern,
                                           uint64_t begin, uint64_t end) {
  const uint64_t last = std::min(end, page.at + kPage);
  uint64_t at = next_fitting(pattern, std::max(begin, page.at));
  for (; at + kStubBytes <= last; at = next_fitting(pattern, at + 1)) {
    if (!page.is_free(at - page.at, at - page.at + kStubBytes - 1)) continue;
    take(at);
    return at;
  }
  return std::nullopt;
}

std::optional<uint64_t> StubSpace::beside(const DisplacementPattern& pattern, uint64_t begin,
                                          uint64_t end) {
  if ((pattern.mask & kThirdByte) != 0) return beside_few(pattern, begin, end);
  // With the second byte fixed, all that fit have the same place in their 64 kB.
  const uint64_t next = pattern.jump + kStubBytes;
  const bool second = (pattern.mask & kSecondByte) != 0;
  const uint32_t place = second ? place_of(next + pattern.value) : kAnyPlace;
  for (uint64_t region = region_of(begin); region <= region_of(end - 1); region++) {
    const auto pages = places_.find({region, place});
    if (pages == places_.end()) continue;
    size_t& from = first_pages_[{pattern.mask, residue_of(pattern), region}];
    // What is full for one stub is full for all of its kind, and what lies below for those that
    // come later.
    bool is_over = true;
    for (size_t i = from; i < pages->second.size(); i++) {
      const Page& page = pages_[pages->second[i]];
      if (const std::optional<uint64_t> at = take_of(page, pattern, begin, end)) return at;
      const bool below = page.at + kPage <= begin;
      is_over = is_over && (below || (page.at >= begin && page.at + kPage <= end));
      if (is_over) from = i + 1;
    }
  }
  return std::nullopt;
}

// With the third byte fixed few addresses fit.
std::optional<uint64_t> StubSpace::beside_few(const DisplacementPattern& pattern, uint64_t begin,
                                              uint64_t end) {
  for (uint64_t at = next_fitting(pattern, begin); at + kStubBytes <= end;
       at = next_fitting(pattern, page_down(at) + kPage)) {
    const auto known = index_.find(page_down(at));
    if (known == index_.end()) continue;
    if (const auto found = take_of(pages_[known->second], pattern, at, end)) return found;
  }
  return std::nullopt;
}

std::optional<uint64_t> StubSpace::search(const DisplacementPattern& pattern, uint64_t begin,
                                          uint64_t end) {
  uint64_t& hint =
      hints_.try_emplace({pattern.mask, residue_of(pattern), begin}, begin).first->second;
  auto range = std::upper_bound(free_.begin(), free_.end(), hint,
                                [](uint64_t at, const AddressRange& r) { return at < r.end; });
  for (; range != free_.end() && range->begin < end; ++range) {
    uint64_t at = next_fitting(pattern, std::max(hint, range->begin));
    const uint64_t last = std::min(range->end, end);
    for (; at + kStubBytes <= last; at = next_fitting(pattern, at + 1)) {
      if (!is_free(at)) continue;
      if (!may_map(page_down(at))) return std::nullopt;
      hint = at;
      take(at);
      return at;
    }
  }
  return std::nullopt;
}

std::optional<uint64_t> StubSpace::reserve(const DisplacementPattern& pattern,
                                           const AddressRange& near) {
  const uint64_t next = pattern.jump + kStubBytes;
  uint64_t low = std::max(below(next, kStubReach), below(near.end, kStubReach));
  uint64_t high = std::min(next, near.begin) + kStubReach;
  if (pattern.mask >> 24 == 0xff) {
    // The window begins where the lower bytes of the displacement are 0.
    const int32_t top = static_cast<int32_t>(pattern.value & 0xff000000);
    const uint64_t window = next + static_cast<uint64_t>(static_cast<int64_t>(top));
    low = std::max(low, window);
    high = std::min(high, window + (1 << 24));
    if (const std::optional<uint64_t> found = beside(pattern, low, high)) return found;
  } else {
    const uint64_t primary = std::max(low, below(near.begin, kPrimary));
    std::optional<uint64_t> found = beside(pattern, primary, std::min(high, near.begin));
    if (!found) found = search(pattern, primary, std::min(high, near.begin));
    if (found) {
      return found;
    }
  }
  const uint64_t anchor = (low + kAnchorStep - 1) & ~(kAnchorStep - 1);
  std::optional<uint64_t> found = search(pattern, anchor, high);
  return found ? found : search(pattern, low, high);
}

std::vector<AddressRange> StubSpace::pages() const {
  std::vector<AddressRange> pages;
  for (const auto& [begin, end] : ranges_) pages.push_back({begin, end});
  return pages;
}

// The largest first: the others find room between its stubs. Each takes the lowest place in the
// memory where nothing of it meets what is there.
std::vector<StubPages> StubSpace::shared_pages(uint64_t* bytes) const {
  std::vector<StubPages> shared;
  for (const AddressRange& range : pages()) shared.push_back({range, 0});
  std::vector<StubPages*> order;
  for (StubPages& pages : shared) order.push_back(&pages);
  std::stable_sort(order.begin(), order.end(), [](const StubPages* a, const StubPages* b) {
    return a->range.end - a->range.begin > b->range.end - b->range.begin;
  });
  std::map<uint64_t, const Bytes*> ascending;
  for (const Page& page : pages_) ascending[page.at] = &page.taken;
  std::unordered_map<uint64_t, Bytes> memory;  // its pages that have stubs, by offset
  *bytes = 0;
  for (StubPages* pages : order) {
    const auto first = ascending.lower_bound(pages->range.begin);
    const auto last = ascending.lower_bound(pages->range.end);
    const auto meets = [&](const auto& page) {
      const auto there = memory.find(pages->at + page.first - pages->range.begin);
      return there != memory.end() && (there->second & *page.second).any();
    };
    while (std::any_of(first, last, meets)) pages->at += kPage;
    for (auto page = first; page != last; ++page)
      memory[pages->at + page->first - pages->range.begin] |= *page->second;
    // A range may have pages without stubs, between others.
    *bytes = std::max(*bytes, pages->at + pages->range.end - pages->range.begin);
  }
  return shared;
}

namespace {

constexpr const char* kTooManyMappings = "too-many-mappings";

int fixed_bits(const PatchSite* site) {
  const auto& placements = site->form->placements;
  return placements.empty() ? 0 : std::popcount(placements.front().mask);
}

class StubChoice {
 public:
  using CodeAreasMade = std::vector<std::pair<AddressRange, AddressRange>>;
  StubChoice(StubSpace& space, const CodeAreasMade& areas) : space_(space), areas_(areas) {}

  void choose(PatchSite& site) {
    for (const auto& [served, area] : areas_) {
      if (served.contains(site.address) && reserve(*site.form, area)) return;
    }
  }

  // Behind those above: where one of these has become an int3 the jump ends in that.
  void follow(PatchSite& site, const Standing& standing) {
    arch::Region& region = site.form->region;
    const auto shared = standing.shared_by(site);
    if (shared == region.shared) return;
    region.shared = shared;
    site.form->placements = arch::placements(region);
    site.form->stub = 0;
    choose(site);
    if (site.form->stub == 0) settle(site, arch::Verdict::InsideOtherSite);
  }

  void settle(PatchSite& site, arch::Verdict reason) {
    if (site.form->stub == 0) {
      site.fall_back_to_int3(space_.is_full() ? kTooManyMappings : arch::verdict_name(reason));
    } else {
      site.displaced = site.form->placement.length;
      site.reason = arch::tactic_name(site.form->placement.tactic);
    }
  }

 private:
  bool reserve(JumpForm& form, const AddressRange& area) {
    for (const arch::Placement& placement : form.placements) {
      std::optional<uint64_t> stub =
          space_.reserve({placement.jump, placement.value, placement.mask}, area);
      if (stub) {
        form.placement = placement;
        form.stub = *stub;
        return true;
      }
    }
    return false;
  }

  StubSpace& space_;
  const CodeAreasMade& areas_;
};

}  // namespace

void choose_stubs(const SiteList& sites, StubSpace& space,
                  const std::vector<std::pair<AddressRange, AddressRange>>& areas) {
  SiteList wanted;
  for (PatchSite* site : sites) {
    if (site->state == SiteState::Registered && site->form) wanted.push_back(site);
  }
  std::stable_sort(wanted.begin(), wanted.end(), [](const PatchSite* a, const PatchSite* b) {
    return fixed_bits(a) > fixed_bits(b);
  });
  StubChoice choice(space, areas);
  for (PatchSite* site : wanted) choice.choose(*site);
  Standing standing;
  for (PatchSite* site : sharing(sites)) {
    if (site->overlapped() != 0) choice.follow(*site, standing);
    if (site->form) choice.settle(*site, arch::Verdict::OutOfReach);
    standing.add(*site);
  }
  for (PatchSite* site : wanted) {
    if (site->form) choice.settle(*site, arch::Verdict::OutOfReach);
  }
}

}  // namespace dj
