// SPDX-License-Identifier: Apache-2.0
// Checker::census(): all instructions of a module. check() finds who arrives at a few regions by
// scanning bytes; here everything is decoded anyway, so all incoming are collected first.
#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <tuple>

#include "arch/x86_64/checker.h"
#include "arch/x86_64/doubts.h"
#include "compiler/base/parallel.h"

namespace dj::arch {
namespace {

// Who arrives where in a module, from the code of all functions and the bytes between them.
class AllIncomingEdges {
 public:
  explicit AllIncomingEdges(const Checker::Impl& impl)
      : impl_(impl),
        branches_(impl.module.low(), impl.module.high()),
        tables_(branches_),
        taken_(branches_),
        data_(branches_),
        everywhere_(branches_),
        called_(branches_),
        jumped_(branches_),
        cold_(branches_) {
    everywhere_.fill();
    for (const uint64_t at : impl.module.text().landing_pads) taken_.add(at);
    for (const uint64_t at : impl.module.text().address_taken) {
      taken_.add(at);
      called_.add(at);
    }
    for (const uint64_t at : impl.module.function_begins()) taken_.add(at);
  }

  void add(const Function& function, const Checker::Impl::Facts& facts) {
    facts.each_table_target([&](uint64_t target) { tables_.add(target); });
    const bool pic = impl_.module.text().position_independent;
    for (const Insn& insn : function.insns) {
      if (insn.branches() || (insn.kind == Kind::Odd && insn.target != 0)) branch(function, insn);
      if (insn.is(0x8d) && insn.rip_relative) take(insn.target);
      if (insn.accesses_near()) data_.add(insn.target);
      if (pic || insn.branches()) continue;
      const uint64_t low = impl_.module.low();
      if (insn.imm_bytes >= 4)
        take(insn.imm_bytes == 4 ? widened(uint32_t(insn.imm), low) : uint64_t(insn.imm));
      if (insn.disp_bytes == 4 && !insn.rip_relative) take(widened(uint32_t(insn.disp), low));
    }
  }
  // Bytes that belong to no decoded function: whatever they may be.
  void add_bytes(uint64_t begin, uint64_t end);

  void visit(Region& region) const {
    for (uint32_t i = 1; i < region.stretch && region.verdict == Verdict::Ok; i++) {
      const uint64_t at = region.address + i;
      const auto look = [&](const ByteSet& set, Verdict verdict) {
        if (set.has(at)) impl_.arrive(region, at, verdict, at, Guards::WhereNeeded);
      };
      look(branches_, Verdict::BranchIntoRegion);
      look(tables_, Verdict::JumpTable);
      look(taken_, Verdict::AddressTaken);
      look(data_, Verdict::DataInText);
    }
  }
  // Only conditional jumps lead to a cold part, or it jumps back into what it was split from.
  bool is_entry(uint64_t begin) const {
    return called_.has(begin) || (jumped_.has(begin) && !cold_.has(begin));
  }

 private:
  void take(uint64_t target) {
    taken_.add(target);
    called_.add(target);
  }
  void branch(const Function& function, const Insn& insn) {
    branches_.add(insn.target);
    if (insn.kind == Kind::Call) return called_.add(insn.target);
    if (function.inside(insn.target)) return;
    (insn.kind == Kind::Jump ? jumped_ : cold_).add(insn.target);
    if (!impl_.module.begins_function(insn.target)) cold_.add(function.range.begin);
  }

