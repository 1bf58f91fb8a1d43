// SPDX-License-Identifier: Apache-2.0
// Texts of what C has not: Rust's enums, of which one variant is there, and Fortran's strings.
#include "compiler/debuginfo/pretty.h"

namespace dj {

namespace {

void append(LocExpr& expr, const LocExpr& other) {
  expr.steps.insert(expr.steps.end(), other.steps.begin(), other.steps.end());
}

// The discriminant's word, and the value that a variant's number has as such a word.
struct Chooser {
  LocExpr word;
  Scalar scalar;

  LocExpr is(int64_t value, LocStep::Op op) const {
    if (!scalar.is_signed && scalar.size < 8) {
      value &= (int64_t{1} << scalar.size * 8) - 1;
    }
    LocExpr expr = word;
    expr.steps.push_back({LocStep::PushConst, value});
    expr.steps.push_back({op});
    return expr;
  }

  // The variant is there. One without a value stands for all others.
  LocExpr chooses(const Variant& variant, const std::vector<Variant>& all) const {
    if (variant.value) {
      return is(*variant.value, LocStep::Eq);
    }
    LocExpr none{{{LocStep::PushConst, 1}}};
    for (const Variant& other : all) {
      if (other.value) {
        append(none, is(*other.value, LocStep::Ne));
        none.steps.push_back({LocStep::And});
      }
    }
    return none;
  }
};

std::optional<Chooser> chooser_of(Navigator at, const Member& discriminant) {
  Chooser chooser;
  if (at.enter(discriminant) || at.settle() || !at.type()) {
    return std::nullopt;
  }
  const TargetAnswer word = at.word(chooser.scalar);
  if (!std::holds_alternative<LocExpr>(word)) {
    return std::nullopt;
  }
  chooser.word = std::get<LocExpr>(word);
  return chooser;
}

}  // namespace

bool TextWriter::variants(const Navigator& at, int depth) {
  Navigator here = at;
  std::optional<Member> discriminant;
  const std::vector<Variant> all = variants_of(&*here.type(), discriminant);
  const std::optional<Chooser> chooser =
      discriminant ? chooser_of(at, *discriminant) : std::nullopt;
  if (all.empty() || (!chooser && all.size() > 1)) {
    return false;
  }
  for (const Variant& variant : all) {
    const size_t opened = chooser ? open_if(chooser->chooses(variant, all)) : 0;
    Dwarf_Die die = variant.member.die;
    literal(die_name(&die));
    Navigator inner = at;
    const bool there = !inner.enter(variant.member) && !inner.settle() && inner.type();
    if (there && !all_members(&*inner.type(), at.index()).empty()) {
      value(std::move(inner), depth, false);
    }
    if (chooser) {
      close_if(opened);
    }
  }
  return true;
}

void TextWriter::fortran_text(Navigator& at) {
  std::optional<LocExpr> length = at.string_length();
  const uint64_t bytes = number(&*at.type(), DW_AT_byte_size).value_or(0);
  if (at.spot().kind != Spot::Memory || (!length && bytes == 0)) {
    unknown();
    return;
  }
  TargetText::Item item;
  item.defined = true;
  item.as = TargetText::Item::As::Text;
  item.value = at.spot().expr;
  item.limit = length ? 0 : uint32_t(bytes);
  item.length = length.value_or(LocExpr());
  add(std::move(item));
}

}  // namespace dj
