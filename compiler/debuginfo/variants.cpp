// SPDX-License-Identifier: Apache-2.0
// Texts of what C has not: Rust's enums, of which one variant is there, and Fortran's strings.
#include "compiler/debuginfo/languages.h"
#include "compiler/debuginfo/pretty.h"

namespace dj {

namespace {

void append(LocExpr& expr, const LocExpr& other) {
  expr.steps.insert(expr.steps.end(), other.steps.begin(), other.steps.end());
}

int64_t leb128(const Dwarf_Block& block, size_t& at, bool is_signed) {
  uint64_t value = 0;
  unsigned shift = 0;
  while (at < block.length) {
    const uint8_t byte = block.data[at++];
    if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
    shift += 7;
    if ((byte & 0x80) != 0) continue;
    if (is_signed && (byte & 0x40) != 0 && shift < 64) value |= ~uint64_t{0} << shift;
    break;
  }
  return int64_t(value);
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
  if (is_ada(&*here.type())) return false;
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

namespace {

// Where the discriminant's word is one that chooses the variant, by value or by a list of ranges.
// None: it is the variant of all other words.
std::optional<LocExpr> chosen_by(Dwarf_Die* variant, const Chooser& chooser) {
  std::optional<Dwarf_Attribute> value = attribute(variant, DW_AT_discr_value);
  Dwarf_Sword number = 0;
  if (value && dwarf_formsdata(&*value, &number) == 0) return chooser.is(number, LocStep::Eq);
  std::optional<Dwarf_Attribute> list = attribute(variant, DW_AT_discr_list);
  Dwarf_Block block;
  if (!list || dwarf_formblock(&*list, &block) != 0) return std::nullopt;
  LocExpr any{{{LocStep::PushConst, 0}}};
  size_t at = 0;
  while (at < block.length) {
    const bool is_range = block.data[at++] == DW_DSC_range;
    const int64_t first = leb128(block, at, chooser.scalar.is_signed);
    const int64_t last = is_range ? leb128(block, at, chooser.scalar.is_signed) : first;
    append(any, chooser.is(first, LocStep::Ge));
    append(any, chooser.is(last, LocStep::Le));
    any.steps.push_back({LocStep::And});
    any.steps.push_back({LocStep::Or});
  }
  return any;
}

}  // namespace

void TextWriter::variant_members(const Navigator& at, Dwarf_Die* owner, int depth) {
  for (Dwarf_Die& part : children(owner)) {
    std::optional<Dwarf_Die> discr =
        dwarf_tag(&part) == DW_TAG_variant_part ? referred(&part, DW_AT_discr) : std::nullopt;
    const std::optional<Chooser> chooser =
        discr ? chooser_of(at, direct_member(*discr)) : std::nullopt;
    if (!chooser) continue;
    LocExpr others{{{LocStep::PushConst, 1}}};
    for (Dwarf_Die& variant : children(&part)) {
      std::optional<LocExpr> chosen = chosen_by(&variant, *chooser);
      if (chosen) {
        append(others, *chosen);
        for (const LocStep& step :
             {LocStep{LocStep::PushConst, 0}, LocStep{LocStep::Eq}, LocStep{LocStep::And}})
          others.steps.push_back(step);
      }
    }
    for (Dwarf_Die& variant : children(&part)) {
      if (dwarf_tag(&variant) != DW_TAG_variant || dwarf_haschildren(&variant) <= 0) continue;
      const size_t opened = open_if(chosen_by(&variant, *chooser).value_or(others));
      for (Dwarf_Die& child : children(&variant)) {
        if (dwarf_tag(&child) != DW_TAG_member) continue;
        literal(", ." + die_name(&child) + "=");
        Navigator inner = at;
        if (inner.enter(direct_member(child))) {
          unknown();
        } else {
          value(std::move(inner), depth, false);
        }
      }
      variant_members(at, &variant, depth);
      close_if(opened);
    }
  }
}

void TextWriter::fortran_text(Navigator& at) {
  std::optional<LocExpr> length = at.string_length();
  const uint64_t bytes = number(&*at.type(), DW_AT_byte_size).value_or(0);
  if (at.value_at().kind != ValueLocation::Memory || (!length && bytes == 0)) {
    unknown();
    return;
  }
  TargetText::Item item;
  item.defined = true;
  item.as = TargetText::Item::As::Text;
  item.value = at.value_at().expr;
  item.limit = length ? 0 : uint32_t(bytes);
  item.length = length.value_or(LocExpr());
  add(std::move(item));
}

}  // namespace dj
