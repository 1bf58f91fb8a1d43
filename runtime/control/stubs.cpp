// Those that can lie in few places first, the others beside them where they can; else first fit
// from an anchor that neighbours share: with the top byte of the displacement free, the 32 MB below
// the island; else the one window of 16 MB that is possible.
#include "runtime/control/stubs.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <unordered_map>

namespace dj {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kStubBytes = 5;
constexpr uint64_t kReach = (uint64_t{1} << 31) - (64 << 10);
constexpr uint64_t kAnchorStep = 1 << 20;
constexpr uint64_t kPrimary = 32 << 20;  // two periods of the lower three bytes

uint64_t below(uint64_t address, uint64_t bytes) { return address > bytes ? address - bytes : 0; }
uint64_t page_of(uint64_t address) { return address & ~(kPage - 1); }

}  // namespace

bool StubSpace::take(uint64_t at) {
  const auto after = taken_.lower_bound(at + kStubBytes);
  if (after != taken_.begin() && std::prev(after)->second > at) return false;
  taken_.emplace_hint(after, at, at + kStubBytes);
  return true;
}

// Leaps from page to page, and from one fitting address to the next.
std::optional<uint64_t> StubSpace::beside(const DisplacementPattern& pattern, uint64_t begin,
                                          uint64_t end) {
  for (uint64_t at = begin; at < end;) {
    const auto stub = taken_.lower_bound(page_of(at));
    if (stub == taken_.end()) break;
    const uint64_t page = page_of(stub->first);
    at = next_fitting(pattern, std::max(at, page));
    if (at + kStubBytes > std::min(end, page + kPage)) {
      at = std::max(at, page + kPage);
    } else if (take(at)) {
      return at;
    } else {
      at++;
    }
  }
  return std::nullopt;
}

std::optional<uint64_t> StubSpace::search(const DisplacementPattern& pattern, uint64_t begin,
                                          uint64_t end) {
  const uint32_t residue =
      (static_cast<uint32_t>(pattern.jump + kStubBytes) + pattern.value) & pattern.mask;
  uint64_t& hint = hints_.try_emplace({pattern.mask, residue, begin}, begin).first->second;
  auto range = std::upper_bound(free_.begin(), free_.end(), hint,
                                [](uint64_t at, const AddressRange& r) { return at < r.end; });
  for (; range != free_.end() && range->begin < end; ++range) {
    uint64_t at = next_fitting(pattern, std::max(hint, range->begin));
    const uint64_t last = std::min(range->end, end);
    while (at + kStubBytes <= last) {
      if (take(at)) {
        hint = at;
        return at;
      }
      at = next_fitting(pattern, std::prev(taken_.lower_bound(at + kStubBytes))->second);
    }
  }
  return std::nullopt;
}

std::optional<uint64_t> StubSpace::reserve(const DisplacementPattern& pattern,
                                           const AddressRange& near) {
  const uint64_t next = pattern.jump + kStubBytes;
  uint64_t low = std::max(below(next, kReach), below(near.end, kReach));
  uint64_t high = std::min(next, near.begin) + kReach;
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
  for (auto [begin, end] : taken_) {
    const uint64_t first = page_of(begin), last = page_of(end + kPage - 1);
    if (!pages.empty() && first <= pages.back().end) {
      pages.back().end = std::max(pages.back().end, last);
    } else {
      pages.push_back({first, last});
    }
  }
  return pages;
}

namespace {

// StubMemory: which bytes of the shared memory stubs have taken.
class StubMemory {
 public:
  using Stubs = std::map<uint64_t, uint64_t>;  // begin -> end

  // Takes the bytes of these stubs of `range` at the lowest page where all are free.
  uint64_t place(const Stubs& stubs, const AddressRange& range) {
    const auto first = stubs.lower_bound(range.begin), last = stubs.lower_bound(range.end);
    uint64_t at = 0;
    while (std::any_of(first, last,
                       [&](auto& stub) { return meets(at + stub.first - range.begin); })) {
      at += kPage;
    }
    for (auto stub = first; stub != last; ++stub) take(at + stub->first - range.begin);
    return at;
  }
  uint64_t used_bytes() const { return pages_.size() * kPage; }

 private:
  using Page = std::bitset<kPage>;
  bool meets(uint64_t stub) const {
    for (uint64_t byte = stub; byte < stub + kStubBytes; byte++) {
      const auto page = pages_.find(byte / kPage);
      if (page != pages_.end() && page->second[byte % kPage]) return true;
    }
    return false;
  }
  void take(uint64_t stub) {
    for (uint64_t byte = stub; byte < stub + kStubBytes; byte++) {
      pages_[byte / kPage].set(byte % kPage);
    }
  }
  std::unordered_map<uint64_t, Page> pages_;  // those with a stub
};

}  // namespace

std::vector<StubPages> StubSpace::shared_pages(uint64_t* bytes) const {
  std::vector<StubPages> shared;
  for (const AddressRange& range : pages()) shared.push_back({range, 0});
  // The largest first: the others find room between its stubs.
  std::vector<StubPages*> order;
  for (StubPages& pages : shared) order.push_back(&pages);
  std::stable_sort(order.begin(), order.end(), [](const StubPages* a, const StubPages* b) {
    return a->range.end - a->range.begin > b->range.end - b->range.begin;
  });
  StubMemory memory;
  for (StubPages* pages : order) pages->at = memory.place(taken_, pages->range);
  *bytes = memory.used_bytes();
  return shared;
}

namespace {

bool reserve_stub(JumpForm& form, StubSpace& space, const AddressRange& island) {
  for (const arch::Placement& placement : form.placements) {
    std::optional<uint64_t> stub =
        space.reserve({placement.jump, placement.value, placement.mask}, island);
    if (stub) {
      form.placement = placement;
      form.stub = *stub;
      return true;
    }
  }
  return false;
}

int fixed_bits(const PatchSite* site) {
  const auto& placements = site->form->placements;
  return placements.empty() ? 0 : std::popcount(placements.front().mask);
}

}  // namespace

void choose_stubs(const SiteList& sites, StubSpace& space,
                  const std::vector<std::pair<AddressRange, AddressRange>>& islands) {
  SiteList wanted;
  for (PatchSite* site : sites) {
    if (site->state == SiteState::Registered && site->form) wanted.push_back(site);
  }
  std::stable_sort(wanted.begin(), wanted.end(), [](const PatchSite* a, const PatchSite* b) {
    return fixed_bits(a) > fixed_bits(b);
  });
  for (PatchSite* site : wanted) {
    for (const auto& [served, island] : islands) {
      if (served.contains(site->address) && reserve_stub(*site->form, space, island)) break;
    }
    if (site->form->stub == 0) {
      site->fall_back_to_int3(arch::verdict_name(arch::Verdict::OutOfReach));
    } else {
      site->displaced = site->form->placement.length;
      site->reason = arch::tactic_name(site->form->placement.tactic);
    }
  }
  for (PatchSite* site : without_support(sites)) {
    site->fall_back_to_int3(arch::verdict_name(arch::Verdict::InsideOtherSite));
  }
}

}  // namespace dj
