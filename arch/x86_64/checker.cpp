// SPDX-License-Identifier: Apache-2.0
// Checker::check(): the eight checks over all regions of a module (checker.h).
#include "arch/x86_64/checker.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include "arch/x86_64/check_results.h"
#include "arch/x86_64/doubts.h"
#include "arch/x86_64/fragments.h"
#include "arch/x86_64/jump_tables.h"
#include "arch/x86_64/placement.h"
#include "arch/x86_64/ranges.h"
#include "compiler/base/parallel.h"
#include "compiler/base/sort_runs.h"

namespace dj::arch {
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
  if (!has_thunks) return facts_as_read(function);
  Function read = function;
  // What a thunk's jump leads to may be a part of this very function: where to is the question
  // here.
  read_thunks(module, read, [](uint64_t) { return true; });
  return facts_as_read(read);
}

Checker::Impl::Facts Checker::Impl::facts_as_read(const Function& function) const {
  Facts facts;
  if (std::none_of(function.insns.begin(), function.insns.end(), jumps_to_own_value)) return facts;
  Flow flow(module, function);
  for (uint32_t i = 0; i < function.insns.size(); i++) {
    if (!jumps_to_own_value(function.insns[i])) continue;
    IndirectTargets to = indirect_targets(flow, module, i);
    if (to.way == Way::Unknown && facts.unknown_jump == 0)
      facts.unknown_jump = function.insns[i].address;
    if (to.way == Way::Table)
      facts.table_jumps.push_back({function.insns[i].address, std::move(to.targets)});
  }
  return facts;
}

void leave_breakpoint(Region& region, Verdict verdict, uint64_t culprit,
                      std::span<const uint8_t> bytes) {
  region.verdict = verdict;
  region.culprit = culprit;
  region.address = handler_address(region);
  Insn insn;
  region.length = arch::decode(bytes, region.address, insn) ? insn.length : 0;
}

void Checker::Impl::forbid(Region& region, Verdict verdict, uint64_t culprit) const {
  leave_breakpoint(region, verdict, culprit, module.bytes(handler_address(region)));
}

bool in_linkage_stub(const Module& module, uint64_t at) {
  constexpr uint8_t kJumpIndirect[] = {0xff, 0x25};
  for (uint64_t back = 2; back < 6; back++) {
    std::span<const uint8_t> bytes = module.bytes(at - back);
    if (bytes.size() > back && bytes[0] == kJumpIndirect[0] && bytes[1] == kJumpIndirect[1])
      return true;
  }
  return false;
}

std::optional<FunctionRange> Checker::Impl::around(const Reference& reference) const {
  const FunctionRange* range = module.function_at(reference.at);
  if (range != nullptr) return *range;
  if (in_linkage_stub(module, reference.at)) return std::nullopt;
  return module.gap_at(reference.at);
}

void Checker::Impl::decode_around(const std::vector<Reference>& references) {
  std::vector<FunctionRange> ranges;
  for (const Reference& reference : references) {
    const std::optional<FunctionRange> range = around(reference);
    if (range && !decoded.contains(range->begin)) ranges.push_back(*range);
  }
  const auto by_begin = [](const FunctionRange& a, const FunctionRange& b) {
    return a.begin < b.begin;
  };
  std::sort(ranges.begin(), ranges.end(), by_begin);
  ranges.erase(std::unique(ranges.begin(), ranges.end(),
                           [](const FunctionRange& a, const FunctionRange& b) {
                             return a.begin == b.begin;
                           }),
               ranges.end());
  std::mutex noting;
  parallel(ranges.size(), [&](size_t i) {
    const Function function = module.decode(ranges[i]);
    std::lock_guard lock(noting);
    note(function);
  });
}

// Is the byte pattern at reference.at really an instruction (or operand) of the program?
bool Checker::Impl::confirmed(const Reference& reference) {
  const std::optional<FunctionRange> range = around(reference);
  if (!range) return false;
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
    case Reference::Data:
      return insn.accesses_near() && insn.target == reference.target;
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
  std::vector<const FunctionRange*> followers = {};
};

