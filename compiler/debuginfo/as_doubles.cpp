// SPDX-License-Identifier: Apache-2.0
// Numbers that are no whole ones, as the doubles that scripts and texts have.
#include <bit>
#include <cmath>
#include <cstdlib>

#include "compiler/debuginfo/navigator.h"

namespace dj {

using Kind = TargetFailure::Kind;

namespace {

// The 16 bits of a _Float16 or __bf16 become a double's.
void widen_half(LocExpr& expr, bool is_bfloat) {
  using Op = LocStep::Op;
  auto add = [&](std::initializer_list<LocStep> steps) {
    expr.steps.insert(expr.steps.end(), steps);
  };
  if (is_bfloat) {  // a float's upper half
    return add({{Op::PushConst, 16}, {Op::Shl}, {Op::DoubleOfFloat}});
  }
  // Its exponent and fraction in a double's places are the number times 2^-1008. The greatest
  // exponent must be the greatest again.
  constexpr int64_t kGreatest = 0x7c00, kScale = 1008, kFraction = 52;
  add({{Op::Dup}, {Op::PushConst, 0x7fff}, {Op::And}, {Op::PushConst, kFraction - 10}, {Op::Shl}});
  add({{Op::PushConst, (kScale + 1023) << kFraction}, {Op::DoubleCompute, Op::Mul}, {Op::Over}});
  add({{Op::PushConst, kGreatest}, {Op::And}, {Op::PushConst, kGreatest}, {Op::Eq}});
  add({{Op::PushConst, kScale << kFraction}, {Op::Mul}, {Op::Add}, {Op::Swap}});
  add({{Op::PushConst, 0x8000}, {Op::And}, {Op::PushConst, 48}, {Op::Shl}, {Op::Or}});
}

}  // namespace

TargetAnswer Navigator::as_double(Scalar scalar) {
  const bool extended = is_extended(&*type_);
  const bool quad = scalar.size == 16 && !extended;
  const bool known = number(&*type_, DW_AT_encoding) == uint64_t{DW_ATE_float} &&
                     (scalar.size == 2 || scalar.size == 4 || scalar.size == 8 || extended || quad);
  if (!known) {
    return too_wide();
  }
  if (extended || quad) {
    return extended ? extended_as_double(0) : quad_as_double();
  }
  TargetAnswer answer = word(scalar);
  if (LocExpr* expr = std::get_if<LocExpr>(&answer)) {
    if (scalar.size == 2) {
      widen_half(*expr, type_name(type_) == "__bf16");
    } else if (scalar.size == 4) {
      expr->steps.push_back({LocStep::DoubleOfFloat});
    }
    expr->is_double = true;
  }
  return answer;
}

// The mantissa, then sign and exponent.
TargetAnswer Navigator::extended_as_double(uint64_t offset) {
  TargetAnswer mantissa = part(offset, 8), exponent = part(offset + 8, 2);
  for (TargetAnswer* half : {&mantissa, &exponent}) {
    if (std::holds_alternative<TargetFailure>(*half)) {
      return *half;
    }
  }
  LocExpr expr = std::get<LocExpr>(std::move(mantissa));
  const LocExpr& upper = std::get<LocExpr>(exponent);
  expr.steps.insert(expr.steps.end(), upper.steps.begin(), upper.steps.end());
  expr.steps.push_back({LocStep::DoubleOfExtended});
  expr.is_double = true;
  return expr;
}

// IEEE's 128 bits have the x87's exponent; its mantissa has their 63 highest digits behind the
// first, which is not written. The last one is set where digits behind it are, for rounding.
TargetAnswer Navigator::quad_as_double() {
  using Op = LocStep::Op;
  TargetAnswer low = part(0, 8), high = part(8, 8);
  for (TargetAnswer* half : {&low, &high}) {
    if (std::holds_alternative<TargetFailure>(*half)) {
      return *half;
    }
  }
  LocExpr expr = std::get<LocExpr>(std::move(high));
  const std::vector<LocStep> again = std::get<LocExpr>(low).steps;
  auto add = [&](std::initializer_list<LocStep> steps) {
    expr.steps.insert(expr.steps.end(), steps);
  };
  add({{Op::Dup}, {Op::PushConst, 16}, {Op::Shl}, {Op::PushConst, 1}, {Op::Shr}});
  add({{Op::PushConst, INT64_MIN}, {Op::Or}});
  expr.steps.insert(expr.steps.end(), again.begin(), again.end());
  add({{Op::Dup}, {Op::PushConst, 49}, {Op::Shr}, {Op::Swap}, {Op::PushConst, 15}, {Op::Shl}});
  add({{Op::PushConst, 0}, {Op::Ne}, {Op::Or}, {Op::Or}});
  add({{Op::Swap}, {Op::PushConst, 48}, {Op::Shr}, {Op::DoubleOfExtended}});
  expr.is_double = true;
  return expr;
}

namespace {

// A fixed point number is a number of these: `times` / `parts`.
struct Small {
  double times = 1, parts = 1;
};

// Powers of two or ten, or a fraction of its own (DW_AT_small). None: neither, or too large.
std::optional<Small> small_of(Dwarf_Die* type) {
  const auto exponent = [&](unsigned name) {
    std::optional<Dwarf_Attribute> attr = attribute(type, name);
    return attr ? signed_number(&*attr) : std::nullopt;
  };
  const std::optional<int64_t> tens = exponent(DW_AT_decimal_scale);
  const std::optional<int64_t> twos = exponent(DW_AT_binary_scale);
  constexpr int64_t kMost = 18;  // digits of a number of 64 bits
  if (tens || twos) {
    if (std::abs(tens.value_or(0)) > kMost || std::abs(twos.value_or(0)) > 63) return std::nullopt;
    const double scale =
        tens ? std::pow(10.0, double(std::abs(*tens))) : std::pow(2.0, double(std::abs(*twos)));
    return tens.value_or(twos.value_or(0)) < 0 ? Small{1, scale} : Small{scale, 1};
  }
  std::optional<Dwarf_Die> fraction = referred(type, DW_AT_small);
  if (!fraction) return std::nullopt;
  const std::optional<uint64_t> times = number(&*fraction, DW_AT_GNU_numerator);
  const std::optional<uint64_t> parts = number(&*fraction, DW_AT_GNU_denominator);
  return times && parts && *parts != 0 ? std::optional(Small{double(*times), double(*parts)})
                                       : std::nullopt;
}

}  // namespace

TargetAnswer Navigator::fixed_as_double() {
  Scalar scalar;
  TargetAnswer answer = word(scalar);
  auto* expr = std::get_if<LocExpr>(&answer);
  if (!expr) return answer;
  const std::optional<Small> small = small_of(&*type_);
  if (!small) {
    return target_failure(Kind::NotBuilt, -1,
                          text_ + " is a fixed point number of an unusual scale");
  }
  expr->steps.push_back({LocStep::DoubleOfInt, scalar.is_signed ? 0 : 1});
  if (small->times != 1) {
    expr->steps.push_back({LocStep::PushConst, std::bit_cast<int64_t>(small->times)});
    expr->steps.push_back({LocStep::DoubleCompute, LocStep::Mul});
  }
  if (small->parts != 1) {
    expr->steps.push_back({LocStep::PushConst, std::bit_cast<int64_t>(small->parts)});
    expr->steps.push_back({LocStep::DoubleCompute, LocStep::Div});
  }
  expr->is_double = true;
  return answer;
}

}  // namespace dj
