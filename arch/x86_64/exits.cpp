// Checker::exits(): all ways out of a function, for return probes (engine.md section 7).
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "arch/x86_64/checker.h"
#include "arch/x86_64/jump_tables.h"

namespace dj::arch {
namespace {

// A function's own range, or one of its .cold parts.
struct Part {
  FunctionRange range;
  Function code;
};

enum class Target : uint8_t { Own, Tail, Foreign };

class ExitFinder {
 public:
  ExitFinder(Checker::Impl& impl, const FunctionRange& own)
      : impl_(impl), module_(impl.module), own_(own) {}

  Exits find() {
    const FunctionRange* around = module_.function_at(own_.begin);
    if (around == nullptr) return incomplete("it is in no known function");
    parts_.push_back({own_, impl_.decode(*around)});
    for (size_t i = 0; i < parts_.size(); i++) walk(i);  // parts are added on the way
    for (const auto& [part, index] : pointer_jumps_) pointer_jump(part, index);
    for (const Part& part : parts_) refuse_shared(part.range);
    if (!reason_.empty()) return incomplete(reason_);
    std::sort(exits_.begin(), exits_.end(),
              [](const Exit& a, const Exit& b) { return a.exit_address < b.exit_address; });
    for (Exit& exit : exits_) judge(exit);
    return {std::move(exits_), true, ""};
  }

 private:
  static Exits incomplete(std::string reason) { return {{}, false, std::move(reason)}; }
  void give_up(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
  }

