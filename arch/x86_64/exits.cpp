// SPDX-License-Identifier: Apache-2.0
// Checker::exits(): all ways out of a function, for return probes (safety.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>

#include "arch/x86_64/checker.h"
#include "arch/x86_64/entry_place.h"
#include "arch/x86_64/exit_frames.h"
#include "arch/x86_64/fragments.h"
#include "arch/x86_64/jump_tables.h"
#include "arch/x86_64/split_stack.h"
#include "arch/x86_64/thunks.h"

namespace dj::arch {
namespace {

// A function's own range, or one of its .cold parts.
struct Part {
  FunctionRange range;
  Function code;
};

// An indirect jump that may leave the function.
struct Unsure {
  size_t part, insn;
  Way way;
};

enum class Target : uint8_t { Own, Tail, Foreign };

constexpr uint64_t kAlignment = 16;
// Of real ones: a few. A tail call taken for a table's jump leads to hundreds of functions, and
// what these share with others; no exit of them can be told from a jump within.
constexpr size_t kMostParts = 64;

// Addresses in some ranges, which may overlap.
class Ranges {
 public:
  void add(FunctionRange range) {
    auto next = ends_.upper_bound(range.begin);
    if (next != ends_.begin() && std::prev(next)->second >= range.begin) --next;
    while (next != ends_.end() && next->first <= range.end) {
      range.begin = std::min(range.begin, next->first);
      range.end = std::max(range.end, next->second);
      next = ends_.erase(next);
    }
    ends_[range.begin] = range.end;
  }
  bool contain(uint64_t address) const {
    const auto next = ends_.upper_bound(address);
    return next != ends_.begin() && address < std::prev(next)->second;
  }

 private:
  std::map<uint64_t, uint64_t> ends_;  // by begin; none touches another
};

class ExitFinder {
 public:
  ExitFinder(Checker::Impl& impl, const FunctionRange& own)
      : impl_(impl), module_(impl.module), own_(own) {}

  Exits find() {
    const FunctionRange* around = module_.function_at(own_.begin);
    if (around == nullptr && linkage_slot(own_.begin) != 0) return of_stub();
    if (around == nullptr) return incomplete("it is in no known function");
    if (around->begin == own_.begin && is_fragment(impl_, *around))
      return incomplete("a piece of another function");
    add_part(own_, *around);
    adopt_pieces();
    for (size_t i = 0; i < parts_.size() && reason_.empty(); i++) {  // parts are added on the way
      walk(i);
      look_for_sharers(i);
      if (parts_.size() > kMostParts) give_up(fmt::format("more than {} pieces", kMostParts));
    }
    for (const Unsure& jump : unsure_) leaves_if_outside(jump);
    if (more_stack_.end != 0) stay_in_new_stack();
    if (!reason_.empty()) return incomplete(reason_);
    sort_exits();
    for (Exit& exit : exits_) judge(exit);
    const bool loops = std::any_of(targets_.all.begin(), targets_.all.end(),
                                   [&](uint64_t target) { return is_entry(target); });
    if (shared_ && loops) return incomplete("shared code, and it loops to its entry");
    return {std::move(exits_), true, "", loops, shared_};
  }

 private:
  static Exits incomplete(std::string reason) {
    return {{}, false, std::move(reason), false, false};
  }
  // A linkage stub jumps to an imported function, which returns for it.
  Exits of_stub() {
    const Function code = module_.decode(own_);
    for (size_t i = 0; i < code.insns.size(); i++) {
      const Insn& insn = code.insns[i];
      const bool by_thunk = insn.kind == Kind::Jump || insn.kind == Kind::Call;
      if (insn.kind != Kind::JumpIndirect && !by_thunk) continue;
      add_exit(code, i, true);
      exits_.back().tail_slot = linkage_slot(own_.begin);
      return {std::move(exits_), true, "", false, false};
    }
    return incomplete("its jump cannot be decoded");
  }
  void give_up(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
  }

  // Parts may overlap: functions whose symbols lie inside others.
  void sort_exits() {
    std::stable_sort(exits_.begin(), exits_.end(),
                     [](const Exit& a, const Exit& b) { return a.exit_address < b.exit_address; });
    auto same = [](const Exit& a, const Exit& b) { return a.exit_address == b.exit_address; };
    exits_.erase(std::unique(exits_.begin(), exits_.end(), same), exits_.end());
  }

  bool own(uint64_t address) const { return owned_.contain(address); }
  // range: of `code`, or all of it.
  void add_part(const FunctionRange& range, const FunctionRange& code) {
    parts_.push_back({range, decode(code)});
    owned_.add(range);
  }

