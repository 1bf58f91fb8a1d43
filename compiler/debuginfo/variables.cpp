// SPDX-License-Identifier: Apache-2.0
// Finds variables by scope and reads their location attributes.
#include "compiler/debuginfo/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "arch/x86_64/registers.h"
#include "compiler/debuginfo/arguments.h"
#include "compiler/debuginfo/convention.h"
#include "compiler/debuginfo/languages.h"
#include "compiler/debuginfo/location_lists.h"
#include "compiler/debuginfo/passed.h"
#include "compiler/debuginfo/pattern.h"
#include "compiler/debuginfo/rust_passing.h"
#include "compiler/debuginfo/silent_changes.h"
#include "compiler/debuginfo/symbols.h"
#include "compiler/debuginfo/tls.h"
#include "compiler/debuginfo/types.h"

namespace dj {

namespace {

// A copy of a function may not mention what was optimized out of it: its own variables all the
// same, which hide those of one name in the function that it was inlined into. out[begin..]:
// mentioned.
void add_forgotten(Dwarf_Die* origin, size_t begin, bool outermost,
                   std::vector<ScopedVariable>& out) {
  const size_t end = out.size();
  for (Dwarf_Die& child : children(origin)) {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_formal_parameter && tag != DW_TAG_variable) {
      continue;
    }
    std::string name = die_name(&child);
    const bool known =
        std::any_of(out.begin() + std::ptrdiff_t(begin), out.begin() + std::ptrdiff_t(end),
                    [&](const ScopedVariable& v) { return v.name == name; });
    if (!name.empty() && !known) {
      out.push_back({child, std::move(name), tag == DW_TAG_formal_parameter && outermost});
    }
  }
}

// A copy of a function mentions its parameters in any order: the function itself knows theirs.
void order_as_declared(Dwarf_Die* function, std::vector<ScopedVariable>& variables) {
  std::optional<Dwarf_Die> origin = referred(function, DW_AT_abstract_origin);
  std::vector<std::string> names;
  for (Dwarf_Die& child : origin ? children(&*origin) : std::vector<Dwarf_Die>()) {
    if (dwarf_tag(&child) == DW_TAG_formal_parameter) {
      names.push_back(die_name(&child));
    }
  }
  auto rank = [&](const ScopedVariable& v) {
    return v.parameter ? std::find(names.begin(), names.end(), v.name) - names.begin()
                       : std::ptrdiff_t(names.size());
  };
  if (!names.empty()) {
    std::stable_sort(variables.begin(), variables.end(),
                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  }
}

void collect_scope(Dwarf_Die* scope, bool outermost, const ProbePlace& place, DwarfIndex& index,
                   std::vector<ScopedVariable>& out) {
  std::vector<Dwarf_Die> inner;
  const size_t begin = out.size();
  for (Dwarf_Die& child : children(scope)) {
    switch (dwarf_tag(&child)) {
      case DW_TAG_formal_parameter:
      case DW_TAG_constant:  // Fortran's "parameter"
      case DW_TAG_variable: {
        if (flag(&child, DW_AT_artificial) && is_ada(&child)) break;  // bounds, and copies
        const bool parameter = dwarf_tag(&child) == DW_TAG_formal_parameter;
        std::string name = die_name(&child);
        if (!name.empty()) {
          out.push_back({child, std::move(name), parameter && outermost});
        }
        break;
      }
      case DW_TAG_common_block:  // Fortran's: its variables are the procedure's
        collect_scope(&child, false, place, index, out);
        break;
      case DW_TAG_inlined_subroutine:
        // At its entry nothing of the function has run, not even what was inlined first.
        if (!place.at_entry && place.scope == 0 && index.covers(&child, place.pc)) {
          inner.push_back(child);
        }
        break;
      case DW_TAG_lexical_block:
        if (index.covers(&child, place.pc)) {
          inner.push_back(child);
        }
        break;
      default:
        break;
    }
  }
  if (std::optional<Dwarf_Die> origin = referred(scope, DW_AT_abstract_origin)) {
    add_forgotten(&*origin, begin, outermost, out);
  }
  for (Dwarf_Die& block : inner) {
    collect_scope(&block, false, place, index, out);
  }
}

// From here on, counted from a frame's base (the canonical frame address, or where rbp points),
// lies what the caller has put onto the stack.
constexpr int64_t kAboveFrame = 16;

Result<ValueLocation> constant_value(Dwarf_Attribute* attr) {
  Dwarf_Block block;
  if (std::optional<int64_t> value = signed_number(attr)) {
    return constant_location(reinterpret_cast<const unsigned char*>(&*value), sizeof *value);
  }
  if (dwarf_formblock(attr, &block) == 0 && block.length > 0) {
    return constant_location(block.data, block.length);
  }
  if (const char* text = dwarf_formstring(attr)) {
    return constant_location(reinterpret_cast<const unsigned char*>(text), std::strlen(text) + 1);
  }
  return Error{"its constant cannot be read"};
}

// Whether a plain expression of a parameter already holds before the first instruction: it does
// when it names a register of arguments, or counts from one, or names no register at all.
bool holds_at_entry(std::span<const Dwarf_Op> ops, Convention convention) {
  if (ops.empty()) {
    return true;
  }
  const uint8_t atom = ops[0].atom;
  auto is_passed = [&](int reg) {
    const auto& regs = arch::kArgumentRegs;
    const bool windows = convention == Convention::Windows;
    return std::find(std::begin(regs) + (windows ? 2 : 0), std::end(regs), reg) != std::end(regs);
  };
  if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
    return is_passed(atom - DW_OP_reg0) || atom - DW_OP_reg0 >= arch::kRegCount;
  }
  const bool based = atom >= DW_OP_breg0 && atom <= DW_OP_breg31;  // on what the caller passed?
  // For gcc's ms_abi functions it names registers into which the prologue copies the address.
  const bool trusted = convention == Convention::SystemV && is_passed(atom - DW_OP_breg0);
  return atom != DW_OP_fbreg && (!based || trusted);
}

// A library's variable may have a copy in the program (R_X86_64_COPY), or another object's goes
// before it: the library's own code then asks the word that the loader has filled.
std::optional<ValueLocation> moved_by_loader(ScopedVariable& variable, DwarfIndex& index) {
  if (index.elf().is_program()) {
    return std::nullopt;
  }
  Result<LocExpr> address = foreign_address(index.elf(), linkage_name(&variable.die));
  return address.ok() ? std::optional(ValueLocation{address.take()}) : std::nullopt;
}

uint64_t type_bytes(ScopedVariable& variable, DwarfIndex& index) {
  TypeDie type = strip_type(type_of(&variable.die), index);
  return type ? type_size(&*type) : 0;
}

// Bytes of a value up to the end of its last member: what is behind that nobody fills, and location
// lists often leave it out.
uint64_t bytes_to_last(TypeDie type, DwarfIndex& index, int depth = 0) {
  type = strip_type(type, index);
  if (!type || depth > 16 || !is_struct(&*type)) {
    return type ? type_size(&*type) : 0;
  }
  uint64_t bytes = 0;
  for (Dwarf_Die& child : children(&*type)) {
    const int tag = dwarf_tag(&child);
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || flag(&child, DW_AT_external)) {
      continue;
    }
    const Member member = direct_member(child);
    const uint64_t end = member.bit_size
                             ? (member.bit_offset + *member.bit_size + 7) / 8
                             : member.offset + bytes_to_last(type_of(&child), index, depth + 1);
    bytes = std::max(bytes, end);
  }
  return bytes > 0 ? bytes : type_size(&*type);
}

