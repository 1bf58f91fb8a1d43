// Translates DWARF operations one by one; what the target's handler could not compute is refused
// here, with a reason.
#include "compiler/debuginfo/dwarf_ops.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "arch/x86_64/registers.h"
#include "compiler/debuginfo/caller_values.h"
#include "compiler/debuginfo/tls.h"
#include "compiler/debuginfo/types.h"

namespace dj {

namespace {

using Op = LocStep::Op;

constexpr int kRbp = 6, kRsp = 7;
constexpr int kMaxDepth = 4;

void push(LocExpr& expr, Op op, int64_t a = 0, int64_t b = 0) { expr.steps.push_back({op, a, b}); }

Error no_register(int reg) {
  return Error{"it is in register number " + std::to_string(reg) + ", which cannot be read",
               Fail::Unsupported};
}

// The step for an operation that takes words from the stack and needs nothing else.
const Op* plain_operation(uint8_t atom) {
  static const struct {
    uint8_t atom;
    Op op;
  } rows[] = {
      {DW_OP_dup, Op::Dup}, {DW_OP_drop, Op::Drop}, {DW_OP_swap, Op::Swap}, {DW_OP_over, Op::Over},
      {DW_OP_rot, Op::Rot}, {DW_OP_plus, Op::Add},  {DW_OP_minus, Op::Sub}, {DW_OP_mul, Op::Mul},
      {DW_OP_div, Op::Div}, {DW_OP_mod, Op::Mod},   {DW_OP_and, Op::And},   {DW_OP_or, Op::Or},
      {DW_OP_xor, Op::Xor}, {DW_OP_shl, Op::Shl},   {DW_OP_shr, Op::Shr},   {DW_OP_shra, Op::Sar},
      {DW_OP_neg, Op::Neg}, {DW_OP_not, Op::Not},   {DW_OP_eq, Op::Eq},     {DW_OP_ne, Op::Ne},
      {DW_OP_lt, Op::Lt},   {DW_OP_le, Op::Le},     {DW_OP_gt, Op::Gt},     {DW_OP_ge, Op::Ge},
  };
  for (const auto& row : rows) {
    if (row.atom == atom) {
      return &row.op;
    }
  }
  return nullptr;
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
Result<Spot> frame_base(const OpContext& context) {
  std::optional<Dwarf_Attribute> attr =
      context.function ? attribute(context.function, DW_AT_frame_base) : std::nullopt;
  if (!attr || context.depth >= kMaxDepth) {
    return Error{"the frame of the function is not described"};
  }
  OpContext inner = context;
  inner.attr = &*attr;
  inner.depth++;
  DJ_TRY(std::span<const Dwarf_Op> ops, ops_at(&*attr, inner));
  DJ_TRY(Spot base, translate(ops, inner));
  if (base.kind == Spot::Memory) {
    return base;
  }
  if (base.reg == kRbp) {
    Result<Spot> cfa = frame_address(context);
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
  base.kind = Spot::Memory;
  base.reg = -1;
  return base;
}

// The address of thread-local storage at the offset on the stack.
Status push_tls(LocExpr& expr, const OpContext& context) {
  if (expr.steps.empty() || expr.steps.back().op != Op::PushConst) {
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
  expr.steps.pop_back();
  expr.steps.insert(expr.steps.end(), address.steps.begin(), address.steps.end());
  return ok_status();
}

class Translator {
 public:
  explicit Translator(const OpContext& context) : context_(context) {}

  Result<Spot> run(std::span<const Dwarf_Op> ops) {
    if (ops.empty()) {
      return Error{"it was optimized out"};
    }
    if (context_.depth > kMaxDepth) {
      return Error{"its DWARF expression nests too deeply"};
    }
    Spot whole;
    for (size_t i = 0; i < ops.size(); i++) {
      const Dwarf_Op& op = ops[i];
      if (op.atom == DW_OP_piece || op.atom == DW_OP_bit_piece) {
        DJ_TRY_DO(end_piece(op, whole));
      } else if (op.atom == DW_OP_bra) {
        DJ_TRY_DO(branch(ops.subspan(i)));
        i++;
      } else {
        DJ_TRY_DO(step(op));
      }
    }
    if (!whole.pieces.empty()) {
      whole.kind = Spot::Pieces;
      return whole;
    }
    end_spot();
    if (spot_.expr.steps.empty() && spot_.kind != Spot::Pointer && spot_.kind != Spot::Pieces) {
      return Error{"it was optimized out"};
    }
    return spot_;
  }

 private:
  void end_spot() {
    spot_.in_frame = spot_.kind == Spot::Memory && frame_parts_ == 1 && !computed_;
  }

  // What was computed so far is the next part of the whole; nothing computed: that part is gone.
  Status end_piece(const Dwarf_Op& op, Spot& whole) {
    uint64_t bytes = op.number;
    if (op.atom == DW_OP_bit_piece) {
      if (op.number % 8 != 0 || op.number2 != 0) {
        return Error{"it is split within bytes", Fail::Unsupported};
      }
      bytes /= 8;
    }
    end_spot();
    const uint64_t offset = whole.pieces.empty() ? 0 : whole.pieces.back().end();
    const bool known = !spot_.expr.steps.empty() || !spot_.pieces.empty();
    whole.pieces.push_back({offset, bytes, known, std::move(spot_)});
    spot_ = {};
    frame_parts_ = 0;
    computed_ = false;
    return ok_status();
  }

  // Compilers write minima, maxima and a choice of two values as a branch over one operation. Here
  // it is done always, with a word that is all ones where the branch is not taken, else 0.
  Status branch(std::span<const Dwarf_Op> ops) {
    constexpr uint64_t kBranchBytes = 3;
    LocExpr& expr = spot_.expr;
    const uint64_t target = ops[0].offset + kBranchBytes + ops[0].number;
    if (ops.size() < 3 || ops[2].offset != target ||
        (ops[1].atom != DW_OP_swap && ops[1].atom != DW_OP_neg)) {
      return Error{"its DWARF expression has a loop, which is not built yet", Fail::Unsupported};
    }
    push(expr, Op::PushConst, 0);
    push(expr, Op::Eq);
    push(expr, Op::Neg);
    if (ops[1].atom == DW_OP_swap) {  // what differs is taken out of both
      for (const LocStep& s : std::initializer_list<LocStep>{{Op::Pick, 2},
                                                             {Op::Pick, 2},
                                                             {Op::Xor},
                                                             {Op::And},
                                                             {Op::Swap},
                                                             {Op::Over},
                                                             {Op::Xor},
                                                             {Op::Rot},
                                                             {Op::Xor},
                                                             {Op::Swap}}) {
        expr.steps.push_back(s);
      }
    } else {
      negate_by_mask();
    }
    computed_ = true;
    return ok_status();
  }

  // On the stack a number, and all ones or 0: the number negated, or as it is.
  void negate_by_mask() {
    for (const Op op : {Op::Swap, Op::Over, Op::Xor, Op::Swap, Op::Sub}) {
      push(spot_.expr, op);
    }
  }

  Status step(const Dwarf_Op& op) {
    LocExpr& expr = spot_.expr;
    const uint8_t atom = op.atom;
    if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
      return whole_register(atom - DW_OP_reg0);
    }
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
      return based_register(atom - DW_OP_breg0, int64_t(op.number));
    }
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
      push(expr, Op::PushConst, atom - DW_OP_lit0);
      return ok_status();
    }
    if (const Op* plain = plain_operation(atom)) {
      push(expr, *plain, divides_or_orders(*plain) && !is_signed_.value_or(*plain != Op::Mod));
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
        push(expr, Op::PushConst, int64_t(op.number));
        return ok_status();
      case DW_OP_addr:
        return static_address(op.number);
      case DW_OP_plus_uconst:
        add_constant(expr, int64_t(op.number));
        return ok_status();
      case DW_OP_deref:
        computed_ = true;
        push(expr, Op::Deref, 8);
        return ok_status();
      case DW_OP_deref_size:
        computed_ = true;
        // clang asks for the whole of a spilled vector register: the value is its low part.
        push(expr, Op::Deref, int64_t(std::min<uint64_t>(op.number, 8)));
        return ok_status();
      case DW_OP_pick:
        push(expr, Op::Pick, int64_t(op.number));
        return ok_status();
      case DW_OP_nop:
        return ok_status();
      case DW_OP_stack_value:
        spot_.kind = Spot::Value;
        return ok_status();
      case DW_OP_form_tls_address:
      case DW_OP_GNU_push_tls_address:
        computed_ = true;
        return push_tls(expr, context_);
      default:
        return rare(op);
    }
  }

  // Operations that refer to other expressions, or that are refused.
  Status rare(const Dwarf_Op& op) {
    switch (op.atom) {
      case DW_OP_fbreg: {
        DJ_TRY(Spot base, frame_base(context_));
        add_constant(base.expr, int64_t(op.number));
        return append(base);
      }
      case DW_OP_call_frame_cfa: {
        DJ_TRY(Spot base, frame_address(context_));
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
        return entry_value(op);
      case DW_OP_implicit_pointer:
      case DW_OP_GNU_implicit_pointer:
        return implicit_pointer(op);
      case DW_OP_convert:
      case DW_OP_GNU_convert:
      case DW_OP_reinterpret:
      case DW_OP_GNU_reinterpret:
      case DW_OP_regval_type:
      case DW_OP_GNU_regval_type:
      case DW_OP_deref_type:
      case DW_OP_GNU_deref_type:
        return typed(op);
      case DW_OP_push_object_address:
        if (!context_.object) {
          return Error{"its DWARF expression asks for an object that is not known"};
        }
        computed_ = true;
        spot_.expr.steps.insert(spot_.expr.steps.end(), context_.object->steps.begin(),
                                context_.object->steps.end());
        return ok_status();
      case DW_OP_abs:
        push(spot_.expr, Op::Dup);
        push(spot_.expr, Op::PushConst, 63);
        push(spot_.expr, Op::Sar);
        negate_by_mask();
        computed_ = true;
        return ok_status();
      case DW_OP_GNU_parameter_ref:
        return Error{"it was optimized out of this copy of the function"};
      default:
        return Error{"its DWARF expression uses operation " + std::to_string(op.atom) +
                         ", which is not built yet",
                     Fail::Unsupported};
    }
  }

  // Operations that say which type the value has from here on: integers only.
  Status typed(const Dwarf_Op& op) {
    const bool converts = op.atom == DW_OP_convert || op.atom == DW_OP_GNU_convert ||
                          op.atom == DW_OP_reinterpret || op.atom == DW_OP_GNU_reinterpret;
    if (converts && op.number == 0) {  // the type of addresses
      is_signed_.reset();
      return ok_status();
    }
    Dwarf_Die type;
    if (dwarf_getlocation_die(context_.attr, &op, &type) != 0) {
      return Error{"its DWARF expression cannot be read"};
    }
    const std::optional<Scalar> scalar = scalar_of(&type);
    if (!scalar || scalar->floating || scalar->size > 8) {
      return Error{"it is computed from numbers with a fraction", Fail::Unsupported};
    }
    if (op.atom == DW_OP_deref_type || op.atom == DW_OP_GNU_deref_type) {
      push(spot_.expr, Op::Deref, scalar->size);
    } else if (!converts) {
      DJ_TRY_DO(based_register(int(op.number), 0));
    }
    computed_ = true;
    is_signed_ = scalar->is_signed;
    spot_.expr.steps.push_back({Op::Extend, scalar->size, scalar->is_signed});
    return ok_status();
  }

  Status whole_register(int reg) {
    if (reg > 15 && !arch::is_vector(reg) && !arch::is_x87(reg)) {
      return no_register(reg);
    }
    push(spot_.expr, Op::PushReg, reg);
    spot_.kind = Spot::Value;
    spot_.reg = reg;
    return ok_status();
  }

  Status based_register(int reg, int64_t offset) {
    if (reg > 15) {
      return no_register(reg);
    }
    push(spot_.expr, Op::PushReg, reg);
    add_constant(spot_.expr, offset);
    frame_parts_ += reg == kRsp;
    return ok_status();
  }

  Status static_address(uint64_t address) {
    push(spot_.expr, Op::PushConst, int64_t(address + context_.index.bias()));
    push(spot_.expr, Op::PushBias);
    push(spot_.expr, Op::Add);
    return ok_status();
  }

  Status append(const Spot& base) {
    spot_.expr.steps.insert(spot_.expr.steps.end(), base.expr.steps.begin(), base.expr.steps.end());
    frame_parts_ += base.in_frame;
    return ok_status();
  }

  Status indexed(const Dwarf_Op& op) {
    Dwarf_Attribute attr;
    Dwarf_Addr address = 0;
    Dwarf_Word word = 0;
    const bool is_address = op.atom == DW_OP_addrx || op.atom == DW_OP_GNU_addr_index;
    if (dwarf_getlocation_attr(context_.attr, &op, &attr) != 0) {
      return Error{"its DWARF expression cannot be read"};
    }
    if (is_address && dwarf_formaddr(&attr, &address) == 0) {
      return static_address(address);
    }
    if (!is_address && (dwarf_formudata(&attr, &word) == 0 || dwarf_formaddr(&attr, &word) == 0)) {
      push(spot_.expr, Op::PushConst, int64_t(word));
      return ok_status();
    }
    return Error{"its DWARF expression cannot be read"};
  }

  Status implicit_value(const Dwarf_Op& op) {
    Dwarf_Block block;
    if (dwarf_getlocation_implicit_value(context_.attr, &op, &block) != 0) {
      return Error{"its DWARF expression cannot be read"};
    }
    spot_ = constant_spot(block.data, block.length);
    return ok_status();
  }

  // The pointer itself does not exist; what it would point to may be known.
  Status implicit_pointer(const Dwarf_Op& op) {
    Dwarf_Die die;
    if (dwarf_getlocation_die(context_.attr, &op, &die) != 0) {
      return Error{"what it points to was optimized out"};
    }
    spot_.kind = Spot::Pointer;
    spot_.pointee = die;
    spot_.pointee_offset = int64_t(op.number2);
    return ok_status();
  }

  // The value a register had at the function's entry: known there; later to the caller, perhaps.
  Status entry_value(const Dwarf_Op& op) {
    Dwarf_Attribute attr;
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if (dwarf_getlocation_attr(context_.attr, &op, &attr) != 0 ||
        dwarf_getlocation(&attr, &ops, &count) != 0) {
      return Error{"its DWARF expression cannot be read"};
    }
    if (!context_.at_entry) {
      const bool whole = count == 1 && ops[0].atom <= DW_OP_reg31 && ops[0].atom >= DW_OP_reg0;
      DJ_TRY(LocExpr value, value_at_entry(whole ? ops[0].atom - DW_OP_reg0 : -1, context_));
      computed_ = true;
      return append({std::move(value)});
    }
    OpContext inner = context_;
    inner.attr = &attr;
    inner.depth++;
    DJ_TRY(Spot spot, translate({ops, count}, inner));
    if (spot.kind != Spot::Memory && spot.kind != Spot::Value) {
      return Error{"its DWARF expression cannot be read"};
    }
    return append({load(spot, 8, false)});
  }

  const OpContext& context_;
  Spot spot_;
  int frame_parts_ = 0;    // stack addresses that went into the result
  bool computed_ = false;  // by more than adding constants to one of them
  // Of the words' type. None: that of addresses, which are divided and ordered as if they had a
  // sign, but whose remainders are those of words without one (DWARF 5, 2.5.1.4).
  std::optional<bool> is_signed_;
};

}  // namespace

Result<Spot> translate(std::span<const Dwarf_Op> ops, const OpContext& context) {
  return Translator(context).run(ops);
}

Result<Spot> frame_address(const OpContext& context) {
  if (context.at_entry) {
    Spot cfa;
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
  DJ_TRY(Spot cfa, translate(ops, inner));
  // A register and an offset: the unwind table itself vouches for it.
  cfa.in_frame = cfa.in_frame || ops.size() == 1;
  cfa.kind = Spot::Memory;
  return cfa;
}

}  // namespace dj
