// SPDX-License-Identifier: Apache-2.0
// Translates DWARF operations one by one; what the target's handler could not compute is refused
// here, with a reason.
#include "compiler/debuginfo/dwarf_ops.h"

#include <algorithm>

#include "arch/x86_64/registers.h"
#include "compiler/debuginfo/bare_values.h"
#include "compiler/debuginfo/bit_run.h"
#include "compiler/debuginfo/jumps.h"
#include "compiler/debuginfo/op_table.h"
#include "compiler/debuginfo/tls.h"
#include "compiler/debuginfo/typed_ops.h"
#include "compiler/debuginfo/types.h"

namespace dj {

namespace {

using Op = LocStep::Op;

using arch::kRbp, arch::kRsp;
constexpr int kMaxDepth = 4;

void push(LocExpr& expr, Op op, int64_t a = 0, int64_t b = 0) { expr.steps.push_back({op, a, b}); }

Error unreadable() { return Error{"its DWARF expression cannot be read"}; }

Error no_register(int reg) {
  return Error{"it is in register number " + std::to_string(reg) + ", which cannot be read",
               Fail::Unsupported};
}

// Ops of an attribute that another operation carries (entry values, frame bases).
Result<std::span<const Dwarf_Op>> ops_at(Dwarf_Attribute* attr, const OpContext& context) {
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_getlocation_addr(attr, context.pc - context.index.bias(), &ops, &count, 1) == 1) {
    return std::span<const Dwarf_Op>(ops, count);
  }
  return Error{"the frame of the function is not described here"};
}

// What DW_OP_fbreg counts from. The rbp that clang names is not set up at a function's entry, and
// known to be in the frame only where the unwind table says so.
Result<ValueLocation> frame_base(const OpContext& context) {
  std::optional<Dwarf_Attribute> attr =
      context.function ? attribute(context.function, DW_AT_frame_base) : std::nullopt;
  if (!attr || context.depth >= kMaxDepth) {
    return Error{"the frame of the function is not described"};
  }
  OpContext inner = context;
  inner.attr = &*attr;
  inner.depth++;
  DJ_TRY(std::span<const Dwarf_Op> ops, ops_at(&*attr, inner));
  DJ_TRY(ValueLocation base, translate(ops, inner));
  if (base.kind == ValueLocation::Memory) {
    return base;
  }
  if (base.reg == kRbp) {
    Result<ValueLocation> cfa = frame_address(context);
    const std::vector<LocStep>* steps = cfa.ok() ? &cfa.value().expr.steps : nullptr;
    const bool rbp_frame =
        steps && !steps->empty() && steps->front().op == Op::PushReg && steps->front().a == kRbp;
    if (context.at_entry && steps) {
      base = cfa.take();
      add_constant(base.expr, -16);  // push %rbp; mov %rsp,%rbp
    }
    base.in_frame = rbp_frame || context.at_entry;
  } else if (context.at_entry) {
    return Error{"its stack frame does not exist yet at the function's entry"};
  } else {
    base.in_frame = base.reg == kRsp;
  }
  base.kind = ValueLocation::Memory;
  base.reg = -1;
  return base;
}

// The address of thread-local storage at the offset on the stack.
Status push_tls(TypedStack& stack, const OpContext& context) {
  LocExpr& expr = stack.expr;
  if (stack.words().empty()) {  // gcc puts some offsets behind the operation, not before it
    return stack.pop();
  }
  if (expr.steps.back().op != Op::PushConst) {
    return Error{"its place in thread-local storage is computed", Fail::Unsupported};
  }
  TlsVariable variable;
  variable.offset = uint64_t(expr.steps.back().a);
  if (context.variable) {
    variable.symbol = linkage_name(context.variable);
    TypeDie type = strip_type(type_of(context.variable), context.index);
    variable.bytes = type ? type_size(&*type) : 0;
  }
  DJ_TRY(LocExpr address, tls_address(context.index.elf(), variable));
  DJ_TRY_DO(stack.pop());
  expr.steps.pop_back();
  stack.push(address.steps);
  return ok_status();
}

class Translator {
 public:
  explicit Translator(const OpContext& context) : context_(context) {}