// No part of it is missing.
bool is_whole(const ValueLocation& value_at, ScopedVariable& variable, DwarfIndex& index) {
  if (value_at.kind != ValueLocation::Pieces) {
    return true;
  }
  const uint64_t bytes = bytes_to_last(type_of(&variable.die), index);
  return bytes > 0 && value_at.pieces.back().end() >= bytes &&
         std::all_of(value_at.pieces.begin(), value_at.pieces.end(),
                     [](const LocationPiece& piece) { return piece.known; });
}

Result<ValueLocation> unlocated(ScopedVariable& variable, DwarfIndex& index) {
  // "extern int x": the definition is in another unit, and the linker knows where.
  if (flag(&variable.die, DW_AT_external)) {
    if (uint64_t address = find_data_symbol(index.elf(), linkage_name(&variable.die))) {
      ValueLocation value_at;
      value_at.expr.steps = {
          {LocStep::PushConst, int64_t(address)}, {LocStep::PushBias}, {LocStep::Add}};
      return value_at;
    }
    ValueLocation value_at;
    DJ_TRY(value_at.expr, foreign_address(index.elf(), linkage_name(&variable.die)));
    return value_at;
  }
  return Error{"it was optimized out"};
}

}  // namespace

std::vector<ScopedVariable> variables_in_scope(Dwarf_Die* function, const ProbePlace& place,
                                               DwarfIndex& index) {
  std::vector<ScopedVariable> result;
  std::optional<Dwarf_Die> copy;
  if (place.scope != 0) {
    copy = index.marked(place.scope);
    function = copy ? &*copy : function;
  }
  collect_scope(function, true, place, index, result);
  order_as_declared(function, result);
  return result;
}

