// SPDX-License-Identifier: Apache-2.0
// Arithmetic of DWARF expressions on words of types: cuts numbers to their size, asks the agent for
// what concerns numbers with a fraction.
#include "compiler/debuginfo/typed_stack.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/debuginfo/types.h"
#include "compiler/debuginfo/value_location.h"

namespace dj {

namespace {

using Op = LocStep::Op;

Error malformed() { return Error{"its DWARF expression takes words that are not on its stack"}; }
Error mixed() { return Error{"its DWARF expression computes with words of different types"}; }

struct Row {
  uint8_t atom;
  Op op;
};
constexpr Row kShuffles[] = {{DW_OP_dup, Op::Dup},
                             {DW_OP_drop, Op::Drop},
                             {DW_OP_swap, Op::Swap},
                             {DW_OP_over, Op::Over},
                             {DW_OP_rot, Op::Rot}};
constexpr Row kShifts[] = {{DW_OP_shl, Op::Shl}, {DW_OP_shr, Op::Shr}, {DW_OP_shra, Op::Sar}};
constexpr Row kBinaries[] = {
    {DW_OP_plus, Op::Add}, {DW_OP_minus, Op::Sub}, {DW_OP_mul, Op::Mul}, {DW_OP_div, Op::Div},
    {DW_OP_mod, Op::Mod},  {DW_OP_and, Op::And},   {DW_OP_or, Op::Or},   {DW_OP_xor, Op::Xor},
    {DW_OP_eq, Op::Eq},    {DW_OP_ne, Op::Ne},     {DW_OP_lt, Op::Lt},   {DW_OP_le, Op::Le},
    {DW_OP_gt, Op::Gt},    {DW_OP_ge, Op::Ge},
};

template <size_t N>
const Op* find(const Row (&rows)[N], uint8_t atom) {
  const Row* row = std::find_if(rows, rows + N, [&](const Row& r) { return r.atom == atom; });
  return row != rows + N ? &row->op : nullptr;
}

bool compares(Op op) { return op >= Op::Eq && op <= Op::Ge; }

}  // namespace

Result<WordType> word_type(Dwarf_Die* base_type) {
  const std::optional<Scalar> scalar = scalar_of(base_type);
  const uint64_t size = type_size(base_type);
  const auto refused = [&] {
    const std::string name = type_name(*base_type);
    return Error{fmt::format("its DWARF expression computes with {} of {} bytes", name, size),
                 Fail::Unsupported};
  };
  if (!scalar || size == 0 || (size > 8 && size != 16)) {
    return refused();
  }
  if (!scalar->floating) {
    return WordType{WordType::Integer, scalar->size, scalar->is_signed};
  }
  if (number(base_type, DW_AT_encoding) != uint64_t{DW_ATE_float} ||
      type_name(*base_type) == "__bf16") {
    return refused();
  }
  switch (size) {
    case 2:
      return WordType{WordType::Half};
    case 4:
      return WordType{WordType::Float};
    case 8:
      return WordType{WordType::Double};
    case 16:
      return WordType{is_extended(base_type) ? WordType::Extended : WordType::Quad, 16};
    default:
      return refused();
  }
}

NumberForm WordType::form() const {
  switch (kind) {
    case Address:
      return NumberForm::Signed;
    case Integer:
      return wide() ? (is_signed ? NumberForm::WideSigned : NumberForm::WideUnsigned)
                    : (is_signed ? NumberForm::Signed : NumberForm::Unsigned);
    case Extended:
      return NumberForm::Extended;
    case Quad:
      return NumberForm::Quad;
    default:
      return NumberForm::Double;
  }
}

Status TypedStack::need(size_t words) const {
  return words_.size() < words ? Status(malformed()) : ok_status();
}

void TypedStack::push(LocStep step) {
  expr.steps.push_back(step);
  words_.emplace_back();
}

void TypedStack::push(const std::vector<LocStep>& value) {
  expr.steps.insert(expr.steps.end(), value.begin(), value.end());
  words_.emplace_back();
}

Status TypedStack::pop() {
  DJ_TRY_DO(need(1));
  if (top().wide()) {
    return mixed();
  }
  words_.pop_back();
  return ok_status();
}

Status TypedStack::add(int64_t n) {
  DJ_TRY_DO(need(1));
  if (top().floating()) {
    return mixed();
  }
  if (top().wide()) {
    step(Op::PushConst, n);
    widen({}, top());
    wide_step(Op::Add, top());
    return ok_status();
  }
  add_constant(expr, n);
  fit();
  return ok_status();
}

Status TypedStack::join() {
  DJ_TRY_DO(need(2));
  if (top().wide() || words_[words_.size() - 2].wide()) {
    return mixed();
  }
  step(Op::Join);
  words_.pop_back();
  top() = {WordType::Integer, 16, false};
  return ok_status();
}

Status TypedStack::deref(int64_t bytes) {
  DJ_TRY_DO(need(1));
  if (top().wide()) {
    return mixed();
  }
  if ((bytes & (bytes - 1)) != 0) {
    return Error{fmt::format("its DWARF expression reads {} bytes at once", bytes),
                 Fail::Unsupported};
  }
  top() = {};
  if (bytes <= 8) {
    step(Op::Deref, bytes);
    return ok_status();
  }
  step(Op::Dup);
  step(Op::Deref, 8);
  step(Op::Swap);
  add_constant(expr, 8);
  step(Op::Deref, 8);
  words_.emplace_back();
  return join();
}

Status TypedStack::pick(uint64_t depth) {
  DJ_TRY_DO(need(depth + 1));
  step(Op::Pick, int64_t(depth));
  words_.push_back(words_[words_.size() - 1 - depth]);
  return ok_status();
}

Result<bool> TypedStack::operation(uint8_t atom) {
  if (find(kShuffles, atom)) {
    DJ_TRY_DO(shuffle(atom));
  } else if (const Op* of_two = find(kBinaries, atom)) {
    DJ_TRY_DO(binary(*of_two));
  } else if (const Op* shifts = find(kShifts, atom)) {
    DJ_TRY_DO(shift(*shifts));
  } else if (atom == DW_OP_neg || atom == DW_OP_not || atom == DW_OP_abs) {
    DJ_TRY_DO(unary(atom));
  } else {
    return false;
  }
  return true;
}

Status TypedStack::shuffle(uint8_t atom) {
  const size_t words = atom == DW_OP_rot ? 3 : atom == DW_OP_swap || atom == DW_OP_over ? 2 : 1;
  DJ_TRY_DO(need(words));
  switch (atom) {
    case DW_OP_dup:
      words_.push_back(WordType(words_.back()));
      break;
    case DW_OP_drop:
      words_.pop_back();
      break;
    case DW_OP_over:
      words_.push_back(WordType(words_[words_.size() - 2]));
      break;
    default:  // the top goes below the others
      std::rotate(words_.end() - std::ptrdiff_t(words), words_.end() - 1, words_.end());
      break;
  }
  step(*find(kShuffles, atom));
  return ok_status();
}

Status TypedStack::unary(uint8_t atom) {
  DJ_TRY_DO(need(1));
  if (atom == DW_OP_not) {
    if (top().floating()) {
      return mixed();
    }
    step(Op::Not);
  } else if (top().wide() && (atom == DW_OP_abs || top().floating())) {
    wide_sign(atom);
  } else if (top().floating()) {  // their sign is a bit
    step(Op::PushConst, atom == DW_OP_neg ? INT64_MIN : INT64_MAX);
    step(atom == DW_OP_neg ? Op::Xor : Op::And);
  } else if (atom == DW_OP_neg) {
    step(Op::Neg);
  } else {  // (x ^ s) - s, where s is all ones of negative numbers
    step(Op::Dup);
    step(Op::PushConst, 63);
    step(Op::Sar);
    for (const Op op : {Op::Swap, Op::Over, Op::Xor, Op::Swap, Op::Sub}) {
      step(op);
    }
  }
  fit();
  return ok_status();
}

// Negation and magnitude.
void TypedStack::wide_sign(uint8_t atom) {
  const WordType bits = {WordType::Integer, 16, false};
  if (top().floating()) {  // their sign is a bit
    const bool negates = atom == DW_OP_neg;
    const int64_t sign = top().kind == WordType::Extended ? 0x8000 : INT64_MIN;
    step(Op::PushConst, negates ? 0 : -1);
    step(Op::PushConst, negates ? sign : ~sign);
    step(Op::Join);
    wide_step(negates ? Op::Xor : Op::And, bits);
    return;
  }
  step(Op::Dup);
  step(Op::PushConst, 127);
  widen({}, bits);
  wide_step(Op::Sar, bits);
  step(Op::Swap);
  step(Op::Over);
  wide_step(Op::Xor, bits);
  step(Op::Swap);
  wide_step(Op::Sub, bits);
}

Status TypedStack::binary(Op op) {
  DJ_TRY_DO(need(2));
  const WordType left = words_[words_.size() - 2], right = top();
  if (left.floating() || right.floating()) {
    if (left != right || (op >= Op::Mod && op <= Op::Xor)) {
      return mixed();
    }
    words_.pop_back();
    if (left.wide()) {
      wide_step(op, left);
    } else {
      step(Op::DoubleCompute, op);
    }
    if (compares(op)) {
      top() = {};
    } else {
      round_to(left.kind);
    }
    return ok_status();
  }
  const WordType type = left.kind == WordType::Integer ? left : right;
  if (left.wide() || right.wide()) {
    const WordType wide = {WordType::Integer, 16, type.is_signed};
    if (!right.wide()) {
      widen(right, wide);
    }
    if (!left.wide()) {
      step(Op::Swap);
      widen(left, wide);
      step(Op::Swap);
    }
    words_.pop_back();
    wide_step(op, wide);
    top() = compares(op) ? WordType{} : wide;
    return ok_status();
  }
  const bool address = type.kind == WordType::Address;
  const bool is_unsigned = address ? op == Op::Mod : !type.is_signed;
  words_.pop_back();
  step(op, divides_or_orders(op) && is_unsigned);
  top() = compares(op) ? WordType{} : type;
  fit();
  return ok_status();
}

// A number is extended as its type says: shifted to the right it must be as the operation says.
Status TypedStack::shift(Op op) {
  DJ_TRY_DO(need(2));
  const WordType left = words_[words_.size() - 2];
  if (left.floating() || top().floating()) {
    return mixed();
  }
  if (left.wide()) {
    if (!top().wide()) {
      widen(top(), left);
    }
    words_.pop_back();
    wide_step(op, left);
    return ok_status();
  }
  if (top().wide()) {
    step(Op::Half, 0);
  }
  // gcc 12 describes some bit-fields of packed structs by counts below 0: gdb, too, has 0 for them.
  const LocStep& count = expr.steps.back();
  if (count.op == Op::PushConst && (count.a < 0 || count.a > 63)) {
    expr.steps.pop_back();
    step(Op::Drop);
    step(Op::PushConst, 0);
    words_.pop_back();
    return ok_status();
  }
  const bool as_signed = op == Op::Sar;
  if (op != Op::Shl && left.bytes < 8 && left.is_signed != as_signed) {
    step(Op::Swap);
    step(Op::Extend, left.bytes, as_signed);
    step(Op::Swap);
  }
  words_.pop_back();
  step(op);
  fit();
  return ok_status();
}

void TypedStack::fit() {
  const WordType& type = top();
  if (type.kind == WordType::Integer && type.bytes < 8) {
    step(Op::Extend, type.bytes, type.is_signed);
  }
}

// A double is long enough that what two floats make is the same, rounded once or twice.
void TypedStack::round_to(WordType::Kind kind) {
  if (kind == WordType::Float) {
    step(Op::FloatOfDouble);
    step(Op::DoubleOfFloat);
  } else if (kind == WordType::Half) {
    step(Op::Convert, int64_t(NumberForm::Double), int64_t(NumberForm::Half));
    step(Op::Convert, int64_t(NumberForm::Half), int64_t(NumberForm::Double));
  }
}

void TypedStack::wide_step(Op op, WordType type) {
  step(Op::WideCompute, op, int64_t(type.form()));
}

void TypedStack::widen(WordType from, WordType to) {
  step(Op::Convert, int64_t(from.form()), int64_t(to.form()));
}

Status TypedStack::read_as(WordType type) {
  DJ_TRY_DO(need(1));
  if (top().wide() != type.wide()) {
    return Error{"its upper part is not known"};
  }
  top() = type;
  if (type.kind == WordType::Float) {
    step(Op::DoubleOfFloat);
  } else if (type.kind == WordType::Half) {
    step(Op::Convert, int64_t(NumberForm::Half), int64_t(NumberForm::Double));
  } else {
    fit();
  }
  return ok_status();
}

Status TypedStack::convert(WordType type) {
  DJ_TRY_DO(need(1));
  const WordType from = top();
  top() = type;
  const bool is_long = !from.floating() && from.bytes == 8;
  const bool is_short = type.kind == WordType::Half || type.kind == WordType::Float;
  if (from.wide() || type.wide() || (is_long && is_short)) {
    // In one step, lest it be rounded twice.
    const NumberForm form = type.kind == WordType::Half    ? NumberForm::Half
                            : type.kind == WordType::Float ? NumberForm::Float
                                                           : type.form();
    step(Op::Convert, int64_t(from.form()), int64_t(form));
    if (is_short) {
      step(Op::Convert, int64_t(form), int64_t(NumberForm::Double));
    }
    fit();
  } else if (from.floating() && !type.floating()) {
    step(Op::IntOfDouble, type.kind == WordType::Integer && type.bytes == 8 && !type.is_signed);
    fit();
  } else if (!from.floating() && type.floating()) {
    step(Op::DoubleOfInt, from.kind == WordType::Integer && !from.is_signed);
    round_to(type.kind);
  } else if (from.floating() && type.kind < from.kind) {
    round_to(type.kind);
  } else {
    fit();
  }
  return ok_status();
}

Status TypedStack::reinterpret(WordType type) {
  DJ_TRY_DO(need(1));
  as_bytes();
  if (type.wide() && !top().wide()) {
    return mixed();
  }
  if (!type.wide() && top().wide()) {
    step(Op::Half, 0);
    top() = {};
  }
  return read_as(type);
}

void TypedStack::as_bytes() {
  if (words_.empty() || !top().floating()) {
    return;
  }
  if (top().kind == WordType::Float) {
    step(Op::FloatOfDouble);
    top() = {WordType::Integer, 4, false};
  } else if (top().kind == WordType::Half) {
    step(Op::Convert, int64_t(NumberForm::Double), int64_t(NumberForm::Half));
    top() = {WordType::Integer, 2, false};
  }
}

}  // namespace dj