  // Its first byte, or the place of an entry probe.
  bool is_entry(uint64_t address) const {
    const uint64_t begin = own_.begin;
    return address == begin || address == entry_place(module_.bytes(begin), begin);
  }

  Function decode(const FunctionRange& range) {
    Function code = impl_.decode(range);
    read_thunks(module_, code, [this](uint64_t address) { return is_others(address); });
    return code;
  }
  bool is_others(uint64_t address) const {
    const FunctionRange* other = module_.function_at(address);
    return other == nullptr || (other->begin == address && !is_fragment(impl_, *other));
  }

  void walk(size_t part_index) {
    const FunctionRange range = parts_[part_index].range;
    const Function& code = parts_[part_index].code;
    if (more_stack_.end == 0) more_stack_ = more_stack(module_, code);
    if (code.decoded_end() < range.end)
      give_up(fmt::format("undecodable at {:#x}", code.decoded_end()));
    std::unique_ptr<Flow> flow;
    size_t last = Function::kNone;
    for (size_t i = 0; i < code.insns.size() && reason_.empty(); i++) {
      const Insn& insn = code.insns[i];
      if (insn.address < range.begin || insn.address >= range.end) continue;
      if (insn.kind != Kind::Nop) last = i;
      if (insn.branches() && insn.kind != Kind::Call) branch(code, i);
      if (insn.kind == Kind::Return && leads(code, i) != Leads::Away) add_exit(code, i, false);
      if (insn.kind == Kind::Odd && !in_transaction(insn))
        give_up(fmt::format("far transfer at {:#x}", insn.address));
      if (insn.kind == Kind::JumpIndirect) {
        if (flow == nullptr) flow = std::make_unique<Flow>(module_, code);
        indirect(*flow, part_index, i);
      }
    }
    const bool runs_on =
        last == Function::kNone || (!code.insns[last].leaves() && !code.insns[last].calls());
    if (runs_on) run_on(behind_padding(range.end));
    adopt_landing_pads(range);
  }

  void run_on(uint64_t next) {
    const FunctionRange* other = module_.function_at(next);
    const bool piece = other != nullptr && other->begin == next && is_fragment(impl_, *other);
    if (piece ? classify(next) != Target::Own : !adopt_shared(next))
      give_up(fmt::format("it runs on into {:#x}", next));
  }

  // xbegin goes to its target in this function, xabort to an xbegin's.
  bool in_transaction(const Insn& insn) const {
    return insn.is(0xc6) || (insn.is(0xc7) && own(insn.target));
  }

  void branch(const Function& code, size_t i) {
    const Insn& insn = code.insns[i];
    targets_.all.push_back(insn.target);
    switch (classify(insn.target)) {
      case Target::Own:
        return;
      case Target::Tail:
        add_exit(code, i, true);
        exits_.back().tail_slot = linkage_slot(insn.target);
        if (exits_.back().tail_slot == 0) exits_.back().tail_target = insn.target;
        if (insn.kind != Kind::Jump) exits_.back().leaving.how = Leaving::IfTaken;
        return;
      case Target::Foreign:
        // clang -O0 jumps to its end where nobody comes, behind calls that do not return.
        if (insn.target != code.range.end && !adopt_shared(insn.target))
          give_up(fmt::format("jump at {:#x} into unknown code", insn.address));
    }
  }

  void indirect(Flow& flow, size_t part, size_t i) {
    const Insn& insn = flow.function().insns[i];
    const Leads to_frame = leads(flow.function(), i);
    if (to_frame == Leads::Away) return;
    if (to_frame == Leads::Across && is_popped(flow.function(), i))
      return add_exit(flow.function(), i - 1, false);
    if (insn.rip_relative) return unsure_.push_back({part, i, Way::Pointer});
    const IndirectTargets to = indirect_targets(flow, module_, uint32_t(i));
    bool stays = to.way == Way::Table;
    for (const uint64_t target : to.targets) {
      targets_.all.push_back(target);
      // A table without visible bounds is read too far: what is no part of ours is not meant, or
      // the detour will see it.
      stays = classify(target) == Target::Own && stays;
    }
    if (!stays) unsure_.push_back({part, i, to.way});
  }

  // A jump to an address from memory is a tail call, unless such an address may lie in this
  // function (computed goto): then, and where nothing is known, the detour looks.
  void leaves_if_outside(const Unsure& jump) {
    const Function& code = parts_[jump.part].code;
    const Insn& insn = code.insns[jump.insn];
    add_exit(code, jump.insn, true);
    const bool kept = jump.way != Way::Pointer || address_kept();
    if (insn.rip_relative) {
      exits_.back().tail_slot = insn.target;
      if (!kept) return;  // an imported function
    }
    if (const uint64_t piece = lost_piece(impl_); piece != 0)
      return give_up(fmt::format("indirect jump at {:#x}, perhaps to {:#x}", insn.address, piece));
    if (!kept) return;
    Leaving& leaving = exits_.back().leaving;
    leaving.how = Leaving::IfOutside;
    leaving.inside = joined_parts();
    if (!insn.memory()) leaving.target = insn.rm;
    if (leaving.inside.size() > kMaxInside || !can_read_target(module_.bytes(insn.address), insn))
      give_up(fmt::format("indirect jump at {:#x}", insn.address));
  }