namespace {

// A parameter before it has gone, as the compiler may decide of a local function: what comes behind
// may have moved.
bool may_have_moved(ScopedVariable& variable, const OpContext& context, const ProbePlace& place) {
  if (context.index.is_global_function(place.function_begin)) {
    return false;
  }
  for (Dwarf_Die& child : children(context.function)) {
    if (identity(child) == identity(variable.die)) {
      return false;
    }
    if (dwarf_tag(&child) == DW_TAG_formal_parameter && !attribute(&child, DW_AT_location)) {
      return true;
    }
  }
  return false;
}

Error changed_call() {
  return Error{"the compiler has changed how this function is called; a line of it knows it"};
}

// A parameter at the function's entry whose one location holds only behind the prologue: where the
// caller has put it.
Result<ValueLocation> before_prologue(ScopedVariable& variable, std::span<Dwarf_Op> ops,
                                      const OpContext& context, const ProbePlace& place) {
  if (place.is_clone) {
    return Error{"it was optimized out of this copy of the function"};
  }
  if (is_called_otherwise(context.function) ||  // by clang: takes out parameters, or their pointers
      may_have_moved(variable, context, place)) {
    return changed_call();
  }
  const bool is_stacked =  // the place holds the parameter, not its address
      convention_of(context.function, context.index) == Convention::SystemV &&
      !may_be_address(context.function, &variable.die, context.index);
  if (ops[0].atom == DW_OP_fbreg && int64_t(ops[0].number) >= kAboveFrame && is_stacked) {
    Result<ValueLocation> passed = translate(ops, context);
    if (passed.ok()) return passed;
  }
  if (ops.size() == 1 && is_stacked) {
    if (std::optional<ValueLocation> slot =
            stack_parameter(ops[0], context.function, context.index)) {
      return std::move(*slot);
    }
  }
  if (may_be_changed_silently(context.function, context.index)) return changed_call();
  return argument_at_entry(context.function, &variable.die, context.index);
}

}  // namespace

