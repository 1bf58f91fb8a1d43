// SPDX-License-Identifier: Apache-2.0
// Telling split-off code from functions.
#include "arch/x86_64/fragments.h"

#include <algorithm>
#include <optional>
#include <set>

#include "arch/x86_64/registers.h"
#include "arch/x86_64/stack_taken.h"

namespace dj::arch {
namespace {

// Whether all ways out leave with another stack than the code found, or by a frame pointer that is
// not its own. What cannot be followed counts as balanced; so does code behind a call that never
// returns, which seems to be reached in a wrong state, as long as one way out is good.
class StackWalk {
 public:
  explicit StackWalk(const Function& code) : code_(code), seen_(code.insns.size()) {}

  bool unbalanced() {
    work_.emplace_back(0, State{});
    while (!work_.empty()) {
      auto [at, state] = work_.back();
      work_.pop_back();
      while (at < code_.insns.size() && !seen_[at]) {
        seen_[at] = true;
        const Insn& insn = code_.insns[at++];
        step(insn, state);
        if (insn.leaves() || state.bad) break;
      }
    }
    return bad_ && !good_;
  }

 private:
  struct State {
    int64_t taken = 0;
    bool known = true, own_frame = false, bad = false;
  };

  void step(const Insn& insn, State& state) {
    const bool jumps = insn.branches() && insn.kind != Kind::Call;
    if (jumps && code_.inside(insn.target)) {
      const size_t to = code_.find(insn.target);
      if (to != Function::kNone) work_.emplace_back(to, state);
    } else if (jumps || insn.kind == Kind::Return || insn.kind == Kind::JumpIndirect) {
      const bool level = !state.known || state.taken == 0;
      good_ = good_ || level;
      bad_ = bad_ || (!level && insn.kind == Kind::Return);
      return;
    }
    const std::optional<int64_t> taken = stack_taken(insn);
    const bool pushes_frame =
        insn.legacy && insn.map == 0 && insn.opcode == 0x50 + kBp && insn.prefixes == 0;
    state.own_frame = state.own_frame || pushes_frame;
    state.taken += taken.value_or(0);
    state.known = state.known && taken.has_value();
    state.bad = state.known ? state.taken < 0 : insn.is(0xc9) && !state.own_frame;
    bad_ = bad_ || state.bad;
  }

