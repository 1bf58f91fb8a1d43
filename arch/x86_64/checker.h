// SPDX-License-Identifier: Apache-2.0
// Checker::Impl holds what the checks of a Checker (safety.h) share: the module, its decoded
// functions and the facts found in them.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "arch/x86_64/branch_scan.h"
#include "arch/x86_64/module.h"
#include "arch/x86_64/placement.h"
#include "arch/x86_64/safety.h"
#include "arch/x86_64/stack_depths.h"
#include "arch/x86_64/thunks.h"

namespace dj::arch {

class Doubts;  // doubts.h

// This table lists the eight checks in order, each with its file and its victims in
// safety_test.cpp.
//
//   1 check_boundary         measure.cpp          no_function, not_boundary, undecodable
//   2 check_direct_branches  incoming_checks.cpp  jump_from_elsewhere, call_into, own_loop_into ...
//   3 check_indirect_jumps   incoming_checks.cpp  indirect_unknown, jump_tables_test
//   4 check_taken_addresses  incoming_checks.cpp  landing_pad, lea_taken, imm_taken, data_taken ...
//   5 check_end              measure.cpp          function_end, runs_on, padding_int3 ...
//   6 check_relocatable      measure.cpp          not_relocatable, unmovable, call_not_last
//   7 check_other_sites      collisions.cpp       Collision
//   8 check_off_limits       off_limits.cpp       rseq, rseq_signature, trampoline, fixed ...
//
// Checks 1, 5 and 6 walk along a region's instructions until one of them refuses. Checks 2, 3 and 4
// look at all regions of a module that no check has refused yet at once.
struct Checker::Impl {
  explicit Impl(ModuleText text)
      : module(std::move(text)),
        space(space_of(module.text())),
        has_thunks(arch::has_thunks(module)),
        starts(module.low(), module.high()) {}

  // Facts holds what a decoded function says of the whole function.
  struct Facts {
    std::vector<TableJump> table_jumps;  // their targets may lie anywhere in the module
    uint64_t unknown_jump = 0;           // an indirect jump with unknown targets; 0: none
    bool is_empty() const { return table_jumps.empty() && unknown_jump == 0; }

    template <typename Action>
    void each_table_target(const Action& action) const {
      for (const TableJump& jump : table_jumps) {
        for (const uint64_t target : jump.targets) action(target);
      }
    }
  };

  Function decode(const FunctionRange& range);  // and note()
  // Notes the instruction starts of a function, once, and where its decoding ended.
  void note(const Function& function);
  // Returns the facts of a function; reads its thunks before, if the module has any.
  Facts facts(const Function& function) const;
  Facts facts_as_read(const Function& function) const;  // of a function behind read_thunks()
  // False: no instruction in the range jumps to an address in a register or in the frame, or
  // through a thunk. Looks at bytes only.
  bool may_jump_by_register(const FunctionRange& range) const {
    return has_thunks || module.may_jump_by_register(range);
  }
  // Runs checks 1, 5 and 6: fills the region from the instructions alone.
  void measure(Region& region, const Function& function, Guards guards) const;
  // Shortens the region: a DCR must end at address + offset or before it. offset is >= first.
  void cut(Region& region, uint64_t offset) const;
  // Runs check 8.
  void check_off_limits(Region& region, Guards guards) const;
  // Keeps a region off ModuleText::fixed.
  void keep_off_fixed(Region& region, Guards guards) const;
  // Records that control may arrive at `target`, which lies inside the region.
  void arrive(Region& region, uint64_t target, Verdict verdict, uint64_t culprit,
              Guards guards) const;
  // Records where the indirect jumps of a part of the region's function may lead into the region.
  // `unknown`: address of a jump with unknown targets, or 0; `doubts`: the doubts of the part's
  // tables.
  void follow_jumps(Region& region, uint64_t unknown, const Doubts& doubts, Guards guards) const;
  // Adds guards for the doubts where no check has seen control arrive. Call it behind all other
  // checks.
  void guard_doubts(Region& region, Guards guards) const;
  // Records that control may arrive at any instruction of the region, by the jump at `jump`.
  void arrive_anywhere(Region& region, uint64_t jump, Guards guards) const;
  // Makes the region an int3 if no form of its jump has a target address.
  void check_reach(Region& region) const;
  // Makes the region a breakpoint, as leave_breakpoint() does.
  void forbid(Region& region, Verdict verdict, uint64_t culprit) const;
  Outcome outcome(Region& region) const;  // and runs check_reach()
  // Returns the function or gap that the reference stands in; empty: it stands in a displacement of
  // a linkage stub and is no reference.
  std::optional<FunctionRange> around(const Reference& reference) const;
  // Decodes the functions and gaps that `references` stand in, unless they are decoded already.
  // Uses all processors.
  void decode_around(const std::vector<Reference>& references);
  // Whether an instruction of the function or gap around the reference makes it; true also where
  // that code does not decode.
  bool confirmed(const Reference& reference);
  // Returns the other functions that a function's jumps, its tables (`facts`) and its exceptions
  // lead to, parts that were split off it among them. It reads bytes at every offset, so some finds
  // are false (cold_parts.cpp).
  std::vector<const FunctionRange*> followed_by(const FunctionRange& range,
                                                const Facts& facts) const;
  // Fills known_facts for those of `functions` that have indirect jumps. Returns the targets of
  // their tables, without those in the table's own function.
  std::vector<uint64_t> look_at(std::vector<const FunctionRange*> functions);
  // Tables holds all jump tables of the module. tables() finds them at its first call
  // (cold_parts.cpp).
  struct Tables {
    std::vector<uint64_t> targets;
    std::map<uint64_t, uint64_t> unknown;  // function begin -> its jump with unknown targets
  };
  const Tables& tables();