  // Addresses that a jump within the function leads to: to its first byte is a call. Neighbours
  // with nothing but padding between them are one.
  FunctionRange inside(const FunctionRange& part) const {
    return {part.begin == own_.begin ? part.begin + 1 : part.begin, part.end};
  }
  std::vector<FunctionRange> joined_parts() const {
    std::vector<FunctionRange> sorted, joined;
    for (const Part& part : parts_) sorted.push_back(inside(part.range));
    std::sort(sorted.begin(), sorted.end(),
              [](const FunctionRange& a, const FunctionRange& b) { return a.begin < b.begin; });
    for (const FunctionRange& range : sorted) {
      const bool near =
          !joined.empty() && range.begin < joined.back().end + kAlignment &&
          Module::first_between(module_.function_begins(), joined.back().end - 1, range.begin) == 0;
      if (near) joined.back().end = std::max(joined.back().end, range.end);
      if (!near) joined.push_back(range);
    }
    return joined;
  }

  // Does somebody keep an address inside this function? Its parts are all known by then.
  bool address_kept() {
    if (!address_kept_) address_kept_ = find_kept_address();
    return *address_kept_;
  }
  bool find_kept_address() const {
    Ranges all;
    for (const Part& part : parts_) {
      const auto [first, end] = inside(part.range);
      if (Module::first_between(module_.text().address_taken, first - 1, end) != 0) return true;
      all.add({first, end});
    }
    return std::ranges::any_of(parts_, [&](const Part& holder) {
      return std::ranges::any_of(holder.code.insns,
                                 [&](const Insn& insn) { return holds(insn, all); });
    });
  }
  // Has the instruction an address of `ranges` for an operand?
  bool holds(const Insn& insn, const Ranges& ranges) const {
    if (insn.is(0x8d) && insn.rip_relative) return ranges.contain(insn.target);
    if (module_.text().position_independent || insn.imm_bytes < 4 || insn.branches()) return false;
    return ranges.contain(insn.imm_bytes == 4 ? widened(uint32_t(insn.imm), module_.low())
                                              : uint64_t(insn.imm));
  }

  // On a new stack nothing leaves the function: who gave it comes back to its own return.
  void stay_in_new_stack() {
    for (Exit& exit : exits_) {
      if (exit.leaving.how != Leaving::Always)
        give_up(fmt::format("jump at {:#x} on a stack of its own", exit.exit_address));
      exit.leaving = {Leaving::IfOutside, {more_stack_}, kOnStack};
    }
  }

  // Who comes in behind the entry leaves by our exits. A fragment that does is ours.
  void look_for_sharers(size_t part) {
    const FunctionRange range = parts_[part].range;
    const uint64_t from = part == 0 ? range.begin + 1 : range.begin;
    for (const Reference& jump : IncomingEdges::into(module_.incoming().jumps, from, range.end)) {
      if (own(jump.at) || !impl_.confirmed(jump)) continue;
      const FunctionRange* other = module_.function_at(jump.at);
      if (other != nullptr && is_fragment(impl_, *other)) {
        adopt(*other);
      } else {
        shared_ = true;
      }
    }
    uint64_t inner = range.begin;
    while ((inner = Module::first_between(module_.function_begins(), inner, range.end)) != 0) {
      shared_ = shared_ || module_.incoming().entered.has(inner);
    }
  }

  // Code that catches what calls of this part throw.
  void adopt_landing_pads(const FunctionRange& range) {
    const auto& pads = module_.text().far_pads;
    for (auto it = std::lower_bound(pads.begin(), pads.end(), std::pair{range.begin, uint64_t(0)});
         it != pads.end() && it->first == range.begin; ++it) {
      if (classify(it->second) != Target::Own && !adopt_shared(it->second))
        give_up(fmt::format("exceptions lead to {:#x}", it->second));
    }
  }

  void adopt_pieces() {
    const auto& pieces = module_.text().own_pieces;
    auto it = std::lower_bound(pieces.begin(), pieces.end(), std::pair{own_.begin, uint64_t(0)});
    for (; it != pieces.end() && it->first == own_.begin; ++it) {
      const FunctionRange* piece = module_.function_at(it->second);
      const bool ours = piece != nullptr && !own(piece->begin) && is_fragment(impl_, *piece);
      if (ours) adopt(*piece);
    }
  }

