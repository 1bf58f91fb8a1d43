// Checker::check(): the eight checks over all regions of a module (engine.md section 3).
#include "arch/x86_64/checker.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "arch/x86_64/jump_tables.h"
#include "arch/x86_64/parallel.h"
#include "arch/x86_64/relocate.h"

namespace dj::arch {
namespace {

uint64_t handler_address(const Region& region) {
  return region.pivot != 0 ? region.pivot : region.address;
}

// Bytes behind the first one where nobody may arrive: the jump's own, and with a pivot the whole
// way to it, or someone would pass by the handlers.
uint32_t prohibited_bytes(const Region& region) {
  return region.pivot != 0 ? region.length : std::min<uint32_t>(region.length, kJumpBytes);
}

bool overlaps(const std::vector<FunctionRange>& ranges, uint64_t begin, uint64_t end) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const FunctionRange& r) { return begin < r.end && r.begin < end; });
}

// The regions still allowed, by address, to ask which one an arrival at `target` would hit.
class Standing {
 public:
  explicit Standing(std::vector<Region>& regions) {
    for (Region& region : regions) {
      if (region.verdict == Verdict::Ok)
        sites_.push_back({region.address, prohibited_bytes(region), &region});
    }
    std::sort(sites_.begin(), sites_.end(),
              [](const Site& a, const Site& b) { return a.address < b.address; });
  }

  bool empty() const { return sites_.empty(); }
  uint64_t low() const { return sites_.front().address; }
  uint64_t high() const { return sites_.back().address + kLongest; }

  template <typename Action>
  void each(Action action) const {
    for (const Site& site : sites_) action(*site.region);
  }

  // A forbidden region may move onto its pivot, so the places are those of the beginning.
  template <typename Action>
  void hit_by(uint64_t target, Action action) const {
    auto it = std::lower_bound(sites_.begin(), sites_.end(), target,
                               [](const Site& site, uint64_t a) { return site.address < a; });
    while (it != sites_.begin()) {
      --it;
      if (target - it->address >= kLongest) return;
      if (target - it->address < it->bytes && it->region->verdict == Verdict::Ok)
        action(*it->region);
    }
  }

 private:
  static constexpr uint64_t kLongest = 256;  // of a region: its length is one byte
  struct Site {
    uint64_t address;
    uint32_t bytes;
    Region* region;
  };
  std::vector<Site> sites_;
};

// Check 7. In order: who overlaps an earlier jump becomes int3; and no int3 may stand inside a
// jump, so that jump gives way too.
class Collisions {
 public:
  explicit Collisions(const Checker::Impl& impl) : impl_(impl) {}

  void add(Region& region) {
    if (refused(region.verdict) || region.length == 0) return;
    const uint64_t end = region.address + region.length;
    if (region.verdict == Verdict::Ok) {
      const Region* other = overlapping(region.address, end, region);
      const uint64_t inner = breakpoint_inside(region);
      if (other == nullptr && inner == 0) {
        jumps_[region.address] = &region;
        return;
      }
      impl_.forbid(region, Verdict::InsideOtherSite, other != nullptr ? other->address : inner);
    }
    breakpoints_[region.address] = &region;
    while (Region* covering = overlapping(region.address, region.address + 1, region)) {
      jumps_.erase(covering->address);
      impl_.forbid(*covering, Verdict::InsideOtherSite, region.address);
      breakpoints_[covering->address] = covering;
    }
  }

 private:
  // A jump with a byte in [begin, end) that is another site than `self`.
  Region* overlapping(uint64_t begin, uint64_t end, const Region& self) const {
    auto it = jumps_.lower_bound(end);
    if (it == jumps_.begin()) return nullptr;
    Region* other = std::prev(it)->second;
    if (other->address + other->length <= begin) return nullptr;
    return same_site(*other, self) ? nullptr : other;
  }
  uint64_t breakpoint_inside(const Region& region) const {
    for (auto it = breakpoints_.lower_bound(region.address);
         it != breakpoints_.end() && it->first < region.address + region.length; ++it) {
      if (!same_site(*it->second, region)) return it->first;
    }
    return 0;
  }
  static bool same_site(const Region& a, const Region& b) {
    return a.address == b.address && handler_address(a) == handler_address(b) &&
           a.length == b.length;
  }