  bool own(uint64_t address) const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
      return address >= part.range.begin && address < part.range.end;
    });
  }

  void walk(size_t part_index) {
    const FunctionRange range = parts_[part_index].range;
    const Function& code = parts_[part_index].code;
    if (code.decoded_end() < range.end)
      give_up(fmt::format("undecodable at {:#x}", code.decoded_end()));
    Flow* flow = nullptr;
    std::unique_ptr<Flow> made;
    size_t last = Function::kNone;
    for (size_t i = 0; i < code.insns.size() && reason_.empty(); i++) {
      const Insn& insn = code.insns[i];
      if (insn.address < range.begin || insn.address >= range.end) continue;
      if (insn.kind != Kind::Nop) last = i;
      if (insn.branches() && insn.kind != Kind::Call) targets_.push_back(insn.target);
      if (insn.kind == Kind::Return) add_exit(code, i, false);
      if (insn.kind == Kind::Jump) jump(code, i);
      if ((insn.kind == Kind::CondJump || insn.kind == Kind::Loop) &&
          classify(insn.target, true) != Target::Own)
        give_up(fmt::format("conditional tail jump at {:#x}", insn.address));
      if (insn.kind == Kind::Odd) give_up(fmt::format("far transfer at {:#x}", insn.address));
      if (insn.kind == Kind::JumpIndirect) {
        if (flow == nullptr) {
          made = std::make_unique<Flow>(module_, code);
          flow = made.get();
        }
        indirect(*flow, part_index, i);
      }
    }
    if (last == Function::kNone || (!code.insns[last].leaves() && !code.insns[last].calls()))
      give_up(fmt::format("it runs on behind {:#x}", range.end));
  }

  void jump(const Function& code, size_t i) {
    switch (classify(code.insns[i].target, false)) {
      case Target::Own:
        return;
      case Target::Tail:
        return add_exit(code, i, true);
      case Target::Foreign:
        return give_up(fmt::format("jump at {:#x} into shared code", code.insns[i].address));
    }
  }

  void indirect(Flow& flow, size_t part, size_t i) {
    const Insn& insn = flow.function().insns[i];
    if (insn.rip_relative) return add_exit(flow.function(), i, true);  // an imported function
    const IndirectTargets to = indirect_targets(flow, module_, uint32_t(i));
    if (to.way == Way::Unknown) give_up(fmt::format("indirect jump at {:#x}", insn.address));
    if (to.way == Way::Pointer) pointer_jumps_.emplace_back(part, i);
    for (const uint64_t target : to.targets) {
      targets_.push_back(target);
      if (classify(target, true) != Target::Own)
        give_up(fmt::format("jump table of {:#x} leads out of the function", insn.address));
    }
  }

  // A jump to an address from memory is a tail call unless such an address may lie in this function
  // (computed goto).
  void pointer_jump(size_t part, size_t i) {
    const uint64_t at = parts_[part].code.insns[i].address;
    for (const Part& p : parts_) {
      const uint64_t after = p.range.begin, end = p.range.end;
      bool inside = Module::first_between(module_.text().address_taken, after, end) != 0;
      for (const Part& holder : parts_) {
        for (const Insn& insn : holder.code.insns) {
          const bool lea =
              insn.is(0x8d) && insn.rip_relative && insn.target > after && insn.target < end;
          const bool imm = !module_.text().position_independent && insn.imm_bytes == 4 &&
                           !insn.branches() && uint32_t(insn.imm) > after &&
                           uint32_t(insn.imm) < end;
          inside = inside || lea || imm;
        }
      }
      if (inside) return give_up(fmt::format("computed goto at {:#x}", at));
    }
    add_exit(parts_[part].code, i, true);
  }

  // Others must not come in behind the entry: they would leave by our exits.
  void refuse_shared(const FunctionRange& range) {
    for (const InwardJump& jump : module_.arrivals().into(range.begin + 1, range.end)) {
      if (!own(jump.at) && impl_.confirmed({Reference::Branch, jump.at, jump.target}))
        return give_up(fmt::format("shared with the jump at {:#x}", jump.at));
    }
    uint64_t inner = range.begin;
    while ((inner = Module::first_between(module_.function_begins(), inner, range.end)) != 0) {
      if (module_.arrivals().entered.has(inner))
        return give_up(fmt::format("also entered at {:#x}", inner));
    }
  }

  // Where a jump out of the known parts leads; a .cold part becomes one of them.
  Target classify(uint64_t target, bool conditional) {
    if (own(target)) return Target::Own;
    const FunctionRange* other = module_.function_at(target);
    if (other == nullptr) return is_plt_stub(target) ? Target::Tail : Target::Foreign;
    const bool starts = module_.begins_function(target);
    const auto& taken = module_.text().address_taken;
    if (module_.arrivals().entered.has(other->begin) ||
        std::binary_search(taken.begin(), taken.end(), other->begin))
      return starts ? Target::Tail : Target::Foreign;
    Function code = impl_.decode(*other);
    if (starts && !conditional && !belongs(code)) return Target::Tail;
    parts_.push_back({*other, std::move(code)});
    return Target::Own;
  }

  // A part that is never called belongs to us when it jumps back here, or when nothing leaves it.
  bool belongs(const Function& code) const {
    bool leaves = !code.whole;
    for (const Insn& insn : code.insns) {
      const bool jumps = insn.branches() && insn.kind != Kind::Call;
      if (jumps && insn.target > own_.begin && insn.target < own_.end) return true;
      if (insn.kind == Kind::Return || insn.kind == Kind::JumpIndirect) leaves = true;
      if (jumps && !code.inside(insn.target)) leaves = true;
    }
    return !leaves;
  }

  // [endbr64;] [bnd] jmp *slot(%rip)
  bool is_plt_stub(uint64_t address) const {
    Insn insn;
    for (int i = 0; i < 2; i++) {
      const auto bytes = module_.bytes(address);
      if (bytes.empty() || !decode(bytes, address, insn)) return false;
      if (insn.kind == Kind::JumpIndirect) return insn.rip_relative;
      address = insn.end();
    }
    return false;
  }

  void add_exit(const Function& code, size_t i, bool tail) {
    Exit exit;
    exit.exit_address = exit.region.pivot = code.insns[i].address;
    exit.region.address = region_start(module_, code, i);
    exit.tail_jump = tail;
    impl_.measure(exit.region, code, Guards::None);
    exits_.push_back(exit);
  }

  void judge(Exit& exit) {
    Region& region = exit.region;
    if (region.verdict != Verdict::Ok) return;
    if (!sorted_) std::sort(targets_.begin(), targets_.end());
    sorted_ = true;
    const uint64_t end = region.address + region.length;
    if (const uint64_t target = Module::first_between(targets_, region.address, end))
      impl_.forbid(region, Verdict::BranchIntoRegion, target);
  }

  Checker::Impl& impl_;
  const Module& module_;
  FunctionRange own_;
  std::deque<Part> parts_;  // references stay valid while it grows
  std::vector<Exit> exits_;
  std::vector<std::pair<size_t, size_t>> pointer_jumps_;  // (part, instruction)
  std::vector<uint64_t> targets_;                         // of all jumps seen
  bool sorted_ = false;
  std::string reason_;
};

}  // namespace

uint64_t region_start(const Module& module, const Function& function, size_t pivot) {
  const Insn& last = function.insns[pivot];
  uint32_t behind = 0;
  if (last.leaves()) behind = module.padding(function, last.end(), kJumpBytes);
  size_t start = pivot;
  while (start > 0 && last.end() + behind - function.insns[start].address < kJumpBytes) {
    const Insn& before = function.insns[start - 1];
    if (before.leaves() || before.calls()) break;
    start--;
  }
  return function.insns[start].address;
}

Exits Checker::exits(uint64_t begin, uint64_t end) {
  return ExitFinder(impl(), {begin, end}).find();
}

}  // namespace dj::arch