  void adopt(const FunctionRange& fragment) { add_part(fragment, fragment); }

  // What comes behind the no-operations that align it.
  uint64_t behind_padding(uint64_t address) const {
    Insn insn;
    while (module_.function_at(address) == nullptr) {
      const auto bytes = module_.bytes(address);
      if (bytes.empty() || !arch::decode(bytes, address, insn) || insn.kind != Kind::Nop) break;
      address = insn.end();
    }
    return address;
  }

  // The function around `address` belongs to others, and calls of ours may leave by its exits.
  bool adopt_shared(uint64_t address) {
    const FunctionRange* other = module_.function_at(address);
    if (other == nullptr) return false;
    shared_ = true;
    if (!own(address)) adopt(*other);
    return true;
  }

  // Where a jump out of the known parts leads; a fragment becomes one of them.
  Target classify(uint64_t target) {
    if (own(target)) return Target::Own;
    const FunctionRange* other = module_.function_at(target);
    if (other == nullptr)
      return linkage_slot(target) != 0 || is_outside(target) ? Target::Tail : Target::Foreign;
    if (is_fragment(impl_, *other)) {
      adopt(*other);
      return Target::Own;
    }
    return module_.begins_function(target) ? Target::Tail : Target::Foreign;
  }

  bool is_outside(uint64_t address) const {
    return std::ranges::binary_search(module_.text().functions_outside, address);
  }

  // The slot of a linkage stub: [endbr64;] [bnd] jmp *slot(%rip), or mov slot(%rip),%reg and a
  // thunk of that register. 0: it is none.
  uint64_t linkage_slot(uint64_t address) const {
    Insn insn;
    for (int i = 0; i < 2 && module_.function_at(address) == nullptr; i++) {
      const auto bytes = module_.bytes(address);
      if (bytes.empty() || !arch::decode(bytes, address, insn)) return 0;
      if (insn.kind == Kind::JumpIndirect) return insn.rip_relative ? insn.target : 0;
      if (insn.is(0x8b) && insn.wide && insn.rip_relative)
        return jumps_by(module_, insn.end(), insn.reg) ? insn.target : 0;
      address = insn.end();
    }
    return 0;
  }

  void add_exit(const Function& code, size_t i, bool tail) {
    Exit exit;
    exit.exit_address = exit.region.probe_address = code.insns[i].address;
    exit.region.address = region_start(module_, code, i);
    exit.tail_jump = tail;
    impl_.measure(exit.region, code, Guards::None);
    exits_.push_back(exit);
  }

  void judge(Exit& exit) {
    Region& region = exit.region;
    if (region.verdict != Verdict::Ok) return;
    if (!targets_.sorted) std::sort(targets_.all.begin(), targets_.all.end());
    targets_.sorted = true;
    const uint64_t end = region.address + region.length;
    if (const uint64_t target = Module::first_between(targets_.all, region.address, end))
      impl_.forbid(region, Verdict::BranchIntoRegion, target);
  }

  Checker::Impl& impl_;
  const Module& module_;
  FunctionRange own_;
  std::deque<Part> parts_;  // references stay valid while it grows
  Ranges owned_;            // their ranges
  std::vector<Exit> exits_;
  std::vector<Unsure> unsure_;
  std::optional<bool> address_kept_;  // when it was asked
  struct Targets {
    std::vector<uint64_t> all;  // of all jumps seen
    bool sorted = false;
  } targets_;
  FunctionRange more_stack_{0, 0};
  bool shared_ = false;
  std::string reason_;
};

}  // namespace

uint64_t region_start(const Module& module, const Function& function, size_t probed) {
  const Insn& last = function.insns[probed];
  uint32_t behind = 0;
  if (last.leaves()) behind = module.padding(function, last.end(), kJumpBytes);
  size_t start = probed;
  while (start > 0 && last.end() + behind - function.insns[start].address < kJumpBytes) {
    const Insn& before = function.insns[start - 1];
    if (before.leaves() || before.calls()) break;
    start--;
  }
  return function.insns[start].address;
}

FunctionRange Checker::function_from(uint64_t begin) {
  FunctionRange longest{0, 0};
  const auto& all = impl().module.text().functions;
  auto it = std::lower_bound(all.begin(), all.end(), begin,
                             [](const FunctionRange& f, uint64_t at) { return f.begin < at; });
  for (; it != all.end() && it->begin == begin; ++it) {
    if (it->end > longest.end) longest = *it;
  }
  return longest;
}

Exits Checker::exits(uint64_t begin, uint64_t end) {
  return ExitFinder(impl(), {begin, end}).find();
}

}  // namespace dj::arch