std::vector<Group> by_function(const Checker::Impl& impl, std::vector<Region>& regions) {
  std::vector<std::pair<const FunctionRange*, Region*>> places;
  for (Region& region : regions) {
    region.verdict = Verdict::Ok;
    region.culprit = 0;
    const FunctionRange* range = impl.module.function_at(region.address);
    if (range == nullptr) {
      impl.forbid(region, Verdict::NotInFunction, 0);  // check 1: decoding has no start
    } else {
      places.emplace_back(range, &region);
    }
  }
  sort_runs(places.begin(), places.end(),
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
    last = std::max({last, region->address, region->probe_address});
  return last + kWindow;
}

// Those of the groups' followers that are no groups themselves.
std::vector<const FunctionRange*> others_of(const Module& module,
                                            const std::vector<Group>& groups) {
  const FunctionRange* const first = module.outermost().data();
  std::vector<bool> grouped(module.outermost().size());
  for (const Group& group : groups) grouped[size_t(group.range - first)] = true;
  std::vector<const FunctionRange*> others;
  for (const Group& group : groups) {
    for (const FunctionRange* follower : group.followers) {
      if (!grouped[size_t(follower - first)]) others.push_back(follower);
    }
  }
  return others;
}

// Check 3, by other parts of the regions' functions: their tables, which are returned, and jumps
// that could not be resolved.
std::vector<uint64_t> check_followers(Checker::Impl& impl, const std::vector<Group>& groups,
                                      Guards guards) {
  std::vector<uint64_t> targets = impl.look_at(others_of(impl.module, groups));
  for (const Group& group : groups) {
    for (const FunctionRange* part : group.followers) {
      const auto known = impl.known_facts.find(part->begin);
      if (known == impl.known_facts.end() || known->second.is_empty()) continue;
      const bool split_off = is_fragment(impl, *part);
      if (!split_off && !is_fragment(impl, *group.range)) continue;
      const Function function = impl.module.decode(*group.range);
      const Doubts doubts(function, known->second.table_jumps);
      const uint64_t unknown = split_off ? known->second.unknown_jump : 0;  // others: ColdParts
      for (Region* region : group.regions) impl.follow_jumps(*region, unknown, doubts, guards);
    }
  }
  return targets;
}

// Checks 1, 5, 6 and the function's part of 3; returns all jump table targets seen.
std::vector<uint64_t> check_functions(Checker::Impl& impl, std::vector<Region>& regions,
                                      Guards guards) {
  std::vector<Group> groups = by_function(impl, regions);
  std::vector<uint64_t> targets;
  std::mutex noting;  // guards impl's notes, its facts and targets; all else is read only
  parallel(groups.size(), [&](size_t i) {
    const bool all = impl.may_jump_by_register(*groups[i].range);
    const Function function =
        impl.module.decode(*groups[i].range, all ? ~uint64_t(0) : last_byte(groups[i]));
    Checker::Impl::Facts facts = impl.facts(function);
    const Doubts doubts(function, facts.table_jumps);
    for (Region* region : groups[i].regions) {
      impl.measure(*region, function, guards);
      impl.follow_jumps(*region, facts.unknown_jump, doubts, guards);
    }
    groups[i].followers = impl.followed_by(*groups[i].range, facts);
    if (!all) return;
    std::lock_guard lock(noting);
    impl.note(function);
    facts.each_table_target([&](uint64_t target) { targets.push_back(target); });
    impl.known_facts.try_emplace(function.range.begin, std::move(facts));
  });
  const std::vector<uint64_t> others = check_followers(impl, groups, guards);
  targets.insert(targets.end(), others.begin(), others.end());
  return targets;
}

void check_rules(Checker::Impl& impl, std::vector<Region>& regions, Guards guards) {
  const std::vector<uint64_t> table_targets = check_functions(impl, regions, guards);
  for (Region& region : regions) impl.check_off_limits(region, guards);
  check_incoming_edges(impl, regions, table_targets, guards);
  for (Region& region : regions) impl.guard_doubts(region, guards);
  if (guards == Guards::None) return;
  for (Region& region : regions) impl.check_reach(region);
}

// All checks but 7.
void check_each(Checker::Impl& impl, std::vector<Region>& regions, Guards guards) {
  check_rules(impl, regions, guards);
  if (guards == Guards::None) return;
  // Where the way back to a region's start is blocked the jump may begin at the probe address,
  // where forbid() has moved the region.
  std::vector<Region> moved;
  std::vector<size_t> whose;
  for (size_t i = 0; i < regions.size(); i++) {
    if (regions[i].probe_address == 0 || regions[i].verdict == Verdict::Ok ||
        refused(regions[i].verdict))
      continue;
    moved.push_back(regions[i]);
    whose.push_back(i);
  }
  if (moved.empty()) return;
  check_rules(impl, moved, guards);
  for (size_t i = 0; i < moved.size(); i++) regions[whose[i]] = moved[i];
}

// The same for regions that nobody asked about before.
void judge(Checker::Impl& impl, Verdicts& verdicts, std::vector<Region>& regions, Guards guards) {
  std::vector<Verdicts::Answer> answers;
  answers.reserve(regions.size());
  for (const Region& asked : regions) answers.push_back({asked.address, asked.probe_address, {}});
  check_each(impl, regions, guards);
  for (size_t i = 0; i < regions.size(); i++) answers[i].region = regions[i];
  verdicts.add(std::move(answers));
}

}  // namespace

