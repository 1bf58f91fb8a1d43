// Follows a target expression through C types, and writes $$parms and its like.
#include "compiler/debuginfo/targets.h"

#include <fmt/format.h>

#include "compiler/debuginfo/arguments.h"
#include "compiler/debuginfo/types.h"
#include "compiler/debuginfo/variables.h"

namespace dj {

namespace {

using Kind = TargetFailure::Kind;
using As = TargetText::Item::As;

TargetFailure failure(Kind kind, int step, std::string message) {
  TargetFailure f;
  f.kind = kind;
  f.step = step;
  f.message = std::move(message);
  return f;
}

// Navigator: the place reached so far and its type.
class Navigator {
 public:
  Navigator(Spot spot, TypeDie type, std::string text, DwarfIndex& index)
      : index_(index), spot_(std::move(spot)), type_(type), text_(std::move(text)) {}

  std::optional<TargetFailure> field(const TargetStep& step, int number) {
    settle();
    while (type_ && is_pointer(&*type_)) {
      follow();
      settle();
    }
    if (!type_ || !is_struct(&*type_)) {
      return failure(Kind::BadUse, number,
                     fmt::format("{} is {}, which has no members", text_, type_name(type_)));
    }
    if (spot_.kind == Spot::Value) {
      return failure(Kind::NotBuilt, number,
                     text_ + " is in a register, and taking it apart is not built yet");
    }
    std::optional<Member> member = find_member(&*type_, step.field, index_);
    if (!member) {
      return unknown_member(step, number);
    }
    bits_ = member->bit_size;
    bit_offset_ = member->bit_offset;
    if (!bits_) {
      add_constant(spot_.expr, int64_t(member->offset));
    }
    type_ = type_of(&member->die);
    text_ += "->" + step.field;
    dimension_ = 0;
    return std::nullopt;
  }

  std::optional<TargetFailure> element(const TargetStep& step, int number, int argument) {
    settle();
    int64_t stride = 1;
    if (type_ && is_array(&*type_)) {
      const Subscript s = subscript(&*type_, dimension_, index_);
      stride = int64_t(s.stride);
      dimension_ = s.dimension;
      if (!s.more) {
        type_ = type_of(&*type_);
        dimension_ = 0;
      }
      spot_.in_frame = false;  // nobody checks the subscript
    } else if (type_ && is_pointer(&*type_)) {
      follow();
      TypeDie target = strip_type(type_, index_);
      stride = target ? int64_t(type_size(&*target)) : 1;
    } else {
      return failure(Kind::BadUse, number,
                     fmt::format("{} is {}, which has no elements", text_, type_name(type_)));
    }
    if (spot_.kind == Spot::Value) {
      return failure(Kind::NotBuilt, number, text_ + " is not in memory");
    }
    if (step.kind == TargetStep::ConstElement) {
      add_constant(spot_.expr, step.index * stride);
      text_ += fmt::format("[{}]", step.index);
    } else {
      spot_.expr.steps.push_back({LocStep::PushArg, argument});
      spot_.expr.steps.push_back({LocStep::PushConst, stride});
      spot_.expr.steps.push_back({LocStep::Mul});
      spot_.expr.steps.push_back({LocStep::Add});
      text_ += "[...]";
    }
    return std::nullopt;
  }

  TargetAnswer address() {
    settle();
    if (bits_) {
      return failure(Kind::BadUse, -1, text_ + " is a bit-field, which has no address");
    }
    if (spot_.kind == Spot::Value) {
      return failure(Kind::BadUse, -1, text_ + " is in a register here, so it has no address");
    }
    return spot_.expr;
  }