  const Checker::Impl& impl_;
  std::map<uint64_t, Region*> jumps_, breakpoints_;
};

}  // namespace

void Checker::Impl::note(const Function& function) {
  if (!decoded.emplace(function.range.begin, function.decoded_end()).second) return;
  for (const Insn& insn : function.insns) starts.add(insn.address);
}

Function Checker::Impl::decode(const FunctionRange& range) {
  Function function = module.decode(range);
  note(function);
  return function;
}

Checker::Impl::Facts Checker::Impl::facts(const Function& function) const {
  Facts facts;
  const bool has_indirect =
      std::any_of(function.insns.begin(), function.insns.end(),
                  [](const Insn& i) { return i.kind == Kind::JumpIndirect && !i.memory(); });
  if (!has_indirect) return facts;  // a jump through memory goes where check 4 looks
  Flow flow(module, function);
  for (uint32_t i = 0; i < function.insns.size(); i++) {
    if (function.insns[i].kind != Kind::JumpIndirect || function.insns[i].memory()) continue;
    const IndirectTargets to = indirect_targets(flow, module, i);
    if (to.way == Way::Unknown && facts.unknown_jump == 0)
      facts.unknown_jump = function.insns[i].address;
    facts.table_targets.insert(facts.table_targets.end(), to.targets.begin(), to.targets.end());
  }
  return facts;
}

// What is left when a jump is not allowed: a breakpoint on the instruction that the handlers
// precede.
void Checker::Impl::forbid(Region& region, Verdict verdict, uint64_t culprit) const {
  region.verdict = verdict;
  region.culprit = culprit;
  region.address = handler_address(region);
  Insn insn;
  region.length =
      arch::decode(module.bytes(region.address), region.address, insn) ? insn.length : 0;
}

void Checker::Impl::measure(Region& region, const Function& function) const {
  const auto no = [&](Verdict verdict, uint64_t culprit = 0) { forbid(region, verdict, culprit); };
  const size_t first = function.find(region.address);
  if (first == Function::kNone ||
      (region.pivot != 0 && function.find(region.pivot) == Function::kNone))
    return no(Verdict::NotBoundary);
  for (size_t i = first; i < function.insns.size(); i++) {
    const Insn& insn = function.insns[i];
    const uint64_t length = insn.end() - region.address;
    if (unrelocatable(insn) != nullptr) return no(Verdict::NotRelocatable, insn.address);
    if (length > 255) return no(Verdict::FunctionEnd, insn.address);
    region.length = uint8_t(length);
    if (length >= kJumpBytes && insn.address >= handler_address(region)) return;
    if (insn.leaves()) {
      region.length = kJumpBytes;
      const uint32_t missing = kJumpBytes - uint32_t(std::min<uint64_t>(length, kJumpBytes));
      if (insn.address < handler_address(region) ||
          module.padding(function, insn.end(), missing) < missing)
        no(Verdict::FunctionEnd, insn.address);
      return;
    }
    if (insn.calls()) return no(Verdict::CallNotLast, insn.address);
  }
  no(function.whole ? Verdict::FunctionEnd : Verdict::Undecodable, function.decoded_end());
}

namespace {

// Procedure linkage tables are code of nobody, full of `jmp *displacement(%rip)`: is `at` a byte of
// such a displacement?
bool in_linkage_stub(const Module& module, uint64_t at) {
  constexpr uint8_t kJumpIndirect[] = {0xff, 0x25};
  for (uint64_t back = 2; back < 6; back++) {
    std::span<const uint8_t> bytes = module.bytes(at - back);
    if (bytes.size() > back && bytes[0] == kJumpIndirect[0] && bytes[1] == kJumpIndirect[1])
      return true;
  }
  return false;
}

}  // namespace