  Result<ValueLocation> run(std::span<const Dwarf_Op> ops) {
    if (ops.empty()) {
      return Error{"it was optimized out"};
    }
    if (context_.depth > kMaxDepth) {
      return Error{"its DWARF expression nests too deeply"};
    }
    DJ_TRY_DO(jumps_.find(ops));
    if (context_.begins_with_object) {
      stack_.push(jumps_.adopted(context_.object->steps));
    }
    ValueLocation whole;
    size_t begin = 0;  // of the part that is being computed
    for (size_t i = 0; i < ops.size(); i++) {
      const Dwarf_Op& op = ops[i];
      DJ_TRY_DO(jumps_.arrive_at(i, stack_));
      if (!jumps_.reachable()) {
        continue;
      }
      if (op.atom == DW_OP_piece || op.atom == DW_OP_bit_piece) {
        see_bare_value(ops.subspan(begin, i - begin));
        DJ_TRY_DO(end_piece(op, whole));
        begin = i + 1;
      } else if (Jumps::is_jump(op)) {
        DJ_TRY_DO(jumps_.jump(ops, i, stack_));
        computed_ = true;
      } else {
        DJ_TRY_DO(step(op));
      }
    }
    DJ_TRY_DO(jumps_.arrive_at(ops.size(), stack_));
    if (!jumps_.reachable()) {
      return Error{"its DWARF expression has no end"};
    }
    if (!whole.pieces.empty()) {
      whole.kind = ValueLocation::Pieces;
      return whole;
    }
    see_bare_value(ops.subspan(begin));
    DJ_TRY_DO(end_location());
    if (value_at_.expr.steps.empty() && value_at_.kind != ValueLocation::Pointer &&
        value_at_.kind != ValueLocation::Pieces) {
      return Error{"it was optimized out"};
    }
    return value_at_;
  }

 private:
  void see_bare_value(std::span<const Dwarf_Op> part) {
    const bool of_variable = context_.variable && !context_.object && !context_.in_caller;
    if (of_variable && context_.depth == 0 && is_bare_value(part, context_.attr)) {
      value_at_.kind = ValueLocation::Value;
    }
  }

  // The error: something was computed, and nothing is left of it (jumps alone leave nothing).
  Status end_location() {
    if (!stack_.expr.steps.empty()) {
      DJ_TRY_DO(stack_.need(1));
    }
    value_at_.in_frame = value_at_.kind == ValueLocation::Memory && frame_parts_ == 1 && !computed_;
    stack_.as_bytes();
    if (stack_.ends_wide()) {
      value_at_ = wide_location(stack_.expr);
    } else if (!stack_.expr.steps.empty()) {
      value_at_.expr = std::move(stack_.expr);
    }
    return ok_status();
  }

  // What was computed so far is the next part of the whole; nothing computed: that part is gone.
  Status end_piece(const Dwarf_Op& op, ValueLocation& whole) {
    const bool of_bits = op.atom == DW_OP_bit_piece;
    const uint64_t bits = of_bits ? op.number : op.number * 8;
    const uint64_t from = of_bits ? op.number2 : 0;
    DJ_TRY_DO(end_location());
    const uint64_t offset = whole.pieces.empty() ? 0 : whole.pieces.back().end();
    const bool known = !value_at_.expr.steps.empty() || !value_at_.pieces.empty();
    if (bit_run_.empty() && bits % 8 == 0 && from == 0) {
      whole.pieces.push_back({offset, bits / 8, known, std::move(value_at_)});
    } else {
      bit_run_.add(bits, from, known, value_at_);
      if (bit_run_.fills_bytes()) {
        whole.pieces.push_back(bit_run_.take(offset));
      }
    }
    value_at_ = {};
    stack_ = {};
    frame_parts_ = 0;
    computed_ = false;
    return ok_status();
  }

