// Binds what is asked of aggregates: the extractors, and the buckets of histograms one by one.
#include <fmt/format.h>

#include "compiler/check/forms.h"
#include "compiler/check/stat_ops.h"
#include "runtime/shared/stat.h"

namespace dj {
namespace {

constexpr int64_t kMaxShift = 62;

GlobalId global_of(const Expr& place) {
  const ElementRef* element = std::get_if<ElementRef>(&place.node);
  return element != nullptr ? element->array : std::get<GlobalRef>(place.node).global;
}

int64_t bucket_count(Binder& binder, const PrintHist* hist) {
  if (hist == nullptr || !hist->linear) return abi::kLogShown;
  const Linear& linear = *binder.program.globals[global_of(*hist->place)].hist_linear;
  return (linear.stop - linear.start) / linear.step + 3;  // one below, one above
}

// The PrintHist of a histogram whose buckets are asked for; poison: it is none (reported).
ExprPtr counted_histogram(Binder& binder, const ast::At& a, Span span) {
  if (a.op != "hist") return bind_histogram(binder, a, span, span);
  binder.diags.error("DJ2105", span, "@hist(x, bits) is printed only: its buckets have no numbers")
      .help = "@hist_log(x)[n] and @hist_linear(x, low, high, step)[n] are buckets";
  return poison(span);
}

// The PrintHist of @hist_...(x) behind `in`; poison: it is none (reported).
ExprPtr buckets_of(Binder& binder, const ast::Expr& e, Span span) {
  const auto* a = std::get_if<ast::At>(&e.node);
  if (a != nullptr && is_histogram(a->op)) return counted_histogram(binder, *a, span);
  binder.diags.error("DJ2105", span, "only arrays and histograms have something in them").help =
      "write @hist_log(x) or @hist_linear(x, low, high, step)";
  return poison(span);
}

}  // namespace

void want_stat(Binder& binder, GlobalId global, StatOp op) {
  Global& wanted = binder.program.globals[global];
  if (op > StatOp::Avg) (op == StatOp::Variance ? wanted.variance : wanted.percentiles) = true;
}

ExprPtr bind_stat(Binder& binder, StatOp op, const ast::At& a, Span span) {
  size_t most = op == StatOp::Variance ? 2 : 1;
  if (a.args.empty() || a.args.size() > most) {
    binder.diags.error(
        "DJ2007", span,
        fmt::format("`@{}` takes {} argument{}, got {}", a.op, most == 1 ? "1" : "1 or 2",
                    most == 1 ? "" : "s", a.args.size()));
    return poison(span);
  }
  if (a.args.size() == 2) {
    // Squares are summed in 128 bits: the shift, which SystemTap needs for its precision, is not.
    const ast::Number* shift = std::get_if<ast::Number>(&a.args[1]->node);
    if (shift == nullptr || shift->value < 0 || shift->value > kMaxShift) {
      binder.diags.error("DJ2106", a.args[1]->span,
                         fmt::format("the bit shift is a literal number from 0 to {}", kMaxShift));
      return poison(span);
    }
  }
  ExprPtr where = bind_aggregate(binder, a, *a.args[0]);
  if (!where) return poison(span);
  want_stat(binder, global_of(*where), op);
  return make(StatRead{op, std::move(where)}, span, Type::Int);
}

ExprPtr bind_bucket(Binder& binder, const ast::Member& m, Span span) {
  const ast::At& a = std::get<ast::At>(m.base->node);
  if (m.path.size() != 1 || m.address_of || m.pretty != 0) {
    binder.diags.error("DJ2105", span, "a bucket of a histogram is a number and has no parts");
    return poison(span);
  }
  ExprPtr shown = counted_histogram(binder, a, m.base->span);
  ExprPtr index = binder.expr(*m.path[0].index);
  PrintHist* hist = std::get_if<PrintHist>(&shown->node);
  if (hist == nullptr) return poison(span);
  return make(HistBucket{hist->linear, std::move(hist->place), std::move(index)}, span, Type::Int);
}

// n in @hist_...(x): whether the histogram has that bucket.
ExprPtr bind_in_histogram(Binder& binder, const ast::In& i, Span span) {
  ExprPtr shown = buckets_of(binder, *i.histogram, i.array_span);
  const PrintHist* hist = std::get_if<PrintHist>(&shown->node);
  if (i.keys.size() != 1 || !i.keys.front()) {
    binder.diags.error("DJ2025", i.array_span, "a histogram has one key: the number of the bucket")
        .help = "write 3 in @hist_log(x)";
    return poison(span);
  }
  if (hist == nullptr) return poison(span);
  LocalId bucket = binder.hidden_local(kAskedBucket);
  auto number = [&](int64_t value) { return make(IntLit{value}, span, Type::Int); };
  ExprPtr asked =
      make(Assign{std::nullopt, make(LocalRef{bucket}, span), binder.expr(*i.keys.front())}, span);
  ExprPtr from = make(Binary{ast::BinOp::Ge, std::move(asked), number(0)}, span);
  ExprPtr below =
      make(Binary{ast::BinOp::Lt, make(LocalRef{bucket}, span), number(bucket_count(binder, hist))},
           span);
  return make(Binary{ast::BinOp::LogAnd, std::move(from), std::move(below)}, span);
}

// foreach (bucket in @hist_...): counts a hidden variable from 0 up, as for (...) would.
StmtPtr bind_bucket_loop(Binder& binder, const ast::Foreach& f, Span span) {
  ExprPtr shown = buckets_of(binder, *f.histogram, f.array_span);
  const PrintHist* hist = std::get_if<PrintHist>(&shown->node);
  bool sorted = f.array_sort != 0 || f.keys[0].sort != 0;
  if (f.keys.size() != 1 || f.value || sorted || !f.slice.empty()) {
    binder.diags
        .error("DJ2025", f.array_span, "the buckets of a histogram come one by one, in their order")
        .help = "foreach (bucket in @hist_log(x))";
  }
  auto read = [&](LocalId local) { return make(LocalRef{local}, span); };
  auto set = [&](LocalId local, ExprPtr value) {
    return make_stmt(ExprStmt{make(Assign{std::nullopt, read(local), std::move(value)}, span)},
                     span);
  };
  const int64_t count = bucket_count(binder, hist);
  LocalId next = binder.hidden_local("bucket");
  Block block;
  block.body.push_back(set(next, make(IntLit{0}, span, Type::Int)));
  ExprPtr more =
      make(Binary{ast::BinOp::Lt, read(next), make(IntLit{count}, span, Type::Int)}, span);
  if (f.limit) {
    LocalId limit = binder.hidden_local("limit");
    block.body.push_back(set(limit, binder.expr(*f.limit)));
    ExprPtr within = make(Binary{ast::BinOp::Lt, read(next), read(limit)}, span);
    more = make(Binary{ast::BinOp::LogAnd, std::move(more), std::move(within)}, span);
  }
  std::vector<StmtPtr> body;
  std::vector<StmtPtr> copies;
  body.push_back(set(loop_variable(binder, f.keys[0], copies), read(next)));
  for (StmtPtr& copy : copies) body.push_back(std::move(copy));
  body.push_back(loop_body(binder, *f.body));
  ExprPtr step = make(Crement{true, 1, read(next)}, span);
  block.body.push_back(make_stmt(
      Loop{std::move(more), std::move(step), make_stmt(Block{std::move(body)}, span)}, span));
  return make_stmt(std::move(block), span);
}

}  // namespace dj
