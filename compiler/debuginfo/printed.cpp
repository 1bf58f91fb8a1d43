// SPDX-License-Identifier: Apache-2.0
// Values shown by a printer: its read plan, followed through this program's types. A printer that
// does not fit (another version of a library) writes nothing.
#include "compiler/debuginfo/pattern.h"
#include "compiler/debuginfo/pretty.h"
#include "compiler/debuginfo/struct_name.h"

namespace dj {

namespace {

using Item = TargetText::Item;
using As = Item::As;

constexpr int kMaxPrinting = 4;

// PlanReader: nodes of printers as places and numbers. `self` is the printed value.
class PlanReader {
 public:
  PlanReader(const std::vector<PrintNode>& nodes, const Navigator& self)
      : nodes_(nodes), self_(self) {}

  // None: the type has no such part.
  std::optional<Navigator> place(uint32_t number) const {
    const PrintNode& node = nodes_[number];
    if (node.op == PrintNode::Self) {
      return self_;
    }
    if (node.op == PrintNode::At) {
      return at_address(node);
    }
    if (node.op > PrintNode::Argument) {
      return std::nullopt;
    }
    std::optional<Navigator> at = place(node.left);
    if (!at) {
      return std::nullopt;
    }
    Navigator::Failed failed;
    switch (node.op) {
      case PrintNode::Field:
        failed = at->field({TargetStep::Field, node.name, 0, {}}, 0);
        break;
      case PrintNode::Element:
        failed = at->element({TargetStep::ConstElement, {}, node.number, {}}, 0, 0);
        break;
      case PrintNode::Base:
        failed = at->base(node.name);
        break;
      case PrintNode::Argument:
        failed = at->template_argument(node.number);
        break;
      default:
        failed = cast(*at, node.name);
    }
    return failed ? std::nullopt : at;
  }

  std::optional<LocExpr> number(uint32_t index) const {
    const PrintNode& node = nodes_[index];
    if (node.op == PrintNode::Constant) {
      return LocExpr{{{LocStep::PushConst, node.number}}};
    }
    if (node.op == PrintNode::Address || node.op == PrintNode::Size) {
      std::optional<Navigator> at = place(node.left);
      return !at                             ? std::nullopt
             : node.op == PrintNode::Address ? expression(at->address())
                                             : size_of(*at);
    }
    if (node.op == PrintNode::Count) {
      return chain_length(number(node.left), number(node.right), node.number);
    }
    if (node.op < PrintNode::Add) {
      std::optional<Navigator> at = place(index);
      return at ? expression(at->value()) : std::nullopt;
    }
    std::optional<LocExpr> left = number(node.left), right = number(node.right);
    if (!left || !right) {
      return std::nullopt;
    }
    const bool divides = node.op == PrintNode::Div || node.op == PrintNode::Mod;
    if (divides && (!is_constant(*right) || right->steps[0].a == 0)) {
      return std::nullopt;
    }
    if (is_constant(*left) && is_constant(*right)) {
      return LocExpr{
          {{LocStep::PushConst, constant_of(node.op, left->steps[0].a, right->steps[0].a)}}};
    }
    left->steps.insert(left->steps.end(), right->steps.begin(), right->steps.end());
    left->steps.push_back({step_of(node.op)});
    return left;
  }

 private:
  // A loop over two words: the node, and how many came before it.
  static std::optional<LocExpr> chain_length(std::optional<LocExpr> first,
                                             const std::optional<LocExpr>& last, int64_t most) {
    using Step = LocStep;
    constexpr int64_t kNext = 0, kDone = 1;
    if (!first || !last) {
      return std::nullopt;
    }
    auto add = [&](const std::vector<Step>& steps) {
      first->steps.insert(first->steps.end(), steps.begin(), steps.end());
    };
    add({{Step::PushConst, 0}, {Step::Label, kNext}, {Step::Over}});
    add(last->steps);
    add({{Step::Eq}, {Step::Over}, {Step::PushConst, most}, {Step::Ge}, {Step::Or}});
    add({{Step::JumpIf, kDone}, {Step::PushConst, 1}, {Step::Add}, {Step::Swap}});
    add({{Step::Deref, sizeof(uint64_t)}, {Step::Swap}, {Step::Jump, kNext, 1}});
    add({{Step::Label, kDone}, {Step::Swap}, {Step::Drop}});
    return first;
  }

  std::optional<Navigator> at_address(const PrintNode& node) const {
    std::optional<LocExpr> address = number(node.left);
    std::optional<Navigator> like = place(node.right);
    if (!address || !like || like->settle()) {
      return std::nullopt;
    }
    ValueLocation value_at;
    value_at.expr = std::move(*address);
    return Navigator(std::move(value_at), like->type(), "dj.at(...)", self_.scene());
  }

  static bool is_constant(const LocExpr& expr) {
    return expr.steps.size() == 1 && expr.steps[0].op == LocStep::PushConst;
  }

  static int64_t constant_of(PrintNode::Op op, int64_t left, int64_t right) {
    const auto a = uint64_t(left), b = uint64_t(right);
    switch (op) {
      case PrintNode::Add:
        return int64_t(a + b);
      case PrintNode::Sub:
        return int64_t(a - b);
      case PrintNode::Mul:
        return int64_t(a * b);
      case PrintNode::Div:
        return right == -1 ? int64_t(0 - a) : left / right;
      case PrintNode::Mod:
        return right == -1 ? 0 : left % right;
      case PrintNode::And:
        return left & right;
      case PrintNode::Or:
        return left | right;
      case PrintNode::Xor:
        return left ^ right;
      case PrintNode::Shl:
        return int64_t(a << (b & 63));
      case PrintNode::Shr:
        return int64_t(a >> (b & 63));
      case PrintNode::Eq:
        return left == right;
      default:
        return left < right;
    }
  }