  Status step(const Dwarf_Op& op) {
    const uint8_t atom = op.atom;
    if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
      return whole_register(atom - DW_OP_reg0);
    }
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
      return based_register(atom - DW_OP_breg0, int64_t(op.number));
    }
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
      stack_.push({Op::PushConst, atom - DW_OP_lit0});
      return ok_status();
    }
    DJ_TRY(const bool done, stack_.operation(atom));
    if (done) {
      computed_ = true;
      return ok_status();
    }
    switch (atom) {
      case DW_OP_regx:
        return whole_register(int(op.number));
      case DW_OP_bregx:
        return based_register(int(op.number), int64_t(op.number2));
      case DW_OP_const1u:
      case DW_OP_const1s:
      case DW_OP_const2u:
      case DW_OP_const2s:
      case DW_OP_const4u:
      case DW_OP_const4s:
      case DW_OP_const8u:
      case DW_OP_const8s:
      case DW_OP_constu:
      case DW_OP_consts:
        stack_.push({Op::PushConst, int64_t(op.number)});
        return ok_status();
      case DW_OP_addr:
        return static_address(op.number);
      case DW_OP_plus_uconst:
        return stack_.add(int64_t(op.number));
      case DW_OP_deref:
        computed_ = true;
        return stack_.deref(8);
      case DW_OP_deref_size:
        computed_ = true;
        // clang asks for the whole of a spilled vector register: the value is its low part.
        return stack_.deref(int64_t(std::min<uint64_t>(op.number, 8)));
      case DW_OP_pick:
        return stack_.pick(op.number);
      case DW_OP_nop:
        return ok_status();
      case DW_OP_stack_value:
        value_at_.kind = ValueLocation::Value;
        return ok_status();
      case DW_OP_form_tls_address:
      case DW_OP_GNU_push_tls_address:
        computed_ = true;
        return push_tls(stack_, context_);
      default:
        return rare(op);
    }
  }

  // Operations that refer to other expressions, or that are refused.
  Status rare(const Dwarf_Op& op) {
    switch (op.atom) {
      case DW_OP_fbreg: {
        DJ_TRY(ValueLocation base, frame_base(context_));
        add_constant(base.expr, int64_t(op.number));
        return append(base);
      }
      case DW_OP_call_frame_cfa: {
        DJ_TRY(ValueLocation base, frame_address(context_));
        return append(base);
      }
      case DW_OP_addrx:
      case DW_OP_GNU_addr_index:
      case DW_OP_constx:
      case DW_OP_GNU_const_index:
        return indexed(op);
      case DW_OP_implicit_value:
        return implicit_value(op);
      case DW_OP_entry_value:
      case DW_OP_GNU_entry_value:
        computed_ = true;
        return entry_value(op, context_, jumps_, stack_);
      case DW_OP_implicit_pointer:
      case DW_OP_GNU_implicit_pointer:
        return implicit_pointer(op);
      case DW_OP_push_object_address:
        if (!context_.object) {
          return Error{"its DWARF expression asks for an object that is not known"};
        }
        computed_ = true;
        stack_.push(jumps_.adopted(context_.object->steps));
        return ok_status();
      case DW_OP_call2:
      case DW_OP_call4:
      case DW_OP_call_ref:
        computed_ = true;
        return called(op);
      case DW_OP_GNU_parameter_ref:
        computed_ = true;
        return parameter_ref(op, context_, jumps_, stack_);
      default:
        return typed(op);
    }
  }

  // The place of another variable, as of the length that Fortran keeps for a string.
  Status called(const Dwarf_Op& op) {
    Dwarf_Die die;
    if (dwarf_getlocation_die(context_.attr, &op, &die) != 0) return unreadable();
    std::optional<Dwarf_Attribute> place = attribute(&die, DW_AT_location);
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    const Dwarf_Addr pc = context_.pc - context_.index.bias();
    if (dwarf_tag(&die) == DW_TAG_dwarf_procedure || !place ||
        dwarf_getlocation_addr(&*place, pc, &ops, &count, 1) != 1) {
      return Error{"its DWARF expression calls another, which is none of a place here"};
    }
    OpContext inner = context_;
    inner.attr = &*place;
    inner.variable = &die;
    inner.object = nullptr;
    inner.begins_with_object = false;
    inner.depth++;
    DJ_TRY(ValueLocation there, translate({ops, count}, inner));
    if (there.kind != ValueLocation::Memory)
      return Error{"its DWARF expression wants a register's place"};
    stack_.push(jumps_.adopted(there.expr.steps));
    return ok_status();
  }

  Status typed(const Dwarf_Op& op) {
    computed_ = true;
    DJ_TRY(const bool done, typed_operation(op, context_, stack_));
    if (!done) {
      return Error{"its DWARF expression uses " + op_name(op.atom) + ", which cannot be read",
                   Fail::Unsupported};
    }
    return ok_status();
  }

  Status whole_register(int reg) {
    if (!arch::is_readable(reg)) {
      return no_register(reg);
    }
    stack_.push({Op::PushReg, reg});
    value_at_.kind = ValueLocation::Value;
    value_at_.reg = reg;
    return ok_status();
  }

  Status based_register(int reg, int64_t offset) {
    if (!arch::is_readable(reg) || arch::is_x87(reg)) {
      return no_register(reg);
    }
    stack_.push({Op::PushReg, reg});
    frame_parts_ += reg == kRsp;
    return stack_.add(offset);
  }

  Status static_address(uint64_t address) {
    const auto linked = int64_t(address + context_.index.bias());
    stack_.push({{Op::PushConst, linked}, {Op::PushBias}, {Op::Add}});
    return ok_status();
  }

  Status append(const ValueLocation& base) {
    stack_.push(jumps_.adopted(base.expr.steps));
    frame_parts_ += base.in_frame;
    return ok_status();
  }

  Status indexed(const Dwarf_Op& op) {
    Dwarf_Attribute attr;
    Dwarf_Addr address = 0;
    Dwarf_Word word = 0;
    const bool is_address = op.atom == DW_OP_addrx || op.atom == DW_OP_GNU_addr_index;
    if (dwarf_getlocation_attr(context_.attr, &op, &attr) != 0) {
      return unreadable();
    }
    if (is_address && dwarf_formaddr(&attr, &address) == 0) {
      return static_address(address);
    }
    if (!is_address && (dwarf_formudata(&attr, &word) == 0 || dwarf_formaddr(&attr, &word) == 0)) {
      stack_.push({Op::PushConst, int64_t(word)});
      return ok_status();
    }
    return unreadable();
  }

  Status implicit_value(const Dwarf_Op& op) {
    Dwarf_Block block;
    if (dwarf_getlocation_implicit_value(context_.attr, &op, &block) != 0) {
      return unreadable();
    }
    value_at_ = constant_location(block.data, block.length);
    return ok_status();
  }

  // The pointer itself does not exist; what it would point to may be known.
  Status implicit_pointer(const Dwarf_Op& op) {
    Dwarf_Die die;
    if (dwarf_getlocation_die(context_.attr, &op, &die) != 0) {
      return Error{"what it points to was optimized out"};
    }
    value_at_.kind = ValueLocation::Pointer;
    value_at_.pointee = die;
    value_at_.pointee_offset = int64_t(op.number2);
    return ok_status();
  }

  const OpContext& context_;
  ValueLocation value_at_;
  int frame_parts_ = 0;    // stack addresses that went into the result
  bool computed_ = false;  // by more than adding constants to one of them
  BitRun bit_run_;
  TypedStack stack_;  // of the part of the value that is being computed
  Jumps jumps_;
};

}  // namespace

Result<ValueLocation> translate(std::span<const Dwarf_Op> ops, const OpContext& context) {
  return Translator(context).run(ops);
}

Result<ValueLocation> frame_address(const OpContext& context) {
  if (context.at_entry) {
    ValueLocation cfa;
    push(cfa.expr, Op::PushReg, kRsp);
    add_constant(cfa.expr, 8);
    cfa.in_frame = true;
    return cfa;
  }
  if (context.depth >= kMaxDepth) {
    return Error{"the stack frame is not described"};
  }
  const std::vector<Dwarf_Op> ops = context.index.cfa_ops(context.pc);
  if (ops.empty()) {
    return Error{"no unwind table describes the stack frame here"};
  }
  OpContext inner = context;
  inner.depth++;
  DJ_TRY(ValueLocation cfa, translate(ops, inner));
  // A register and an offset: the unwind table itself vouches for it.
  cfa.in_frame = cfa.in_frame || ops.size() == 1;
  cfa.kind = ValueLocation::Memory;
  return cfa;
}

}  // namespace dj
