// Check 7: sites that overlap.
#include <algorithm>
#include <map>

#include "arch/x86_64/checker.h"

namespace dj::arch {
namespace {

// Check 7. In order: who overlaps an earlier jump becomes int3; and no int3 may stand inside a
// jump, so that jump gives way too.
class Collisions {
 public:
  explicit Collisions(const std::vector<TextRange>& text) : text_(text) {}

  void add(Region& region) {
    if (refused(region.verdict) || region.length == 0) return;
    const uint64_t end = region.address + touched(region);
    if (region.verdict == Verdict::Ok) {
      const Region* other = overlapping(region.address, end, region);
      const uint64_t inner = breakpoint_inside(region);
      if (other == nullptr && inner == 0) {
        jumps_[region.address] = &region;
        return;
      }
      give_way(region, other != nullptr ? other->address : inner);
    }
    breakpoints_[region.address] = &region;
    while (Region* covering = overlapping(region.address, region.address + 1, region)) {
      jumps_.erase(covering->address);
      give_way(*covering, region.address);
      breakpoints_[covering->address] = covering;
    }
  }

  // Longer forms of a jump may use what no other site needs.
  void share_room(std::vector<Region>& regions) {
    uint64_t next = ~uint64_t(0);
    for (auto it = jumps_.rbegin(); it != jumps_.rend(); ++it) {
      Region& region = *it->second;
      const auto trap = breakpoints_.upper_bound(region.address);
      const uint64_t limit = std::min(next, trap != breakpoints_.end() ? trap->first : next);
      region.room = uint8_t(std::min<uint64_t>(region.room, limit - region.address));
      next = region.address;
    }
    for (Region& region : regions) {
      if (region.verdict == Verdict::Ok) region.room = jumps_.at(region.address)->room;
    }
  }

 private:
  // A jump with a byte in [begin, end) that is another site than `self`.
  Region* overlapping(uint64_t begin, uint64_t end, const Region& self) const {
    auto it = jumps_.lower_bound(end);
    if (it == jumps_.begin()) return nullptr;
    Region* other = std::prev(it)->second;
    if (other->address + touched(*other) <= begin) return nullptr;
    return same_site(*other, self) ? nullptr : other;
  }
  uint64_t breakpoint_inside(const Region& region) const {
    for (auto it = breakpoints_.lower_bound(region.address);
         it != breakpoints_.end() && it->first < region.address + touched(region); ++it) {
      if (!same_site(*it->second, region)) return it->first;
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

  void give_way(Region& region, uint64_t culprit) const {
    leave_breakpoint(region, Verdict::InsideOtherSite, culprit,
                     bytes_at(text_, handler_address(region)));
  }

  const std::vector<TextRange>& text_;
  std::map<uint64_t, Region*> jumps_, breakpoints_;
};

}  // namespace

void separate(std::vector<Region>& regions, const std::vector<TextRange>& text) {
  Collisions collisions(text);
  for (Region& region : regions) collisions.add(region);
  collisions.share_room(regions);
}

}  // namespace dj::arch
