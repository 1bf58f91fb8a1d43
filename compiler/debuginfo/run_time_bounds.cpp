// SPDX-License-Identifier: Apache-2.0
// Arrays and strings whose bounds only the running program knows: C's of variable length, Fortran's
// that a descriptor or another argument describes.
#include <fmt/format.h>

#include "compiler/debuginfo/dwarf_ops.h"
#include "compiler/debuginfo/navigator.h"
#include "compiler/debuginfo/variables.h"

namespace dj {

using Kind = TargetFailure::Kind;
using Failed = Navigator::Failed;

namespace {

LocExpr constant(int64_t number) { return {{{LocStep::PushConst, number}}}; }

LocExpr combined(LocExpr left, LocStep::Op op, const LocExpr& right) {
  left.steps.insert(left.steps.end(), right.steps.begin(), right.steps.end());
  left.steps.push_back({op});
  return left;
}

}  // namespace

// An expression of the type, about the object at that address.
std::optional<LocExpr> Navigator::described(Dwarf_Die* die, unsigned attribute_name,
                                            const LocExpr& object) {
  std::optional<Dwarf_Attribute> attr = attribute(die, attribute_name);
  const Dwarf_Addr pc = scene_->place.pc - index().bias();
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (!attr || dwarf_getlocation_addr(&*attr, pc, &ops, &count, 1) != 1) {
    return std::nullopt;
  }
  OpContext context{index(), scene_->function, &*attr, scene_->place.pc, scene_->place.at_entry};
  context.object = &object;
  context.begins_with_object = attribute_name == DW_AT_data_member_location;
  Result<ValueLocation> value = translate({ops, count}, context);
  const bool word = value.ok() && (value.value().kind == ValueLocation::Memory ||
                                   value.value().kind == ValueLocation::Value);
  return word ? std::optional(value.value().expr) : std::nullopt;
}

// A bound is a number, an expression, or what a variable of the compiler's has.
std::optional<LocExpr> Navigator::bound(Dwarf_Die* die, unsigned attribute_name,
                                        const LocExpr& object) {
  std::optional<Dwarf_Attribute> attr = attribute(die, attribute_name);
  if (std::optional<Dwarf_Die> holder = referred(die, attribute_name)) {
    if (dwarf_tag(&*holder) == DW_TAG_member) return discriminant(&*holder);
    ScopedVariable variable{*holder, die_name(&*holder),
                            dwarf_tag(&*holder) == DW_TAG_formal_parameter};
    TypeDie type = strip_type(type_of(&*holder), index());
    const Scalar scalar = (type ? scalar_of(&*type) : std::nullopt).value_or(Scalar());
    Result<ValueLocation> value_at = locate(variable, scene_->function, scene_->place, index());
    return value_at.ok() && scalar.size <= 8 && value_at.value().kind <= ValueLocation::Value
               ? std::optional(load(value_at.value(), scalar.size, scalar.is_signed))
               : std::nullopt;
  }
  const bool plain = attr && dwarf_whatform(&*attr) != DW_FORM_exprloc;
  if (std::optional<int64_t> number = plain ? signed_number(&*attr) : std::nullopt) {
    return constant(*number);
  }
  return described(die, attribute_name, object);
}

// What the member has in the struct around.
std::optional<LocExpr> Navigator::discriminant(Dwarf_Die* member) {
  if (!record_) return std::nullopt;
  Navigator at(ValueLocation{*record_}, std::nullopt, text_, *scene_);
  Scalar scalar;
  if (at.enter(direct_member(*member)) || at.settle() || !at.type()) return std::nullopt;
  const TargetAnswer word = at.word(scalar);
  const auto* expr = std::get_if<LocExpr>(&word);
  return expr ? std::optional(*expr) : std::nullopt;
}

// GNAT's LB0, UB0, LB1 ...
std::optional<LocExpr> Navigator::pair_bound(unsigned dimension, bool upper) {
  const std::string name = fmt::format("{}B{}", upper ? "U" : "L", dimension);
  for (Dwarf_Die& child : children(&bounds_->type)) {
    TypeDie type = die_name(&child) == name ? strip_type(type_of(&child), index()) : std::nullopt;
    const std::optional<Scalar> scalar = type ? scalar_of(&*type) : std::nullopt;
    if (!scalar || scalar->size > 8) continue;
    ValueLocation value_at{bounds_->address};
    add_constant(value_at.expr, int64_t(direct_member(child).offset));
    return load(value_at, scalar->size, scalar->is_signed);
  }
  return std::nullopt;
}

LocExpr Navigator::lower_bound(const Subscript& s, unsigned dimension, const LocExpr& object) {
  Dwarf_Die range = s.range.value_or(*type_);
  std::optional<LocExpr> lower =
      bounds_ ? pair_bound(dimension, false) : bound(&range, DW_AT_lower_bound, object);
  return lower.value_or(constant(s.lower));
}

std::optional<LocExpr> Navigator::count_of(unsigned dimension, const LocExpr& object) {
  if (const uint64_t count = element_count(&*type_, dimension)) {
    return constant(int64_t(count));
  }
  const Subscript s = subscript(&*type_, dimension, index());
  if (!s.range) {
    return std::nullopt;
  }
  Dwarf_Die range = *s.range;
  const bool begins =
      !bounds_ && (number(&range, DW_AT_lower_bound) || !attribute(&range, DW_AT_lower_bound));
  if (begins && (number(&range, DW_AT_count) || number(&range, DW_AT_upper_bound))) {
    return constant(0);
  }
  std::optional<LocExpr> count = bounds_ ? std::nullopt : bound(&range, DW_AT_count, object);
  std::optional<LocExpr> upper = count     ? std::nullopt
                                 : bounds_ ? pair_bound(dimension, true)
                                           : bound(&range, DW_AT_upper_bound, object);
  if (upper) {
    count = combined(std::move(*upper), LocStep::Sub, lower_bound(s, dimension, object));
    add_constant(*count, 1);
    for (const LocStep& step : {LocStep{LocStep::Dup}, LocStep{LocStep::PushConst, 0},
                                LocStep{LocStep::Gt}, LocStep{LocStep::Mul}})
      count->steps.push_back(step);  // an upper bound may be far below the lower one
  }
  for (const unsigned exists : {DW_AT_allocated, DW_AT_associated}) {  // 0: there is no array
    std::optional<LocExpr> flag = count ? described(&*type_, exists, object) : std::nullopt;
    if (flag) {
      count = combined(std::move(*count), LocStep::Mul,
                       combined(std::move(*flag), LocStep::Ne, constant(0)));
    }
  }
  return count;
}

std::optional<LocExpr> Navigator::run_time_count() {
  return count_of(dimension_, descriptor_.value_or(value_at_.expr));
}

// Bytes from one element to the next.
std::optional<LocExpr> Navigator::stride_of(unsigned dimension, const LocExpr& object) {
  const Subscript s = subscript(&*type_, dimension, index());
  Dwarf_Die range = s.range.value_or(*type_);
  if (std::optional<LocExpr> said = described(&range, DW_AT_byte_stride, object)) {
    return said;
  }
  if (s.stride != 0) {
    return constant(int64_t(s.stride));
  }
  TypeDie element = strip_type(type_of(&*type_), index());
  LocExpr stride = constant(element ? int64_t(type_size(&*element)) : 1);
  for (const unsigned inner : inner_dimensions(&*type_, dimension)) {
    std::optional<LocExpr> count = count_of(inner, object);
    if (!count) {
      return std::nullopt;
    }
    stride = combined(std::move(stride), LocStep::Mul, *count);
  }
  return stride;
}

bool Navigator::has_run_time_places() {
  const Subscript s = subscript(&*type_, dimension_, index());
  Dwarf_Die range = s.range.value_or(*type_);
  const bool begins_anywhere =
      s.range && attribute(&range, DW_AT_lower_bound) && !number(&range, DW_AT_lower_bound);
  return descriptor_ || bounds_ || begins_anywhere || attribute(&*type_, DW_AT_data_location) ||
         (s.stride == 0 && !inner_dimensions(&*type_, dimension_).empty());
}

Failed Navigator::described_element(const TargetStep& step, int argument) {
  const bool known = step.kind == TargetStep::ConstElement;
  text_ += known ? fmt::format("[{}]", step.index) : "[...]";
  const LocExpr object = descriptor_.value_or(value_at_.expr);
  const Subscript s = subscript(&*type_, dimension_, index());
  const LocExpr lower = lower_bound(s, dimension_, object);
  const LocExpr index = known ? constant(step.index) : LocExpr{{{LocStep::PushArg, argument}}};
  return described_at(combined(index, LocStep::Sub, lower));
}

// position: how many elements are before it.
Failed Navigator::described_at(LocExpr position) {
  const LocExpr object = descriptor_.value_or(value_at_.expr);
  const bool elsewhere = attribute(&*type_, DW_AT_data_location).has_value();
  std::optional<LocExpr> place;
  if (descriptor_ || (value_at_.kind == ValueLocation::Memory && !elsewhere)) {
    place = value_at_.expr;
  } else if (value_at_.kind == ValueLocation::Memory) {
    place = described(&*type_, DW_AT_data_location, object);
  }
  const std::optional<LocExpr> stride = stride_of(dimension_, object);
  if (!place || !stride) {
    return target_failure(Kind::NotBuilt, -1,
                          text_ + (place ? " cannot be found: the array's bounds are not known here"
                                         : " cannot be found: its array's descriptor is unusual"));
  }
  const Subscript s = subscript(&*type_, dimension_, index());
  position = combined(std::move(position), LocStep::Mul, *stride);
  value_at_ = ValueLocation{combined(std::move(*place), LocStep::Add, position)};
  dimension_ = s.more ? s.dimension : 0;
  descriptor_ = s.more ? std::optional(object) : std::nullopt;
  if (!s.more) bounds_.reset();
  type_ = s.more ? type_ : type_of(&*type_);
  return std::nullopt;
}

// GNAT's unconstrained array: a pointer to its elements and one to its bounds.
Failed Navigator::follow_pair() {
  Navigator elements = *this, bounds = *this;
  for (const auto& [at, name] : {std::pair{&elements, "P_ARRAY"}, {&bounds, "P_BOUNDS"}}) {
    const std::optional<Member> member = find_member(&*type_, name, index());
    Failed failed = member ? at->enter(*member) : target_failure(Kind::UnknownField, -1, name);
    if (!failed) {
      at->type_ = strip_type(at->type_, index());
      failed = at->follow();
    }
    if (failed) return failed;
  }
  TypeDie type = strip_type(bounds.type_, index());
  if (!type) return target_failure(Kind::NotHere, -1, text_ + " has no bounds");
  *this = elements;
  type_ = strip_type(type_, index());
  bounds_ = Bounds{bounds.value_at_.expr, *type};
  return std::nullopt;
}

bool Navigator::is_packed() {
  return number(&*type_, DW_AT_bit_stride).value_or(0) % 8 != 0 && !bounds_ &&
         subscript(&*type_, dimension_, index()).dimension == 1 &&
         !subscript(&*type_, dimension_, index()).more;
}

Failed Navigator::packed_element(int64_t position) {
  const uint64_t stride = *number(&*type_, DW_AT_bit_stride);
  bits_ = stride;
  bit_offset_ = uint64_t(position) * stride;
  type_ = type_of(&*type_);
  return std::nullopt;
}

// A variable has the length, or an expression says where it lies.
std::optional<LocExpr> Navigator::string_length() {
  if (referred(&*type_, DW_AT_string_length)) {
    return bound(&*type_, DW_AT_string_length, value_at_.expr);
  }
  std::optional<LocExpr> place = described(&*type_, DW_AT_string_length, value_at_.expr);
  return place ? std::optional(load(ValueLocation{*place}, 8, false)) : std::nullopt;
}

}  // namespace dj