  Module module;
  Space space;            // where detours may lie
  const bool has_thunks;  // compilers may have put thunks for jumps (thunks.h)
  ByteSet starts;         // instruction starts of the functions decoded so far
  std::unordered_map<uint64_t, uint64_t> decoded;   // function begin -> end of what decoded
  std::unordered_map<uint64_t, Facts> known_facts;  // facts()' answers, by begin: not of all
  std::unordered_map<uint64_t, bool> fragments;     // is_fragment()'s answers, by begin
  std::optional<Tables> all_tables;
  std::optional<uint64_t> lost;  // lost_piece()'s answer
};

// ColdParts tells which of the functions added to it are parts that a compiler split off: no code
// calls them or holds their address. Control enters such a part from the function that it was split
// from, by that function's direct jumps and by its jump tables.
class ColdParts {
 public:
  explicit ColdParts(Checker::Impl& impl) : impl_(impl) {}
  void add(const Region& region);  // adds the function around it; call it before mark()
  // Marks the bytes whose references scan_references() must find.
  uint64_t low() const { return parts_.empty() ? ~uint64_t(0) : parts_.begin()->first; }
  void mark(ByteSet& marked) const;
  bool begins_at(uint64_t address) const { return parts_.count(address) != 0; }
  // Takes in one find of scan_references().
  void see(const Reference& reference);
  // Behind all finds, the functions that are left are those that no find enters.
  bool empty() const { return parts_.empty(); }
  // Whether the function around the region is one of them.
  bool has(const Region& region) const;
  // Returns the address of an indirect jump with unknown targets that may lead into the part around
  // the region; 0: none. Any thread may ask once tables() has returned.
  uint64_t unknown_jump(const Region& region) const;

 private:
  using Parents = std::set<uint64_t>;  // begins of functions with direct jumps there or back
  Checker::Impl& impl_;
  std::map<uint64_t, Parents> parts_;  // by begin: functions that no find enters
};

// Returns the address at which a region that must contain the instruction with index `probed`
// begins: the nearest start that gives the jump five bytes, together with the padding behind a
// probed instruction that leaves. It stops at an instruction that it cannot pass; the region is
// then too short.
uint64_t region_start(const Module& module, const Function& function, size_t probed);

// Runs checks 2, 3 and 4. `table_targets`: targets of the jump tables in the regions' functions and
// in their parts.
void check_incoming_edges(Checker::Impl& impl, std::vector<Region>& regions,
                          const std::vector<uint64_t>& table_targets, Guards guards);

// Runs check 7: of two sites that collide the later one gives way, unless their jumps can overlap.
// `space` is called when two jumps could overlap; null: no jumps may overlap.
void check_other_sites(std::vector<Region>& regions, const std::vector<TextRange>& text,
                       const std::function<Space()>& space);

// Whether the jump of `low` may end in the bytes of `high`, a site that begins inside it
// (overlapping.cpp).
bool may_overlap(const Region& low, const Region& high);
// Above holds the sites that begin inside a jump's bytes.
struct Above {
  uint8_t sites = 0;       // bit i: at the jump's address + i; prefixes make it longer than five
  Region* jump = nullptr;  // the first of them that is one itself
};
// Makes the jump of `low` end in the bytes of the sites `above`, and fixes the bytes of the first
// jump among them. Returns false when no such form of the jump has a target address in `space`.
bool overlap(Region& low, const Above& above, const Space& space);

// Makes the region a breakpoint on the instruction that the handlers precede, which is the first
// one of `bytes`. The checkers call it where a jump is not allowed.
void leave_breakpoint(Region& region, Verdict verdict, uint64_t culprit,
                      std::span<const uint8_t> bytes);

// Whether `at` is a byte of the displacement of a `jmp *displacement(%rip)` in a procedure linkage
// table. Such tables belong to no function.
bool in_linkage_stub(const Module& module, uint64_t at);

constexpr uint32_t kJumpBytes = 5;
constexpr uint32_t kPrefixesMax = 3;  // more gain nothing: three move a guard past rel32's top byte
// Returns the address of the instruction that the handlers precede.
inline uint64_t handler_address(const Region& region) {
  return region.probe_address != 0 ? region.probe_address : region.address;
}

}  // namespace dj::arch