void Checker::Impl::arrive(Region& region, uint64_t target, Verdict verdict, uint64_t culprit,
                           Guards guards) const {
  const uint64_t offset = target - region.address;
  if (guards == Guards::None) return forbid(region, verdict, culprit);
  if (offset >= region.stretch) return;  // cut before
  // Addresses in data and operands are sometimes imagined: none leads into an instruction's middle.
  const bool inside = offset < uint64_t(region.stretch - region.padding) &&
                      (offset >= 32 || !(region.boundaries >> offset & 1));
  if (verdict == Verdict::AddressTaken && inside) return;
  const bool off_limits = verdict == Verdict::RseqSection || verdict == Verdict::Blacklisted ||
                          verdict == Verdict::DataInText || verdict == Verdict::BeforeFixed;
  if (offset < region.first) return forbid(region, verdict, culprit);
  if (offset < kJumpBytes && region.obstacle == Verdict::Ok) {
    region.obstacle = verdict;
    region.culprit = culprit;
  }
  if (offset < 32 && (region.boundaries >> offset & 1) && !off_limits) {
    region.guards |= 1u << offset;
  } else if (offset >= kJumpBytes && region.probe_address <= region.address && !off_limits) {
    region.room = uint8_t(std::min<uint64_t>(region.room, offset));  // copied, but not written
  } else {
    cut(region, offset);
    if (region.probe_address >= region.address + region.stretch) forbid(region, verdict, culprit);
  }
}

void Checker::Impl::arrive_anywhere(Region& region, uint64_t jump, Guards guards) const {
  if (guards == Guards::None) return forbid(region, Verdict::IndirectJump, jump);
  region.guards = region.boundaries;
  if (region.boundaries == 0 || region.obstacle != Verdict::Ok) return;
  region.obstacle = Verdict::IndirectJump;
  region.culprit = jump;
}

void Checker::Impl::follow_jumps(Region& region, uint64_t unknown, const Doubts& doubts,
                                 Guards guards) const {
  if (region.verdict == Verdict::Ok && unknown != 0) arrive_anywhere(region, unknown, guards);
  doubts.mark(region);
}

void Checker::Impl::guard_doubts(Region& region, Guards guards) const {
  const uint32_t known = region.guards;
  for (uint32_t left = region.doubts & ~known; left != 0; left &= left - 1) {
    if (region.verdict != Verdict::Ok) return;
    const uint64_t address = region.address + uint32_t(std::countr_zero(left));
    arrive(region, address, Verdict::JumpTable, address, guards);
  }
  region.doubts &= region.guards & ~known;
}

