// SPDX-License-Identifier: Apache-2.0
// A value of 16 bytes is read as two words, which become one on the stack.
#include "compiler/debuginfo/typed_ops.h"

#include <cstring>

#include "arch/x86_64/registers.h"
#include "compiler/debuginfo/caller_values.h"
#include "compiler/debuginfo/types.h"

namespace dj {

namespace {

using Op = LocStep::Op;

Error unreadable_operation() { return Error{"its DWARF expression cannot be read"}; }

Result<WordType> type_of_op(const Dwarf_Op& op, const OpContext& context) {
  Dwarf_Die die;
  if (dwarf_getlocation_die(context.attr, &op, &die) != 0) {
    return unreadable_operation();
  }
  return word_type(&die);
}

Status constant(const Dwarf_Op& op, const WordType& type, const OpContext& context,
                TypedStack& stack) {
  Dwarf_Attribute attr;
  Dwarf_Block block;
  int64_t words[2] = {0, 0};
  if (dwarf_getlocation_attr(context.attr, &op, &attr) != 0 ||
      dwarf_formblock(&attr, &block) != 0 || block.length > sizeof words) {
    return unreadable_operation();
  }
  std::memcpy(words, block.data, block.length);
  stack.push({Op::PushConst, words[0]});
  if (type.wide()) {
    stack.push({Op::PushConst, words[1]});
    return stack.join();
  }
  return ok_status();
}

// The word of a value that begins in the register: of a general one the next holds the upper half.
LocStep word_of_register(int reg, int word) {
  return reg < arch::kRegCount ? LocStep{Op::PushReg, reg + word} : LocStep{Op::PushReg, reg, word};
}

Status whole_register(int reg, const WordType& type, TypedStack& stack) {
  const bool x87 = arch::is_x87(reg), general = reg >= 0 && reg < arch::kRegCount;
  if ((!x87 && !general && !arch::is_vector(reg)) || (x87 && !type.floating()) ||
      (general && type.wide() && reg + 1 >= arch::kRegCount)) {
    return Error{"it is in register number " + std::to_string(reg) + ", which cannot be read",
                 Fail::Unsupported};
  }
  if (x87 && !type.wide()) {
    stack.push(rounded_from_x87(reg, type.kind == WordType::Float).steps);
    return ok_status();
  }
  stack.push(word_of_register(reg, 0));
  if (type.wide()) {
    stack.push(word_of_register(reg, 1));
    return stack.join();
  }
  return ok_status();
}

bool is_register_value(uint8_t atom) {
  return atom == DW_OP_regval_type || atom == DW_OP_GNU_regval_type;
}

// What was given at the function's entry, as a value of the type.
Status push_given(const Given& given, const WordType& type, const OpContext& context, Jumps& jumps,
                  TypedStack& stack) {
  for (int word = 0; word <= int(type.wide()); word++) {
    DJ_TRY(LocExpr value, value_at_entry(given, word, context));
    stack.push(jumps.adopted(std::move(value.steps)));
  }
  if (type.wide()) {
    DJ_TRY_DO(stack.join());
  }
  return stack.read_as(type);
}

}  // namespace

Result<bool> typed_operation(const Dwarf_Op& op, const OpContext& context, TypedStack& stack) {
  const bool converts = op.atom == DW_OP_convert || op.atom == DW_OP_GNU_convert;
  const bool reinterprets = op.atom == DW_OP_reinterpret || op.atom == DW_OP_GNU_reinterpret;
  const bool reads = op.atom == DW_OP_deref_type || op.atom == DW_OP_GNU_deref_type;
  const bool is_constant = op.atom == DW_OP_const_type || op.atom == DW_OP_GNU_const_type;
  if (!converts && !reinterprets && !reads && !is_constant && !is_register_value(op.atom)) {
    return false;
  }
  WordType type;
  if ((!converts && !reinterprets) || op.number != 0) {  // 0: the type of addresses
    DJ_TRY(type, type_of_op(op, context));
  }
  if (converts) {
    DJ_TRY_DO(stack.convert(type));
    return true;
  }
  if (reinterprets) {
    DJ_TRY_DO(stack.reinterpret(type));
    return true;
  }
  if (reads) {
    DJ_TRY_DO(stack.deref(type.bytes_in_memory()));
  } else if (is_constant) {
    DJ_TRY_DO(constant(op, type, context, stack));
  } else {
    DJ_TRY_DO(whole_register(int(op.number), type, stack));
  }
  DJ_TRY_DO(stack.read_as(type));
  return true;
}

Status entry_value(const Dwarf_Op& op, const OpContext& context, Jumps& jumps, TypedStack& stack) {
  Dwarf_Attribute attr;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_getlocation_attr(context.attr, &op, &attr) != 0 ||
      dwarf_getlocation(&attr, &ops, &count) != 0 || count == 0) {
    return unreadable_operation();
  }
  const bool typed = is_register_value(ops[0].atom) && count == 1;
  WordType type;
  if (typed) {
    DJ_TRY(type, type_of_op(ops[0], context));
  }
  if (!context.at_entry) {
    const bool whole = typed || (ops[0].atom <= DW_OP_reg31 && ops[0].atom >= DW_OP_reg0);
    const int reg = typed ? int(ops[0].number) : ops[0].atom - DW_OP_reg0;
    return push_given(whole && count == 1 ? reg : -1, type, context, jumps, stack);
  }
  if (typed) {
    DJ_TRY_DO(whole_register(int(ops[0].number), type, stack));
    return stack.read_as(type);
  }
  OpContext inner = context;  // and its attribute: elfutils does not know the unit of the other one
  inner.depth++;
  DJ_TRY(const ValueLocation value_at, translate({ops, count}, inner));
  if (value_at.kind != ValueLocation::Memory && value_at.kind != ValueLocation::Value) {
    return unreadable_operation();
  }
  stack.push(jumps.adopted(load(value_at, 8, false).steps));
  return ok_status();
}

Status parameter_ref(const Dwarf_Op& op, const OpContext& context, Jumps& jumps,
                     TypedStack& stack) {
  Dwarf_Die die;
  if (dwarf_getlocation_die(context.attr, &op, &die) != 0) {
    return unreadable_operation();
  }
  TypeDie stripped = strip_type(type_of(&die), context.index);
  const Result<WordType> word = stripped ? word_type(&*stripped) : Error{};
  const bool typed = word.ok() && (word.value().floating() || word.value().wide());
  const Status done = push_given(die, typed ? word.value() : WordType(), context, jumps, stack);
  return done.ok() ? done : Error{"it was optimized out of this copy of the function"};
}

}  // namespace dj