Result<ValueLocation> locate(ScopedVariable& variable, Dwarf_Die* function, const ProbePlace& place,
                             DwarfIndex& index) {
  if (std::optional<Dwarf_Attribute> constant = attribute(&variable.die, DW_AT_const_value)) {
    return constant_value(&*constant);
  }
  std::optional<Dwarf_Attribute> location = attribute(&variable.die, DW_AT_location);
  if (!location) {
    return unlocated(variable, index);
  }
  const uint64_t pc = place.at_entry ? place.function_begin : place.pc;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  const int found = location_at(&*location, pc - index.bias(), &ops, &count);
  const bool listed =
      place.at_entry && place.scope == 0 && variable.parameter && is_list(&*location);
  auto passed = [&] {
    return listed ? passed_parameter(function, &variable.die, &*location, place.is_clone, index)
                  : std::nullopt;
  };
  if (found < 1) {
    std::optional<ValueLocation> value_at = passed();
    if (!value_at && found < 0) {  // gcc's DW_OP_GNU_uninit, among others
      return Error{std::string("elfutils cannot read its location: ") + dwarf_errmsg(-1),
                   Fail::Unsupported};
    }
    return value_at ? Result<ValueLocation>(std::move(*value_at))
                    : Error{"it has no location here"};
  }
  OpContext context{index, function, &*location, pc, place.at_entry, 0, &variable.die};
  const bool early = place.at_entry && variable.parameter && !is_list(&*location);
  if (early && !holds_at_entry({ops, count}, convention_of(function, index))) {
    return before_prologue(variable, {ops, count}, context, place);
  }
  if (count == 1 && ops[0].atom == DW_OP_addr && flag(&variable.die, DW_AT_external)) {
    if (std::optional<ValueLocation> moved = moved_by_loader(variable, index)) {
      return *moved;
    }
  }
  if (count == 1 && may_be_address_at(function, &variable.die, ops[0], index)) {
    return Error{"the compiler does not say whether its address lies there, or it itself"};
  }
  Result<ValueLocation> there = translate({ops, count}, context);
  if (listed && (!there.ok() || !is_whole(there.value(), variable, index))) {
    if (std::optional<ValueLocation> value_at = passed()) {
      return std::move(*value_at);
    }
  }
  DJ_TRY(ValueLocation value_at, std::move(there));
  if (arch::is_x87(value_at.reg) && type_bytes(variable, index) != kExtendedBytes) {
    value_at.expr = rounded_from_x87(value_at.reg, type_bytes(variable, index) == sizeof(float));
    value_at.reg = -1;
  }
  if (place.at_entry && !variable.parameter) {
    value_at.in_frame = false;  // its slot may lie below the stack that exists so far
  }
  return value_at;
}

namespace {

// The value can be had inside the function: it is not one that only the caller knows.
bool is_in_function(const Dwarf_Op* ops, size_t count) {
  return std::none_of(ops, ops + count, [](const Dwarf_Op& op) {
    return op.atom == DW_OP_GNU_parameter_ref || op.atom == DW_OP_entry_value ||
           op.atom == DW_OP_GNU_entry_value;
  });
}

}  // namespace

std::string live_ranges(ScopedVariable& variable, const ProbePlace& place, DwarfIndex& index) {
  std::optional<Dwarf_Attribute> location = attribute(&variable.die, DW_AT_location);
  if (!location || !is_list(&*location)) {
    return {};
  }
  std::vector<std::pair<uint64_t, uint64_t>> ranges;  // those that touch are one
  for (LocationWalk entry(&*location); entry.next();) {
    if (entry.count == 0 || entry.begin >= entry.end || !is_in_function(entry.ops, entry.count)) {
      continue;
    }
    if (!ranges.empty() && ranges.back().second == entry.begin) {
      ranges.back().second = entry.end;
    } else {
      ranges.emplace_back(entry.begin, entry.end);
    }
  }
  const uint64_t zero = place.function_begin - index.bias();
  std::string text;
  for (size_t i = 0; i < ranges.size(); i++) {
    if (i == 4) {
      return text + ", ...";
    }
    text += fmt::format("{}+{:#x}..+{:#x}", i == 0 ? "" : ", ", ranges[i].first - zero,
                        ranges[i].second - zero);
  }
  return text;
}

}  // namespace dj