// Is the byte pattern at reference.at really an instruction (or operand) of the program?
bool Checker::Impl::confirmed(const Reference& reference) {
  const FunctionRange* range = module.function_at(reference.at);
  if (range == nullptr) return !in_linkage_stub(module, reference.at);  // else believe it
  auto known = decoded.find(range->begin);
  if (known == decoded.end()) {
    decode(*range);
    known = decoded.find(range->begin);
  }
  if (reference.at >= known->second) return true;  // behind what we could decode
  uint64_t start = reference.at;
  while (!starts.has(start)) start--;
  Insn insn;
  if (!arch::decode(module.bytes(start), start, insn)) return true;
  switch (reference.kind) {
    case Reference::Branch:
      return (insn.branches() || insn.kind == Kind::Odd) && insn.target == reference.target;
    case Reference::Lea:
      return insn.is(0x8d) && insn.rip_relative && insn.target == reference.target;
    case Reference::Immediate: {
      const uint64_t offset = reference.at - start;
      return (insn.imm_bytes >= 4 && insn.imm_offset == offset && !insn.branches()) ||
             (insn.disp_bytes == 4 && insn.disp_offset == offset && !insn.rip_relative);
    }
  }
  return true;
}

namespace {

// The regions of one function.
struct Group {
  const FunctionRange* range;
  std::vector<Region*> regions;
};

std::vector<Group> by_function(const Checker::Impl& impl, std::vector<Region>& regions) {
  std::vector<std::pair<const FunctionRange*, Region*>> places;
  for (Region& region : regions) {
    region.verdict = Verdict::Ok;
    region.culprit = 0;
    const FunctionRange* range = impl.module.function_at(region.address);
    if (range == nullptr) {
      impl.forbid(region, Verdict::NotInFunction, 0);
    } else {
      places.emplace_back(range, &region);
    }
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Group> groups;
  for (const auto& [range, region] : places) {
    if (groups.empty() || groups.back().range != range) groups.push_back({range, {}});
    groups.back().regions.push_back(region);
  }
  return groups;
}

// Up to where measure() may look.
uint64_t last_byte(const Group& group) {
  constexpr uint64_t kWindow = 64;  // more than a jump's window with its last instruction
  uint64_t last = 0;
  for (const Region* region : group.regions)
    last = std::max({last, region->address, region->pivot});
  return last + kWindow;
}

// Checks 1, 5, 6, 8 and the function's part of 3; returns all jump table targets seen.
std::vector<uint64_t> check_functions(Checker::Impl& impl, std::vector<Region>& regions) {
  std::vector<Group> groups = by_function(impl, regions);
  std::vector<uint64_t> targets;
  std::mutex noting;  // guards impl's notes and targets; all else is read only
  parallel(groups.size(), [&](size_t i) {
    const bool all = impl.module.may_jump_by_register(*groups[i].range);
    const Function function =
        impl.module.decode(*groups[i].range, all ? ~uint64_t(0) : last_byte(groups[i]));
    const Checker::Impl::Facts facts = impl.facts(function);
    for (Region* region : groups[i].regions) {
      impl.measure(*region, function);
      if (region->verdict == Verdict::Ok && facts.unknown_jump != 0)
        impl.forbid(*region, Verdict::IndirectJump, facts.unknown_jump);
    }
    if (!all) return;
    std::lock_guard lock(noting);
    impl.note(function);
    targets.insert(targets.end(), facts.table_targets.begin(), facts.table_targets.end());
  });
  return targets;
}

void check_refused(const Checker::Impl& impl, std::vector<Region>& regions) {
  for (Region& region : regions) {
    const uint64_t end = region.address + std::max<uint8_t>(region.length, 1);
    if (overlaps(impl.module.text().rseq_sections, region.address, end)) {
      impl.forbid(region, Verdict::RseqSection, 0);
    } else if (overlaps(impl.module.trampolines(), region.address, end)) {
      impl.forbid(region, Verdict::Blacklisted, 0);
    }
  }
}

// Checks 3 and 4 for what is known by address.
void check_known_arrivals(const Checker::Impl& impl, Region& region) {
  const ModuleText& text = impl.module.text();
  const uint64_t after = region.address, before = after + prohibited_bytes(region);
  if (const uint64_t pad = Module::first_between(text.landing_pads, after, before)) {
    impl.forbid(region, Verdict::LandingPad, pad);
  } else if (const uint64_t taken = Module::first_between(text.address_taken, after, before)) {
    impl.forbid(region, Verdict::AddressTaken, taken);
  } else if (const uint64_t symbol =
                 Module::first_between(impl.module.function_begins(), after, before)) {
    impl.forbid(region, Verdict::AddressTaken, symbol);
  }
}

// Checks 2, 3 and 4: nobody arrives inside a region.
void check_arrivals(Checker::Impl& impl, std::vector<Region>& regions,
                    const std::vector<uint64_t>& table_targets) {
  const Standing standing(regions);
  if (standing.empty()) return;
  ByteSet marked(standing.low(),
                 standing.high());  // tight, so that few regions are scanned for faster
  standing.each([&](Region& region) {
    for (uint32_t i = 1; i < prohibited_bytes(region); i++) marked.add(region.address + i);
    check_known_arrivals(impl, region);
  });
  for (const uint64_t target : table_targets)
    standing.hit_by(target,
                    [&](Region& region) { impl.forbid(region, Verdict::JumpTable, target); });
  for (const Reference& reference : scan_references(impl.module.text(), marked)) {
    std::vector<Region*> hit;
    standing.hit_by(reference.target, [&](Region& region) { hit.push_back(&region); });
    if (hit.empty() || !impl.confirmed(reference)) continue;
    const bool branch = reference.kind == Reference::Branch;
    for (Region* region : hit)
      impl.forbid(*region, branch ? Verdict::BranchIntoRegion : Verdict::AddressTaken,
                  reference.at);
  }
}

// All checks but 7, for regions that nobody asked about before.
void judge(Checker::Impl& impl, std::vector<Region> regions) {
  const std::vector<Region> asked = regions;
  const std::vector<uint64_t> table_targets = check_functions(impl, regions);
  check_refused(impl, regions);
  check_arrivals(impl, regions, table_targets);
  std::vector<Judged::Answer> answers;
  for (size_t i = 0; i < regions.size(); i++) answers.push_back({asked[i], regions[i]});
  impl.judged.add(std::move(answers));
}

}  // namespace

void Checker::check(std::vector<Region>& regions) {
  std::vector<Region> unknown;
  for (const Region& region : regions) {
    if (impl_->judged.find(region) == nullptr) unknown.push_back(region);
  }
  if (!unknown.empty()) judge(*impl_, std::move(unknown));
  for (Region& region : regions) region = *impl_->judged.find(region);
  Collisions collisions(*impl_);
  for (Region& region : regions) collisions.add(region);
}

Checker::Checker(ModuleText text) : impl_(std::make_unique<Impl>(std::move(text))) {}
Checker::~Checker() = default;

const char* verdict_name(Verdict v) {
  constexpr const char* kNames[] = {"ok",
                                    "not-a-boundary",
                                    "not-in-function",
                                    "blacklisted",
                                    "undecodable",
                                    "branch-into-region",
                                    "indirect-jump",
                                    "jump-table",
                                    "landing-pad",
                                    "address-taken",
                                    "function-end",
                                    "not-relocatable",
                                    "call-not-last",
                                    "inside-other-site",
                                    "rseq-section"};
  return kNames[size_t(v)];
}

bool refused(Verdict v) {
  return v == Verdict::NotBoundary || v == Verdict::Blacklisted || v == Verdict::RseqSection;
}

}  // namespace dj::arch
