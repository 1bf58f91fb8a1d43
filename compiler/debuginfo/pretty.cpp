// SPDX-License-Identifier: Apache-2.0
// Writes structs, arrays and strings the way SystemTap's $x$ does: {.x=1, .name="abc", .in={...}}.
#include "compiler/debuginfo/pretty.h"

#include <algorithm>

#include "compiler/debuginfo/languages.h"
#include "compiler/debuginfo/struct_name.h"

namespace dj {

namespace {

using Item = TargetText::Item;
using As = Item::As;

constexpr size_t kMaxItems = 64;      // values of one text; each costs a read in the program
constexpr size_t kMaxVisited = 4096;  // places of one text, also of those that cannot be read
constexpr int64_t kMaxElements = 8;   // of an array

bool is_character(TypeDie type, DwarfIndex& index) {
  type = strip_type(type, index);
  if (!type || dwarf_tag(&*type) != DW_TAG_base_type || type_size(&*type) != 1) {
    return false;
  }
  const uint64_t encoding = number(&*type, DW_AT_encoding).value_or(0);
  return encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char ||
         encoding == DW_ATE_UTF;
}

}  // namespace

LocExpr compared(LocExpr left, LocStep::Op op, int64_t right) {
  left.steps.push_back({LocStep::PushConst, right});
  left.steps.push_back({op});
  return left;
}

bool TextWriter::full() const {
  return values_ >= kMaxItems || visited_ >= kMaxVisited || text_.items.size() >= 4 * kMaxItems;
}

void TextWriter::add(Item item) {
  item.before = std::move(before_);
  before_.clear();
  values_ += item.as != As::If && item.as != As::Nothing;
  text_.items.push_back(std::move(item));
}

void TextWriter::unknown() { add({}); }

size_t TextWriter::open_if(LocExpr condition) {
  Item item;
  item.defined = true;
  item.as = As::If;
  item.value = std::move(condition);
  add(std::move(item));
  return text_.items.size() - 1;
}

void TextWriter::close_if(size_t opened) {
  if (!before_.empty()) {
    Item rest;
    rest.as = As::Nothing;
    add(std::move(rest));
  }
  text_.items[opened].limit = uint32_t(text_.items.size() - opened - 1);
}

TargetText TextWriter::finish() {
  text_.after = std::move(before_);
  return std::move(text_);
}

void TextWriter::plain(Navigator at) {
  if (at.settle()) {
    unknown();
  } else if (at.type() && (is_struct(&*at.type()) || is_array(&*at.type())) &&
             at.value_at().kind == ValueLocation::Memory) {
    Item item;
    item.defined = true;
    item.as = As::Hex;
    item.value = at.value_at().expr;
    add(std::move(item));
  } else if (at.type() && is_string(&*at.type())) {
    fortran_text(at);
  } else if (at.type() && is_array(&*at.type())) {  // in a register: a vector
    array(at, 0);
  } else {
    scalar(at, false, true);
  }
}

void TextWriter::value(Navigator at, int depth, bool outermost) {
  ++visited_;
  if (full()) {
    literal("...");
    return;
  }
  if (at.settle() || !at.type()) {
    unknown();
  } else if (is_struct(&*at.type())) {
    if (printed(at, depth) || cpp_text(at) || variants(at, depth)) {
      return;
    }
    if (depth > 0) {
      structure(at, depth - 1);
    } else {
      literal("{...}");
    }
  } else if (is_array(&*at.type())) {
    if (outermost || depth > 0) {
      array(at, depth);
    } else if (!characters(at)) {
      literal("[...]");
    }
  } else if (is_pointer(&*at.type())) {
    pointer(std::move(at), depth, outermost);
  } else if (is_string(&*at.type())) {
    fortran_text(at);
  } else {
    scalar(at, true);
  }
}

void TextWriter::structure(const Navigator& at, int depth) {
  Navigator here = at;
  literal("{");
  bool first = true;
  for (const Member& member : all_members(&*here.type(), at.index())) {
    Dwarf_Die die = member.die;
    const std::string name = die_name(&die);
    if (name.starts_with("_vptr")) {
      continue;
    }
    literal((first ? "." : ", .") + name + "=");
    first = false;
    if (full()) {
      literal("...");
      break;
    }
    Navigator inner = at;
    if (inner.enter(member)) {
      unknown();
    } else {
      value(std::move(inner), depth, false);
    }
  }
  if (is_ada(&*here.type())) variant_members(at, &*here.type(), depth);
  literal("}");
}

void TextWriter::array(const Navigator& at, int depth) {
  if (characters(at)) {
    return;
  }
  Navigator here = at;
  const int64_t count = int64_t(element_count(&*here.type(), at.dimension()));
  std::optional<LocExpr> computed = count == 0 ? here.run_time_count() : std::nullopt;
  auto element = [&](int64_t i) {
    literal(i > 0 ? ", " : "");
    Navigator inner = at;
    if (inner.at(i)) {
      unknown();
    } else {
      value(std::move(inner), depth > 0 ? depth - 1 : 0, false);
    }
    return true;
  };
  literal("[");
  const int64_t most = computed ? kMaxElements : std::min(count, kMaxElements);
  int64_t i = 0;
  for (; i < most && !full(); i++) {
    if (computed) {
      when(compared(*computed, LocStep::Gt, i), [&] { return element(i); });
    } else {
      element(i);
    }
  }
  if (computed) {
    when(compared(*computed, LocStep::Gt, i), [&] {
      literal(", ...");
      return true;
    });
  } else if (count > i) {
    literal(", ...");
  }
  literal(count == 0 && !computed ? "...]" : "]");
}

// An array of characters is a string that ends with it at the latest.
bool TextWriter::characters(const Navigator& at) {
  Navigator here = at;
  if (!is_character(type_of(&*here.type()), at.index()) ||
      at.value_at().kind != ValueLocation::Memory) {
    return false;
  }
  Item item;
  item.defined = true;
  item.as = As::Text;
  item.value = at.value_at().expr;
  item.limit = uint32_t(element_count(&*here.type(), at.dimension()));
  if (item.limit == 0 && is_ada(&*here.type())) {  // no NUL ends it
    item.length = here.run_time_count().value_or(LocExpr());
  }
  add(std::move(item));
  return true;
}

// libstdc++'s std::string and std::string_view: a pointer and a length under known names. Strings
// of the old ABI (_GLIBCXX_USE_CXX11_ABI=0) are the pointer alone: the length is the first of three
// words before the text.
bool TextWriter::cpp_text(const Navigator& at) {
  constexpr int64_t kOldHeader = 24;  // bytes
  Navigator here = at;
  const std::string name = struct_name(&*here.type());
  const bool view = name.starts_with("basic_string_view<char,");
  if (!view && !name.starts_with("basic_string<char,")) {
    return false;
  }
  Navigator data = at, length = at;
  auto step = [](Navigator& n, const char* member) {
    return !n.field({TargetStep::Field, member, 0, {}}, 0).has_value();
  };
  const bool known = view ? step(data, "_M_str") : step(data, "_M_dataplus") && step(data, "_M_p");
  const bool is_old = !step(length, view ? "_M_len" : "_M_string_length");
  if (!known || (view && is_old)) {
    return false;
  }
  TargetAnswer address = data.value(), bytes = is_old ? address : length.value();
  if (auto* before = std::get_if<LocExpr>(&bytes); is_old && before) {
    for (const LocStep& each : {LocStep{LocStep::PushConst, -kOldHeader}, LocStep{LocStep::Add},
                                LocStep{LocStep::Deref, sizeof(uint64_t)}})
      before->steps.push_back(each);
  }
  if (!std::holds_alternative<LocExpr>(address) || !std::holds_alternative<LocExpr>(bytes)) {
    return false;
  }
  Item item;
  item.defined = true;
  item.as = As::Text;
  item.value = std::get<LocExpr>(address);
  item.length = std::get<LocExpr>(bytes);
  add(std::move(item));
  return true;
}

void TextWriter::pointer(Navigator at, int depth, bool outermost) {
  Navigator target = at;
  const bool there = !target.follow() && !target.settle() && target.type();
  if (there && is_character(target.type(), at.index())) {
    Scalar ignored;
    TargetAnswer address = at.word(ignored);
    if (auto* expr = std::get_if<LocExpr>(&address)) {
      Item item;
      item.defined = true;
      item.as = As::Text;
      item.value = *expr;
      add(std::move(item));
      return;
    }
  }
  if (there && is_string(&*target.type())) {
    return fortran_text(target);
  }
  if (there && !outermost && is_struct(&*target.type()) && printed(target, depth)) {
    return;
  }
  if (there && outermost && (is_struct(&*target.type()) || is_array(&*target.type()))) {
    value(std::move(target), depth, true);
    return;
  }
  scalar(at, true);
}

// Real and imaginary part, as gdb writes them: 1 + -2i.
void TextWriter::complex(Navigator& at, uint8_t half) {
  for (const uint8_t offset : {uint8_t(0), half}) {
    TargetAnswer part = half == 4 || half == 8             ? at.part(offset, half)
                        : is_extended_complex(&*at.type()) ? at.extended_as_double(offset)
                                                           : TargetFailure();
    Item item;
    item.as = half == 4 ? As::Float : As::Double;
    if (auto* expr = std::get_if<LocExpr>(&part)) {
      item.defined = true;
      item.value = std::move(*expr);
    }
    add(std::move(item));
    literal(offset == 0 ? " + " : "i");
  }
}

// An integer of 128 bits; false: it is none, or its value is not known.
bool TextWriter::wide(Navigator& at, const Scalar& scalar) {
  if (scalar.size != 16 || scalar.floating) {
    return false;
  }
  TargetAnswer low = at.part(0, 8), high = at.part(8, 8);
  if (!std::holds_alternative<LocExpr>(low) || !std::holds_alternative<LocExpr>(high)) {
    return false;
  }
  Item item;
  item.defined = true;
  item.as = scalar.is_signed ? As::Wide : As::WideUnsigned;
  item.value = std::get<LocExpr>(std::move(low));
  item.length = std::get<LocExpr>(std::move(high));
  add(std::move(item));
  return true;
}

void TextWriter::scalar(Navigator& at, bool with_names, bool hex) {
  const std::optional<Scalar> type = at.type() ? scalar_of(&*at.type()) : std::nullopt;
  if (type && number(&*at.type(), DW_AT_encoding) == uint64_t{DW_ATE_complex_float}) {
    return complex(at, uint8_t(type_size(&*at.type()) / 2));
  }
  if (type && wide(at, *type)) {
    return;
  }
  if (type && is_unit(&*at.type())) {
    return literal("()");
  }
  Item item;
  Scalar scalar;
  if (at.type()) {
    // value() makes a double of it
    const bool unusual = (type && type->floating && (type->size > 8 || type->size == 2)) ||
                         is_fixed_point(&*at.type());
    TargetAnswer answer = unusual ? at.value() : at.word(scalar);
    if (auto* expr = std::get_if<LocExpr>(&answer)) {
      item.defined = true;
      item.value = *expr;
    }
    item.as = unusual           ? As::Double
              : scalar.floating ? (scalar.size == 4 ? As::Float : As::Double)
              : hex             ? As::Hex
                                : scalar.as;
    if (with_names && dwarf_tag(&*at.type()) == DW_TAG_enumeration_type) {
      item.names = enumerators(&*at.type());
    } else if (with_names) {
      item.names = truth_names(&*at.type());
    }
    if (with_names && is_character(at.type(), at.index())) {
      item.as = As::Char;
    }
  }
  add(std::move(item));
}

}  // namespace dj
