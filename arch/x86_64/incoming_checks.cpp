// SPDX-License-Identifier: Apache-2.0
// Checks 2, 3 and 4: nobody arrives inside a region's bytes, or only at a guard. All regions of a
// module at once: one scan finds who refers to any of them.
#include <algorithm>
#include <unordered_set>

#include "arch/x86_64/checker.h"
#include "compiler/base/parallel.h"
#include "compiler/base/sort_runs.h"

namespace dj::arch {
namespace {

// Bytes behind the first one where nobody may arrive unseen: the jump's own, and with a probe
// address the whole way to it, or someone would pass by the handlers.
uint32_t prohibited_bytes(const Region& region, Guards guards) {
  if (guards != Guards::None) return region.stretch;
  return region.probe_address != 0 ? region.length : std::min<uint32_t>(region.length, kJumpBytes);
}

// The regions still allowed, by address, to ask which one an arrival at `target` would hit.
class Standing {
 public:
  Standing(std::vector<Region>& regions, Guards guards) {
    for (Region& region : regions) {
      if (region.verdict == Verdict::Ok)
        sites_.push_back({region.address, prohibited_bytes(region, guards), &region});
    }
    sort_runs(sites_.begin(), sites_.end(),
              [](const Site& a, const Site& b) { return a.address < b.address; });
  }

  bool empty() const { return sites_.empty(); }
  uint64_t low() const { return sites_.front().address; }
  uint64_t high() const { return sites_.back().address + kLongest; }

  template <typename Action>
  void each(Action action) const {
    for (const Site& site : sites_) action(*site.region);
  }

  // A forbidden region may move onto its probe address, so the places are those of the beginning.
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

// Check 2: a branch instruction of the module leads there.
void check_direct_branches(Checker::Impl& impl, const Standing& standing,
                           const Reference& reference, Guards guards) {
  standing.hit_by(reference.target, [&](Region& region) {
    impl.arrive(region, reference.target, Verdict::BranchIntoRegion, reference.at, guards);
  });
}

// Check 3: jump tables lead there: those of the regions' own functions and of parts split off from
// them, `targets`, and where a region stands in such a part, those of all other functions.
void check_indirect_jumps(Checker::Impl& impl, const Standing& standing, const ColdParts& cold,
                          const std::vector<uint64_t>& targets, Guards guards) {
  for (const uint64_t target : targets) {
    standing.hit_by(target, [&](Region& region) {
      impl.arrive(region, target, Verdict::JumpTable, target, guards);
    });
  }
  if (cold.empty()) return;
  for (const uint64_t target : impl.tables().targets) {
    standing.hit_by(target, [&](Region& region) {
      if (cold.has(region)) impl.arrive(region, target, Verdict::JumpTable, target, guards);
    });
  }
  if (impl.tables().unknown.empty()) return;
  std::vector<Region*> parts;
  standing.each([&](Region& region) {
    if (region.verdict == Verdict::Ok && cold.has(region)) parts.push_back(&region);
  });
  parallel(parts.size(), [&](size_t i) {
    if (const uint64_t jump = cold.unknown_jump(*parts[i]); jump != 0)
      impl.arrive_anywhere(*parts[i], jump, guards);
  });
}

// Check 4: exceptions land there, or the module's data hold the address, or its symbols.
void check_taken_addresses(const Checker::Impl& impl, const Standing& standing, Guards guards) {
  const ModuleText& text = impl.module.text();
  standing.each([&](Region& region) {
    const uint64_t before = region.address + prohibited_bytes(region, guards);
    const auto look = [&](const std::vector<uint64_t>& sorted, Verdict verdict) {
      uint64_t at = region.address;
      while (region.verdict == Verdict::Ok && (at = Module::first_between(sorted, at, before)) != 0)
        impl.arrive(region, at, verdict, at, guards);
    };
    look(text.landing_pads, Verdict::LandingPad);
    look(text.address_taken, Verdict::AddressTaken);
    look(impl.module.function_begins(), Verdict::AddressTaken);
  });
}

// The same: an instruction makes the address, or reads what lies there.
void check_taken_addresses(Checker::Impl& impl, const Standing& standing,
                           const Reference& reference, Guards guards) {
  const bool data = reference.kind == Reference::Data;
  standing.hit_by(reference.target, [&](Region& region) {
    impl.arrive(region, reference.target, data ? Verdict::DataInText : Verdict::AddressTaken,
                reference.at, guards);
  });
}

}  // namespace

void check_incoming_edges(Checker::Impl& impl, std::vector<Region>& regions,
                          const std::vector<uint64_t>& table_targets, Guards guards) {
  const Standing standing(regions, guards);
  if (standing.empty()) return;
  ColdParts cold(impl);
  standing.each([&](const Region& region) { cold.add(region); });
  // Tight, so that few regions are scanned for faster.
  ByteSet marked(std::min(standing.low(), cold.low()), standing.high());
  cold.mark(marked);
  standing.each([&](Region& region) {
    for (uint32_t i = 1; i < prohibited_bytes(region, guards); i++) marked.add(region.address + i);
  });
  check_taken_addresses(impl, standing, guards);
  const auto hits = [&](const Reference& reference) {
    bool hit = false;
    standing.hit_by(reference.target, [&](Region&) { hit = true; });
    return hit;
  };
  const std::vector<Reference> references = scan_references(impl.module.text(), marked);
  std::vector<Reference> asked;  // most of what confirmed() will be asked for
  std::unordered_set<uint64_t> entered;
  for (const Reference& reference : references) {
    const bool enters = cold.begins_at(reference.target) && entered.insert(reference.target).second;
    if (enters || hits(reference)) asked.push_back(reference);
  }
  impl.decode_around(asked);
  for (const Reference& reference : references) {
    cold.see(reference);
    if (!hits(reference) || !impl.confirmed(reference)) continue;
    if (reference.kind == Reference::Branch) {
      check_direct_branches(impl, standing, reference, guards);
    } else {
      check_taken_addresses(impl, standing, reference, guards);
    }
  }
  check_indirect_jumps(impl, standing, cold, table_targets, guards);
}

}  // namespace dj::arch
