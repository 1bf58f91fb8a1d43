// SPDX-License-Identifier: Apache-2.0
// Check 7: sites that overlap.
#include <algorithm>
#include <map>

#include "arch/x86_64/checker.h"

namespace dj::arch {
namespace {

// Check 7. In order: who overlaps an earlier jump becomes int3, unless they can share its bytes;
// and where an int3 stands inside a jump which cannot share that, the jump gives way too.
class Collisions {
 public:
  Collisions(const std::vector<TextRange>& text, const std::function<Space()>& space)
      : text_(text), space_(space) {}

  void add(Region& region) {
    if (refused(region.verdict) || region.length == 0) return;
    const uint64_t end = region.address + touched(region);
    const bool alone = region.address >= end_;  // behind all others: thousands come in order
    end_ = std::max(end_, end);
    if (alone) {
      auto& sites = region.verdict == Verdict::Ok ? jumps_ : breakpoints_;
      sites.emplace_hint(sites.end(), region.address, &region);
      return;
    }
    if (region.verdict == Verdict::Ok) {
      const Region* other = overlapping(region.address, end, region);
      const uint64_t inner = breakpoint_inside(region);
      if (other == nullptr && inner == 0) {
        put(jumps_, region);
        return;
      }
      give_way(region, other != nullptr ? other->address : inner);
    }
    put(breakpoints_, region);
    while (Region* covering = overlapping(region.address, region.address + 1, region)) {
      to_breakpoint(*covering, region.address);
    }
  }

  // From the highest site down: longer forms may use what no other site needs, and a jump that has
  // no room of its own leans on those above it as they have become.
  void share_room() {
    const std::vector<Region*> ascending = in_order();
    for (size_t i = ascending.size(); i-- > 0;) {
      Region& region = *ascending[i];
      if (region.verdict != Verdict::Ok) continue;
      size_t next = i + 1;
      while (next < ascending.size() && ascending[next]->address == region.address) next++;
      const uint64_t apart =
          next < ascending.size() ? ascending[next]->address - region.address : ~uint64_t(0);
      if (apart < kJumpBytes && !overlap(region, above(region, ascending, next), space_())) {
        to_breakpoint(region, region.address + apart);
      } else {
        region.room = uint8_t(std::min<uint64_t>(region.room, apart));
      }
    }
  }

  // Some region stands for others like it.
  bool has_twins() const { return has_twins_; }
  // What has become of a region that was added.
  const Region& now(const Region& region) const {
    const auto jump = jumps_.find(region.address);
    if (jump != jumps_.end()) return *jump->second;
    return *breakpoints_.at(handler_address(region));
  }

 private:
  using Sites = std::map<uint64_t, Region*>;
  void put(Sites& sites, Region& region) {
    const auto [known, fresh] = sites.insert_or_assign(region.address, &region);
    has_twins_ = has_twins_ || !fresh;
    end_ = std::max(end_, region.address + touched(region));
  }
  // A jump with a byte in [begin, end) that is another site than `self` and cannot share it.
  Region* overlapping(uint64_t begin, uint64_t end, const Region& self) const {
    for (auto it = jumps_.lower_bound(end); it != jumps_.begin();) {
      Region* other = std::prev(it--)->second;
      if (other->address + kLongest <= begin) return nullptr;
      if (other->address + touched(*other) <= begin || same_site(*other, self)) continue;
      const bool above = self.address < other->address;
      if (!space_ || !(above ? may_overlap(self, *other) : may_overlap(*other, self))) return other;
    }
    return nullptr;
  }
  // What begins inside the jump of a region, with as many prefixes as it may have.
  static Above above(const Region& region, const std::vector<Region*>& ascending, size_t next) {
    Above found;
    for (; next < ascending.size(); next++) {
      const uint64_t apart = ascending[next]->address - region.address;
      if (apart >= region.shared.size()) break;
      found.sites = uint8_t(found.sites | 1u << apart);
      const bool jump = ascending[next]->verdict == Verdict::Ok;
      if (found.jump == nullptr && jump) found.jump = ascending[next];
    }
    return found;
  }
  std::vector<Region*> in_order() const {
    std::vector<std::pair<uint64_t, Region*>> merged;
    merged.reserve(jumps_.size() + breakpoints_.size());
    std::merge(jumps_.begin(), jumps_.end(), breakpoints_.begin(), breakpoints_.end(),
               std::back_inserter(merged),
               [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Region*> sites;
    sites.reserve(merged.size());
    for (const auto& [address, region] : merged) sites.push_back(region);
    return sites;
  }
  // An int3 that is another site and that the jump cannot share.
  uint64_t breakpoint_inside(const Region& region) const {
    for (auto it = breakpoints_.lower_bound(region.address);
         it != breakpoints_.end() && it->first < region.address + touched(region); ++it) {
      if (same_site(*it->second, region) || (space_ && may_overlap(region, *it->second))) continue;
      return it->first;
    }
    return 0;
  }
  // A jump shorter than its five bytes reads the rest from what follows.
  static uint32_t touched(const Region& region) {
    if (region.verdict != Verdict::Ok) return region.length;
    return std::max<uint32_t>(region.length, kJumpBytes);
  }
  static bool same_site(const Region& a, const Region& b) {
    return a.address == b.address && handler_address(a) == handler_address(b) &&
           a.length == b.length;
  }

  void to_breakpoint(Region& region, uint64_t culprit) {
    jumps_.erase(region.address);
    give_way(region, culprit);
    put(breakpoints_, region);
  }
  void give_way(Region& region, uint64_t culprit) const {
    leave_breakpoint(region, Verdict::InsideOtherSite, culprit,
                     bytes_at(text_, handler_address(region)));
  }

  static constexpr uint64_t kLongest = 256;  // of a region: its length is one byte

  const std::vector<TextRange>& text_;
  const std::function<Space()>& space_;
  Sites jumps_, breakpoints_;
  uint64_t end_ = 0;  // behind all sites so far
  bool has_twins_ = false;
};

}  // namespace

void check_other_sites(std::vector<Region>& regions, const std::vector<TextRange>& text,
                       const std::function<Space()>& space) {
  Collisions collisions(text, space);
  for (Region& region : regions) collisions.add(region);
  collisions.share_room();
  if (!collisions.has_twins()) return;
  for (Region& region : regions) {
    if (region.verdict == Verdict::Ok) region = collisions.now(region);
  }
}

}  // namespace dj::arch