  // The word a script sees; `as` says how text forms show it.
  TargetAnswer value(As* as = nullptr) {
    settle();
    As ignored;
    As& shown = as ? *as : ignored;
    shown = As::Hex;
    if (!type_) {
      return failure(Kind::BadUse, -1, text_ + " is void");
    }
    if (is_array(&*type_) && spot_.kind == Spot::Memory) {
      return spot_.expr;
    }
    if (is_struct(&*type_)) {
      return whole_struct();
    }
    std::optional<Scalar> scalar = scalar_of(&*type_);
    if (!scalar) {
      return failure(Kind::BadUse, -1,
                     fmt::format("{} is {}, which is not a number", text_, type_name(type_)));
    }
    if (scalar->floating || scalar->size > 8) {
      return failure(
          Kind::NotBuilt, -1,
          fmt::format("{} is {}, and reading those is not built yet", text_, type_name(type_)));
    }
    shown = scalar->as;
    if (bits_) {
      return bit_field(scalar->is_signed);
    }
    return load(spot_, scalar->size, scalar->is_signed);
  }

  bool is_struct_in_memory() {
    settle();
    return type_ && is_struct(&*type_) && spot_.kind == Spot::Memory;
  }
  const LocExpr& place() const { return spot_.expr; }

 private:
  // Strips qualifiers and steps through references, which mean what they refer to.
  void settle() {
    type_ = strip_type(type_, index_);
    while (type_ && is_reference(&*type_)) {
      follow();
      type_ = strip_type(type_, index_);
    }
  }

  // The place becomes what its pointer or reference points to.
  void follow() {
    spot_.expr = load(spot_, 8, false);
    spot_.kind = Spot::Memory;
    spot_.in_frame = false;
    spot_.reg = -1;
    bits_.reset();
    dimension_ = 0;
    type_ = type_of(&*type_);
  }

  TargetFailure unknown_member(const TargetStep& step, int number) {
    TargetFailure f = failure(Kind::UnknownField, number,
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
      f.notes.push_back(text + "}" + (where.empty() ? "" : ", declared at " + where));
    }
    return f;
  }

  TargetFailure whole_struct() {
    TargetFailure f = failure(
        Kind::BadUse, -1, fmt::format("{} is a whole {}, not a number", text_, type_name(type_)));
    std::vector<std::string> names;
    for (const std::string& line : list_members(&*type_, names)) {
      f.notes.push_back("member " + line);
    }
    const std::string first = names.empty() ? "member" : names[0];
    f.help = fmt::format("choose a member ({}->{}) or take its address (&{})", text_, first, text_);
    return f;
  }

  // Reads the smallest aligned word that holds all bits, then cuts them out.
  TargetAnswer bit_field(bool is_signed) {
    for (uint64_t bytes : {1, 2, 4, 8}) {
      const uint64_t unit = bit_offset_ / 8 / bytes * bytes;
      if (bit_offset_ + *bits_ > (unit + bytes) * 8) {
        continue;
      }
      Spot word = spot_;
      add_constant(word.expr, int64_t(unit));
      LocExpr expr = load(word, uint8_t(bytes), false);
      expr.steps.push_back(
          {LocStep::Extract, int64_t(bit_offset_ - unit * 8), int64_t(*bits_), is_signed});
      return expr;
    }
    return failure(Kind::NotBuilt, -1,
                   text_ + " crosses 8 bytes, and reading that is not built yet");
  }

