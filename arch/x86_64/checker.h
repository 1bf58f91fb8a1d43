// SPDX-License-Identifier: Apache-2.0
// The inside of Checker (safety.h): what the three questions share.
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

// The eight checks, in order; behind each its victims in safety_test.cpp.
//
//   1 check_boundary         measure.cpp          no_function, not_boundary, undecodable
//   2 check_direct_branches  incoming_checks.cpp  jump_from_elsewhere, call_into, own_loop_into ...
//   3 check_indirect_jumps   incoming_checks.cpp  indirect_unknown, jump_tables_test
//   4 check_taken_addresses  incoming_checks.cpp  landing_pad, lea_taken, imm_taken, data_taken ...
//   5 check_end              measure.cpp          function_end, runs_on, padding_int3 ...
//   6 check_relocatable      measure.cpp          not_relocatable, unmovable, call_not_last
//   7 check_other_sites      collisions.cpp       Collision
//   8 check_off_limits       checker.cpp          rseq, rseq_signature, trampoline
//
// 1, 5 and 6 go along a region's instructions until one says no; 2, 3 and 4 look at all regions of
// a module that are still standing at once.
struct Checker::Impl {
  explicit Impl(ModuleText text)
      : module(std::move(text)),
        space(space_of(module.text())),
        has_thunks(arch::has_thunks(module)),
        starts(module.low(), module.high()) {}

  // Function-wide facts that a decoded function tells.
  struct Facts {
    std::vector<TableJump> table_jumps;  // which may lead anywhere in the module
    uint64_t unknown_jump = 0;           // an indirect jump that could not be resolved
    bool is_empty() const { return table_jumps.empty() && unknown_jump == 0; }

    template <typename Action>
    void each_table_target(const Action& action) const {
      for (const TableJump& jump : table_jumps) {
        for (const uint64_t target : jump.targets) action(target);
      }
    }
  };

  Function decode(const FunctionRange& range);  // and notes its instruction starts
  void note(const Function& function);
  Facts facts(const Function& function) const;
  Facts facts_as_read(const Function& function) const;  // whose thunks are read
  // False: nothing in the range jumps to an address in a register or in the frame, nor through a
  // thunk. Looks at bytes only.
  bool may_jump_by_register(const FunctionRange& range) const {
    return has_thunks || module.may_jump_by_register(range);
  }
  // Checks 1, 5 and 6: fills everything from the instructions alone.
  void measure(Region& region, const Function& function, Guards guards) const;
  // No DCR may reach beyond the instruction before address + offset (which is >= first).
  void cut(Region& region, uint64_t offset) const;
  // Check 8.
  void check_off_limits(Region& region, Guards guards) const;
  // Somebody may arrive at `target`, inside the region.
  void arrive(Region& region, uint64_t target, Verdict verdict, uint64_t culprit,
              Guards guards) const;
  // The indirect jumps of a part of the region's function may lead into the region. `unknown`: one
  // that could not be resolved, or 0; `doubts`: of the part's tables.
  void follow_jumps(Region& region, uint64_t unknown, const Doubts& doubts, Guards guards) const;
  // Behind all other checks: guards the doubts where nobody is known to arrive.
  void guard_doubts(Region& region, Guards guards) const;
  // Somebody may arrive at any instruction.
  void arrive_anywhere(Region& region, uint64_t jump, Guards guards) const;
  // No form of the jump has a target address: an int3 then.
  void check_reach(Region& region) const;
  void forbid(Region& region, Verdict verdict, uint64_t culprit) const;
  Outcome outcome(Region& region) const;  // and check_reach()
  // The function or gap that the reference stands in; empty: linkage stubs, whose jumps go nowhere.
  std::optional<FunctionRange> around(const Reference& reference) const;
  // Decodes what `references` stand in and was not decoded before, on all processors.
  void decode_around(const std::vector<Reference>& references);
  bool confirmed(const Reference& reference);
  // Other functions that a function's jumps, tables (`facts`) and exceptions lead to: parts of it
  // that were split off among them. Found by bytes, so some are imagined (cold_parts.cpp).
  std::vector<const FunctionRange*> followed_by(const FunctionRange& range,
                                                const Facts& facts) const;
  // Fills known_facts for those that have indirect jumps; their table targets elsewhere.
  std::vector<uint64_t> look_at(std::vector<const FunctionRange*> functions);
  // All jump tables of the module; found when first asked for (cold_parts.cpp).
  struct Tables {
    std::vector<uint64_t> targets;
    std::map<uint64_t, uint64_t> unknown;  // function begin -> its jump that could not be resolved
  };
  const Tables& tables();

