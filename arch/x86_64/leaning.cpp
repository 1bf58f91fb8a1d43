// Sites less than five bytes apart, both by jump: the last bytes of the lower jump's displacement
// are the first ones of the upper jump, with what is pinned of its displacement.
//
//   low   e9 d0 d1 | e9 p0              rel32 of low:  p0 e9 d1 d0
//   high             e9 p0 d1 d2 d3     rel32 of high: d3 d2 d1 p0
#include "arch/x86_64/checker.h"

namespace dj::arch {
namespace {

constexpr uint64_t kPage = 4096;  // text is written by pages: both jumps at once
constexpr uint32_t kPrefixesMax = 3;
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

// Puts what the jump of `high` will have for bytes behind low.lean, pinning what is free. Without
// `top` its displacement is what stands there: where somebody arrives soon nothing else may be.
void pin(Region& low, Region& high, std::optional<uint8_t> top) {
  for (uint32_t at = low.lean; at < kJumpBytes; at++) {
    const uint32_t i = at - low.lean;  // in the upper jump
    uint8_t& byte = low.original[at];
    if (high.lean != 0 && i >= high.lean) {
      byte = high.original[i];
    } else if (i <= high.pins.prefix) {
      byte = i < high.pins.prefix ? high.pins.prefix_byte : kJump;
    } else {
      const uint32_t shift = 8 * (i - high.pins.prefix - 1);
      if (!top) {
        byte = high.original[i];
      } else {
        byte = at + 1 == kJumpBytes ? *top : kAny;
      }
      high.pins.mask |= 0xffu << shift;
      high.pins.value |= uint32_t(byte) << shift;
    }
  }
}

}  // namespace

bool may_lean(const Region& low, const Region& high) {
  const uint64_t apart = high.address - low.address;
  if (apart == 0 || apart >= kJumpBytes || low.pivot != 0 || high.pivot != 0) return false;
  if (low.verdict != Verdict::Ok || high.verdict != Verdict::Ok) return false;
  if (low.address / kPage != (high.address + kJumpBytes + kPrefixesMax) / kPage) return false;
  return apart == low.first || (low.boundaries >> apart & 1) != 0;
}

bool lean(Region& low, Region& high, const Space& space) {
  Region leaning = low;
  leaning.lean = leaning.length = leaning.stretch = uint8_t(high.address - low.address);
  leaning.padding = 0;
  leaning.boundaries &= (1u << leaning.lean) - 1;
  leaning.guards &= (1u << leaning.lean) - 1;
  if (leaning.obstacle == Verdict::Ok) {
    leaning.obstacle = Verdict::InsideOtherSite;
    leaning.culprit = high.address;
  }
  for (const auto& [prefixes, byte] : kBeginnings) {
    if (byte == kBnd && space.image_begin - space.low < kBndReach) continue;
    const bool same = prefixes == high.pins.prefix && byte == high.pins.prefix_byte;
    if (high.pins.set ? !same : high.lean != 0 && prefixes != 0) continue;
    for (const std::optional<uint8_t> top : kTops) {
      Region below = leaning, above = high;
      above.pins.set = true;
      above.pins.prefix = prefixes;
      above.pins.prefix_byte = byte;
      pin(below, above, top);
      if (!best(above, space) || !best(below, space)) continue;
      low = below;
      high = above;
      return true;
    }
  }
  return false;
}

}  // namespace dj::arch
