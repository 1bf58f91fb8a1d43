// SPDX-License-Identifier: Apache-2.0
// Sites less than five bytes apart, the lower one by jump: the last bytes of its displacement are
// the first ones of the upper jump, with what is pinned of that one's displacement, or its int3 and
// what follows that.
//
//   low   e9 d0 d1 | e9 p0              rel32 of low:  p0 e9 d1 d0
//   high             e9 p0 d1 d2 d3     rel32 of high: d3 d2 d1 p0
//
//   low   e9 d0 | cc 8b e9              rel32 of low:  e9 8b cc d0
//   int3          cc|8b
//   high                e9 d0 d1 d2 d3
#include <bit>

#include "arch/x86_64/checker.h"
#include "arch/x86_64/detour.h"
#include "compiler/base/page.h"

namespace dj::arch {
namespace {

constexpr uint32_t kWindow = kJumpBytes + kPrefixesMax;
// How the upper jump begins. With one prefix a third jump can lean on both: an e9 as top byte leads
// 384 MB down, where nothing is below a program at a low address. bnd and a cs override are ignored
// before a direct jump; as top byte of the lower one they lead 224 MB down and 736 MB up.
constexpr uint8_t kBnd = 0xf2;
constexpr uint64_t kBndReach = 256 << 20;
constexpr struct {
  uint8_t prefixes, byte;
} kBeginnings[] = {{1, kBnd}, {1, 0x2e}, {2, kBnd}, {2, 0x2e}, {3, kBnd}, {3, 0x2e}, {0, 0x2e}};
constexpr uint8_t kJump = 0xe9;
constexpr uint8_t kAny = 0x40;
// The top byte of the lower jump's displacement: 256 MB and more away, below first; last what is
// there.
constexpr std::optional<uint8_t> kTops[] = {0xf0, 0xe8, 0xd8, 0xc0, 0xa0, 0x10,
                                            0x18, 0x28, 0x40, 0x60, 0x78, {}};

constexpr uint8_t bits_below(int n) { return uint8_t((1u << n) - 1); }

// Puts what the jump of `high` will have for bytes into those that `low` shares with it, pinning
// what is free. Without `top` its displacement is what stands there: where somebody arrives soon
// nothing else may be.
void pin(Region& low, Region& high, std::optional<uint8_t> top) {
  const uint32_t first = uint32_t(high.address - low.address), end = kJumpBytes + low.prefixes;
  for (uint32_t at = first; at < end; at++) {
    const uint32_t i = at - first;  // in the upper jump
    uint8_t& byte = low.shared[at];
    if (high.overlap != 0 && i >= high.overlap) {
      byte = high.shared[i];
    } else if (i <= high.fixed_bytes.prefix) {
      byte = i < high.fixed_bytes.prefix ? high.fixed_bytes.prefix_byte : kJump;
    } else {
      const uint32_t shift = 8 * (i - high.fixed_bytes.prefix - 1);
      if (!top) {
        byte = high.original[i];
      } else {
        byte = at + 1 == end ? *top : kAny;
      }
      high.fixed_bytes.mask |= 0xffu << shift;
      high.fixed_bytes.value |= uint32_t(byte) << shift;
    }
  }
}

// `low` as it leans on int3 alone, with that many prefixes.
Region overlapping_with(const Region& low, uint8_t sites, uint8_t prefixes) {
  Region overlapping = low;
  overlapping.prefixes = prefixes;
  overlapping.others = sites & bits_below(int(kJumpBytes) + prefixes);
  overlapping.overlap = overlapping.length = overlapping.stretch = uint8_t(std::countr_zero(sites));
  overlapping.padding = 0;
  overlapping.boundaries &= bits_below(overlapping.overlap);
  overlapping.guards &= bits_below(overlapping.overlap);
  for (uint32_t at = overlapping.overlap; at < kJumpBytes + prefixes; at++)
    overlapping.shared[at] = sites >> at & 1 ? kInt3 : low.original[at];
  if (overlapping.obstacle == Verdict::Ok) {
    overlapping.obstacle = Verdict::InsideOtherSite;
    overlapping.culprit = low.address + overlapping.overlap;
  }
  return overlapping;
}

// The e9 is before the nearest site, and no guard before the e9.
bool may_have(const Region& low, int prefixes, int nearest) {
  if (int(kJumpBytes) + prefixes > low.changeable) return false;
  if (prefixes == 0) return true;
  const bool same_page = low.address / kPage == (low.address + uint64_t{2} * kWindow) / kPage;
  return same_page && prefixes < nearest && (low.guards & bits_below(prefixes + 1)) == 0;
}

// A jump with a probe address is left as it is.
bool fit(Region& low, Region& high, const Space& space) {
  if (high.probe_address != 0) return false;
  for (const auto& [prefixes, byte] : kBeginnings) {
    if (byte == kBnd && space.image_begin - space.low < kBndReach) continue;
    const bool same = prefixes == high.fixed_bytes.prefix && byte == high.fixed_bytes.prefix_byte;
    if (high.fixed_bytes.set ? !same : high.overlap != 0 && prefixes != high.prefixes) continue;
    for (const std::optional<uint8_t> top : kTops) {
      Region below = low, above = high;
      above.fixed_bytes.set = true;
      above.fixed_bytes.prefix = prefixes;
      above.fixed_bytes.prefix_byte = byte;
      pin(below, above, top);
      if (!best(above, space) || !best(below, space)) continue;
      low = below;
      high = above;
      return true;
    }
  }
  return false;
}

}  // namespace

bool may_overlap(const Region& low, const Region& high) {
  const uint64_t apart = high.address - low.address;
  if (apart == 0 || apart >= kJumpBytes || low.probe_address != 0 || low.verdict != Verdict::Ok)
    return false;
  const bool jump = high.verdict == Verdict::Ok;
  if (jump && high.probe_address != 0) return false;
  const uint64_t last = high.address + (jump ? kWindow : 0);
  return low.address / kPage == last / kPage;
}

bool overlap(Region& low, const Above& above, const Space& space) {
  const int nearest = std::countr_zero(above.sites);
  const bool ends = nearest == low.first || nearest == low.stretch;
  if (!ends && (low.boundaries >> nearest & 1) == 0) return false;
  for (const uint8_t prefixes : {0, 1, 2, 3}) {
    if (!may_have(low, prefixes, nearest)) continue;
    Region overlapping = overlapping_with(low, above.sites, prefixes);
    const bool to_jump =
        above.jump != nullptr && above.jump->address - low.address < kJumpBytes + prefixes;
    if (to_jump ? !fit(overlapping, *above.jump, space) : !best(overlapping, space)) continue;
    low = overlapping;
    return true;
  }
  return false;
}

}  // namespace dj::arch
