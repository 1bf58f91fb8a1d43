// SPDX-License-Identifier: Apache-2.0
// Steps through C and C++ types: members, elements, pointers and references.
#include "compiler/debuginfo/navigator.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/debuginfo/dwarf_ops.h"
#include "compiler/debuginfo/languages.h"
#include "compiler/debuginfo/variables.h"

namespace dj {

using Kind = TargetFailure::Kind;
using Failed = Navigator::Failed;

TargetFailure target_failure(Kind kind, int step, std::string message) {
  TargetFailure f;
  f.kind = kind;
  f.step = step;
  f.message = std::move(message);
  return f;
}

namespace {

TargetFailure nowhere(const std::string& text, const Error& error) {
  const Kind kind = error.kind == Fail::Unsupported ? Kind::NotBuilt : Kind::NotHere;
  return target_failure(kind, -1, fmt::format("{} cannot be read here: {}", text, error.message));
}

}  // namespace

Failed Navigator::settle() {
  if (pointers_ > 0) {
    return std::nullopt;
  }
  type_ = strip_type(type_, index());
  while (type_ && is_reference(&*type_)) {
    if (Failed failed = follow()) {
      return failed;
    }
    type_ = strip_type(type_, index());
  }
  return type_ && is_array_pair(&*type_) ? follow_pair() : std::nullopt;
}

Failed Navigator::follow() {
  TypeDie target = pointers_ > 0 ? type_ : type_of(&*type_);
  pointers_ = std::max(pointers_ - 1, 0);
  if (value_at_.kind == ValueLocation::Pointer) {
    ScopedVariable pointee{*value_at_.pointee, die_name(&*value_at_.pointee), false};
    Result<ValueLocation> there = locate(pointee, scene_->function, scene_->place, index());
    Result<ValueLocation> part = there.ok() && value_at_.pointee_offset != 0
                                     ? slice(there.value(), uint64_t(value_at_.pointee_offset), 8)
                                     : std::move(there);
    if (!part.ok()) {
      return nowhere("what " + text_ + " points to", part.error());
    }
    value_at_ = part.take();
  } else {
    Result<ValueLocation> pointer = slice(value_at_, 0, 8);
    if (!pointer.ok()) {
      return nowhere(text_, pointer.error());
    }
    ValueLocation there;
    there.expr = load(pointer.value(), 8, false);
    value_at_ = std::move(there);
  }
  bits_.reset();
  dimension_ = 0;
  record_.reset();
  bounds_.reset();
  type_ = target;
  return std::nullopt;
}

Failed Navigator::base(const std::string& pattern) {
  if (Failed failed = settle()) {
    return failed;
  }
  std::optional<Member> found = type_ ? find_base(&*type_, pattern, index()) : std::nullopt;
  if (!found) {
    return target_failure(Kind::UnknownField, -1,
                          fmt::format("{} has no base {}", type_name(type_), pattern));
  }
  return enter(*found);
}

Failed Navigator::template_argument(int64_t n) {
  if (Failed failed = settle()) {
    return failed;
  }
  for (Dwarf_Die& child : type_ ? children(&*type_) : std::vector<Dwarf_Die>()) {
    if (dwarf_tag(&child) == DW_TAG_template_type_parameter && --n == 0) {
      become(type_of(&child));
      return std::nullopt;
    }
  }
  return target_failure(Kind::BadUse, -1,
                        fmt::format("{} has not so many type arguments", type_name(type_)));
}

void Navigator::become(TypeDie type) {
  type_ = type;
  bits_.reset();
  dimension_ = 0;
}

// By the object's own table of virtual functions, as DWARF says it.
Failed Navigator::to_virtual_base(const VirtualBase& base) {
  Dwarf_Die die = base.die;
  std::optional<LocExpr> way;
  if (value_at_.kind == ValueLocation::Memory) {
    add_constant(value_at_.expr, int64_t(base.offset));
    way = described(&die, DW_AT_data_member_location, value_at_.expr);
  }
  if (!way) {
    return target_failure(Kind::NotHere, -1,
                          fmt::format("where the virtual base {} of {} is cannot be found out here",
                                      type_name(type_of(&die)), text_));
  }
  value_at_.expr = std::move(*way);
  value_at_.in_frame = false;
  return std::nullopt;
}

Failed Navigator::enter(const Member& member) {
  for (const VirtualBase& base : member.bases) {
    if (Failed failed = to_virtual_base(base)) {
      return failed;
    }
  }
  record_ = value_at_.kind == ValueLocation::Memory ? std::optional(value_at_.expr) : std::nullopt;
  bounds_.reset();
  bits_ = member.bit_size;
  bit_offset_ = member.bit_offset;
  Dwarf_Die die = member.die;
  type_ = type_of(&die);
  dimension_ = 0;
  if (bits_) {
    return std::nullopt;
  }
  TypeDie bare = strip_type(type_, index());
  const uint64_t size = !bare                  ? 1
                        : is_reference(&*bare) ? 8
                                               : std::max<uint64_t>(1, type_size(&*bare));
  Result<ValueLocation> part = slice_known(value_at_, member.offset, size);
  if (!part.ok()) {
    return nowhere(text_, part.error());
  }
  value_at_ = part.take();
  return std::nullopt;
}

Failed Navigator::field(const TargetStep& step, int number) {
  Failed failed = settle();
  while (!failed && (pointers_ > 0 || (type_ && is_pointer(&*type_)))) {
    failed = follow();
    if (!failed) {
      failed = settle();
    }
  }
  if (failed) {
    return failed;
  }
  given_ = false;
  if (!type_ || !is_struct(&*type_)) {
    return target_failure(Kind::BadUse, number,
                          fmt::format("{} is {}, which has no members", text_, type_name(type_)));
  }
  std::optional<Member> member = find_member(&*type_, step.field, index());
  if (!member && ignores_case(&*type_)) {
    member = find_member(&*type_, in_lower_case(step.field), index());
  }
  if (!member) {
    return static_member(step, number);
  }
  text_ += "->" + step.field;
  return enter(*member);
}

// From an array or pointer to its first element; stride: bytes from one to the next; lower: the
// first subscript.
Failed Navigator::step_over(int64_t& stride, int64_t& lower) {
  if (pointers_ == 0 && type_ && is_array(&*type_) && !given_) {
    const Subscript s = subscript(&*type_, dimension_, index());
    stride = int64_t(s.stride);
    lower = s.lower;
    dimension_ = s.dimension;
    if (!s.more) {
      type_ = type_of(&*type_);
      dimension_ = 0;
    }
    value_at_.in_frame = false;  // nobody checks the subscript
    return std::nullopt;
  }
  if (!given_) {
    if (Failed failed = follow()) {
      return failed;
    }
  }
  given_ = false;
  TypeDie target = strip_type(type_, index());
  stride = pointers_ > 0 ? 8 : target ? int64_t(type_size(&*target)) : 1;
  return std::nullopt;
}

Failed Navigator::at(int64_t index) {
  const bool array = pointers_ == 0 && type_ && is_array(&*type_) && !given_;
  if (array && is_packed()) return packed_element(index);
  if (array && has_run_time_places()) {
    return described_at(LocExpr{{{LocStep::PushConst, index}}});
  }
  int64_t stride = 1, lower = 0;
  if (Failed failed = step_over(stride, lower)) {
    return failed;
  }
  Result<ValueLocation> part = slice_known(value_at_, uint64_t(index * stride), uint64_t(stride));
  if (!part.ok()) {
    return nowhere(text_, part.error());
  }
  value_at_ = part.take();
  return std::nullopt;
}

Failed Navigator::element(const TargetStep& step, int number, int argument) {
  if (Failed failed = settle()) {
    return failed;
  }
  if (!given_ && pointers_ == 0 && (!type_ || (!is_array(&*type_) && !is_pointer(&*type_)))) {
    return target_failure(Kind::BadUse, number,
                          fmt::format("{} is {}, which has no elements", text_, type_name(type_)));
  }
  const bool array = pointers_ == 0 && type_ && is_array(&*type_) && !given_;
  if (array && is_packed()) {
    const bool known = step.kind == TargetStep::ConstElement;
    text_ += known ? fmt::format("[{}]", step.index) : "[...]";
    if (!known) {
      return target_failure(Kind::NotBuilt, number,
                            text_ + " is packed: only a constant index chooses an element");
    }
    return packed_element(step.index - subscript(&*type_, dimension_, index()).lower);
  }
  if (array && has_run_time_places()) {
    return described_element(step, argument);
  }
  if (step.kind == TargetStep::ConstElement) {
    Failed failed = at(step.index - (array ? subscript(&*type_, dimension_, index()).lower : 0));
    text_ += fmt::format("[{}]", step.index);
    return failed;
  }
  int64_t stride = 1, lower = 0;
  if (Failed failed = step_over(stride, lower)) {
    return failed;
  }
  if (value_at_.kind != ValueLocation::Memory) {
    return target_failure(Kind::NotBuilt, number,
                          text_ + " is not in memory: only a constant index chooses an element");
  }
  LocExpr offset{{{LocStep::PushArg, argument}}};
  add_constant(offset, -lower);
  value_at_.expr.steps.insert(value_at_.expr.steps.end(), offset.steps.begin(), offset.steps.end());
  value_at_.expr.steps.push_back({LocStep::PushConst, stride});
  value_at_.expr.steps.push_back({LocStep::Mul});
  value_at_.expr.steps.push_back({LocStep::Add});
  text_ += "[...]";
  return std::nullopt;
}

TargetAnswer Navigator::address() {
  if (Failed failed = settle()) {
    return *failed;
  }
  if (bits_) {
    return target_failure(Kind::BadUse, -1, text_ + " is a bit-field, which has no address");
  }
  if (value_at_.kind != ValueLocation::Memory) {
    return target_failure(Kind::BadUse, -1, text_ + " is not in memory here, so it has no address");
  }
  return value_at_.expr;
}

TargetAnswer Navigator::word(Scalar& scalar) {
  std::optional<Scalar> found = scalar_of(&*type_);
  if (!found) {
    return target_failure(Kind::BadUse, -1,
                          fmt::format("{} is {}, which is not a number", text_, type_name(type_)));
  }
  scalar = *found;
  if (is_unit(&*type_)) {
    return LocExpr{{{LocStep::PushConst, 0}}};
  }
  if (scalar.size > 8) {
    return too_wide();
  }
  if (bits_) {
    return bit_field(scalar.is_signed);
  }
  Result<ValueLocation> there = slice(value_at_, 0, scalar.size);
  if (!there.ok()) {
    return nowhere(text_, there.error());
  }
  if (there.value().kind == ValueLocation::Pointer) {
    TargetFailure f = target_failure(Kind::NotHere, -1,
                                     text_ + " cannot be read here: the pointer was optimized out");
    f.help = "what it points to may be known: " + text_ + "[0] or its members";
    return f;
  }
  return load(there.value(), scalar.size, scalar.is_signed && !scalar.floating);
}

TargetAnswer Navigator::value() {
  if (Failed failed = settle()) {
    return *failed;
  }
  if (given_) {
    return value_at_.expr;  // a cast without a step is the pointer itself
  }
  if (pointers_ > 0) {
    return part(0, 8);
  }
  if (!type_) {
    return target_failure(Kind::BadUse, -1, text_ + " is void");
  }
  if ((is_array(&*type_) || is_string(&*type_)) && value_at_.kind == ValueLocation::Memory) {
    return value_at_.expr;
  }
  if (is_struct(&*type_)) {
    return whole_struct();
  }
  std::optional<Scalar> scalar = scalar_of(&*type_);
  if (is_fixed_point(&*type_)) {
    return fixed_as_double();
  }
  if (scalar && scalar->floating) {
    return as_double(*scalar);
  }
  Scalar ignored;
  return word(ignored);
}

TargetAnswer Navigator::part(uint64_t offset, uint8_t size) {
  Result<ValueLocation> there = slice(value_at_, offset, size);
  if (!there.ok()) {
    return nowhere(text_, there.error());
  }
  return load(there.value(), size, false);
}

TargetFailure Navigator::too_wide() {
  TargetFailure f = target_failure(
      Kind::BadUse, -1,
      fmt::format("{} is {}, and a number in a script has 64 bits", text_, type_name(type_)));
  f.help = fmt::format("{}$ is its text; its halves can be read by address, as user_uint64(&{})",
                       text_, text_);
  return f;
}

// A class's static variable, which is no part of its objects.
Failed Navigator::static_member(const TargetStep& step, int number) {
  const std::vector<Dwarf_Die> inside = children(&*type_);
  const bool declared = std::any_of(inside.begin(), inside.end(), [&](Dwarf_Die die) {
    return dwarf_tag(&die) != DW_TAG_subprogram && die_name(&die) == step.field;
  });
  std::optional<ScopedVariable> variable =
      declared ? find_unit_variable(die_name(&*type_) + "::" + step.field, "", index())
               : std::nullopt;
  if (!variable) {
    return unknown_member(step, number);
  }
  text_ += "->" + step.field;
  Result<ValueLocation> value_at = locate(*variable, scene_->function, scene_->place, index());
  if (!value_at.ok()) {
    return nowhere(text_, value_at.error());
  }
  value_at_ = value_at.take();
  become(type_of(&variable->die));
  return std::nullopt;
}

TargetFailure Navigator::unknown_member(const TargetStep& step, int number) {
  TargetFailure f =
      target_failure(Kind::UnknownField, number,
                     fmt::format("{} has no member \"{}\"", type_name(type_), step.field));
  std::vector<std::string> lines = list_members(&*type_, f.known);
  const std::string where = declared_at(&*type_);
  if (lines.empty()) {
    f.notes.push_back(type_name(type_) + " is only declared here, its members are not known");
  } else {
    std::string text = type_name(type_) + " { ";
    for (size_t i = 0; i < lines.size(); i++) {
      text += i < 24 ? lines[i] + "; " : i == 24 ? "... " : "";
    }
    f.notes.push_back(text + "}");
    if (!where.empty()) f.notes.push_back("declared at " + where);
  }
  return f;
}

TargetFailure Navigator::whole_struct() {
  TargetFailure f = target_failure(
      Kind::BadUse, -1, fmt::format("{} is a whole {}, not a number", text_, type_name(type_)));
  std::vector<std::string> names;
  for (const std::string& line : list_members(&*type_, names)) {
    f.notes.push_back("member " + line);
  }
  const std::string first = names.empty() ? "member" : names[0];
  f.help = fmt::format(
      "choose a member ({0}->{1}), take its address (&{0}) or its text form ({0}$)", text_, first);
  return f;
}

TargetAnswer Navigator::bit_field(bool is_signed) {
  Result<LocExpr> bits = load_bits(value_at_, bit_offset_, *bits_, is_signed);
  return bits.ok() ? TargetAnswer(bits.take()) : nowhere(text_, bits.error());
}

}  // namespace dj
