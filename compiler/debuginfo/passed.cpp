// SPDX-License-Identifier: Apache-2.0
// Reads a parameter's location list for what it says of the time before its first range.
#include "compiler/debuginfo/passed.h"

#include <algorithm>
#include <vector>

#include "arch/x86_64/registers.h"
#include "compiler/debuginfo/arguments.h"
#include "compiler/debuginfo/convention.h"
#include "compiler/debuginfo/dwarf_ops.h"
#include "compiler/debuginfo/frame_places.h"
#include "compiler/debuginfo/location_lists.h"
#include "compiler/debuginfo/rust_passing.h"
#include "compiler/debuginfo/silent_changes.h"
#include "compiler/debuginfo/system_v.h"
#include "compiler/debuginfo/types.h"
#include "compiler/debuginfo/windows_abi.h"

namespace dj {

namespace {

struct Entry {
  uint64_t begin = 0;  // of its range, in the module's file
  std::vector<Dwarf_Op> ops;
};

std::vector<Entry> entries_of(Dwarf_Attribute* location, const DwarfIndex& index) {
  std::vector<Entry> entries;
  for (LocationWalk entry(location); entry.next();) {
    if (entry.count > 0 && entry.begin < entry.end) {
      entries.push_back({entry.begin + index.bias(), {entry.ops, entry.ops + entry.count}});
    }
  }
  return entries;
}

bool is_deref(const Dwarf_Op& op) { return op.atom == DW_OP_deref || op.atom == DW_OP_deref_size; }

// Where the caller has put it onto the stack, if the entry says that.
std::optional<ValueLocation> stack_slot(const Entry& entry, Dwarf_Die* function,
                                        Convention convention, const DwarfIndex& index) {
  const std::optional<int64_t> offset = above_frame(entry.ops[0], entry.begin, function, index);
  const int64_t first = convention == Convention::Windows ? kWindowsRegisters * 8 : 0;
  if (!offset || *offset < first || *offset % 8 != 0) {
    return std::nullopt;
  }
  ValueLocation value_at;
  value_at.expr.steps.push_back({LocStep::PushReg, arch::kRsp});
  add_constant(value_at.expr, *offset + 8);  // the return address lies below
  value_at.in_frame = true;
  if (entry.ops.size() == 1) {
    return value_at;
  }
  if (!is_deref(entry.ops[1])) {
    return std::nullopt;
  }
  if (entry.ops.size() == 2) {  // only its address is there
    value_at.expr = load(value_at, 8, false);
    value_at.in_frame = false;
  }
  return value_at;
}

// clang goes on to count a slot of the frame from a stack pointer that has been moved back: the
// same operation then leads to another place.
bool is_stale(const Entry& entry, const Entry& before, Dwarf_Die* function,
              const DwarfIndex& index) {
  const Dwarf_Op& op = entry.ops[0];
  if (op.atom != before.ops[0].atom || op.number != before.ops[0].number) return false;
  const std::optional<int64_t> now = above_frame(op, entry.begin, function, index);
  const std::optional<int64_t> then = above_frame(op, before.begin, function, index);
  return now && then && *now != *then;
}

// Marks the bytes that an expression describes.
void mark_described(const Entry& entry, std::vector<bool>& bytes) {
  uint64_t at = 0;
  bool pieces = false, known = false;
  auto mark = [&](uint64_t end) {
    for (; at < end && at < bytes.size(); at++) {
      bytes[at] = bytes[at] || known;
    }
    at = end;
  };
  for (const Dwarf_Op& op : entry.ops) {
    if (op.atom == DW_OP_piece) {
      mark(at + op.number);
      pieces = true;
    }
    known = op.atom != DW_OP_piece;
  }
  if (!pieces) {
    mark(bytes.size());
  }
}

// All of the parameter's value is somewhere in the function: so callers do pass it.
bool is_described(Dwarf_Die* function, Dwarf_Die* parameter, DwarfIndex& index) {
  std::optional<Dwarf_Attribute> location = attribute(parameter, DW_AT_location);
  TypeDie type = strip_type(type_of(parameter), index);
  if (!location || !type) {
    return false;
  }
  std::vector<bool> bytes(std::max<uint64_t>(1, type_size(&*type)));
  for (const Entry& entry : entries_of(&*location, index)) {
    const OpContext context{index, function, &*location, entry.begin, false, 0, parameter};
    if (translate(entry.ops, context).ok()) {  // clang: an operation without its operands
      mark_described(entry, bytes);
    }
  }
  return std::find(bytes.begin(), bytes.end(), false) == bytes.end();
}

// The register that DWARF names at pc agrees with the convention's, where it names one.
bool agrees(Dwarf_Die* function, Dwarf_Die* parameter, uint64_t pc, DwarfIndex& index) {
  std::optional<Dwarf_Attribute> location = attribute(parameter, DW_AT_location);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (!location || location_at(&*location, pc - index.bias(), &ops, &count) != 1 || count != 1 ||
      ops[0].atom < DW_OP_reg0 || ops[0].atom > DW_OP_reg31) {
    return true;
  }
  const Result<ValueLocation> expected = argument_at_entry(function, parameter, index);
  return expected.ok() && (expected.value().kind != ValueLocation::Value ||
                           expected.value().reg == ops[0].atom - DW_OP_reg0);
}

}  // namespace

std::optional<ValueLocation> stack_parameter(const Dwarf_Op& op, Dwarf_Die* function,
                                             DwarfIndex& index) {
  const std::optional<int64_t> offset = above_frame_mostly(op, function, index);
  return offset && *offset >= 0 ? std::optional(stack_location(uint64_t(*offset))) : std::nullopt;
}

std::optional<ValueLocation> passed_parameter(Dwarf_Die* function, Dwarf_Die* parameter,
                                              Dwarf_Attribute* location, bool is_clone,
                                              DwarfIndex& index) {
  const Convention convention = convention_of(function, index);
  const std::vector<Entry> entries = entries_of(location, index);
  for (size_t i = 0; i < entries.size(); i++) {
    if (i > 0 && is_stale(entries[i], entries[i - 1], function, index)) continue;
    std::optional<ValueLocation> slot = stack_slot(entries[i], function, convention, index);
    if (slot && !(slot->in_frame && may_be_address(function, parameter, index))) {
      return slot;
    }
  }
  Dwarf_Addr begin = 0;
  if (is_clone || is_called_otherwise(function) || may_be_changed_silently(function, index) ||
      !is_described(function, parameter, index) || dwarf_lowpc(function, &begin) != 0) {
    return std::nullopt;
  }
  begin += index.bias();
  const bool global = index.is_global_function(begin);
  for (Dwarf_Die& child : children(function)) {
    if (dwarf_tag(&child) != DW_TAG_formal_parameter) {
      continue;
    }
    if (identity(child) == identity(*parameter)) {
      Result<ValueLocation> value_at = argument_at_entry(function, parameter, index);
      return value_at.ok() ? std::optional(value_at.take()) : std::nullopt;
    }
    // One that is gone may have left its register to the next.
    if ((!global && !is_described(function, &child, index)) ||
        !agrees(function, &child, begin, index)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace dj
