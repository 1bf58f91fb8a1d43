// SPDX-License-Identifier: Apache-2.0
// Check 8 keeps regions off code that must stay as it is, and off code that cannot run elsewhere.
#include "arch/x86_64/check_results.h"
#include "arch/x86_64/checker.h"
#include "arch/x86_64/ranges.h"

namespace dj::arch {

void Checker::Impl::check_off_limits(Region& region, Guards guards) const {
  const auto keep_off = [&](const std::vector<FunctionRange>& ranges, Verdict verdict) {
    if (ranges.empty()) return;
    const uint32_t own = guards == Guards::None ? region.length : region.first;
    if (overlaps(ranges, region.address, region.address + std::max<uint32_t>(own, 1)))
      return forbid(region, verdict, 0);
    for (uint32_t i = own; i < region.stretch; i++) {
      if (overlaps(ranges, region.address + i, region.address + i + 1))
        return arrive(region, region.address + i, verdict, region.address + i, guards);
    }
  };
  keep_off(module.text().rseq_sections, Verdict::RseqSection);
  if (!refused(region.verdict)) keep_off(module.trampolines(), Verdict::Blacklisted);
  const auto& signatures = module.text().rseq_signatures;
  const uint64_t at = handler_address(region);
  if (overlaps(signatures, at, at + 1)) return forbid(region, Verdict::RseqSection, 0);
  if (region.verdict == Verdict::Ok) keep_off(signatures, Verdict::DataInText);
  if (!refused(region.verdict)) keep_off_fixed(region, guards);
}

// A fixed instruction cannot be probed: the int3 would stand on it, and its copy elsewhere. An
// instruction before one can, with a jump that neither covers nor reads the fixed bytes.
void Checker::Impl::keep_off_fixed(Region& region, Guards guards) const {
  const std::vector<FunctionRange>& fixed = module.text().fixed;
  const uint64_t at = handler_address(region);
  Insn insn;
  const bool decoded = arch::decode(module.bytes(at), at, insn);
  if (overlap_apart(fixed, at, at + (decoded ? insn.length : 1)))
    return forbid(region, Verdict::FixedPlace, 0);
  if (region.verdict != Verdict::Ok) return;
  const auto next = first_behind(fixed, region.address);
  if (next == fixed.end() || next->begin >= region.address + region.changeable) return;
  const uint64_t first = std::max(next->begin, region.address);
  const uint64_t begin = first - region.address;
  if (begin < region.first) return forbid(region, Verdict::BeforeFixed, first);
  if (begin < (guards == Guards::None ? region.length : region.stretch))
    arrive(region, first, Verdict::BeforeFixed, first, guards);
  region.changeable = uint8_t(begin);
  if (begin >= kJumpBytes || region.obstacle != Verdict::Ok) return;
  region.obstacle = Verdict::BeforeFixed;
  region.culprit = first;
}

bool Checker::must_stay(uint64_t begin, uint64_t end) const {
  return overlap_apart(known_->unmovable, begin, end);
}

}  // namespace dj::arch
