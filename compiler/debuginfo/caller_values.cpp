// SPDX-License-Identifier: Apache-2.0
// Builds one expression out of what all known callers pass: each is computed, and masked by whether
// the return address is its own.
#include "compiler/debuginfo/caller_values.h"

#include <algorithm>

#include "arch/x86_64/registers.h"
#include "compiler/debuginfo/call_sites.h"

namespace dj {

namespace {

using Op = LocStep::Op;
using Steps = std::vector<LocStep>;

using arch::kRbx, arch::kRbp, arch::kRsp, arch::kR12;
constexpr size_t kMaxSteps = 4000;

Error unknown() {
  return Error{"only its value at the function's entry is known, and that is gone here"};
}

void append(Steps& to, const Steps& more) { to.insert(to.end(), more.begin(), more.end()); }

// An address counted from the stack pointer: in the stack, whoever was the caller.
bool is_stack_address(const Steps& steps, size_t end) {
  if (end >= 3 && steps[end - 1].op == Op::Add && steps[end - 2].op == Op::PushConst) {
    end -= 2;
  }
  return end >= 1 && steps[end - 1].op == Op::PushReg && steps[end - 1].a == kRsp;
}

// CallerFrame: the caller's registers, in terms of those at a place in the called function.
class CallerFrame {
 public:
  explicit CallerFrame(const OpContext& context) : context_(context) {}

  // False: nobody knows where the frame is.
  bool find() {
    Result<ValueLocation> cfa = frame_address(context_);
    if (cfa.ok()) {
      cfa_ = cfa.value().expr.steps;
      checked_ = !cfa.value().in_frame;
    }
    return cfa.ok();
  }

  Steps place_of_return_address() const {
    LocExpr at{cfa_};
    add_constant(at, -8);
    return at.steps;
  }
  Steps return_address() const { return word_at(-8); }

  // A value of the caller's; none: it needs what the call has overwritten.
  std::optional<Steps> translated(const Steps& steps) const {
    Steps out;
    for (size_t i = 0; i < steps.size(); i++) {
      const LocStep& step = steps[i];
      if (step.op == Op::PushReg) {
        std::optional<Steps> value = held(int(step.a));
        if (!value) {
          return std::nullopt;
        }
        append(out, *value);
      } else if (is_jump(step.op) && step.b != 0) {
        return std::nullopt;  // of another caller's registers it may have no end
      } else if (step.op == Op::Deref || step.op == Op::StackDeref) {
        if (!is_stack_address(steps, i)) {
          return std::nullopt;  // of another caller's registers it may be anywhere
        }
        out.push_back({Op::Deref, step.a, step.b});
      } else {
        out.push_back(step);
      }
    }
    return out;
  }

 private:
  Steps word_at(int64_t offset) const {
    LocExpr at{cfa_};
    add_constant(at, offset);
    at.steps.push_back({checked_ ? Op::Deref : Op::StackDeref, 8});
    return at.steps;
  }

  std::optional<Steps> held(int reg) const {
    if (reg == kRsp) {
      return cfa_;
    }
    if (reg < 0 || reg >= arch::kRegCount) {
      return std::nullopt;
    }
    // A register that calls may change is only named when this callee leaves it alone (-fipa-ra).
    const bool preserved = reg == kRbx || reg == kRbp || reg >= kR12;
    const std::optional<DwarfIndex::Saved> saved = context_.index.saved_register(context_.pc, reg);
    if (preserved && !saved) {
      return std::nullopt;
    }
    return saved && saved->in_memory ? word_at(saved->offset) : Steps{{Op::PushReg, reg}};
  }