  const Function& code_;
  std::vector<bool> seen_;
  std::vector<std::pair<size_t, State>> work_;
  bool good_ = false, bad_ = false;
};

bool returns(const Function& code) {
  if (!code.whole) return true;
  return std::any_of(code.insns.begin(), code.insns.end(), [&](const Insn& insn) {
    const bool jumps = insn.branches() && insn.kind != Kind::Call && !code.inside(insn.target);
    return jumps || insn.kind == Kind::Return || insn.kind == Kind::JumpIndirect;
  });
}

bool called(Checker::Impl& impl, const FunctionRange& range) {
  const IncomingEdges& incoming = impl.module.incoming();
  const auto entries = IncomingEdges::into(incoming.entries, range.begin, range.begin + 1);
  return std::any_of(entries.begin(), entries.end(),
                     [&](const Reference& entry) { return impl.confirmed(entry); });
}

bool contains(const std::vector<uint64_t>& sorted, uint64_t address) {
  return std::binary_search(sorted.begin(), sorted.end(), address);
}

bool known_function(Checker::Impl& impl, const FunctionRange& range) {
  const ModuleText& text = impl.module.text();
  const bool part = contains(text.split_off, range.begin) || contains(text.mid_frame, range.begin);
  return (contains(text.named, range.begin) && !part) || called(impl, range);
}

// Of two pieces of one function that nobody calls, the likelier beginning: the one whose address
// somebody keeps, the aligned one, the later one (unlikely code stands first).
bool begins_rather(const Module& module, const FunctionRange& a, const FunctionRange& b) {
  const std::vector<uint64_t>& taken = module.text().address_taken;
  const bool kept = contains(taken, a.begin), aligned = a.begin % 16 == 0;
  if (kept != contains(taken, b.begin)) return kept;
  if (aligned != (b.begin % 16 == 0)) return aligned;
  return a.begin > b.begin;
}

// Jumps between two ranges, one of them to the other's middle: both are pieces of one function.
struct Links {
  std::set<const FunctionRange*> others;
  bool jumped_to = false;  // at the begin
};

Links links_of(Checker::Impl& impl, const FunctionRange& range, const Function& code) {
  Links links;
  const Module& module = impl.module;
  for (const Insn& insn : code.insns) {
    if (!insn.branches() || insn.kind == Kind::Call || code.inside(insn.target)) continue;
    const FunctionRange* other = module.function_at(insn.target);
    if (other != nullptr && !module.begins_function(insn.target)) links.others.insert(other);
  }
  for (const Reference& jump :
       IncomingEdges::into(module.incoming().jumps, range.begin, range.end)) {
    const bool inside = jump.at >= range.begin && jump.at < range.end;
    if (inside || !impl.confirmed(jump)) continue;
    const FunctionRange* other = module.function_at(jump.at);
    if (jump.target == range.begin) {
      links.jumped_to = true;
    } else if (other != nullptr) {
      links.others.insert(other);
    }
  }
  return links;
}

bool ask(Checker::Impl& impl, const FunctionRange& range) {
  if (contains(impl.module.text().pieces, range.begin)) return true;
  if (known_function(impl, range)) return false;
  const ModuleText& text = impl.module.text();
  if (contains(text.split_off, range.begin) || contains(text.mid_frame, range.begin)) return true;
  const Function code = impl.decode(range);
  if (StackWalk(code).unbalanced()) return true;
  const Links links = links_of(impl, range, code);
  for (const FunctionRange* other : links.others) {
    if (known_function(impl, *other) || begins_rather(impl.module, *other, range)) return true;
  }
  if (!links.others.empty() || contains(text.address_taken, range.begin)) return false;
  if (links.jumped_to) return !returns(code);
  return Module::first_between(text.landing_pads, range.begin - 1, range.end) != 0;
}

}  // namespace

bool is_fragment(Checker::Impl& impl, const FunctionRange& range) {
  const auto known = impl.fragments.find(range.begin);
  if (known != impl.fragments.end()) return known->second;
  const bool answer = ask(impl, range);
  impl.fragments.emplace(range.begin, answer);
  return answer;
}

namespace {

// Somebody keeps the address of the code at `begin`, and no jump of other code leads there: only
// indirect ones may.
bool only_cached(Checker::Impl& impl, uint64_t begin) {
  const IncomingEdges& incoming = impl.module.incoming();
  const auto entries = IncomingEdges::into(incoming.entries, begin, begin + 1);
  const bool loaded = std::any_of(entries.begin(), entries.end(), [&](const Reference& entry) {
    return entry.kind != Reference::Branch && impl.confirmed(entry);
  });
  if (!loaded && !contains(impl.module.text().address_taken, begin)) return false;
  const auto jumps = IncomingEdges::into(incoming.jumps, begin, begin + 1);
  return std::none_of(jumps.begin(), jumps.end(),
                      [&](const Reference& jump) { return impl.confirmed(jump); });
}

}  // namespace

uint64_t lost_piece(Checker::Impl& impl) {
  if (impl.lost) return *impl.lost;
  const ModuleText& text = impl.module.text();
  const auto has_owner = [&](uint64_t begin) {
    return contains(text.named, begin) ||
           std::any_of(text.own_pieces.begin(), text.own_pieces.end(),
                       [&](const auto& piece) { return piece.second == begin; });
  };
  impl.lost = 0;
  if (!text.splits_blocks && text.pieces.empty()) return 0;
  for (const std::vector<uint64_t>* list : {&text.mid_frame, &text.pieces}) {
    for (const uint64_t begin : *list) {
      if (only_cached(impl, begin) && !has_owner(begin)) return *(impl.lost = begin);
    }
  }
  return 0;
}

bool Checker::is_unentered_fragment(uint64_t begin) {
  const Module& module = impl().module;
  return !module.incoming().entered.has(begin) && !contains(module.text().address_taken, begin) &&
         is_fragment(begin);
}

bool Checker::is_fragment(uint64_t begin) {
  const FunctionRange* range = impl().module.function_at(begin);
  return range != nullptr && range->begin == begin && arch::is_fragment(impl(), *range);
}

}  // namespace dj::arch
