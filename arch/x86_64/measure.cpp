// SPDX-License-Identifier: Apache-2.0
// Checks 1, 5 and 6: what a region's own instructions allow.
#include <algorithm>
#include <cstring>

#include "arch/x86_64/checker.h"
#include "arch/x86_64/detour.h"
#include "arch/x86_64/relocate.h"

namespace dj::arch {
namespace {

constexpr uint32_t kStretch = 8;  // a jump and three prefixes

// Grows a region instruction by instruction until the jump has room.
class Growth {
 public:
  Growth(const Module& module, const Function& function, Guards guards, Region& region)
      : module_(module), function_(function), guards_(guards), region_(region) {}

  // Ok, or why not, with culprit(). The region's length is then that of what could be passed.
  Verdict grow(size_t first) {
    Verdict verdict = Verdict::Ok;
    for (size_t i = first; i < function_.insns.size() && verdict == Verdict::Ok; i++) {
      verdict = pass(function_.insns[i]);
      if (done_) return Verdict::Ok;
    }
    if (verdict == Verdict::Ok) verdict = behind_end();
    return done_ || region_.length >= kJumpBytes ? Verdict::Ok : verdict;
  }
  uint64_t culprit() const { return culprit_; }

 private:
  Verdict no(Verdict verdict, uint64_t culprit) {
    culprit_ = culprit;
    return verdict;
  }

  // Why a plain jump could not go on to `address`.
  void note(uint64_t address) {
    if (region_.obstacle != Verdict::Ok) return;
    region_.obstacle = called_ ? Verdict::CallNotLast : Verdict::FunctionEnd;
    region_.culprit = address;
  }

  bool enough() const {
    return region_.stretch >= kJumpBytes && region_.address + region_.stretch > probe_address();
  }
  uint64_t probe_address() const {
    return region_.probe_address != 0 ? region_.probe_address : region_.address;
  }

  // One more instruction.
  Verdict pass(const Insn& insn) {
    const uint64_t offset = insn.address - region_.address;
    if (insn.end() - region_.address > 255) return no(Verdict::FunctionEnd, insn.address);
    if (const Verdict verdict = check_relocatable(insn); verdict != Verdict::Ok) return verdict;
    if (offset > 0 && offset < 32) {
      if (guards_ != Guards::None && starts_with_endbr(insn.address))
        return no(Verdict::AddressTaken, insn.address);
      region_.boundaries |= 1u << offset;
      const bool dead = is_dead(insn);
      if ((arrived_ && !dead) || guards_ == Guards::Everywhere) region_.guards |= 1u << offset;
      if (arrived_ && !dead && region_.stretch < kJumpBytes) note(insn.address);
    }
    if (region_.stretch == 0) region_.first = insn.length;
    region_.stretch = uint8_t(insn.end() - region_.address);
    if (enough() && region_.length < kJumpBytes) region_.length = region_.stretch;
    if (enough() && (guards_ == Guards::None || region_.stretch >= kStretch)) done_ = true;
    if (done_) return Verdict::Ok;
    const bool still_dead = is_dead(insn);
    left_ = still_dead ? left_ : insn.leaves() && insn.kind != Kind::Trap;
    called_ = insn.calls();
    arrived_ = called_ || still_dead;
    if (insn.leaves()) return check_end(insn);
    return check_call_last(insn);
  }

  // Alignment behind a jump or return is dead unless some code leads there. The int3 are dead, too,
  // that compilers put there for processors that guess, or that a kernel leaves of a patched
  // return. Behind an int3 of the code a debugger may go on with the next one.
  bool is_dead(const Insn& insn) const {
    if (!arrived_ || called_) return false;
    return insn.kind == Kind::Nop || (left_ && insn.is(kInt3));
  }

  // Check 6: the instruction can run elsewhere ...
  Verdict check_relocatable(const Insn& insn) {
    if (unrelocatable(insn) == nullptr) return Verdict::Ok;
    return no(insn.address == probe_address() ? Verdict::Unmovable : Verdict::NotRelocatable,
              insn.address);
  }
  // ... and what it calls comes back behind the DCR: asked when more bytes are needed.
  Verdict check_call_last(const Insn& insn) {
    const bool passed = insn.calls() && guards_ == Guards::None;
    return passed ? no(Verdict::CallNotLast, insn.address) : Verdict::Ok;
  }

