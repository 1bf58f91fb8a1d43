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
  Result<Spot> value = translate({ops, count}, context);
  const bool word =
      value.ok() && (value.value().kind == Spot::Memory || value.value().kind == Spot::Value);
  return word ? std::optional(value.value().expr) : std::nullopt;
}

// A bound is a number, an expression, or what a variable of the compiler's has.
std::optional<LocExpr> Navigator::bound(Dwarf_Die* die, unsigned attribute_name,
                                        const LocExpr& object) {
  std::optional<Dwarf_Attribute> attr = attribute(die, attribute_name);
  if (std::optional<Dwarf_Die> holder = referred(die, attribute_name)) {
    ScopedVariable variable{*holder, die_name(&*holder),
                            dwarf_tag(&*holder) == DW_TAG_formal_parameter};
    TypeDie type = strip_type(type_of(&*holder), index());
    const Scalar scalar = (type ? scalar_of(&*type) : std::nullopt).value_or(Scalar());
    Result<Spot> spot = locate(variable, scene_->function, scene_->place, index());
    return spot.ok() && scalar.size <= 8 && spot.value().kind <= Spot::Value
               ? std::optional(load(spot.value(), scalar.size, scalar.is_signed))
               : std::nullopt;
  }
  const bool plain = attr && dwarf_whatform(&*attr) != DW_FORM_exprloc;
  if (std::optional<int64_t> number = plain ? signed_number(&*attr) : std::nullopt) {
    return constant(*number);
  }
  return described(die, attribute_name, object);
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
  if (number(&range, DW_AT_count) || number(&range, DW_AT_upper_bound)) {
    return constant(0);
  }
  std::optional<LocExpr> count = bound(&range, DW_AT_count, object);
  if (std::optional<LocExpr> upper =
          count ? std::nullopt : bound(&range, DW_AT_upper_bound, object)) {
    const LocExpr lower = bound(&range, DW_AT_lower_bound, object).value_or(constant(s.lower));
    count = combined(std::move(*upper), LocStep::Sub, lower);
    add_constant(*count, 1);
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
  return count_of(dimension_, descriptor_.value_or(spot_.expr));
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
  return descriptor_ || attribute(&*type_, DW_AT_data_location) ||
         (subscript(&*type_, dimension_, index()).stride == 0 &&
          !inner_dimensions(&*type_, dimension_).empty());
}

Failed Navigator::described_element(const TargetStep& step, int argument) {
  const bool known = step.kind == TargetStep::ConstElement;
  text_ += known ? fmt::format("[{}]", step.index) : "[...]";
  const LocExpr object = descriptor_.value_or(spot_.expr);
  const Subscript s = subscript(&*type_, dimension_, index());
  Dwarf_Die range = s.range.value_or(*type_);
  const LocExpr lower = bound(&range, DW_AT_lower_bound, object).value_or(constant(s.lower));
  const LocExpr index = known ? constant(step.index) : LocExpr{{{LocStep::PushArg, argument}}};
  return described_at(combined(index, LocStep::Sub, lower));
}

// position: how many elements are before it.
Failed Navigator::described_at(LocExpr position) {
  const LocExpr object = descriptor_.value_or(spot_.expr);
  const bool elsewhere = attribute(&*type_, DW_AT_data_location).has_value();
  std::optional<LocExpr> place;
  if (descriptor_ || (spot_.kind == Spot::Memory && !elsewhere)) {
    place = spot_.expr;
  } else if (spot_.kind == Spot::Memory) {
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
  spot_ = Spot{combined(std::move(*place), LocStep::Add, position)};
  dimension_ = s.more ? s.dimension : 0;
  descriptor_ = s.more ? std::optional(object) : std::nullopt;
  type_ = s.more ? type_ : type_of(&*type_);
  return std::nullopt;
}

// A variable has the length, or an expression says where it lies.
std::optional<LocExpr> Navigator::string_length() {
  if (referred(&*type_, DW_AT_string_length)) {
    return bound(&*type_, DW_AT_string_length, spot_.expr);
  }
  std::optional<LocExpr> place = described(&*type_, DW_AT_string_length, spot_.expr);
  return place ? std::optional(load(Spot{*place}, 8, false)) : std::nullopt;
}

}  // namespace dj