void Checker::Impl::check_reach(Region& region) const {
  if (region.verdict != Verdict::Ok || best(region, space)) return;
  const bool whole = region.length >= kJumpBytes || region.obstacle == Verdict::Ok;
  forbid(region, whole ? Verdict::OutOfReach : region.obstacle, region.culprit);
}

void Checker::check_alone(std::vector<Region>& regions, Guards guards) {
  check_each(impl(), regions, guards);
}

void Checker::check(std::vector<Region>& regions, Guards guards, Neighbours neighbours) {
  Verdicts& verdicts = known_->verdicts[size_t(guards)];
  if (verdicts.all().empty()) {
    judge(impl(), verdicts, regions, guards);
  } else {
    std::vector<const Region*> answers = verdicts.find_all(regions);
    std::vector<Region> unknown;
    for (size_t i = 0; i < regions.size(); i++) {
      if (answers[i] == nullptr) unknown.push_back(regions[i]);
    }
    if (!unknown.empty()) {
      judge(impl(), verdicts, unknown, guards);
      answers = verdicts.find_all(regions);
    }
    for (size_t i = 0; i < regions.size(); i++) regions[i] = *answers[i];
  }
  const bool overlap = neighbours == Neighbours::Lean && guards != Guards::None;
  check_other_sites(regions, text_,
                    overlap ? std::function([this] { return impl().space; }) : nullptr);
}

namespace {

// Does its function jump to an instruction in the middle of the jump?
bool is_entered(const Module& module, const Region& region) {
  const FunctionRange* range = module.function_at(region.address);
  if (range == nullptr || region.verdict != Verdict::Ok) return false;
  const uint64_t begin = region.address + 1;
  const Function function = module.decode(*range);
  return std::any_of(function.insns.begin(), function.insns.end(), [&](const Insn& insn) {
    return insn.branches() && insn.target - begin < kJumpBytes - 1 &&
           function.find(insn.target) != Function::kNone;
  });
}

}  // namespace

bool Checker::any_breakpoint(std::vector<Region> regions) {
  const auto is_breakpoint = [](const Region& region) {
    return region.verdict != Verdict::Ok && !refused(region.verdict);
  };
  if (known_->verdicts[size_t(Guards::None)].all().empty()) {
    std::vector<Region> shown = regions;
    check_functions(impl(), shown, Guards::None);
    for (const Region& region : shown) {
      if (is_breakpoint(region) || is_entered(impl().module, region)) return true;
    }
  }
  check(regions, Guards::None);
  return std::any_of(regions.begin(), regions.end(), is_breakpoint);
}

Checker::Checker(ModuleText text)
    : text_(text.text),
      known_(std::make_unique<CheckResults>()),
      impl_(std::make_unique<Impl>(std::move(text))) {
  known_->unmovable = ranges_apart(impl_->module.text().rseq_sections, impl_->module.text().fixed);
}
Checker::Checker(std::vector<TextRange> text, CheckResults known, std::function<ModuleText()> whole)
    : text_(std::move(text)),
      known_(std::make_unique<CheckResults>(std::move(known))),
      whole_(std::move(whole)) {}
Checker::~Checker() = default;

Checker::Impl& Checker::impl() {
  if (!impl_) impl_ = std::make_unique<Impl>(whole_());
  return *impl_;
}

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
                                    "data-in-text",
                                    "function-end",
                                    "not-relocatable",
                                    "unmovable",
                                    "call-not-last",
                                    "inside-other-site",
                                    "rseq-section",
                                    "fixed-place",
                                    "before-fixed-place",
                                    "out-of-reach",
                                    "writable-text"};
  return kNames[size_t(v)];
}

bool refused(Verdict v) {
  return v == Verdict::NotBoundary || v == Verdict::Blacklisted || v == Verdict::RseqSection ||
         v == Verdict::FixedPlace || v == Verdict::WritableText || v == Verdict::Unmovable;
}

}  // namespace dj::arch