  DwarfIndex& index_;
  Spot spot_;
  TypeDie type_;
  std::string text_;  // what was written so far, for messages
  unsigned dimension_ = 0;
  std::optional<uint64_t> bits_;
  uint64_t bit_offset_ = 0;
};

std::variant<Navigator, TargetFailure> start_at_return(Dwarf_Die* function, const ProbePlace& place,
                                                       DwarfIndex& index) {
  if (!place.at_return) {
    return failure(Kind::BadUse, -1, "$return is known only in .return probes");
  }
  TypeDie type = type_of(function);
  if (!type) {
    return failure(Kind::BadUse, -1, die_name(function) + "() returns nothing");
  }
  Spot spot;
  spot.expr.steps.push_back({LocStep::PushReg, 0});
  spot.kind = Spot::Value;
  TypeDie stripped = strip_type(type, index);
  if (stripped && (is_struct(&*stripped) || is_array(&*stripped))) {
    if (!returned_in_memory(function, index)) {
      return failure(Kind::NotBuilt, -1,
                     fmt::format("$return is {} in registers, and taking it apart is not built yet",
                                 type_name(type)));
    }
    spot.kind = Spot::Memory;
  }
  return Navigator(std::move(spot), type, "$return", index);
}

TargetFailure unknown_variable(Dwarf_Die* function, const ProbePlace& place,
                               const std::string& name, DwarfIndex& index) {
  TargetFailure f = failure(Kind::UnknownName, -1,
                            fmt::format("no variable \"{}\" in {}()", name, die_name(function)));
  std::string line;
  for (ScopedVariable& v : variables_in_scope(function, place, index)) {
    f.known.push_back(v.name);
    line += fmt::format("{}${}: {}", line.empty() ? "" : ", ", v.name, type_name(type_of(&v.die)));
    if (!locate(v, function, place, index).ok()) {
      line += " (not here)";
    }
  }
  const std::string where = declared_at(function);
  f.notes.push_back(line.empty() ? "no variables are in scope here" : "in scope: " + line);
  if (!where.empty()) {
    f.notes.push_back(die_name(function) + "() is declared at " + where);
  }
  for (std::string& global : unit_variables(function)) {
    f.known.push_back(std::move(global));
  }
  return f;
}

std::variant<Navigator, TargetFailure> start(Dwarf_Die* function, const ProbePlace& place,
                                             const std::string& name, DwarfIndex& index) {
  if (name == "return") {
    return start_at_return(function, place, index);
  }
  std::optional<ScopedVariable> variable = find_variable(name, function, place, index);
  if (!variable) {
    return unknown_variable(function, place, name, index);
  }
  Result<Spot> spot = locate(*variable, function, place, index);
  if (!spot.ok()) {
    const Kind kind = spot.error().kind == Fail::Unsupported ? Kind::NotBuilt : Kind::NotHere;
    TargetFailure f =
        failure(kind, -1, fmt::format("${} cannot be read here: {}", name, spot.error().message));
    const std::string ranges = live_ranges(*variable, place, index);
    if (!ranges.empty()) {
      f.notes.push_back(
          fmt::format("${} has a location in {}() at {}", name, die_name(function), ranges));
    }
    return f;
  }
  return Navigator(spot.take(), type_of(&variable->die), "$" + name, index);
}

}  // namespace

TargetAnswer resolve_target(Dwarf_Die* function, const ProbePlace& place, const TargetExpr& expr,
                            DwarfIndex& index) {
  auto begun = start(function, place, expr.name, index);
  if (auto* f = std::get_if<TargetFailure>(&begun)) {
    return *f;
  }
  Navigator& at = std::get<Navigator>(begun);
  int argument = 0;
  for (size_t i = 0; i < expr.path.size(); i++) {
    const TargetStep& step = expr.path[i];
    std::optional<TargetFailure> failed = step.kind == TargetStep::Field
                                              ? at.field(step, int(i))
                                              : at.element(step, int(i), argument);
    argument += step.kind == TargetStep::ArgElement;
    if (failed) {
      return *failed;
    }
  }
  return expr.address_of ? at.address() : at.value();
}

TextAnswer resolve_text(Dwarf_Die* function, const ProbePlace& place, const std::string& name,
                        DwarfIndex& index) {
  std::vector<std::string> names;
  if (name == "$return") {
    if (!place.at_return) {
      return failure(Kind::BadUse, -1, "$$return is known only in .return probes");
    }
    if (type_of(function)) {
      names.push_back("return");
    }
  } else {
    for (const ScopedVariable& v : variables_in_scope(function, place, index)) {
      if (name == "$vars" || (name == "$parms") == v.parameter) {
        names.push_back(v.name);
      }
    }
  }
  TargetText text;
  for (const std::string& n : names) {
    TargetText::Item item;
    item.name = n;
    auto begun = start(function, place, n, index);
    if (auto* at = std::get_if<Navigator>(&begun)) {
      if (at->is_struct_in_memory()) {
        item.defined = true;
        item.as = As::Hex;
        item.value = at->place();
      } else {
        TargetAnswer answer = at->value(&item.as);
        if (auto* value = std::get_if<LocExpr>(&answer)) {
          item.defined = true;
          item.value = *value;
        }
      }
    }
    text.items.push_back(std::move(item));
  }
  return text;
}

}  // namespace dj
