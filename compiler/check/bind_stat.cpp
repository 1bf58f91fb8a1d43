// Binds what is asked of aggregates: the extractors, and the buckets of histograms one by one.
#include <fmt/format.h>

#include "compiler/check/bind.h"
#include "compiler/check/stat_ops.h"
#include "runtime/shared/stat.h"

namespace dj {
namespace {

constexpr int64_t kMaxShift = 62;

GlobalId global_of(const Expr& place) {
  const ElementRef* element = std::get_if<ElementRef>(&place.node);
  return element != nullptr ? element->array : std::get<GlobalRef>(place.node).global;
}

}  // namespace

void Binder::want_stat(GlobalId global, StatOp op) {
  Global& wanted = program_.globals[global];
  if (op > StatOp::Avg) (op == StatOp::Variance ? wanted.variance : wanted.percentiles) = true;
}

ExprPtr Binder::stat_read(StatOp op, const ast::At& a, Span span) {
  size_t most = op == StatOp::Variance ? 2 : 1;
  if (a.args.empty() || a.args.size() > most) {
    diags_.error("DJ2007", span,
                 fmt::format("`@{}` takes {} argument{}, got {}", a.op, most == 1 ? "1" : "1 or 2",
                             most == 1 ? "" : "s", a.args.size()));
    return poison(span);
  }
  if (a.args.size() == 2) {
    // Squares are summed in 128 bits: the shift, which SystemTap needs for its precision, is not.
    const ast::Number* shift = std::get_if<ast::Number>(&a.args[1]->node);
    if (shift == nullptr || shift->value < 0 || shift->value > kMaxShift) {
      diags_.error("DJ2106", a.args[1]->span,
                   fmt::format("the bit shift is a literal number from 0 to {}", kMaxShift));
      return poison(span);
    }
  }
  ExprPtr where = aggregate(a, *a.args[0]);
  if (!where) return poison(span);
  want_stat(global_of(*where), op);
  return make(StatRead{op, std::move(where)}, span, Type::Int);
}

ExprPtr Binder::hist_bucket(const ast::Member& m, Span span) {
  const ast::At& a = std::get<ast::At>(m.base->node);
  if (m.path.size() != 1 || m.address_of || m.pretty != 0) {
    diags_.error("DJ2105", span, "a bucket of a histogram is a number and has no parts");
    return poison(span);
  }
  ExprPtr shown = counted_histogram(a, m.base->span);
  ExprPtr index = expr(*m.path[0].index);
  PrintHist* hist = std::get_if<PrintHist>(&shown->node);
  if (hist == nullptr) return poison(span);
  return make(HistBucket{hist->linear, std::move(hist->place), std::move(index)}, span, Type::Int);
}

int64_t Binder::bucket_count(const PrintHist* hist) const {
  if (hist == nullptr || !hist->linear) return abi::kLogShown;
  const Linear& linear = *program_.globals[global_of(*hist->place)].hist_linear;
  return (linear.stop - linear.start) / linear.step + 3;  // one below, one above
}

LocalId Binder::hidden_local(const char* name) {
  frame_.locals.push_back({name, Type::Unknown});
  return static_cast<LocalId>(frame_.locals.size() - 1);
}

// The PrintHist of a histogram whose buckets are asked for; poison: it is none (reported).
ExprPtr Binder::counted_histogram(const ast::At& a, Span span) {
  if (a.op != "hist") return histogram(a, span, span);
  diags_.error("DJ2105", span, "@hist(x, bits) is printed only: its buckets have no numbers").help =
      "@hist_log(x)[n] and @hist_linear(x, low, high, step)[n] are buckets";
  return poison(span);
}

// The PrintHist of @hist_...(x) behind `in`; poison: it is none (reported).
ExprPtr Binder::buckets_of(const ast::Expr& e, Span span) {
  const auto* a = std::get_if<ast::At>(&e.node);
  if (a != nullptr && is_histogram(a->op)) return counted_histogram(*a, span);
  diags_.error("DJ2105", span, "only arrays and histograms have something in them").help =
      "write @hist_log(x) or @hist_linear(x, low, high, step)";
  return poison(span);
}

// n in @hist_...(x): whether the histogram has that bucket.
ExprPtr Binder::in_histogram(const ast::In& i, Span span) {
  ExprPtr shown = buckets_of(*i.histogram, i.array_span);
  const PrintHist* hist = std::get_if<PrintHist>(&shown->node);
  if (i.keys.size() != 1 || !i.keys.front()) {
    diags_.error("DJ2025", i.array_span, "a histogram has one key: the number of the bucket").help =
        "write 3 in @hist_log(x)";
    return poison(span);
  }
  if (hist == nullptr) return poison(span);
  LocalId bucket = hidden_local(kAskedBucket);
  auto number = [&](int64_t value) { return make(IntLit{value}, span, Type::Int); };
  ExprPtr asked =
      make(Assign{std::nullopt, make(LocalRef{bucket}, span), expr(*i.keys.front())}, span);
  ExprPtr from = make(Binary{ast::BinOp::Ge, std::move(asked), number(0)}, span);
  ExprPtr below =
      make(Binary{ast::BinOp::Lt, make(LocalRef{bucket}, span), number(bucket_count(hist))}, span);
  return make(Binary{ast::BinOp::LogAnd, std::move(from), std::move(below)}, span);
}

// foreach (bucket in @hist_...): counts a hidden variable from 0 up, as for (...) would.
StmtPtr Binder::bucket_loop(const ast::Foreach& f, Span span) {
  ExprPtr shown = buckets_of(*f.histogram, f.array_span);
  const PrintHist* hist = std::get_if<PrintHist>(&shown->node);
  bool sorted = f.array_sort != 0 || f.keys[0].sort != 0;
  if (f.keys.size() != 1 || f.value || sorted || !f.slice.empty()) {
    diags_
        .error("DJ2025", f.array_span, "the buckets of a histogram come one by one, in their order")
        .help = "foreach (bucket in @hist_log(x))";
  }
  auto read = [&](LocalId local) { return make(LocalRef{local}, span); };
  auto set = [&](LocalId local, ExprPtr value) {
    return make_stmt(ExprStmt{make(Assign{std::nullopt, read(local), std::move(value)}, span)},
                     span);
  };
  const int64_t count = bucket_count(hist);
  LocalId next = hidden_local("bucket");
  Block block;
  block.body.push_back(set(next, make(IntLit{0}, span, Type::Int)));
  ExprPtr more =
      make(Binary{ast::BinOp::Lt, read(next), make(IntLit{count}, span, Type::Int)}, span);
  if (f.limit) {
    LocalId limit = hidden_local("limit");
    block.body.push_back(set(limit, expr(*f.limit)));
    ExprPtr within = make(Binary{ast::BinOp::Lt, read(next), read(limit)}, span);
    more = make(Binary{ast::BinOp::LogAnd, std::move(more), std::move(within)}, span);
  }
  std::vector<StmtPtr> body;
  std::vector<StmtPtr> copies;
  body.push_back(set(loop_variable(f.keys[0], copies), read(next)));
  for (StmtPtr& copy : copies) body.push_back(std::move(copy));
  body.push_back(loop_body(*f.body));
  ExprPtr step = make(Crement{true, 1, read(next)}, span);
  block.body.push_back(make_stmt(
      Loop{std::move(more), std::move(step), make_stmt(Block{std::move(body)}, span)}, span));
  return make_stmt(std::move(block), span);
}

}  // namespace dj
