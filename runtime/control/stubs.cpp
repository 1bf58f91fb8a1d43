// First fit from an anchor that neighbours share: with the top byte of the displacement free, the
// 32 MB below the island; else the one window of 16 MB that is possible.
#include "runtime/control/stubs.h"

#include <algorithm>

namespace dj {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kStubBytes = 5;
constexpr uint64_t kReach = (uint64_t{1} << 31) - (64 << 10);
constexpr uint64_t kAnchorStep = 1 << 20;
constexpr uint64_t kPrimary = 32 << 20;  // two periods of the lower three bytes
constexpr uint64_t kJoined = 1 << 20;    // pages with less between them share a mapping

uint64_t below(uint64_t address, uint64_t bytes) { return address > bytes ? address - bytes : 0; }

}  // namespace

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
      auto after = taken_.lower_bound(at + kStubBytes);
      if (after == taken_.begin() || std::prev(after)->second <= at) {
        taken_[at] = at + kStubBytes;
        hint = at;
        return at;
      }
      at = next_fitting(pattern, std::prev(after)->second);
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
  } else {
    const uint64_t primary = std::max(low, below(near.begin, kPrimary));
    std::optional<uint64_t> found = search(pattern, primary, std::min(high, near.begin));
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
    const uint64_t first = begin & ~(kPage - 1), last = (end + kPage - 1) & ~(kPage - 1);
    bool joins = !pages.empty() && first < pages.back().end + kJoined;
    if (joins && first > pages.back().end) {
      // Only if all between is free.
      auto range = std::upper_bound(free_.begin(), free_.end(), first,
                                    [](uint64_t at, const AddressRange& r) { return at < r.end; });
      joins = range != free_.end() && range->begin <= pages.back().begin;
    }
    if (joins) {
      pages.back().end = std::max(pages.back().end, last);
    } else {
      pages.push_back({first, last});
    }
  }
  return pages;
}

uint64_t StubSpace::page_bytes() const {
  uint64_t bytes = 0, after = 0;
  for (auto [begin, end] : taken_) {
    const uint64_t first = std::max(after, begin & ~(kPage - 1));
    after = std::max(after, (end + kPage - 1) & ~(kPage - 1));
    bytes += after > first ? after - first : 0;
  }
  return bytes;
}

void choose_stubs(const SiteList& sites, StubSpace& space,
                  const std::vector<std::pair<AddressRange, AddressRange>>& islands) {
  for (PatchSite* site : sites) {
    if (site->state != SiteState::Registered || !site->form) {
      continue;
    }
    JumpForm& form = *site->form;
    for (const auto& [served, island] : islands) {
      if (!served.contains(site->address)) {
        continue;
      }
      for (const arch::Placement& placement : form.placements) {
        std::optional<uint64_t> stub =
            space.reserve({placement.jump, placement.value, placement.mask}, island);
        if (stub) {
          form.placement = placement;
          form.stub = *stub;
          break;
        }
      }
    }
    if (form.stub == 0) {
      site->fall_back_to_int3(arch::verdict_name(arch::Verdict::OutOfReach));
    } else {
      site->displaced = form.placement.length;
      site->reason = arch::tactic_name(form.placement.tactic);
    }
  }
  for (PatchSite* site : without_support(sites)) {
    site->fall_back_to_int3(arch::verdict_name(arch::Verdict::InsideOtherSite));
  }
}

}  // namespace dj