  const Checker::Impl& impl_;
  ByteSet branches_, tables_, taken_, data_, everywhere_;
  ByteSet called_, jumped_, cold_;  // function entries
};

// Nops, int3 and zeros: nothing refers to anything from there.
bool is_filler(std::span<const uint8_t> bytes) {
  Insn insn;
  while (!bytes.empty()) {
    const bool fill = bytes[0] == 0 || bytes[0] == 0xcc;
    if (!fill && !(decode(bytes, 0, insn) && insn.kind == Kind::Nop)) return false;
    bytes = bytes.subspan(fill ? 1 : insn.length);
  }
  return true;
}

// Bytes in which every offset is looked at name data everywhere; real code has its own beside it.
constexpr uint64_t kNear = 1 << 16;

void AllIncomingEdges::add_bytes(uint64_t begin, uint64_t end) {
  const auto bytes = impl_.module.bytes(begin);
  const auto piece = bytes.first(std::min<size_t>(bytes.size(), end - std::min(begin, end)));
  if (is_filler(piece)) return;
  ModuleText gap;
  gap.position_independent = impl_.module.text().position_independent;
  gap.text.push_back({begin, piece});
  for (const Reference& reference : scan_references(gap, everywhere_)) {
    if (in_linkage_stub(impl_.module, reference.at)) continue;
    if (reference.kind == Reference::Data) {
      if (reference.target - begin + kNear < end - begin + 2 * kNear) data_.add(reference.target);
      continue;
    }
    (reference.kind == Reference::Branch ? branches_ : taken_).add(reference.target);
    called_.add(reference.target);
  }
}

// Counts of one thread; their sum is the census.
using Counts = std::map<std::pair<std::string_view, Verdict>, size_t>;

class Census {
 public:
  explicit Census(Checker::Impl& impl) : impl_(impl), incoming_(impl) {}

  Checker::Census take() {
    collect();
    const auto& functions = impl_.module.outermost();
    parallel(functions.size(), [&](size_t i) { count(functions[i], facts_[i]); });
    Checker::Census census;
    for (const auto& [key, count] : counts_)
      // What a key names is a literal. NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage)
      census.instructions.push_back({{key.first.data(), key.second}, count});
    for (const uint64_t begin : impl_.module.function_begins()) {
      if (incoming_.is_entry(begin)) census.entries.push_back(begin);
    }
    return census;
  }

 private:
  void collect() {
    const auto& functions = impl_.module.outermost();
    facts_.resize(functions.size());
    std::vector<uint64_t> ends(functions.size());
    parallel(functions.size(), [&](size_t i) {
      const Function function = impl_.module.decode(functions[i]);
      facts_[i] = impl_.facts(function);
      ends[i] = function.decoded_end();
      std::lock_guard lock(adding_);
      incoming_.add(function, facts_[i]);
    });
    for (const TextRange& range : impl_.module.text().text) {
      uint64_t at = range.address;
      const uint64_t end = range.address + range.bytes.size();
      for (size_t i = 0; i < functions.size(); i++) {
        if (functions[i].begin < at || functions[i].begin >= end) continue;
        incoming_.add_bytes(at, functions[i].begin);
        at = ends[i];
      }
      incoming_.add_bytes(at, end);
    }
  }

  void count(const FunctionRange& range, const Checker::Impl::Facts& facts) {
    const Function function = impl_.module.decode(range);
    const Doubts doubts(function, facts.table_jumps);
    Counts counts;
    for (const Insn& insn : function.insns) {
      Region region;
      region.address = insn.address;
      impl_.measure(region, function, Guards::WhereNeeded);
      impl_.follow_jumps(region, facts.unknown_jump, doubts, Guards::WhereNeeded);
      impl_.check_off_limits(region, Guards::WhereNeeded);
      incoming_.visit(region);
      impl_.guard_doubts(region, Guards::WhereNeeded);
      const Checker::Outcome outcome = impl_.outcome(region);
      counts[{outcome.form, outcome.reason}]++;
    }
    std::lock_guard lock(adding_);
    for (const auto& [key, count] : counts) counts_[key] += count;
  }

  Checker::Impl& impl_;
  AllIncomingEdges incoming_;
  std::vector<Checker::Impl::Facts> facts_;  // by outermost function
  std::mutex adding_;                        // guards arrivals_ and counts_
  Counts counts_;
};

}  // namespace

Checker::Outcome Checker::Impl::outcome(Region& region) const {
  check_reach(region);
  if (refused(region.verdict)) return {"refused", region.verdict};
  if (region.verdict != Verdict::Ok) return {"int3", region.verdict};
  const Placement placement = *best(region, space);
  if (placement.prefix != 0 && placement.tactic == Tactic::Guarded)
    return {"prefixed", region.obstacle};
  const bool plain = placement.tactic == Tactic::Plain;
  return {tactic_name(placement.tactic), plain ? Verdict::Ok : region.obstacle};
}

Checker::Outcome Checker::outcome(const Region& region) {
  Region copy = region;
  return impl().outcome(copy);
}

Checker::Census Checker::census() { return arch::Census(impl()).take(); }

}  // namespace dj::arch