  const OpContext& context_;
  Steps cfa_;
  bool checked_ = false;
};

// Is the call site's parameter the one that is asked for?
bool is_about(Dwarf_Die* said, const Given& given) {
  if (const Dwarf_Die* parameter = std::get_if<Dwarf_Die>(&given)) {
    const bool old = dwarf_tag(said) == DW_TAG_GNU_call_site_parameter;
    const std::optional<Dwarf_Die> meant =
        referred(said, old ? DW_AT_abstract_origin : DW_AT_call_parameter);
    return meant && identity(*meant) == identity(*parameter);
  }
  Dwarf_Attribute place;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  return dwarf_attr(said, DW_AT_location, &place) && dwarf_getlocation(&place, &ops, &count) == 0 &&
         count == 1 && ops[0].atom == DW_OP_reg0 + std::get<int>(given);
}

// A word of what an expression that yields a value leaves.
std::optional<LocExpr> word_of(ValueLocation value_at, int word) {
  value_at.kind = value_at.kind == ValueLocation::Memory ? ValueLocation::Value : value_at.kind;
  Result<ValueLocation> part = value_at.kind == ValueLocation::Value && word == 0
                                   ? Result<ValueLocation>(std::move(value_at))
                                   : slice(value_at, uint64_t(word) * 8, 8);
  return part.ok() && part.value().kind == ValueLocation::Value ? std::optional(part.take().expr)
                                                                : std::nullopt;
}

// What the call passes, in terms of the caller's own registers; none: it does not say.
std::optional<LocExpr> passed(const CallSite& site, const Given& given, int word,
                              const OpContext& context) {
  Dwarf_Die die = site.die, caller = site.caller;
  for (Dwarf_Die& child : children(&die)) {
    const bool old = dwarf_tag(&child) == DW_TAG_GNU_call_site_parameter;
    Dwarf_Attribute value;
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if ((!old && dwarf_tag(&child) != DW_TAG_call_site_parameter) || !is_about(&child, given) ||
        !dwarf_attr(&child, old ? DW_AT_GNU_call_site_value : DW_AT_call_value, &value) ||
        dwarf_getlocation(&value, &ops, &count) != 0 || count == 0) {
      continue;
    }
    OpContext there{context.index, &caller, &value, site.return_pc + context.index.bias() - 1};
    there.in_caller = true;
    Result<ValueLocation> value_at = translate({ops, count}, there);
    std::optional<LocExpr> given_word =
        value_at.ok() ? word_of(value_at.take(), word) : std::nullopt;
    if (given_word) {
      return given_word;
    }
  }
  return std::nullopt;
}

// The calls that pass the same.
struct Group {
  Steps value;
  std::vector<uint64_t> return_pcs;
};

// Stack: return address, whether it was one of ours, the value. The same with the group's.
void add_group(const Group& group, uint64_t bias, Steps& steps) {
  for (size_t i = 0; i < group.return_pcs.size(); i++) {
    append(steps, {{Op::Pick, i == 0 ? 2 : 3},
                   {Op::PushConst, int64_t(group.return_pcs[i] + bias)},
                   {Op::PushBias},
                   {Op::Add},
                   {Op::Eq}});
    if (i > 0) {
      steps.push_back({Op::Or});
    }
  }
  append(steps, {{Op::Dup}, {Op::Neg}});
  append(steps, group.value);
  append(steps, {{Op::And}, {Op::Rot}, {Op::Rot}, {Op::Or}, {Op::Rot}, {Op::Or}, {Op::Swap}});
}

}  // namespace

Result<LocExpr> value_at_entry(const Given& given, int word, const OpContext& context) {
  CallerFrame frame(context);
  if (!context.function || context.in_caller || !frame.find()) {
    return unknown();
  }
  const CallSites& calls = context.index.call_sites();
  std::vector<Group> groups;
  for (const CallSite& site : calls.of(context.function)) {
    const std::optional<LocExpr> said = passed(site, given, word, context);
    std::optional<Steps> value = said ? frame.translated(said->steps) : std::nullopt;
    if (!value) {
      continue;
    }
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const Group& group) { return group.value == *value; });
    if (same == groups.end()) {
      groups.push_back({std::move(*value), {site.return_pc}});
    } else {
      same->return_pcs.push_back(site.return_pc);
    }
  }
  if (groups.empty() || calls.calls_itself_last(context.function)) {
    return unknown();
  }
  LocExpr all{frame.return_address()};
  append(all.steps, {{Op::PushConst, 0}, {Op::PushConst, 0}});
  for (const Group& group : groups) {
    add_group(group, context.index.bias(), all.steps);
  }
  // A read of the return address again, or of address 0: the error of a handler whose caller is
  // another one.
  append(all.steps, {{Op::Swap}, {Op::Neg}});
  append(all.steps, frame.place_of_return_address());
  append(all.steps, {{Op::And}, {Op::Deref, 8}, {Op::Drop}, {Op::Swap}, {Op::Drop}});
  if (all.steps.size() > kMaxSteps) {
    return unknown();
  }
  return all;
}

}  // namespace dj