  static std::optional<LocExpr> expression(const TargetAnswer& answer) {
    const auto* expr = std::get_if<LocExpr>(&answer);
    return expr ? std::optional(*expr) : std::nullopt;
  }

  static std::optional<LocExpr> size_of(Navigator& at) {
    if (at.settle() || !at.type() || type_size(&*at.type()) == 0) {
      return std::nullopt;
    }
    return LocExpr{{{LocStep::PushConst, int64_t(type_size(&*at.type()))}}};
  }

  Navigator::Failed cast(Navigator& at, const std::string& name) const {
    Navigator::Failed failed = at.settle();
    if (!failed && at.type() && is_pointer(&*at.type())) {
      failed = at.follow();
    }
    TypeDie type = find_type(name, at.index(), at.scene().place.pc);
    if (!failed && !type) {
      failed = target_failure(TargetFailure::UnknownName, -1, "no type " + name);
    }
    at.become(type);
    return failed;
  }

  static LocStep::Op step_of(PrintNode::Op op) {
    switch (op) {
      case PrintNode::Add:
        return LocStep::Add;
      case PrintNode::Sub:
        return LocStep::Sub;
      case PrintNode::Mul:
        return LocStep::Mul;
      case PrintNode::Div:
        return LocStep::Div;
      case PrintNode::Mod:
        return LocStep::Mod;
      case PrintNode::And:
        return LocStep::And;
      case PrintNode::Or:
        return LocStep::Or;
      case PrintNode::Xor:
        return LocStep::Xor;
      case PrintNode::Shl:
        return LocStep::Shl;
      case PrintNode::Shr:
        return LocStep::Shr;
      case PrintNode::Eq:
        return LocStep::Eq;
      default:
        return LocStep::Lt;
    }
  }

  const std::vector<PrintNode>& nodes_;
  const Navigator& self_;
};

PlanReader reader_of(const Navigator& at) { return {at.index().printers()->nodes, at}; }

}  // namespace

bool TextWriter::printed(const Navigator& at, int depth) {
  const TypePrinters* printers = at.index().printers();
  if (!printers || printing_ >= kMaxPrinting) {
    return false;
  }
  Navigator here = at;
  const std::string name = struct_name(&*here.type());
  const size_t items = text_.items.size(), values = values_;
  const std::string before = before_;
  for (const TypePrinter& row : printers->rows) {
    if (!glob_match(row.pattern, name)) {
      continue;
    }
    printing_++;
    const bool fits = pieces(row.pieces, at, depth > 0 ? depth - 1 : 0);
    printing_--;
    if (fits) {
      return true;
    }
    text_.items.resize(items);
    values_ = values;
    before_ = before;
  }
  return false;
}

bool TextWriter::pieces(const std::vector<PrintPiece>& list, const Navigator& at, int depth) {
  for (const PrintPiece& each : list) {
    if (!piece(each, at, depth)) {
      return false;
    }
  }
  return true;
}

bool TextWriter::piece(const PrintPiece& piece, const Navigator& at, int depth) {
  const PlanReader reader = reader_of(at);
  if (piece.kind == PrintPiece::Literal) {
    literal(piece.text);
    return true;
  }
  if (piece.kind == PrintPiece::Each) {
    return piece_each(piece, at, depth);
  }
  if (piece.kind == PrintPiece::Text) {
    return piece_text(piece, at);
  }
  std::optional<Navigator> place = reader.place(piece.node);
  if (piece.kind == PrintPiece::Value && place) {
    value(std::move(*place), depth, false);
    return true;
  }
  std::optional<LocExpr> number = reader.number(piece.node);
  if (!number) {
    return false;
  }
  if (piece.kind == PrintPiece::When) {
    return when(*number, [&] { return pieces(piece.pieces, at, depth); }) &&
           (piece.others.empty() || when(compared(*number, LocStep::Eq, 0),
                                         [&] { return pieces(piece.others, at, depth); }));
  }
  Item item;
  item.defined = true;
  item.as = piece.kind == PrintPiece::Hex ? As::Hex : As::Signed;
  item.value = std::move(*number);
  add(std::move(item));
  return true;
}

bool TextWriter::piece_text(const PrintPiece& piece, const Navigator& at) {
  const PlanReader reader = reader_of(at);
  std::optional<LocExpr> address = reader.number(piece.node);
  std::optional<LocExpr> bytes = piece.has_other ? reader.number(piece.other) : LocExpr();
  if (!address || !bytes) {
    return false;
  }
  Item item;
  item.defined = true;
  item.as = As::Text;
  item.value = std::move(*address);
  item.length = std::move(*bytes);
  add(std::move(item));
  return true;
}

bool TextWriter::piece_each(const PrintPiece& piece, const Navigator& at, int depth) {
  const PlanReader reader = reader_of(at);
  const std::optional<Navigator> first = reader.place(piece.node);
  const std::optional<LocExpr> count = reader.number(piece.other);
  if (!first || !count) {
    return false;
  }
  for (int64_t i = 0; i < int64_t(piece.limit) && !full(); i++) {
    Navigator element = *first;
    if (element.element({TargetStep::ConstElement, {}, i, {}}, 0, 0)) {
      return false;
    }
    when(compared(*count, LocStep::Gt, i), [&] {
      literal(i > 0 ? ", " : "");
      value(std::move(element), depth, false);
      return true;
    });
  }
  return when(compared(*count, LocStep::Gt, piece.limit), [&] {
    literal(", ...");
    return true;
  });
}

}  // namespace dj