  // Check 5: nothing runs on from here; padding is free, what follows it is entered by others.
  Verdict check_end(const Insn& insn) {
    arrived_ = true;
    const bool last = insn.end() >= function_.decoded_end();
    if (insn.address < probe_address()) return no(Verdict::FunctionEnd, insn.address);
    if (guards_ != Guards::None && !last) return Verdict::Ok;
    if (take_padding(insn.end())) return Verdict::Ok;
    return guards_ == Guards::None ? no(Verdict::FunctionEnd, insn.address) : Verdict::Ok;
  }

  bool take_padding(uint64_t from) {
    const uint32_t wanted = guards_ == Guards::None ? kJumpBytes : kStretch;
    if (region_.stretch >= wanted) return done_ = true;
    const uint32_t found = module_.padding(function_, from, wanted - region_.stretch);
    if (region_.stretch + found < kJumpBytes) return false;
    region_.stretch = uint8_t(region_.stretch + found);
    region_.padding = uint8_t(found);
    if (region_.length < kJumpBytes) region_.length = kJumpBytes;
    return done_ = true;
  }

  // The next function's first instructions: they are entered by calls, and from ours if it runs on.
  Verdict behind_end() {
    if (!function_.whole) return no(Verdict::Undecodable, function_.decoded_end());
    uint64_t at = function_.decoded_end();
    if (guards_ == Guards::None) return no(Verdict::FunctionEnd, at);
    if (arrived_ && !called_) at += module_.padding(function_, at, kStretch);
    while (!done_) {
      const FunctionRange* next = module_.function_at(at);
      Insn insn;
      if (next == nullptr || !decode(module_.bytes(at), at, insn))
        return no(Verdict::FunctionEnd, at);
      arrived_ = true;
      const Verdict verdict = pass(insn);
      if (verdict != Verdict::Ok) return verdict;
      at = insn.end();
    }
    return Verdict::Ok;
  }

  bool starts_with_endbr(uint64_t address) const {
    const auto bytes = module_.bytes(address);
    return bytes.size() >= kEndbr64.size() &&
           std::equal(kEndbr64.begin(), kEndbr64.end(), bytes.begin());
  }

  const Module& module_;
  const Function& function_;
  const Guards guards_;
  Region& region_;
  bool arrived_ = false;  // control may come to the next instruction from elsewhere, surely
  bool called_ = false;   // the instruction before is a call
  bool left_ = false;     // the last one that is not dead is a jump or a return
  bool done_ = false;
  uint64_t culprit_ = 0;
};

// Check 1: instructions begin there.
bool check_boundary(const Region& region, const Function& function) {
  const bool first = function.find(region.address) != Function::kNone;
  return first &&
         (region.probe_address == 0 || function.find(region.probe_address) != Function::kNone);
}

}  // namespace

void Checker::Impl::cut(Region& region, uint64_t offset) const {
  uint32_t end = region.first;
  for (uint32_t i = region.first; i <= offset && i < 32; i++) {
    if (region.boundaries >> i & 1) end = i;
  }
  if (end >= region.stretch) return;
  region.stretch = uint8_t(end);
  region.padding = 0;
  region.boundaries &= (1u << end) - 1;
  region.guards &= (1u << end) - 1;
  region.doubts &= region.guards;
  if (end < kJumpBytes) region.length = region.first;
}

void Checker::Impl::measure(Region& region, const Function& function, Guards guards) const {
  region.first = region.stretch = region.padding = region.length = 0;
  region.room = region.changeable = 64;
  region.boundaries = region.guards = region.doubts = 0;
  region.obstacle = Verdict::Ok;
  const auto bytes = module.bytes(region.address);
  std::memcpy(region.original.data(), bytes.data(), std::min(bytes.size(), region.original.size()));
  const size_t first = function.find(region.address);
  if (!check_boundary(region, function)) return forbid(region, Verdict::NotBoundary, 0);
  Growth growth(module, function, guards, region);
  const Verdict verdict = growth.grow(first);
  if (verdict == Verdict::Ok) return;
  // With guards a lone instruction may do, the bytes behind it left alone.
  if (guards != Guards::None && region.first != 0 && region.probe_address <= region.address) {
    region.length = region.first;
    region.obstacle = verdict;
    region.culprit = growth.culprit();
  } else {
    forbid(region, verdict, growth.culprit());
  }
}

}  // namespace dj::arch