  Module module;
  Space space;            // where detours may lie
  const bool has_thunks;  // jumps may be written as something else (thunks.h)
  ByteSet starts;         // instruction starts of the functions decoded so far
  std::unordered_map<uint64_t, uint64_t> decoded;   // function begin -> end of what decoded
  std::unordered_map<uint64_t, Facts> known_facts;  // facts()' answers, by begin: not of all
  std::unordered_map<uint64_t, bool> fragments;     // is_fragment()'s answers, by begin
  std::optional<Tables> all_tables;
  std::optional<uint64_t> lost;  // lost_piece()'s answer
};

// ColdParts: which of the functions that are asked about are parts that a compiler split off:
// nobody calls them or holds their address. They are entered by the function they were split from:
// by its direct jumps, and by its jump tables, which it alone knows.
class ColdParts {
 public:
  explicit ColdParts(Checker::Impl& impl) : impl_(impl) {}
  void add(const Region& region);  // the function around it; before mark()
  // Marks what scan_references() should look for.
  uint64_t low() const { return parts_.empty() ? ~uint64_t(0) : parts_.begin()->first; }
  void mark(ByteSet& marked) const;
  bool begins_at(uint64_t address) const { return parts_.count(address) != 0; }
  // One of its finds.
  void see(const Reference& reference);
  // Behind all finds: nobody was seen to enter the functions that are left.
  bool empty() const { return parts_.empty(); }
  bool has(const Region& region) const;
  // An unresolved indirect jump, of which there are some, that may lead into the part around
  // region; 0: none. Any thread may ask once the tables were found.
  uint64_t unknown_jump(const Region& region) const;

 private:
  using Parents = std::set<uint64_t>;  // begins of functions with direct jumps there or back
  Checker::Impl& impl_;
  std::map<uint64_t, Parents> parts_;  // by begin: functions nobody is known to enter
};

// Where a region that must contain the instruction with index `probed` begins: the shortest way
// back that gives the jump five bytes together with the padding behind a leaving probe address.
// Stops at what cannot be passed; then the region is too short.
uint64_t region_start(const Module& module, const Function& function, size_t probed);

// Checks 2, 3 and 4; `table_targets`: of jump tables in the regions' functions and their parts.
void check_incoming_edges(Checker::Impl& impl, std::vector<Region>& regions,
                          const std::vector<uint64_t>& table_targets, Guards guards);

// Check 7: the later of two colliding ones gives way, unless one can lean on the other. `space`
// is asked when two could; null: none may.
void check_other_sites(std::vector<Region>& regions, const std::vector<TextRange>& text,
                       const std::function<Space()>& space);

// overlapping.cpp. Whether a jump may end in the bytes of another site that begins inside it.
bool may_overlap(const Region& low, const Region& high);
// The sites that begin inside a jump's bytes.
struct Above {
  uint8_t sites = 0;       // bit i: at the jump's address + i; prefixes make it longer than five
  Region* jump = nullptr;  // the first of them that is one itself
};
// Makes the jump of `low` end in their bytes, and pins those of a jump among them. False: no such
// bytes lead anywhere.
bool overlap(Region& low, const Above& above, const Space& space);

// What is left when a jump is not allowed: a breakpoint on the instruction that the handlers
// precede, and which is the first one of `bytes`.
void leave_breakpoint(Region& region, Verdict verdict, uint64_t culprit,
                      std::span<const uint8_t> bytes);

// Procedure linkage tables are code of nobody, full of `jmp *displacement(%rip)`: is `at` a byte of
// such a displacement?
bool in_linkage_stub(const Module& module, uint64_t at);

constexpr uint32_t kJumpBytes = 5;
constexpr uint32_t kPrefixesMax = 3;  // more gain nothing: three move a guard past rel32's top byte
inline uint64_t handler_address(const Region& region) {
  return region.probe_address != 0 ? region.probe_address : region.address;
}

}  // namespace dj::arch
